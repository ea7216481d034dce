/* test_ask.c - the four questions as people and programs get their answers. */
#include "answer_job.h"
#include "flat.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/report/answers/tell.h"
#include "tlmpi/report/ask.h"

/* Good until the next call. */
static const char *print(answer_job *j, void (*how)(FILE *, const tl_answers *, const char *), const char *file)
{
    static char kept[16384];
    char *text = NULL;
    size_t size = 0;
    const tl_answers *a = answers_of(j);
    FILE *out = open_memstream(&text, &size);
    how(out, a, file);
    (void)fclose(out);
    snprintf(kept, sizeof kept, "%s", text);
    free(text);
    return kept;
}

static void print_text(FILE *out, const tl_answers *answers, const char *file)
{
    tl_print_answers(out, answers, file, 0);
}

static void print_lines(FILE *out, const tl_answers *answers, const char *file)
{
    tl_print_answers(out, answers, file, SIZE_MAX - 1);
}

static const char *asked(answer_job *j)
{
    const char *text = print(j, print_text, "traces.h5");
    CU_ASSERT_TRUE(fits_a_screen(text));
    return text;
}

static void expect(const char *text, const char *what)
{
    CU_ASSERT_TRUE(says(text, what));
}

static void each_question_has_a_paragraph_with_evidence_and_confidence(void)
{
    answer_job *j = job_of(4, 8);
    tl_straggler *row = hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    replay(j, 800 * MS, 0.012);
    row->p_value = 0.000001;
    row->late_count = 15;
    verdict_of(j, 0)->late_count = 2;
    row->z = 48.37;
    expect(asked(j), "Which rank holds the job up? Rank 2 (host node0, device 2) holds the job up in all 8 steps (1-8): "
                     "it costs 25.0 ms (25.0 %) of each of these steps of 100 ms on average "
                     "Gain: 200 ms less of 800 ms (25.0 %) without its delay, simulated "
                     "Evidence: it comes last in 15 of 17 collectives; its delay is 48.4 times what its peers vary by "
                     "(tlmpi show traces.h5 straggler) "
                     "Trust: high "
                     "In which phase, and why? "
                     "Cause: host_late: its device waits for launches, because its CPU thread sleeps or works in \"forward\" "
                     "Evidence: others wait 720 ms of GPU time for it - 100 % of that for its host_late "
                     "(tlmpi show traces.h5 blame) "
                     "Next: record that rank with Python stacks (with_stack=True) or run py-spy on it; pin its process to cores near its device (tlmpi show traces.h5 idle_summary) "
                     "Trust: high "
                     "Do others wait? "
                     "Yes: 3 ranks (0, 1, 3) wait for it: 720 ms of GPU time "
                     "Evidence: waiting for late ranks takes 720 ms of GPU time, 22.5 % of all GPU time - "
                     "100 % of it for this rank (tlmpi show traces.h5 blame) "
                     "Trust: high "
                     "Always, or only for a while? "
                     "persistent: in all 8 steps (1-8) "
                     "Evidence: 8 of 8 steps flagged; p < 0.0001 (tlmpi show traces.h5 blame_step) "
                     "Trust: high "
                     "What do the answers rest on? "
                     "Collectives: 16 of 16 matched across ranks (tlmpi show traces.h5 quality) "
                     "Simulation: off by 1.2 % of the measured time (tlmpi show traces.h5 whatif)\n");
    job_free(j);
}

/* Two halves in two places: neither is most of it. */
static void several_places_are_told_each_with_its_part(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    replay(j, 800 * MS, 0);
    put_row(j, &tl_excess_row_schema, &(tl_excess_row){ .rank = 2, .place = "forward", .own_ns = 16 * MS, .peers_ns = MS });
    put_row(j, &tl_excess_row_schema, &(tl_excess_row){ .rank = 2, .order = 1, .place = "backward", .own_ns = 15 * MS });
    const char *text = asked(j);
    CU_ASSERT_PTR_NULL(strstr(text, "works in \"forward\""));
    expect(text, "Where: 16.0 ms of a step in \"forward\", 1.00 ms on its peers; 15.0 ms in \"backward\", 0 us on its peers");
    verdict_of(j, 2)->steps_from = TL_STEPS_MET; /* its steps are not marked: all of the recording is compared */
    const int64_t cost_ns = 2 * 8 * 30 * MS;
    put_row(j, &tl_excess_row_schema, &(tl_excess_row){ .rank = 2, .order = 2, .place = "optimizer", .own_ns = cost_ns });
    expect(asked(j), "Where: 16.0 ms in all in \"forward\", 1.00 ms on its peers;");
    job_free(j);
}

