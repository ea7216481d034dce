/* pattern.c - which sequences of device work do operators launch again and again?
 *
 *     host     [layer            ]..[layer            ]      layer, 2 times: a b c
 *                [norm ]              [norm ]                norm, 2 times: a b, shorter than SHORTEST
 *     launch       |a |b    |c          |a |b    |c
 *
 * One sweep over the operators of each thread and its launches.  The work launched in an operator is the stretch from
 * its first to its last piece of work, so enclosing operators do not cost more for their content.
 */
#include "tlmpi/analysis/pattern.h"
#include "internal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

enum {
    SHORTEST = 3,         /* fewest kernels, copies and memsets in a sequence */
    FIRST_ROWS = 100,     /* rows of a rank, whatever their operator */
    MOST_OPERATORS = 1000 /* operators of a rank that get at least one row, if they have a sequence */
};

/* A sequence under operators of one name. */
typedef struct found {
    uint32_t name;
    uint64_t hash;
    size_t first, n; /* work of the last occurrence */
    int64_t count, host_ns, device_ns;
    int64_t last_ns; /* host time of the last occurrence */
    int64_t last_start_ns, to_launch_ns, to_work_ns;
    int32_t shown; /* number of the sequence among those shown, from 1; 0: not shown */
} found;

/* An operator that is open and has launched work. */
typedef struct frame {
    uint32_t op;
    int64_t end_ns;
    size_t first; /* index of its first launch in launched.by */
} frame;

typedef struct finding {
    const tl_rank_view *view;
    tl_arena arena;
    tl_launched launched;
    tl_map slot; /* hash of name and sequence -> found */
    TL_VEC(found) v;
    TL_VEC(frame) open;
    tl_occurrences *occurrences; /* receives the occurrences of shown sequences; NULL: the sweep only finds sequences */
} finding;

/* Returns the entry of an operator's name with a sequence, which is added if it is new.  Entries whose keys collide use
 * the next free key. */
static found *slot_of(finding *f, uint32_t name, uint64_t hash, size_t n)
{
    for (uint64_t key = tl_hash_mix(tl_hash_mix(hash, n), name);; key++) {
        uint32_t at = tl_map_get(&f->slot, key);
        if (at == TL_MAP_NONE) {
            tl_vec_room(&f->v);
            tl_map_put(&f->slot, key, (uint32_t)f->v.n);
            f->v.v[f->v.n] = (found){ .name = name, .hash = hash, .first = SIZE_MAX, .n = n };
            return &f->v.v[f->v.n++];
        }
        found *one = &f->v.v[at];
        if (one->name == name && one->hash == hash && one->n == n)
            return one;
    }
}

/* Adds the work [first, first + n) as an occurrence. */
static void add_occurrence(finding *f, const found *one, size_t first, size_t n)
{
    const tl_kernel *kernels = f->view->kernels;
    const uint32_t *v = f->launched.kernel + first;
    tl_occurrence o = { .pattern = one->shown,
                        .device = kernels[v[0]].device,
                        .start_ns = INT64_MAX,
                        .end_ns = INT64_MIN,
                        .kernels = (int64_t)n,
                        .id = (int64_t)one->hash,
                        .operator= one->name };
    for (size_t i = 0; i < n; i++) {
        o.start_ns = tl_ns_min(o.start_ns, kernels[v[i]].start_ns);
        o.end_ns = tl_ns_max(o.end_ns, kernels[v[i]].end_ns);
    }
    tl_vec_push(f->occurrences, o);
}

