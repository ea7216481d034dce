/* test_peers.c - what of the candidates was waiting for other ranks: cut by answers, summed, and entered where users
 * look; collectives of hosts matched; and when a device did nothing but communicate. */
#include "draw.h"
#include "tlmpi/analysis/collective/wait.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

/* --------------------------------------------------------------------------------------------- communication alone */

static void expect_exposures(drawing *d, const char *expected)
{
    tl_exposures x = { 0 };
    char text[256] = "";
    tl_exposures_add(&d->view, &x);
    for (size_t i = 0; i < x.n; i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%d:%u:%lld-%lld ", x.v[i].device, x.v[i].uid,
                 (long long)(x.v[i].from_ns / US), (long long)(x.v[i].to_ns / US));
    }
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(x.v);
    drawing_free(d);
}

static void compute_hides_communication(void)
{
    expect_exposures(draw("comm 20: .AAAAAAAAA....", NULL), "0:0:0-9 ");
    expect_exposures(draw("comm 20: .AAAAAAAAA....", "compute 7: CC......DDDD", NULL), "0:0:1-7 ");
    expect_exposures(draw("comm 20: .AAAAAAAAA....", "compute 7: ...CC.......", NULL), "0:0:0-2 0:0:4-9 ");
    expect_exposures(draw("comm 20: .AAAAAAAAA....", "compute 7: CCCCCCCCCCCC", NULL), "");
    expect_exposures(draw("compute 7: CCCCCCCCCCCC", NULL), "");
}

static void of_several_the_last_to_end_has_the_time(void)
{
    expect_exposures(draw("comm 20: .AAAAAA....", "comm 21: ...BBBBBBB..", NULL), "0:0:0-2 0:1:0-7 ");
    expect_exposures(draw("comm 20: .AAAAAA....", "comm 21: ...BB.......", NULL), "0:0:0-6 ");
    expect_exposures(draw("comm 20: .AAABBB....", NULL), "0:0:0-3 0:1:0-3 ");
}

static void each_device_is_looked_at_alone(void)
{
    expect_exposures(draw("comm 0/20: .AAAAAA....", "compute 1/7: CCCCCCCCCCC", "comm 1/20: ..BBBBBBBBBBB", NULL),
                     "0:0:0-6 1:2:9-11 ");
}

