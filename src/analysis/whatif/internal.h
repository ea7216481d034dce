/* internal.h - what proc 0 asks a rank about what would be otherwise (WHATIF), and what it answers. */
#ifndef ANALYSIS_WHATIF_INTERNAL_H
#define ANALYSIS_WHATIF_INTERNAL_H

#include "tlmpi/analysis/whatif.h"

/* The first uint32_t of a question.
 *
 *     WORK     nothing more; answered by, for each label of work that is no communication, a tl_labelled_work and the
 *              lists of bytes of its name and operator
 *     FASTER   a list of tl_faster; answered by the lane of each (uint8_t; 0: nothing is changed), and the rank folded in
 *              all lanes (tl_changed_get)
 *     CHANGED  the number of changes, and of each its sort (uint8_t) and the list of bytes of its text; answered by
 *              tl_selected_work, a list of tl_selected_port, and the rank folded
 *     FINAL    a list of the times, ns, of the meetings of its ports with the changes (INT64_MIN: none), then the changes
 *              as in CHANGED; the rank's graph becomes the changed one.  Answered by a list of its ports */
typedef enum tl_whatif_question {
    TL_WHATIF_WORK,
    TL_WHATIF_FASTER,
    TL_WHATIF_CHANGED,
    TL_WHATIF_FINAL
} tl_whatif_question;

/* All work of one label. */
typedef struct tl_labelled_work {
    int64_t pieces, total_ns;
} tl_labelled_work;

/* Work of a name is made faster by TL_WHATIF_FASTER_PERCENT. */
typedef struct tl_faster {
    uint64_t key; /* content key of the name */
    uint64_t of;  /* tl_whatif_of: KERNEL or OPERATOR */
} tl_faster;

/* What changes select on a rank, without the transfers of matched collectives; as in table `changes`. */
typedef struct tl_selected_work {
    int64_t pieces, own_ns, left_ns;
} tl_selected_work;

/* A port whose transfer is scaled. */
typedef struct tl_selected_port {
    double factor;
    uint32_t port, padding;
} tl_selected_port;

/* top.c: fills table `top`. */
void tl_whatif_find_top(const tl_whatif_input *input, tl_table *out);

/* What stays of ns, not below 0. */
static inline int64_t tl_scaled(int64_t ns, double factor)
{
    return factor == 1 ? ns : (int64_t)((double)ns * factor + 0.5);
}

#endif
