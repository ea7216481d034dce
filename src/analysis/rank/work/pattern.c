/* pattern.c - which sequences of device work do operators launch again and again?
 *
 *     host     [layer            ]..[layer            ]      layer, 2 times: a b c
 *                [norm ]              [norm ]                norm, 2 times: a b, shorter than SHORTEST
 *     launch       |a |b    |c          |a |b    |c
 *
 * One sweep over the operators of each thread and its launches.  The work launched in an operator is the stretch from
 * its first to its last piece of work, so enclosing operators do not cost more for their content.
 */
#include "tlmpi/analysis/rank/work/pattern.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Device work (kernels, copies and memsets) by launching thread, then order of launch.  Prefix sums give duration and
 * hash of any stretch in constant time. */
typedef struct tl_launched {
    tl_thread_launches by; /* launches by thread */
    size_t *first;         /* work of launch by.v[p]: first[p] to first[p + 1] - 1 */
    uint32_t *kernel;      /* work -> kernel */
    int64_t *ns;           /* durations of the work before i, summed */
    uint64_t *hash;        /* hash of the names of the work before i; modulo a prime */
    uint64_t *power;       /* power[i]: the hash's base to the power of i */
    size_t n;
} tl_launched;

/* Returns the sum of the durations of work [from, to), ns. */
static inline int64_t launched_ns(const tl_launched *l, size_t from, size_t to)
{
    return l->ns[to] - l->ns[from];
}

/* ---------------------------------------------------------------------------------------------------- launched work */

/* Device work in the order in which it was launched, and a sequence of it in words.
 *
 *     thread 1   |launch 1      |launch 2, of a graph
 *     device     ...[a]...........[b][c][b]            a b c b
 *
 * The hash of a stretch is computed from the hashes of two prefixes, as its sum is from two prefix sums.
 *
 *     void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, ...)    twice, and
 *     Memcpy DtoD (Device -> Device)
 *
 *     vectorized_elementwise_kernel<4, FillFunctor<float>> x 2 | Memcpy DtoD
 */

__extension__ typedef unsigned __int128 wide;

#define PRIME ((UINT64_C(1) << 61) - 1)
#define BASE  UINT64_C(1442695040888963407)

static uint64_t reduce(uint64_t x)
{
    x = (x & PRIME) + (x >> 61);
    return x >= PRIME ? x - PRIME : x;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;
    return reduce((uint64_t)(product & PRIME) + (uint64_t)(product >> 61));
}

static uint64_t hash_of_name(const tl_rank_view *view, uint32_t name)
{
    return name != TL_NO_NAME ? reduce(view->names->v[tl_name_key(view, name)].key) : 1;
}

/* Fills *launched; the arrays belong to the arena. */
static void launched_find(tl_launched *l, const tl_rank_view *view, tl_arena *arena)
{
    size_t n = view->nkernels;
    uint32_t *position = tl_arena_take(arena, view->nlaunches, sizeof *position), /* by launch: its index in by.v */
        *group_of = tl_arena_take(arena, n, sizeof *group_of);

    l->first = tl_arena_take(arena, view->nlaunches + 1, sizeof *l->first);
    l->kernel = tl_arena_take(arena, n, sizeof *l->kernel);
    l->ns = tl_arena_zeroed(arena, n + 1, sizeof *l->ns);
    l->hash = tl_arena_zeroed(arena, n + 1, sizeof *l->hash);
    l->power = tl_arena_take(arena, n + 1, sizeof *l->power);
    tl_launches_by_thread(view, arena, &l->by);
    for (uint32_t p = 0; p < view->nlaunches; p++)
        position[l->by.v[p]] = p;
    for (size_t i = 0; i < n; i++)
        group_of[i] = view->kernels[i].launch != TL_NONE ? position[view->kernels[i].launch] : TL_NONE;
    tl_group_rows(group_of, n, view->nlaunches, l->first, l->kernel);
    l->n = l->first[view->nlaunches];
    l->power[0] = 1;
    for (size_t i = 0; i < l->n; i++) {
        const tl_kernel *k = &view->kernels[l->kernel[i]];
        l->ns[i + 1] = tl_ns_add(l->ns[i], k->end_ns - k->start_ns);
        l->hash[i + 1] = reduce(times(l->hash[i], BASE) + hash_of_name(view, k->name));
        l->power[i + 1] = times(l->power[i], BASE);
    }
}

