/* test_record_hip.c - the same on HIP, where an event belongs to the device that is current when it is made. */
#include "recorded.h"

static void phases_of_several_devices(void)
{
    fresh(1);
    CU_ASSERT_TRUE(opened());
    for (int current = 0; current < 2; current++) {
        fake_set_device(current);
        CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(phase("p", 0, (void *)2), TLMPI_RECORD_OK); /* hipStreamPerThread */
        for (int device = 0; device < FAKE_DEVICES; device++)
            CU_ASSERT_EQUAL(phase("p", device, fake_stream(device, 1)), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(fake_device(), current);
    }
    CU_ASSERT_EQUAL(closed(2 * FAKE_DEVICES + 4), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(fake_device(), 1);
    CU_ASSERT_EQUAL(nlines(1), 2 * FAKE_DEVICES + 4);
}

static void a_driver_without_devices(void)
{
    fresh(0);
    fake_fail("cuInit", 100);
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_STRING_EQUAL(tlmpi_record_reason(recorder), "hipInit: hipErrorNoDevice (100)");
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);
}

static void nothing_becomes_part_of_a_graph(void)
{
    fresh(0);
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    fake_capture(fake_stream(0, 1), 1);
    CU_ASSERT_EQUAL(phase("p", 0, fake_stream(0, 1)), TLMPI_RECORD_SKIPPED);
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_OK);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(phases_of_several_devices),
        TEST(a_driver_without_devices),
        TEST(nothing_becomes_part_of_a_graph),
    };
    return recorded_main("record_hip", tests, COUNT(tests));
}
