/* test_phase.c - phases: what counts of several records, when a rank is late, and whether it waits there.
 *
 * A rank's phase is drawn a step a column: '.' as the others, '#' 10 ms longer, 'o' 10 ms shorter, 'X' 1 s longer,
 * ' ' not recorded.
 */
#include "tlmpi/analysis/verdict/phase.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

/* ------------------------------------------------------------------------------------------------------------ lines */

typedef struct drawn_line {
    int step;
    uint32_t session;
    int64_t ms;
    uint64_t line, metadata;
} drawn_line;

static int64_t repeated, superseded;

/* The cells of lines of one rank and phase; the caller frees v. */
static tl_phase_cells fold(const drawn_line *drawn, size_t n)
{
    tl_phase_line lines[16];
    tl_phase_cells cells = { 0 };
    for (size_t i = 0; i < n; i++)
        lines[i] = (tl_phase_line){ .rank = 1,
                                    .step = drawn[i].step,
                                    .session = drawn[i].session,
                                    .duration_ns = drawn[i].ms * MS,
                                    .line = drawn[i].line,
                                    .metadata = drawn[i].metadata };
    repeated = superseded = 0;
    tl_phase_fold(lines, n, 7, &cells, &repeated, &superseded);
    return cells;
}

static void micro_steps_are_summed(void)
{
    static const drawn_line drawn[] = { { 4, 0, 10, 1, 101 }, { 4, 0, 20, 2, 102 }, { 5, 0, 30, 3, 101 } };
    tl_phase_cells cells = fold(drawn, COUNT(drawn));
    CU_ASSERT_EQUAL_FATAL(cells.n, 2);
    CU_ASSERT_EQUAL(cells.v[0].duration_ns, 30 * MS);
    CU_ASSERT_EQUAL(cells.v[0].records, 2);
    CU_ASSERT_EQUAL(cells.v[1].duration_ns, 30 * MS);
    CU_ASSERT_EQUAL(repeated + superseded, 0);
    free(cells.v);
}

static void a_line_counts_once(void)
{
    static const drawn_line drawn[] = { { 4, 0, 10, 1, 0 }, { 4, 0, 10, 1, 0 }, { 4, 1, 10, 1, 0 } };
    tl_phase_cells cells = fold(drawn, COUNT(drawn));
    CU_ASSERT_EQUAL_FATAL(cells.n, 1);
    CU_ASSERT_EQUAL(cells.v[0].duration_ns, 10 * MS);
    CU_ASSERT_EQUAL(repeated, 2);
    free(cells.v);
}

static void a_step_that_is_run_again_counts_as_the_last_time(void)
{
    static const drawn_line drawn[] = { { 4, 0, 10, 1, 0 }, { 5, 0, 10, 2, 0 }, { 4, 1, 30, 3, 0 } };
    tl_phase_cells cells = fold(drawn, COUNT(drawn));
    CU_ASSERT_EQUAL_FATAL(cells.n, 2);
    CU_ASSERT_EQUAL(cells.v[0].duration_ns, 30 * MS);
    CU_ASSERT_EQUAL(cells.v[1].duration_ns, 10 * MS);
    CU_ASSERT_EQUAL(superseded, 1);
    free(cells.v);
}

/* Two micro-steps; run again with metadata that tell the time, and again with one of these lines. */
static void metadata_of_a_step_that_is_run_again_may_differ(void)
{
    static const drawn_line drawn[] = { { 4, 0, 10, 1, 101 }, { 4, 0, 20, 2, 102 }, { 4, 1, 11, 3, 103 },
                                        { 4, 1, 21, 4, 104 }, { 4, 2, 12, 5, 105 }, { 4, 2, 21, 4, 104 } };
    tl_phase_cells cells = fold(drawn, COUNT(drawn));
    CU_ASSERT_EQUAL_FATAL(cells.n, 1);
    CU_ASSERT_EQUAL(cells.v[0].duration_ns, 33 * MS);
    CU_ASSERT_EQUAL(cells.v[0].records, 2);
    CU_ASSERT_EQUAL(superseded, 3);
    CU_ASSERT_EQUAL(repeated, 1);
    free(cells.v);
}

