/* verdict.c - the findings: the step, then the significant changes, largest first.
 *
 *     a part of the step     if its step times differ by a rank test
 *     a kernel               if it is new, gone, replaced, runs more often, or takes longer per run
 *
 * If kernels explain half of the change of compute or copies, the kernels are named, not the part.  Communication
 * is named by its part of the step, not by the time of its kernels, which may wait; its kernels are named, without a
 * time, if they are new, gone, replaced or run more often, with the changed transfer if there is one.
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/facts.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/participant.h"
#include "tlmpi/model/work_tables.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a finding with the change of a part of the step. */
static tl_diff_found *add_found(tl_diff *diff, const tl_diff_step *change)
{
    tl_diff_found *row = tl_table_add(&diff->tables[TABLE_FOUND]);
    row->part = change->part;
    row->change = change->change_ns != 0 ? TL_DIFF_TIME : TL_DIFF_SAME;
    row->change_ns = change->change_ns;
    row->share = change->share;
    row->p_value = change->p_value;
    row->sure = change->sure;
    row->rank = -1;
    row->a_count = row->b_count = row->times = row->why_a_count = row->why_b_count = NAN;
    row->name = row->b_name = row->operator= row->why = TL_NO_NAME;
    return row;
}

static uint8_t part_of_kind(const tl_diff *diff, uint32_t kind)
{
    tl_text text = tl_names_text(&diff->names, kind);
    return tl_text_is(text, tl_kind_labels[TL_COMPUTE]) ? TL_DIFF_COMPUTE
           : tl_text_is(text, tl_kind_labels[TL_COMM])  ? TL_DIFF_TRANSFER
                                                        : TL_DIFF_COPY;
}

/* Returns the rank that most waiting is for that changed, by the direct delay cost of table blame in compared steps:
 * half or more of all changes, up and down, and more than a little of waiting_ns, the change of all waiting; -1: none.
 */
static int32_t awaited(const tl_diff *diff, double way, double waiting_ns)
{
    works charged = { .map = { 0 } };
    const double *rate = diff->of[KERNELS].rate;
    double change_ns, sum_ns, all_ns = 0;
    for (int i = A; i <= B; i++) {
        const side *s = &diff->side[i];
        TL_ROWS (const tl_blame, row, table_of(s, &tl_blame_schema))
            if (!s->marked || place_of(s->steps.v, s->steps.n, row->step) < s->steps.n)
                tl_diff_works_at(&charged, 0, (uint32_t)row->to_rank)->side[i].ns += row->direct_ns;
    }
    TL_EACH (const work, x, charged.v)
        all_ns += fabs((double)x->side[B].ns / rate[B] - (double)x->side[A].ns / rate[A]);
    const work *best = tl_diff_most_changed(&charged, way, rate, &change_ns, &sum_ns);
    bool most =
        best != NULL && 2 * fabs(change_ns) >= all_ns && fabs(change_ns) * (double)TL_LITTLE_PART >= fabs(waiting_ns);
    int32_t rank = most ? (int32_t)best->name : -1;
    tl_diff_works_free(&charged);
    return rank;
}

/* "all_reduce of ranks 0-7", "reduce_scatter (data) and others", "communication" */
static uint32_t name_of_part(tl_diff *diff, const tl_diff_step *step, bool and_others)
{
    char of[96] = "", text[160];
    const size_t size = strnlen(step->group, sizeof step->group);
    const bool several = memchr(step->group, '-', size) != NULL || memchr(step->group, ',', size) != NULL;
    if (size > 0)
        snprintf(of, sizeof of, " of rank%s %.*s", several ? "s" : "", (int)size, step->group);
    else if (step->parallelism != TL_PARALLEL_UNKNOWN)
        snprintf(of, sizeof of, " (%s)", tl_parallelism_labels[step->parallelism]);
    int len = snprintf(text, sizeof text, "%s%s%s",
                       step->kind == TL_COLL_UNKNOWN ? "communication" : tl_collective_labels[step->kind], of,
                       and_others ? " and others" : "");
    return tl_names_intern(&diff->names, text, (size_t)len);
}

/* Sets the mean changes over the ranks that are members, and over the others: of waiting, or of their own work (the
 * step without communication); NaN: no such rank, or ranks are compared by role.  Returns the number of members. */
