/* test_ask_ends.c - answers of a result whose numbers are at the ends of the integers. */
#include "answer_job.h"
#include "tlmpi/report/ask.h"

/* The cell, and after the call what stood in it. */
static void swap_cell(const tl_field *f, void *row, int64_t *value)
{
    char *cell = (char *)row + f->offset;
    int64_t was;
    int32_t small = 0, narrow = *value > INT32_MAX ? INT32_MAX : *value < INT32_MIN ? INT32_MIN : (int32_t)*value;

    if (f->type == TL_TYPE_I64) {
        memcpy(&was, cell, sizeof was);
        memcpy(cell, value, sizeof *value);
        *value = was;
    } else {
        memcpy(&small, cell, sizeof small);
        memcpy(cell, &narrow, sizeof narrow);
        *value = small;
    }
}

/* A column of a result that somebody made: whatever its numbers are, there are answers. */
static void ask_with(answer_job *j, tl_table *table, const tl_field *f, int64_t value)
{
    int64_t *kept = calloc(table->n + 1, sizeof *kept);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    CU_ASSERT_FATAL(kept != NULL && out != NULL);
    for (size_t i = 0; i < table->n; i++) {
        kept[i] = value;
        swap_cell(f, tl_table_row(table, i), &kept[i]);
    }
    tl_answers_read(&j->tables, &j->answers);
    tl_print_answers(out, &j->answers, "traces.h5", 0);
    tl_print_answers_json(out, &j->answers, "traces.h5");
    (void)fclose(out);
    CU_ASSERT(size > 0);
    free(text);
    for (size_t i = 0; i < table->n; i++)
        swap_cell(f, tl_table_row(table, i), &kept[i]);
    free(kept);
}

static void no_number_is_too_large_to_be_told(void)
{
    static const int64_t ends[] = { INT64_MIN, -1, INT64_MAX };
    answer_job *j = job_of(4, 8);
    hold_up(j, 1, 2, 3, 20 * MS, 20 * MS)->late_count = 3;
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS)->late_count = 9;
    replay(j, 800 * MS, 0.012);
    gain_of(j, TL_SCENARIO_SUSPECTS, -1, 220 * MS);
    walk(j, 2, TL_ACTIVITY_HOST, 300 * MS, 200 * MS);
    (void)answers_of(j);
    for (size_t t = 0; t < j->tables.n; t++)
        for (size_t f = 0; f < j->tables.v[t].schema->nfields; f++)
            for (size_t e = 0; e < COUNT(ends); e++) {
                const tl_field *field = &j->tables.v[t].schema->fields[f];
                if (field->type == TL_TYPE_I64 || field->type == TL_TYPE_I32)
                    ask_with(j, &j->tables.v[t], field, ends[e]);
            }
    for (int32_t rank = 0; rank < 4; rank++)
        verdict_of(j, rank)->late_count = INT64_MAX - 1;
    tl_answers_read(&j->tables, &j->answers);
    CU_ASSERT_EQUAL(j->answers.trust.judged, INT64_MAX);
    job_free(j);
}

int main(void)
{
    static const unit_test tests[] = { TEST(no_number_is_too_large_to_be_told) };
    return unit_main("ask_ends", tests, COUNT(tests));
}