/* Of step 1 the last of three files, of which two are equal; of step 2 the last, whatever metadata tell. */
static void of_several_files_of_a_rank_the_last_counts(void)
{
    tl_phase_cell cells[] = { { .step = 2, .rank = 1, .file = 1, .duration_ns = 5, .records = 2, .metadata = 9 },
                              { .step = 1, .rank = 1, .file = 0, .duration_ns = 2, .records = 1, .metadata = 9 },
                              { .step = 1, .rank = 1, .file = 1, .duration_ns = 2, .records = 1, .metadata = 9 },
                              { .step = 1, .rank = 1, .file = 2, .duration_ns = 7, .records = 1, .metadata = 9 },
                              { .step = 3, .rank = 1, .file = 1, .duration_ns = 3, .records = 1, .metadata = 8 },
                              { .step = 2, .rank = 1, .file = 0, .duration_ns = 3, .records = 3, .metadata = 8 } };
    tl_side_file files[3] = { { .replaced_by = -1 }, { .replaced_by = -1 }, { .replaced_by = -1 } };
    CU_ASSERT_EQUAL_FATAL(tl_phase_merge(cells, COUNT(cells), files), 3);
    CU_ASSERT_EQUAL(cells[0].duration_ns, 7);
    CU_ASSERT_EQUAL(cells[1].duration_ns, 5);
    CU_ASSERT_EQUAL(cells[1].records, 2);
    CU_ASSERT_EQUAL(cells[2].duration_ns, 3);
    CU_ASSERT_EQUAL(files[0].repeated, 1);
    CU_ASSERT_EQUAL(files[0].replaced, 3);
    CU_ASSERT_EQUAL(files[0].replaced_by, 1);
    CU_ASSERT_EQUAL(files[1].replaced, 1);
    CU_ASSERT_EQUAL(files[1].replaced_by, 2);
    CU_ASSERT_EQUAL(files[1].repeated + files[2].repeated + files[2].replaced, 0);
}

/* ------------------------------------------------------------------------------------------------------------- jobs */

enum { RANKS = 8, MOST_STEPS = 32, MOST_PHASES = 4 };

/* Phases of the eight ranks, in order of names; of rank 3 they are drawn. */
typedef struct drawn_phase {
    const char *name;
    const char *drawn;
    bool alone; /* no other rank has it */
} drawn_phase;

static const tl_schema *const schemas[] = { &tl_phase_step_schema, &tl_phase_schema, &tl_phase_verdict_schema,
                                            &tl_step_schema, &tl_exposed_schema };
static tl_tables tables;
static tl_names told; /* of the tables */

static void begin(void)
{
    tl_tables_free(&tables);
    tl_names_free(&told);
    tl_tables_init(&tables, schemas, COUNT(schemas));
    tables.names = &told;
}

static int64_t drawn_ns(char c)
{
    return c == '#' ? 10 * MS : c == 'o' ? -10 * MS : c == 'X' ? 1000 * MS : 0;
}

