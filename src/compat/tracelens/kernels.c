/* kernels.c - device time by class of work; kernels by operator and name, and short kernels.
 *
 *     computation      [      ]      [   ]            |U(C)|
 *     communication       [=====)                     |U(M)|, exposed: |U(M) - U(C)|
 *     copies                  [=======)               |U(P)|, exposed: |U(P) - U(C) - U(M)|
 *     busy             [      ====  )[   ]            |U(all)|
 *
 * A memset is computation.  All devices and streams count as one; spans that touch are one span.
 */
#include "lens.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/spans.h"
#include <stdlib.h>

typedef enum class { COMPUTATION = 1, COMMUNICATION = 2, COPY = 4, ANY = 7 } class;

static class class_of(const tl_lens *lens, uint32_t i)
{
    unsigned says = tl_lens_says(lens, i);
    if (lens->set[i] == TL_LENS_MEMCPY || (lens->set[i] == TL_LENS_KERNEL && (says & TL_LENS_COPY_KERNEL)))
        return COPY;
    return says & TL_LENS_COMM ? COMMUNICATION : COMPUTATION;
}

/* Returns the spans covered by events of the classes. */
static tl_real_spans spans_of(const tl_lens *lens, unsigned classes, bool linked_only)
{
    tl_real_spans out = { 0 };

    for (uint32_t i = 0; i < lens->e->n; i++)
        if (tl_lens_is_gpu(lens, i) && (class_of(lens, i) & classes) && (!linked_only || lens->launch[i] != TL_NONE))
            tl_vec_push(&out, (tl_real_span){ tl_lens_ts(lens, i), tl_lens_end(lens, i) });
    tl_real_spans_join(&out);
    return out;
}

/* Returns the time in which one of the classes `with` runs and none of `without`, us. */
static double time_of(const double us[TL_NSETS], unsigned with, unsigned without)
{
    double sum = 0;
    for (unsigned set = 1; set < TL_NSETS; set++)
        sum += (set & with) != 0 && (set & without) == 0 ? fmax(us[set], 0) : 0;
    return sum;
}

/* Writes the timeline of all device work or of the work linked to launches, and the variant that splits idle time by
 * the gaps' length.  Returns the time from the first start to the last end, us; without work NaN, and no table is
 * written. */
static double write_timelines(const tl_lens *lens, bool linked_only, tl_csv_folder *folder, const char *name,
                              const char *micro_name)
{
    tl_real_spans all[] = { spans_of(lens, COMPUTATION, linked_only), spans_of(lens, COMMUNICATION, linked_only),
                            spans_of(lens, COPY, linked_only), spans_of(lens, ANY, linked_only) };
    const tl_real_spans *busy = &all[3];
    const double total = busy->n > 0 ? busy->v[busy->n - 1].end - busy->v[0].ts : NAN;
    double us[TL_NSETS], micro_idle = 0, macro_idle = 0;

    tl_real_spans_overlap(all, 3, false, us);
    for (size_t i = 1; i < busy->n; i++) {
        double gap = busy->v[i].ts - busy->v[i - 1].end;
        *(gap < TL_LENS_NOISE_US ? &micro_idle : &macro_idle) += gap;
    }
    const struct {
        const char *type;
        bool shown[2]; /* in the timeline, in the variant */
        double us;
    } rows[] = {
        { "computation_time", { true, true }, time_of(us, COMPUTATION, 0) },
        { "exposed_comm_time", { true, true }, time_of(us, COMMUNICATION, COMPUTATION) },
        { "exposed_memcpy_time", { true, true }, time_of(us, COPY, COMPUTATION | COMMUNICATION) },
        { "busy_time", { true, true }, tl_real_spans_total(busy) },
        { "micro_idle_time", { false, true }, micro_idle },
        { "macro_idle_time", { false, true }, macro_idle },
        { "idle_time", { true, false }, total - tl_real_spans_total(busy) },
        { "total_time", { true, true }, total },
        { "total_comm_time", { true, true }, time_of(us, COMMUNICATION, 0) },
        { "total_memcpy_time", { true, true }, time_of(us, COPY, 0) },
    };
    for (int micro = 0; micro < 2 && busy->n > 0; micro++) {
        tl_csv csv = tl_csv_open(folder, micro ? micro_name : name, "type,time ms,percent");
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            if (rows[i].shown[micro])
                TL_ROW(&csv, rows[i].type, rows[i].us / 1000, rows[i].us / total * 100);
        tl_csv_close(&csv);
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i].v);
    return total;
}

/* --------------------------------------------------------------------------------------------------------- kernels */

#define SHORT_US 10.0
#define NBINS    100

/* The source of a kernel: the operator above its launch, else the launch itself. */
enum { FROM_NOWHERE, FROM_OP, FROM_GRAPH, FROM_RUNTIME };
static const char *const source_words[] = { "", "", "graph", "runtime" };

/* The grouping keys and the duration of a kernel. */
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
    bool has_ops; /* a kernel has an operator; if not, the columns of operators are left out */
} summing;

