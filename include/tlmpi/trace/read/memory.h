/* memory.h - the profiler's raw memory timeline, as export_memory_timeline writes it (.raw.json.gz, .raw.gz).
 *
 *     [[-1, 1, 512, 7], [1696966047096061874, 1, 256, 4], [1696966047096061874, 3, -512, 7], ...]
 *        |   |   |   category
 *         |   |   change in bytes
 *         |   action, 1 to 4: existed before, is allocated, changes category, is freed
 *         time in ns, ascending; below 0: before the recording
 *
 * Input: the path of a file.  May use text.
 */
#ifndef TLMPI_TRACE_READ_MEMORY_H
#define TLMPI_TRACE_READ_MEMORY_H

#include "tlmpi/base/status.h"
#include <stdbool.h>
#include <stdint.h>

/* Categories as the file numbers them: parameter, optimizer state, input, temporary, activation, gradient, autograd,
 * unknown; then their total. */
enum { TL_MEMORY_CATEGORIES = 8, TL_MEMORY_TOTAL = TL_MEMORY_CATEGORIES, TL_MEMORY_SUMS };

/* Bytes by category after the last change at time_ns. */
typedef struct tl_memory_state {
    int64_t time_ns;
    int64_t bytes[TL_MEMORY_SUMS];
} tl_memory_state;

/* The outcome of reading a file. */
typedef struct tl_memory_report {
    int64_t entries;
    int64_t earliest_ns; /* earliest time above 0, ns; INT64_MAX: none */
    bool cut;            /* the text ends before the end of the array */
} tl_memory_report;

/* Calls `take` for each state, in file order: whenever the time of the next entry differs.  TL_EINPUT: the file is not
 * such a timeline, or not from some byte on, which the message names; the states before it have been passed to
 * `take`. */
tl_status tl_memory_timeline_read(const char *path, void (*take)(void *arg, const tl_memory_state *state), void *arg,
                                  tl_memory_report *report, tl_error *err);

#endif