/* Each phase takes 50 ms, and half a ms more or less. */
static void judge(const drawn_phase *phases, size_t n)
{
    static const tl_verdict_options options = { .alpha = 0.01, .least_cost = 0.01 };
    tl_phase_cell cells[RANKS * MOST_STEPS * MOST_PHASES];
    tl_phase_cells of = { .v = cells };
    tl_names names = { 0 };
    uint64_t seed = 5;

    for (size_t p = 0; p < n; p++)
        CU_ASSERT_EQUAL_FATAL(tl_names_intern(&names, phases[p].name, strlen(phases[p].name)), p);
    for (int step = 0; phases[0].drawn[step] != '\0'; step++)
        for (size_t p = 0; p < n; p++)
            for (int rank = 0; rank < RANKS; rank++) {
                char c = rank == 3 ? phases[p].drawn[step] : '.';
                if (c != ' ' && (rank == 3 || !phases[p].alone))
                    cells[of.n++] = (tl_phase_cell){ .rank = rank,
                                                     .step = step,
                                                     .phase = (uint32_t)p,
                                                     .records = 1,
                                                     .duration_ns = 50 * MS + drawn_ns(c) +
                                                                    (int64_t)unit_below(&seed, (uint64_t)MS) - MS / 2 };
            }
    tl_phases_judge(&of, &names, &options, &tables);
    tl_names_free(&names);
}

static size_t nverdicts(void)
{
    return tl_tables_get(&tables, &tl_phase_verdict_schema)->n;
}

static const tl_phase_verdict *verdict(size_t place)
{
    return tl_table_row(tl_tables_get(&tables, &tl_phase_verdict_schema), place);
}

/* Copies, and then a collective that levels what they take. */
static void judge_copies(const char *drawn)
{
    char levelled[MOST_STEPS + 1] = "";
    for (size_t i = 0; drawn[i] != '\0'; i++)
        levelled[i] = drawn[i] == '#' ? 'o' : drawn[i] == 'o' ? '#' : '.';
    begin();
    judge((const drawn_phase[]){ { "all_reduce", levelled, false }, { "host_to_device", drawn, false } }, 2);
}

static const tl_phase_step *step_of(int32_t rank, int32_t step, uint32_t phase)
{
    const tl_table *t = tl_tables_get(&tables, &tl_phase_step_schema);
    for (size_t i = 0; i < t->n; i++) {
        const tl_phase_step *row = tl_table_row(t, i);
        if (row->rank == rank && row->step == step && row->phase == phase)
            return row;
    }
    return NULL;
}

static void waits_are_taken_off_before_ranks_are_compared(void)
{
    begin();
    for (int32_t rank = 0; rank < RANKS; rank++) {
        const tl_step step = { .rank = rank, .step = 2 };
        const tl_exposed wait = { .rank = rank, .step = 2, .waiting_ns = rank == 3 ? 0 : 9 * MS };
        tl_table_append(tl_tables_get(&tables, &tl_step_schema), &step, 1);
        tl_table_append(tl_tables_get(&tables, &tl_exposed_schema), &wait, 1);
    }
    judge((const drawn_phase[]){ { "training_step", "......", false } }, 1);
    CU_ASSERT_EQUAL(step_of(3, 1, 0)->wait_ns, -1);
    CU_ASSERT_EQUAL(step_of(3, 2, 0)->wait_ns, 0);
    CU_ASSERT_EQUAL(step_of(4, 2, 0)->wait_ns, 9 * MS);
    CU_ASSERT(llabs(step_of(3, 2, 0)->excess_ns - 9 * MS) < MS);
    CU_ASSERT(llabs(step_of(3, 1, 0)->excess_ns) < MS);
}

/* What others are shorter by, in training_step, no phase of rank 3 is longer by. */
static void late_for_what_no_phase_tells(void)
{
    begin();
    judge((const drawn_phase[]){ { "host_to_device", "............", false }, { "training_step", "oooooooooooo", false } }, 2);
    CU_ASSERT_EQUAL_FATAL(nverdicts(), 2);
    CU_ASSERT_EQUAL(verdict(1)->verdict, TL_PHASE_STRAGGLER);
    CU_ASSERT_STRING_EQUAL(verdict(1)->phase, "time outside of phases");
    CU_ASSERT_STRING_EQUAL(verdict(1)->waits_in, "training_step");
    /* A step that ends late begins the next one late: that is told. */
    begin();
    judge((const drawn_phase[]){ { "training_metrics", "############", false }, { "training_step", "oooooooooooo", false } }, 2);
    CU_ASSERT_EQUAL_FATAL(nverdicts(), 2);
    CU_ASSERT_STRING_EQUAL(verdict(1)->phase, "training_metrics");
}

