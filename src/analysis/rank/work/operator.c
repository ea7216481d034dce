/* operator.c - the host time of operators and annotations, and the device work that they launched.
 *
 *     host     [linear              ]..[linear]
 *                [addmm       ]
 *     launch          |1     |2   |3            1, 2: launched in addmm, with linear around it; 3: in linear itself
 *
 * One sweep over each thread.  The work of an operator is complete when the operator ends, and is then added to the
 * operator around it.
 */
#include "internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

/* A sum of device work. */
typedef struct work {
    int64_t launches, kernels, ns;
    int64_t first_ns, last_ns;             /* TL_TIME_UNKNOWN: there is no work */
    int64_t flop, computing, computing_ns; /* floating-point operations; number and time of the kernels that do them */
    double peak_ns;                        /* time that flop takes at the device's peak; NaN: unknown */
} work;

static const work no_work = { .first_ns = TL_TIME_UNKNOWN, .last_ns = TL_TIME_UNKNOWN };

static void add_work(work *to, const work *more)
{
    bool first = to->kernels == 0;
    if (more->kernels == 0)
        return;
    to->launches += more->launches;
    to->kernels += more->kernels;
    to->ns = tl_ns_add(to->ns, more->ns);
    to->flop = tl_ns_add(to->flop, more->flop);
    to->computing += more->computing;
    to->computing_ns = tl_ns_add(to->computing_ns, more->computing_ns);
    to->peak_ns += more->peak_ns;
    to->first_ns = first ? more->first_ns : tl_ns_min(to->first_ns, more->first_ns);
    to->last_ns = first ? more->last_ns : tl_ns_max(to->last_ns, more->last_ns);
}

/* Work launched in an operator itself, outside of operators that it called. */
typedef struct own_work {
    uint32_t op;
    work work;
    uint32_t launch; /* the first launch; TL_NONE: none */
    int64_t work_ns; /* first start of that launch's work; TL_TIME_UNKNOWN: none */
} own_work;

/* Sums over the operators or annotations of one name. */
typedef struct total {
    uint32_t name;
    int64_t open; /* number of them that are open now */
    size_t depth; /* smallest number of entries that were open around one */
    int64_t count, host_ns, self_ns, min_ns, max_ns, device_self_ns, span_ns;
    int64_t steps_count, steps_ns; /* the parts of count and self_ns in steps */
    wide sum_ns, squares; /* of durations, and of their squares; exact integers, so the sums do not depend on order */
    bool overflows;       /* squares has overflowed */
    int64_t launching;    /* number of entries that launched device work themselves */
    wide to_launch_ns, to_work_ns;
    work all;
} total;

/* An operator or annotation that is open in the sweep. */
typedef struct frame {
    uint32_t op, total;
    int64_t end_ns, called_ns; /* called_ns: time in entries that it called */
    work work;
} frame;

typedef struct sweep {
    const tl_rank_view *view;
    tl_pace pace;
    tl_op_kind kind;
    TL_VEC(own_work) works; /* by op */
    size_t next;            /* index in works: the first whose op is at or after the current op */
    own_work rest;          /* work launched outside of any, or without a launch in the trace */
    int64_t all_ns;         /* of all device work */
    uint32_t *slot;         /* name -> total, TL_NONE */
    TL_VEC(total) totals;
    TL_VEC(frame) open;
} sweep;

/* Returns the op to which a launch belongs; TL_NONE: none, or an op without a name, which has no row. */
static uint32_t op_of_launch(const sweep *s, uint32_t launch)
{
    if (launch == TL_NONE)
        return TL_NONE;
    const tl_launch *l = &s->view->launches[launch];
    uint32_t op = s->kind == TL_OP ? l->op : l->annotation;
    return op != TL_NONE && s->view->ops.name[op] != TL_NO_NAME ? op : TL_NONE;
}

