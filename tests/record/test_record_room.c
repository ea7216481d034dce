/* test_record_room.c - how many phases may be on their way, what is written before that, and what is said after it. */
#include "capture.h"
#include "recorded.h"

static void events_are_used_again(void)
{
    fake_counts fake;
    fresh(0);
    CU_ASSERT_TRUE(opened());
    for (int64_t step = 0; step < 1000; step++) {
        CU_ASSERT_EQUAL(phase("host_to_device", step, NULL), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(phase("training_step", step, NULL), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(tlmpi_record_step_end(recorder, step), TLMPI_RECORD_OK);
    }
    CU_ASSERT_EQUAL(tlmpi_record_count(recorder, &counts), TLMPI_RECORD_OK);
    fake_count(&fake);
    CU_ASSERT_EQUAL(fake.made, 40); /* two of two phases in ten steps */
    CU_ASSERT_EQUAL(counts.events, 40);
    CU_ASSERT_EQUAL(closed(2000), TLMPI_RECORD_OK);
}

/* Of 5, 15, 25 it divides none: each comes after one that it divides. */
static void a_step_that_is_not_told_is_flushed_at_the_next(void)
{
    fresh(0);
    settings.start_step = 5;
    settings.record_every_n_steps = 10;
    CU_ASSERT_TRUE(opened());
    for (int64_t step = 5, lines = 0; step < 1000; step += 10) {
        CU_ASSERT_EQUAL(phase("p", step, NULL), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(tlmpi_record_step_end(recorder, step), TLMPI_RECORD_OK);
        lines += step == 5 ? 0 : step == 15 ? 2 : 1;
        CU_ASSERT_EQUAL(nlines(0), lines);
    }
    CU_ASSERT_EQUAL(phase("p", 1005, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_step_end(recorder, 3), TLMPI_RECORD_OK); /* another epoch, say */
    CU_ASSERT_EQUAL(nlines(0), 101);
    CU_ASSERT_EQUAL(closed(101), TLMPI_RECORD_OK);
}

static void who_never_ends_a_step_loses_nothing(void)
{
    enum { MANY = 40000 };
    fake_counts fake;
    fresh(0);
    CU_ASSERT_TRUE(opened());
    capture_begin();
    for (int64_t step = 0; step < MANY; step++)
        if (phase("p", step, NULL) != TLMPI_RECORD_OK)
            CU_FAIL("there is room");
    CU_ASSERT_STRING_EQUAL(capture_end(), "");
    fake_count(&fake);
    CU_ASSERT_EQUAL(fake.synchronizes, 0);
    CU_ASSERT_TRUE(fake.made <= 2 * (TLMPI_RECORD_FLUSH_PHASES + 1));
    CU_ASSERT_EQUAL(tlmpi_record_count(recorder, &counts), TLMPI_RECORD_OK);
    CU_ASSERT_TRUE(counts.written >= MANY - TLMPI_RECORD_FLUSH_PHASES - 1);
    CU_ASSERT_EQUAL(closed(MANY), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(counts.failed, 0);
}

static void what_the_device_does_not_pass_fills_no_memory(void)
{
    enum { MORE = 100 };
    uint64_t id;
    fresh(0);
    CU_ASSERT_TRUE(opened());
    fake_hold(fake_stream(0, 0), 1);
    for (int64_t step = 0; step < TLMPI_RECORD_MAX_PHASES; step++)
        if (phase("p", step, NULL) != TLMPI_RECORD_OK)
            CU_FAIL("there is room");
    capture_begin();
    for (int i = 0; i < MORE; i++)
        CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, NULL, NULL, 0, &id), TLMPI_RECORD_NO_MEMORY);
    CU_ASSERT_STRING_EQUAL(capture_end(), "tlmpi_record: rank 0: phases are lost, the program goes on: there is room for "
                                          "16384: 0 have not ended, and 16384 are not written yet\n");
    fake_hold(fake_stream(0, 0), 0);
    int nlost = MORE;
    while (nlost < MORE + TLMPI_RECORD_FLUSH_PHASES + 1 && phase("p", 0, NULL) != TLMPI_RECORD_OK)
        nlost++;
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(TLMPI_RECORD_MAX_PHASES + 2), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(counts.failed, nlost);
}

static void phases_that_never_end_are_told_once(void)
{
    enum { NEVER = 10, MORE = 20 };
    uint64_t id;
    fresh(0);
    CU_ASSERT_TRUE(opened());
    for (int i = 0; i < NEVER; i++)
        CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "never", 0, NULL, NULL, 0, &id), TLMPI_RECORD_OK);
    capture_begin();
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OK);
    CU_ASSERT_STRING_EQUAL(capture_end(),
                           "tlmpi_record: rank 0: phases are lost, the program goes on: not ended when closed: 10\n");
    CU_ASSERT_EQUAL(counts.failed, NEVER);

    fresh(0);
    CU_ASSERT_TRUE(opened());
    capture_begin();
    for (int i = 0; i < TLMPI_RECORD_MAX_PHASES + MORE; i++)
        (void)tlmpi_record_begin(recorder, "never", 0, NULL, NULL, 0, &id);
    CU_ASSERT_EQUAL(id, 0);
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OK);
    CU_ASSERT_STRING_EQUAL(capture_end(), "tlmpi_record: rank 0: phases are lost, the program goes on: there is room for "
                                          "16384: 16384 have not ended, and 0 are not written yet\n");
    CU_ASSERT_EQUAL(counts.failed, TLMPI_RECORD_MAX_PHASES + MORE);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(events_are_used_again),
        TEST(a_step_that_is_not_told_is_flushed_at_the_next),
        TEST(who_never_ends_a_step_loses_nothing),
        TEST(what_the_device_does_not_pass_fills_no_memory),
        TEST(phases_that_never_end_are_told_once),
    };
    return recorded_main("record_room", tests, COUNT(tests));
}