static void check(const char *drawn, tl_pattern pattern, int32_t first, int32_t last)
{
    judge_copies(drawn);
    CU_ASSERT_EQUAL_FATAL(nverdicts(), 2);
    const tl_phase_verdict *row = verdict(1);
    CU_ASSERT_EQUAL(row->verdict, TL_PHASE_STRAGGLER);
    CU_ASSERT_EQUAL(row->rank, 3);
    CU_ASSERT_STRING_EQUAL(row->phase, "host_to_device");
    CU_ASSERT_EQUAL(row->pattern, pattern);
    CU_ASSERT_EQUAL(row->first_step, first);
    CU_ASSERT_EQUAL(row->last_step, last);
    CU_ASSERT_EQUAL(row->nwaiters, RANKS - 1);
    CU_ASSERT(llabs(row->excess_ns - 10 * MS * row->steps_flagged) < MS * row->steps_flagged);
    CU_ASSERT(llabs(row->cost_ns - 10 * MS * row->steps_flagged) < MS * row->steps_flagged);
    CU_ASSERT_EQUAL(verdict(0)->rank, 3);
}

static void a_rank_is_late_in_its_steps(void)
{
    check("####################", TL_PATTERN_PERSISTENT, 0, 19);
    check(".......######.......", TL_PATTERN_BOUNDED, 7, 12);
    check(".......######...X...", TL_PATTERN_BOUNDED, 7, 12);
    check("###.......####......", TL_PATTERN_SPORADIC, 0, 13);
    check("..#######.. #######.", TL_PATTERN_SPORADIC, 2, 18);
}

static void one_step_proves_little(void)
{
    static const char *const nobody[] = { "....................", ".......#............", ".......X............",
                                          "oooooooooooooooooooo", "...X......X........." };
    for (size_t i = 0; i < COUNT(nobody); i++) {
        judge_copies(nobody[i]);
        CU_ASSERT_EQUAL(nverdicts(), 1);
        CU_ASSERT_EQUAL(verdict(0)->verdict, TL_PHASE_NONE);
    }
}

static void what_one_does_alone_is_no_chance(void)
{
    begin();
    judge((const drawn_phase[]){ { "checkpoint", "   .    ", true }, { "training_step", "....o...", false } }, 2);
    CU_ASSERT_EQUAL_FATAL(nverdicts(), 2);
    CU_ASSERT_EQUAL(verdict(1)->pattern, TL_PATTERN_ONE_OFF);
    CU_ASSERT_EQUAL(step_of(3, 3, 0)->baseline_ns, 0);
    CU_ASSERT_STRING_EQUAL(verdict(1)->phase, "checkpoint");
}

