/* flat.h - a text without its line breaks: what it says, wherever its lines end. */
#ifndef TESTS_UNIT_FLAT_H
#define TESTS_UNIT_FLAT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy in which each run of blanks and line ends is one blank; the caller frees it. */
static inline char *flat_of(const char *text)
{
    char *out = malloc(strlen(text) + 1), *to = out;
    for (; *text != '\0'; text++) {
        bool blank = *text == ' ' || *text == '\n';
        if (blank && to > out && to[-1] == ' ')
            continue;
        *to++ = blank ? ' ' : *text;
    }
    *to = '\0';
    return out;
}

/* Whether the text says that; both are printed where it does not. */
static inline bool says(const char *text, const char *what)
{
    char *in = flat_of(text), *of = flat_of(what);
    bool said = strstr(in, of) != NULL;
    if (!said)
        fprintf(stderr, "expected: %s\nin: %s\n", of, in);
    free(in);
    free(of);
    return said;
}

#endif
