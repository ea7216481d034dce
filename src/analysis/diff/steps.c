/* steps.c - the difference in step time, split into parts that sum up to the nanosecond. */
#include "internal.h"
#include "tlmpi/model/facts.h"
#include "tlmpi/model/work_tables.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A part of the step on both sides: sums over ranks, by compared step. */
typedef struct part {
    uint8_t part, parallelism, kind;
    int64_t *ns[2];
    works groups; /* of communication: its time in the middle steps, by the ranks of the group */
    bool joined;  /* counted with the part TL_DIFF_UNKNOWN of the same collective */
} part;

typedef struct parts {
    tl_diff *diff;
    TL_VEC(part) v;
    bool known[TL_NCOLLECTIVES]; /* both sides know of all that is matched what its groups divide */
} parts;

/* Returns the part.  Unknown communication is one part for each collective, since the groups of unmatched collectives
 * are not known: it has a parallelism only if all of it has the same. */
static part *part_at(parts *p, tl_diff_part what, uint8_t parallelism, uint8_t kind)
{
    TL_EACH (part, x, p->v)
        if (x->part == what && x->kind == kind && (x->parallelism == parallelism || what == TL_DIFF_UNKNOWN)) {
            x->parallelism = x->parallelism == parallelism ? parallelism : TL_PARALLEL_UNKNOWN;
            return x;
        }
    tl_vec_push(&p->v, (part){ .part = (uint8_t)what, .parallelism = parallelism, .kind = kind });
    part *made = &p->v.v[p->v.n - 1];
    for (int i = A; i <= B; i++)
        made->ns[i] = tl_calloc(p->diff->side[i].steps.n + 1, sizeof *made->ns[i]);
    return made;
}

/* Adds communication by collective, from table exposed. */
static void add_exposed(parts *p, int which)
{
    const side *s = &p->diff->side[which];
    TL_ROWS (const tl_exposed, row, table_of(s, &tl_exposed_schema)) {
        size_t step = place_of(s->steps.v, s->steps.n, row->step);
        size_t rank = place_of(s->ranks.v, s->ranks.n, row->rank);
        if (step == s->steps.n || rank == s->ranks.n)
            continue;
        double by = (double)tl_diff_devices_of(s, row->rank) * (s->marked ? 1 : s->recorded) / s->weight[rank];
        const tl_group_row *group = tl_group_of(table_of(s, &tl_group_row_schema), row->group);
        const int64_t ns[] = { row->waiting_ns, row->transfer_ns, row->unknown_ns };
        for (int i = 0; i < 3; i++) {
            if (ns[i] == 0)
                continue;
            part *x = part_at(p, (tl_diff_part)(TL_DIFF_WAITING + i),
                              p->known[row->kind] ? row->parallelism : TL_PARALLEL_UNKNOWN, row->kind);
            int64_t part_ns = llround((double)ns[i] / by);
            x->ns[which][step] = tl_ns_sum(x->ns[which][step], part_ns);
            if (!s->middle[step] || group == NULL)
                continue;
            uint32_t name = tl_names_intern(&p->diff->names, group->ranks, strnlen(group->ranks, sizeof group->ranks));
            tl_diff_works_at(&x->groups, 0, name)->side[which].ns += part_ns;
        }
    }
}

/* Adds the other parts, from table breakdown. */
static void add_cells(parts *p, int which)
{
    static const tl_diff_part others[] = { TL_DIFF_COMPUTE, TL_DIFF_COPY, TL_DIFF_IDLE, TL_DIFF_OUTSIDE };
    const side *s = &p->diff->side[which];
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        for (size_t r = 0; r < s->ranks.n; r++)
            for (size_t i = 0; i < s->steps.n; i++) {
                int64_t *ns = &part_at(p, others[k], 0, 0)->ns[which][i];
                *ns = tl_ns_sum(*ns, weighted(s, r, s->cells[r * s->steps.n + i].ns[others[k]]));
            }
}

