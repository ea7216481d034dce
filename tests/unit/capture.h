/* capture.h - what a call says on stderr. */
#ifndef TESTS_UNIT_CAPTURE_H
#define TESTS_UNIT_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    FILE *file;
    int terminal;
} capture;

static inline void capture_begin(void)
{
    fflush(stderr);
    capture.file = tmpfile();
    capture.terminal = dup(STDERR_FILENO);
    if (capture.file == NULL || capture.terminal < 0 || dup2(fileno(capture.file), STDERR_FILENO) < 0)
        abort();
}

/* What was said since, good until the next call. */
static inline const char *capture_end(void)
{
    static char said[8192];
    fflush(stderr);
    if (dup2(capture.terminal, STDERR_FILENO) < 0)
        abort();
    close(capture.terminal);
    rewind(capture.file);
    said[fread(said, 1, sizeof said - 1, capture.file)] = '\0';
    fclose(capture.file);
    return said;
}

#endif
