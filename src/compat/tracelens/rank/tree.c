/* tree.c - the call tree of the host.
 *
 *     cpu_op     [ a                    ]
 *     cpu_op       [ b        ]
 *     runtime         [ call ]              its parent is b
 *
 * A stack for each thread: whatever has ended is popped; what is left on top is the parent.  An event that ends later
 * than the top is left out; where the top ends less than 1 us after its start, and is not the only one, the top goes
 * instead. Frames of Python take no part.
 */
#include "tlmpi/compat/tracelens/rank.h"
#include <stdlib.h>

#define OVERRUN_US 1.0

static bool is_host(const tl_lens *lens, uint32_t i)
{
    return (lens->set[i] == TL_LENS_CPU_OP || lens->set[i] == TL_LENS_RUNTIME) && !isnan(tl_lens_ts(lens, i));
}

uint32_t *tl_lens_parent_ops(const tl_lens *lens)
{
    size_t n = 0, nevents = lens->e->n;
    uint32_t *index = tl_lens_pick(lens, is_host, false, &n);
    uint32_t *tops = tl_malloc(lens->e->tracks.n * sizeof *tops);
    uint32_t *below = tl_malloc(nevents * sizeof *below); /* an event on the stack -> the one under it */
    uint32_t *op = tl_malloc(nevents * sizeof *op);

    for (size_t i = 0; i < nevents; i++)
        op[i] = TL_NONE;
    for (size_t i = 0; i < lens->e->tracks.n; i++)
        tops[i] = TL_NONE;
    for (size_t i = 0; i < n; i++) {
        uint32_t event = index[i], *top = &tops[lens->e->track[event]];
        while (*top != TL_NONE && tl_lens_ts(lens, event) >= tl_lens_end(lens, *top))
            *top = below[*top];
        if (*top != TL_NONE && tl_lens_end(lens, event) > tl_lens_end(lens, *top)) {
            if (!(tl_lens_end(lens, *top) - tl_lens_ts(lens, event) < OVERRUN_US) || below[*top] == TL_NONE)
                continue;
            *top = below[*top];
        }
        if (*top != TL_NONE)
            op[event] = lens->set[*top] == TL_LENS_CPU_OP ? *top : op[*top];
        below[event] = *top;
        *top = event;
    }
    free(index);
    free(tops);
    free(below);
    return op;
}
