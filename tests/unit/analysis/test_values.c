/* test_values.c - every word of every enumeration of every table is explained. */
#include "tlmpi/analysis/registry.h"
#include "unit.h"

static size_t count_of(const char *const *texts)
{
    size_t n = 0;
    while (texts[n] != NULL)
        n++;
    return n;
}

static void each_word_has_a_meaning(void)
{
    size_t ntables, nenums = 0;
    const tl_schema *const *schemas = tl_all_schemas(&ntables);
    for (size_t i = 0; i < ntables; i++)
        for (size_t k = 0; k < schemas[i]->nfields; k++) {
            const tl_field *field = &schemas[i]->fields[k];
            if (field->labels == NULL)
                continue;
            const char *const *docs = field->meanings;
            if (docs == NULL)
                fprintf(stderr, "%s.%s\n", schemas[i]->name, field->name);
            CU_ASSERT_PTR_NOT_NULL_FATAL(docs);
            if (count_of(docs) != count_of(field->labels))
                fprintf(stderr, "%s.%s: %zu of %zu\n", schemas[i]->name, field->name, count_of(docs), count_of(field->labels));
            CU_ASSERT_EQUAL(count_of(docs), count_of(field->labels));
            nenums++;
        }
    CU_ASSERT(nenums > 30);
}

static const unit_test tests[] = { TEST(each_word_has_a_meaning) };

int main(void)
{
    return unit_main("values", tests, COUNT(tests));
}
