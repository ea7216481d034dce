/* kernels.c - kernels by operator and name, and the short ones among them. */
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/sheet.h"
#include "tlmpi/compat/tracelens/rank.h"
#include <stdlib.h>

#define SHORT_US 10.0
#define NBINS    100

/* Where a kernel comes from. */
enum { FROM_NOWHERE, FROM_OP, FROM_GRAPH, FROM_RUNTIME };
static const char *const source_words[] = { "", "", "graph", "runtime" };

/* What kernels are grouped by; in a table of which a part is no column it is the same for all. */
typedef struct kernel {
    uint32_t source;
    uint32_t parent; /* names id of the operator or of the launch; TL_NO_NAME: none */
    uint32_t dims, strides, inputs;
    uint32_t name;
    int64_t stream; /* TL_LANE_ABSENT: none */
    uint32_t event; /* in file order */
} kernel;

typedef struct row {
    const kernel *first;
    size_t n;
    double sum, min, max;
    double lost; /* what the last addition to the sum lost: it is carried to the next, as pandas does */
} row;

typedef struct summing {
    const tl_lens *lens;
    uint32_t *op; /* tl_lens_parent_ops */
    TL_VEC(kernel) kernels;
    TL_VEC(row) rows; /* largest sum first */
    double total;
    bool has_ops; /* a kernel has an operator: only then are there columns of operators */
    bool whole;   /* all durations are integers */
} summing;

static double dur_of(const summing *s, const kernel *k)
{
    return tl_lens_dur(s->lens, k->event);
}

static bool is_kernel(const tl_lens *lens, uint32_t i)
{
    return lens->set[i] == TL_LENS_KERNEL && tl_lens_is_gpu(lens, i);
}

/* Events of one group stay in file order. */
static int by_key(const void *a, const void *b)
{
    const kernel *x = a, *y = b;
    int order = TL_COMPARE(x->source, y->source);
    order = order != 0 ? order : TL_COMPARE(x->parent, y->parent);
    order = order != 0 ? order : TL_COMPARE(x->dims, y->dims);
    order = order != 0 ? order : TL_COMPARE(x->strides, y->strides);
    order = order != 0 ? order : TL_COMPARE(x->inputs, y->inputs);
    order = order != 0 ? order : TL_COMPARE(x->name, y->name);
    order = order != 0 ? order : TL_COMPARE(x->stream, y->stream);
    return order != 0 ? order : TL_COMPARE(x->event, y->event);
}

static bool are_alike(const kernel *x, const kernel *y)
{
    return x->source == y->source && x->parent == y->parent && x->dims == y->dims && x->strides == y->strides &&
           x->inputs == y->inputs && x->name == y->name && x->stream == y->stream;
}

static int largest_first(const void *a, const void *b)
{
    const row *x = a, *y = b;
    return x->sum != y->sum ? TL_COMPARE(y->sum, x->sum) : TL_COMPARE(x->first->event, y->first->event);
}

static bool make_rows(summing *s)
{
    const kernel *v = s->kernels.v;

    s->rows.n = 0;
    if (s->kernels.n == 0)
        return true;
    qsort(s->kernels.v, s->kernels.n, sizeof *s->kernels.v, by_key);
    for (size_t i = 0; i < s->kernels.n; i++) {
        double dur = dur_of(s, &v[i]);
        if (i == 0 || !are_alike(&v[i - 1], &v[i])) {
            if (!tl_vec_room(&s->rows))
                return false;
            s->rows.v[s->rows.n++] = (row){ .first = &v[i], .min = dur, .max = dur };
        }
        row *r = &s->rows.v[s->rows.n - 1];
        r->n++;
        double y = dur - r->lost, t = r->sum + y;
        r->lost = t - r->sum - y;
        r->sum = t;
        r->min = fmin(r->min, dur);
        r->max = fmax(r->max, dur);
    }
    qsort(s->rows.v, s->rows.n, sizeof *s->rows.v, largest_first);
    return true;
}

/* ----------------------------------------------------------------------------------------------------- all kernels */

static bool take_all(summing *s)
{
    const tl_events *e = s->lens->e;

    s->kernels.n = 0;
    s->whole = true;
    for (uint32_t i = 0; i < e->n; i++) {
        if (!is_kernel(s->lens, i))
            continue;
        uint32_t launch = s->lens->launch[i], op = launch != TL_NONE ? s->op[launch] : TL_NONE;
        if (!tl_vec_room(&s->kernels))
            return false;
        s->whole = s->whole && tl_lens_whole(s->lens, i, TL_MORE_WHOLE_DUR);
        s->kernels.v[s->kernels.n++] = (kernel){
            .source = op != TL_NONE                                        ? FROM_OP
                      : launch == TL_NONE                                  ? FROM_NOWHERE
                      : tl_lens_says(s->lens, launch) & TL_LENS_SAYS_GRAPH ? FROM_GRAPH
                                                                           : FROM_RUNTIME,
            .parent = op != TL_NONE       ? e->name[op]
                      : launch != TL_NONE ? e->name[launch]
                                          : TL_NO_NAME,
            .name = e->name[i],
            .stream = e->lanes.v[e->lane[i]].stream,
            .event = i,
        };
        s->has_ops |= op != TL_NONE;
    }
    for (size_t i = 0; i < s->kernels.n && !s->has_ops; i++)
        s->kernels.v[i].parent = TL_NO_NAME;
    return true;
}

