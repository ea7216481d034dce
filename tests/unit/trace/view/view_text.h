/* view_text.h - the view that entries in words make. */
#ifndef TLMPI_TESTS_VIEW_TEXT_H
#define TLMPI_TESTS_VIEW_TEXT_H

#include "scratch.h"
#include "tlmpi/trace/view.h"
#include "unit.h"

static tl_trace trace;
static tl_linked linked;
static const regex_t *step_name; /* --step-name; NULL: none */

/* Reads the entries as a run does, and links them.  `more` stands after the array: ", \"baseTimeNanoseconds\": 5". */
static inline const tl_rank_view *view_of(const char *entries, const char *more)
{
    const tl_read_options options = { .keep = TL_LINK_KEEP };
    const tl_rules rules = { .step_name = step_name };
    tl_error err = { 0 };
    char text[16384];

    snprintf(text, sizeof text, "{\"traceEvents\": [%s]%s}", entries, more);
    CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("view.json", text), &options, &trace, &err), TL_OK);
    tl_link(&trace, &rules, 3, &linked);
    return &linked.view;
}

static inline void forget(void)
{
    tl_linked_free(&linked);
    tl_trace_free(&trace);
}

#endif