static double changes_on(const tl_diff *diff, bool waiting, const int32_t *members, size_t n, double mean_ns[2])
{
    double sum[2] = { 0, 0 }, ranks[2] = { 0, 0 };
    for (size_t u = 0; u < diff->units.n && !diff->basis.by_role; u++) {
        const tl_diff_breakdown *row = tl_table_row(&diff->tables[TABLE_BREAKDOWN], u);
        const int64_t own_ns = row->step_ns - row->waiting_ns - row->transfer_ns - row->unknown_ns;
        size_t at = 0;
        while (at < n && members[at] != diff->units.v[u].ranks[A].v[0])
            at++;
        sum[at == n] += (double)(waiting ? row->waiting_ns : own_ns);
        ranks[at == n]++;
    }
    mean_ns[0] = sum[0] / ranks[0];
    mean_ns[1] = sum[1] / ranks[1];
    return ranks[0];
}

/* Returns whether the finding is waiting for a rank whose own work, beyond that of the others, makes half or more of
 * the change of the step. */
static bool is_straggler(const tl_diff *diff, const tl_diff_found *row)
{
    const tl_diff_found *step = tl_table_row(&diff->tables[TABLE_FOUND], 0);
    double own_ns[2];
    return row->part == TL_DIFF_WAITING && row->sure && changes_on(diff, false, &row->rank, 1, own_ns) > 0 &&
           2 * (own_ns[0] - own_ns[1]) / (double)step->change_ns >= 1;
}

/* Names the transfer that the change of waiting follows from: of one group, whose members come later by half or more of
 * what the other ranks wait longer, and more than the members. */
static void put_transfer(tl_diff *diff, tl_diff_found *reason, double way)
{
    const side *s = &diff->side[A];
    const size_t most = s->own.n > 0 ? (size_t)s->own.v[s->own.n - 1] + 1 : 0;
    int32_t *members = tl_calloc(most + 1, sizeof *members);
    double most_ns = 0, wait_ns[2];
    TL_ROWS (const tl_diff_step, row, &diff->tables[TABLE_STEP]) {
        if (row->part != TL_DIFF_TRANSFER || !row->sure || way * (double)row->change_ns <= 0)
            continue;
        size_t n = tl_ranks_of_text(row->group, sizeof row->group, members, most);
        double compared = changes_on(diff, true, members, n, wait_ns),
               later_ns = way * (double)row->change_ns * (double)s->ranks.n / compared;
        if (way * wait_ns[1] > way * wait_ns[0] && 2 * later_ns >= way * wait_ns[1] && later_ns > most_ns) {
            most_ns = later_ns;
            reason->why = name_of_part(diff, row, false);
            reason->why_ns = llround(way * later_ns);
            reason->why_part = TL_DIFF_TRANSFER;
        }
    }
    free(members);
}

/* Returns whether a work of the name changed on the other ranks of the side by half as much as on one rank, or more, in
 * their mean. */
static bool changed_on_all(const tl_diff *diff, int which, uint32_t name, double change_ns)
{
    const works *w = &diff->of[which];
    const double n = (double)diff->side[A].ranks.n;
    double mean_ns = 0;
    TL_EACH (const work, x, w->v)
        if (x->name == name)
            mean_ns += (double)x->side[B].ns / w->rate[B] - (double)x->side[A].ns / w->rate[A];
    return n > 1 && 2 * (mean_ns * n - change_ns) / (n - 1) / change_ns >= 1;
}

/* Names what changed most on the rank that others wait for, if it is a large enough part and changed less on the other
 * ranks: a kernel or copy, what the host did while the device was idle, or else a class of idle time.  The other side
 * has its mean over the ranks of the same unit. */
