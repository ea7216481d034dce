/* test_held.c - ranks that are held answer all that is asked of them; and where memory is out at any of it, who asks is
 * told so. */
#include "graph_drawn.h"
#include "tlmpi/analysis/verdict.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/tables.h"
#include <string.h>

/* Those of 7, 2 and 4. */
static void ranks_are_found_in_whatever_order_they_were_read(void)
{
    static const int32_t ranks[] = { 7, 2, 4 }, others[] = { -1, 0, 3, 5, 8 };
    tl_rank_graphs graphs = { .of = { .v = held_room(3, sizeof *graphs.of.v), .n = 3 } };
    tl_held held;
    for (size_t i = 0; i < 3; i++)
        graphs.of.v[i] = (tl_rank_graph){ .rank = ranks[i], .nodes = held_room(1, sizeof *graphs.of.v[i].nodes), .nnodes = i + 1 };
    CU_ASSERT_FATAL(tl_held_take(&graphs, &held));
    CU_ASSERT(graphs.of.n == 0 && graphs.of.v == NULL);
    CU_ASSERT_EQUAL_FATAL(held.n, 3);
    for (size_t i = 0; i < 3; i++) {
        size_t at = tl_held_index(&held, ranks[i]);
        CU_ASSERT_FATAL(at < 3);
        CU_ASSERT(held.ranks[at].rank == ranks[i] && held.ranks[at].settled.graph.nnodes == i + 1);
    }
    for (size_t i = 0; i < COUNT(others); i++)
        CU_ASSERT_EQUAL(tl_held_index(&held, others[i]), 3);
    tl_held_free(&held);
}

/* Ranks stay with who has read them where there is no room to hold them. */
static void none_is_lost_where_there_is_no_room_to_hold_them(void)
{
    tl_rank_graphs graphs = { .of = { .v = held_room(1, sizeof *graphs.of.v), .n = 1 } };
    tl_held held;
    graphs.of.v[0] = (tl_rank_graph){ .rank = 3, .nodes = held_room(1, sizeof(tl_node)), .nnodes = 1 };
    tl_mem_fail_after(1);
    CU_ASSERT_FALSE(tl_held_take(&graphs, &held));
    tl_mem_fail_after(0);
    tl_held_free(&held);
    CU_ASSERT_EQUAL(graphs.of.n, 1);
    tl_rank_graphs_free(&graphs);
}

/* ---------------------------------------------------------------------------------------------------------- the job */

enum { STEPS = 6, STEP = 20, LINES = 6 };

/* A line of what is the same in each step. */
static const char *again(char *line, const char *head, const char *step)
{
    size_t n = strlen(head);
    memcpy(line, head, n);
    for (size_t i = 0; i < STEPS * STEP; i++)
        line[n + i] = step != NULL ? step[i % STEP] : (char)('1' + i / STEP + (i >= (STEPS - 1) * STEP + STEP / 2));
    line[n + STEPS * STEP] = 0;
    return line;
}

/* The one that is late has a kernel besides; `alone`: what others have no trace of. */
static drawing *rank_of(bool late, const char *alone)
{
    char lines[LINES][200];
    return stretched(draw(again(lines[0], "steps:          ", NULL),
                          again(lines[1], "host:           ", late ? "abxr..........y....." : "abr...........y....."),
                          again(lines[2], "compute 7 gemm: ", "..AAA..............."),
                          again(lines[3], "compute 7 relu: ", late ? ".....BBBXXX....Y...." : ".....BBB.......Y...."),
                          again(lines[4], "comm 9:         ", late ? "...........RRRRRR..." : "........RRRRRRRRR..."),
                          again(lines[5], "comm 11:        ", alone), NULL), 10);
}

/* Rank 3 has no trace: ranks 0 and 1 are alone in what they meet it in. */
static graph_job *job_of_four(tl_table *groups)
{
    static const char *const ranks[] = { "0-2", "0,3", "1,3" };
    graph_job *j = graph_job_unmade(rank_of(false, "SS.................."), rank_of(false, "..................TT"),
                                    rank_of(true, "...................."), NULL);
    for (int32_t g = 0; g < 3; g++) {
        tl_group_row row = { .group = g, .size = g == 0 ? 3 : 2, .seen = g == 0 ? 3 : 1 };
        memcpy(row.ranks, ranks[g], strlen(ranks[g]));
        CU_ASSERT_FATAL(tl_table_append(groups, &row, 1));
    }
    for (size_t i = 0; i < j->nrows; i++) {
        bool all = j->rows[i].collective < STEPS;
        j->rows[i].group = all ? 0 : j->rows[i].rank + 1;
        j->rows[i].fits = all;
    }
    return j;
}

