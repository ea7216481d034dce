/* works.c - what runs on both sides, aligned by name: kernels, operators, collectives, classes of idle time.
 *
 *     equal names                                                  one row
 *     equal but for template arguments, addresses and numbers      one row, replaced
 *     under the same operator                                      one row, replaced
 *     the rest                                                     removed (of A), added (of B)
 */
#include "internal.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

work *tl_diff_works_at(works *w, uint32_t kind, uint32_t name)
{
    uint64_t key = (uint64_t)kind << 32 | name;
    uint32_t at = tl_map_get(&w->map, key);
    if (at == TL_MAP_NONE) {
        at = (uint32_t)w->v.n;
        tl_map_put(&w->map, key, at);
        tl_vec_push(&w->v,
                    (work){ kind, name, .b_name = TL_NO_NAME, .operator= TL_NO_NAME, .root = at, .p_value = NAN });
    }
    return &w->v.v[at];
}

void tl_diff_works_free(works *w)
{
    free(w->v.v);
    tl_map_free(&w->map);
}

const work *tl_diff_most_changed(const works *w, double way, const double by[2], double *change_ns, double *all_ns)
{
    const work *best = NULL;
    *change_ns = *all_ns = 0;
    TL_EACH (const work, x, w->v) {
        double change = (double)x->side[B].ns / by[B] - (double)x->side[A].ns / by[A];
        *all_ns += change;
        if (way * change > way * *change_ns) {
            *change_ns = change;
            best = x;
        }
    }
    return best;
}

uint32_t tl_diff_family_of(tl_names *names, uint32_t name)
{
    tl_text t = tl_names_text(names, name);
    tl_bytes kept = { 0 };
    int depth = 0;
    for (size_t i = 0; i < t.n; i++) {
        char c = t.p[i];
        depth += c == '<' || c == '(';
        if (depth == 0 && c == '0' && i + 1 < t.n && t.p[i + 1] == 'x')
            for (i++; i + 1 < t.n && isxdigit((unsigned char)t.p[i + 1]); i++)
                ;
        else if (depth == 0 && !isdigit((unsigned char)c))
            tl_bytes_put(&kept, &c, 1);
        else if (depth == 0 && kept.n > 1 && kept.v[kept.n - 1] == 'v' && strchr("_.", kept.v[kept.n - 2]) != NULL)
            kept.n -= 2; /* a version, as in flash_fwd_v2 */
        depth -= (c == '>' || c == ')') && depth > 0;
    }
    uint32_t family = tl_names_intern(names, kept.n > 0 ? kept.v : "", kept.n);
    free(kept.v);
    return family;
}

tl_collective tl_diff_collective_of(tl_text name)
{
    tl_collective found = TL_COLL_UNKNOWN;
    size_t longest = 0;
    for (int c = TL_COLL_UNKNOWN + 1; c < TL_NCOLLECTIVES; c++) {
        char word[32] = ""; /* as in a kernel's name: AllReduce for all_reduce */
        size_t n = 0;
        bool first = true;
        for (const char *p = tl_collective_labels[c]; *p != '\0' && n + 1 < sizeof word; p++) {
            if (*p != '_')
                word[n++] = (char)(first ? toupper((unsigned char)*p) : *p);
            first = *p == '_';
        }
        if (n > longest && tl_text_has(name, word)) {
            longest = n;
            found = (tl_collective)c;
        }
    }
    return found;
}

/* --------------------------------------------------------------------------------------------------------- aligning */

typedef struct alone {
    uint64_t key; /* equal for works that may replace each other; 0: no replacement */
    uint32_t at;
    int64_t ns;
    int side;
} alone;

TL_SORT_BY(by_key, alone, key, side, DOWN(ns), DOWN(at))

static bool is_alone(const work *x)
{
    return (x->side[A].count > 0) != (x->side[B].count > 0);
}

static bool is_comm(const tl_diff *diff, uint32_t kind)
{
    return tl_text_is(tl_names_text(&diff->names, kind), tl_kind_labels[TL_COMM]);
}

/* Communication kernels replace each other only within one collective, since one operator may launch all
 * collectives. */