/* Returns a hash of the names of work [from, to) in their order, below 2^61. */
static uint64_t launched_hash(const tl_launched *l, size_t from, size_t to)
{
    return reduce(l->hash[to] + PRIME - times(l->hash[from], l->power[to - from]));
}

/* ------------------------------------------------------------------------------------------------------------ words */

enum {
    LONGEST_NAME = 56, /* bytes of a kernel's name */
    LONGEST = 240      /* bytes of the text of a sequence, which is truncated */
};

#define UNNAMED "(anonymous namespace)"

/* Writes the name without return type, namespaces and parameters to out, which has room for LONGEST_NAME + 3; returns
 * its length. */
static size_t shorten(tl_text name, char *out)
{
    size_t n = 0, i = tl_text_starts(name, "void ") ? 5 : 0, end;
    int depth = 0; /* of template arguments */

    for (; i < name.n && n < LONGEST_NAME; i = end) {
        tl_text rest = { name.p + i, name.n - i };
        for (end = i; end < name.n && (tl_is_letter(name.p[end]) || tl_is_digit(name.p[end]) || name.p[end] == '_');
             end++)
            ;
        if (tl_text_starts((tl_text){ name.p + end, name.n - end }, "::")) {
            end += 2;
        } else if (end > i) {
            size_t room = LONGEST_NAME - n, length = end - i;
            end = i + (length < room ? length : room);
            memcpy(out + n, rest.p, end - i);
            n += end - i;
        } else if (tl_text_starts(rest, UNNAMED)) {
            end = i + sizeof UNNAMED - 1;
        } else if (rest.p[0] == '(' && depth == 0 && n > 0) {
            end = name.n;
        } else {
            depth += (rest.p[0] == '<') - (rest.p[0] == '>' && depth > 0);
            out[n++] = rest.p[0];
            end = i + 1;
        }
    }
    n = tl_text_utf8((tl_text){ out, n });
    if (i < name.n) {
        memcpy(out + n, "...", 3);
        return n + 3;
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    return n;
}

/* Replaces the content of words by the names of work [from, to). */
static void launched_words(const tl_launched *l, const tl_rank_view *view, size_t from, size_t to, tl_bytes *words)
{
    words->n = 0;
    for (size_t i = from, n; i < to; i += n) {
        char part[LONGEST_NAME + 64];
        size_t length = 0;
        if (i > from) {
            memcpy(part, " | ", 3);
            length = 3;
        }
        if (words->n >= LONGEST) {
            length += (size_t)snprintf(part + length, sizeof part - length, "... %zu more", to - i);
            tl_bytes_put(words, part, length);
            return;
        }
        uint32_t name = tl_name_key(view, view->kernels[l->kernel[i]].name);
        for (n = 1; i + n < to && tl_name_key(view, view->kernels[l->kernel[i + n]].name) == name; n++)
            ;
        length += shorten(tl_names_text(view->names, name), part + length);
        if (n > 1)
            length += (size_t)snprintf(part + length, sizeof part - length, " x %zu", n);
        tl_bytes_put(words, part, length);
    }
}

enum {
    SHORTEST = 3,         /* fewest kernels, copies and memsets in a sequence */
    FIRST_ROWS = 100,     /* the first rows of a rank are kept; a later row only if it is the first of its operator */
    MOST_OPERATORS = 1000 /* operators of a rank that get at least one row, if they have a sequence */
};

/* A sequence under operators of one name. */
typedef struct pattern {
    uint32_t name;
    uint64_t hash;
    size_t first, n; /* work of the last occurrence */
    int64_t count, host_ns, device_ns, to_launch_ns, to_work_ns;
    int64_t last_ns, last_start_ns; /* the operator of the last occurrence */
} pattern;

/* One time that an operator launched a sequence. */
typedef struct once {
    uint32_t pattern;
    size_t first; /* work */
} once;

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
    tl_map pattern_of; /* hash of name and sequence -> pattern */
    TL_VEC(pattern) v;
    TL_VEC(once) times;
    TL_VEC(frame) open;
    uint32_t *order; /* [n] patterns that occur more than once, most device time first */
    size_t n;
} finding;

