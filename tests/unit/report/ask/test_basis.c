/* test_basis.c - what the answers rest on: collectives, clocks, waits that nobody is charged with. */
#include "tlmpi/report/ask.h"
#include "answer_job.h"

typedef struct input {
    tl_quality rows[TL_NCHECKS];
    tl_table table;
    tl_answers answers;
} input;

static input *new_input(void)
{
    input *in = calloc(1, sizeof *in);
    in->table = (tl_table){ .schema = &tl_quality_schema, .rows = (unsigned char *)in->rows };
    in->answers = (tl_answers){ .quality = &in->table, .trust.model_error = NAN };
    return in;
}

static void count_of(input *in, tl_quality_check check, int64_t n, int64_t of, int64_t worst_ns)
{
    in->rows[in->table.n++] = (tl_quality){ .check = (uint8_t)check, .count = n, .of = of, .worst_ns = worst_ns };
}

#define HEAD "\nWhat do the answers rest on?\n"

/* The last part of the answers. */
static void expect(const input *in, const char *what)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    tl_print_answers(out, &in->answers, "f.h5", 0);
    (void)fclose(out);
    const char *basis = strstr(text, HEAD);
    basis = basis != NULL ? basis : "";
    CU_ASSERT_STRING_EQUAL(basis, what);
    if (strcmp(basis, what) != 0)
        fprintf(stderr, "expected:\n%sfound:\n%s", what, basis);
    CU_ASSERT_TRUE(fits_a_screen(text));
    free(text);
}

static void matched_collectives_have_a_line(void)
{
    input *in = new_input();
    count_of(in, TL_CHECK_MATCHED, 27, 27, 0);
    count_of(in, TL_CHECK_BY_LAUNCH, 108, 108, 0);
    count_of(in, TL_CHECK_ALONE, 0, 108, 0);
    count_of(in, TL_CHECK_END_TOGETHER, 12, 12, 113400);
    count_of(in, TL_CHECK_CLOCKS, 1, 4, 0);
    in->answers.trust.model_error = 0.012;
    expect(in, HEAD "  Collectives: 27 of 27 matched across ranks; ends up to 113 us apart\n"
                    "  (tlmpi show f.h5 quality)\n"
                    "  Simulation: off by 1.2 % of the measured time (tlmpi show f.h5 whatif)\n");
    free(in);
}

static void what_clocks_are_shifted_by_is_said(void)
{
    input *in = new_input();
    count_of(in, TL_CHECK_MATCHED, 20, 27, 0);
    count_of(in, TL_CHECK_ALONE, 1, 108, 0);
    count_of(in, TL_CHECK_CLOCKS, 2, 4, 3000000);
    count_of(in, TL_CHECK_SHIFTED, 2, 4, 3000000);
    in->answers.trust.clock_uncertainty_ns = 25000;
    in->answers.trust.clock_step_ns = 1500000;
    expect(in, HEAD "  Collectives: 20 of 27 matched across ranks (tlmpi show f.h5 quality)\n"
                    "  Clocks: the times of 2 ranks were shifted, by up to 3000 us, to within 25 us\n"
                    "  - one clock steps by 1500 us (tlmpi show f.h5 clock)\n");
    free(in);
    in = new_input();
    count_of(in, TL_CHECK_MATCHED, 1, 1, 0);
    count_of(in, TL_CHECK_ALONE, 0, 1, 0);
    count_of(in, TL_CHECK_CLOCKS, 1, 4, 0);
    count_of(in, TL_CHECK_SHIFTED, 1, 4, INT64_C(18000000000000));
    expect(in, HEAD "  Collectives: 1 of 1 matched across ranks (tlmpi show f.h5 quality)\n"
                    "  Clocks: the times of 1 rank were shifted, by up to 18000 s\n  (tlmpi show f.h5 clock)\n");
    free(in);
}

static void clocks_that_nothing_compares_are_no_distance_apart(void)
{
    input *in = new_input();
    count_of(in, TL_CHECK_MATCHED, 20, 27, 0);
    count_of(in, TL_CHECK_ALONE, 1, 108, 0);
    count_of(in, TL_CHECK_CLOCKS, 2, 4, 0);
    in->answers.trust.untied = true;
    expect(in, HEAD "  Collectives: 20 of 27 matched across ranks (tlmpi show f.h5 quality)\n"
                    "  Clocks: not all can be compared (tlmpi show f.h5 clock)\n");
    free(in);
}

/* What one of two waits for the other is nobody's blame. */
static void waits_that_nobody_is_charged_with_are_told(void)
{
    input *in = new_input();
    count_of(in, TL_CHECK_MATCHED, 20, 20, 0);
    count_of(in, TL_CHECK_ALONE, 0, 40, 0);
    count_of(in, TL_CHECK_CLOCKS, 1, 2, 0);
    count_of(in, TL_CHECK_CHARGED, 353, 1000, 0);
    count_of(in, TL_CHECK_LATE_SENDER, 421, 1000, 0);
    count_of(in, TL_CHECK_LATE_RECEIVER, 226, 1000, 0);
    count_of(in, TL_CHECK_UNCHARGED, 0, 1000, 0);
    expect(in, HEAD "  Collectives: 20 of 20 matched across ranks (tlmpi show f.h5 quality)\n"
                    "  Waiting: 35.3 % of it is charged to late ranks - 42.1 % is for late senders\n"
                    "  - 22.6 % is for late receivers (tlmpi show f.h5 blame)\n");
    free(in);
}

static void one_rank_alone_is_not_compared(void)
{
    input *in = new_input();
    count_of(in, TL_CHECK_MATCHED, 0, 17, 0);
    count_of(in, TL_CHECK_ALONE, 17, 17, 0);
    expect(in, HEAD "  Collectives: 17, of one rank each: there is none to compare with\n"
                    "  (tlmpi show f.h5 quality)\n");
    in->rows[0].of = 0; /* a job without any says nothing */
    expect(in, "");
    free(in);
}

static const unit_test tests[] = {
    TEST(matched_collectives_have_a_line),
    TEST(what_clocks_are_shifted_by_is_said),
    TEST(clocks_that_nothing_compares_are_no_distance_apart),
    TEST(waits_that_nobody_is_charged_with_are_told),
    TEST(one_rank_alone_is_not_compared),
};

int main(void)
{
    return unit_main("basis", tests, COUNT(tests));
}
