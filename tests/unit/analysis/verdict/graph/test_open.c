/* test_open.c - a rank that is opened is its final graph, and what the job keeps of it without its nodes agrees with
 * these. */
#include "graph_drawn.h"

/* It comes so many columns late to its collectives, and is done half as many later. */
static drawing *busy(int late)
{
    drawing *d = draw("steps:                        111111111111111111222222222222222222222222",
                      "launch 1 cudaLaunchKernel:    a.r...b............c..s....d...........e..",
                      "launch 2 cudaLaunchKernel:    ...f.....g............h......i............",
                      "call 1 cudaDeviceSynchronize: ...........=======..............=====.....",
                      "compute 7:                    .AAAA..BBB..........CCCC....DDD.........EE",
                      "compute 8:                    ....FFF...GGGGG........HHH.....IIII.......",
                      "comm 9:                       .....RRRRRR.............SSSSSS............", NULL);
    for (size_t i = 0; i < d->view.nkernels; i++)
        if (d->kernels[i].kind == TL_COMM) {
            d->kernels[i].start_ns += late * US;
            d->kernels[i].end_ns += late * US / 2;
        }
    return d;
}

static graph_job *busy_job(void)
{
    graph_job *j = graph_job_unmade(busy(0), busy(2), draw("compute 7: .A..", NULL), NULL);
    for (size_t i = 0; i < j->nrows; i++)
        j->rows[i].kind = j->rows[i].collective == 0 ? TL_ALL_TO_ALL : TL_SEND_RECV;
    graph_job_make(j);
    return j;
}

/* The port whose END a node of the rank is; TL_NONE. */
static uint32_t port_ended_by(const tl_final_graph *of, uint32_t v)
{
    for (uint32_t p = 0; p < of->graph.ncomms; p++)
        if (of->ports[p].arrival + 1 == v)
            return p;
    return TL_NONE;
}

/* The n-th edge to a node but for those of kinds, which nothing has shown here. */
static const tl_edge *own_edge(const tl_rank_graph *own, const tl_node *node, uint32_t n)
{
    uint32_t e = node->first_edge;
    while (e < node[1].first_edge &&
           ((own->edges[e].vote != 0 && (own->votes[own->edges[e].vote - 1] & TL_VOTE_OF_KIND) != 0) || n-- > 0))
        e++;
    return e < node[1].first_edge ? &own->edges[e] : NULL;
}

/* All clocks are right and nothing was voted out: nodes are the rank's own, but for what ENDs wait for. */
static void same_as_its_own(const tl_rank_graph *own, const tl_open_rank *o)
{
    CU_ASSERT_EQUAL_FATAL(o->n, own->nnodes);
    for (uint32_t v = 0; v < o->n; v++) {
        const tl_node *a = &own->nodes[v], *b = &o->nodes[v];
        uint32_t port = port_ended_by(o->of, v), nedges = b[1].first_edge - b->first_edge;
        CU_ASSERT(a->done_ns == b->done_ns && a->kind == b->kind && a->activity == b->activity);
        CU_ASSERT(a->step == b->step && a->segment == b->segment);
        if (port != TL_NONE && o->of->ports[port].meeting != TL_NONE) {
            CU_ASSERT_EQUAL(tl_rank_port_of(o, v), port);
            CU_ASSERT_EQUAL(nedges, 1);
            CU_ASSERT_EQUAL(tl_from_ns(o, &o->edges[b->first_edge]), o->of->ports[port].meeting_done_ns);
            continue;
        }
        CU_ASSERT_EQUAL(tl_rank_port_of(o, v), TL_NONE);
        CU_ASSERT_EQUAL(a->key, b->key);
        CU_ASSERT_EQUAL(b->work_ns, nedges > 0 ? a->work_ns : 0);
        CU_ASSERT_PTR_NULL_FATAL(own_edge(own, a, nedges));
        for (uint32_t e = 0; e < nedges; e++) {
            const tl_edge *edge = own_edge(own, a, e);
            CU_ASSERT_PTR_NOT_NULL_FATAL(edge);
            CU_ASSERT_EQUAL(o->edges[b->first_edge + e].from, edge->from);
            CU_ASSERT_EQUAL(o->edges[b->first_edge + e].lag_ns, edge->lag_ns);
            CU_ASSERT_EQUAL(tl_from_ns(o, &o->edges[b->first_edge + e]),
                            o->nodes[o->edges[b->first_edge + e].from].done_ns);
        }
    }
}