static void put_reason(tl_diff *diff, tl_diff_found *row, double way)
{
    const int home = way > 0 ? B : A; /* the side that waits longer */
    const size_t at = place_of(diff->side[home].ranks.v, diff->side[home].ranks.n, row->rank);
    const unit *u = at < diff->side[home].ranks.n ? &diff->units.v[diff->side[home].unit[at]] : NULL;
    works own = { .map = { 0 } };
    double by[2], change_ns, all_ns;
    if (u == NULL || u->ranks[!home].n == 0)
        return;
    TL_EACH (const series, x, diff->series) {
        const work *w = &diff->of[KERNELS].v.v[x->work];
        if (part_of_kind(diff, w->kind) != TL_DIFF_TRANSFER &&
            (x->side == home ? x->rank == row->rank : &diff->units.v[x->unit] == u))
            tl_diff_works_at(&own, TL_DIFF_COMPUTE, w->name)->side[x->side].ns += x->sum.ns;
    }
    for (int i = A; i <= B; i++) {
        const side *s = &diff->side[i];
        const double steps = s->marked ? (double)s->steps.n : s->recorded;
        by[i] = steps * (i == home ? 1 : (double)u->ranks[i].n);
        TL_ROWS (const tl_idle_summary, idle, table_of(s, &tl_idle_summary_schema))
            if (!diff->side[A].cut && !diff->side[B].cut && idle->device == -1 && idle->step == -1 && idle->place > 0 &&
                (i == home ? idle->rank == row->rank
                           : place_of(u->ranks[i].v, u->ranks[i].n, idle->rank) < u->ranks[i].n))
                tl_diff_works_at(&own, TL_DIFF_IDLE, tl_diff_class_of(diff, idle))->side[i].ns +=
                    s->marked ? llround((double)idle->steps_ns * steps / s->marks) : idle->total_ns;
    }
    const work *best = tl_diff_most_changed(&own, way, by, &change_ns, &all_ns);
    if (best != NULL && fabs(change_ns) * (double)TL_LITTLE_PART >= fabs((double)row->change_ns) &&
        !changed_on_all(diff, best->kind == TL_DIFF_IDLE ? IDLE : KERNELS, best->name, change_ns)) {
        row->why = best->name;
        row->why_ns = llround(change_ns);
        row->why_part = (uint8_t)best->kind;
        unit compared = *u;
        compared.ranks[home].v = &diff->side[home].ranks.v[at];
        compared.ranks[home].n = 1;
        if (best->kind == TL_DIFF_IDLE)
            tl_diff_put_host(diff, &compared, change_ns, row);
    }
    tl_diff_works_free(&own);
}

/* Returns the rank with half or more of the change of a part of the step, *most_ns; -1: none, or ranks are compared by
 * role. */
static int32_t changed_rank(const tl_diff *diff, uint8_t part, double *most_ns)
{
    double all = 0, most = 0;
    int32_t rank = -1;
    for (size_t u = 0; u < diff->units.n && !diff->basis.by_role; u++) {
        const tl_diff_breakdown *row = tl_table_row(&diff->tables[TABLE_BREAKDOWN], u);
        const int64_t ns[TL_NDIFF_PARTS] = { [TL_DIFF_COMPUTE] = row->compute_ns,
                                             [TL_DIFF_COPY] = row->copy_ns,
                                             [TL_DIFF_IDLE] = row->idle_ns,
                                             [TL_DIFF_OUTSIDE] = row->outside_ns };
        all += (double)ns[part];
        if (fabs((double)ns[part]) > fabs(most)) {
            most = (double)ns[part];
            rank = (int32_t)diff->units.v[u].ranks[A].v[0];
        }
    }
    *most_ns = most;
    return diff->units.n > 2 && 2 * most / all >= 1 ? rank : -1;
}

/* Returns the class of idle time with half or more of the change of idle time; TL_NO_NAME: none. */
static uint32_t idle_class(const tl_diff *diff, int64_t change_ns)
{
    TL_ROWS (const tl_diff_work, row, &diff->tables[TABLE_IDLE])
        if ((row->change_ns > 0) == (change_ns > 0))
            return 2 * (double)row->change_ns / (double)change_ns >= 1 ? row->name : TL_NO_NAME;
    return TL_NO_NAME;
}

/* Adds to *all all other waiting that changed in the direction of `largest`.  Returns whether other collectives
 * contribute. */
static bool all_waiting(const tl_diff *diff, const tl_diff_step *largest, tl_diff_step *all)
{
    bool others = false;
    TL_ROWS (const tl_diff_step, row, &diff->tables[TABLE_STEP])
        if (row != largest && row->part == TL_DIFF_WAITING && (row->change_ns > 0) == (largest->change_ns > 0)) {
            all->change_ns += row->change_ns;
            all->share += row->share;
            others |= row->change_ns != 0;
        }
    return others;
}

/* Returns whether the verdict on the run that takes longer names the rank, with trust high, and that on the other does
 * not name it. */
