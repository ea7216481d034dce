/* test_rank_repairs.c - repairs that ranks are told of, and what stays of ranks then, come back from bytes as they
 * were. */
#include "graph_drawn.h"
#include <string.h>

/* Two steps; the one that is late has a kernel besides, slow kernels, a slow copy, a wait, and a slow host.  Columns of
 * 10 us. */
static drawing *rank_of(bool late)
{
    return stretched(draw("steps:                        111111111111111122222222222222222222",
                          late ? "launch 1 cudaLaunchKernel:    axbh...r........c..d...........s...."
                               : "launch 1 cudaLaunchKernel:    abhr............c.d.s...............",
                          late ? "call 1 cudaStreamSynchronize: ...===..............====............"
                               : "call 1 cudaStreamSynchronize: ....................................",
                          late ? "compute 7 gemm:               .AAAAXX.........CCCCC..............."
                               : "compute 7 gemm:               .AA.............CC..................",
                          late ? "compute 7 relu:               .......BB............DDDD..........."
                               : "compute 7 relu:               ...BB.............DD................",
                          late ? "memcpy 8 Memcpy HtoD:         ....HHH............................."
                               : "memcpy 8 Memcpy HtoD:         ...HH...............................",
                          late ? "comm 9:                       ..........RRR...................SSSS"
                               : "comm 9:                       .....RRRRRRRR.......SSSSSSSSSSSSSSSS", NULL), 10);
}

static graph_job *job_of_three(void)
{
    graph_job *j = graph_job_of(rank_of(false), rank_of(false), rank_of(true), NULL);
    graph_job_baseline(j);
    return j;
}

/* Whether two lists, of which there may be none, are the same. */
static bool same(const void *a, const void *b, size_t n, size_t size)
{
    return n == 0 || (a != NULL && b != NULL && memcmp(a, b, n * size) == 0);
}

/* ---------------------------------------------------------------------------------------------------------- repairs */

static bool same_plan(const tl_repair_plan *a, const tl_repair_plan *b)
{
    size_t cells = a->nkinds * a->nsteps, sums = a->nwindows * a->nkinds;
    return a->family == b->family && a->nkinds == b->nkinds && a->nsteps == b->nsteps && a->nwindows == b->nwindows &&
           a->nsums == b->nsums && same(a->window, b->window, cells, sizeof *a->window) &&
           same(a->own_ns, b->own_ns, sums, sizeof *a->own_ns) && same(a->baseline_ns, b->baseline_ns, sums, sizeof *a->baseline_ns) &&
           same(a->drop, b->drop, cells, sizeof *a->drop) &&
           same(a->sums, b->sums, a->nsums, sizeof *a->sums);
}

static tl_repair_plan plan_of(const graph_job *j, tl_family family, bool drifts)
{
    static const bool on[] = { true, true };
    tl_repair_plan plan;
    CU_ASSERT_EQUAL_FATAL(j->baseline.nsteps, 2);
    tl_repair_plan_make(&j->baseline, &(tl_repair){ .rank = 2, .family = (uint8_t)family, .drifts = drifts, .on = on },
                        &plan);
    return plan;
}

/* Whether it takes anything off. */
static bool has_effect(const graph_job *j, const tl_repair_plan *plan)
{
    tl_changes c = { 0 };
    bool any = false;
    rank_open(&j->baseline, 2, &c);
    tl_repair_plan_apply(plan, &c);
    for (uint32_t v = 0; v < c.open.n; v++)
        any = any || c.less_ns[v] != 0 || c.gone[v];
    rank_close(&c);
    return any;
}

static void a_repair_comes_back_as_it_was(void)
{
    graph_job *j = job_of_three();
    for (int family = 0; family < TL_NFAMILIES; family++)
        for (int how = 0; how < 2; how++) {
            tl_repair_plan plan = plan_of(j, (tl_family)family, how == 1), received;
            tl_bytes bytes = { 0 };
            tl_repair_plan_put(&plan, &bytes);
            tl_repair_plan_put(&plan, &bytes);
            for (int i = 0; i < 2; i++) { /* one after the other */
                tl_repair_plan_get(&received, &bytes);
                CU_ASSERT_TRUE(same_plan(&plan, &received));
                CU_ASSERT_TRUE(has_effect(j, &received));
                tl_repair_plan_free(&received);
            }
            CU_ASSERT_EQUAL(bytes.at, bytes.n);
            tl_bytes_free(&bytes);
            tl_repair_plan_free(&plan);
        }
    graph_job_free(j);
}

/* ----------------------------------------------------------------------------------------------------------- pieces */

static bool same_net(const tl_net *a, const tl_net *b)
{
    return a->n == b->n && a->nedges == b->nedges && a->nends == b->nends && a->nsteps == b->nsteps && a->order == NULL &&
           b->order == NULL && same(a->own_ns, b->own_ns, a->n, sizeof *a->own_ns) &&
           same(a->first_edge, b->first_edge, a->n + 1, sizeof *a->first_edge) &&
           same(a->from, b->from, a->nedges, sizeof *a->from) && same(a->lag_ns, b->lag_ns, a->nedges, sizeof *a->lag_ns) &&
           same(a->first_end, b->first_end, a->n + 1, sizeof *a->first_end);
}

