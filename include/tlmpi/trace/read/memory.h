/* memory.h - the profiler's raw memory timeline, as export_memory_timeline writes it (.raw.json.gz, .raw.gz).
 *
 *     [[-1, 1, 512, 7], [1696966047096061874, 1, 256, 4], [1696966047096061874, 3, -512, 7], ...]
 *        |   |   |   category
 *        |   |   by how much it changes, in bytes
 *        |   what was done, 1 to 4: it was there before, is given, is put into another category, is taken back
 *        time in ns, never before that of the entry before; below 0 what was there before
 *
 * From the path of a file.  May use text.
 */
#ifndef TLMPI_TRACE_READ_MEMORY_H
#define TLMPI_TRACE_READ_MEMORY_H

#include "tlmpi/base/status.h"
#include <stdbool.h>
#include <stdint.h>

/* Categories as the file numbers them: parameter, optimizer state, input, temporary, activation, gradient, autograd,
 * unknown; and their total. */
enum { TL_MEMORY_CATEGORIES = 8, TL_MEMORY_TOTAL = TL_MEMORY_CATEGORIES, TL_MEMORY_SUMS };

/* Bytes by category after the last change at time_ns. */
typedef struct tl_memory_state {
    int64_t time_ns;
    int64_t bytes[TL_MEMORY_SUMS];
} tl_memory_state;

/* What the reading of a file came to. */
typedef struct tl_memory_report {
    int64_t entries;
    int64_t earliest_ns; /* the earliest time above 0; INT64_MAX without one */
    bool cut;            /* the text ends before the array does */
} tl_memory_report;

/* Gives each state to `take`, in the order of the file: where the time of an entry is another one than that before it.
 * TL_EINPUT: it is no such timeline, or no more from some byte on, which the message names; the states before have been
 * given. */
tl_status tl_memory_timeline_read(const char *path, void (*take)(void *arg, const tl_memory_state *state), void *arg,
                                  tl_memory_report *report, tl_error *err);

#endif
