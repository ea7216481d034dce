/* tables.h - the tables of TraceLens for one rank: what the parts of its face share. */
#ifndef TLMPI_COMPAT_TRACELENS_RANK_TABLES_H
#define TLMPI_COMPAT_TRACELENS_RANK_TABLES_H

#include "tlmpi/compat/tracelens/idle.h"

/* idle_intervals, and idle_noise, which TraceLens has no sheet for. */
tl_status tl_lens_write_gaps(const tl_lens *lens, const tl_lens_idle *idle, const char *dir, tl_error *err);

/* idle_overview, idle_summary. */
tl_status tl_lens_write_gap_groups(const tl_lens_idle *idle, const char *dir, tl_error *err);

/* Where the time of the device went; us.  NaN where there was no event. */
typedef struct tl_lens_timeline {
    bool any; /* an event was there */
    double computation, exposed_comm, exposed_memcpy, busy, idle, micro_idle, macro_idle, total, comm, memcpy;
} tl_lens_timeline;

/* The timeline of all device work, or of what is linked to a launch alone.  TL_ENOMEM. */
tl_status tl_lens_timeline_of(tl_lens_timeline *t, const tl_lens *lens, bool linked_only, tl_error *err);

/* gpu_timeline, gpu_timeline_micro5 (linked) and the two of all events; a timeline without an event has no tables. */
tl_status tl_lens_write_timelines(const tl_lens_timeline *linked, const tl_lens_timeline *all, const char *dir,
                                  tl_error *err);

/* For each event the operator that it belongs to: the nearest one above it in the call tree of the host; TL_NONE where
 * there is none.  NULL: memory is out.  The caller frees it. */
uint32_t *tl_lens_parent_ops(const tl_lens *lens);

/* kernel_summary, short_kernel_histogram, short_kernels_summary; a table without a row is not written.  total: of the
 * linked timeline, us; NaN where there is none. */
tl_status tl_lens_write_kernels(const tl_lens *lens, double total, const char *dir, tl_error *err);

#endif