static void a_rank_is_opened_as_its_final_graph(void)
{
    graph_job *j = busy_job();
    CU_ASSERT_EQUAL_FATAL(j->graph.nmeetings, 2);
    CU_ASSERT_EQUAL_FATAL(j->graph.nvoted, 0);
    for (size_t r = 0; r < j->nranks; r++)
        same_as_its_own(&j->graphs.of.v[r], job_open(j, r));
    graph_job_free(j);
}

static void the_rest_is_what_nothing_explains(void)
{
    graph_job *j = busy_job();
    for (size_t r = 0; r < j->nranks; r++) {
        const tl_open_rank *o = job_open(j, r);
        for (uint32_t v = 0; v < o->n; v++) {
            int64_t since = o->nodes[v].first_edge == o->nodes[v + 1].first_edge ? 0 : INT64_MIN;
            for (uint32_t e = o->nodes[v].first_edge; e < o->nodes[v + 1].first_edge; e++) {
                int64_t ns = tl_from_ns(o, &o->edges[e]) + o->edges[e].lag_ns;
                since = ns > since ? ns : since;
            }
            CU_ASSERT_EQUAL(o->rest_ns[v], o->nodes[v].done_ns - since - o->nodes[v].work_ns);
        }
    }
    graph_job_free(j);
}

static void ports_and_steps_are_those_of_its_nodes(void)
{
    graph_job *j = busy_job();
    CU_ASSERT_EQUAL(j->graph.ranks[1].ports[0].after_meeting_ns, 0); /* it has its own work there */
    CU_ASSERT_EQUAL(job_open(j, 1)->nodes[j->graph.ranks[1].ports[0].arrival + 1].work_ns, US);
    CU_ASSERT_EQUAL(j->graph.ranks[1].ports[1].after_meeting_ns, US);
    for (size_t r = 0; r < j->nranks; r++) {
        const tl_job_rank *of = &j->graph.ranks[r];
        const tl_open_rank *o = job_open(j, r);
        int64_t start_ns = INT64_MAX;
        size_t nsteps = 0;
        for (uint32_t p = 0; p < of->nports; p++) {
            const tl_rank_port *port = &of->ports[p];
            const tl_node *came = &o->nodes[port->arrival], *done = came + 1;
            CU_ASSERT(came->kind == TL_NODE_ARRIVAL && done->kind == TL_NODE_END);
            CU_ASSERT_EQUAL(port->arrived_ns, came->done_ns);
            CU_ASSERT(port->segment == came->segment && port->step == came->step);
            CU_ASSERT_EQUAL(port->meeting_done_ns, j->graph.meetings[port->meeting].done_ns);
            CU_ASSERT_EQUAL(port->after_meeting_ns, o->rest_ns[port->arrival + 1]);
            CU_ASSERT_TRUE(port->awaited);
        }
        for (uint32_t v = 0; v < o->n; v++)
            start_ns = o->nodes[v].done_ns < start_ns ? o->nodes[v].done_ns : start_ns;
        CU_ASSERT_EQUAL(of->start_ns, start_ns);
        for (size_t s = 0; s < of->nsteps; s++) {
            bool there = false;
            for (uint32_t v = 0; v < o->n; v++)
                there = there || o->nodes[v].step == of->steps[s];
            nsteps += there && (s == 0 || of->steps[s] > of->steps[s - 1]);
        }
        for (uint32_t v = 0; v < o->n; v++) {
            bool listed = false;
            for (size_t s = 0; s < of->nsteps; s++)
                listed = listed || o->nodes[v].step == of->steps[s];
            CU_ASSERT_TRUE(listed);
        }
        CU_ASSERT_EQUAL(nsteps, of->nsteps);
    }
    graph_job_free(j);
}

