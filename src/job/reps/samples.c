/* samples.c - what one proc has found, as bytes for another; the repetitions of all traces to the tables that are printed. */
#include "samples.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

void tl_sample_put(tl_bytes *out, const tl_sample *sample, const tl_names *names)
{
    const tl_repetition_set *r = &sample->repetitions;
    tl_bytes_put(out, sample, sizeof *sample);
    tl_bytes_put_list(out, r->v.v, r->v.n, sizeof *r->v.v);
    tl_bytes_put_list(out, r->shares.v, r->shares.n, sizeof *r->shares.v);
    for (size_t i = 0; i < r->shares.n; i++) {
        tl_text name = tl_names_text(names, r->shares.v[i].name);
        tl_bytes_put_list(out, name.p, name.n, 1);
    }
}

static void take_sample(tl_bytes *in, tl_names *names, tl_sample *sample)
{
    tl_repetition_set *r = &sample->repetitions;
    tl_bytes_get(in, sample, sizeof *sample);
    memset(&r->v, 0, sizeof r->v);
    memset(&r->shares, 0, sizeof r->shares);
    tl_bytes_get_list(in, (void **)&r->v.v, &r->v.n, sizeof *r->v.v);
    tl_bytes_get_list(in, (void **)&r->shares.v, &r->shares.n, sizeof *r->shares.v);
    for (size_t i = 0; i < r->shares.n; i++) { /* a name is an id of its proc until here */
        char *text = NULL;
        size_t n = 0;
        tl_bytes_get_list(in, (void **)&text, &n, 1);
        r->shares.v[i].name = tl_names_intern(names, text, n);
        free(text);
    }
}

static int by_item(const void *a, const void *b)
{
    return TL_ORDER((const tl_sample *)a, (const tl_sample *)b, item);
}

/* Traces are counted in each variant. */
static void number(tl_samples *samples)
{
    int32_t nvariants = 0;
    for (size_t i = 0; i < samples->v.n; i++)
        nvariants = samples->v.v[i].variant >= nvariants ? samples->v.v[i].variant + 1 : nvariants;
    int32_t *ntraces = tl_calloc((size_t)nvariants + 1, sizeof *ntraces);

    for (size_t i = 0; i < samples->v.n; i++) {
        tl_sample *s = &samples->v.v[i];
        s->trace = s->status == TL_OK ? ntraces[s->variant]++ : -1;
        for (size_t k = 0; k < s->repetitions.v.n; k++) {
            s->repetitions.v.v[k].variant = s->variant;
            s->repetitions.v.v[k].trace = s->trace;
        }
    }
    samples->nvariants = nvariants;
    free(ntraces);
}

void tl_samples_take(tl_bytes *in, tl_samples *out)
{
    while (in->at < in->n) {
        tl_vec_room(&out->v);
        out->v.v[out->v.n] = (tl_sample){ 0 };
        take_sample(in, &out->names, &out->v.v[out->v.n++]);
    }
    tl_vec_sort(&out->v, by_item);
    number(out);
}

void tl_samples_free(tl_samples *samples)
{
    for (size_t i = 0; i < samples->v.n; i++)
        tl_repetition_set_free(&samples->v.v[i].repetitions);
    free(samples->v.v);
    tl_names_free(&samples->names);
}

/* ---- tables ---- */

TL_TABLE_DEFINE_AS(repetition_work, "rep_work", TL_REPETITION_WORK_FIELDS, TL_SCOPE_JOB, "work in repetitions",
                   "Which kernels take the time of a repetition?");

void tl_samples_each(const tl_samples *samples, tl_table *out)
{
    for (size_t i = 0; i < samples->v.n; i++)
        tl_table_append(out, samples->v.v[i].repetitions.v.v, samples->v.v[i].repetitions.v.n);
    tl_table_sort(out);
}

/* A variant: each measure of its n repetitions, in order. */
typedef struct measured {
    int64_t *v[TL_NREPETITION_MEASURES]; /* one piece */
    size_t n, nempty;
} measured;

/* The caller frees v[0]. */
static void measure(const tl_samples *samples, int32_t variant, measured *out)
{
    size_t most = 0;
    for (size_t i = 0; i < samples->v.n; i++)
        most += samples->v.v[i].variant == variant ? samples->v.v[i].repetitions.v.n : 0;
    *out = (measured){ .v[0] = tl_malloc((most + 1) * TL_NREPETITION_MEASURES * sizeof *out->v[0]) };
    for (int m = 0; m < TL_NREPETITION_MEASURES; m++) {
        out->v[m] = out->v[0] + (size_t)m * most;
        out->n = out->nempty = 0;
        for (size_t i = 0; i < samples->v.n; i++)
            for (size_t k = 0; samples->v.v[i].variant == variant && k < samples->v.v[i].repetitions.v.n; k++) {
                const tl_repetition *r = &samples->v.v[i].repetitions.v.v[k];
                out->v[m][out->n++] = tl_repetition_value(r, (tl_repetition_measure)m);
                out->nempty += r->works == 0;
            }
        if (out->n > 1)
            tl_ns_sort(out->v[m], out->n);
    }
}