static void collect_kernels(summing *s)
{
    const tl_events *e = s->lens->e;
    uint32_t *parents = tl_lens_parent_ops(s->lens);

    for (uint32_t i = 0; i < e->n; i++) {
        if (s->lens->set[i] != TL_LENS_KERNEL || !tl_lens_is_gpu(s->lens, i))
            continue;
        const uint32_t launch = s->lens->launch[i], op = launch != TL_NONE ? parents[launch] : TL_NONE;
        const tl_more *more = op != TL_NONE ? &s->lens->words->more[op] : NULL;
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
            .stream = tl_event_lane(e, i)->stream,
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
    double all = TL_STATS(NULL, n, v, us).sum;
    tl_csv csv = tl_csv_open(folder, "kernel_summary.csv", NULL);

    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    tl_sums rows = TL_SUMS(order, n, by_key, v, us);
    tl_csv_head(&csv, s->has_ops ? "Parent op category,Parent cpu_op" : "Parent op category");
    tl_csv_head(&csv, "Kernel name,Kernel stream,Kernel duration " US "_sum,Kernel duration " US "_count,"
                      "Kernel duration " US "_mean,Kernel duration " US "_min,Kernel duration " US "_max,"
                      "Percent of kernels time (%),Percent of total time (%)");
    tl_csv_end_row(&csv);
    TL_EACH (const tl_sum, r, rows) {
        const kernel *first = &v[r->order[0]];
        TL_CELLS(&csv, source_words[first->source]);
        if (s->has_ops)
            TL_CELLS(&csv, name_cell(s, first->parent));
        TL_ROW(&csv, name_cell(s, first->name), first->stream != TL_LANE_ABSENT ? tl_int(first->stream) : tl_blank(),
               r->stats.sum, r->n, r->stats.mean, r->stats.min, r->stats.max, r->stats.sum / all * 100,
               r->stats.sum / s->total * 100);
    }
    tl_csv_close(&csv);
    free(rows.v);
}

/* --------------------------------------------------------------------------------------------------- short kernels */

/* Bins as in numpy: of equal width from the smallest to the largest duration, or over a range of 1 around a single
 * value.  A bin includes its lower edge, the last bin also its upper edge. */
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
        size_t bin = 1; /* one more than the last bin with a lower edge <= the duration */
        TL_BISECT(bin, NBINS, mid, edge[mid] <= k->us);
        count[bin - 1] += k->us < SHORT_US;
    }
    tl_csv csv = tl_csv_open(folder, "short_kernel_histogram.csv", "bin_start,bin_end,count");
    for (int i = 0; i < NBINS; i++)
        TL_ROW(&csv, edge[i], edge[i + 1], count[i]);
    tl_csv_close(&csv);
}

/* Writes short kernels by name if no kernel has an operator; else only kernels of operators with recorded arguments. */
static void write_short(const summing *s, uint32_t *order, tl_csv_folder *folder)
{
    const kernel *v = s->kernels.v;
    size_t n = 0;
    tl_csv csv = tl_csv_open(folder, "short_kernels_summary.csv", NULL);

    for (uint32_t i = 0; i < s->kernels.n; i++)
        if (v[i].us < SHORT_US && (!s->has_ops || (v[i].source == FROM_OP && v[i].dims != TL_NO_NAME &&
                                                   v[i].strides != TL_NO_NAME && v[i].inputs != TL_NO_NAME)))
            order[n++] = i;
    tl_sums rows = TL_SUMS(order, n, by_arguments, v, us);
    if (s->has_ops)
        tl_csv_head(&csv, "Parent cpu_op,Input dims,Input strides,Concrete Inputs");
    tl_csv_head(&csv, "Kernel name,Short Kernel duration " US " sum,Short Kernel count,"
                      "Short Kernel duration " US " mean,Short Kernel duration " US " percent of total time");
    tl_csv_end_row(&csv);
    TL_EACH (const tl_sum, r, rows) {
        const kernel *first = &v[r->order[0]];
        const uint32_t arguments[] = { first->dims, first->strides, first->inputs };
        if (s->has_ops)
            TL_CELLS(&csv, name_cell(s, first->parent));
        for (size_t i = 0; i < 3 && s->has_ops; i++) {
            tl_bytes text = { 0 };
            tl_python_list(tl_names_text(&s->lens->e->names, arguments[i]), true, &text);
            TL_CELLS(&csv, &text);
            tl_bytes_free(&text);
        }
        TL_ROW(&csv, name_cell(s, first->name), r->stats.sum, r->n, r->stats.mean, r->stats.sum / s->total * 100);
    }
    tl_csv_close_rows(&csv);
    free(rows.v);
}

/* total: length of the linked timeline, us; NaN without one. */
static void write_kernels(const tl_lens *lens, double total, tl_csv_folder *folder)
{
    summing s = { .lens = lens, .total = total };

    collect_kernels(&s);
    if (s.kernels.n > 0) {
        uint32_t *order = tl_malloc(s.kernels.n * sizeof *order);
        write_summary(&s, order, folder);
        write_histogram(&s, folder);
        write_short(&s, order, folder);
        free(order);
    }
    free(s.kernels.v);
}

void tl_lens_write_device(const tl_lens *lens, int64_t rank, tl_csv_folder *folder)
{
    const double linked = write_timelines(lens, true, folder, "gpu_timeline.csv", "gpu_timeline_micro5.csv");
    const double all =
        write_timelines(lens, false, folder, "gpu_timeline_all_events.csv", "gpu_timeline_all_events_micro5.csv");

    if (isnan(all))
        tl_csv_note(folder, false, "rank %lld: no device work: no gpu_timeline, no kernel tables; TraceLens stops here",
                    (long long)rank);
    else if (isnan(linked))
        tl_csv_note(folder, false,
                    "rank %lld: no device work is linked to a launch: no gpu_timeline but that of all events, no "
                    "percentages of the total time; TraceLens stops here",
                    (long long)rank);
    write_kernels(lens, linked, folder);
}
