/* test_standing.c - who costs more than the job's own noise does.
 *
 * A drawing has a line for each rank and a digit for each step: what the rank costs of it, in percent.  All that is 2 %
 * or more is flagged.  p of the labels is given. */
#include "tlmpi/analysis/outlier.h"
#include "tlmpi/base/mem.h"
#include "unit.h"
#include <math.h>
#include <string.h>

enum { RANKS_MAX = 16, STEPS_MAX = 32 };

static tl_standing of[RANKS_MAX];
static double step[STEPS_MAX], cost[RANKS_MAX * STEPS_MAX], p_value[RANKS_MAX];
static bool flagged[RANKS_MAX * STEPS_MAX];

static tl_costs draw_costs(const char *const *lines)
{
    tl_costs c = { cost, step, flagged, p_value, NULL, 0, strlen(lines[0]), false, false, NULL };
    for (; lines[c.nunits] != NULL; c.nunits++)
        for (size_t i = 0; i < c.nsteps; i++) {
            char digit = lines[c.nunits][i];
            double percent = digit == '.' ? 0 : digit == '#' ? 40 : digit - '0';
            step[i] = 1e6;
            cost[c.nunits * c.nsteps + i] = 1e4 * percent;
            flagged[c.nunits * c.nsteps + i] = percent >= 2;
        }
    return c;
}

static void look(double p, const char *const *lines)
{
    tl_error err;
    tl_costs c = draw_costs(lines);
    for (size_t r = 0; r < c.nunits; r++)
        p_value[r] = r == 0 ? p : 1;
    CU_ASSERT_EQUAL_FATAL(tl_standing_of(&c, of, &err), TL_OK);
}

#define LOOK(p, ...) look(p, (const char *const[]){ __VA_ARGS__, NULL })

static void whose_labels_tell_stands_out_if_it_matters(void)
{
    LOOK(0.0001, "3232323232", "....1.....", "..1.......");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_LABELS);
    CU_ASSERT_EQUAL(of[0].nflagged, 10);
    CU_ASSERT(fabs(of[0].share - 0.0256) < 0.0005); /* of the steps without it */
    CU_ASSERT_EQUAL(of[1].ground, TL_GROUND_NONE);
    /* Late in two steps of twelve by two percent: significant, and nothing. */
    LOOK(0.0001, "2.....2.....", "....1.......", "..1.........");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_LITTLE);
}

/* Batches of random length: each is late now and then, by as much as the others. */
static void what_others_cost_too_is_chance(void)
{
    LOOK(0.2, "..9....7..6.", "8...9.......", ".7.6...8...9", "...........7");
    for (int r = 0; r < 3; r++)
        CU_ASSERT_EQUAL(of[r].ground, TL_GROUND_CHANCE);
}

static void of_two_ranks_or_in_three_steps_steadiness_tells(void)
{
    LOOK(NAN, "555", ".1.", "1..", "..1");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_STEADY);
    CU_ASSERT(of[0].p < 0.01);
    LOOK(0.1, "43534", "....1");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_STEADY);
    /* On average as much, but not steadily. */
    LOOK(NAN, ".8.", "1.6", "6.1");
    CU_ASSERT_FALSE(tl_stands_out(&of[0]));
}

static void one_step_is_an_event_if_no_other_rank_comes_near(void)
{
    LOOK(0.9, "....8...", ".1....2.", "..2..1..");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_EVENT);
    CU_ASSERT_EQUAL(of[0].nevents, 1);
    CU_ASSERT(of[0].first_event == 4 && of[0].last_event == 4);
    LOOK(0.9, ".2..8..9.2", ".1......2.", "..2....1..");
    CU_ASSERT(of[0].nevents == 2 && of[0].first_event == 4 && of[0].last_event == 7);
    LOOK(0.9, "....8.....", ".1......4.", "..2....1..");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_CHANCE);
    LOOK(0.9, "....3.....", "..........", "..........");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_CHANCE); /* too little for a step alone */
}