/* Likewise of the operator that computes, whose operations launched the work. */
static uint32_t op_of_flop(const sweep *s, const tl_flop *f)
{
    return s->kind == TL_OP ? f->op : op_of_launch(s, f->launch);
}

static own_work *own_work_of(sweep *s, const uint32_t *at, uint32_t op)
{
    return op != TL_NONE ? &s->works.v[at[op]] : &s->rest;
}

/* Lists the ops that launched work themselves or compute, ascending, with their launches and kernels. */
static void find_own_work(sweep *s)
{
    const tl_rank_view *view = s->view;
    uint32_t *at = tl_calloc(view->ops.n + 1, sizeof *at); /* by op: first whether it is listed, then its index in
                                                            * works */
    size_t n = 0, near = 0;

    for (size_t i = 0; i < view->nlaunches + view->nflops; i++) {
        const bool launch = i < view->nlaunches;
        uint32_t op = launch ? op_of_launch(s, (uint32_t)i) : op_of_flop(s, &view->flops[i - view->nlaunches]);
        if (op != TL_NONE)
            n += at[op]++ == 0;
    }
    tl_grow((void **)&s->works.v, &s->works.cap, n + 1, sizeof *s->works.v);
    for (uint32_t op = 0; s->works.n < n; op++)
        if (at[op] > 0) {
            at[op] = (uint32_t)s->works.n;
            s->works.v[s->works.n++] = (own_work){ op, no_work, TL_NONE, TL_TIME_UNKNOWN };
        }
    for (uint32_t i = 0; i < view->nlaunches; i++) {
        own_work *own = own_work_of(s, at, op_of_launch(s, i));
        if (view->launches[i].nkernels == 0)
            continue;
        own->work.launches++;
        if (own->launch == TL_NONE)
            own->launch = i;
    }
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        const work one = { 0, 1, k->end_ns - k->start_ns, k->start_ns, k->end_ns, 0, 0, 0, 0 };
        const tl_flop *flop = tl_flop_of(view, k->launch, &near);
        own_work *own = own_work_of(s, at, op_of_launch(s, k->launch));
        s->all_ns = tl_ns_add(s->all_ns, one.ns);
        add_work(&own->work, &one);
        if (k->launch == own->launch && (own->work_ns == TL_TIME_UNKNOWN || k->start_ns < own->work_ns))
            own->work_ns = k->start_ns;
        if (flop == NULL)
            continue;
        work *computing = &own_work_of(s, at, op_of_flop(s, flop))->work;
        computing->computing++;
        computing->computing_ns = tl_ns_add(computing->computing_ns, one.ns);
    }
    for (size_t i = 0; i < view->nflops; i++) {
        const tl_flop *f = &view->flops[i];
        work *computing = &own_work_of(s, at, op_of_flop(s, f))->work;
        computing->flop = tl_ns_add(computing->flop, f->flop);
        computing->peak_ns += (double)f->flop * s->pace.ns[f->precision];
    }
    free(at);
}

/* ------------------------------------------------------------------------------------------------------------ sweep */

static uint32_t total_of(sweep *s, uint32_t name)
{
    if (s->slot[name] == TL_NONE) {
        s->slot[name] = (uint32_t)s->totals.n;
        tl_vec_push(&s->totals, (total){ .name = name, .depth = SIZE_MAX, .min_ns = INT64_MAX, .all = no_work });
    }
    return s->slot[name];
}