/* Returns the mean over ranks and middle steps. */
static int64_t middle_of(const side *s, const int64_t *ns)
{
    int64_t sum = 0, n = 0;
    for (size_t i = 0; i < s->steps.n; i++)
        if (s->middle[i]) {
            sum = tl_ns_sum(sum, ns[i]);
            n += (int64_t)s->ranks.n;
        }
    return n > 0 ? sum / n : 0;
}

/* Returns how much more of a part long steps have than middle steps, summed over ranks. */
static int64_t more_in_long_steps(const side *s, const int64_t *ns)
{
    int64_t sum = 0, usual_ns = middle_of(s, ns) * (int64_t)s->ranks.n;
    for (size_t i = 0; i < s->steps.n; i++)
        sum = tl_ns_sum(sum, s->is_long[i] ? ns[i] - usual_ns : 0);
    return sum;
}

/* Returns by how much long steps make the mean of all steps longer than that of the others. */
static int64_t added_by_long_steps(const side *s)
{
    int64_t all_ns = 0, others_ns = 0, nothers = 0;
    for (size_t i = 0; i < s->steps.n; i++) {
        all_ns = tl_ns_sum(all_ns, s->step_ns[i]);
        others_ns = tl_ns_sum(others_ns, s->is_long[i] ? 0 : s->step_ns[i]);
        nothers += !s->is_long[i];
    }
    return nothers > 0 ? all_ns / (int64_t)s->steps.n - others_ns / nothers : 0;
}

/* If a side does not know how much of a collective is waiting (a rank has no trace), its waiting and its transfer seem
 * to change though they are the same.  A significant change that the unknown part could explain is therefore compared
 * together with the unknown part. */
static void join_unknown(parts *p)
{
    const side *sides = p->diff->side;
    TL_EACH (part, u, p->v) {
        const int64_t unknown_ns[] = { middle_of(&sides[A], u->ns[A]), middle_of(&sides[B], u->ns[B]) };
        for (size_t i = 0; u->part == TL_DIFF_UNKNOWN && i < p->v.n; i++) {
            part *x = &p->v.v[i];
            if ((x->part != TL_DIFF_WAITING && x->part != TL_DIFF_TRANSFER) || x->kind != u->kind)
                continue;
            int64_t change_ns = middle_of(&sides[B], x->ns[B]) - middle_of(&sides[A], x->ns[A]),
                    most_ns = tl_ns_max(llabs(change_ns), llabs(unknown_ns[B] - unknown_ns[A]));
            x->joined = llabs(change_ns) <= unknown_ns[change_ns > 0 ? A : B] &&
                        (double)most_ns >= TL_VERDICT_LEAST_COST * (double)sides[A].median_ns;
            for (int which = A; which <= B && x->joined; which++) {
                for (size_t k = 0; k < sides[which].steps.n; k++)
                    u->ns[which][k] = tl_ns_sum(u->ns[which][k], x->ns[which][k]);
                TL_EACH (const work, g, x->groups.v)
                    tl_diff_works_at(&u->groups, 0, g->name)->side[which].ns += g->side[which].ns;
            }
        }
    }
}

/* Steps of equal numbers may do the same work, if data come in the same order: a paired test is then more sensitive.
 * The correlation of their times decides, which does not depend on the difference of the means. */
static double test_steps(const tl_diff *diff, const double *a, const double *b, bool *paired)
{
    double p = tl_diff_rank_test(a, diff->side[A].steps.n, b, diff->side[B].steps.n);
    double of_pairs = isnan(p) ? NAN : tl_diff_pairs_test(diff, a, b, 0);
    *paired = !isnan(of_pairs);
    return *paired ? of_pairs : p;
}