/* Any host pauses once in a while: what that costs is a part of all steps, not of the one. */
static void a_pause_in_a_long_recording_has_to_stand_farther_out(void)
{
    LOOK(0.9, "....5.......", ".1..........", "........1...");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_EVENT);
    LOOK(0.9, "....8........", ".1......2....", "..2....1.....");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_EVENT);
    LOOK(0.9, "....8...............", ".1......3...........", "..2....1............");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_CHANCE); /* in ten steps 8 to 2.6 is enough */
    LOOK(0.9, "....5..................", ".......................", ".......................");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_CHANCE); /* next to nothing of so many */
    LOOK(0.9, "....8..........8....", ".1......2...........", "..2....1............", "....................");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_EVENT); /* twice is none */
}

/* Only one rank can be ahead of all others in a step: of thirty ranks it takes no more steps to know than of four. */
static void steadiness_tells_as_much_of_many_ranks(void)
{
    static const char *const lines[] = { "545", ".1.", "1..", "..1", "...", "...", "1..", ".1.",
                                         "..1", "...", "...", "...", "1..", "...", "...", NULL };
    look(NAN, lines);
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_STEADY);
}

/* Twice as much as others in one step is nothing; in two steps of the same rank it is no chance, but for few ranks. */
static void several_steps_need_less_each(void)
{
    LOOK(0.9, "....8.....", "........4.", "..........", "..........");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_CHANCE);
    LOOK(0.9, "..8.8.....", "........4.", "..........", "..........");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_EVENT);
    CU_ASSERT_EQUAL(of[0].nevents, 2);
    LOOK(0.9, "..8.8.....", "........4.", "..........");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_CHANCE);
}

/* Of four ranks and more chance hardly meets the same one twice with three times, or thrice with twice, what any other costs. */
static void several_steps_of_many_ranks_need_less_each_still(void)
{
    LOOK(0.2, "..33.", "1....", "...1.", "....1");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_EVENT);
    CU_ASSERT(of[0].nevents == 2 && of[0].first_event == 2 && of[0].last_event == 3);
    LOOK(0.2, "..33.", "1....", "...1."); /* three ranks are few */
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_CHANCE);
    LOOK(0.2, "..33..........", "......1.......", "...1..........", "1............."); /* less than 0.5 % of all */
    CU_ASSERT_NOT_EQUAL(of[0].ground, TL_GROUND_EVENT);
    LOOK(0.2, "..33..........3", "......1........", "...1...........", "1..............");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_EVENT);
    LOOK(0.2, "..33.", "1.2..", "...1.", "....1"); /* another comes near */
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_CHANCE);
}

static void an_event_may_be_the_peak_of_what_is_always_there(void)
{
    LOOK(0.2, ".3.3.39..3.3", "1..........1");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_EVENT);
    CU_ASSERT(of[0].nevents == 1 && of[0].nflagged == 6 && of[0].peaks);
    LOOK(0.2, ".3.3.39..3.3", "22222222222."); /* others cost as much */
    CU_ASSERT(of[0].nevents == 1 && !of[0].peaks);
    LOOK(0.2, ".3....9....3", "1..........1"); /* most of it lies there */
    CU_ASSERT(of[0].nevents == 1 && !of[0].peaks);
}

static void how_a_recording_begins_is_no_event(void)
{
    LOOK(0.9, "#.........", "..........", "..........");
    CU_ASSERT_FALSE(tl_stands_out(&of[0]));
    CU_ASSERT_EQUAL(of[0].left_out, 0); /* but it is known what is left out */
    CU_ASSERT_EQUAL(of[1].left_out, 10);
    LOOK(0.001, "#111111111", "..........", ".........."); /* though labels tell of the others */
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_CHANCE);
    LOOK(0.001, "#11112....", "..........", "..........");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_LABELS);
    LOOK(0.9, "....8...", "#.......", "........"); /* nor noise */
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_EVENT);
}