/* What binds the rank that holds the job up is told of that rank, else of all ranks: the largest parts of its steps, but of
 * one that some rank lacks a part of. */
static void what_binds_a_rank_is_told(void)
{
    answer_job *j = job_of(4, 8);
    expect(asked(j), "(tlmpi show traces.h5 breakdown) Trust:"); /* no table path_sum: nothing is told */
    put_row(j, &tl_path_sum_schema, &(tl_path_sum){ .rank = -1, .step = -1, .wall_ns = 900 * MS, .peer_ns = 900 * MS });
    put_row(j, &tl_path_sum_schema, &(tl_path_sum){ .rank = 1, .step = -1, .wall_ns = 90 * MS, .peer_ns = 90 * MS });
    expect(asked(j), "Bound: ranks are bound by waiting for other ranks for 100 % of the time (tlmpi show traces.h5 "
                     "path_sum)");
    put_row(j, &tl_path_sum_schema, &(tl_path_sum){ .rank = 1, .step = 1, .wall_ns = 200 * MS, .compute_ns = 200 * MS });
    put_row(j, &tl_path_sum_schema, &(tl_path_sum){ .rank = 1, .step = 2, .wall_ns = 90 * MS, .peer_ns = 90 * MS });
    put_row(j, &tl_path_sum_schema, &(tl_path_sum){ .rank = 2, .step = 1, .wall_ns = 200 * MS, .cpu_ns = 120 * MS,
                                                    .compute_ns = 50 * MS, .copy_ns = 27 * MS, .unexplained_ns = 3 * MS });
    tl_health lacking = { .rank = -1, .defect = TL_DEFECT_NOT_WHOLE, .step = 2 };
    put_row(j, &tl_health_schema, &lacking);
    expect(asked(j), "Bound: ranks are bound by computing for 62.5 % of the time - by the host, which works towards its "
                     "next launch, for 30.0 % - by copies for 6.8 % (tlmpi show traces.h5 path_sum)");
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    expect(asked(j), "Bound: rank 2 is bound by the host, which works towards its next launch, for 60.0 % of the time "
                     "- by computing for 25.0 % - by copies for 13.5 % (tlmpi show traces.h5 path_sum)");
    expect(print(j, tl_print_answers_json, "traces.h5"), "\"bound\": { \"rank\": 2,");
    job_free(j);
}

/* What a rank is compared with is what the sentences say. */
static void other_steps_and_stages_are_no_peers(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    replay(j, 800 * MS, 0);
    tl_straggler *row = verdict_of(j, 2);
    row->cause = TL_CAUSE_COMPUTE_SLOW;
    row->against = TL_AGAINST_OWN_STEPS;
    put_row(j, &tl_excess_row_schema,
            &(tl_excess_row){ .rank = 2, .place = "gemm", .own_ns = 16 * MS, .peers_ns = MS, .against = row->against });
    const char *text = asked(j);
    expect(text, "some of its kernels are slower than the same ones elsewhere, compared with its other steps");
    expect(text, "16.0 ms of a step in \"gemm\", 1.00 ms in its other steps");
    expect(text, "what its steps vary by");
    CU_ASSERT_PTR_NULL(strstr(text, "its peers"));
    verdict_of(j, 2)->against = TL_AGAINST_STAGES;
    expect(asked(j), "some of its kernels are slower than the same ones elsewhere, compared with other stages");
    job_free(j);
}