static bool is_named_in_longer(const tl_diff *diff, int32_t rank, bool b_longer)
{
    bool names[2] = { false, false };
    for (int i = A; i <= B; i++)
        TL_ROWS (const tl_culprit, row, table_of(&diff->side[i], &tl_culprit_schema))
            names[i] |= row->kind == TL_CULPRIT_RANK && row->rank == rank &&
                        (row->confidence == TL_CONFIDENCE_HIGH || (i == B) != b_longer);
    return rank >= 0 && names[b_longer ? B : A] && !names[b_longer ? A : B];
}

/* Returns the rank with more than half of the excess of long steps; for waiting, the rank that others wait for.  -1:
 * none. */
static int32_t rank_of_long_steps(const tl_diff *diff)
{
    const side *s = &diff->side[with_long_steps(&diff->basis)];
    const uint8_t part = diff->longest.part;
    const bool waiting = part == TL_DIFF_WAITING;
    works more = { .map = { 0 } };
    double most_ns, all_ns;
    TL_ROWS (const tl_blame_step, row, table_of(s, &tl_blame_step_schema)) {
        size_t step = place_of(s->steps.v, s->steps.n, row->step);
        if (waiting && step < s->steps.n && s->is_long[step])
            tl_diff_works_at(&more, 0, (uint32_t)row->rank)->side[B].ns += row->blame_ns;
    }
    for (size_t r = 0; r < s->ranks.n && !waiting; r++)
        for (size_t i = 0; i < s->steps.n; i++)
            tl_diff_works_at(&more, 0, (uint32_t)s->ranks.v[r])->side[s->is_long[i] ? B : A].ns +=
                s->is_long[i] || s->middle[i] ? s->cells[r * s->steps.n + i].ns[part] : 0;
    double usual = 0, far = (double)diff->basis.nlong[with_long_steps(&diff->basis)];
    for (size_t i = 0; i < s->steps.n; i++)
        usual += s->middle[i];
    const work *best = tl_diff_most_changed(&more, 1, (double[]){ usual, far }, &most_ns, &all_ns);
    int32_t rank = best != NULL && (waiting || s->ranks.n > 2) && 2 * most_ns / all_ns > 1 ? (int32_t)best->name : -1;
    tl_diff_works_free(&more);
    return rank;
}

/* "idle on rank 3", "waiting for rank 3 in all_reduce (data)" */
static uint32_t name_of_longest(tl_diff *diff, int32_t rank)
{
    const tl_diff_step *step = &diff->longest;
    const bool comm = step->part == TL_DIFF_WAITING || step->part == TL_DIFF_TRANSFER || step->part == TL_DIFF_UNKNOWN;
    tl_text of = comm ? tl_names_text(&diff->names, name_of_part(diff, step, false)) : TL_TEXT("");
    char on[96] = "", text[160];
    if (rank >= 0)
        snprintf(on, sizeof on, " %s rank %d", step->part == TL_DIFF_WAITING ? "for" : "on", (int)rank);
    int len = snprintf(text, sizeof text, "%s%s%s%.*s", tl_diff_part_labels[step->part], on, comm ? " in " : "",
                       (int)of.n, of.p);
    return tl_names_intern(&diff->names, text, (size_t)len);
}

/* Names the replaced kernel of the collective whose transfer changed, and its replacement. */
static void put_replaced(const tl_diff *diff, tl_diff_found *row, uint8_t collective)
{
    TL_ROWS (const tl_diff_work, w, &diff->tables[TABLE_KERNEL])
        if (row->why == TL_NO_NAME && w->sure && w->change == TL_DIFF_REPLACED &&
            part_of_kind(diff, w->kind) == TL_DIFF_TRANSFER && (w->change_ns > 0) == (row->change_ns > 0) &&
            tl_diff_collective_of(tl_names_text(&diff->names, w->name)) == collective) {
            row->why = w->name;
            row->b_name = w->b_name;
        }
}

/* Returns whether the time of transfer that nothing overlaps changed, and all transfer of the collective by less than
 * half as much: the rest is overlapped more or less than in A. */