/* Where all were recorded before it. */
static void a_first_step_that_nothing_is_missing_of_is_like_the_others(void)
{
    tl_error err;
    tl_costs c = draw_costs((const char *const[]){ "..........", "8.........", "..1.......", NULL });
    p_value[0] = p_value[1] = p_value[2] = 0.5;
    CU_ASSERT_EQUAL_FATAL(tl_standing_of(&c, of, &err), TL_OK);
    CU_ASSERT_FALSE(tl_stands_out(&of[1]));
    c.begun = true;
    CU_ASSERT_EQUAL_FATAL(tl_standing_of(&c, of, &err), TL_OK);
    CU_ASSERT_EQUAL(of[1].ground, TL_GROUND_EVENT);
    CU_ASSERT(of[1].nevents == 1 && of[1].first_event == 0 && of[1].last_event == 0);
    CU_ASSERT_EQUAL(of[1].left_out, 10);
    c = draw_costs((const char *const[]){ "....8.....", "6.........", "..1.......", NULL }); /* and noise */
    c.begun = true;
    CU_ASSERT_EQUAL_FATAL(tl_standing_of(&c, of, &err), TL_OK);
    CU_ASSERT_FALSE(tl_stands_out(&of[0]));
}

/* Where some have more of the last step than others. */
static void how_recordings_end_is_no_event(void)
{
    tl_error err;
    for (int in_turn = 0; in_turn < 2; in_turn++) {
        tl_costs c = draw_costs((const char *const[]){ "..........", ".........8", "..1.......", NULL });
        c.in_turn = in_turn;
        p_value[0] = p_value[1] = p_value[2] = 0.5;
        CU_ASSERT_EQUAL_FATAL(tl_standing_of(&c, of, &err), TL_OK);
        CU_ASSERT_EQUAL(tl_stands_out(&of[1]), !in_turn);
        CU_ASSERT_EQUAL(of[1].left_out, in_turn ? 9 : 10);
        c = draw_costs((const char *const[]){ "....8.....", ".........6", "..1.......", NULL }); /* nor noise */
        c.in_turn = in_turn;
        CU_ASSERT_EQUAL_FATAL(tl_standing_of(&c, of, &err), TL_OK);
        CU_ASSERT_EQUAL(tl_stands_out(&of[0]), in_turn);
    }
}

/* Labels tell that it is the last more often than others; what that costs is in all steps, and next to nothing. */
static void labels_do_not_make_an_event_of_one_step(void)
{
    LOOK(0.0001, "1113111111", "..........", "..........");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_LABELS); /* 1.2 % of all steps */
    LOOK(0.0001, "...3......", "..........", "..........");
    CU_ASSERT_FALSE(tl_stands_out(&of[0]));
    LOOK(0.0001, "...3...3..", "..........", "..........");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_LABELS);
}

/* Kernels that take longer than those of the peers do so whatever the recording began with. */
static void what_surely_was_late_in_the_first_step_is_an_event(void)
{
    tl_error err;
    double sure[] = { 0, 3.9e5, 0 };
    tl_costs c = draw_costs((const char *const[]){ "..........", "#.........", "..1.......", NULL });
    c.sure_ns = sure;
    p_value[0] = p_value[1] = p_value[2] = 0.5;
    CU_ASSERT_EQUAL_FATAL(tl_standing_of(&c, of, &err), TL_OK);
    CU_ASSERT_EQUAL(of[1].ground, TL_GROUND_EVENT);
    CU_ASSERT(of[1].nevents == 1 && of[1].first_event == 0 && of[1].last_event == 0);
    sure[1] = 2e4; /* the rest may be how it began */
    CU_ASSERT_EQUAL_FATAL(tl_standing_of(&c, of, &err), TL_OK);
    CU_ASSERT_FALSE(tl_stands_out(&of[1]));
}

/* A rank that is known to be late is not what the others are measured by. */
static void a_straggler_is_no_noise(void)
{
    tl_error err;
    tl_costs c = draw_costs((const char *const[]){ "99999999", "...8....", "..1...1.", NULL });
    p_value[0] = 0.0001;
    p_value[1] = p_value[2] = 1;
    CU_ASSERT_EQUAL_FATAL(tl_standing_of(&c, of, &err), TL_OK);
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_LABELS);
    CU_ASSERT_EQUAL(of[1].ground, TL_GROUND_EVENT);
}