static void the_largest_part_of_the_delay_is_named(void)
{
    answer_job *j = job_of(2, 4);
    hold_up(j, 1, 1, 4, 10 * MS, -1);
    tl_blame *rows = (tl_blame *)tl_table_row(tl_tables_get(&j->tables, &tl_blame_schema), 0);
    rows[0].cause = TL_ACTIVITY_COMPUTE;
    rows[1].cause = TL_ACTIVITY_COMPUTE;
    rows[1].direct_ns = 25 * MS;
    rows[2].direct_ns = 300 * 1000; /* less than a hundredth */
    expect(asked(j), "others wait 45.3 ms of GPU time for it - 77.3 % of that for its compute (");
    job_free(j);
}

/* Who waits for those that wait for it is not known by name. */
static void others_may_wait_for_those_that_wait(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 30 * MS, -1);
    expect(asked(j), "  Yes: 3 ranks (0, 1, 3) wait for it: 720 ms of GPU time\n");
    ((tl_blame *)tl_table_row(tl_tables_get(&j->tables, &tl_blame_schema), 0))->indirect_ns = 80 * MS;
    expect(asked(j), "  Yes: 3 ranks (0, 1, 3) wait for it: 720 ms of GPU time - ranks that wait for these wait 80.0 ms more\n");
    job_free(j);
}

static void others_that_hold_the_job_up_are_named_too(void)
{
    answer_job *j = job_of(8, 8);
    replay(j, 800 * MS, 0);
    for (int32_t r = 0; r < 7; r++)
        hold_up(j, r, 1, 8, 30 * MS, (100 + r) * MS);
    gain_of(j, TL_SCENARIO_SUSPECTS, -1, 200 * MS);
    const char *text = asked(j);
    expect(text, "  Rank 6 (host node1, device 2) holds");
    expect(text,
           "  Also: rank 5 (host node1, device 1) in all 8 steps (1-8) - host_late,\n  gain 105 ms (13.1 %)\n");
    expect(text, "  Also: rank 2 ");
    expect(text, "  Also: and 2 more (tables straggler, link)\n");
    expect(text, "simulated - 200 ms less (25.0 %) without all that are named here\n");
    CU_ASSERT_PTR_NULL(strstr(text, "Also: rank 1 "));
    job_free(j);
}

static void ranks_together_are_one_answer(void)
{
    answer_job *j = job_of(8, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 1, 1, 4, 30 * MS, 4 * MS);
    hold_up(j, 6, 5, 8, 20 * MS, 5 * MS)->cause = TL_CAUSE_GC;
    gain_of(j, TL_SCENARIO_SUSPECTS, -1, 160 * MS);
    const char *text = asked(j);
    expect(text, "Ranks 1, 6 hold the job up together in all 8 steps (1-8): they cost 20.0 ms (20.0 %) of each of these steps "
                 "of 100 ms on average\n");
    expect(text, "  Gain: 160 ms less of 800 ms (20.0 %) without their delays, simulated\n");
    expect(text, "  Cause: gc: its host collects garbage (rank 6)");
    expect(text, "  Yes: 6 ranks (0, 2-5, 7) wait for them:");
    text = print(j, tl_print_answers_json, "x");
    expect(text, "\"kind\": \"ranks\",\n      \"ranks\": [1, 6],\n      \"rank\": 6,\n      \"peer\": null,\n      "
                 "\"host\": null,\n");
    job_free(j);
}

static void nobody_is_answered_four_times_without_contradiction(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    const char *text = asked(j);
    expect(text, "  No rank holds the job up. No rank has more work than its peers.\n");
    expect(text, "  Lost: idle 20.0 %, exposed communication 30.0 % of all ranks' time - waiting 0.0 %, transfer 30.0 % - most on rank 0: "
                 "exposed communication 30.0 % (tlmpi show traces.h5 breakdown)\n");
    expect(text, "  No: no wait is recorded.\n");
    expect(text, "  No rank holds the job up, neither always nor for a while.\n");
    ((tl_rank *)tl_table_row(tl_tables_get(&j->tables, &tl_rank_schema), 0))->world_size = 5;
    expect(asked(j), "  No rank that has a trace holds the job up, neither always nor for a while.\n");
    job_free(j);
}

