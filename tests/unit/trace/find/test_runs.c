/* test_runs.c - from files that know their rank, or do not, to the runs of a job. */
#include "tlmpi/trace/find.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_ONE INT64_C(1700000000000000000)

static tl_error err;
static tl_inventory inventory;

/* A trace that has been looked at: rank -1 where it does not know its own. */
static void add(const char *path, int64_t rank, double begin_s)
{
    char *copy = malloc(strlen(path) + 1);
    if (copy == NULL)
        exit(1);
    tl_vec_room(&inventory.inputs);
    strcpy(copy, path);
    inventory.inputs.v[inventory.inputs.n++] = (tl_input){
        .path = copy, .kind = TL_INPUT_TRACE, .meta_rank = rank, .name_rank = -1, .world_size = -1,
        .begin_ns = DAY_ONE + (int64_t)(begin_s * 1e9), .rank = -1, .run = -7,
    };
}

static tl_input *of(const char *path)
{
    for (size_t i = 0; i < inventory.inputs.n; i++)
        if (strcmp(inventory.inputs.v[i].path, path) == 0)
            return &inventory.inputs.v[i];
    exit(1);
}

/* Files as one word each, in order of time: "0a" is rank 0, expected in run a; a blank is 0.1 s, '|' 60 s. */
static void runs_are(const char *picture, int nruns, int chosen)
{
    char path[32];
    double now = 0;
    tl_inventory_free(&inventory);
    for (const char *p = picture; *p != '\0'; p++) {
        now += *p == ' ' ? 0.1 : *p == '|' ? 60 : 0;
        if (*p == ' ' || *p == '|')
            continue;
        snprintf(path, sizeof path, "%03d%c", (int)(p - picture), p[1]);
        add(path, p[0] - '0', now);
        p++;
    }
    tl_inventory_sort(&inventory);
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.nruns, nruns);
    CU_ASSERT_EQUAL(inventory.run, chosen);
    for (size_t i = 0; i < inventory.inputs.n; i++) {
        const tl_input *t = &inventory.inputs.v[i];
        CU_ASSERT_EQUAL(t->run, t->path[3] - 'a');
        CU_ASSERT_EQUAL(t->rank, t->meta_rank);
        CU_ASSERT_EQUAL(t->rank_source, TL_RANK_META);
    }
}

static void a_rank_seen_again_is_another_run(void)
{
    runs_are("0a 1a 2a 3a", 1, 0);
    runs_are("0a1a2a3a", 1, 0);
    runs_are("0a 1a 2a 3a | 0b 1b 2b 3b", 2, 1);
    runs_are("3a 1a 0a 2a | 1b 3b 2b 0b | 2c 1c 3c 0c", 3, 2);
    runs_are("0a | 0b | 0c | 0d", 4, 3);
    runs_are("0a 0b 0c 0d", 4, 3);
}

static void runs_end_at_the_widest_gap(void)
{
    runs_are("0a 1a 2a | 3b 0b 1b 2b", 2, 1);              /* rank 3 of run a is missing: 3b belongs to what follows */
    runs_are("0a 1a 2a 3a | 1b 2b | 3c 0c 2c 1c", 3, 2);
    runs_are("0a | 1b 2b 0b", 2, 1);
    runs_are("2a 0a 1a  0b 2b | 1c 0c 2c", 3, 2);
}

static void the_newest_complete_run_is_taken(void)
{
    runs_are("0a 1a 2a 3a | 0b 1b 2b 3b | 0c 1c", 3, 1);
    runs_are("0a 1a 2a 3a | 0b 1b | 0c 1c 2c", 3, 0);
    runs_are("0a 1a 2a | 1b 2b 3b | 0c 1c", 3, 1);         /* none is complete: the newest of those with most ranks */
    runs_are("0a 1a 2a | 3b 1b", 2, 0);
}

/* Copies have the time of their copying: where the times tell nothing, the k-th file of a rank is of run k. */
static void times_that_tell_nothing_are_not_believed(void)
{
    runs_are("0a0b1a1b2a2b", 2, 1);
    runs_are("0a 0b 1a 1b 2a 2b", 2, 1);
    runs_are("0a 0b 0c 1a 1b 1c", 3, 2);
    runs_are("0a 1a 2a | 0b 3b | 1c 2c 3c", 3, 2);         /* apart in time, though no rank has more than two files */
}

