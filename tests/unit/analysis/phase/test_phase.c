/* test_phase.c - phases: what counts of several records, when a rank is late, and whether it waits there.
 *
 * A series is drawn a step a column: '.' as the others, '#' 10 ms longer, 'o' 10 ms shorter, 'X' 1 s longer.
 */
#include "tlmpi/analysis/phase.h"
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
    CU_ASSERT_FATAL(tl_phase_fold(lines, n, 7, &cells, &repeated, &superseded));
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
    int64_t again[3][3] = { { 0 }, { 0 }, { INT64_MAX, INT64_MAX, INT64_MAX } };
    CU_ASSERT_EQUAL_FATAL(tl_phase_merge(cells, COUNT(cells), &(tl_phase_again){ again[0], again[1], again[2] }), 3);
    CU_ASSERT_EQUAL(cells[0].duration_ns, 7);
    CU_ASSERT_EQUAL(cells[1].duration_ns, 5);
    CU_ASSERT_EQUAL(cells[1].records, 2);
    CU_ASSERT_EQUAL(cells[2].duration_ns, 3);
    CU_ASSERT_EQUAL(again[0][0], 1);
    CU_ASSERT_EQUAL(again[1][0], 3);
    CU_ASSERT_EQUAL(again[2][0], 1);
    CU_ASSERT_EQUAL(again[1][1], 1);
    CU_ASSERT_EQUAL(again[2][1], 2);
    CU_ASSERT_EQUAL(again[0][1] + again[0][2] + again[1][2], 0);
}

static void waits_are_taken_off_before_ranks_are_compared(void)
{
    tl_phase_step rows[] = { { .duration_ns = 100, .wait_ns = 40 },
                             { .duration_ns = 100, .wait_ns = 0 },
                             { .duration_ns = 100, .wait_ns = 40 },
                             { .duration_ns = 90, .wait_ns = 99 } };
    int64_t scratch[4];
    tl_phase_compare(rows, 4, false, scratch);
    CU_ASSERT_EQUAL(rows[1].excess_ns, 40);
    CU_ASSERT_EQUAL(rows[3].excess_ns, -60);
    rows[0].wait_ns = rows[1].wait_ns = -1;
    tl_phase_compare(rows, 2, false, scratch);
    CU_ASSERT_EQUAL(rows[0].baseline_ns, 100);
    CU_ASSERT_EQUAL(rows[0].excess_ns, 0);
}

static void what_one_rank_alone_has_its_peers_are_spared(void)
{
    tl_phase_step row = { .duration_ns = 400, .wait_ns = -1 };
    int64_t scratch[1];
    tl_phase_compare(&row, 1, true, scratch);
    CU_ASSERT_EQUAL(row.excess_ns, 400);
    tl_phase_compare(&row, 1, false, scratch);
    CU_ASSERT_EQUAL(row.excess_ns, 0);
}

/* ---------------------------------------------------------------------------------------------------------- outside */

/* What a rank is longer, or shorter, in copies, in a step that may hold collectives, in one of unknown name, and alone. */
static tl_phase_arrival arrive(int64_t h2d, int64_t step, int64_t other, int64_t alone)
{
    static const tl_phase_holds holds[] = { TL_HOLDS_NONE, TL_HOLDS_SOME, TL_HOLDS_UNKNOWN, TL_HOLDS_UNKNOWN };
    const int64_t excess[] = { h2d, step, other, alone };
    tl_phase_arrival arrival = TL_PHASE_NO_ARRIVAL;
    for (size_t i = 0; i < COUNT(excess); i++)
        tl_phase_arrive(&arrival, &(tl_phase_step){ .excess_ns = excess[i], .wait_ns = -1 }, holds[i], i == 3);
    CU_ASSERT_EQUAL(arrival.phases, 3);
    return arrival;
}

static void check_outside(tl_phase_arrival arrival, int64_t before, int64_t outside)
{
    CU_ASSERT_EQUAL(tl_phase_outside_ns(&arrival, before), outside);
}

static void late_for_what_no_phase_tells(void)
{
    check_outside(arrive(0, -8, 0, 0), 0, 8);
    check_outside(arrive(3, -8, 0, 0), 0, 5);
    check_outside(arrive(8, -8, 0, 0), 0, 0);
    check_outside(arrive(0, -8, 0, 8), 0, 0);
    check_outside(arrive(0, -8, -8, 8), 0, 0); /* one phase is a part of the other */
    check_outside(arrive(0, 0, 4, 0), 0, -4);  /* it leaves late, */
    check_outside(arrive(0, -4, 0, 0), 4, 0);  /* and is late in the next; */
    check_outside(arrive(0, -4, 4, 0), 4, -4); /* in all steps */
    check_outside(arrive(2, 0, 0, 0), 0, -2);  /* copies beside work: nobody waits, nobody is late */
}