static uint64_t key_of(tl_diff *diff, const work *x, bool by_operator)
{
    uint64_t collective =
        is_comm(diff, x->kind) ? tl_diff_collective_of(tl_names_text(&diff->names, x->name)) : TL_COLL_NONE;
    if (by_operator)
        return x->operator!= TL_NO_NAME ? tl_hash_mix(tl_hash_mix(2 + collective, x->operator), x->kind) : 0;
    return tl_hash_mix(tl_hash_mix(1, tl_diff_family_of(&diff->names, x->name)), x->kind);
}

static void join(works *w, uint32_t at, uint32_t into)
{
    work *x = &w->v.v[at], *kept = &w->v.v[into];
    for (int k = A; k <= B; k++) {
        kept->side[k].count += x->side[k].count;
        kept->side[k].ns = tl_ns_sum(kept->side[k].ns, x->side[k].ns);
        x->side[k] = (amount){ 0 };
    }
    x->root = into;
}

/* Joins the works of A only and of B only that have equal keys into one work: the longest of A, with the name of the
 * longest of B.  of[n]: the indices of the works; NULL: all. */
static void join_replaced(tl_diff *diff, works *w, const uint32_t *of, size_t n, bool by_operator)
{
    TL_VEC(alone) v = { 0 };
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = of != NULL ? of[i] : (uint32_t)i;
        const work *x = &w->v.v[at];
        if (!is_alone(x))
            continue;
        int which = x->side[B].count > 0 ? B : A;
        tl_vec_push(&v, (alone){ key_of(diff, x, by_operator), at, x->side[which].ns, which });
    }
    tl_vec_sort(&v, by_key);
    for (size_t from = 0, to; from < v.n; from = to) {
        size_t second = from;
        for (to = from; to < v.n && v.v[to].key == v.v[from].key; to++)
            second = v.v[to].side == A ? to + 1 : second;
        if (v.v[from].key == 0 || second == from || second == to)
            continue;
        work *kept = &w->v.v[v.v[from].at];
        kept->aligned = true;
        kept->b_name = w->v.v[v.v[second].at].name;
        for (size_t i = from + 1; i < to; i++)
            join(w, v.v[i].at, v.v[from].at);
    }
    free(v.v);
}

void tl_diff_works_align(tl_diff *diff, works *w)
{
    join_replaced(diff, w, NULL, w->v.n, false);
    join_replaced(diff, w, NULL, w->v.n, true);
}

static uint32_t root_of(const works *w, uint32_t at)
{
    while (w->v.v[at].root != at)
        at = w->v.v[at].root;
    return at;
}

/* Moves a node whose parent was joined to another one below that one, where it is joined to a node of its name. */
static void move_node(works *w, uint32_t at)
{
    const uint32_t parent = w->v.v[at].kind / TL_NTREE_KINDS;
    const uint32_t to = parent > 0 ? root_of(w, parent - 1) + 1 : 0;
    if (to == parent)
        return;
    const uint32_t place = to * TL_NTREE_KINDS + w->v.v[at].kind % TL_NTREE_KINDS;
    const uint32_t same = tl_map_number(&w->map, (uint64_t)place << 32 | w->v.v[at].name, at);
    w->v.v[at].kind = place;
    w->v.v[at].operator= w->v.v[at].operator!= TL_NO_NAME ? place : TL_NO_NAME;
    if (same != at)
        join(w, at, same);
}

void tl_diff_tree_align(tl_diff *diff)
{
    works *w = &diff->of[CALLS];
    const size_t n = w->v.n;
    uint32_t *depth = tl_calloc(n + 1, sizeof *depth), *of = tl_malloc((n + 1) * sizeof *of);
    size_t nlevels = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t parent = w->v.v[i].kind / TL_NTREE_KINDS;
        depth[i] = parent > 0 ? depth[parent - 1] + 1 : 0;
        nlevels = depth[i] >= nlevels ? depth[i] + 1 : nlevels;
    }
    size_t *first = tl_malloc((nlevels + 1) * sizeof *first);
    tl_group_rows(depth, n, nlevels, first, of);
    for (size_t level = 0; level < nlevels; level++) {
        const uint32_t *nodes = of + first[level];
        const size_t nnodes = first[level + 1] - first[level];
        for (size_t i = 0; i < nnodes; i++)
            move_node(w, nodes[i]);
        join_replaced(diff, w, nodes, nnodes, false);
        join_replaced(diff, w, nodes, nnodes, true);
    }
    free(first);
    free(depth);
    free(of);
}

