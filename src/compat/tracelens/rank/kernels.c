/* kernels.c - kernels by operator and name, and the short ones among them. */
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/tracelens/rank.h"

#define SHORT_US 10.0
#define NBINS    100

/* Where a kernel comes from. */
enum { FROM_NOWHERE, FROM_OP, FROM_GRAPH, FROM_RUNTIME };
static const char *const source_words[] = { "", "", "graph", "runtime" };

/* What kernels are grouped by; a part that is no column of a table is the same for all its rows. */
typedef struct kernel {
    uint32_t source;
    uint32_t parent; /* names id of the operator or of the launch; TL_NO_NAME: none */
    uint32_t dims, strides, inputs;
    uint32_t name;
    int64_t stream; /* TL_LANE_ABSENT: none */
    uint32_t event; /* in file order */
    double us;
} kernel;

typedef struct row {
    const kernel *first;
    tl_group_stats durs;
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

static bool is_kernel(const tl_lens *lens, uint32_t i)
{
    return lens->set[i] == TL_LENS_KERNEL && tl_lens_is_gpu(lens, i);
}

static int by_key(const void *context, uint32_t a, uint32_t b)
{
    const kernel *x = (const kernel *)context + a, *y = (const kernel *)context + b;
    return TL_ORDER(x, y, source, parent, dims, strides, inputs, name, stream);
}

static int largest_first(const void *a, const void *b)
{
    const row *x = a, *y = b;
    return x->durs.sum != y->durs.sum ? TL_COMPARE(y->durs.sum, x->durs.sum)
                                      : TL_COMPARE(x->first->event, y->first->event);
}

/* The durations of a group are added in file order. */
static void make_rows(summing *s)
{
    const kernel *v = s->kernels.v;
    const size_t n = s->kernels.n;
    uint32_t *order = tl_sorted_index(n, by_key, v);

    s->rows.n = 0;
    TL_GROUPS (from, to, order, n, by_key, v) {
        tl_vec_push(&s->rows, (row){ &v[order[from]], TL_STATS(order + from, to - from, v, us) });
    }
    free(order);
    if (s->rows.n > 0)
        qsort(s->rows.v, s->rows.n, sizeof *s->rows.v, largest_first);
}

/* ----------------------------------------------------------------------------------------------------- all kernels */

static void take_all(summing *s)
{
    const tl_events *e = s->lens->e;

    s->whole = true;
    for (uint32_t i = 0; i < e->n; i++) {
        if (!is_kernel(s->lens, i))
            continue;
        uint32_t launch = s->lens->launch[i], op = launch != TL_NONE ? s->op[launch] : TL_NONE;
        s->whole = s->whole && tl_lens_whole(s->lens, i, TL_MORE_WHOLE_DUR);
        s->has_ops |= op != TL_NONE;
        kernel k = {
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
            .us = tl_lens_dur(s->lens, i),
        };
        tl_vec_push(&s->kernels, k);
    }
    for (size_t i = 0; i < s->kernels.n && !s->has_ops; i++)
        s->kernels.v[i].parent = TL_NO_NAME;
}

static tl_cell name_cell(const summing *s, uint32_t name)
{
    return tl_string(tl_names_text(&s->lens->e->names, name));
}

#define US "(\302\265s)"

static void write_summary(summing *s, tl_csv_folder *folder)
{
    take_all(s);
    make_rows(s);
    if (s->rows.n == 0)
        return;
    double all = TL_SUM(NULL, s->kernels.n, s->kernels.v, us); /* in file order */
    tl_csv csv = tl_csv_open(folder, "kernel_summary.csv", NULL);
    tl_csv_head(&csv, s->has_ops ? "Parent op category,Parent cpu_op" : "Parent op category");
    tl_csv_head(&csv, "Kernel name,Kernel stream,Kernel duration " US "_sum,Kernel duration " US "_count,"
                      "Kernel duration " US "_mean,Kernel duration " US "_min,Kernel duration " US "_max,"
                      "Percent of kernels time (%),Percent of total time (%)");
    tl_csv_end_head(&csv);
    TL_EACH (const row, r, s->rows) {
        TL_CELLS(&csv, source_words[r->first->source]);
        if (s->has_ops)
            TL_CELLS(&csv, name_cell(s, r->first->parent));
        TL_ROW(&csv, name_cell(s, r->first->name),
               r->first->stream != TL_LANE_ABSENT ? tl_int(r->first->stream) : tl_blank(),
               tl_number(r->durs.sum, s->whole), r->durs.n, r->durs.mean, tl_number(r->durs.min, s->whole),
               tl_number(r->durs.max, s->whole), r->durs.sum / all * 100, r->durs.sum / s->total * 100);
    }
    tl_csv_close(&csv);
}

/* --------------------------------------------------------------------------------------------------- short kernels */

static bool is_short(const tl_lens *lens, uint32_t i)
{
    return is_kernel(lens, i) && tl_lens_dur(lens, i) < SHORT_US;
}

/* Numpy's bins: equal ones over the range, or over a range of 1 around the only value; each holds its lower edge, the
 * last its upper one, too. */
static void write_histogram(const tl_lens *lens, tl_csv_folder *folder)
{
    double min = INFINITY, max = -INFINITY, edge[NBINS + 1];
    int64_t count[NBINS] = { 0 };

    for (uint32_t i = 0; i < lens->e->n; i++)
        if (is_short(lens, i)) {
            min = fmin(min, tl_lens_dur(lens, i));
            max = fmax(max, tl_lens_dur(lens, i));
        }
    if (min > max)
        return;
    if (min == max) {
        min -= 0.5;
        max += 0.5;
    }
    for (int i = 0; i < NBINS; i++)
        edge[i] = i * ((max - min) / NBINS) + min;
    edge[NBINS] = max;
    for (uint32_t i = 0; i < lens->e->n; i++)
        if (is_short(lens, i)) {
            size_t bin = 1; /* the last one whose lower edge is not above the duration */
            TL_BISECT(bin, NBINS, mid, edge[mid] <= tl_lens_dur(lens, i));
            count[bin - 1]++;
        }

    tl_csv csv = tl_csv_open(folder, "short_kernel_histogram.csv", "bin_start,bin_end,count");
    for (int i = 0; i < NBINS; i++)
        TL_ROW(&csv, edge[i], edge[i + 1], count[i]);
    tl_csv_close(&csv);
}

/* Takes short kernels: by name alone where no kernel has an operator; else kernels of an operator with recorded
 * arguments. */
static void take_short(summing *s)
{
    const tl_events *e = s->lens->e;

    s->kernels.n = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        kernel k = { .source = FROM_OP, .name = e->name[i], .event = i, .us = tl_lens_dur(s->lens, i) };
        if (!is_short(s->lens, i))
            continue;
        if (s->has_ops) {
            uint32_t launch = s->lens->launch[i], op = launch != TL_NONE ? s->op[launch] : TL_NONE;
            if (op == TL_NONE)
                continue;
            const tl_more *more = &s->lens->words->more[op];
            k.parent = e->name[op];
            k.dims = more->input_dims;
            k.strides = more->input_strides;
            k.inputs = more->concrete_inputs;
            if (k.dims == TL_NO_NAME || k.strides == TL_NO_NAME || k.inputs == TL_NO_NAME)
                continue;
        }
        tl_vec_push(&s->kernels, k);
    }
}