static bool is_overlap(const tl_diff *diff, const tl_diff_step *step)
{
    const works *w = &diff->of[COLLECTIVES];
    const bool any_group = step->parallelism == TL_PARALLEL_UNKNOWN;
    char group[96];
    double change_ns = 0;
    bool both = false;
    snprintf(group, sizeof group, "%s of %s", tl_collective_labels[step->kind],
             any_group ? "" : tl_parallelism_labels[step->parallelism]);
    TL_EACH (const work, x, w->v)
        if (tl_text_is(tl_names_text(&diff->names, x->kind), tl_diff_part_labels[TL_DIFF_TRANSFER]) &&
            tl_text_has(tl_names_text(&diff->names, x->name), group)) {
            change_ns += (double)x->side[B].ns / w->rate[B] - (double)x->side[A].ns / w->rate[A];
            both |= x->side[A].ns > 0 && x->side[B].ns > 0;
        }
    return both && 2 * change_ns / (double)step->change_ns < 1;
}

static void find_part(tl_diff *diff, const tl_diff_step *step, double common)
{
    bool waiting = step->part == TL_DIFF_WAITING, is_long = step->part == TL_DIFF_LONG, others = false;
    double way = step->change_ns > 0 ? 1 : -1, own_ns = 0;
    tl_diff_step all = *step;
    tl_diff_found reason = {
        .change_ns = step->change_ns, .rank = -1, .why = TL_NO_NAME, .why_a_count = NAN, .why_b_count = NAN
    };
    if (waiting) {
        others = all_waiting(diff, step, &all);
        put_transfer(diff, &reason, way);
        reason.rank = reason.why == TL_NO_NAME ? awaited(diff, way, (double)all.change_ns) : -1;
        if (reason.rank >= 0)
            put_reason(diff, &reason, way);
    } else {
        reason.rank = is_long ? rank_of_long_steps(diff) : changed_rank(diff, step->part, &own_ns);
    }
    const bool of_all = waiting && (reason.rank >= 0 || reason.why != TL_NO_NAME);
    TL_ROWS (const tl_diff_found, row, &diff->tables[TABLE_FOUND])
        if (of_all && row->part == TL_DIFF_WAITING && (row->change_ns > 0) == (way > 0))
            return;
    tl_diff_found *row = add_found(diff, of_all ? &all : step);
    row->rank = reason.rank;
    row->why = reason.why;
    row->why_ns = reason.why_ns;
    row->why_part = reason.why_part;
    row->why_a_count = reason.why_a_count;
    row->why_b_count = reason.why_b_count;
    row->by_verdict = !row->sure && is_named_in_longer(diff, row->rank, step->change_ns > 0);
    if (is_long)
        row->name = name_of_longest(diff, reason.rank);
    if (waiting || step->part == TL_DIFF_TRANSFER || step->part == TL_DIFF_UNKNOWN)
        row->name = name_of_part(diff, step, others && of_all);
    if (step->part == TL_DIFF_TRANSFER) {
        put_replaced(diff, row, step->kind);
        row->change = row->why == TL_NO_NAME && is_overlap(diff, step) ? TL_DIFF_SAME : row->change;
    }
    if (step->part == TL_DIFF_IDLE)
        row->name = idle_class(diff, step->change_ns);
    const side *a = &diff->side[A], *b = &diff->side[B];
    int64_t rank = row->rank;
    const unit all_ranks = { .ranks = { { a->ranks.v, a->ranks.n, 0 }, { b->ranks.v, b->ranks.n, 0 } } },
               one = { .ranks = { { &rank, 1, 0 }, { &rank, 1, 0 } } };
    if (step->part == TL_DIFF_IDLE || step->part == TL_DIFF_OUTSIDE)
        tl_diff_put_host(diff, rank >= 0 ? &one : &all_ranks, rank >= 0 ? own_ns : (double)step->change_ns, row);
    if (step->part == TL_DIFF_COMPUTE)
        row->times = common;
}

/* Returns whether the kernel is named: a significant change, or a large one where too few steps are there for a test of
 * the kernel or of the step. */
static bool is_named(const tl_diff *diff, const tl_diff_work *w)
{
    const tl_diff_step *step = tl_table_row(&diff->tables[TABLE_STEP], 0);
    const bool untested = isnan(w->p_value) || isnan(step->p_value),
               longer = (w->change == TL_DIFF_TIME || w->change == TL_DIFF_SAME) &&
                        fabs(w->b_each_ns / w->a_each_ns - 1) >= TL_DIFF_LEAST;
    return w->sure || (untested && longer && part_of_kind(diff, w->kind) != TL_DIFF_TRANSFER &&
                       fabs(w->share) >= TL_VERDICT_LEAST_COST);
}