/* Where no trace tells when it began, names alone part the runs. */
static void names_part_runs_without_times(void)
{
    static const struct {
        const char *path;
        int64_t rank;
        double at;
        int32_t by_name, by_time;
    } files[] = {
        { "a/rank_0.json", 0, 0, 0, 0 },
        { "a/rank_1.json", 1, 20, 0, 1 },
        { "a/rank_2.json", 2, 21, 0, 1 },
        { "b/rank_0.json", 0, 22, 1, 1 },
    };
    for (int timed = 0; timed < 2; timed++) {
        tl_inventory_free(&inventory);
        for (size_t i = 0; i < 4; i++) {
            add(files[i].path, files[i].rank, files[i].at);
            tl_input *t = of(files[i].path);
            t->name_rank = t->meta_rank;
            t->begin_ns = timed ? t->begin_ns : -1;
        }
        CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
        CU_ASSERT_EQUAL(inventory.nruns, 2);
        for (size_t i = 0; i < 4; i++)
            CU_ASSERT_EQUAL(of(files[i].path)->run, timed ? files[i].by_time : files[i].by_name);
    }
}

/* Two steps of a job on two machines: the names make four families, so they are no runs. */
static void names_that_part_too_much_are_not_believed(void)
{
    static const char *const paths[] = { "n0/rank0_step1.json", "n1/rank1_step1.json", "n0/rank0_step2.json",
                                         "n1/rank1_step2.json" };
    tl_inventory_free(&inventory);
    for (int i = 0; i < 4; i++) {
        add(paths[i], i % 2, i / 2 * 60 + i * 0.1);
        tl_input *t = of(paths[i]);
        t->name_rank = t->meta_rank;
        t->begin_ns = -1;
    }
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.nruns, 2);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(of(paths[i])->run, i / 2);
}

static void a_copy_is_no_reason_to_tear_a_run_apart(void)
{
    tl_inventory_free(&inventory);
    add("copy/rank-1.json", 1, 0.3);
    add("rank-0.json", 0, 0);
    add("rank-1.json", 1, 0.3);
    add("rank-2.json", 2, 0.5);
    add("rank-3.json", 3, 0.2);
    for (size_t i = 0; i < inventory.inputs.n; i++)
        inventory.inputs.v[i].name_rank = inventory.inputs.v[i].meta_rank;
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.nruns, 2);
    CU_ASSERT_EQUAL(inventory.nmissing, 0);
    for (int i = 0; i < 4; i++) {
        char path[32];
        snprintf(path, sizeof path, "rank-%d.json", i);
        CU_ASSERT_EQUAL(of(path)->run, inventory.run);
    }
    CU_ASSERT_NOT_EQUAL(of("copy/rank-1.json")->run, inventory.run);
}

static void one_run_can_be_asked_for(void)
{
    runs_are("0a 1a | 0b 1b | 0c", 3, 1);
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 3, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.run, 2);
    CU_ASSERT_EQUAL(inventory.nmissing, 1);
    CU_ASSERT_EQUAL_FATAL(inventory.missing.n, 1);
    CU_ASSERT_EQUAL(inventory.missing.v[0], 1);
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 1, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.run, 0);
    CU_ASSERT_EQUAL(inventory.nmissing, 0);
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 4, &err), TL_EUSAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no run 4"));
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, -1, &err), TL_EUSAGE);
}

static void ranks_come_from_meta_then_name_then_order(void)
{
    tl_inventory_free(&inventory);
    add("a", -1, 0);
    add("b", 0, 0);
    add("c", -1, 0);
    add("d", -1, 0);
    add("e", 2, 0);
    of("d")->name_rank = 5;
    of("e")->name_rank = 0;                                 /* what the trace says beats its name */
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.nruns, 1);
    CU_ASSERT(of("b")->rank == 0 && of("b")->rank_source == TL_RANK_META);
    CU_ASSERT(of("e")->rank == 2 && of("e")->rank_source == TL_RANK_META);
    CU_ASSERT(of("d")->rank == 5 && of("d")->rank_source == TL_RANK_NAME);
    CU_ASSERT(of("a")->rank == 1 && of("a")->rank_source == TL_RANK_ORDER);
    CU_ASSERT(of("c")->rank == 3 && of("c")->rank_source == TL_RANK_ORDER);
    CU_ASSERT_EQUAL(inventory.world_size, 6);
    CU_ASSERT_EQUAL(inventory.nmissing, 1);
    CU_ASSERT_EQUAL(inventory.missing.v[0], 4);
}

static void without_any_rank_all_are_one_run(void)
{
    tl_inventory_free(&inventory);
    add("x", -1, 500);
    add("b", -1, 0);
    add("a", -1, 60);
    tl_inventory_sort(&inventory);
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.nruns, 1);
    CU_ASSERT(of("a")->rank == 0 && of("b")->rank == 1 && of("x")->rank == 2);
    CU_ASSERT_EQUAL(of("x")->run, 0);
    CU_ASSERT_EQUAL(inventory.nmissing, 0);
}