static void close_one(sweep *s)
{
    const tl_ops *ops = &s->view->ops;
    const frame *f = &s->open.v[--s->open.n];
    int64_t ns = ops->dur_ns[f->op], self_ns = tl_ns_max(ns - f->called_ns, 0);
    total *t = &s->totals.v[f->total];

    t->count++;
    t->sum_ns += ns;
    if (__builtin_add_overflow(t->squares, (wide)ns * ns, &t->squares))
        t->overflows = true;
    t->min_ns = tl_ns_min(t->min_ns, ns);
    t->max_ns = tl_ns_max(t->max_ns, ns);
    t->self_ns = tl_ns_add(t->self_ns, self_ns);
    if (tl_step_at(s->view->steps, s->view->nsteps, ops->start_ns[f->op]) >= 0) {
        t->steps_count++;
        t->steps_ns = tl_ns_add(t->steps_ns, self_ns);
    }
    if (--t->open == 0) {
        t->host_ns = tl_ns_add(t->host_ns, ns);
        add_work(&t->all, &f->work);
        if (f->work.kernels > 0)
            t->span_ns = tl_ns_add(t->span_ns, f->work.last_ns - f->work.first_ns);
    }
    if (s->open.n > 0) {
        frame *around = &s->open.v[s->open.n - 1];
        int64_t end = tl_ns_min(around->end_ns, f->end_ns);
        around->called_ns += tl_ns_max(end - ops->start_ns[f->op], 0);
        add_work(&around->work, &f->work);
    }
}

/* Opens the next op, with the work that was launched in it itself. */
static void open_one(sweep *s, uint32_t op)
{
    const tl_ops *ops = &s->view->ops;
    int64_t start_ns = ops->start_ns[op];
    frame f = { .op = op, .total = total_of(s, ops->name[op]), .end_ns = tl_op_end(ops, op), .work = no_work };

    while (s->open.n > 0 && s->open.v[s->open.n - 1].end_ns <= start_ns)
        close_one(s);
    total *t = &s->totals.v[f.total];
    while (s->next < s->works.n && s->works.v[s->next].op < op)
        s->next++;
    if (s->next < s->works.n && s->works.v[s->next].op == op) {
        const own_work *own = &s->works.v[s->next];
        f.work = own->work;
        if (own->launch != TL_NONE) {
            int64_t launch_ns = s->view->launches[own->launch].start_ns;
            t->launching++;
            t->to_launch_ns += launch_ns - start_ns;
            t->to_work_ns += tl_ns_max(tl_ns_between(own->work_ns, launch_ns), 0);
        }
    }
    t->device_self_ns = tl_ns_add(t->device_self_ns, f.work.ns);
    t->open++;
    t->depth = s->open.n < t->depth ? s->open.n : t->depth;
    tl_vec_push(&s->open, f);
}

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Returns the standard deviation of the durations; NaN for less than two. */
static double deviation_of(const total *t)
{
    long double n = (long double)t->count, sum = (long double)t->sum_ns;
    if (t->count < 2 || t->overflows)
        return NAN;
    return sqrt(fmax((double)(((long double)t->squares - sum * sum / n) / (n - 1)), 0));
}

/* Fills the columns about floating-point operations. */
static void fill_flop(const work *w, tl_operator_row *row)
{
    const double ns = w->computing_ns > 0 ? (double)w->computing_ns : NAN;
    row->flop = w->computing > 0 ? (double)w->flop : NAN;
    row->tflop_per_s = row->flop / ns / 1e3;
    row->peak_share = w->peak_ns / ns;
}

/* Returns the row of a name.  durations: of its entries; sorted here. */
static tl_operator_row row_of(const sweep *s, const total *t, int64_t *durations)
{
    size_t n = (size_t)t->count;
    double launching = t->launching > 0 ? (double)t->launching : NAN;

    tl_ns_sort(durations, n);
    return (tl_operator_row){
        .rank = s->view->rank,
        .name = t->name,
        .count = t->count,
        .host_ns = t->host_ns,
        .host_self_ns = t->self_ns,
        .steps_count = t->steps_count,
        .steps_ns = t->steps_ns,
        .mean_ns = (double)t->sum_ns / (double)t->count,
        .std_ns = deviation_of(t),
        .min_ns = t->min_ns,
        .median_ns = tl_quartile(durations, n, 2),
        .max_ns = t->max_ns,
        .launches = t->all.launches,
        .kernels = t->all.kernels,
        .device_ns = t->all.ns,
        .device_self_ns = t->device_self_ns,
        .device_span_ns = t->span_ns,
        .to_launch_ns = (double)t->to_launch_ns / launching,
        .to_work_ns = (double)t->to_work_ns / launching,
        .depth = t->depth < INT32_MAX ? (int32_t)t->depth : INT32_MAX,
    };
}

