/* origin.h - the result of traces, for as long as a command runs; and the traces that a result was made of. */
#ifndef TLMPI_APP_ORIGIN_H
#define TLMPI_APP_ORIGIN_H

#include "cli.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/job/run.h"

/* Results of traces, in a temporary folder.  Zero-initialise; tl_passing_end ends it. */
typedef struct tl_passing {
    char folder[256];
    char path[2][300]; /* of the results; empty: none */
} tl_passing;

/* All procs: makes the folder. */
tl_status tl_passing_begin(tl_passing *passing, tl_error *err);

/* All procs: analyses the traces; result `number` (0 or 1) is theirs.  Returns the exit status. */
int tl_passing_add(tl_passing *passing, int number, const tl_cli *cli, const char *const *traces, size_t ntraces);

/* All procs: removes the results and the folder. */
void tl_passing_end(const tl_passing *passing);

/* What a result says of its making.  Zero-initialise; tl_made_of_free ends it. */
typedef struct tl_made_of {
    tl_texts paths;
    tl_bytes text;          /* owns the paths and the settings */
    tl_whatif_origin whole; /* on proc 0: its rows of table rank */
} tl_made_of;

/* All procs: sets the paths and options of the result, the only word of *cli, in cli->run, which borrows them.  Options
 * that are given stay. */
tl_status tl_made_of_read(tl_cli *cli, tl_made_of *made_of, tl_error *err);

/* own: the options in use; given: those of the command line, which stay. */
void tl_made_of_free(tl_made_of *made_of, tl_options *own, const tl_options *given);

#endif