static void each_comes_after_what_it_waits_for_and_an_end_after_its_arrival(void)
{
    graph_job *j = busy_job();
    for (size_t r = 0; r < 2; r++) {
        const tl_open_rank *o = job_open(j, r);
        uint32_t *order = calloc(o->n + 1, sizeof *order), *place = calloc(o->n + 1, sizeof *place);
        if (order == NULL || place == NULL)
            abort();
        tl_open_order(o, order);
        for (uint32_t i = 0; i < o->n; i++)
            place[order[i]] += 1 + i; /* each is there once */
        for (uint32_t v = 0; v < o->n; v++) {
            CU_ASSERT_EQUAL(order[place[v] - 1], v);
            for (uint32_t e = o->nodes[v].first_edge; e < o->nodes[v + 1].first_edge; e++)
                CU_ASSERT(place[v] > place[o->edges[e].from < o->n ? o->edges[e].from : v - 1]);
        }
        free(order);
        free(place);
    }
    graph_job_free(j);
}

/* A small one after a large one, and the large one again. */
static void one_rank_is_opened_after_the_other(void)
{
    graph_job *j = busy_job();
    tl_open_rank o = { 0 };
    const size_t in_turn[] = { 0, 2, 1, 2, 0 };
    for (size_t i = 0; i < COUNT(in_turn); i++) {
        tl_rank_open(&served_rank(&j->served.asker, in_turn[i])->final, &o);
        same_as_its_own(&j->graphs.of.v[in_turn[i]], &o);
        for (uint32_t v = 0; v < o.n; v++)
            CU_ASSERT_EQUAL(o.rest_ns[v], job_open(j, in_turn[i])->rest_ns[v]);
    }
    tl_open_free(&o);
    graph_job_free(j);
}

/* Packed or as it is; its order is then found again. */
static void a_packed_rank_opens_likewise(void)
{
    graph_job *j = busy_job(), *k = busy_job();
    for (size_t r = 0; r < j->nranks; r++) {
        tl_final_graph *plain = &served_rank(&j->served.asker, r)->final,
                       *packed = &served_rank(&k->served.asker, r)->final;
        const tl_open_rank *a = job_open(j, r), *b;
        uint32_t order[2][64] = { { 0 } };
        CU_ASSERT_PTR_NOT_NULL(plain->order);
        tl_final_graph_pack(packed);
        CU_ASSERT_PTR_NULL(packed->order);
        CU_ASSERT_PTR_NULL(packed->graph.nodes);
        b = job_open(k, r);
        CU_ASSERT_FATAL(a->n == b->n && a->n > 0 && a->n <= COUNT(order[0]));
        for (uint32_t v = 0; v < a->n; v++) {
            const tl_node *x = &a->nodes[v], *y = &b->nodes[v];
            CU_ASSERT(x->done_ns == y->done_ns && x->work_ns == y->work_ns && x->first_edge == y->first_edge);
            CU_ASSERT_EQUAL(a->rest_ns[v], b->rest_ns[v]);
        }
        tl_open_order(a, order[0]);
        tl_open_order(b, order[1]);
        CU_ASSERT_EQUAL(memcmp(order[0], order[1], sizeof order[0]), 0);
    }
    graph_job_free(j);
    graph_job_free(k);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_rank_is_opened_as_its_final_graph),
        TEST(the_rest_is_what_nothing_explains),
        TEST(ports_and_steps_are_those_of_its_nodes),
        TEST(each_comes_after_what_it_waits_for_and_an_end_after_its_arrival),
        TEST(one_rank_is_opened_after_the_other),
        TEST(a_packed_rank_opens_likewise),
    };
    return unit_main("ranks that are open", tests, COUNT(tests));
}
