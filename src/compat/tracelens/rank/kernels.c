/* kernels.c - kernels by operator and name, and the short ones among them. */
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/tracelens/rank.h"

#define SHORT_US 10.0
#define NBINS    100

/* Where a kernel comes from. */
enum { FROM_NOWHERE, FROM_OP, FROM_GRAPH, FROM_RUNTIME };
static const char *const source_words[] = { "", "", "graph", "runtime" };

/* What kernels are grouped by, and their durations. */
typedef struct kernel {
    uint32_t source;
    uint32_t parent;                /* names id of the operator or of the launch; TL_NO_NAME: none */
    uint32_t dims, strides, inputs; /* of the operator; TL_NO_NAME: none */
    uint32_t name;
    int64_t stream; /* TL_LANE_ABSENT: none */
    double us;
} kernel;

TL_ORDER_BY(by_key, kernel, source, parent, name, stream)
TL_ORDER_BY(by_arguments, kernel, parent, dims, strides, inputs, name)

typedef struct summing {
    const tl_lens *lens;
    TL_VEC(kernel) kernels; /* in file order */
    double total;
    bool has_ops; /* a kernel has an operator: only then are there columns of operators */
    bool whole;   /* all durations are integers */
} summing;

static void take_kernels(summing *s)
{
    const tl_events *e = s->lens->e;
    uint32_t *parents = tl_lens_parent_ops(s->lens);

    s->whole = true;
    for (uint32_t i = 0; i < e->n; i++) {
        if (s->lens->set[i] != TL_LENS_KERNEL || !tl_lens_is_gpu(s->lens, i))
            continue;
        const uint32_t launch = s->lens->launch[i], op = launch != TL_NONE ? parents[launch] : TL_NONE;
        const tl_more *more = op != TL_NONE ? &s->lens->words->more[op] : NULL;
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
            .dims = more != NULL ? more->input_dims : TL_NO_NAME,
            .strides = more != NULL ? more->input_strides : TL_NO_NAME,
            .inputs = more != NULL ? more->concrete_inputs : TL_NO_NAME,
            .name = e->name[i],
            .stream = e->lanes.v[e->lane[i]].stream,
            .us = tl_lens_dur(s->lens, i),
        };
        tl_vec_push(&s->kernels, k);
    }
    for (size_t i = 0; i < s->kernels.n && !s->has_ops; i++)
        s->kernels.v[i].parent = TL_NO_NAME;
    free(parents);
}

static tl_cell name_cell(const summing *s, uint32_t name)
{
    return tl_string(tl_names_text(&s->lens->e->names, name));
}

#define US "(\302\265s)"

static void write_summary(const summing *s, uint32_t *order, tl_csv_folder *folder)
{
    const kernel *v = s->kernels.v;
    const size_t n = s->kernels.n;
    double all = TL_SUM(NULL, n, v, us); /* in file order */
    tl_csv csv = tl_csv_open(folder, "kernel_summary.csv", NULL);

    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    tl_sums rows = TL_SUMS(order, n, by_key, v, us, false);
    tl_csv_head(&csv, s->has_ops ? "Parent op category,Parent cpu_op" : "Parent op category");
    tl_csv_head(&csv, "Kernel name,Kernel stream,Kernel duration " US "_sum,Kernel duration " US "_count,"
                      "Kernel duration " US "_mean,Kernel duration " US "_min,Kernel duration " US "_max,"
                      "Percent of kernels time (%),Percent of total time (%)");
    tl_csv_end_head(&csv);
    TL_EACH (const tl_sum, r, rows) {
        const kernel *first = &v[r->order[0]];
        TL_CELLS(&csv, source_words[first->source]);
        if (s->has_ops)
            TL_CELLS(&csv, name_cell(s, first->parent));
        TL_ROW(&csv, name_cell(s, first->name), first->stream != TL_LANE_ABSENT ? tl_int(first->stream) : tl_blank(),
               tl_number(r->total, s->whole), r->n, r->stats.mean, tl_number(r->stats.min, s->whole),
               tl_number(r->stats.max, s->whole), r->total / all * 100, r->total / s->total * 100);
    }
    tl_csv_close(&csv);
    free(rows.v);
}