static void a_file_without_rank_joins_the_run_of_its_time(void)
{
    tl_inventory_free(&inventory);
    add("a0", 0, 0);
    add("b0", 0, 100);
    add("b1", 1, 101);
    add("u", -1, 99);
    add("v", -1, 3);
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.nruns, 2);
    CU_ASSERT(of("u")->run == 1 && of("u")->rank == 2);
    CU_ASSERT(of("v")->run == 0 && of("v")->rank == 1);
}

static void only_traces_take_part(void)
{
    tl_inventory_free(&inventory);
    add("a", 0, 0);
    add("b", 1, 0);
    add("c", -1, 0);
    add("d", -1, 0);
    of("b")->kind = TL_INPUT_OTHER;
    of("c")->kind = TL_INPUT_UNREADABLE;
    of("c")->name_rank = 1;
    of("d")->kind = TL_INPUT_UNREADABLE;
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT(of("a")->run == 0 && of("b")->run == -1 && of("c")->run == -1 && of("d")->run == -1);
    CU_ASSERT(of("b")->rank == -1 && of("c")->rank == 1 && of("d")->rank == -1);
    CU_ASSERT_EQUAL(inventory.world_size, 2);               /* a rank whose trace cannot be read is a rank */
    CU_ASSERT_EQUAL(inventory.nmissing, 0);

    tl_inventory_free(&inventory);
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT(inventory.nruns == 1 && inventory.run == 0 && inventory.world_size == 0 && inventory.nmissing == 0);
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 1, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 2, &err), TL_EUSAGE);
}

static void a_rank_whose_trace_cannot_be_read_is_not_missing(void)
{
    tl_inventory_free(&inventory);
    add("a", 0, 0);
    add("b", 2, 0);
    add("c", -1, 0);
    of("a")->world_size = 5;
    of("c")->kind = TL_INPUT_UNREADABLE;
    of("c")->name_rank = 1;
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.nmissing, 2);
    CU_ASSERT_EQUAL(inventory.missing.v[0], 3);
}

static void missing_ranks_are_counted_and_some_are_listed(void)
{
    tl_inventory_free(&inventory);
    add("a", 2, 0);
    add("b", 5, 0);
    of("b")->world_size = 2000000000;
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.world_size, 2000000000);
    CU_ASSERT_EQUAL(inventory.nmissing, 1999999998);
    CU_ASSERT_EQUAL_FATAL(inventory.missing.n, 4096);
    CU_ASSERT(inventory.missing.v[0] == 0 && inventory.missing.v[1] == 1 && inventory.missing.v[2] == 3);
    CU_ASSERT(inventory.missing.v[3] == 4 && inventory.missing.v[4] == 6 && inventory.missing.v[4095] == 4097);

    of("b")->world_size = 4;                                /* a rank beyond the world is no missing one */
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.nmissing, 3);
    CU_ASSERT_EQUAL(inventory.missing.n, 3);
}

static void two_traces_of_one_rank_at_one_time_are_counted(void)
{
    runs_are("0a 1a | 0b 1b", 2, 1);
    CU_ASSERT_EQUAL(tl_inventory_duplicates(&inventory, 1, INT64_C(10000000000)), 0);
    CU_ASSERT_EQUAL(tl_inventory_duplicates(&inventory, 1, INT64_C(70000000000)), 1);
    runs_are("0a 1a 1b", 2, 0);
    CU_ASSERT_EQUAL(tl_inventory_duplicates(&inventory, 1, INT64_C(10000000000)), 1);
    CU_ASSERT_EQUAL(tl_inventory_duplicates(&inventory, 0, INT64_C(10000000000)), 0);
    runs_are("0a 1a1b", 2, 0); /* a copy */
    CU_ASSERT_EQUAL(tl_inventory_duplicates(&inventory, 1, INT64_C(10000000000)), 0);
    runs_are("0a 1a 1b", 2, 0);
    of("006b")->begin_ns = -1; /* it is not known when it began */
    CU_ASSERT_EQUAL(tl_inventory_duplicates(&inventory, 1, INT64_C(10000000000)), 0);
}

/* What cannot be read stands for its rank only where no trace of the run does. */
static void a_file_for_each_rank_is_chosen(void)
{
    const tl_input *chosen[8];
    tl_inventory_free(&inventory);
    add("a", 1, 0);
    add("b", 0, 0.1);
    add("broken0", 0, 0);
    add("broken3", 3, 0);
    add("older", 0, -60);
    for (size_t i = 0; i < inventory.inputs.n; i++) {
        tl_input *in = &inventory.inputs.v[i];
        in->rank = in->meta_rank;
        in->run = in == of("older") ? 0 : 1;
        in->kind = strncmp(in->path, "broken", 6) == 0 ? TL_INPUT_UNREADABLE : TL_INPUT_TRACE;
    }
    add("nobody", -1, 0);
    inventory.nruns = 2;
    inventory.run = 1;
    CU_ASSERT_EQUAL(tl_inventory_choose(&inventory, chosen), 3);
    CU_ASSERT_PTR_EQUAL(chosen[0], of("b"));
    CU_ASSERT_PTR_EQUAL(chosen[1], of("a"));
    CU_ASSERT_PTR_EQUAL(chosen[2], of("broken3"));
    CU_ASSERT_FALSE(tl_inventory_is_unsure(&inventory));
    of("a")->begin_ns = -1;
    CU_ASSERT_TRUE(tl_inventory_is_unsure(&inventory));
    inventory.nruns = 1;
    CU_ASSERT_FALSE(tl_inventory_is_unsure(&inventory));
}

