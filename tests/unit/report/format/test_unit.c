/* test_unit.c - times in the unit that was asked for, exact where programs read them. */
#include "tlmpi/report/format/print.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIMED_FIELDS(F, T)                              \
    F(T, I32, rank, KEY, "", "no time")                 \
    F(T, I64, wall_ns, MEASURE, "ns", "a duration")     \
    F(T, F64, mean_ns, MEASURE, "ns", "a mean")         \
    F(T, TIME, begin_ns, LABEL, "ns", "an instant")     \
    F(T, F64, cost_share, MEASURE, "", "a share")       \
    F(T, F64, slowdown, MEASURE, "", "no share")
TL_TABLE(timed, TIMED_FIELDS);
TL_TABLE_DEFINE(timed, TIMED_FIELDS, TL_SCOPE_JOB, "timed", "what is it?");

static void expect(tl_format format, tl_unit_choice unit, tl_timed row, const char *want)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    tl_printer p = { .out = out, .schema = &tl_timed_schema, .format = format, .unit = unit };
    bool ok = tl_print_begin(&p) && tl_print_rows(&p, &row, 1);
    CU_ASSERT_TRUE(tl_print_end(&p) && ok);
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, want);
    if (strcmp(text, want) != 0)
        fprintf(stderr, "got:\n%s\nwant:\n%s\n", text, want);
    free(text);
}

static const tl_timed row = { 3, 80432943, 1500.5, 1700000001, 0.1321, 1.5 };

static void programs_get_every_digit(void)
{
    expect(TL_FORMAT_CSV, TL_UNIT_NS, row,
           "rank,wall_ns,mean_ns,begin_ns,cost_share,slowdown\n3,80432943,1500.5,1700000001,0.1321,1.5\n");
    expect(TL_FORMAT_CSV, TL_UNIT_US, row,
           "rank,wall_us,mean_us,begin_us,cost_share,slowdown\n3,80432.943,1.5005,1700000.001,0.1321,1.5\n");
    expect(TL_FORMAT_JSON, TL_UNIT_S, row,
           "[\n{\"rank\": 3, \"wall_s\": 0.080432943, \"mean_s\": 1.5005e-06, \"begin_s\": 1.700000001, "
           "\"cost_share\": 0.1321, \"slowdown\": 1.5}\n]\n");
    tl_timed odd = row;
    odd.wall_ns = INT64_MIN;
    odd.begin_ns = TL_TIME_UNKNOWN;
    odd.mean_ns = NAN;
    expect(TL_FORMAT_CSV, TL_UNIT_MS, odd,
           "rank,wall_ms,mean_ms,begin_ms,cost_share,slowdown\n3,-9223372036854.775808,,,0.1321,1.5\n");
    odd.wall_ns = -2000000;
    expect(TL_FORMAT_CSV, TL_UNIT_MS, odd, "rank,wall_ms,mean_ms,begin_ms,cost_share,slowdown\n3,-2,,,0.1321,1.5\n");
    odd.wall_ns = -1; /* not known: of a nanosecond nobody can tell */
    expect(TL_FORMAT_CSV, TL_UNIT_MS, odd, "rank,wall_ms,mean_ms,begin_ms,cost_share,slowdown\n3,,,,0.1321,1.5\n");
    odd.wall_ns = 0;
    expect(TL_FORMAT_CSV, TL_UNIT_MS, odd, "rank,wall_ms,mean_ms,begin_ms,cost_share,slowdown\n3,0,,,0.1321,1.5\n");
}

static void people_get_three_decimals(void)
{
    expect(TL_FORMAT_TABLE, TL_UNIT_MS, row,
           "rank  wall_ms    mean_ms  begin_ms  cost_share  slowdown\n   3   80.433  0.0015005  1700.000      0.1321       1.5\n");
}

/* Of an instant three digits would tell nothing. */
static void or_each_in_its_own_unit(void)
{
    tl_timed other = row;
    expect(TL_FORMAT_TABLE, TL_UNIT_AUTO, row,
           "rank     wall     mean    begin_ns  cost_share  slowdown\n   3  80.4 ms  1.50 us  1700000001      13.2 %       1.5\n");
    other.wall_ns = 999; /* ns up to a microsecond */
    other.mean_ns = 999500;
    expect(TL_FORMAT_TABLE, TL_UNIT_AUTO, other,
           "rank    wall     mean    begin_ns  cost_share  slowdown\n   3  999 ns  1.00 ms  1700000001      13.2 %       1.5\n");
    other.wall_ns = -1; /* not known */
    other.mean_ns = 5e12;
    expect(TL_FORMAT_TABLE, TL_UNIT_AUTO, other,
           "rank  wall    mean    begin_ns  cost_share  slowdown\n   3     -  5000 s  1700000001      13.2 %       1.5\n");
}

static void a_difference_of_a_nanosecond_is_a_value(void)
{
    char *text = NULL;
    size_t size = 0;
    tl_timed shorter = row;
    shorter.wall_ns = -1;
    FILE *out = open_memstream(&text, &size);
    tl_printer p = { .out = out, .schema = &tl_timed_schema, .format = TL_FORMAT_TABLE, .unit = TL_UNIT_AUTO,
                     .signed_times = true };
    bool ok = tl_print_begin(&p) && tl_print_rows(&p, &shorter, 1);
    CU_ASSERT_TRUE(tl_print_end(&p) && ok);
    fclose(out);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "-1 ns"));
    free(text);
}

static const unit_test tests[] = {
    TEST(programs_get_every_digit),
    TEST(people_get_three_decimals),
    TEST(or_each_in_its_own_unit),
    TEST(a_difference_of_a_nanosecond_is_a_value),
};

int main(void)
{
    return unit_main("unit", tests, COUNT(tests));
}