/* 4 steps of 15 ms are 60 ms of 100. */
static void the_gain_of_the_steps_is_told_from_that_of_the_job(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 4, 30 * MS, 100 * MS);
    gain_in_steps(j, 15 * MS, 10 * MS);
    expect(asked(j), "it costs 15.0 ms (15.0 %) of each of these steps of 100 ms on average\n");
    expect(asked(j), "  Gain: 100 ms less of 800 ms (12.5 %) without its delay, 60.0 ms of it in these steps, simulated\n");
    gain_in_steps(j, 23 * MS, 2 * MS); /* 92 of 100 ms: nearly all of it */
    expect(asked(j), "(12.5 %) without its delay, simulated\n");
    job_free(j);
}

static void what_slow_links_gain_together_is_told(void)
{
    answer_job *j = job_of(4, 8);
    tl_slow_link_row link = { .rank = 0, .peer = 1, .kind = TL_ALL_REDUCE, .gain_ns = 5 * MS, .ranks = "0,1" };
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 8, 30 * MS, 23 * MS);
    put_row(j, &tl_slow_link_row_schema, &link);
    gain_of(j, TL_SCENARIO_LINKS, -1, 5 * MS);
    expect(asked(j), "  Gain: 23.0 ms less of 800 ms (2.9 %) without its delay, simulated\n");
    link.link = 1;
    link.peer = 3;
    put_row(j, &tl_slow_link_row_schema, &link);
    ((tl_whatif_row *)tl_whatif_row_of(tl_tables_get(&j->tables, &tl_whatif_row_schema), TL_SCENARIO_LINKS, -1))->gain_ns =
        46 * MS;
    expect(asked(j), "  Gain: 23.0 ms less of 800 ms (2.9 %) without its delay, simulated - 46.0 ms less (5.8 %) without all slow links\n");
    expect(print(j, tl_print_answers_json, "x"), "\"links_gain_ns\": 46000000,");
    job_free(j);
}

/* 40 % of all ranks' time: 1,280 of 3,200 ms. */
static void all_may_wait_for_ranks_that_are_late_in_turn(void)
{
    static const int64_t waits_ms[] = { 300, 320, 320, 340 };
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    for (int32_t rank = 0; rank < 4; rank++)
        charge(j, rank, waits_ms[rank] * MS, 0);
    expect(asked(j), "  Yes, for several in turn: 340 ms of GPU time for rank 3 (26.6 %\n"
                     "  of all waiting), 320 ms for rank 1 (25.0 %), 320 ms for rank 2 (25.0 %),\n"
                     "  and 1 more\n"
                     "  Evidence: waiting for late ranks takes 1.28 s of GPU time, 40.0 % of all GPU time\n");
    expect(print(j, tl_print_answers_json, "x"), "\"others_waiting\": {\n    \"answer\": true,");
    expect(print(j, tl_print_answers_json, "x"), "\"waited_for\": [\n        {\n          \"rank\": 3,");
    for (int32_t rank = 0; rank < 3; rank++)
        charge(j, rank, 0, 0);
    expect(asked(j), "  Yes, for one: 340 ms of GPU time for rank 3 (100 % of all waiting)\n");
    charge(j, 3, 31 * MS, 0); /* less than a culprit must cost */
    expect(asked(j), "  Hardly.\n");
    expect(print(j, tl_print_answers_json, "x"), "\"others_waiting\": {\n    \"answer\": false,");
    job_free(j);
}

/* What a send or receive waits is charged to no rank, and waited all the same. */
static void waits_in_sends_and_receives_are_waits(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    charge(j, 1, 3 * MS, 0);
    job_breakdown(j)->comm_waiting_ns = 323 * MS;
    expect(asked(j), "  Yes, in sends and receives, which are charged to no rank: 320 ms of GPU time,\n"
                     "  10.0 % of all GPU time.\n");
    expect(print(j, tl_print_answers_json, "x"), "\"others_waiting\": {\n    \"answer\": true,");
    expect(print(j, tl_print_answers_json, "x"), "\"uncharged_ns\": 320000000,");
    job_free(j);
}

