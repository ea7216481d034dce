/* test_idle_annotations.c - in which annotations the gaps of a class were: of drawn timelines, and over ranks. */
#include "idle_drawn.h"
#include <stdlib.h>

static const tl_idle_summary *summary_row(const tl_table *t, int place)
{
    static const tl_idle_summary none = { .rank = -9 };
    for (size_t i = 0; i < t->n; i++) {
        const tl_idle_summary *r = tl_table_row(t, i);
        if (r->device == -1 && r->place == place)
            return r;
    }
    CU_FAIL("there is no such row");
    return &none;
}

/* The longest gap lies in a, most of the time of its class in b, and 3 us of the last gap in neither. */
static drawing *two_annotations(void)
{
    return draw("compute 7:      AA..........BB........CC........DD", "op 1 aten::mm:  ..==========..========..========",
                "mark 1 a:       ..==========", "mark 1 b:       ..............========..=====", NULL);
}

static void a_class_is_in_the_annotation_of_most_of_its_time(void)
{
    drawing *d = two_annotations();
    CU_ASSERT_EQUAL(run(d, &tl_config_default), 3);
    const tl_table *t = tl_tables_get(&d->out, &tl_idle_annotation_schema);
    const tl_idle_summary *r = summary_row(tl_tables_get(&d->out, &tl_idle_summary_schema), 1);
    CU_ASSERT_EQUAL(r->total_ns, 26 * US);
    CU_ASSERT_EQUAL(r->longest_id, 0);
    CU_ASSERT_STRING_EQUAL(text(d, r->annotation), "b");
    CU_ASSERT_EQUAL(r->annotation_ns, 13 * US);
    CU_ASSERT_EQUAL_FATAL(t->n, 2);
    const tl_idle_annotation *b = tl_table_row(t, 0), *a = tl_table_row(t, 1);
    CU_ASSERT_EQUAL(b->place, 1);
    CU_ASSERT_EQUAL(b->number, 1);
    CU_ASSERT_EQUAL(b->total_ns, 13 * US);
    CU_ASSERT_EQUAL(a->number, 2);
    CU_ASSERT_STRING_EQUAL(text(d, a->annotation), "a");
    CU_ASSERT_EQUAL(a->total_ns, 10 * US);
    drawing_free(d);
    d = draw("steps:          4444444444444", "compute 7:      AA........BB", "op 1 aten::mm:  ..========", NULL);
    run(d, &tl_config_default);
    CU_ASSERT_EQUAL(summary_row(tl_tables_get(&d->out, &tl_idle_summary_schema), 1)->annotation, TL_NO_NAME);
    CU_ASSERT_EQUAL(tl_tables_get(&d->out, &tl_idle_annotation_schema)->n, 0);
    drawing_free(d);
}

/* On the worst rank it is another one. */
static void the_job_is_in_the_annotation_of_most_of_all_ranks(void)
{
    static const char *const marks[] = { "mark 1 a: ..==========", "mark 1 b: ..======", "mark 1 b: ..=======" };
    static const char *const device[] = { "compute 7: AA..........BB", "compute 7: AA......BB",
                                          "compute 7: AA.......BB" };
    drawing *job = draw("compute 7: .", NULL);
    uint32_t number[] = { 1, 0 }; /* of a and b in /names */
    for (int rank = 0; rank < 3; rank++) {
        drawing *d = draw(marks[rank], device[rank], "op 1 aten::mm: ..==========", NULL);
        d->view.rank = rank;
        run(d, &tl_config_default);
        tl_table *t = tl_tables_get(&d->out, &tl_idle_annotation_schema);
        for (size_t i = 0; i < t->n; i++)
            ((tl_idle_annotation *)tl_table_row(t, i))->annotation = number[rank > 0];
        for (size_t k = 0; k < d->out.n; k++)
            tl_table_append(&job->out.v[k], d->out.v[k].rows, d->out.v[k].n);
        drawing_free(d);
    }
    tl_idle_analysis.reduce(&job->out);
    const tl_idle_summary *mm = summary_row(tl_tables_get(&job->out, &tl_idle_summary_schema), 1);
    CU_ASSERT_EQUAL(mm->rank, -1);
    CU_ASSERT_EQUAL(mm->total_ns, 23 * US);
    CU_ASSERT_EQUAL(mm->worst_rank, 0);
    CU_ASSERT_EQUAL(mm->annotation, 0);
    CU_ASSERT_EQUAL(mm->annotation_ns, 13 * US);
    drawing_free(job);
}

/* Each gap in an annotation of its own, of which the later is the longer: as many are listed as there is room for. */
static void many_annotations_are_cut_off(void)
{
    enum { GAPS = 150 };
    tl_kernel *kernels = calloc(GAPS + 1, sizeof *kernels);
    int64_t *start = calloc(GAPS, sizeof *start), *dur = calloc(GAPS, sizeof *dur);
    uint32_t *name = calloc(GAPS, sizeof *name);
    uint8_t *kind = calloc(GAPS, 1);
    tl_thread thread = { 0, 0, GAPS };
    drawing *d = draw("compute 7: .", NULL);

    for (uint32_t i = 0; i <= GAPS; i++)
        kernels[i] = (tl_kernel){ .start_ns = i * 1000 * US,
                                  .end_ns = i * 1000 * US + US,
                                  .launch = TL_NONE,
                                  .uid = i,
                                  .launch_ns = TL_TIME_UNKNOWN };
    for (uint32_t i = 0; i < GAPS; i++) {
        char text_of_mark[16];
        int n = snprintf(text_of_mark, sizeof text_of_mark, "mark%u", i);
        name[i] = tl_names_intern(&d->names, text_of_mark, (size_t)n);
        start[i] = (i * 1000 + 1) * US;
        dur[i] = (i + 1) * US;
        kind[i] = TL_ANNOTATION;
    }
    d->view.kernels = kernels;
    d->view.nkernels = GAPS + 1;
    d->view.ops = (tl_ops){ start, dur, name, name, kind, GAPS, &thread, 1 };
    CU_ASSERT_EQUAL(run(d, &tl_config_default), GAPS);
    const tl_table *t = tl_tables_get(&d->out, &tl_idle_annotation_schema);
    CU_ASSERT_EQUAL_FATAL(t->n, TL_IDLE_ANNOTATIONS_OF_CLASS);
    const tl_idle_annotation *first = tl_table_row(t, 0), *last = tl_table_row(t, t->n - 1);
    CU_ASSERT_STRING_EQUAL(text(d, first->annotation), "mark149");
    CU_ASSERT_EQUAL(first->total_ns, GAPS * US);
    CU_ASSERT_STRING_EQUAL(text(d, last->annotation), "mark50");
    drawing_free(d);
    free(kernels);
    free(start);
    free(dur);
    free(name);
    free(kind);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_class_is_in_the_annotation_of_most_of_its_time),
        TEST(the_job_is_in_the_annotation_of_most_of_all_ranks),
        TEST(many_annotations_are_cut_off),
    };
    return unit_main("annotations of idle time", tests, COUNT(tests));
}