/* The time of all kernels, in file order.  False: memory is out. */
static bool sum_all(const summing *s, double *all)
{
    double *durs = tl_malloc((s->kernels.n + 1) * sizeof *durs);
    if (durs == NULL)
        return false;

    for (size_t i = 0; i < s->kernels.n; i++)
        durs[i] = dur_of(s, &s->kernels.v[i]);
    *all = tl_numpy_sum(durs, s->kernels.n, 1);
    free(durs);
    return true;
}

static void put_name(tl_sheet *sheet, const summing *s, uint32_t name)
{
    tl_sheet_text(sheet, tl_names_text(&s->lens->e->names, name));
}

static void put_kernels(tl_sheet *sheet, const summing *s, double all)
{
    for (size_t i = 0; i < s->rows.n; i++) {
        const row *r = &s->rows.v[i];
        tl_sheet_words(sheet, source_words[r->first->source]);
        if (s->has_ops)
            put_name(sheet, s, r->first->parent);
        put_name(sheet, s, r->first->name);
        if (r->first->stream != TL_LANE_ABSENT)
            tl_sheet_int(sheet, r->first->stream);
        else
            tl_sheet_blank(sheet);
        tl_sheet_number(sheet, r->sum, s->whole);
        tl_sheet_int(sheet, (int64_t)r->n);
        tl_sheet_real(sheet, r->sum / (double)r->n);
        tl_sheet_number(sheet, r->min, s->whole);
        tl_sheet_number(sheet, r->max, s->whole);
        tl_sheet_real(sheet, r->sum / all * 100);
        tl_sheet_real(sheet, r->sum / s->total * 100);
        tl_sheet_end_row(sheet);
    }
}

#define US "(\302\265s)"

static tl_status write_summary(summing *s, const char *dir, tl_error *err)
{
    static const char with_ops[] = "Parent op category,Parent cpu_op,Kernel name,Kernel stream,";
    static const char without[] = "Parent op category,Kernel name,Kernel stream,";
    static const char numbers[] = "Kernel duration " US "_sum,Kernel duration " US "_count,Kernel duration " US "_mean,"
                                  "Kernel duration " US "_min,Kernel duration " US "_max,"
                                  "Percent of kernels time (%),Percent of total time (%)";
    char header[sizeof with_ops + sizeof numbers];
    double all = 0;
    tl_sheet sheet;

    if (!take_all(s) || !sum_all(s, &all) || !make_rows(s))
        return tl_fail_memory(err, "the kernels of a rank");
    if (s->rows.n == 0)
        return TL_OK;
    snprintf(header, sizeof header, "%s%s", s->has_ops ? with_ops : without, numbers);
    tl_status st = tl_sheet_open(&sheet, dir, "kernel_summary.csv", header, err);
    if (st != TL_OK)
        return st;
    tl_sheet_look(&sheet);
    put_kernels(&sheet, s, all);
    tl_sheet_write(&sheet);
    put_kernels(&sheet, s, all);
    return tl_sheet_close(&sheet, err);
}

/* --------------------------------------------------------------------------------------------------- short kernels */

/* Numpy's bins: equal ones over the range, or over a range of 1 around the only value; each holds its lower edge, the
 * last its upper one, too. */
static tl_status write_histogram(const summing *s, const char *dir, tl_error *err)
{
    double min = INFINITY, max = -INFINITY, edge[NBINS + 1];
    uint64_t count[NBINS] = { 0 };
    tl_sheet sheet;

    for (uint32_t i = 0; i < s->lens->e->n; i++) {
        double dur = tl_lens_dur(s->lens, i);
        if (is_kernel(s->lens, i) && dur < SHORT_US) {
            min = fmin(min, dur);
            max = fmax(max, dur);
        }
    }
    if (min > max)
        return TL_OK;
    if (min == max) {
        min -= 0.5;
        max += 0.5;
    }
    for (int i = 0; i < NBINS; i++)
        edge[i] = i * ((max - min) / NBINS) + min;
    edge[NBINS] = max;
    for (uint32_t i = 0; i < s->lens->e->n; i++) {
        double dur = tl_lens_dur(s->lens, i);
        if (!is_kernel(s->lens, i) || !(dur < SHORT_US))
            continue;
        int low = 0, high = NBINS - 1; /* the last bin whose lower edge is not above it */
        while (low < high) {
            int mid = low + (high - low + 1) / 2;
            if (edge[mid] <= dur)
                low = mid;
            else
                high = mid - 1;
        }
        count[low]++;
    }

    tl_status st = tl_sheet_open(&sheet, dir, "short_kernel_histogram.csv", "bin_start,bin_end,count", err);
    if (st != TL_OK)
        return st;
    for (int i = 0; i < NBINS; i++) {
        tl_sheet_real(&sheet, edge[i]);
        tl_sheet_real(&sheet, edge[i + 1]);
        tl_sheet_int(&sheet, (int64_t)count[i]);
        tl_sheet_end_row(&sheet);
    }
    return tl_sheet_close(&sheet, err);
}

