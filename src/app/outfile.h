/* outfile.h - where a command prints: the terminal, or a file that gets its name when all of it is written. */
#ifndef TLMPI_APP_OUTFILE_H
#define TLMPI_APP_OUTFILE_H

#include "tlmpi/base/status.h"
#include <stdbool.h>
#include <stdio.h>

typedef struct tl_outfile {
    FILE *out;
    const char *path;           /* NULL: stdout */
    char *part;                 /* the name until it is whole; NULL where `path` is written itself (a device, a pipe) */
} tl_outfile;

/* path NULL or "-" is stdout.  TL_EOUTPUT: it cannot be made, or is there and force is not set; TL_EUSAGE: it is the
 * file `input`. */
tl_status tl_outfile_open(tl_outfile *file, const char *input, const char *path, bool force, tl_error *err);

/* Ends it: with TL_OK the file gets its name, else it is removed.  Returns st, or what went wrong now.  What fails on
 * stdout is left for the end of the program to say. */
tl_status tl_outfile_close(tl_outfile *file, tl_status st, tl_error *err);

#endif
