/* test_record_driver.c - devices, contexts and graphs; what a driver may refuse. */
#include "capture.h"
#include "recorded.h"

#include <math.h>
#include <string.h>

static void a_phase_belongs_to_the_device_of_its_stream(void)
{
    fake_counts fake;
    fresh(0);
    CU_ASSERT_TRUE(opened());
    for (int current = FAKE_NONE; current < 2; current++) {
        fake_set_device(current);
        for (int device = 0; device < FAKE_DEVICES; device++)
            CU_ASSERT_EQUAL(phase("p", device, fake_stream(device, 1)), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(fake_device(), current);
        CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(fake_device(), current);
    }
    fake_count(&fake);
    CU_ASSERT_EQUAL(fake.made, 2 * FAKE_DEVICES); /* each used again at its own device */
    fake_set_device(FAKE_NONE);
    CU_ASSERT_EQUAL(closed(3 * FAKE_DEVICES), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(fake_device(), FAKE_NONE);
}

static void the_default_stream_is_the_current_devices(void)
{
    uint64_t id;
    fresh(0);
    CU_ASSERT_TRUE(opened());
    fake_set_device(2);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, NULL, NULL, 0, &id), TLMPI_RECORD_OK);
    fake_set_device(1);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, NULL), TLMPI_RECORD_OK); /* on device 2 */
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_OK);

    fresh(0);
    CU_ASSERT_TRUE(opened());
    fake_set_device(FAKE_NONE);
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_DRIVER);
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(counts.failed, 1);
}

static void a_phase_ends_at_the_device_where_it_began(void)
{
    uint64_t id;
    fresh(0);
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, fake_stream(1, 1), NULL, 0, &id), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, fake_stream(2, 1)), TLMPI_RECORD_DRIVER);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, fake_stream(1, 1)), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(counts.failed, 1);
}

static void nothing_becomes_part_of_a_graph(void)
{
    void *graph = fake_stream(0, 1), *other = fake_stream(0, 2);
    uint64_t id;

    fresh(0);
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_EQUAL(phase("p", 0, other), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, graph, NULL, 0, &id), TLMPI_RECORD_OK);
    fake_capture(graph, 1);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, graph), TLMPI_RECORD_SKIPPED);
    CU_ASSERT_EQUAL(phase("p", 1, graph), TLMPI_RECORD_SKIPPED);
    fake_fail("cuStreamIsCapturing", 906); /* of a stream that may not be touched meanwhile */
    CU_ASSERT_EQUAL(phase("p", 2, NULL), TLMPI_RECORD_SKIPPED);
    fake_fail("cuStreamIsCapturing", 0);
    CU_ASSERT_EQUAL(phase("p", 3, other), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_OK); /* and no capture is broken: see closed */
    CU_ASSERT_EQUAL(nlines(0), 2);
    fake_capture(graph, 0);
    CU_ASSERT_EQUAL(phase("p", 4, graph), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(3), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(counts.captured, 3);
    CU_ASSERT_EQUAL(counts.failed, 0);
}

/* One call fails for a while: those phases are counted, and all is well afterwards. */
static void fails(const char *call, int in_step)
{
    fresh(0);
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    fake_fail(call, 700);
    if (in_step) {
        CU_ASSERT_EQUAL(phase("p", 1, NULL), TLMPI_RECORD_DRIVER);
        CU_ASSERT_EQUAL(phase("p", 2, fake_stream(0, 1)), TLMPI_RECORD_DRIVER);
    }
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), in_step ? TLMPI_RECORD_OK : TLMPI_RECORD_DRIVER);
    fake_fail(call, 0);
    CU_ASSERT_EQUAL(phase("p", 3, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(in_step ? 2 : 1), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(counts.failed, in_step ? 2 : 1);
}

static void a_driver_that_refuses_loses_phases_only(void)
{
    fails("cuEventRecord", 1);
    fails("cuStreamGetCtx", 1);
    fails("cuStreamIsCapturing", 1);
    fails("cuEventQuery", 0);
    fails("cuEventElapsedTime", 0);
}

static void an_event_that_cannot_be_made_or_waited_for_is_counted(void)
{
    fresh(0);
    CU_ASSERT_TRUE(opened());
    fake_fail("cuEventCreate", 2);
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_DRIVER);
    fake_fail("cuEventCreate", 0);
    CU_ASSERT_EQUAL(phase("p", 1, NULL), TLMPI_RECORD_OK);
    fake_fail("cuCtxPushCurrent", 4);
    CU_ASSERT_EQUAL(phase("p", 2, fake_stream(1, 1)), TLMPI_RECORD_DRIVER);
    fake_fail("cuEventSynchronize", 700);
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_DRIVER);
    CU_ASSERT_EQUAL(counts.failed, 3);
}