/* Returns the row of the work launched outside of any operator (or annotation). */
static tl_operator_row rest_row(const sweep *s)
{
    return (tl_operator_row){ .rank = s->view->rank,
                              .name = TL_NO_NAME,
                              .mean_ns = NAN,
                              .std_ns = NAN,
                              .median_ns = NAN,
                              .launches = s->rest.work.launches,
                              .kernels = s->rest.work.kernels,
                              .device_ns = s->rest.work.ns,
                              .device_self_ns = s->rest.work.ns,
                              .to_launch_ns = NAN,
                              .to_work_ns = NAN,
                              .depth = -1 };
}

/* Adds the rows; the tables of operators and of annotations have the same columns. */
static void add_rows(const sweep *s, tl_table *table)
{
    const tl_ops *ops = &s->view->ops;
    tl_arena arena = { 0 };
    size_t from = table->n, n = 0, *first = tl_arena_take(&arena, s->totals.n + 1, sizeof *first);
    uint32_t *group_of = tl_arena_take(&arena, ops->n, sizeof *group_of),
             *order = tl_arena_take(&arena, ops->n, sizeof *order);

    for (size_t i = 0; i < ops->n; i++) {
        bool counts = ops->kind[i] == s->kind && ops->name[i] != TL_NO_NAME;
        group_of[i] = counts ? s->slot[ops->name[i]] : TL_NONE;
    }
    tl_group_rows(group_of, ops->n, s->totals.n, first, order);
    int64_t *ns = tl_arena_take(&arena, first[s->totals.n], sizeof *ns);
    for (; n < first[s->totals.n]; n++)
        ns[n] = ops->dur_ns[order[n]];
    for (size_t i = 0; i <= s->totals.n; i++) {
        bool rest = i == s->totals.n;
        if (rest && s->rest.work.kernels == 0)
            break;
        tl_operator_row row = rest ? rest_row(s) : row_of(s, &s->totals.v[i], ns + first[i]);
        row.share = s->all_ns > 0 ? (double)row.device_ns / (double)s->all_ns : NAN;
        fill_flop(rest ? &s->rest.work : &s->totals.v[i].all, &row);
        tl_table_append(table, &row, 1);
    }
    tl_rows_sort_and_number(table, from, s->view->names, "device_ns", "host_ns");
    tl_arena_free(&arena);
}

static void fill_table(const tl_rank_view *view, const tl_peaks *peaks, tl_op_kind kind, tl_table *table)
{
    sweep s = { .view = view,
                .pace = tl_pace_of(peaks, view->device_name),
                .kind = kind,
                .rest = { TL_NONE, no_work, TL_NONE, TL_TIME_UNKNOWN } };

    s.slot = tl_malloc_none(view->names->n);
    find_own_work(&s);
    const tl_ops *ops = &view->ops;
    for (size_t t = 0; t < ops->nthreads; t++) {
        const tl_thread *thread = &ops->threads[t];
        for (size_t i = thread->first; i < thread->first + thread->n; i++)
            if (ops->kind[i] == s.kind && ops->name[i] != TL_NO_NAME &&
                !(s.kind == TL_ANNOTATION && tl_is_step_mark(s.view->names, s.view->served, ops->name[i])))
                open_one(&s, (uint32_t)i);
        while (s.open.n > 0)
            close_one(&s);
    }
    add_rows(&s, table);
    free(s.works.v);
    free(s.slot);
    free(s.totals.v);
    free(s.open.v);
}