/* ---------------------------------------------------------------------------------------------------------- amounts */

/* Returns the number of works compared, by which p-values are corrected. */
static double tests_of(const works *w)
{
    double tests = 0;
    TL_EACH (const work, x, w->v)
        tests += x->side[A].count > 0 && x->side[B].count > 0;
    return tests;
}

/* Returns the kind of change between two amounts over `rate` steps; p_value: of a difference in times, NaN: not tested;
 * least_more: as in works. */
static tl_diff_change change_of(const amount amounts[2], const double rate[2], double least_more, double p_value)
{
    const double a_count = amounts[A].count / rate[A], b_count = amounts[B].count / rate[B];
    const double each = (double)amounts[B].ns / amounts[B].count / ((double)amounts[A].ns / amounts[A].count);
    bool longer = !(p_value >= TL_VERDICT_ALPHA) && fabs(each - 1) >= TL_DIFF_LEAST;
    bool more = fabs(b_count - a_count) > least_more * fmax(a_count, b_count);
    return longer && more ? TL_DIFF_BOTH : longer ? TL_DIFF_TIME : more ? TL_DIFF_COUNT : TL_DIFF_SAME;
}

void tl_diff_amounts(const tl_diff *diff, const works *w, const work *x, tl_diff_work *row)
{
    const amount *amounts = x->side;
    int64_t step_ns = diff->side[A].median_ns;
    row->a_count = amounts[A].count / w->rate[A];
    row->b_count = amounts[B].count / w->rate[B];
    row->a_ns = (int64_t)llround((double)amounts[A].ns / w->rate[A]);
    row->b_ns = (int64_t)llround((double)amounts[B].ns / w->rate[B]);
    row->change_ns = row->b_ns - row->a_ns;
    row->share = step_ns > 0 ? (double)row->change_ns / (double)step_ns : NAN;
    row->a_each_ns = amounts[A].count > 0 ? (double)amounts[A].ns / amounts[A].count : NAN;
    row->b_each_ns = amounts[B].count > 0 ? (double)amounts[B].ns / amounts[B].count : NAN;
    row->p_value = x->p_value;
    row->by_count_ns = amounts[A].count > 0 && amounts[B].count > 0
                           ? (int64_t)llround((row->b_count - row->a_count) * row->a_each_ns)
                           : row->change_ns;
    row->change = (uint8_t)(!is_there(&amounts[A])   ? TL_DIFF_ADDED
                            : !is_there(&amounts[B]) ? TL_DIFF_REMOVED
                            : x->aligned             ? TL_DIFF_REPLACED
                                                     : change_of(amounts, w->rate, w->least_more, row->p_value));
    row->ranks_times = row->ranks_a_count = row->ranks_b_count = NAN;
    row->kind = x->kind;
    row->operator= x->operator;
    row->name = x->name;
    row->b_name = x->aligned ? x->b_name : TL_NO_NAME;
}

static int by_change(const void *a, const void *b)
{
    const tl_diff_work *x = a, *y = b;
    int64_t cx = llabs(x->change_ns), cy = llabs(y->change_ns);
    return cx != cy ? TL_COMPARE(cy, cx) : TL_ORDER(x, y, kind, name);
}

/* Returns whether a change can be significant.  Times that contain waiting, as of communication and of host work, are
 * not independent between ranks; the numbers of gaps and of matched collectives differ even between equal runs. */
static bool can_be_told(const tl_diff *diff, const tl_table *table, const tl_diff_work *row)
{
    return row->change == TL_DIFF_TIME ? table == &diff->tables[TABLE_KERNEL] && !is_comm(diff, row->kind)
                                       : table != &diff->tables[TABLE_COLLECTIVE] && table != &diff->tables[TABLE_IDLE];
}

