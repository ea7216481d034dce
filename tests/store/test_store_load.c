/* test_store_load.c - whole tables back as rows of structs, whatever version of the program wrote them. */
#include "store_file.h"
#include "tlmpi/store/load.h"

static tl_status load(tl_tables *tables, const tl_schema *schema, const tl_schema *other, size_t required)
{
    const tl_schema *const schemas[] = { schema, other };
    tl_tables_init(tables, schemas, other != NULL ? 2 : 1);
    tl_result *r = open_file();
    tl_status st = tl_result_load(r, tables, required, &err);
    tl_result_close(r);
    return st;
}

/* The error of a load of this table alone. */
static void load_refused(const tl_schema *schema, const char *word)
{
    tl_tables tables;
    CU_ASSERT_EQUAL(load(&tables, schema, NULL, 1), TL_EINPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, word));
    if (strstr(err.text, word) == NULL)
        fprintf(stderr, "expected \"%s\" in \"%s\"\n", word, err.text);
    tl_tables_free(&tables);
}

static void rows_come_back_as_they_were_in_memory(void)
{
    const sample_plan plan = { .nrows = 20000, .nranks = 3 };
    tl_tables tables;
    size_t wrong = 0;
    write_sample(plan.nrows, plan.nranks, 0);
    CU_ASSERT_EQUAL_FATAL(load(&tables, &tl_sample_schema, &tl_remark_schema, 2), TL_OK);
    CU_ASSERT_EQUAL_FATAL(tables.v[0].n, plan.nrows);
    CU_ASSERT(tables.v[1].n > 0);
    for (size_t i = 0; i < plan.nrows; i++) {
        const tl_sample *got = tl_table_row(&tables.v[0], i);
        tl_sample want;
        sample_fill(&plan, i, 1, &want);
        wrong += got->rank != want.rank || got->start_ns != want.start_ns || got->color != want.color ||
                 got->name != want.name || got->large != want.large || got->row != want.row ||
                 memcmp(got->text, want.text, sizeof want.text) != 0 ||
                 !(got->share == want.share || (isnan(got->share) && isnan(want.share)));
    }
    CU_ASSERT_EQUAL(wrong, 0);
    tl_tables_free(&tables);
}

/* Variants of table "sample", as another version of the program might know it. */
static tl_field fields[8];
static tl_schema variant;

static const tl_schema *sample_with(size_t field, const tl_field *changed)
{
    memcpy(fields, tl_sample_schema.fields, sizeof fields);
    fields[field] = *changed;
    variant = tl_sample_schema;
    variant.fields = fields;
    return &variant;
}

static void enums_are_found_by_their_labels(void)
{
    static const char *const turned[] = { "blue", "black", "red", "green", NULL }, *const fewer[] = { "red", "green",
                                                                                                      NULL };
    tl_field color = tl_sample_schema.fields[COLOR];
    tl_tables tables;
    size_t wrong = 0;
    write_sample(300, 2, 0);
    color.labels = turned;
    CU_ASSERT_EQUAL_FATAL(load(&tables, sample_with(COLOR, &color), NULL, 1), TL_OK);
    for (size_t i = 0; i < 300; i++)
        wrong += strcmp(turned[((const tl_sample *)tl_table_row(&tables.v[0], i))->color], sample_colors[i % 3]) != 0;
    CU_ASSERT_EQUAL(wrong, 0);
    tl_tables_free(&tables);
    color.labels = fewer;
    load_refused(sample_with(COLOR, &color), "table sample, row 2: the value of color has no label");
}

static void what_is_not_there_is_told_or_stays_empty(void)
{
    static const tl_schema missing = { "verdicts", "", "", TL_SCOPE_JOB, fields, 0, sizeof(int32_t), false };
    tl_field field = tl_sample_schema.fields[LARGE];
    tl_tables tables;
    write_sample(300, 2, 0);
    load_refused(&missing, "the file has no table verdicts; another version");
    CU_ASSERT_EQUAL(load(&tables, &tl_sample_schema, &missing, 1), TL_OK);
    CU_ASSERT(tables.v[0].n == 300 && tables.v[1].n == 0);
    tl_tables_free(&tables);

    field.name = "larger";
    load_refused(sample_with(LARGE, &field), "table sample has no column larger; another version");
    field = tl_sample_schema.fields[LARGE];
    field.type = TL_TYPE_TIME;
    load_refused(sample_with(LARGE, &field), "column large of table sample is of another type");
    field = tl_sample_schema.fields[TEXT];
    field.size = 32;
    load_refused(sample_with(TEXT, &field), "column text of table sample is of another type");
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(rows_come_back_as_they_were_in_memory),
        TEST(enums_are_found_by_their_labels),
        TEST(what_is_not_there_is_told_or_stays_empty),
    };
    return store_main("store that loads", tests, COUNT(tests));
}