/* Returns whether kernels account for half of the change of compute or copies.  common: as common_times returns it. */
static bool is_told_by_kernels(const tl_diff *diff, const tl_diff_step *step, double common)
{
    int64_t named_ns = 0;
    TL_ROWS (const tl_diff_work, row, &diff->tables[TABLE_KERNEL])
        named_ns += is_named(diff, row) && part_of_kind(diff, row->kind) == step->part ? row->change_ns : 0;
    return !diff->basis.other_work &&
           ((step->part == TL_DIFF_COMPUTE && isnan(common)) || step->part == TL_DIFF_COPY) &&
           (step->change_ns == 0 || 2 * (double)named_ns / (double)step->change_ns >= 1);
}

/* Returns the factor by which nearly all compute kernels changed; NaN: no common factor, hardly a change, or one kernel
 * takes most of the time. */
static double common_times(const tl_diff *diff)
{
    double a_ns = 0, b_ns = 0, alike_ns = 0, most_ns = 0;
    for (int pass = 0; pass < 2; pass++)
        TL_ROWS (const tl_diff_work, row, &diff->tables[TABLE_KERNEL]) {
            double times = row->b_each_ns / row->a_each_ns;
            if (part_of_kind(diff, row->kind) != TL_DIFF_COMPUTE || isnan(times))
                continue;
            most_ns = fmax(most_ns, (double)row->a_ns);
            a_ns += pass == 0 ? (double)row->a_ns : 0;
            b_ns += pass == 0 ? (double)row->a_ns * times : 0;
            alike_ns += pass == 1 && fabs(times / (b_ns / a_ns) - 1) < TL_DIFF_LEAST ? (double)row->a_ns : 0;
        }
    double times = b_ns / a_ns;
    bool alike = alike_ns >= TL_MOST_SHARE * a_ns && 2 * most_ns < a_ns;
    return alike && fabs(times - 1) >= TL_DIFF_LEAST ? times : NAN;
}

/* common: as common_times returns it; kernels that changed by this factor are not named. */
static void find_kernel(tl_diff *diff, const tl_diff_work *w, double common)
{
    uint8_t part = part_of_kind(diff, w->kind);
    double times = w->ranks[0] != '\0' ? w->ranks_times : w->b_each_ns / w->a_each_ns;
    if (part == TL_DIFF_COMPUTE && (w->change == TL_DIFF_TIME || !w->sure) && fabs(times / common - 1) < TL_DIFF_LEAST)
        return;
    if (!is_named(diff, w) || (part == TL_DIFF_TRANSFER && w->change == TL_DIFF_TIME))
        return;
    TL_ROWS (const tl_diff_found, told, &diff->tables[TABLE_FOUND])
        if (told->part == TL_DIFF_TRANSFER && told->why == w->name)
            return;
    const bool timed = part != TL_DIFF_TRANSFER; /* else its time is told by the parts of the step */
    const int64_t change_ns = !timed ? 0 : w->ranks[0] != '\0' ? w->ranks_ns : w->change_ns;
    const tl_diff_step change = { .part = part,
                                  .change_ns = change_ns,
                                  .share = (double)change_ns / (double)diff->side[A].median_ns,
                                  .p_value = w->change == TL_DIFF_TIME || w->change == TL_DIFF_BOTH || !w->sure
                                                 ? w->p_value
                                                 : NAN,
                                  .sure = w->sure };
    tl_diff_found *row = add_found(diff, &change);
    row->change = w->sure ? w->change : TL_DIFF_TIME;
    row->a_count = w->ranks[0] != '\0' ? w->ranks_a_count : w->a_count;
    row->b_count = w->ranks[0] != '\0' ? w->ranks_b_count : w->b_count;
    row->times = timed ? times : NAN;
    char *end;
    long rank = strtol(w->ranks, &end, 10);
    row->rank = end > w->ranks && *end == '\0' ? (int32_t)rank : -1;
    row->name = w->name;
    row->b_name = w->b_name;
    row->operator= w->operator;
    memcpy(row->ranks, w->ranks, sizeof row->ranks);
}

static int by_change(const void *a, const void *b)
{
    const tl_diff_found *x = a, *y = b;
    int order = TL_COMPARE(llabs(y->change_ns), llabs(x->change_ns));
    return order != 0 ? order : TL_ORDER(x, y, part, name);
}

static int by_sureness(const void *a, const void *b)
{
    const tl_diff_found *x = a, *y = b;
    return x->sure != y->sure ? TL_COMPARE(y->sure, x->sure) : by_change(a, b);
}