/* Adds the rows of works that wait for the device, or of the others. */
static void add_rows(tl_diff *diff, const works *w, tl_table *table, bool waits)
{
    const double tests = tests_of(w);
    const size_t before = table->n;
    TL_EACH (const work, x, w->v) {
        if ((!is_there(&x->side[A]) && !is_there(&x->side[B])) || x->waits != waits)
            continue; /* joined to another work, or a row of the other call */
        tl_diff_work *row = tl_table_add(table);
        tl_diff_amounts(diff, w, x, row);
        /* What a side could not match is neither new nor gone. */
        if (row->change == TL_DIFF_BOTH && is_comm(diff, x->kind))
            row->change = TL_DIFF_COUNT;
        const side *other = &diff->side[row->change == TL_DIFF_ADDED ? A : B];
        if ((row->change == TL_DIFF_ADDED || row->change == TL_DIFF_REMOVED) &&
            (double)other->unmatched_ns[x->collective] * (double)TL_LITTLE_PART > (double)other->comm_ns[x->collective])
            row->change = TL_DIFF_SAME;
        /* The false-positive rate of each table is TL_VERDICT_ALPHA. */
        bool told = row->change == TL_DIFF_TIME ? row->p_value * tests < TL_VERDICT_ALPHA : row->change != TL_DIFF_SAME;
        row->sure = told && fabs(row->share) >= TL_NOTHING_SHARE && can_be_told(diff, table, row);
        if (x->ranks[0] == '\0' || is_comm(diff, x->kind))
            continue;
        memcpy(row->ranks, x->ranks, sizeof row->ranks);
        row->ranks_times = x->ranks_times;
        row->ranks_a_count = x->ranks_count[A];
        row->ranks_b_count = x->ranks_count[B];
        row->ranks_ns = x->ranks_ns;
        if (row->change == TL_DIFF_SAME || row->change == TL_DIFF_TIME) {
            row->change = (uint8_t)x->ranks_change;
            row->p_value = x->ranks_p;
            row->sure = true;
        }
    }
    if (table->n > before)
        qsort(tl_table_row(table, before), table->n - before, sizeof(tl_diff_work), by_change);
}

void tl_diff_works_table(tl_diff *diff, const works *w, tl_table *table)
{
    add_rows(diff, w, table, false);
    add_rows(diff, w, table, true);
    int32_t place = 0;
    TL_ROWS (tl_diff_work, row, table)
        row->place = ++place;
}

/* ------------------------------------------------------------------------------------------------- kernels by step
 *
 * Does a kernel take longer on all ranks, or on some of them?  By its launches in the compared steps.
 *
 *     all ranks     mean time of one launch, by step of A and of B
 *     one unit      mean time of its own launches; p-values are corrected for the number of units
 */

/* The change of a kernel on the ranks of one unit. */
typedef struct changed {
    const unit *unit;
    double change_ns, a_ns, count[2]; /* per rank and step */
    double p_value;
    tl_diff_change change;
} changed;

/* Returns the p-value of the mean times of a launch, by step, in n series of one kernel: that they differ by more than
 * devices, hosts and days do. */
static double chance_of(const tl_diff *diff, const series *v, size_t n)
{
    double *mean[2];
    for (int i = A; i <= B; i++) {
        mean[i] = tl_calloc(diff->side[i].steps.n + 1, sizeof *mean[i]);
        for (size_t k = 0; k < diff->side[i].steps.n; k++) {
            amount sum = { 0 };
            for (size_t r = 0; r < n; r++)
                if (v[r].side == i) {
                    sum.count += v[r].step[k].count;
                    sum.ns = tl_ns_sum(sum.ns, v[r].step[k].ns);
                }
            mean[i][k] = sum.count > 0 ? (double)sum.ns / sum.count : NAN;
        }
    }
    double p = tl_diff_times_test(diff, mean[A], mean[B], TL_DIFF_LEAST);
    free(mean[A]);
    free(mean[B]);
    return p;
}

/* Returns the change in n series of one kernel and unit. */
static changed changed_on(const tl_diff *diff, const series *v, size_t n)
{
    const unit *u = &diff->units.v[v->unit];
    amount sum[2] = { { 0 } };
    double rate[2], p = fmin(1, chance_of(diff, v, n) * (double)diff->units.n);
    for (int i = A; i <= B; i++)
        rate[i] = (double)diff->side[i].steps.n * (double)u->ranks[i].n;
    for (size_t r = 0; r < n; r++) {
        sum[v[r].side].count += v[r].sum.count;
        sum[v[r].side].ns = tl_ns_sum(sum[v[r].side].ns, v[r].sum.ns);
    }
    double a_ns = (double)sum[A].ns / rate[A];
    return (changed){ .unit = u,
                      .change_ns = (double)sum[B].ns / rate[B] - a_ns,
                      .a_ns = a_ns,
                      .count = { sum[A].count / rate[A], sum[B].count / rate[B] },
                      .p_value = p,
                      .change = change_of(sum, rate, TL_DIFF_LEAST, p) };
}

