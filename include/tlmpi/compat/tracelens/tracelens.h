/* tracelens.h - the tables of TraceLens, from the same traces, with its numbers.
 *
 * For people who come from TraceLens, and for checking against it: its gaps and their causes, its timeline, its kernel
 * tables and its tables of collectives, in its arithmetic of doubles.  Nothing of that enters the tables of tlmpi
 * itself.
 *
 * From traces that it reads itself, with all categories and to the letter (tlmpi/compat/verbatim.h).  May use: the
 * common files of compat, trace and, for tracks, trace_out.
 *
 * A rank's own tables need its trace alone, so each proc may do its share of the ranks.  What the ranks have to say to
 * each other travels as bytes:
 *
 *     tl_bytes share = { 0 };
 *     st = tl_tracelens_rank("rank0.json", 0, "out/rank0", &share, err);       one after the other, or anywhere
 *     st = tl_tracelens_rank("rank1.json", 1, "out/rank1", &share, err);
 *     st = tl_tracelens_ranks(&share, 0, "out", &incomplete, err);      where all bytes have come together
 *
 * Shares may be put one after the other, in any order of ranks.
 *
 * Where TraceLens gives up, the tables that can be written are, and notes.txt says what is missing.  Not there:
 * categories of operators (`Parent op category` is empty for them), and traces that are fused.
 */
#ifndef TLMPI_COMPAT_TRACELENS_TRACELENS_H
#define TLMPI_COMPAT_TRACELENS_TRACELENS_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/status.h"
#include "tlmpi/trace_out/splice.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Removes the tables that an earlier call may have left in the folder, so that no old table stays. */
void tl_tracelens_clear(const char *dir);

/* Reads one trace, writes the rank's own tables into dir (made if missing): idle_overview, idle_summary,
 * idle_intervals, idle_noise, gpu_timeline and its variants, kernel_summary, short_kernel_histogram,
 * short_kernels_summary, coll_analysis.  Adds the rank's part of the common tables to the share, and a word where the
 * file cannot be used: that is no failure.  TL_EOUTPUT.  Each table appears whole or not at all. */
tl_status tl_tracelens_rank(const char *path, int64_t rank, const char *dir, tl_bytes *share, tl_error *err);

/* Writes the tables of all ranks (nccl_*) and notes.txt into dir; with columns about nodes where gpus_per_node is above
 * 0.  *incomplete: a file could not be used, or is damaged.  TL_EINPUT: no file could be used, notes.txt tells why;
 * TL_EOUTPUT. */
tl_status tl_tracelens_ranks(tl_bytes *shares, int64_t gpus_per_node, const char *dir, bool *incomplete, tl_error *err);

/* The tracks that TraceLens adds to a trace: idle time by its reasons, in its numbers and words.  All devices are one, and shown
 * in the process in which most device work is.
 */

/* Reads a trace.  *report is filled as far as the reading came; *out, which tl_tracelens_tracks_free ends, on success
 * alone.  TL_EINPUT: it cannot be read, or has such tracks already. */
tl_status tl_tracelens_tracks_read(const char *path, tl_read_report *report, void **out, tl_error *err);

/* A tl_splice_add: arg is what has been read. */
tl_status tl_tracelens_tracks_add(void *arg, tl_out_writer *writer, tl_error *err);

size_t tl_tracelens_tracks_gaps(const void *tracks);
void tl_tracelens_tracks_free(void *tracks); /* NULL is fine */

#endif