/* Counts an operator that has launched the n pieces of work from `first` on.  An operator around one of its
 * name that launched the same counts with that one, which came first. */
static void count_operator(finding *f, uint32_t op, size_t first, size_t n)
{
    const tl_ops *ops = &f->view->ops;
    const tl_kernel *k = &f->view->kernels[f->launched.kernel[first]];
    const uint32_t name = tl_name_key(f->view, ops->name[op]);
    const uint64_t hash = launched_hash(&f->launched, first, first + n);
    const uint32_t at = tl_map_number(&f->pattern_of, tl_hash_mix(tl_hash_mix(hash, n), name), f->v.n);
    if (at == f->v.n)
        tl_vec_push(&f->v, (pattern){ .name = name, .hash = hash, .first = SIZE_MAX, .n = n });
    pattern *p = &f->v.v[at];

    if (p->first == first) {
        p->host_ns = tl_ns_add(p->host_ns, tl_ns_max(ops->dur_ns[op] - p->last_ns, 0));
        p->last_ns = tl_ns_max(p->last_ns, ops->dur_ns[op]);
        p->to_launch_ns = tl_ns_add(p->to_launch_ns, p->last_start_ns - ops->start_ns[op]);
    } else {
        tl_vec_push(&f->times, (once){ at, first });
        p->first = first;
        p->last_ns = ops->dur_ns[op];
        p->count++;
        p->host_ns = tl_ns_add(p->host_ns, p->last_ns);
        p->device_ns = tl_ns_add(p->device_ns, launched_ns(&f->launched, first, first + n));
        p->to_launch_ns = tl_ns_add(p->to_launch_ns, k->launch_ns - ops->start_ns[op]);
        p->to_work_ns = tl_ns_add(p->to_work_ns, tl_ns_max(tl_ns_between(k->start_ns, k->launch_ns), 0));
    }
    p->last_start_ns = ops->start_ns[op];
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

static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const finding *f = context;
    const pattern *x = &f->v.v[a], *y = &f->v.v[b];
    int order = TL_ORDER(y, x, device_ns, host_ns);
    if (order == 0)
        order = tl_text_compare(tl_names_text(f->view->names, x->name), tl_names_text(f->view->names, y->name));
    return order != 0 ? order : TL_COMPARE(x->hash, y->hash);
}

static void find_patterns(finding *f)
{
    const tl_ops *ops = &f->view->ops;
    const tl_thread_launches *by = &f->launched.by;

    launched_find(&f->launched, f->view, &f->arena);
    for (size_t t = 0; t < ops->nthreads; t++) {
        uint32_t track = ops->threads[t].track;
        if (track < by->ntracks && by->first[track] < by->first[track + 1])
            sweep(f, &ops->threads[t], by->first[track], by->first[track + 1]);
    }
    f->order = tl_arena_take(&f->arena, f->v.n, sizeof *f->order);
    for (uint32_t i = 0; i < f->v.n; i++)
        if (f->v.v[i].count > 1)
            f->order[f->n++] = i;
    tl_sort_index(f->order, f->n, by_time, f);
}

static void finding_free(finding *f)
{
    tl_arena_free(&f->arena);
    tl_map_free(&f->pattern_of);
    free(f->v.v);
    free(f->times.v);
    free(f->open.v);
}

/* ------------------------------------------------------------------------------------------------------------ rows */

