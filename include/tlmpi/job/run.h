/* run.h - one job: from traces to a result file and a summary.
 *
 * From options alone.  May use the rooms of job other than augment, store, report, and what the interfaces of these
 * need.
 */
#ifndef TLMPI_JOB_RUN_H
#define TLMPI_JOB_RUN_H

#include "tlmpi/analysis/verdict/whatif.h"
#include "tlmpi/base/status.h"
#include "tlmpi/job/call/exit.h"
#include "tlmpi/job/call/options.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/store/result.h"
#include "tlmpi/trace/find.h"
#include <stdio.h>

/* Collective: analyses the traces and writes PREFIX.h5.  Returns the exit status, the same on every proc; proc 0 has
 * printed the messages. */
int tl_run(const tl_options *options);

/* Returns the path of the result file that tl_run writes.  The caller frees the path. */
char *tl_output_path(const tl_options *options);

/* Collective: reads all traces and prints the inventory (for each rank: file, size, entries, status), without analysis.
 * Returns the exit status. */
int tl_check(const tl_options *options);

/* The result file that was made of the traces, and its table of ranks. */
typedef struct tl_whatif_origin {
    const char *result; /* path */
    tl_table ranks;     /* on proc 0: the rows of table rank in the result */
    bool selects;       /* the selection of ranks, steps or times differs from that of the result */
} tl_whatif_origin;

/* Collective: analyses the traces as tl_run does, writes no file, and prints on standard output the time that the job
 * would have taken with the changes.  Fails if entries, bytes or kernels of the traces differ from those of the traces
 * that `origin` was made of (NULL: no comparison).  Returns the exit status. */
int tl_whatif(const tl_options *options, const tl_whatif_origin *origin, tl_whatif_study *whatif,
              const tl_printer *print);

/* Warns on stderr of runs that were left out although no run was asked for.  Returns the number of these runs. */
size_t tl_tell_lost(const tl_inventory *inventory);

/* Prints a line "table hash" for each table and for the names.  Equal rows have equal hashes, independent of the number
 * of procs, so two results can be compared by these lines.  TL_EINPUT: the file cannot be read. */
tl_status tl_print_digests(FILE *out, tl_result *result, tl_error *err);

#endif