/* 20 pieces of 1 us, one every 2 us, in 41 us: stretches of 2.563 us, the last ends with the kernel. */
static void a_kernel_in_many_pieces_has_stretches_instead(void)
{
    drawing *d = draw("comm 20:    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                      "compute 7:  B.C.B.C.B.C.B.C.B.C.B.C.B.C.B.C.B.C.B.C.B", NULL);
    tl_exposures x = { 0 };
    int64_t sum = 0, end = 0;
    tl_exposures_add(&d->view, &x);
    CU_ASSERT_EQUAL_FATAL(x.n, TL_EXPOSURES_MOST);
    for (size_t i = 0; i < x.n; i++) {
        CU_ASSERT_EQUAL(x.v[i].from_ns, end);
        CU_ASSERT_EQUAL(x.v[i].to_ns - x.v[i].from_ns, i + 1 < x.n ? 2563 : 41 * US - 15 * 2563);
        end = x.v[i].to_ns;
        sum += x.v[i].ns;
        CU_ASSERT_EQUAL(tl_exposure_within(&x.v[i], end), x.v[i].ns);
        CU_ASSERT_EQUAL(tl_exposure_within(&x.v[i], x.v[i].from_ns), 0);
    }
    CU_ASSERT_EQUAL(sum, 20 * US);
    CU_ASSERT_EQUAL(x.v[0].ns, 1 * US); /* 1 to 2; half of the stretch has half of it */
    CU_ASSERT_EQUAL(tl_exposure_within(&x.v[0], 1282), 500);
    free(x.v);
    drawing_free(d);
}

/* --------------------------------------------------------------------------------------------------------- cutting */

static tl_table rows;

static tl_gap_peer *add(int32_t rank, int32_t device, tl_peer_evidence evidence, int32_t uid, int64_t awaited_us,
                        int64_t from_us, int64_t us)
{
    tl_gap_peer *row = tl_table_add(&rows);
    *row = (tl_gap_peer){ .rank = rank,
                          .device = device,
                          .start_ns = from_us * US - 1,
                          .from_ns = from_us * US,
                          .peer_ns = us * US,
                          .late_rank = -1,
                          .evidence = (uint8_t)evidence,
                          .collective = -1,
                          .awaited_uid = uid,
                          .awaited_ns = awaited_us * US,
                          .drain_type = TL_DRAIN_STARVED,
                          .cpu_during_gap = TL_DOING_CPU };
    memcpy(row->dominant_op, "aten::mm", 8);
    return row;
}

static void begin(void)
{
    tl_table_free(&rows);
    rows = (tl_table){ .schema = &tl_gap_peer_schema };
}

static const tl_gap_peer *row(size_t i)
{
    static const tl_gap_peer none;
    return i < rows.n ? tl_table_row(&rows, i) : &none;
}

/* How long a rank waited in the kernel of that uid, in which collective, and for whom. */
#define ANSWER(ns, number, waiting, late, kernel)                                                                      \
    { .wait_ns = (ns), .collective = (number), .rank = (waiting), .late_rank = (late), .uid = (kernel), .waited = 1 }

static void answers_cut_candidates(void)
{
    tl_peer_answer answers[] = { ANSWER(30 * US, 17, 1, 3, 8), ANSWER(50 * US, 16, 0, 2, 8), ANSWER(0, -1, 0, 0, 9),
                                 { .rank = 0, .uid = 7, .group = 4 } /* did not wait */ };
    begin();
    add(1, 0, TL_PEER_SYNC, 8, 100, 110, 15);       /* all of it: rank 3 came at 130 */
    add(0, 0, TL_PEER_DEPENDENCY, 8, 100, 110, 90); /* up to 150 */
    add(0, 0, TL_PEER_SYNC, 8, 100, 150, 10);       /* transfer */
    add(0, 0, TL_PEER_SYNC, 7, 100, 160, 10);       /* of a collective that nobody else takes part in */
    add(0, 0, TL_PEER_MEETING, 9, 300, 300, 10);    /* came last */
    add(0, 0, TL_PEER_MEETING, 10, 400, 400, 10);   /* not matched */
    add(0, 0, TL_PEER_WAIT, 11, 500, 500, 10);
    tl_peer_answers_sort(answers, COUNT(answers));
    tl_peers_cut(&rows, answers, COUNT(answers));
    CU_ASSERT_EQUAL_FATAL(rows.n, 4);
    CU_ASSERT_EQUAL(row(0)->from_ns, 110 * US);
    CU_ASSERT_EQUAL(row(0)->peer_ns, 40 * US);
    CU_ASSERT_EQUAL(row(0)->late_rank, 2);
    CU_ASSERT_EQUAL(row(0)->collective, 16);
    CU_ASSERT_EQUAL(row(1)->evidence, TL_PEER_MEETING);
    CU_ASSERT_EQUAL(row(1)->peer_ns, 10 * US);
    CU_ASSERT_EQUAL(row(1)->late_rank, -1);
    CU_ASSERT_EQUAL(row(2)->evidence, TL_PEER_WAIT);
    CU_ASSERT_EQUAL(row(3)->rank, 1);
    CU_ASSERT_EQUAL(row(3)->peer_ns, 15 * US);
    CU_ASSERT_EQUAL(row(3)->late_rank, 3);
    begin();
}

/* ------------------------------------------------------------------------------------------------------------ sums */

static const tl_peer_sum *sum_of(const tl_peer_sums *sums, int32_t rank, int32_t device, int of_class)
{
    static const tl_peer_sum none;
    for (size_t i = 0; i < sums->n; i++)
        if (sums->v[i].rank == rank && sums->v[i].device == device && sums->v[i].of_class == of_class)
            return &sums->v[i];
    return &none;
}

static void sums_are_of_devices_and_of_classes(void)
{
    tl_peer_sums sums = { 0 };
    begin();
    add(0, 0, TL_PEER_SYNC, 8, 0, 0, 4)->late_rank = 3;
    add(0, 0, TL_PEER_SYNC, 8, 0, 10, 5)->late_rank = 2;
    add(0, 1, TL_PEER_WAIT, 8, 0, 20, 6)->late_rank = 3;
    tl_peers_sum(&rows, &sums);
    const tl_peer_sum *s = sum_of(&sums, 0, 0, 0);
    CU_ASSERT_EQUAL(s->peer_ns, 9 * US);
    s = sum_of(&sums, 0, 1, 0);
    CU_ASSERT_EQUAL(s->peer_ns, 6 * US);
    s = sum_of(&sums, 0, -1, 0);
    CU_ASSERT_EQUAL(s->peer_ns, 15 * US);
    CU_ASSERT_EQUAL(sum_of(&sums, 0, 0, 1)->peer_ns, 9 * US);
    CU_ASSERT_EQUAL(sum_of(&sums, 0, -1, 1)->peer_ns, 15 * US);

    tl_table summary = { .schema = &tl_idle_summary_schema };
    for (int32_t rank = 0; rank < 2; rank++) {
        tl_idle_summary *all = tl_table_add(&summary), *class = tl_table_add(&summary);
        all = class - 1; /* the table may have moved */
        *all = (tl_idle_summary){ .rank = rank, .device = -1, .step = -1, .drain_type = TL_DRAIN_ALL };
        memcpy(all->dominant_op, "ALL", 3);
        *class = (tl_idle_summary){ .rank = rank, .device = -1, .step = -1, .place = 1 };
        class->drain_type = TL_DRAIN_STARVED;
        class->cpu_during_gap = TL_DOING_CPU;
        memcpy(class->dominant_op, "aten::mm", 8);
    }
    tl_peers_enter(sums.v, sums.n, &summary);
    CU_ASSERT_EQUAL(((const tl_idle_summary *)tl_table_row(&summary, 0))->peer_ns, 15 * US);
    CU_ASSERT_EQUAL(((const tl_idle_summary *)tl_table_row(&summary, 1))->peer_ns, 15 * US);
    CU_ASSERT_EQUAL(((const tl_idle_summary *)tl_table_row(&summary, 3))->peer_ns, 0);
    /* A class that is among many others. */
    memset(((tl_idle_summary *)tl_table_row(&summary, 1))->dominant_op, 0, 8);
    ((tl_idle_summary *)tl_table_row(&summary, 0))->place = 1;
    ((tl_idle_summary *)tl_table_row(&summary, 1))->place = 0;
    ((tl_idle_summary *)tl_table_row(&summary, 1))->drain_type = TL_DRAIN_ALL;
    ((tl_idle_summary *)tl_table_row(&summary, 1))->cpu_during_gap = TL_DOING_ALL;
    ((tl_idle_summary *)tl_table_row(&summary, 1))->peer_ns = 0;
    tl_cell_text(((tl_idle_summary *)tl_table_row(&summary, 0))->dominant_op, 128, TL_IDLE_OTHERS,
                 strlen(TL_IDLE_OTHERS));
    tl_cell_text(((tl_idle_summary *)tl_table_row(&summary, 1))->dominant_op, 128, "ALL", 3);
    ((tl_idle_summary *)tl_table_row(&summary, 0))->peer_ns = 0;
    tl_peers_enter(sums.v, sums.n, &summary);
    CU_ASSERT_EQUAL(((const tl_idle_summary *)tl_table_row(&summary, 0))->peer_ns, 15 * US);
    CU_ASSERT_EQUAL(((const tl_idle_summary *)tl_table_row(&summary, 1))->peer_ns, 15 * US);
    tl_table_free(&summary);
    free(sums.v);
    begin();
}

/* -------------------------------------------------------------------------------------------- collectives of hosts */

/* Rank 2's clock is 1 ms ahead, and that is taken off; rank 3's is another, which nothing compares. */
static const tl_rank_clock places[] = { { .rank = 0 },
                                        { .rank = 1 },
                                        { .rank = 2, .clock = 1, .applied = 1, .offset_ns = MS, .sigma_ns = 4 * US },
                                        { .rank = 3, .clock = 2, .component = 1 } };
static const tl_job_facts facts = { .ranks = places, .nranks = COUNT(places) };

static void add_meeting(int32_t rank, const char *name, int32_t step, int64_t from_us, int64_t to_us)
{
    static int32_t uid;
    tl_gap_peer *row = add(rank, -1, TL_PEER_MEETING, uid++, from_us, from_us, to_us - from_us);
    row->idle_id = -1;
    row->step = step;
    memcpy(row->awaited, name, strlen(name));
}

/* "rank waits us for late" of each answer, in order of rank and time. */
static void expect_answers(const char *expected)
{
    tl_host_meetings meetings = { 0 };
    tl_peer_answers answers = { 0 };
    char text[256] = "";
    size_t gaps = 0;
    for (size_t i = 0; i < rows.n; i++)
        gaps += row(i)->idle_id >= 0;
    tl_host_meetings_take(&rows, &facts, &meetings);
    CU_ASSERT_EQUAL(rows.n, gaps);
    tl_host_meetings_match(meetings.v, meetings.n, &facts, &answers);
    tl_peer_answers_sort(answers.v, answers.n);
    for (size_t i = 0; i < answers.n; i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%d:%lld:%d ", answers.v[i].rank, (long long)(answers.v[i].wait_ns / US),
                 answers.v[i].late_rank);
    }
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(meetings.v);
    free(answers.v);
    begin();
}