/* ------------------------------------------------------------------------------------------------- who is out of it */

/* Who is asked runs out of memory at its fail-th allocation, the nth time it is asked that. */
typedef struct denying {
    tl_asker held;
    tl_question question;
    size_t nth, fail;
    size_t nasked;
    bool denied;
} denying;

static bool deny(void *of, const int32_t *ranks, tl_question question, tl_asked *asked)
{
    denying *d = of;
    bool here = question == d->question && d->nasked++ == d->nth;
    tl_mem_fail_after(here ? d->fail : 0);
    bool ok = d->held.ask(d->held.of, ranks, question, asked);
    tl_mem_fail_after(0);
    CU_ASSERT(ok || here);
    d->denied = d->denied || !ok;
    return ok;
}

static bool has_found(const tl_findings *findings)
{
    for (size_t u = 0; u < findings->units.n; u++) {
        const tl_unit *unit = &findings->units.v[u];
        if (unit->rank == 2 && unit->family == TL_FAMILY_ADDITIONAL && unit->needed)
            return true;
    }
    return false;
}

/* From the graph of the job to the rows of its verdict. */
static tl_status judge(graph_job *j, const tl_table *groups, denying *d)
{
    static const tl_schema *const schemas[] = { &tl_group_row_schema,  &tl_rank_schema,       &tl_slow_link_row_schema,
                                                &tl_straggler_schema,  &tl_whatif_row_schema, &tl_blame_schema,
                                                &tl_blame_step_schema, &tl_path_row_schema };
    const tl_verdict_options options = { TL_VERDICT_ALPHA, TL_VERDICT_LEAST_COST };
    const int64_t late_counts[GRAPH_RANKS] = { 0 };
    tl_graph_input in = graph_job_input(j);
    tl_graph graph = { 0 };
    tl_baseline baseline = { 0 };
    tl_findings findings = { .units = { 0 } };
    tl_tables tables;
    tl_error err;
    CU_ASSERT_FATAL(tl_tables_init(&tables, schemas, COUNT(schemas)));
    hold_ranks(&j->graphs, j->ranks, &j->held);
    d->held = j->held.asker;
    const tl_asker asker = { deny, d, j->ranks };
    const tl_link_input links = { j->ranks, j->rows, j->nrows, groups, tl_tables_get(&tables, &tl_rank_schema) };
    in.groups = groups;
    tl_status st = tl_graph_make(&in, &asker, &graph, &err);
    if (st == TL_OK)
        st = tl_baseline_make(&graph, &asker, j->ranks, j->rows, j->nrows, &baseline, &err);
    if (st == TL_OK)
        st = tl_baseline_add_links(&baseline, &links, &err);
    if (st == TL_OK)
        st = tl_verdict_find(&baseline, &options, &findings, &err);
    if (st == TL_OK)
        st = tl_verdict_rows(&findings, &baseline, &(tl_verdict_ranks){ j->ranks, late_counts, j->nranks }, &tables, &err);
    if (st == TL_OK) {
        CU_ASSERT_EQUAL(findings.error_ns, 0);
        CU_ASSERT_TRUE(has_found(&findings));
    }
    tl_findings_free(&findings);
    tl_baseline_free(&baseline);
    tl_graph_free(&graph);
    tl_tables_free(&tables);
    return st;
}

/* How often it is asked; every allocation that is made for an answer is out once. */
static size_t deny_all(graph_job *j, const tl_table *groups, tl_question question, size_t *failures)
{
    for (size_t nth = 0;; nth++)
        for (size_t fail = 1;; fail++) {
            denying d = { .question = question, .nth = nth, .fail = fail };
            tl_status st = judge(j, groups, &d);
            CU_ASSERT_EQUAL(st, d.denied ? TL_ENOMEM : TL_OK);
            *failures += d.denied;
            if (!d.denied && d.nasked <= nth)
                return nth;
            if (!d.denied)
                break;
        }
}

static void who_is_asked_says_when_memory_is_out(void)
{
    tl_table groups = { .schema = &tl_group_row_schema };
    graph_job *j = job_of_four(&groups);
    for (int q = 0; q < TL_ASK_NOTHING; q++) {
        size_t failures = 0, nasked = deny_all(j, &groups, (tl_question)q, &failures);
        CU_ASSERT(nasked > 0);
        CU_ASSERT(failures >= 2 * nasked);
    }
    graph_job_free(j);
    tl_table_free(&groups);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(ranks_are_found_in_whatever_order_they_were_read),
        TEST(none_is_lost_where_there_is_no_room_to_hold_them),
        TEST(who_is_asked_says_when_memory_is_out),
    };
    return unit_main("ranks that are held", tests, COUNT(tests));
}
