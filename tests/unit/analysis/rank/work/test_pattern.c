/* test_pattern.c - sequences of device work that operators launch again and again. */
#include "draw.h"
#include "tlmpi/analysis/rank/work/pattern.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>

static const tl_config config = { 0 };

static const tl_pattern_row *rows_of(drawing *d, size_t n)
{
    tl_pattern_analysis.per_rank(&d->view, &config, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_pattern_row_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, n);
    return (const tl_pattern_row *)(const void *)table->rows;
}

static bool is_named(const drawing *d, uint32_t name, const char *text)
{
    return tl_text_is(tl_names_text(&d->names, name), text);
}

/* Twice the same three kernels under a layer, the first two of them under a norm in it. */
#define TWICE                                                                                                          \
    "op 1 layer: .========....========.....",                                                                          \
    "op 1 norm:  ..====.......====.........",                                                                          \
    "launch 1 l: ...ab..c......de..f......."

static void what_comes_again_is_one_row(void)
{
    drawing *d = draw(TWICE, "compute 7 gemm: ....AAAA..........DDDDD...", "memcpy 0 Memcpy HtoD (Pageable -> Device): .....BB........EE.........",
                      "compute 7 void at::relu<float, at::Fn<int>>(int): ........CC...........FF...", NULL);
    const tl_pattern_row *r = rows_of(d, 1);
    CU_ASSERT_TRUE(is_named(d, r->operator, "layer"));
    CU_ASSERT_TRUE(is_named(d, r->sequence, "gemm | Memcpy HtoD | relu<float, Fn<int>>"));
    CU_ASSERT_EQUAL(r->place, 1);
    CU_ASSERT_EQUAL(r->count, 2);
    CU_ASSERT_EQUAL(r->kernels, 3);
    CU_ASSERT_EQUAL(r->host_ns, 16 * US);
    CU_ASSERT_EQUAL(r->device_ns, 17 * US);
    CU_ASSERT_DOUBLE_EQUAL(r->to_launch_ns, 1500, 0); /* 2 and 1 us */
    CU_ASSERT_DOUBLE_EQUAL(r->to_work_ns, 2500, 0);   /* 1 and 4 */
    CU_ASSERT_DOUBLE_EQUAL(r->share, 1, 0);
    CU_ASSERT_EQUAL(r->patterns, 1);
    drawing_free(d);
}

static void what_differs_in_one_kernel_comes_once(void)
{
    drawing *d = draw(TWICE, "compute 7: ....AABCDEF...", NULL); /* each named by its letter */
    (void)rows_of(d, 0);
    drawing_free(d);
}

static void an_operator_around_it_with_nothing_more_has_a_row_of_its_own(void)
{
    drawing *d = draw("op 1 outer:    .=====..=====..",
                      "op 1 inner:    ..===....===...",
                      "launch 1 l:    ..abc....def...",
                      "compute 7 x:   ...AAA....D....", "compute 8 y: ....BBB....E...", "compute 9 z: .....CC.....F..", NULL);
    const tl_pattern_row *r = rows_of(d, 2);
    CU_ASSERT_TRUE(is_named(d, r[0].operator, "outer")); /* of equal device time that with more of the host */
    CU_ASSERT_TRUE(is_named(d, r[1].operator, "inner"));
    CU_ASSERT_EQUAL(r[0].host_ns, 10 * US);
    CU_ASSERT_EQUAL(r[1].host_ns, 6 * US);
    CU_ASSERT_EQUAL(r[0].device_ns, 11 * US);
    CU_ASSERT_EQUAL(r[0].id, r[1].id);
    CU_ASSERT_EQUAL(r[0].sequence, r[1].sequence);
    CU_ASSERT_EQUAL(r[0].patterns, 2);
    drawing_free(d);
}

static void one_inside_another_of_its_name_counts_with_it(void)
{
    drawing *d = draw("op 1 f:        .=====..=====..",
                      "",
                      "op 1 f:        ..===..........",
                      "launch 1 l:    ..abc....def...",
                      "compute 7 x:   ...AAABBBCDEF..", NULL);
    const tl_pattern_row *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->count, 2);
    CU_ASSERT_EQUAL(r->host_ns, 10 * US);
    CU_ASSERT_EQUAL(r->device_ns, 10 * US);
    CU_ASSERT_DOUBLE_EQUAL(r->to_launch_ns, 1000, 0); /* from the outer one */
    CU_ASSERT_TRUE(is_named(d, r->sequence, "x x 3"));
    drawing_free(d);
}