/* Few steps: a checkpoint of one rank hides in the middle that another is slow in each of them. */
static void an_event_hides_nobody(void)
{
    LOOK(NAN, ".##.", "3333", "...1", "..1.");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_EVENT);
    CU_ASSERT_EQUAL(of[1].ground, TL_GROUND_STEADY);
    CU_ASSERT_FALSE(tl_stands_out(&of[2]));
    CU_ASSERT_FALSE(tl_stands_out(&of[3]));
    /* Batches of random length are what they are beside a checkpoint, too. */
    LOOK(1, ".6..5..#..", "2..5..4.7.");
    CU_ASSERT_EQUAL(of[0].ground, TL_GROUND_EVENT);
    CU_ASSERT_FALSE(tl_stands_out(&of[1]));
}

/* A step that the recording has only a piece of is as long as the others. */
static void a_piece_of_a_step_is_measured_by_a_whole_one(void)
{
    tl_error err;
    tl_costs c = draw_costs((const char *const[]){ "........3.", "..........", "..........", NULL });
    for (int r = 0; r < 3; r++)
        p_value[r] = 1;
    step[8] = 1e5;
    CU_ASSERT_EQUAL_FATAL(tl_standing_of(&c, of, &err), TL_OK);
    CU_ASSERT_FALSE(tl_stands_out(&of[0]));
    CU_ASSERT(of[0].share < 0.04);
}

static void students_tail_is_that_of_the_tables(void)
{
    CU_ASSERT(fabs(tl_student_tail(2.920, 2) - 0.05) < 1e-4);
    CU_ASSERT(fabs(tl_student_tail(4.541, 3) - 0.01) < 1e-4);
    CU_ASSERT(fabs(tl_student_tail(2.764, 10) - 0.01) < 1e-4);
    CU_ASSERT(fabs(tl_student_tail(6.314, 1) - 0.05) < 1e-4);
    CU_ASSERT(fabs(tl_student_tail(1.699, 29) - 0.05) < 1e-4);
    CU_ASSERT(tl_student_tail(-1, 5) == 0.5);
    CU_ASSERT(tl_student_tail(1e9, 9) >= 0);
}

static void without_memory_it_says_so(void)
{
    tl_error err;
    tl_costs c = draw_costs((const char *const[]){ "99", "..", NULL });
    bool failed = true;
    for (size_t n = 1; failed && n < 100; n++) {
        tl_mem_fail_after(n);
        failed = tl_standing_of(&c, of, &err) == TL_ENOMEM;
        tl_mem_fail_after(0);
    }
    CU_ASSERT_FALSE(failed);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(whose_labels_tell_stands_out_if_it_matters),
        TEST(what_others_cost_too_is_chance),
        TEST(of_two_ranks_or_in_three_steps_steadiness_tells),
        TEST(one_step_is_an_event_if_no_other_rank_comes_near),
        TEST(a_pause_in_a_long_recording_has_to_stand_farther_out),
        TEST(steadiness_tells_as_much_of_many_ranks),
        TEST(several_steps_need_less_each),
    TEST(several_steps_of_many_ranks_need_less_each_still),
        TEST(an_event_may_be_the_peak_of_what_is_always_there),
        TEST(how_a_recording_begins_is_no_event),
        TEST(how_recordings_end_is_no_event),
        TEST(a_first_step_that_nothing_is_missing_of_is_like_the_others),
        TEST(labels_do_not_make_an_event_of_one_step),
        TEST(what_surely_was_late_in_the_first_step_is_an_event),
        TEST(a_straggler_is_no_noise),
        TEST(an_event_hides_nobody),
        TEST(a_piece_of_a_step_is_measured_by_a_whole_one),
        TEST(students_tail_is_that_of_the_tables),
        TEST(without_memory_it_says_so),
    };
    return unit_main("standing", tests, COUNT(tests));
}
