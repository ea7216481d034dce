/* coll_view.h - entries of communication in words, and the view that they make. */
#ifndef TLMPI_TESTS_COLL_VIEW_H
#define TLMPI_TESTS_COLL_VIEW_H

#include "scratch.h"
#include "tlmpi/trace/view.h"
#include "unit.h"

static tl_trace trace;
static tl_linked linked;

/* Reads the entries as a run does, and links them.  `more` stands after the array. */
static inline const tl_rank_view *view_of(const char *entries, const char *more)
{
    const tl_read_options options = { .keep = TL_LINK_KEEP };
    const tl_rules rules = { 0 };
    tl_error err = { 0 };
    char text[16384];

    snprintf(text, sizeof text, "{\"traceEvents\": [%s]%s}", entries, more);
    CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("coll.json", text), &options, &trace, &err), TL_OK);
    tl_link(&trace, &rules, 3, &linked);
    return &linked.view;
}

static inline void forget(void)
{
    tl_linked_free(&linked);
    tl_trace_free(&trace);
}

static inline const tl_coll *coll(const tl_rank_view *v, size_t kernel)
{
    CU_ASSERT_FATAL(kernel < v->nkernels && v->kernels[kernel].kind == TL_COMM && v->kernels[kernel].coll < v->ncolls);
    return &v->colls[v->kernels[kernel].coll];
}

static inline const tl_group *group(const tl_rank_view *v, size_t kernel)
{
    CU_ASSERT_FATAL(coll(v, kernel)->group < v->ngroups);
    return &v->groups[coll(v, kernel)->group];
}

#define KERNEL(name, ts, corr, args)                                                                                   \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" #ts ",\"dur\":1,"             \
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":" #corr args "}}"
#define HOST(cat, name, ts, dur, args)                                                                                 \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":99,\"tid\":98,\"ts\":" #ts ",\"dur\":" #dur       \
    ",\"args\":{" args "}}"
#define LAUNCH(ts, corr) HOST("cuda_runtime", "cudaLaunchKernel", ts, 1, "\"correlation\":" #corr)

#define GROUP(name, ranks, size)                                                                                       \
    "\"Process Group Name\":\"" name "\",\"Process Group Ranks\":\"" ranks "\",\"Group size\":" #size

#endif