void tl_samples_summarise(const tl_samples *samples, tl_table *out)
{
    for (int32_t v = 0; v < samples->nvariants; v++) {
        measured of;
        measure(samples, v, &of);
        for (int m = 0; of.n > 0 && m < TL_NREPETITION_MEASURES; m++) {
            tl_repetition_stat *row = tl_table_add(out);
            tl_repetition_summarise(of.v[m], of.n, row);
            row->variant = v;
            row->measure = (uint8_t)m;
            row->empty = (int64_t)of.nempty;
        }
        free(of.v[0]);
    }
}

void tl_samples_compare(const tl_samples *samples, tl_table *out)
{
    measured base;
    measure(samples, 0, &base);
    for (int32_t v = 1; v < samples->nvariants; v++) {
        measured of;
        measure(samples, v, &of);
        for (int m = 0; of.n > 0 && base.n > 0 && m < TL_NREPETITION_MEASURES; m++) {
            tl_repetition_compare *row = tl_table_add(out);
            tl_repetition_compare_with(of.v[m], of.n, base.v[m], base.n, row);
            row->variant = v;
            row->measure = (uint8_t)m;
        }
        free(of.v[0]);
    }
    free(base.v[0]);
}

/* ---- kernels ---- */

/* A share, and whose. */
typedef struct owned_share {
    int32_t variant;
    const tl_repetition_share *share;
} owned_share;

static int by_name(const void *a, const void *b)
{
    return TL_ORDER((const owned_share *)a, (const owned_share *)b, variant, share->name, share->total_ns);
}

/* Returns the median of `all` numbers: n > 0 ascending ones in v, and zeros. */
static double median_with_zeros(const int64_t *v, size_t n, size_t all)
{
    size_t zeros = all - n, low = tl_lower_middle(all), high = tl_upper_middle(all);
    double a = low < zeros ? 0 : (double)v[low - zeros], b = high < zeros ? 0 : (double)v[high - zeros];
    return (a + b) / 2;
}

/* Adds the row of one name in one variant: from n > 0 shares, over `all` repetitions. */
static void add_work(const tl_samples *samples, const owned_share *v, size_t n, size_t all, tl_table *out)
{
    int64_t *ns = tl_malloc(2 * n * sizeof *ns), *counts = ns + n;
    tl_repetition_work *row = tl_table_add(out);
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        ns[i] = v[i].share->total_ns;
        counts[i] = v[i].share->count;
        total = tl_ns_add(total, ns[i]);
    }
    tl_ns_sort(counts, n);
    row->variant = v[0].variant;
    row->kind = v[0].share->kind;
    row->reps = (int64_t)n;
    row->count = median_with_zeros(counts, n, all);
    row->median_ns = median_with_zeros(ns, n, all);
    row->mean_ns = (double)total / (double)all;
    row->max_ns = ns[n - 1];
    tl_cell_put(row->name, sizeof row->name, tl_names_text(&samples->names, v[0].share->name));
    free(ns);
}

static int by_median(const void *a, const void *b)
{
    const tl_repetition_work *x = a, *y = b;
    int order = TL_COMPARE(x->variant, y->variant);
    order = order != 0 ? order : TL_COMPARE(y->median_ns, x->median_ns);
    order = order != 0 ? order : TL_COMPARE(y->mean_ns, x->mean_ns);
    return order != 0 ? order : memcmp(x->name, y->name, sizeof x->name);
}

void tl_samples_works(const tl_samples *samples, tl_table *out)
{
    TL_VEC(owned_share) all = { 0 };
    TL_EACH (const tl_sample, s, samples->v)
        TL_EACH (const tl_repetition_share, share, s->repetitions.shares)
            tl_vec_push(&all, (owned_share){ s->variant, share });
    tl_vec_sort(&all, by_name);
    for (size_t from = 0, to; from < all.n; from = to) {
        const owned_share *v = all.v + from;
        size_t nrepetitions = 0;
        for (to = from; to < all.n && TL_ORDER(&all.v[to], v, variant, share->name) == 0; to++)
            ;
        TL_EACH (const tl_sample, s, samples->v)
            nrepetitions += s->variant == v->variant ? s->repetitions.v.n : 0;
        add_work(samples, v, to - from, nrepetitions, out);
    }
    free(all.v);
    if (out->n > 1)
        qsort(out->rows, out->n, sizeof(tl_repetition_work), by_median);
    for (size_t i = 0; i < out->n; i++) {
        tl_repetition_work *row = tl_table_row(out, i);
        row->place = i > 0 && row[-1].variant == row->variant ? row[-1].place + 1 : 1;
    }
}
