/* work.c - the nodes of the device's work and of communication, each after its launch and what its stream did
 * before. */
#include "build.h"
#include "tlmpi/analysis/time.h"
#include "tlmpi/base/stats.h"

static void add_comm(tl_graph_build *b, const tl_kernel *k, tl_graph_kernel *p)
{
    tl_node node = { .done_ns = k->start_ns, .segment = p->segment, .step = p->step, .kind = TL_NODE_ARRIVAL };
    p->start = tl_graph_node(b, node);
    node.done_ns = k->end_ns;
    node.work_ns = k->end_ns - k->start_ns; /* until other participants are known */
    node.kind = TL_NODE_END;
    node.activity = TL_ACTIVITY_COMM;
    p->end = tl_graph_node(b, node);
    tl_vec_push(&b->comms, (tl_node_comm){ k->start_ns, k->uid, p->start, p->segment, p->nwork });
    tl_graph_edge(b, p->start, p->end, 0, 0);
}

void tl_graph_work(tl_graph_build *b)
{
    for (size_t i = 0; i < b->view->nkernels; i++) {
        const tl_kernel *k = &b->view->kernels[i];
        tl_graph_kernel *p = &b->placed[i];
        if (k->kind == TL_COMM) {
            add_comm(b, k, p);
            continue;
        }
        p->start = p->end =
            tl_graph_node(b, (tl_node){ .done_ns = k->end_ns,
                                        .work_ns = k->end_ns - k->start_ns,
                                        .key = p->name,
                                        .segment = p->segment,
                                        .step = p->step,
                                        .kind = TL_NODE_WORK,
                                        .activity = (uint8_t)tl_activity_of_work(b->view, k),
                                        .blocks = k->kind == TL_COMPUTE ? tl_blocks_rounded(k->blocks) : 0 });
    }
    for (size_t i = 0; i < b->view->nkernels; i++) {
        const tl_kernel *k = &b->view->kernels[i];
        uint32_t launch = b->placed[i].launch != TL_NONE ? b->launched[b->placed[i].launch] : TL_NONE;
        /* Work that begins before the previous work of its stream ended keeps that overlap in every replay. */
        if (i > 0 && tl_same_stream(k, k - 1))
            tl_graph_edge(b, b->placed[i - 1].end, b->placed[i].start,
                          tl_ns_min(0, tl_ns_between(k->start_ns, k[-1].end_ns)), 0);
        if (launch != TL_NONE)
            tl_graph_edge(b, launch, b->placed[i].start,
                          tl_ns_min(b->latency_ns, tl_ns_between(k->start_ns, b->nodes.v[launch].done_ns)), 0);
    }
}