static void who_comes_last_waits_for_nobody(void)
{
    begin();
    add(0, 0, TL_PEER_SYNC, 7, 0, 0, 10);
    add_meeting(0, "gloo:barrier", 3, 100, 190);
    add_meeting(1, "gloo:barrier", 3, 170, 185);
    expect_answers("0:70:1 1:0:1 ");
}

static void the_kth_of_a_name_in_a_step_meets_the_kth(void)
{
    begin();
    add_meeting(1, "gloo:barrier", 3, 300, 320); /* rows need not be in order */
    add_meeting(0, "gloo:barrier", 3, 100, 190);
    add_meeting(1, "gloo:barrier", 3, 170, 185);
    add_meeting(0, "gloo:barrier", 3, 250, 310);
    add_meeting(0, "gloo:barrier", 4, 400, 410); /* other steps, and other names, are other collectives */
    add_meeting(1, "gloo:all_reduce", 3, 400, 410);
    expect_answers("0:70:1 0:50:1 1:0:1 1:0:1 ");
}

static void ranks_that_left_before_the_last_came_have_not_met(void)
{
    begin();
    add_meeting(0, "gloo:barrier", 3, 100, 150);
    add_meeting(1, "gloo:barrier", 3, 151, 200);
    expect_answers("");
    add_meeting(0, "gloo:barrier", 3, 100, 151);
    add_meeting(1, "gloo:barrier", 3, 151, 200);
    expect_answers("0:51:1 1:0:1 ");
    add_meeting(0, "gloo:barrier", 3, 100, 151); /* nobody else did */
    expect_answers("");
}