/* Counts an operator that has launched the n pieces of work from `first` on. */
static void count_operator(finding *f, uint32_t op, size_t first, size_t n)
{
    const tl_ops *ops = &f->view->ops;
    uint32_t name = tl_name_key(f->view, ops->name[op]);
    found *one = slot_of(f, name, tl_launched_hash(&f->launched, first, first + n), n);

    if (f->occurrences != NULL) {
        if (one->first != first && one->shown != 0)
            add_occurrence(f, one, first, n);
        one->first = first;
        return;
    }
    if (one->first == first) { /* it encloses an operator with the same name, which was counted first */
        one->host_ns = tl_ns_add(one->host_ns, tl_ns_max(ops->dur_ns[op] - one->last_ns, 0));
        one->last_ns = tl_ns_max(one->last_ns, ops->dur_ns[op]);
        one->to_launch_ns = tl_ns_add(one->to_launch_ns, one->last_start_ns - ops->start_ns[op]);
        one->last_start_ns = ops->start_ns[op];
        return;
    }
    one->first = first;
    one->last_ns = ops->dur_ns[op];
    one->count++;
    one->host_ns = tl_ns_add(one->host_ns, one->last_ns);
    one->device_ns = tl_ns_add(one->device_ns, tl_launched_ns(&f->launched, first, first + n));
    const tl_kernel *k = &f->view->kernels[f->launched.kernel[first]];
    one->last_start_ns = ops->start_ns[op];
    one->to_launch_ns = tl_ns_add(one->to_launch_ns, k->launch_ns - one->last_start_ns);
    one->to_work_ns = tl_ns_add(one->to_work_ns, tl_ns_max(tl_ns_between(k->start_ns, k->launch_ns), 0));
}

/* Closes the open operators that end by ns.  *at: the first launch after the end of every closed operator. */
static void close_until(finding *f, int64_t ns, size_t *at, size_t end)
{
    const tl_launch *launches = f->view->launches;
    const uint32_t *v = f->launched.by.v;

    while (f->open.n > 0 && f->open.v[f->open.n - 1].end_ns <= ns) {
        frame one = f->open.v[--f->open.n];
        while (*at < end && launches[v[*at]].start_ns < one.end_ns)
            ++*at;
        size_t last = *at, low = one.first;
        if (last > low && launches[v[last - 1]].start_ns >= one.end_ns) { /* an operator within it ended after it */
            TL_BISECT(low, last, mid, launches[v[mid]].start_ns < one.end_ns);
            last = low;
        }
        size_t first = f->launched.first[one.first], n = f->launched.first[last] - first;
        if (n >= SHORTEST)
            count_operator(f, one.op, first, n);
    }
}

/* Sweeps the operators of a thread, and its launches by.v[at, end). */
static void sweep(finding *f, const tl_thread *thread, size_t at, size_t end)
{
    const tl_ops *ops = &f->view->ops;
    const tl_launch *launches = f->view->launches;
    const uint32_t *v = f->launched.by.v;

    for (size_t i = thread->first; i < thread->first + thread->n; i++) {
        if (ops->kind[i] != TL_OP || ops->name[i] == TL_NO_NAME)
            continue;
        close_until(f, ops->start_ns[i], &at, end);
        while (at < end && launches[v[at]].start_ns < ops->start_ns[i])
            at++;
        int64_t end_ns = ops->start_ns[i] + ops->dur_ns[i];
        if (at == end || launches[v[at]].start_ns >= end_ns)
            continue;
        tl_vec_push(&f->open, (frame){ (uint32_t)i, end_ns, at });
    }
    close_until(f, INT64_MAX, &at, end);
}

static void sweep_all(finding *f)
{
    const tl_ops *ops = &f->view->ops;
    const tl_thread_launches *by = &f->launched.by;

    for (size_t t = 0; t < ops->nthreads; t++) {
        uint32_t track = ops->threads[t].track;
        if (track < by->ntracks && by->first[track] < by->first[track + 1])
            sweep(f, &ops->threads[t], by->first[track], by->first[track + 1]);
    }
}

/* ------------------------------------------------------------------------------------------------------------ rows */

static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const finding *f = context;
    const found *x = &f->v.v[a], *y = &f->v.v[b];
    int order = TL_ORDER(y, x, device_ns, host_ns);
    if (order == 0)
        order = tl_text_compare(tl_names_text(f->view->names, x->name), tl_names_text(f->view->names, y->name));
    return order != 0 ? order : TL_COMPARE(x->hash, y->hash);
}