/* In a circle of sends and receives a wait comes round many times. */
static void waits_that_are_passed_on_are_told_as_that(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    charge(j, 1, 10 * MS, 900 * MS);
    charge(j, 2, 90 * MS, 0);
    expect(asked(j), "  Yes, for several in turn: 90.0 ms of GPU time for rank 2 (9.0 %\n"
                     "  of all waiting), 10.0 ms for rank 1 (1.0 %) - 900 ms (90.0 %) for ranks that had\n"
                     "  waited themselves\n");
    expect(print(j, tl_print_answers_json, "x"), "\"passed_on_ns\": 900000000,");
    job_free(j);
}

/* All ranks wait 320 of 3,200 ms, and communicate 3 ms while nothing else runs. */
static void waits_behind_other_work_are_hidden(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    charge(j, 1, 320 * MS, 0);
    job_breakdown(j)->comm_waiting_ns = 3 * MS;
    expect(asked(j), "  Hardly.\n"
                     "  Evidence: waiting for late ranks takes 320 ms of GPU time, 10.0 % of all GPU time\n"
                     "  - no more than 0.1 % exposed, the rest hidden behind other work\n");
    expect(print(j, tl_print_answers_json, "x"), "\"exposed_ns\": 3000000,");
    job_free(j);
}

/* 30 % of the time is exposed communication, of which two ranks have a trace and others may not. */
static void where_waiting_may_be_transfer_nobody_is_said_not_to_wait(void)
{
    answer_job *j = job_of(4, 8);
    const tl_exposed why = { .rank = -1, .step = -1, .unknown_ns = 960 * MS, .unknown_why = TL_COMM_DOUBT_NO_TRACE };
    tl_breakdown *all = tl_table_row(tl_tables_get(&j->tables, &tl_breakdown_schema), 0);
    all->comm_unknown_ns = all->comm_exposed_ns;
    all->comm_transfer_ns = 0;
    put_row(j, &tl_exposed_schema, &why);
    const char *text = asked(j);
    expect(text, "  Not known: of exposed communication, 30.0 % of the time, waiting or transfer is unknown: a participant, or a possible one, has no trace here\n");
    expect(text, "  Lost: idle 20.0 %, exposed communication 30.0 % of all ranks' time - 30.0 %: waiting or transfer is unknown: a participant, or a possible one, has no trace here");
    const char *json = print(j, tl_print_answers_json, "x");
    expect(json, "\"comm_unknown_ns\": 960000000,");
    expect(json, "\"comm_unknown_why\": \"no_trace\"");
    expect(strstr(json, "\"others_waiting\""), "\"answer\": null");
    job_free(j);
}

static void what_cannot_be_answered_says_so_each_time(void)
{
    answer_job *j = job_of(1, 8);
    const char *text = asked(j), *first = strstr(text, "there is a single rank, and none to compare it with.");
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    expect(first + 1, "there is a single rank, and none to compare it with.");
    expect(text, "  Trust: low: there are no data for a verdict\n");
    expect(text, "- most on rank 0: exposed communication 30.0 %");
    for (size_t i = 0; i < j->tables.n; i++)
        j->tables.v[i].n = 0;
    expect(asked(j), "  Nothing ran on a device.\n");
    expect(print(j, tl_print_answers_json, "x.h5"), "\"verdict\": \"no_device_work\"");
    job_free(j);
}

static void the_file_is_a_word_for_a_shell(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 30 * MS, -1);
    expect(print(j, print_text, "my traces.h5"), "'my traces.h5' straggler)");
    job_free(j);
}

