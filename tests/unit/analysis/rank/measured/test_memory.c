/* test_memory.c - memory of a rank, by device. */
#include "draw.h"
#include "tlmpi/analysis/rank/measured.h"
#include "tlmpi/model/work_tables.h"
#include "unit.h"
#include <stdlib.h>

static const tl_config config = { .series = true };

static const tl_memory_row *rows_of(drawing *d, const tl_memory *v, size_t n, size_t nrows)
{

    d->view.memory = v;
    d->view.nmemory = n;
    tl_memory_analysis.per_rank(&d->view, &config, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_memory_row_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, nrows);
    return (const tl_memory_row *)(const void *)table->rows;
}

#define NONE INT64_MIN

static bool is_named(const drawing *d, uint32_t name, const char *text)
{
    return tl_text_is(tl_names_text(&d->names, name), text);
}

static void the_first_peak_counts(void)
{
    drawing *d = draw("steps:               333333334444444",
                      "mark 1 ProfilerStep#4: ........=======",
                      "mark 1 forward:      .........====..",
                      "op 1 linear:         ..........===..",
                      "op 1 addmm:          ..........==...",
                      "op 2 other:          ===============", NULL);
    const tl_memory v[] = { { 2 * US, 16, 0, -1, 1, 2, 16 },         { 1 * US, 100, 512, 0, 2, 1, NONE },
                            { 11 * US, 400, 1024, 0, 3, 1, 310 },    { 12 * US, 400, 2048, 0, 4, 1, NONE },
                            { 13 * US, 50, 1024, 0, 5, 1, NONE } };
    const tl_memory_row *r = rows_of(d, v, COUNT(v), 2);
    CU_ASSERT_EQUAL(r[0].device, -1);
    CU_ASSERT_EQUAL(r[0].peak_bytes, 16);
    CU_ASSERT_EQUAL(r[0].peak_step, 3);
    CU_ASSERT_TRUE(is_named(d, r[0].peak_operator, "other"));
    CU_ASSERT_EQUAL(r[0].peak_annotation, TL_NO_NAME);
    CU_ASSERT_EQUAL(r[1].events, 4);
    CU_ASSERT_EQUAL(r[1].first_bytes, 100);
    CU_ASSERT_EQUAL(r[1].peak_bytes, 400);
    CU_ASSERT_EQUAL(r[1].last_bytes, 50);
    CU_ASSERT_EQUAL(r[1].reserved_bytes, 2048);
    CU_ASSERT_EQUAL(r[1].peak_ns, 11 * US);
    CU_ASSERT_EQUAL(r[1].peak_step, 4);
    CU_ASSERT_TRUE(is_named(d, r[1].peak_operator, "addmm"));
    CU_ASSERT_TRUE(is_named(d, r[1].peak_annotation, "forward"));

    const tl_table *table = tl_tables_get(&d->out, &tl_series_row_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, 3 * COUNT(v));
    const tl_series_row *s = (const tl_series_row *)(const void *)table->rows;
    const int64_t bytes[] = { 16, 0, 310, 0, -350 }; /* as told, else by how much it changed */
    for (size_t i = 0; i < table->n; i++) {
        const tl_memory *m = &v[i % COUNT(v)];
        const int64_t told[] = { bytes[i % COUNT(v)], m->allocated, m->reserved };
        CU_ASSERT_EQUAL(s[i].what, TL_SERIES_MEMORY_GIVEN + i / COUNT(v));
        CU_ASSERT_EQUAL(s[i].device, m->device);
        CU_ASSERT_EQUAL(s[i].time_ns, m->at_ns);
        CU_ASSERT_DOUBLE_EQUAL(s[i].value, (double)told[i / COUNT(v)], 0);
    }
    CU_ASSERT_TRUE(is_named(d, s[0].operator, "other"));
    CU_ASSERT_EQUAL(s[0].step, 3);
    CU_ASSERT_TRUE(is_named(d, s[3].operator, "linear"));
    CU_ASSERT_TRUE(is_named(d, s[3].annotation, "forward"));
    CU_ASSERT_EQUAL(s[3].step, 4);
    drawing_free(d);
}

static void an_allocator_that_says_nothing_has_no_peak(void)
{
    drawing *d = draw("op 1 linear: ======", NULL);
    const tl_memory v[] = { { 1 * US, NONE, NONE, 0, 2, 1, NONE } };
    const tl_memory_row *r = rows_of(d, v, COUNT(v), 1);
    CU_ASSERT_EQUAL(r->events, 1);
    CU_ASSERT_EQUAL(r->first_bytes, -1);
    CU_ASSERT_EQUAL(r->peak_bytes, -1);
    CU_ASSERT_EQUAL(r->reserved_bytes, -1);
    CU_ASSERT_EQUAL(r->peak_ns, TL_TIME_UNKNOWN);
    CU_ASSERT_EQUAL(r->peak_operator, TL_NO_NAME);
    const tl_table *series = tl_tables_get(&d->out, &tl_series_row_schema);
    const tl_series_row *s = tl_table_row(series, 0);
    CU_ASSERT_EQUAL_FATAL(series->n, 1); /* nothing of what is not told */
    CU_ASSERT_EQUAL(s->what, TL_SERIES_MEMORY_GIVEN);
    CU_ASSERT_DOUBLE_EQUAL(s->value, 0, 0);
    drawing_free(d);
}

/* As many devices as events, on one thread with as many operators: one sweep finds them all. */
static void many_devices_are_quick(void)
{
    enum { MANY = 200000 };
    drawing *d = draw("", NULL);
    tl_memory *v = calloc(MANY, sizeof *v);
    int64_t *start_ns = calloc(MANY, sizeof *start_ns), *dur_ns = calloc(MANY, sizeof *dur_ns);
    uint32_t *name = calloc(MANY, sizeof *name);
    uint8_t *kind = calloc(MANY, sizeof *kind);
    const tl_thread thread = { 1, 0, MANY };
    CU_ASSERT_TRUE_FATAL(v != NULL && start_ns != NULL && dur_ns != NULL && name != NULL && kind != NULL);
    (void)tl_names_intern(&d->names, "f", 1);
    for (int i = 0; i < MANY; i++) {
        v[i] = (tl_memory){ MANY - i, 1, 1, i, (uint32_t)i, 1, 1 };
        start_ns[i] = i;
        dur_ns[i] = MANY;
    }
    d->view.ops = (tl_ops){ start_ns, dur_ns, name, name, kind, MANY, &thread, 1 };
    const tl_memory_row *r = rows_of(d, v, MANY, MANY);
    CU_ASSERT_TRUE(is_named(d, r[17].peak_operator, "f"));
    drawing_free(d);
    free(v);
    free(start_ns);
    free(dur_ns);
    free(name);
    free(kind);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(the_first_peak_counts),
        TEST(an_allocator_that_says_nothing_has_no_peak),
        TEST(many_devices_are_quick),
    };
    return unit_main("memory", tests, COUNT(tests));
}