/* Adds rows: for the FIRST_ROWS first sequences, and for the first sequence of each operator. */
static void add_rows(const finding *f, const uint32_t *order, size_t n, tl_tables *out)
{
    const tl_launched *l = &f->launched;
    tl_table *table = tl_tables_get(out, &tl_pattern_row_schema);
    tl_bytes words = { 0 };
    tl_map counts = { 0 }, told = { 0 }; /* name of an operator -> number of its sequences; whether it has a row */
    int64_t all = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t name = f->v.v[order[i]].name, so_far = tl_map_get(&counts, name);
        tl_map_put(&counts, name, so_far == TL_MAP_NONE ? 1 : so_far + 1);
    }
    for (size_t i = 0; i < f->view->nkernels; i++)
        all = tl_ns_add(all, f->view->kernels[i].end_ns - f->view->kernels[i].start_ns);
    for (size_t i = 0; i < n; i++) {
        const found *one = &f->v.v[order[i]];
        bool first = tl_map_get(&told, one->name) == TL_MAP_NONE;
        if (i >= FIRST_ROWS && (!first || told.n >= MOST_OPERATORS))
            continue;
        tl_map_put(&told, one->name, 1);
        tl_launched_words(l, f->view, one->first, one->first + one->n, &words);
        const tl_pattern_row row = {
            .rank = f->view->rank,
            .place = (int32_t)i + 1,
            .count = one->count,
            .kernels = (int64_t)one->n,
            .host_ns = one->host_ns,
            .device_ns = one->device_ns,
            .to_launch_ns = (double)one->to_launch_ns / (double)one->count,
            .to_work_ns = (double)one->to_work_ns / (double)one->count,
            .share = all > 0 ? (double)one->device_ns / (double)all : NAN,
            .patterns = (int64_t)n,
            .id = (int64_t)one->hash,
            .operator= one->name,
            .sequence = tl_names_intern(out->names, words.v, words.n),
            .of_operator = (int64_t)tl_map_get(&counts, one->name),
        };
        tl_table_append(table, &row, 1);
    }
    tl_bytes_free(&words);
    tl_map_free(&counts);
    tl_map_free(&told);
}

/* Returns the indices of the *n patterns that occur more than once, by device time, descending.  The caller frees
 * them. */
static uint32_t *order_of(const finding *f, size_t *n)
{
    uint32_t *order = tl_malloc((f->v.n + 1) * sizeof *order);
    *n = 0;
    for (size_t i = 0; i < f->v.n; i++)
        if (f->v.v[i].count > 1)
            order[(*n)++] = (uint32_t)i;
    tl_sort_index(order, *n, by_time, f);
    return order;
}

static void finding_free(finding *f)
{
    tl_arena_free(&f->arena);
    tl_map_free(&f->slot);
    free(f->v.v);
    free(f->open.v);
}

static void pattern_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    finding f = { .view = view };
    size_t n;
    (void)config;
    tl_launched_find(&f.launched, view, &f.arena);
    sweep_all(&f);
    uint32_t *order = order_of(&f, &n);
    add_rows(&f, order, n, out);
    free(order);
    finding_free(&f);
}

/* ----------------------------------------------------------------------------------------------------- occurrences */

/* Marks as shown the first `most` sequences, each once: for the first operator that has it. */
static void mark_shown(finding *f, size_t most)
{
    size_t n;
    int32_t shown = 0;
    uint32_t *order = order_of(f, &n);
    for (size_t i = 0; i < n && (size_t)shown < most; i++) {
        size_t k = 0;
        while (k < i && (f->v.v[order[k]].shown == 0 || f->v.v[order[k]].hash != f->v.v[order[i]].hash))
            k++;
        if (k == i)
            f->v.v[order[i]].shown = ++shown;
    }
    free(order);
}

static int by_device_and_pattern(const void *a, const void *b)
{
    return TL_ORDER((const tl_occurrence *)a, (const tl_occurrence *)b, device, pattern, start_ns, end_ns);
}

void tl_pattern_occurrences(const tl_rank_view *view, size_t most, tl_occurrences *out)
{
    finding f = { .view = view };
    tl_launched_find(&f.launched, view, &f.arena);
    sweep_all(&f);
    mark_shown(&f, most);
    for (size_t i = 0; i < f.v.n; i++)
        f.v.v[i].first = SIZE_MAX;
    f.occurrences = out;
    sweep_all(&f);
    tl_vec_sort(out, by_device_and_pattern);
    finding_free(&f);
}

TL_TABLE_DEFINE_AS(
    pattern_row, "pattern", TL_PATTERN_FIELDS, TL_SCOPE_RANK, "sequences of device work",
    "Which sequences of kernels do the operators of a rank launch again and again, and what do they cost?");

const tl_analysis tl_pattern_analysis = {
    .name = "pattern",
    .question = "Which sequences of kernels come again and again?",
    .needs = TL_NEEDS_HOST,
    .tables = TL_SCHEMAS(&tl_pattern_row_schema),
    .per_rank = pattern_per_rank,
};