static void without_a_phase_that_may_level_nobody_arrives(void)
{
    tl_phase_arrival arrival = TL_PHASE_NO_ARRIVAL;
    tl_phase_arrive(&arrival, &(tl_phase_step){ .excess_ns = -5, .wait_ns = -1 }, TL_HOLDS_NONE, false);
    tl_phase_arrive(&arrival, &(tl_phase_step){ .excess_ns = -5, .wait_ns = 3 }, TL_HOLDS_SOME, false);
    CU_ASSERT_EQUAL(arrival.late_ns, INT64_MIN);
    CU_ASSERT_EQUAL(arrival.phases, 2);
}

/* ------------------------------------------------------------------------------------------------------------ units */

static tl_phase_units units;

/* The units of a series of which each step takes 100 ms, of 8 ranks with a noise of 1 ms. */
static void find(const char *drawn)
{
    double x[128];
    uint32_t steps[128];
    int64_t step_ns[128];
    uint64_t seed = 5;
    tl_phase_series series = { .rank = 3, .n = strlen(drawn), .x = x, .steps = steps };
    const tl_phase_norm norm = { .noise = (double)MS, .ranks = 8 };
    const tl_phase_judging judging = { &norm, step_ns, series.n, 1, 0.01, 0.01 };

    for (size_t i = 0; i < series.n; i++) {
        double noise = (double)unit_below(&seed, 2000) / 1000 - 1;
        x[i] = noise * (double)MS + (double)((drawn[i] == '#' ? 10 : drawn[i] == 'o' ? -10 : drawn[i] == 'X' ? 1000 : 0) * MS);
        series.sum += x[i];
        steps[i] = (uint32_t)i;
        step_ns[i] = 100 * MS;
    }
    free(units.units.v);
    free(units.up);
    units = (tl_phase_units){ 0 };
    CU_ASSERT_FATAL(tl_phase_units_find(&series, &judging, &units));
}

static void check(const char *drawn, tl_pattern pattern, uint32_t first, uint32_t last)
{
    find(drawn);
    CU_ASSERT_EQUAL_FATAL(units.units.n, 1);
    CU_ASSERT_EQUAL(units.units.v[0].pattern, pattern);
    CU_ASSERT_EQUAL(units.units.v[0].first, first);
    CU_ASSERT_EQUAL(units.units.v[0].last, last);
    CU_ASSERT(llabs(units.units.v[0].late_ns - 10 * MS * units.units.v[0].nup) < MS * units.units.v[0].nup);
}

static void a_rank_is_late_in_its_steps(void)
{
    check("####################", TL_PATTERN_PERSISTENT, 0, 19);
    check(".......######.......", TL_PATTERN_BOUNDED, 7, 12);
    check(".......######...X...", TL_PATTERN_BOUNDED, 7, 12);
    check("###.......####......", TL_PATTERN_SPORADIC, 0, 13);
}

static void one_step_proves_little(void)
{
    static const char *const nobody[] = { "....................", ".......#............", ".......X............",
                                          "oooooooooooooooooooo", "...X......X........." };
    for (size_t i = 0; i < COUNT(nobody); i++) {
        find(nobody[i]);
        CU_ASSERT_EQUAL(units.units.n, 0);
    }
}

static void what_one_does_alone_is_no_chance(void)
{
    double x[] = { 0, 0, 0, 4e8, 0, 0 };
    uint32_t steps[] = { 0, 1, 2, 3, 4, 5 };
    const int64_t step_ns[] = { MS, MS, MS, MS, MS, MS };
    const tl_phase_series series = { .n = COUNT(x), .x = x, .steps = steps };
    tl_phase_norm norm = { .noise = (double)MS, .ranks = 1, .alone = true };
    const tl_phase_judging judging = { &norm, step_ns, COUNT(x), 1, 0.01, 0.01 };

    for (int alone = 0; alone < 2; alone++) {
        free(units.units.v);
        free(units.up);
        units = (tl_phase_units){ 0 };
        norm.alone = alone != 0;
        norm.ranks = alone ? 1 : 8;
        CU_ASSERT_FATAL(tl_phase_units_find(&series, &judging, &units));
        CU_ASSERT_EQUAL(units.units.n, (size_t)alone);
    }
    CU_ASSERT_EQUAL(units.units.v[0].pattern, TL_PATTERN_ONE_OFF);
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
    find("##########X#########");
    CU_ASSERT_EQUAL_FATAL(units.units.n, 1);
    CU_ASSERT_EQUAL(units.units.v[0].nup, 19);
}

/* ----------------------------------------------------------------------------------------------------------- reason */

static uint32_t in;