/* An engine's coordinator has a trace, too. */
static void a_process_that_is_no_rank_is_left_out(void)
{
    for (int told = 0; told < 2; told++) {
        tl_inventory_free(&inventory);
        add("a", 0, 0);
        add("b", told ? 1 : -1, 0.1);
        add("coordinator", -1, 0.2);
        of("coordinator")->origin.no_device_work = true;
        tl_inventory_sort(&inventory);
        CU_ASSERT_EQUAL_FATAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
        CU_ASSERT_EQUAL(of("coordinator")->kind, told ? TL_INPUT_OTHER : TL_INPUT_TRACE);
        CU_ASSERT_EQUAL(inventory.nruns, 1);
        CU_ASSERT_EQUAL(inventory.world_size, told ? 2 : 3);
        CU_ASSERT(!tl_input_is_lost(of("coordinator")));
    }
}

/* Another JSON object in the place of a trace loses that rank; one beside the traces loses nothing. */
static void a_file_that_is_no_trace_stands_for_its_rank(void)
{
    static const struct {
        const char *path;
        int64_t rank, name_rank;
        tl_input_kind expected;
    } others[] = {
        { "d/rank-2.json", -1, 2, TL_INPUT_UNREADABLE },   { "d/config-1.json", -1, 1, TL_INPUT_OTHER },
        { "d/stats-7.json", -1, 7, TL_INPUT_OTHER },       { "d/host_7.json", -1, -1, TL_INPUT_UNREADABLE },
        { "d/deeper/host_7.json", -1, -1, TL_INPUT_OTHER }, { "d/notes.json", -1, -1, TL_INPUT_OTHER },
    };
    tl_inventory_free(&inventory);
    add("d/rank-0.json", 0, 0);
    add("d/rank-1.json", 1, 0.1);
    add("d/rank-3.json", 3, 0.2);
    for (size_t i = 0; i < 3; i++)
        inventory.inputs.v[i].name_rank = inventory.inputs.v[i].meta_rank;
    add("d/host_4.json", 4, 0.3);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        add(others[i].path, others[i].rank, 0);
        of(others[i].path)->kind = TL_INPUT_OTHER;
        of(others[i].path)->name_rank = others[i].name_rank;
    }
    tl_inventory_sort(&inventory);
    CU_ASSERT_EQUAL_FATAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CU_ASSERT_EQUAL(of(others[i].path)->kind, others[i].expected);
    CU_ASSERT_TRUE(tl_input_is_lost(of("d/rank-2.json")));
    CU_ASSERT_EQUAL(of("d/rank-2.json")->rank, 2);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("runs", NULL, NULL);
    CU_ADD_TEST(s, a_rank_seen_again_is_another_run);
    CU_ADD_TEST(s, runs_end_at_the_widest_gap);
    CU_ADD_TEST(s, the_newest_complete_run_is_taken);
    CU_ADD_TEST(s, times_that_tell_nothing_are_not_believed);
    CU_ADD_TEST(s, names_part_runs_without_times);
    CU_ADD_TEST(s, names_that_part_too_much_are_not_believed);
    CU_ADD_TEST(s, a_copy_is_no_reason_to_tear_a_run_apart);
    CU_ADD_TEST(s, one_run_can_be_asked_for);
    CU_ADD_TEST(s, ranks_come_from_meta_then_name_then_order);
    CU_ADD_TEST(s, without_any_rank_all_are_one_run);
    CU_ADD_TEST(s, a_file_without_rank_joins_the_run_of_its_time);
    CU_ADD_TEST(s, only_traces_take_part);
    CU_ADD_TEST(s, a_rank_whose_trace_cannot_be_read_is_not_missing);
    CU_ADD_TEST(s, missing_ranks_are_counted_and_some_are_listed);
    CU_ADD_TEST(s, a_process_that_is_no_rank_is_left_out);
    CU_ADD_TEST(s, two_traces_of_one_rank_at_one_time_are_counted);
    CU_ADD_TEST(s, a_file_for_each_rank_is_chosen);
    CU_ADD_TEST(s, a_file_that_is_no_trace_stands_for_its_rank);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    tl_inventory_free(&inventory);
    return failures > 0;
}