/* A line each, and in it the words that otherwise stand in several. */
static void lines_are_as_long_as_asked_for(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    char *wrapped = strdup(asked(j));
    const char *lines = print(j, print_lines, "traces.h5");
    CU_ASSERT_PTR_NOT_NULL(strstr(lines, "\n  Rank 2 (host node0, device 2) holds the job up in all 8 steps (1-8): it costs 25.0 ms "
                                         "(25.0 %) of each of these steps of 100 ms on average\n"));
    size_t i = 0, k = 0;
    while (wrapped[i] != '\0' && lines[k] != '\0' && (wrapped[i] == lines[k] || (wrapped[i] == '\n' && lines[k] == ' '))) {
        bool broken = wrapped[i] != lines[k];
        i += broken ? 1 + strspn(wrapped + i + 1, " ") : 1;
        k++;
    }
    CU_ASSERT_TRUE(wrapped[i] == '\0' && lines[k] == '\0');
    free(wrapped);
    job_free(j);
}

static void the_critical_path_is_evidence(void)
{
    answer_job *j = job_of(4, 8);
    walk(j, -1, TL_ACTIVITY_COMPUTE, 800 * MS, 20 * MS);
    walk(j, 2, TL_ACTIVITY_COMPUTE, 800 * MS, 0);
    expect(asked(j), "  Evidence: 100 % of the critical path is compute - 2.5 % of it is\n"
                     "  there only because ranks differ (tlmpi show traces.h5 critical_path)\n");
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    expect(asked(j), "  Evidence: 100 % of the critical path runs on it\n  (tlmpi show traces.h5 critical_path)\n");
    expect(print(j, tl_print_answers_json, "x"),
           "\"critical_path\": {\n    \"ns\": 800000000,\n    \"unexplained_ns\": 0,\n    \"rank\": 2,\n");
    job_free(j);
}

static void programs_get_numbers(void)
{
    answer_job *j = job_of(4, 8);
    tl_straggler *row = hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    replay(j, 800 * MS, 0.5 / 64);
    row->p_value = 0.0625;
    row->late_count = 15;
    row->z = 48.5;
    memcpy(row->place, "a\"b\n\x01", 5);
    const char *text = print(j, tl_print_answers_json, "traces.h5");
    expect(text,
           "{\n  \"format\": 1,\n  \"file\": \"traces.h5\",\n  \"verdict\": \"straggler\",\n  \"which_rank\": {\n"
           "    \"answer\": 2,\n    \"confidence\": \"medium\",\n    \"doubts\": [\"chance\"],\n"
           "    \"evidence\": {\n      \"ranks\": [2],\n      \"gain_ns\": 200000000,\n      \"gain_share\": 0.25,\n"
           "      \"together_gain_ns\": null,\n      \"links_gain_ns\": null,\n      \"step_cost_ns\": 25000000,\n"
           "      \"step_ns\": 100000000,\n"
           "      \"collectives_last\": 15,\n      \"collectives_judged\": 15,\n      \"z\": 48.5,\n      \"p_value\": "
           "0.0625,\n      "
           "\"path_share\": null\n    },\n"
           "    \"tables\": [\"straggler\"]\n  },\n");
    expect(text, "\"answer\": \"host_late\"");
    expect(text, "\"waited_ns\": {\n        \"host_late\": 720000000\n      }");
    expect(text, "\"place\": \"a\\\"b\\n\\u0001");
    expect(text, "\"answer\": true");
    expect(text, "\"ranks\": [0, 1, 3]");
    expect(text, "\"answer\": \"persistent\"");
    expect(text, "\"model_error\": 0.0078125,");
    job_free(j);
}

static void a_link_without_known_ends_names_the_ranks_among_which_it_is(void)
{
    answer_job *j = job_of(8, 8);
    tl_slow_link_row link = { .rank = -1, .peer = -1, .kind = TL_ALL_REDUCE, .gain_ns = 80 * MS, .ranks = "1-7/2" };
    replay(j, 800 * MS, 0);
    put_row(j, &tl_slow_link_row_schema, &link);
    const char *text = print(j, tl_print_answers_json, "x");
    expect(text, "\"verdict\": \"slow_link\"");
    expect(text, "\"kind\": \"link\",\n      \"ranks\": [1, 3, 5, 7],\n      \"rank\": null,");
    job_free(j);
}

