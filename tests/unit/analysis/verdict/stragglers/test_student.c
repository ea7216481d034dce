/* test_student.c - the tail of Student's t with any number of degrees. */
#include "tlmpi/analysis/verdict/stragglers.h"
#include "unit.h"

static void the_tail_of_student_is_known(void)
{
    CU_ASSERT_DOUBLE_EQUAL(tl_student_tail_of(2.0, 6), 0.0462132, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(tl_student_tail_of(1.0, 1), 0.25, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(tl_student_tail_of(0, 7), 0.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(tl_student_tail_of(-2.0, 6), 1 - 0.0462132, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(tl_student_tail_of(1.959964, 1e7), 0.025, 1e-6); /* nearly normal */
    CU_ASSERT_DOUBLE_EQUAL(tl_student_tail_of(1e6, 2) * 2e12, 1, 1e-6);     /* about 1 / (2 t^2) */
    CU_ASSERT_DOUBLE_EQUAL(tl_student_tail_of(8.6, 30) / 6.778588458e-10, 1, 1e-8); /* 1 - P would have lost this */
    CU_ASSERT_EQUAL(tl_student_tail_of(1e200, 3), 0);
}

static void degrees_between_are_between(void)
{
    for (double degrees = 1; degrees < 20; degrees += 0.5)
        CU_ASSERT(tl_student_tail_of(3, degrees) > tl_student_tail_of(3, degrees + 0.5));
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(the_tail_of_student_is_known),
        TEST(degrees_between_are_between),
    };
    return unit_main("Student's t", tests, COUNT(tests));
}
