/* run.h - one job: from traces to a result file and a summary.
 *
 * From options alone.  May use the rooms of job other than augment, what these hand on, store and report.
 */
#ifndef TLMPI_JOB_RUN_H
#define TLMPI_JOB_RUN_H

#include "tlmpi/analysis/whatif.h"
#include "tlmpi/base/status.h"
#include "tlmpi/job/call/exit.h"
#include "tlmpi/job/call/options.h"
#include "tlmpi/store/result.h"
#include "tlmpi/trace/find.h"
#include <stdio.h>

/* Collective: analyses the traces and writes PREFIX.h5.  Returns the exit status, the same on every proc; messages have
 * been printed by proc 0. */
int tl_run(const tl_options *options);

/* The path of the result file that tl_run writes.  The caller frees it. */
char *tl_output_path(const tl_options *options);

/* Collective: reads everything, prints the inventory (a line a rank: file, size, entries, status), analyses nothing. */
int tl_check(const tl_options *options);

/* How tables are printed. */
typedef struct tl_whatif_print {
    int format, unit;  /* tl_format, tl_unit_choice */
    size_t text_width; /* of a text in a table; 0: all of it */
} tl_whatif_print;

/* The result file that was made of the traces, and what they held then. */
typedef struct tl_whatif_origin {
    const char *result; /* path */
    tl_table ranks;     /* on proc 0: its rows of table rank */
    bool selects;       /* ranks, steps or times are selected otherwise than for the result */
} tl_whatif_origin;

/* Collective: analyses the traces as tl_run does, writes no file, and prints on standard output what the job would have
 * taken with the changes.  Refuses where the entries, bytes or kernels of the traces are not those that they held for
 * `origin` (NULL: for no result).  The exit status. */
int tl_whatif(const tl_options *options, const tl_whatif_origin *origin, tl_whatif_study *whatif,
              const tl_whatif_print *print);

/* Warns on stderr of runs that were left out though no run was asked for.  Returns how many. */
size_t tl_tell_lost(const tl_inventory *inventory);

/* Prints a line "table hash" for each table and for the names: two results are compared by these hashes, which are equal
 * for equal rows, on however many procs they were made.  TL_EINPUT: the file cannot be read. */
tl_status tl_print_digests(FILE *out, tl_result *result, tl_error *err);

#endif