/* Of four ranks one has three of four stalls: so has one of them in 20 of 100 jobs, in each of two phases. */
static void whose_turn_it_is(void)
{
    const tl_chance chance = { .members = 4, .largest = 2 };
    double each = 4 * pow(0.25, 3) * 0.75 + pow(0.25, 4);
    CU_ASSERT_DOUBLE_EQUAL(tl_chance_by_turns(&chance, 3, 4), 2 * 4 * each, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(tl_chance_by_turns(&chance, 10, 10), 2 * 4 * pow(0.25, 10), 1e-12);
    CU_ASSERT_EQUAL(tl_chance_by_turns(&chance, 1, 4), 1);
    CU_ASSERT(tl_chance_by_turns(&chance, 500, 1000) < 1e-50);
}

static void a_stall_hides_no_delay(void)
{
    judge_copies("##########X#########");
    CU_ASSERT_EQUAL_FATAL(nverdicts(), 2);
    CU_ASSERT_EQUAL(verdict(1)->steps_flagged, 19);
}

/* ----------------------------------------------------------------------------------------------------------- reason */

/* Rank 3 is longer in the first phase, and as drawn in the second; first[]: in which steps. */
static void explains(const char *first, const char *name, const char *second, const char *other, tl_phase_answer answer)
{
    begin();
    judge((const drawn_phase[]){ { name, first, false }, { other, second, false } }, 2);
    CU_ASSERT_EQUAL_FATAL(nverdicts(), 2);
    CU_ASSERT_STRING_EQUAL(verdict(1)->phase, name);
    CU_ASSERT_EQUAL(verdict(1)->verdict, answer);
    CU_ASSERT_STRING_EQUAL(verdict(1)->waits_in, answer == TL_PHASE_LONGER ? "" : other);
}

static void who_is_shorter_where_collectives_are_came_late(void)
{
    const char *all = "############", *shorter = "oooooooooooo", *as_others = "............";
    explains(all, "host_to_device", shorter, "training_step", TL_PHASE_STRAGGLER);
    explains(all, "backward", shorter, "host_to_device", TL_PHASE_WAITING);
    explains(all, "host_to_device", as_others, "training_step", TL_PHASE_LONGER);
    explains(all, "a", shorter, "b", TL_PHASE_OPEN);
}

static void names_tell_where_collectives_are(void)
{
    static const struct {
        const char *name;
        tl_phase_holds holds;
    } names[] = {
        { "AllReduce", TL_HOLDS_ONLY }, { "all_reduce", TL_HOLDS_ONLY }, { "all-reduce", TL_HOLDS_ONLY },
        { "allreduce", TL_HOLDS_ONLY }, { "ALL_REDUCE", TL_HOLDS_ONLY }, { "nccl_allreduce", TL_HOLDS_ONLY },
        { "nccl:all_reduce", TL_HOLDS_ONLY }, { "ncclAllReduce", TL_HOLDS_ONLY }, { "NCCLAllReduce", TL_HOLDS_ONLY },
        { "allreduce_grads", TL_HOLDS_ONLY }, { "all_gather", TL_HOLDS_ONLY }, { "AllGather", TL_HOLDS_ONLY },
        { "allgatherv", TL_HOLDS_ONLY }, { "alltoall", TL_HOLDS_ONLY }, { "AllToAll", TL_HOLDS_ONLY },
        { "all2all", TL_HOLDS_ONLY }, { "All2All", TL_HOLDS_ONLY }, { "ReduceScatter", TL_HOLDS_ONLY },
        { "reduce-scatter", TL_HOLDS_ONLY }, { "all-gather", TL_HOLDS_ONLY }, { "broadcast", TL_HOLDS_ONLY },
        { "broadcast_inputs", TL_HOLDS_ONLY }, { "bcast", TL_HOLDS_ONLY }, { "send_recv", TL_HOLDS_ONLY },
        { "sendrecv", TL_HOLDS_ONLY }, { "pp_send", TL_HOLDS_ONLY }, { "recv_forward", TL_HOLDS_ONLY },
        { "p2p", TL_HOLDS_ONLY }, { "P2P", TL_HOLDS_ONLY }, { "data_sync", TL_HOLDS_ONLY },
        { "grad_sync", TL_HOLDS_ONLY }, { "gradsync", TL_HOLDS_ONLY }, { "gradReduce", TL_HOLDS_ONLY },
        { "param_sync", TL_HOLDS_ONLY }, { "data_parallel_sync", TL_HOLDS_ONLY }, { "dp.sync", TL_HOLDS_ONLY },
        { "cuda_synchronize", TL_HOLDS_ONLY }, { "data_comm", TL_HOLDS_ONLY }, { "comms", TL_HOLDS_ONLY },
        { "TPComm", TL_HOLDS_ONLY }, { "communication", TL_HOLDS_ONLY }, { "barrier", TL_HOLDS_ONLY },
        { "collectives", TL_HOLDS_ONLY }, { "training_step", TL_HOLDS_SOME }, { "train_batch", TL_HOLDS_SOME },
        { "Training", TL_HOLDS_SOME }, { "DataParallel", TL_HOLDS_SOME }, { "ddp", TL_HOLDS_SOME },
        { "fsdp2", TL_HOLDS_SOME }, { "fsdp_forward_backward", TL_HOLDS_SOME }, { "backward_pass", TL_HOLDS_SOME },
        { "bwd", TL_HOLDS_SOME }, { "optimizer", TL_HOLDS_SOME }, { "optim_step", TL_HOLDS_SOME },
        { "data_step", TL_HOLDS_SOME }, { "steps", TL_HOLDS_SOME }, { "host_to_device", TL_HOLDS_NONE },
        { "hostToDevice", TL_HOLDS_NONE }, { "H2D", TL_HOLDS_NONE }, { "copy_h2d", TL_HOLDS_NONE },
        { "dataloader", TL_HOLDS_NONE }, { "dataloading", TL_HOLDS_NONE }, { "data_loading", TL_HOLDS_NONE },
        { "DataLoader", TL_HOLDS_NONE }, { "dataset", TL_HOLDS_NONE }, { "next_input", TL_HOLDS_NONE },
        { "inputs", TL_HOLDS_NONE }, { "prefetching", TL_HOLDS_NONE }, { "tokenization", TL_HOLDS_NONE },
        { "preprocess", TL_HOLDS_NONE }, { "loading", TL_HOLDS_NONE }, { "forward", TL_HOLDS_UNKNOWN },
        { "synthetic work", TL_HOLDS_UNKNOWN }, { "", TL_HOLDS_UNKNOWN }, { "training_metrics", TL_HOLDS_UNKNOWN },
        { "all_reduce_metric", TL_HOLDS_UNKNOWN }, { "recommender_forward", TL_HOLDS_UNKNOWN },
        { "command_encoder", TL_HOLDS_UNKNOWN }, { "decommission", TL_HOLDS_UNKNOWN }, { "commit", TL_HOLDS_UNKNOWN },
        { "stepwise_decode", TL_HOLDS_UNKNOWN }, { "constraint_solve", TL_HOLDS_UNKNOWN },
        { "updated_params", TL_HOLDS_UNKNOWN }, { "async_forward", TL_HOLDS_UNKNOWN }, { "recvd", TL_HOLDS_UNKNOWN },
        { "op_time", TL_HOLDS_UNKNOWN }, { "ddpm_forward", TL_HOLDS_UNKNOWN }, { "overall_reduced", TL_HOLDS_UNKNOWN },
        { "_", TL_HOLDS_UNKNOWN }, { "all", TL_HOLDS_UNKNOWN },
    };
    for (size_t i = 0; i < COUNT(names); i++)
        CU_ASSERT_EQUAL(tl_phase_holds_of((tl_text){ names[i].name, strlen(names[i].name) }), names[i].holds);
}

static const unit_test tests[] = {
    TEST(micro_steps_are_summed),
    TEST(a_line_counts_once),
    TEST(a_step_that_is_run_again_counts_as_the_last_time),
    TEST(metadata_of_a_step_that_is_run_again_may_differ),
    TEST(of_several_files_of_a_rank_the_last_counts),
    TEST(waits_are_taken_off_before_ranks_are_compared),
    TEST(late_for_what_no_phase_tells),
    TEST(a_rank_is_late_in_its_steps),
    TEST(one_step_proves_little),
    TEST(what_one_does_alone_is_no_chance),
    TEST(whose_turn_it_is),
    TEST(a_stall_hides_no_delay),
    TEST(who_is_shorter_where_collectives_are_came_late),
    TEST(names_tell_where_collectives_are),
};

int main(void)
{
    int failed = unit_main("phase", tests, COUNT(tests));
    tl_tables_free(&tables);
    tl_names_free(&told);
    return failed;
}
