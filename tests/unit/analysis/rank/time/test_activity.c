/* test_activity.c - a rank's time as a sum of parts, on drawings. */
#include "draw.h"
#include "tlmpi/analysis/rank/time.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static const char letters[TL_NACTIVITIES + 1] = "chox.igsad";

/* The activity as text, a microsecond a letter, from 0 on. */
static const char *text_of(const tl_activity *a)
{
    static char text[128];
    memset(text, ' ', sizeof text);
    size_t end = 0;
    for (size_t i = 0; i < a->n; i++)
        for (int64_t t = a->start_ns[i]; t < a->start_ns[i + 1]; t += US, end = (size_t)(t / US))
            text[t / US] = letters[a->kind[i]];
    text[end] = 0;
    return text;
}

static void each_instant_is_one_thing(void)
{
    drawing *d = draw("compute 7: ...AAAAA......BBBB.......", "comm 9:    .....CCCCCCC.............",
                      "memcpy 11: .M...............NNN...O.", NULL);
    tl_activity a = { 0 };
    draw_activity(&a, &d->view);
    CU_ASSERT_STRING_EQUAL(text_of(&a), " odcccccxxxxddccccoodddo");
    tl_activity_free(&a);
    drawing_free(d);
}

static void streams_and_devices_are_one(void)
{
    drawing *d = draw("compute 0/7: AAA..........", "compute 1/7: .BBBB........", "comm 1/9:    ......CC.....",
                      "compute 0/8: ........DD..|", NULL);
    tl_activity a = { 0 };
    draw_activity(&a, &d->view);
    CU_ASSERT_STRING_EQUAL(text_of(&a), "cccccdxxccdd");
    tl_activity_free(&a);
    drawing_free(d);
}

static void copies_to_the_device_are_told_by_their_name(void)
{
    drawing *d = draw("memcpy 7: AABB", NULL);
    d->kernels[0].name = tl_names_intern(&d->names, "Memcpy HtoD (Pageable -> Device)", 32);
    d->kernels[1].name = TL_NO_NAME;
    tl_activity a = { 0 };
    draw_activity(&a, &d->view);
    CU_ASSERT_STRING_EQUAL(text_of(&a), "hhoo");
    tl_activity_free(&a);
    drawing_free(d);
}

static void any_stretch_is_the_sum_of_its_parts(void)
{
    drawing *d = draw("compute 7: .AAA....BBB..", "comm 9:    ...CCC.......", NULL);
    tl_activity a = { 0 };
    draw_activity(&a, &d->view);
    for (int from = 0; from < 13; from++) {
        for (int to = from; to <= 13; to++) {
            tl_activity_ns sum = { { 0 } };
            tl_activity_add(&a, from * US, to * US, &sum);
            int64_t expected[TL_NACTIVITIES] = { 0 };
            for (int i = from; i < to; i++)
                if (i >= 1 && i < 11)
                    expected[strchr(letters, ".cccxxddccc"[i]) - letters] += US;
            CU_ASSERT_EQUAL(memcmp(sum.ns, expected, sizeof expected), 0);
        }
    }
    tl_activity_free(&a);
    drawing_free(d);
}

/* Longer than some blocks of sums: idle, compute and comm in turn, each one microsecond. */
static void a_long_stretch_of_time_is_the_sum_of_its_parts(void)
{
    enum { LENGTH = 5 * TL_ACTIVITY_BLOCK + 7 };
    char compute[LENGTH + 16] = "compute 7: ", comm[LENGTH + 16] = "comm 9:    ", *at[] = { compute + 11, comm + 11 };
    for (int i = 0; i < LENGTH; i++) {
        at[0][i] = (char)(i % 3 == 1 ? 'A' + i / 3 % 26 : '.');
        at[1][i] = (char)(i % 3 == 2 ? 'A' + i / 3 % 26 : '.');
    }
    at[0][LENGTH] = at[1][LENGTH] = '\0';
    drawing *d = draw(compute, comm, NULL);
    tl_activity a = { 0 };
    draw_activity(&a, &d->view);
    CU_ASSERT_FATAL(a.n > 4 * TL_ACTIVITY_BLOCK);
    int wrong = 0;
    for (int to = 0; to <= LENGTH; to++) {
        for (int from = 0; from < to; from++) {
            tl_activity_ns sum = { { 0 } };
            tl_activity_add(&a, from * US, to * US, &sum);
            int64_t expected[TL_NACTIVITIES] = { 0 };
            for (int i = from > 1 ? from : 1; i < to && i * US < a.start_ns[a.n]; i++)
                expected[i % 3 == 0 ? TL_ACTIVITY_DEVICE : i % 3 == 1 ? TL_ACTIVITY_COMPUTE : TL_ACTIVITY_COMM] += US;
            wrong += memcmp(sum.ns, expected, sizeof expected) != 0;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    tl_activity_free(&a);
    drawing_free(d);
}

static void nothing_on_the_device_is_nothing(void)
{
    drawing *d = draw("host: a.b", NULL);
    tl_activity a = { 0 };
    tl_activity_ns sum = { { 0 } };
    draw_activity(&a, &d->view);
    tl_activity_add(&a, 0, 100 * US, &sum);
    for (int p = 0; p < TL_NACTIVITIES; p++)
        CU_ASSERT_EQUAL(sum.ns[p], 0);
    tl_activity_free(&a);
    drawing_free(d);
}

static const unit_test tests[] = {
    TEST(a_long_stretch_of_time_is_the_sum_of_its_parts),
    TEST(each_instant_is_one_thing),
    TEST(streams_and_devices_are_one),
    TEST(copies_to_the_device_are_told_by_their_name),
    TEST(any_stretch_is_the_sum_of_its_parts),
    TEST(nothing_on_the_device_is_nothing),
};

int main(void)
{
    return unit_main("activity", tests, COUNT(tests));
}