static void operator_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    fill_table(view, &config->peaks, TL_OP, tl_tables_get(out, &tl_operator_row_schema));
    fill_table(view, &config->peaks, TL_ANNOTATION, tl_tables_get(out, &tl_annotation_row_schema));
}

TL_TABLE_DEFINE_AS(operator_row, "operator", TL_HOST_WORK_FIELDS, TL_SCOPE_RANK, "operators of the host",
                   "What do the operators of a rank cost on the host, and the work that they launch on the device?");
TL_TABLE_DEFINE_AS(
    annotation_row, "annotation", TL_HOST_WORK_FIELDS, TL_SCOPE_RANK, "user annotations",
    "What do the user annotations of a rank cost on the host, and the work that they launch on the device?");

const tl_analysis tl_operator_analysis = { .needs = TL_NEEDS_HOST, .per_rank = operator_per_rank };

/* ------------------------------------------------------------------------------------------------------- over ranks */

/* Which operators and annotations take the time over all ranks, and on which rank the longest? */

_Static_assert(sizeof(tl_operator_row) == sizeof(tl_annotation_row) &&
                   sizeof(tl_operator_ranks) == sizeof(tl_annotation_ranks),
               "the same columns");

static void add_sum(void *arg, const tl_over_ranks *of, tl_table *out)
{
    const int64_t *all_ns = arg;
    const tl_operator_row *first = of->rows[0].row, *most = first;
    double host_ns = 0;
    tl_operator_ranks *sum = tl_table_add(out);

    *sum = (tl_operator_ranks){ .name = first->name, TL_OF_ALL_RANKS(of) };
    for (int32_t i = 0; i < of->ranks; i++) {
        const tl_operator_row *row = of->rows[i].row;
        sum->host_ns = tl_ns_add(sum->host_ns, row->host_ns);
        sum->device_ns = tl_ns_add(sum->device_ns, row->device_ns);
        sum->device_self_ns = tl_ns_add(sum->device_self_ns, row->device_self_ns);
        host_ns += row->count > 0 ? row->mean_ns * (double)row->count : 0;
        most = row->device_ns > most->device_ns ? row : most;
    }
    sum->mean_ns = sum->count > 0 ? host_ns / (double)sum->count : NAN;
    sum->share = *all_ns > 0 ? (double)sum->device_ns / (double)*all_ns : NAN;
    sum->most_rank = most->rank;
    memcpy(sum->apart_ranks, of->outlier_ranks, sizeof sum->apart_ranks);
}

/* Fills the table over ranks of operators or of annotations. */
static void fill_ranks(const tl_table *from, const tl_names *names, tl_table *to)
{
    tl_named_row *rows = tl_malloc((from->n + 1) * sizeof *rows);
    int64_t all_ns = 0;
    size_t n = 0;

    TL_ROWS (const tl_operator_row, row, from) {
        all_ns = tl_ns_add(all_ns, row->device_self_ns);
        rows[n++] = (tl_named_row){ row, row->name, row->rank, 0, row->count, row->mean_ns, row->std_ns };
    }
    tl_over_ranks_each(rows, n, add_sum, &all_ns, to);
    tl_rows_sort_and_number(to, 0, names, "device_ns", "host_ns");
    free(rows);
}

static void operator_ranks_reduce(tl_tables *job)
{
    fill_ranks(tl_tables_get(job, &tl_operator_row_schema), job->names, tl_tables_get(job, &tl_operator_ranks_schema));
    fill_ranks(tl_tables_get(job, &tl_annotation_row_schema), job->names,
               tl_tables_get(job, &tl_annotation_ranks_schema));
}

TL_TABLE_DEFINE(annotation_ranks, TL_HOST_WORK_RANKS_FIELDS, TL_SCOPE_JOB, "user annotations over all ranks",
                "Which user annotations take the time over all ranks, and on which rank do they take longest?");

const tl_analysis tl_operator_ranks_analysis = { .reduce = operator_ranks_reduce };
