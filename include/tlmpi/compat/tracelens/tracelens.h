/* tracelens.h - the tables of TraceLens, from the same traces, with its numbers.
 *
 * For people who come from TraceLens, and for checking against it: its gaps and their causes, its timeline, its kernel
 * tables and its tables of collectives, in its arithmetic of doubles.  The tables of tlmpi itself use none of these
 * rules.
 *
 * The traces are read here, with all categories and verbatim values (tlmpi/compat/verbatim.h).  May use: the common
 * files of compat, trace and, for tracks, trace_out.
 *
 * The tables of one rank need only its trace, so the ranks may be spread over procs.  The input of the tables of all
 * ranks travels as bytes, the shares:
 *
 *     tl_bytes share = { 0 };
 *     st = tl_tracelens_rank("rank0.json", 0, "out/rank0", &share, err);       in any order, on any proc
 *     st = tl_tracelens_rank("rank1.json", 1, "out/rank1", &share, err);
 *     st = tl_tracelens_ranks(&share, 0, "out", &incomplete, err);      where all shares are
 *
 * Shares are concatenated in any order of ranks.
 *
 * Where TraceLens fails, all tables that can be made are written, and notes.txt tells which are missing.  Not
 * supported: categories of operators (`Parent op category` is empty for operators), and fused traces.
 */
#ifndef TLMPI_COMPAT_TRACELENS_TRACELENS_H
#define TLMPI_COMPAT_TRACELENS_TRACELENS_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/status.h"
#include "tlmpi/trace_out/splice.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Removes the tables of an earlier call from the folder. */
void tl_tracelens_clear(const char *dir);

/* Reads one trace, writes the rank's own tables into dir (made if missing): idle_overview, idle_summary,
 * idle_intervals, idle_noise, gpu_timeline and its variants, kernel_summary, short_kernel_histogram,
 * short_kernels_summary, coll_analysis.  Adds the rank's input for the tables of all ranks to the share; for an
 * unusable file, which is no failure, a note.  TL_EOUTPUT: a write failed.  A table appears whole or not at all. */
tl_status tl_tracelens_rank(const char *path, int64_t rank, const char *dir, tl_bytes *share, tl_error *err);

/* Writes the tables of all ranks (nccl_*) and notes.txt into dir; with columns about nodes if gpus_per_node > 0.
 * *incomplete: a file is unusable or damaged.  TL_EINPUT: every file is unusable, notes.txt tells why; TL_EOUTPUT: a
 * write failed. */
tl_status tl_tracelens_ranks(tl_bytes *shares, int64_t gpus_per_node, const char *dir, bool *incomplete, tl_error *err);

/* The tracks that TraceLens adds to a trace: idle gaps with their causes.  All devices count as one, shown in the
 * process with the most device work.
 *
 * Reads a trace.  *report is always set; *out, which tl_tracelens_tracks_free ends, on success alone.  TL_EINPUT:
 * the trace cannot be read, or already has such tracks. */
tl_status tl_tracelens_tracks_read(const char *path, tl_read_report *report, void **out, tl_error *err);

/* A tl_splice_add; arg: the tracks. */
tl_status tl_tracelens_tracks_add(void *arg, tl_out_writer *writer, tl_error *err);

/* Returns the number of gaps. */
size_t tl_tracelens_tracks_gaps(const void *tracks);
void tl_tracelens_tracks_free(void *tracks); /* NULL is fine */

#endif