static void a_time_that_is_none_is_no_line(void)
{
    fresh(0);
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    fake_elapsed(INFINITY);
    CU_ASSERT_EQUAL(phase("p", 1, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_DRIVER);
    CU_ASSERT_EQUAL(counts.failed, 1);
}

/* A phase begun on one stream and ended on another that was further. */
static void time_does_not_run_backwards(void)
{
    fresh(0);
    fake_elapsed(-0.25f);
    CU_ASSERT_TRUE(opened());
    for (int64_t step = 0; step < 3; step++)
        CU_ASSERT_EQUAL(phase("p", step, NULL), TLMPI_RECORD_OK);
    fake_elapsed(0.25f);
    CU_ASSERT_EQUAL(phase("p", 3, NULL), TLMPI_RECORD_OK);
    capture_begin();
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_DRIVER);
    CU_ASSERT_STRING_EQUAL(capture_end(), "tlmpi_record: rank 0: phases are lost, the program goes on: "
                                          "one took -0.25 ms, as the driver says\n");
    CU_ASSERT_EQUAL(counts.failed, 3);
    CU_ASSERT_EQUAL(nlines(0), 1);
}

static void without_a_driver_it_says_why_it_is_off(void)
{
    fresh(0);
    fake_fail("cuInit", 100);
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_STRING_EQUAL(tlmpi_record_reason(recorder), "cuInit: CUDA_ERROR_NO_DEVICE (100)");
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OFF);
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);
    CU_ASSERT_STRING_EQUAL(scratch_content("cuda_events_rank_0.jsonl"), "(no file)");

    (void)setenv("TLMPI_RECORD_LIBRARY", "/nowhere/libcuda.so.1", 1);
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_PTR_NOT_NULL(strstr(tlmpi_record_reason(recorder), "/nowhere/libcuda.so.1: "));
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);
    (void)setenv("TLMPI_RECORD_LIBRARY", "libm.so.6", 1);
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_STRING_EQUAL(tlmpi_record_reason(recorder), "the GPU driver has no cuInit");
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);
    (void)setenv("TLMPI_RECORD_LIBRARY", FAKE_LIBRARY, 1);
}

static void what_the_driver_refuses_is_said_once(void)
{
    fresh(5);
    capture_begin();
    CU_ASSERT_TRUE(opened());
    fake_fail("cuEventRecord", 700);
    for (int64_t step = 0; step < 100; step++)
        CU_ASSERT_EQUAL(phase("p", step, NULL), TLMPI_RECORD_DRIVER);
    (void)closed(0);
    CU_ASSERT_STRING_EQUAL(capture_end(), "tlmpi_record: rank 5: phases are lost, the program goes on: "
                                 "an event at the begin of a phase: CUDA_ERROR_FAKE (700)\n");
    CU_ASSERT_EQUAL(counts.failed, 100);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_phase_belongs_to_the_device_of_its_stream),
        TEST(the_default_stream_is_the_current_devices),
        TEST(a_phase_ends_at_the_device_where_it_began),
        TEST(nothing_becomes_part_of_a_graph),
        TEST(a_driver_that_refuses_loses_phases_only),
        TEST(an_event_that_cannot_be_made_or_waited_for_is_counted),
        TEST(a_time_that_is_none_is_no_line),
        TEST(time_does_not_run_backwards),
        TEST(without_a_driver_it_says_why_it_is_off),
        TEST(what_the_driver_refuses_is_said_once),
    };
    return recorded_main("record_driver", tests, COUNT(tests));
}