/* Whether the change of a kernel on one rank is told before that on another: a slower rank holds others up, a faster
 * one does not; then the larger change. */
static bool comes_before(const changed *x, const changed *y)
{
    if ((x->change_ns > 0) != (y->change_ns > 0))
        return x->change_ns > 0;
    return fabs(x->change_ns) > fabs(y->change_ns);
}

/* Sets the ranks of the units that change by at least half of the change told first, in its direction, if they are at
 * most half of all ranks and the kernel changes by less than half as much on the others. */
static void put_ranks(const tl_diff *diff, work *x, const changed *v, size_t n, double tests)
{
    const changed *most = NULL;
    TL_VEC(int64_t) ranks = { 0 };
    double inside_ns = 0, outside_ns = 0, a_ns = 0, in = 0, out = 0, count[2] = { 0, 0 };
    for (size_t i = 0; i < n; i++) {
        bool told =
            v[i].change == TL_DIFF_COUNT || (v[i].change != TL_DIFF_SAME && v[i].p_value * tests < TL_VERDICT_ALPHA);
        if (told && fabs(v[i].change_ns) >= TL_NOTHING_SHARE * (double)diff->side[A].median_ns &&
            (most == NULL || comes_before(&v[i], most)))
            most = &v[i];
    }
    for (size_t i = 0; i < n && most != NULL; i++) {
        const double weight = (double)v[i].unit->ranks[A].n;
        const bool inside = v[i].change != TL_DIFF_SAME && 2 * v[i].change_ns / most->change_ns >= 1;
        *(inside ? &in : &out) += weight;
        *(inside ? &inside_ns : &outside_ns) += weight * v[i].change_ns;
        a_ns += inside ? weight * v[i].a_ns : 0;
        for (int k = A; k <= B; k++)
            count[k] += inside ? weight * v[i].count[k] : 0;
        for (size_t r = 0; inside && r < v[i].unit->ranks[B].n; r++)
            tl_vec_push(&ranks, v[i].unit->ranks[B].v[r]);
    }
    const bool new_or_gone = (x->side[A].count > 0) != (x->side[B].count > 0);
    if (most != NULL && !(new_or_gone && outside_ns != 0) && in <= out &&
        2 * fabs(outside_ns / out) < fabs(inside_ns / in)) {
        ranks.n = tl_ns_distinct(ranks.v, ranks.n);
        tl_diff_put_ranks(x->ranks, sizeof x->ranks, ranks.v, ranks.n);
        x->ranks_times = a_ns > 0 ? 1 + inside_ns / a_ns : INFINITY;
        x->ranks_count[A] = count[A] / in;
        x->ranks_count[B] = count[B] / in;
        x->ranks_p = most->p_value;
        x->ranks_ns = llround(inside_ns / (in + out));
        x->ranks_change = most->change;
    }
    free(ranks.v);
}

TL_SORT_BY(by_work, series, work, unit, side)

void tl_diff_kernel_steps(tl_diff *diff)
{
    works *w = &diff->of[KERNELS];
    TL_VEC(changed) units = { 0 };
    TL_EACH (series, s, diff->series)
        s->work = w->v.v[s->work].root;
    tl_vec_sort(&diff->series, by_work);
    const series *v = diff->series.v;
    for (size_t from = 0, to; diff->side[A].marked && from < diff->series.n; from = to) {
        work *x = &w->v.v[v[from].work];
        units.n = 0;
        for (to = from; to < diff->series.n && v[to].work == v[from].work;) {
            const size_t own = to;
            while (to < diff->series.n && v[to].work == v[own].work && v[to].unit == v[own].unit)
                to++;
            if (diff->units.n > 1)
                tl_vec_push(&units, changed_on(diff, &v[own], to - own));
        }
        x->p_value = chance_of(diff, &v[from], to - from);
        put_ranks(diff, x, units.v, units.n, tests_of(w));
    }
    free(units.v);
}