/* A unit of phase 0, late by 100; what phases 1 and 2, and measured waits, make up for. */
static tl_phase_answer explain(const tl_phase_holds holds[3], int64_t one, int64_t two, int64_t waits, int64_t others)
{
    const tl_phase_unit unit = { .late_ns = 100, .nup = 10, .n = 20 };
    const int64_t shorter[] = { -100, one, two, waits }, longer[] = { 0, others, 0, 0 };
    return tl_phase_explain(&unit, holds, 3, &(tl_phase_evidence){ shorter, longer }, &in);
}

static void who_is_shorter_where_collectives_are_came_late(void)
{
    static const tl_phase_holds h2d_first[] = { TL_HOLDS_NONE, TL_HOLDS_SOME, TL_HOLDS_UNKNOWN },
                                step_first[] = { TL_HOLDS_SOME, TL_HOLDS_NONE, TL_HOLDS_UNKNOWN },
                                unknown[] = { TL_HOLDS_UNKNOWN, TL_HOLDS_UNKNOWN, TL_HOLDS_SOME };
    CU_ASSERT_EQUAL(explain(h2d_first, 95, 2, 0, 0), TL_PHASE_STRAGGLER);
    CU_ASSERT_EQUAL(in, 1);
    CU_ASSERT_EQUAL(explain(h2d_first, 30, 60, 0, 0), TL_PHASE_STRAGGLER);
    CU_ASSERT_EQUAL(in, 2);
    CU_ASSERT_EQUAL(explain(step_first, 95, 0, 0, 0), TL_PHASE_WAITING);
    CU_ASSERT_EQUAL(in, 1);
    CU_ASSERT_EQUAL(explain(h2d_first, 20, 10, 0, 0), TL_PHASE_LONGER);
    CU_ASSERT_EQUAL(explain(step_first, 0, 0, 90, 0), TL_PHASE_STRAGGLER);
    CU_ASSERT_EQUAL(in, 3);
    CU_ASSERT_EQUAL(explain(unknown, 95, 0, 0, 0), TL_PHASE_OPEN);
    CU_ASSERT_EQUAL(explain(unknown, 95, 0, 0, 9), TL_PHASE_STRAGGLER);
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

/* A cell has 64 bytes. */
static void long_names_are_told_apart(void)
{
#define LONG "model.language_model.layers.self_attention.query_key_value_of"
    static const char *const drawn[][2] = {
        { LONG, LONG },
        { LONG "_forward_of_decoder_layers", "model.language_model.layers.sel...e_of_forward_of_decoder_layers" },
        { LONG "_forward_of_decoder_laye\xc3\xa9", "model.language_model.layers.sel...e_of_forward_of_decoder_laye\xc3\xa9" },
        { LONG "_f\xc3\xa9rward_of_the_decoder_layers15", "model.language_model.layers.self...rward_of_the_decoder_layers15" },
        { LONG "_x_layer_forward_of_decoder_layers", "model.language_model.layers.sel...ayer_forward_of_decoder_layers" },
        { LONG "_y_layer_forward_of_decoder_layers", "model.language_model.layers.se...yer_forward_of_decoder_layers~2" },
        { LONG "_forward_of_encoder_layers", "model.language_model.layers.se..._of_forward_of_encoder_layers~2" },
        { "model.language_model.layers.sel...e_of_forward_of_encoder_layers",
          "model.language_model.layers.sel...e_of_forward_of_encoder_layers" },
    };
    tl_phase_title titles[COUNT(drawn)];
    tl_names names = { 0 };

    for (size_t i = 0; i < COUNT(drawn); i++)
        CU_ASSERT_EQUAL(tl_names_intern(&names, drawn[i][0], strlen(drawn[i][0])), i);
    tl_phase_titles(&names, names.n, titles);
    for (size_t i = 0; i < COUNT(drawn); i++)
        CU_ASSERT_STRING_EQUAL(titles[i].text, drawn[i][1]);
    tl_names_free(&names);
}

static const unit_test tests[] = {
    TEST(micro_steps_are_summed),
    TEST(a_line_counts_once),
    TEST(a_step_that_is_run_again_counts_as_the_last_time),
    TEST(metadata_of_a_step_that_is_run_again_may_differ),
    TEST(of_several_files_of_a_rank_the_last_counts),
    TEST(waits_are_taken_off_before_ranks_are_compared),
    TEST(what_one_rank_alone_has_its_peers_are_spared),
    TEST(late_for_what_no_phase_tells),
    TEST(without_a_phase_that_may_level_nobody_arrives),
    TEST(a_rank_is_late_in_its_steps),
    TEST(one_step_proves_little),
    TEST(what_one_does_alone_is_no_chance),
    TEST(whose_turn_it_is),
    TEST(a_stall_hides_no_delay),
    TEST(who_is_shorter_where_collectives_are_came_late),
    TEST(names_tell_where_collectives_are),
    TEST(long_names_are_told_apart),
};

int main(void)
{
    int failed = unit_main("phase", tests, COUNT(tests));
    free(units.units.v);
    free(units.up);
    return failed;
}
