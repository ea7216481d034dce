/* coll_view.h - entries of communication in words, and the view that they make. */
#ifndef TLMPI_TESTS_COLL_VIEW_H
#define TLMPI_TESTS_COLL_VIEW_H

#include "view_text.h"

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