static double test_part(const tl_diff *diff, const part *x)
{
    double *v[2];
    bool paired;
    for (int i = A; i <= B; i++) {
        v[i] = tl_calloc(diff->side[i].steps.n + 1, sizeof *v[i]);
        for (size_t k = 0; k < diff->side[i].steps.n; k++)
            v[i][k] = diff->side[i].is_long[k] ? NAN : (double)x->ns[i][k] / (double)diff->side[i].ranks.n;
    }
    double p = test_steps(diff, v[A], v[B], &paired);
    free(v[A]);
    free(v[B]);
    return p;
}

/* Names the group that accounts for most of the change of a part of communication. */
static void put_group(tl_diff *diff, const part *x, tl_diff_step *row)
{
    double change_ns, all_ns, steps[2] = { 0, 0 };
    for (int i = A; i <= B; i++)
        for (size_t k = 0; k < diff->side[i].steps.n; k++)
            steps[i] += diff->side[i].middle[k];
    const work *best = tl_diff_most_changed(&x->groups, row->change_ns < 0 ? -1 : 1, steps, &change_ns, &all_ns);
    best = best == NULL && x->groups.v.n > 0 ? &x->groups.v.v[0] : best;
    if (best != NULL && (x->groups.v.n == 1 || change_ns / all_ns >= TL_MOST_SHARE)) {
        tl_text ranks = tl_names_text(&diff->names, best->name);
        tl_cell_text(row->group, sizeof row->group, ranks.p, ranks.n);
    }
}

/* Compute that changes by less than devices differ is not sure: another device may run the same work. */
static void end_row(const tl_diff *diff, tl_diff_step *row)
{
    const int64_t step_ns = diff->side[A].median_ns;
    const bool as_devices = row->part == TL_DIFF_COMPUTE && (double)llabs(row->b_ns - row->a_ns) <
                                                                TL_DIFF_LEAST * (double)tl_ns_max(row->a_ns, row->b_ns);
    row->change_ns = row->b_ns - row->a_ns;
    row->share = step_ns > 0 ? (double)row->change_ns / (double)step_ns : NAN;
    row->sure = row->p_value < TL_VERDICT_ALPHA && fabs(row->share) >= TL_VERDICT_LEAST_COST && !as_devices;
}

static int by_change(const void *a, const void *b)
{
    const tl_diff_step *x = a, *y = b;
    int order = TL_COMPARE(llabs(y->change_ns), llabs(x->change_ns));
    return order != 0 ? order : TL_ORDER(x, y, part, parallelism, kind);
}