/* Moves a finding up. */
static void move_row(tl_table *table, size_t from, size_t to)
{
    tl_diff_found *first = tl_table_row(table, to), row = *(tl_diff_found *)tl_table_row(table, from);
    memmove(first + 1, first, (from - to) * sizeof row);
    *first = row;
}

/* Returns whether a change of overlap may follow from a finding: of other work or idle time, and half as large. */
static bool may_follow(const tl_diff_found *overlap, const tl_diff_found *from)
{
    return overlap->part == TL_DIFF_TRANSFER && overlap->change == TL_DIFF_SAME && overlap->change_ns != 0 &&
           from->part != TL_DIFF_TRANSFER && from->part != TL_DIFF_WAITING && from->part != TL_DIFF_UNKNOWN &&
           from->part < TL_DIFF_REST && from->sure && 2 * (double)from->change_ns / (double)overlap->change_ns >= 1;
}

void tl_diff_verdict(tl_diff *diff)
{
    const tl_table *steps = &diff->tables[TABLE_STEP];
    tl_table *table = &diff->tables[TABLE_FOUND];
    const tl_diff_step *step = tl_table_row(steps, 0);
    add_found(diff, step);

    double common = NAN;
    TL_ROWS (const tl_diff_step, row, steps)
        if (row->part == TL_DIFF_COMPUTE &&
            (row->sure || (isnan(step->p_value) && fabs(row->share) >= TL_VERDICT_LEAST_COST)))
            common = common_times(diff);
    for (size_t i = 1; i < steps->n; i++) {
        const tl_diff_step *row = tl_table_row(steps, i);
        bool far = row->part == TL_DIFF_LONG && fabs(row->share) >= TL_VERDICT_LEAST_COST;
        if (far || (row->sure && !is_told_by_kernels(diff, row, common)))
            find_part(diff, row, common);
    }
    TL_ROWS (const tl_diff_work, row, &diff->tables[TABLE_KERNEL])
        if (!diff->basis.other_work)
            find_kernel(diff, row, common);
    /* If no part explains the change of the step, or it cannot be tested: the largest parts, though not significant. */
    double left = step->share;
    TL_ROWS (const tl_diff_found, row, table)
        left -= row->part != TL_DIFF_STEP && row->part != TL_DIFF_LONG ? row->share : 0;
    const bool unexplained = (step->sure && 2 * left / step->share > 1) || isnan(step->p_value);
    if (unexplained)
        for (size_t i = 1; i < steps->n; i++) {
            const tl_diff_step *row = tl_table_row(steps, i);
            bool alike = row->part == TL_DIFF_COMPUTE && !isnan(common);
            if (row->part != TL_DIFF_REST && row->part != TL_DIFF_LONG && !row->sure &&
                fabs(row->share) >= TL_VERDICT_LEAST_COST && (alike || (row->change_ns > 0) == (step->change_ns > 0)) &&
                !is_told_by_kernels(diff, row, common))
                find_part(diff, row, common);
        }
    qsort(tl_table_row(table, 1), table->n - 1, sizeof(tl_diff_found), unexplained ? by_change : by_sureness);
    /* What ran less beside a transfer stands before the transfer; a transfer stands before waiting that follows from
     * it; a straggler stands first: transfers may grow with it. */
    for (size_t i = 1; i < table->n; i++) {
        for (size_t k = i + 1; k < table->n; k++)
            if (may_follow(tl_table_row(table, i), tl_table_row(table, k)))
                move_row(table, k, i);
        const tl_diff_found *waiting = tl_table_row(table, i);
        for (size_t k = i + 1; k < table->n; k++) {
            const tl_diff_found *cause = tl_table_row(table, k);
            if (cause->part == TL_DIFF_TRANSFER && waiting->why_part == TL_DIFF_TRANSFER && waiting->why == cause->name)
                move_row(table, k, i);
        }
        if (is_straggler(diff, waiting))
            move_row(table, i, 1);
    }
    TL_ROWS (const tl_diff_step, row, steps)
        if (row->part == TL_DIFF_REST && fabs(row->share) >= TL_VERDICT_LEAST_COST)
            add_found(diff, row); /* last: what the parts above are not of */
    int32_t place = 0;
    TL_ROWS (tl_diff_found, row, table)
        row->place = place++;
}