static bool same_piece(const tl_folded *a, const tl_folded *b, size_t nports)
{
    bool ok = same_net(&a->net, &b->net) && same(a->done_ns, b->done_ns, a->net.n, sizeof *a->done_ns) &&
              same(a->arrival_node, b->arrival_node, nports, sizeof *a->arrival_node) &&
              same(a->end_node, b->end_node, nports, sizeof *a->end_node);
    for (size_t i = 0; ok && i < a->net.nends; i++)
        ok = a->net.end_ns[i] == b->net.end_ns[i] && a->net.end_step[i] == b->net.end_step[i];
    return ok;
}

/* Of a rank, of whose nodes the first few stay. */
static tl_folded piece_of(const graph_job *j, size_t rank, size_t nkept)
{
    tl_changes *ranks = ranks_open(&j->baseline);
    void **marks = by_node(&j->baseline, 1);
    uint32_t *number_of = calloc(ranks[rank].open.n + 1, sizeof *number_of);
    tl_folded piece;
    if (number_of == NULL)
        abort();
    memset(marks[rank], TL_FOLD_KEEP, nkept);
    tl_folded_make(&ranks[rank], marks[rank], &piece, number_of);
    free(number_of);
    by_node_free(&j->baseline, marks);
    ranks_close(&j->baseline, ranks);
    return piece;
}

static void a_piece_comes_back_as_it_was(void)
{
    graph_job *j = job_of_three();
    for (size_t r = 0; r < j->nranks; r++)
        for (size_t kept = 0; kept <= 9; kept += 3) {
            tl_folded piece = piece_of(j, r, kept), back;
            tl_bytes bytes = { 0 };
            tl_folded_put(&piece, j->graph.ranks[r].nports, &bytes);
            tl_folded_get(&back, &bytes);
            CU_ASSERT(bytes.at == bytes.n && back.done_ns == NULL && back.norigin == piece.norigin);
            tl_folded_unpack(&back, &back.net, &back.done_ns);
            CU_ASSERT(piece.net.n > 1 + kept && piece.net.nedges > 0 && piece.net.nends > 0);
            CU_ASSERT_TRUE(same_piece(&piece, &back, 2));
            tl_bytes_free(&bytes);
            tl_folded_free(&piece);
            tl_folded_free(&back);
        }
    graph_job_free(j);
}

/* In place of the rank's own. */
static void a_changed_piece_takes_the_place_of_the_unchanged_one(void)
{
    graph_job *j = job_of_three();
    const tl_baseline *b = &j->baseline;
    tl_repair_plan plan = plan_of(j, TL_FAMILY_DEVICE, false);
    tl_changes *ranks = ranks_open(b);
    tl_folded pieces[3], changed[3] = { { .done_ns = NULL } };
    tl_job_net job_net = { .done_ns = NULL };
    for (size_t r = 0; r < 3; r++)
        tl_folded_make(&ranks[r], NULL, &pieces[r], NULL);
    int64_t end_ns = ranks_end(b, ranks);
    tl_repair_plan_apply(&plan, &ranks[2]);
    tl_folded_make(&ranks[2], NULL, &changed[2], NULL);
    CU_ASSERT(!tl_folded_is(&changed[0]) && tl_folded_is(&changed[2]));
    tl_job_net_make(b, pieces, changed, &job_net);
    int64_t *done_ns = calloc(job_net.net.n + 1, sizeof *done_ns);
    if (done_ns == NULL)
        abort();
    CU_ASSERT_EQUAL(tl_net_replay(&job_net.net, done_ns), ranks_end(b, ranks));
    CU_ASSERT(ranks_end(b, ranks) < end_ns);
    free(done_ns);
    tl_job_net_free(&job_net);
    for (size_t r = 0; r < 3; r++) {
        tl_folded_free(&pieces[r]);
        tl_folded_free(&changed[r]);
    }
    ranks_close(b, ranks);
    tl_repair_plan_free(&plan);
    graph_job_free(j);
}

/* ---------------------------------------------------------------------------------------------------------- changes */

/* The answer of rank 2 to changes from..to-1, each with the one plan that it has been told. */
static tl_bytes answer_of(const graph_job *j, const tl_rank_repairs *repairs, const tl_change *changes, size_t from,
                          size_t to)
{
    const uint32_t which = 0;
    tl_served_rank *of = served_rank(j->baseline.asker, 2);
    tl_open_rank open = { 0 };
    tl_bytes in = { 0 }, out = { 0 };
    for (size_t i = from; i < to; i++) {
        bool planned = changes[i].kind == TL_CHANGE_CANDIDATES || changes[i].kind == TL_CHANGE_IDEAL;
        tl_bytes_put(&in, &changes[i], sizeof *changes);
        tl_bytes_put_list(&in, &which, planned, sizeof which);
    }
    tl_rank_open(&of->final, &open);
    tl_change_answer(&open, &of->class_map, repairs, &in, &out);
    tl_open_free(&open);
    tl_bytes_free(&in);
    return out;
}