static void what_is_not_known_is_null(void)
{
    answer_job *j = job_of(4, 3);
    replay(j, 300 * MS, 0.2);
    hold_up(j, 2, 1, 3, 30 * MS, -1);
    const char *text = print(j, tl_print_answers_json, "");
    expect(text, "\"file\": null");
    expect(text, "\"gain_ns\": null,\n      \"gain_share\": null");
    expect(text, "\"p_value\": null");
    CU_ASSERT_PTR_NULL(strstr(text, "nan"));

    verdict_of(j, 2)->verdict = TL_VERDICT_INCONCLUSIVE;
    text = print(j, tl_print_answers_json, "");
    expect(text, "\"verdict\": \"inconclusive\"");
    expect(text, "\"others_waiting\": {\n    \"answer\": true");
    expect(text, "\"culprits\": [],");
    job_free(j);
}

/* A number that nobody has given is no help in finding the rank. */
static void a_rank_that_is_numbered_by_order_has_a_file(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    CU_ASSERT_PTR_NULL(strstr(asked(j), "File:"));
    tl_rank *row = tl_table_row(tl_tables_get(&j->tables, &tl_rank_schema), 2);
    snprintf(row->file, sizeof row->file, "a folder/the third.json");
    row->rank_from = 2;
    CU_ASSERT_STRING_EQUAL(tl_rank_from_labels[row->rank_from], "order");
    expect(asked(j), "  File: \"the third.json\" does not say that it is this rank: numbered by the\n  order of the names\n");
    expect(print(j, tl_print_answers_json, ""), "\"file\": \"a folder/the third.json\"");
    job_free(j);
}

static void each_cause_and_finding_has_a_next_step_and_its_table(void)
{
    tl_culprit culprit = { .rank = 1, .kind = TL_CULPRIT_RANK };
    tl_answers a = { .culprits = &culprit, .nculprits = 1, .first = &culprit };
    for (uint8_t i = 0; i < TL_FOUND_NO_VERDICT || tl_cause_labels[i] != NULL; i++) {
        const char *table = NULL;
        culprit.cause = i;
        a.finding = TL_FOUND_STRAGGLER;
        if (tl_cause_labels[i] != NULL)
            CU_ASSERT_TRUE(tl_next_in_words(&a, &table).text[0] != '\0' && table != NULL && strchr(table, ' ') == NULL);
        a.finding = (tl_finding)i;
        if (i < TL_FOUND_NO_VERDICT)
            CU_ASSERT_TRUE(tl_next_in_words(&a, &table).text[0] != '\0' && table != NULL && strchr(table, ' ') == NULL);
    }
}

static const unit_test tests[] = {
    TEST(each_cause_and_finding_has_a_next_step_and_its_table),
    TEST(each_question_has_a_paragraph_with_evidence_and_confidence),
    TEST(several_places_are_told_each_with_its_part), TEST(waits_in_sends_and_receives_are_waits), TEST(what_binds_a_rank_is_told), TEST(other_steps_and_stages_are_no_peers),
    TEST(the_largest_part_of_the_delay_is_named),
    TEST(others_may_wait_for_those_that_wait),
    TEST(others_that_hold_the_job_up_are_named_too),
    TEST(ranks_together_are_one_answer),
    TEST(nobody_is_answered_four_times_without_contradiction),
    TEST(the_gain_of_the_steps_is_told_from_that_of_the_job),
    TEST(what_slow_links_gain_together_is_told),
    TEST(all_may_wait_for_ranks_that_are_late_in_turn),
    TEST(waits_that_are_passed_on_are_told_as_that),
    TEST(waits_behind_other_work_are_hidden),
    TEST(where_waiting_may_be_transfer_nobody_is_said_not_to_wait), TEST(what_cannot_be_answered_says_so_each_time),
    TEST(the_file_is_a_word_for_a_shell),
    TEST(lines_are_as_long_as_asked_for),
    TEST(the_critical_path_is_evidence),
    TEST(programs_get_numbers),
    TEST(a_link_without_known_ends_names_the_ranks_among_which_it_is),
    TEST(what_is_not_known_is_null),
    TEST(a_rank_that_is_numbered_by_order_has_a_file),
};

int main(void)
{
    return unit_main("ask", tests, COUNT(tests));
}