/* One call launches all of a graph: its work is in the order of device, stream and start, whatever ran first. */
static void a_graph_launch_is_a_sequence(void)
{
    drawing *d = draw("op 1 decode:   .==....==.....",
                      "launch 1 l:    .g.....h......",
                      "compute 8 b:   ..G......H....",
                      "compute 7 a:   ...G....H.....",
                      "compute 9 c:   ....G......H..", NULL);
    const tl_pattern_row *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->count, 2);
    CU_ASSERT_TRUE(is_named(d, r->sequence, "a | b | c"));
    drawing_free(d);
}

static void what_other_threads_launch_is_not_under_it(void)
{
    drawing *d = draw("op 1 f:        .=====..=====..",
                      "launch 1 l:    ..a.b....c.d...",
                      "launch 2 m:    ...e......f....",
                      "compute 7 x:   ...AABBCCDDEEFF", NULL);
    (void)rows_of(d, 0);
    drawing_free(d);
}

/* The launch as it ends is no more in it; one that began in it and ended later takes nothing away. */
static void from_its_start_to_its_end(void)
{
    drawing *d = draw("op 1 f:        .====...====...",
                      "op 1 g:        ...====........",
                      "launch 1 l:    .abcd...efgh...",
                      "compute 7 x:   .......ABCDEFGH", NULL);
    const tl_pattern_row *r = rows_of(d, 1);
    CU_ASSERT_TRUE(is_named(d, r->operator, "f"));
    CU_ASSERT_EQUAL(r->count, 2);
    CU_ASSERT_EQUAL(r->kernels, 4);
    drawing_free(d);
    d = draw("op 1 f:        .===....===....", "op 1 g: ...====........", "launch 1 l:    .abcd...efg....",
             "compute 7 x:   .......ABCDEFG.", NULL);
    CU_ASSERT_EQUAL(rows_of(d, 1)->kernels, 3);
    drawing_free(d);
}

/* ---- many ---- */

typedef struct many {
    tl_rank_view view;
    tl_names names;
    tl_tables out;
    tl_kernel *kernels;
    tl_launch *launches;
    int64_t *start_ns, *dur_ns;
    uint32_t *name;
    uint8_t *kind;
    tl_thread thread;
} many;