static void put_parts(tl_diff *diff, tl_table *table)
{
    parts p = { .diff = diff };
    const side *sides = diff->side;
    const int more = with_long_steps(&diff->basis);
    int64_t most_ns = 0;
    tl_diff_step *step = tl_table_add(table);
    *step = (tl_diff_step){ .part = TL_DIFF_STEP, .a_ns = sides[A].median_ns, .b_ns = sides[B].median_ns };
    step->p_value = sides[A].marked ? test_steps(diff, sides[A].samples.v, sides[B].samples.v, &diff->basis.paired)
                                    : tl_diff_rank_test(sides[A].samples.v, sides[A].samples.n, sides[B].samples.v,
                                                        sides[B].samples.n);
    end_row(diff, step);
    tl_diff_step rest = { .part = TL_DIFF_REST, .a_ns = step->a_ns, .b_ns = step->b_ns, .p_value = NAN };

    memset(p.known, true, sizeof p.known);
    for (int i = A; i <= B; i++)
        TL_ROWS (const tl_exposed, row, table_of(&sides[i], &tl_exposed_schema))
            if (row->rank >= 0 && row->parallelism == TL_PARALLEL_UNKNOWN && row->waiting_ns + row->transfer_ns > 0)
                p.known[row->kind] = false;
    for (int i = A; i <= B; i++) {
        add_cells(&p, i);
        add_exposed(&p, i);
    }
    join_unknown(&p);
    TL_EACH (part, x, p.v) {
        tl_diff_step *row = x->joined ? NULL : tl_table_add(table);
        if (row != NULL) {
            *row = (tl_diff_step){ .part = x->part,
                                   .parallelism = x->parallelism,
                                   .kind = x->kind,
                                   .a_ns = middle_of(&sides[A], x->ns[A]),
                                   .b_ns = middle_of(&sides[B], x->ns[B]),
                                   .p_value = sides[A].marked ? test_part(diff, x) : NAN };
            end_row(diff, row);
            put_group(diff, x, row);
            step = tl_table_row(table, 0);
            if (x->part == TL_DIFF_COMPUTE && !row->sure && row->p_value < TL_VERDICT_ALPHA)
                step->sure &= fabs(step->share - row->share) >= TL_VERDICT_LEAST_COST;
            int64_t more_ns = more_in_long_steps(&sides[more], x->ns[more]);
            if (more_ns > most_ns) {
                most_ns = more_ns;
                diff->longest = *row;
            }
            rest.a_ns -= row->a_ns;
            rest.b_ns -= row->b_ns;
        }
        free(x->ns[A]);
        free(x->ns[B]);
        tl_diff_works_free(&x->groups);
    }
    free(p.v.v);
    qsort(tl_table_row(table, 1), table->n - 1, sizeof(tl_diff_step), by_change);
    end_row(diff, &rest);
    tl_table_append(table, &rest, 1);
    if (diff->basis.nlong[A] + diff->basis.nlong[B] > 0) {
        tl_diff_step far = { .part = TL_DIFF_LONG,
                             .a_ns = added_by_long_steps(&sides[A]),
                             .b_ns = added_by_long_steps(&sides[B]),
                             .p_value = tl_diff_long_test(&diff->basis) };
        end_row(diff, &far);
        tl_table_append(table, &far, 1);
    }
    for (size_t i = 0; i < table->n; i++)
        ((tl_diff_step *)tl_table_row(table, i))->place = (int32_t)i;
}

/* ------------------------------------------------------------------------------------------------- ranks and roles */

/* Fills the changes of the means over the middle steps and the ranks of each unit. */
static void put_breakdown(const tl_diff *diff, tl_table *table)
{
    TL_EACH (const unit, u, diff->units) {
        tl_diff_breakdown *row = tl_table_add(table);
        int64_t *const to[] = { &row->step_ns,    &row->compute_ns, &row->waiting_ns, &row->transfer_ns,
                                &row->unknown_ns, &row->copy_ns,    &row->idle_ns };
        row->place = (int32_t)table->n;
        tl_diff_put_ranks(row->a_ranks, sizeof row->a_ranks, u->ranks[A].v, u->ranks[A].n);
        tl_diff_put_ranks(row->b_ranks, sizeof row->b_ranks, u->ranks[B].v, u->ranks[B].n);
        for (int i = A; i <= B; i++) {
            const side *s = &diff->side[i];
            cell sum = { .ns = { 0 } };
            int64_t n = 0;
            for (size_t r = 0; r < u->ranks[i].n * s->steps.n; r++) {
                const size_t step = r % s->steps.n,
                             rank = place_of(s->ranks.v, s->ranks.n, u->ranks[i].v[r / s->steps.n]);
                n += s->middle[step];
                for (int k = 0; k < TL_DIFF_REST && s->middle[step]; k++)
                    sum.ns[k] = tl_ns_sum(sum.ns[k], s->cells[rank * s->steps.n + step].ns[k]);
            }
            for (size_t k = 0; n > 0 && k < sizeof to / sizeof to[0]; k++) {
                int64_t ns = (i == B ? 1 : -1) * (sum.ns[k] / n);
                *to[k] += ns;
                row->outside_ns += k == 0 ? ns : -ns;
            }
        }
    }
}

void tl_diff_steps(tl_diff *diff)
{
    put_parts(diff, &diff->tables[TABLE_STEP]);
    put_breakdown(diff, &diff->tables[TABLE_BREAKDOWN]);
}
