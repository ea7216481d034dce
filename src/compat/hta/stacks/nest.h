/* nest.h - the rows of a rank by thread, and which row of a thread stands within which, by their times alone.
 *
 *     rows        [ a        [ b   ][ c ][ d       ]          ]
 *     sweep       a is opened, b opened, the top (b) closed, c opened, the top closed ...
 *
 * An end takes off whatever was opened last: HTA does so where rows overlap without one being within the other, too.
 *
 * At one time ends come before starts; of ends the shorter row's first, of starts the longer row's.  Rows of no length
 * stand after the starts, and before the ends.  Where there are both, that is a circle: what comes of it depends on the
 * steps of Python's sort, and on the order that the rows come in, and they are therefore the same here.
 */
#ifndef TLMPI_COMPAT_HTA_STACKS_NEST_H
#define TLMPI_COMPAT_HTA_STACKS_NEST_H

#include "tlmpi/compat/hta/frame/job.h"

/* Rows of one pid and tid. */
typedef struct tl_hta_thread {
    const tl_track *track;
    const uint32_t *at; /* positions of its rows, ascending */
    size_t n;           /* one at least */
} tl_hta_thread;

/* In the order in which pandas groups them.  tl_hta_threads_free ends it. */
typedef struct tl_hta_threads {
    tl_hta_groups groups;
    tl_hta_thread *v;
    size_t n;
} tl_hta_threads;

tl_hta_threads tl_hta_threads_of(const tl_hta_frame *frame);
void tl_hta_threads_free(tl_hta_threads *threads);

#define TL_HTA_TOP UINT32_MAX /* in no other row */

typedef enum tl_hta_nesting {
    TL_HTA_SIBLINGS, /* rows of no length at one time stand side by side; one below 0 counts as 0.  Sorted as they are */
    TL_HTA_NESTED    /* they stand within each other; one below 0 ends before it starts.  Sorted by numpy before */
} tl_hta_nesting;

typedef struct tl_hta_nest {
    const tl_hta_row *rows; /* of the frame */
    tl_hta_nesting way;

    /* Out, for each row at its position in the frame: the position of the row it stands in. */
    uint32_t *parent;
    uint32_t *opened; /* positions, as they were opened: a row comes after the one it stands in */
    size_t nopened;

    /* NESTED: a row of no length and one below 0 meet at one time, where HTA gives up. */
    bool clash;
    uint32_t clash_of, clash_with; /* indices of such rows */
} tl_hta_nest;

/* Nests the n rows at these positions, in ascending order.  Adds them to opened. */
void tl_hta_nest_rows(tl_hta_nest *nest, const uint32_t *at, size_t n);

#endif