static void clocks_are_set_before_ranks_are_compared(void)
{
    begin();
    add_meeting(0, "gloo:barrier", 3, 100, 190);
    add_meeting(2, "gloo:barrier", 3, 1170, 1185);
    expect_answers("0:70:2 2:0:2 ");
    /* Within 4 us nobody knows who was late; and out by 4 us is not out. */
    add_meeting(0, "gloo:barrier", 3, 163, 166);
    add_meeting(2, "gloo:barrier", 3, 1170, 1185);
    expect_answers("0:0:2 2:0:2 ");
    add_meeting(0, "gloo:barrier", 3, 100, 165);
    add_meeting(2, "gloo:barrier", 3, 1170, 1185);
    expect_answers("");
    /* Clocks that nothing compares. */
    add_meeting(0, "gloo:barrier", 3, 100, 190);
    add_meeting(3, "gloo:barrier", 3, 170, 185);
    expect_answers("");
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(compute_hides_communication),
        TEST(of_several_the_last_to_end_has_the_time),
        TEST(each_device_is_looked_at_alone),
        TEST(a_kernel_in_many_pieces_has_stretches_instead),
        TEST(answers_cut_candidates),
        TEST(sums_are_of_devices_and_of_classes),
        TEST(who_comes_last_waits_for_nobody),
        TEST(the_kth_of_a_name_in_a_step_meets_the_kth),
        TEST(ranks_that_left_before_the_last_came_have_not_met),
        TEST(clocks_are_set_before_ranks_are_compared),
    };
    return unit_main("peers", tests, COUNT(tests));
}