/* Adds rows: for the FIRST_ROWS first sequences, and for the first sequence of each operator. */
static void pattern_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    finding f = { .view = view };
    tl_table *table = tl_tables_get(out, &tl_pattern_row_schema);
    tl_bytes words = { 0 };
    tl_map shown = { 0 }; /* by operator: rows */
    int64_t all_ns = 0;
    (void)config;

    find_patterns(&f);
    for (size_t i = 0; i < view->nkernels; i++)
        all_ns = tl_ns_add(all_ns, view->kernels[i].end_ns - view->kernels[i].start_ns);
    for (size_t i = 0; i < f.n; i++) {
        const pattern *p = &f.v.v[f.order[i]];
        if (i >= FIRST_ROWS && (shown.n >= MOST_OPERATORS || tl_map_get(&shown, p->name) != TL_MAP_NONE))
            continue;
        tl_map_count(&shown, p->name);
        launched_words(&f.launched, view, p->first, p->first + p->n, &words);
        const tl_pattern_row row = {
            .rank = view->rank,
            .place = (int32_t)i + 1,
            .count = p->count,
            .kernels = (int64_t)p->n,
            .host_ns = p->host_ns,
            .device_ns = p->device_ns,
            .to_launch_ns = (double)p->to_launch_ns / (double)p->count,
            .to_work_ns = (double)p->to_work_ns / (double)p->count,
            .share = all_ns > 0 ? (double)p->device_ns / (double)all_ns : NAN,
            .patterns = (int64_t)f.n,
            .id = (int64_t)p->hash,
            .operator= p->name,
            .sequence = tl_names_intern(out->names, words.v, words.n),
        };
        tl_table_append(table, &row, 1);
    }
    tl_bytes_free(&words);
    tl_map_free(&shown);
    finding_free(&f);
}

/* ----------------------------------------------------------------------------------------------------- occurrences */

TL_SORT_BY(by_device_and_pattern, tl_occurrence, device, pattern, start_ns, end_ns)

/* Shows a sequence that several operators have under the first of them. */
void tl_pattern_occurrences(const tl_rank_view *view, size_t most, tl_occurrences *out)
{
    finding f = { .view = view };
    tl_map shown = { 0 }; /* hash -> index in order of the first pattern that has it */
    find_patterns(&f);
    int32_t *number = tl_arena_zeroed(&f.arena, f.v.n, sizeof *number); /* by pattern, from 1; 0: not shown */
    for (size_t i = 0; i < f.n && shown.n < most; i++) {
        const size_t nshown = shown.n;
        if (tl_map_number(&shown, f.v.v[f.order[i]].hash, nshown) == nshown)
            number[f.order[i]] = (int32_t)nshown + 1;
    }
    TL_EACH (const once, one, f.times) {
        const pattern *p = &f.v.v[one->pattern];
        const uint32_t *v = f.launched.kernel + one->first;
        tl_occurrence o = { .pattern = number[one->pattern],
                            .device = view->kernels[v[0]].device,
                            .start_ns = INT64_MAX,
                            .end_ns = INT64_MIN,
                            .kernels = (int64_t)p->n,
                            .id = (int64_t)p->hash,
                            .operator= p->name };
        if (o.pattern == 0)
            continue;
        for (size_t i = 0; i < p->n; i++) {
            o.start_ns = tl_ns_min(o.start_ns, view->kernels[v[i]].start_ns);
            o.end_ns = tl_ns_max(o.end_ns, view->kernels[v[i]].end_ns);
        }
        tl_vec_push(out, o);
    }
    tl_vec_sort(out, by_device_and_pattern);
    tl_map_free(&shown);
    finding_free(&f);
}

TL_TABLE_DEFINE_AS(
    pattern_row, "pattern", TL_PATTERN_FIELDS, TL_SCOPE_RANK, "sequences of device work",
    "Which sequences of kernels do the operators of a rank launch again and again, and what do they cost?");

const tl_analysis tl_pattern_analysis = { .needs = TL_NEEDS_HOST, .per_rank = pattern_per_rank };