static void *room(size_t n, size_t size)
{
    void *p = calloc(n, size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    return p;
}

/* nlaunches launches, a nanosecond each, with `each` kernels of as many names; nops operators, which the caller places. */
static void make_many(many *m, size_t nlaunches, size_t each, size_t nops)
{
    char text[32];

    *m = (many){ .thread = { 0, 0, nops } };
    for (size_t i = 0; i < each + 300; i++)
        (void)tl_names_intern(&m->names, text, (size_t)snprintf(text, sizeof text, "k%zu", i));
    m->kernels = room(nlaunches * each, sizeof *m->kernels);
    m->launches = room(nlaunches, sizeof *m->launches);
    for (size_t i = 0; i < nlaunches; i++) {
        m->launches[i] = (tl_launch){ .start_ns = (int64_t)i, .end_ns = (int64_t)i + 1, .nkernels = (uint32_t)each };
        for (size_t k = 0; k < each; k++)
            m->kernels[i * each + k] = (tl_kernel){ .start_ns = (int64_t)i, .end_ns = (int64_t)i + 1, .launch = (uint32_t)i, .name = (uint32_t)k };
    }
    m->start_ns = room(nops, sizeof *m->start_ns);
    m->dur_ns = room(nops, sizeof *m->dur_ns);
    m->name = room(nops, sizeof *m->name);
    m->kind = room(nops, sizeof *m->kind);
    size_t nschemas = 1;
    static const tl_schema *const schemas[] = { &tl_pattern_row_schema };
    tl_tables_init(&m->out, schemas, nschemas);
    m->out.names = &m->names;
    m->view = (tl_rank_view){ .kernels = m->kernels, .nkernels = nlaunches * each, .launches = m->launches, .nlaunches = nlaunches,
                              .names = &m->names,
                              .ops = { .start_ns = m->start_ns, .dur_ns = m->dur_ns, .name = m->name, .kind = m->kind, .n = nops,
                                       .threads = &m->thread, .nthreads = 1 } };
}

static const tl_table *table_of(many *m)
{
    tl_pattern_analysis.per_rank(&m->view, &config, &m->out);
    return tl_tables_get(&m->out, &tl_pattern_row_schema);
}

static void free_many(many *m)
{
    void *all[] = { m->kernels, m->launches, m->start_ns, m->dur_ns, m->name, m->kind };
    for (size_t i = 0; i < COUNT(all); i++)
        free(all[i]);
    tl_names_free(&m->names);
    tl_tables_free(&m->out);
}

/* Each holds all launches but those before it. */
static void a_deep_nest_takes_no_longer_than_a_flat_one(void)
{
    enum { DEEP = 300000 };
    many m;
    make_many(&m, DEEP, 1, DEEP);
    for (size_t i = 0; i < DEEP; i++) {
        m.start_ns[i] = (int64_t)i;
        m.dur_ns[i] = (int64_t)(DEEP - i);
    }
    CU_ASSERT_EQUAL(table_of(&m)->n, 0); /* no two are equally long */
    free_many(&m);
}

static void long_sequences_are_told_in_short(void)
{
    enum { LONG = 500000 };
    many m;
    make_many(&m, 2, LONG, 2);
    m.start_ns[1] = 1;
    m.dur_ns[0] = m.dur_ns[1] = 1;
    const tl_table *table = table_of(&m);
    CU_ASSERT_EQUAL_FATAL(table->n, 1);
    const tl_pattern_row *r = tl_table_row(table, 0);
    tl_text words = tl_names_text(&m.names, r->sequence);
    CU_ASSERT_EQUAL(r->kernels, LONG);
    CU_ASSERT(words.n < 300);
    CU_ASSERT_TRUE(tl_text_starts(words, "k0 | k1 | k2 | "));
    CU_ASSERT_TRUE(tl_text_has(words, "... 4999") && tl_text_has(words, " more"));
    free_many(&m);
}

/* 206 operators launch k0 k1 k2, each twice: of so many names that each has a row. */
static void every_operator_has_a_row(void)
{
    many m;
    make_many(&m, 412, 3, 412);
    for (size_t i = 0; i < 412; i++) {
        m.start_ns[i] = (int64_t)i;
        m.dur_ns[i] = 1;
        m.name[i] = (uint32_t)(i % 206);
    }
    const tl_table *table = table_of(&m);
    CU_ASSERT_EQUAL_FATAL(table->n, 206);
    const tl_pattern_row *r = tl_table_row(table, 0);
    CU_ASSERT_EQUAL(r[0].patterns, 206);
    CU_ASSERT_EQUAL(r[0].count, 2);
    CU_ASSERT_EQUAL(r[205].place, 206);
    free_many(&m);
}

/* Of one operator with 120 sequences the first 100 have a row, and the 121st, which is another's. */
static void of_one_operator_a_hundred_have_rows(void)
{
    many m;
    make_many(&m, 242, 3, 242);
    for (size_t i = 0; i < 242; i++) {
        m.start_ns[i] = (int64_t)i;
        m.dur_ns[i] = 1;
        m.name[i] = i % 121 == 120;
        m.kernels[3 * i].name = (uint32_t)(i % 121);
    }
    const tl_table *table = table_of(&m);
    CU_ASSERT_EQUAL_FATAL(table->n, 101);
    const tl_pattern_row *r = tl_table_row(table, 0);
    CU_ASSERT_EQUAL(r[0].patterns, 121);
    CU_ASSERT_EQUAL(r[99].place, 100);
    CU_ASSERT_EQUAL(r[100].place, 121);
    free_many(&m);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_comes_again_is_one_row),
        TEST(what_differs_in_one_kernel_comes_once),
        TEST(an_operator_around_it_with_nothing_more_has_a_row_of_its_own),
        TEST(one_inside_another_of_its_name_counts_with_it),
        TEST(a_graph_launch_is_a_sequence),
        TEST(what_other_threads_launch_is_not_under_it),
        TEST(from_its_start_to_its_end),
        TEST(a_deep_nest_takes_no_longer_than_a_flat_one),
        TEST(long_sequences_are_told_in_short),
        TEST(every_operator_has_a_row),
        TEST(of_one_operator_a_hundred_have_rows),
    };
    return unit_main("pattern", tests, COUNT(tests));
}