static void put_tuple(tl_csv *csv, const summing *s, uint32_t json)
{
    tl_bytes text = { 0 };
    tl_python_tuple(tl_names_text(&s->lens->e->names, json), &text);
    TL_CELLS(csv, &text);
    tl_bytes_free(&text);
}

static void write_short(summing *s, tl_csv_folder *folder)
{
    take_short(s);
    make_rows(s);
    if (s->rows.n == 0)
        return;
    tl_csv csv = tl_csv_open(folder, "short_kernels_summary.csv", NULL);
    if (s->has_ops)
        tl_csv_head(&csv, "Parent cpu_op,Input dims,Input strides,Concrete Inputs");
    tl_csv_head(&csv, "Kernel name,Short Kernel duration " US " sum,Short Kernel count,"
                      "Short Kernel duration " US " mean,Short Kernel duration " US " percent of total time");
    tl_csv_end_head(&csv);
    csv.as_is = true;
    TL_EACH (const row, r, s->rows) {
        if (s->has_ops) {
            TL_CELLS(&csv, name_cell(s, r->first->parent));
            put_tuple(&csv, s, r->first->dims);
            put_tuple(&csv, s, r->first->strides);
            put_tuple(&csv, s, r->first->inputs);
        }
        TL_ROW(&csv, name_cell(s, r->first->name), tl_number(r->durs.sum, s->whole), r->durs.n, r->durs.mean,
               r->durs.sum / s->total * 100);
    }
    tl_csv_close(&csv);
}

void tl_lens_write_kernels(const tl_lens *lens, double total, tl_csv_folder *folder)
{
    summing s = { .lens = lens, .op = tl_lens_parent_ops(lens), .total = total };

    write_summary(&s, folder);
    write_histogram(lens, folder);
    write_short(&s, folder);
    free(s.op);
    free(s.kernels.v);
    free(s.rows.v);
}