/* When the job ends with rank 2 as it is in a lane of the answer, whose bytes up to the rank are read. */
static int64_t end_of(const graph_job *j, tl_bytes *answer, uint8_t lane)
{
    const tl_baseline *b = &j->baseline;
    tl_changes *ranks = ranks_open(b);
    tl_folded pieces[3], changed[3] = { { .done_ns = NULL } };
    tl_job_net job_net = { .done_ns = NULL };
    for (size_t r = 0; r < 3; r++)
        tl_folded_make(&ranks[r], NULL, &pieces[r], NULL);
    tl_changed_get(&changed[2], answer);
    changed[2].lane = lane;
    tl_job_net_make(b, pieces, changed, &job_net);
    int64_t *done_ns = calloc(job_net.net.n + 1, sizeof *done_ns);
    if (done_ns == NULL)
        abort();
    int64_t end_ns = tl_net_replay(&job_net.net, done_ns);
    free(done_ns);
    tl_job_net_free(&job_net);
    for (size_t r = 0; r < 3; r++)
        tl_folded_free(&pieces[r]);
    tl_folded_free(&changed[2]);
    ranks_close(b, ranks);
    return end_ns;
}

/* The next lane of an answer. */
static uint8_t lane_in(tl_bytes *answer, const tl_change *change)
{
    void *ends = NULL;
    size_t n;
    uint8_t lane;
    tl_bytes_get(answer, &lane, sizeof lane);
    if (change->kind == TL_CHANGE_IDEAL)
        tl_bytes_get_list(answer, &ends, &n, sizeof(tl_end_less));
    free(ends);
    return lane;
}

/* Whatever comes before a change in the same question, also waits that go and come back, the job ends at the same
 * time. */
static void changes_asked_together_are_answered_as_each_alone(void)
{
    static const tl_change changes[] = {
        { .kind = TL_CHANGE_IDEAL, .activities = ~0U },
        { .kind = TL_CHANGE_NONE },
        { .kind = TL_CHANGE_IDEAL, .activities = 1U << TL_ACTIVITY_COMPUTE },
        { .kind = TL_CHANGE_IDEAL, .activities = 1U << TL_ACTIVITY_SYNC },
        { .kind = TL_CHANGE_CANDIDATES },
        { .kind = TL_CHANGE_IDEAL, .activities = 1U << TL_ACTIVITY_HOST },
        { .kind = TL_CHANGE_BALANCE, .to = 0.5 },
        { .kind = TL_CHANGE_HOST },
        { .kind = TL_CHANGE_IDEAL, .activities = 1U << TL_ACTIVITY_COPY }, /* it has none */
    };
    uint8_t lanes[COUNT(changes)];
    graph_job *j = job_of_three();
    tl_repair_plan plan = plan_of(j, TL_FAMILY_DEVICE, false);
    tl_rank_repairs repairs = { .plans = &plan, .nplans = 1 };
    tl_ideal *ideal = tl_ideal_new(&j->baseline);
    tl_bytes bytes = { 0 };
    tl_ideal_put(ideal, 2, &bytes);
    tl_rank_ideal_get(&repairs.ideal, &bytes);
    tl_bytes all = answer_of(j, &repairs, changes, 0, COUNT(changes));
    for (size_t i = 0; i < COUNT(changes); i++)
        lanes[i] = lane_in(&all, &changes[i]);
    CU_ASSERT(lanes[0] > 0 && lanes[1] == 0 && lanes[COUNT(changes) - 1] == 0);
    for (size_t i = 0; i < COUNT(changes); i++) {
        tl_bytes one = answer_of(j, &repairs, changes, i, i + 1), rest = all;
        uint8_t lane = lane_in(&one, &changes[i]);
        CU_ASSERT_EQUAL(lane > 0, lanes[i] > 0);
        CU_ASSERT_EQUAL(end_of(j, &one, lane), end_of(j, &rest, lanes[i]));
        tl_bytes_free(&one);
    }
    tl_bytes_free(&all);
    tl_bytes_free(&bytes);
    tl_rank_ideal_free(&repairs.ideal);
    tl_ideal_free(ideal);
    tl_repair_plan_free(&plan);
    graph_job_free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_repair_comes_back_as_it_was),
        TEST(a_piece_comes_back_as_it_was),
        TEST(a_changed_piece_takes_the_place_of_the_unchanged_one),
        TEST(changes_asked_together_are_answered_as_each_alone),
    };
    return unit_main("what ranks are told", tests, COUNT(tests));
}