/* --------------------------------------------------------------------------------------------------- short kernels */

/* Numpy's bins: equal ones over the range, or over a range of 1 around the only value; each holds its lower edge, the
 * last its upper one, too. */
static void write_histogram(const summing *s, tl_csv_folder *folder)
{
    double min = INFINITY, max = -INFINITY, edge[NBINS + 1];
    int64_t count[NBINS] = { 0 };

    TL_EACH (const kernel, k, s->kernels)
        if (k->us < SHORT_US) {
            min = fmin(min, k->us);
            max = fmax(max, k->us);
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
    TL_EACH (const kernel, k, s->kernels) {
        size_t bin = 1; /* the last one whose lower edge is not above the duration */
        TL_BISECT(bin, NBINS, mid, edge[mid] <= k->us);
        count[bin - 1] += k->us < SHORT_US;
    }
    tl_csv csv = tl_csv_open(folder, "short_kernel_histogram.csv", "bin_start,bin_end,count");
    for (int i = 0; i < NBINS; i++)
        TL_ROW(&csv, edge[i], edge[i + 1], count[i]);
    tl_csv_close(&csv);
}

/* Short kernels: by name alone where no kernel has an operator; else kernels of an operator with recorded arguments. */
static void write_short(const summing *s, uint32_t *order, tl_csv_folder *folder)
{
    const kernel *v = s->kernels.v;
    size_t n = 0;
    tl_csv csv = tl_csv_open(folder, "short_kernels_summary.csv", NULL);

    for (uint32_t i = 0; i < s->kernels.n; i++)
        if (v[i].us < SHORT_US && (!s->has_ops || (v[i].source == FROM_OP && v[i].dims != TL_NO_NAME &&
                                                   v[i].strides != TL_NO_NAME && v[i].inputs != TL_NO_NAME)))
            order[n++] = i;
    tl_sums rows = TL_SUMS(order, n, by_arguments, v, us, false);
    if (s->has_ops)
        tl_csv_head(&csv, "Parent cpu_op,Input dims,Input strides,Concrete Inputs");
    tl_csv_head(&csv, "Kernel name,Short Kernel duration " US " sum,Short Kernel count,"
                      "Short Kernel duration " US " mean,Short Kernel duration " US " percent of total time");
    tl_csv_end_head(&csv);
    csv.as_is = true;
    TL_EACH (const tl_sum, r, rows) {
        const kernel *first = &v[r->order[0]];
        const uint32_t arguments[] = { first->dims, first->strides, first->inputs };
        if (s->has_ops)
            TL_CELLS(&csv, name_cell(s, first->parent));
        for (size_t i = 0; i < 3 && s->has_ops; i++) {
            tl_bytes text = { 0 };
            tl_python_tuple(tl_names_text(&s->lens->e->names, arguments[i]), &text);
            TL_CELLS(&csv, &text);
            tl_bytes_free(&text);
        }
        TL_ROW(&csv, name_cell(s, first->name), tl_number(r->total, s->whole), r->n, r->stats.mean,
               r->total / s->total * 100);
    }
    tl_csv_end(&csv, n > 0);
    free(rows.v);
}

void tl_lens_write_kernels(const tl_lens *lens, double total, tl_csv_folder *folder)
{
    summing s = { .lens = lens, .total = total };

    take_kernels(&s);
    if (s.kernels.n > 0) {
        uint32_t *order = tl_malloc(s.kernels.n * sizeof *order);
        write_summary(&s, order, folder);
        write_histogram(&s, folder);
        write_short(&s, order, folder);
        free(order);
    }
    free(s.kernels.v);
}