/* Where no kernel has an operator, by name alone; else kernels of an operator whose arguments were recorded. */
static bool take_short(summing *s)
{
    const tl_events *e = s->lens->e;

    s->kernels.n = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        if (!is_kernel(s->lens, i) || !(tl_lens_dur(s->lens, i) < SHORT_US))
            continue;
        kernel k = { .source = FROM_OP, .name = e->name[i], .event = i };
        if (s->has_ops) {
            uint32_t launch = s->lens->launch[i], op = launch != TL_NONE ? s->op[launch] : TL_NONE;
            if (op == TL_NONE)
                continue;
            k.parent = e->name[op];
            const tl_more *more = &s->lens->words->more[op];
            k.dims = more->input_dims;
            k.strides = more->input_strides;
            k.inputs = more->concrete_inputs;
            if (k.dims == TL_NO_NAME || k.strides == TL_NO_NAME || k.inputs == TL_NO_NAME)
                continue;
        }
        if (!tl_vec_room(&s->kernels))
            return false;
        s->kernels.v[s->kernels.n++] = k;
    }
    return true;
}

static bool put_tuple(tl_sheet *sheet, const summing *s, uint32_t json, tl_bytes *text)
{
    text->n = 0;
    if (!tl_python_tuple(tl_names_text(&s->lens->e->names, json), text))
        return false;
    tl_sheet_text(sheet, (tl_text){ text->n > 0 ? text->v : "", text->n });
    return true;
}

static tl_status write_short(summing *s, const char *dir, tl_error *err)
{
    tl_bytes text = { 0 };
    tl_sheet sheet;
    bool whole = true;

    if (!take_short(s) || !make_rows(s))
        return tl_fail_memory(err, "the short kernels of a rank");
    if (s->rows.n == 0)
        return TL_OK;
#define NUMBERS                                                                                                        \
    "Kernel name,Short Kernel duration " US " sum,Short Kernel count,Short Kernel duration " US " mean,"               \
    "Short Kernel duration " US " percent of total time"
    tl_status st =
        tl_sheet_open(&sheet, dir, "short_kernels_summary.csv",
                      s->has_ops ? "Parent cpu_op,Input dims,Input strides,Concrete Inputs," NUMBERS : NUMBERS, err);
#undef NUMBERS
    if (st != TL_OK)
        return st;
    for (size_t i = 0; whole && i < s->rows.n; i++) {
        const row *r = &s->rows.v[i];
        if (s->has_ops) {
            put_name(&sheet, s, r->first->parent);
            whole = put_tuple(&sheet, s, r->first->dims, &text) && put_tuple(&sheet, s, r->first->strides, &text) &&
                    put_tuple(&sheet, s, r->first->inputs, &text);
        }
        put_name(&sheet, s, r->first->name);
        tl_sheet_number(&sheet, r->sum, s->whole);
        tl_sheet_int(&sheet, (int64_t)r->n);
        tl_sheet_real(&sheet, r->sum / (double)r->n);
        tl_sheet_real(&sheet, r->sum / s->total * 100);
        tl_sheet_end_row(&sheet);
    }
    free(text.v);
    if (!whole) {
        tl_sheet_abandon(&sheet);
        return tl_fail_memory(err, "a row of a table");
    }
    return tl_sheet_close(&sheet, err);
}

tl_status tl_lens_write_kernels(const tl_lens *lens, double total, const char *dir, tl_error *err)
{
    summing s = { .lens = lens, .op = tl_lens_parent_ops(lens), .total = total };
    if (s.op == NULL)
        return tl_fail_memory(err, "the call tree of a rank");

    tl_status st = write_summary(&s, dir, err);
    if (st == TL_OK)
        st = write_histogram(&s, dir, err);
    if (st == TL_OK)
        st = write_short(&s, dir, err);
    free(s.op);
    free(s.kernels.v);
    free(s.rows.v);
    return st;
}
