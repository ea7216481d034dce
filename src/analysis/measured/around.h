/* around.h - what the host is in at an instant, or in a call.  Private to the room. */
#ifndef TLMPI_ANALYSIS_MEASURED_AROUND_H
#define TLMPI_ANALYSIS_MEASURED_AROUND_H

#include "tlmpi/model/view.h"

typedef struct tl_instant {
    int64_t at_ns, until_ns; /* of a call its start and end, else one instant */
    uint32_t track;
    uint32_t op, annotation; /* around it on its thread, the innermost: names; TL_NO_NAME */
    uint32_t stack;          /* all operators around it, the outermost first, as "a > b"; TL_NO_NAME: there is none */
} tl_instant;

/* Fills op and annotation of the n instants, which are in any order and stay so; and stack, with names to which its
 * text may be added.  NULL: without stacks. */
void tl_instants_place(const tl_rank_view *view, tl_instant *instants, size_t n, tl_names *names);

#endif
