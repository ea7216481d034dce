/* host.c - what the host does while devices are idle: it waits for input (table path_sum), or in a call that only waits
 * for its device (table launch).
 *
 *     host      (launch a)(synchronise     )......(launch b)
 *     device        [ a                    ]          [ b ]
 */
#include "internal.h"
#include "tlmpi/model/path_tables.h"

void tl_diff_add_host(tl_diff *diff, int which, int32_t rank, uint32_t name, amount more)
{
    const side *s = &diff->side[which];
    if (place_of(s->ranks.v, s->ranks.n, rank) == s->ranks.n)
        return;
    amount *sum = &tl_diff_works_at(&diff->of[HOST], (uint32_t)rank, name)->side[which];
    sum->count += more.count;
    sum->ns = tl_ns_sum(sum->ns, more.ns / tl_diff_devices_of(s, rank));
}

void tl_diff_read_input(tl_diff *diff, int which)
{
    const side *s = &diff->side[which];
    const tl_text name = TL_TEXT("waiting for input");
    double steps = s->marked ? 0 : s->recorded;
    for (size_t k = 0; s->marked && k < s->steps.n; k++)
        steps += s->middle[k];
    TL_ROWS (const tl_path_sum, row, table_of(s, &tl_path_sum_schema)) {
        const size_t at = s->marked ? place_of(s->steps.v, s->steps.n, row->step) : 0;
        if (row->rank >= 0 && (row->step == -1) == !s->marked && at < s->steps.n && s->middle[at])
            tl_diff_add_host(diff, which, row->rank, tl_names_intern(&diff->names, name.p, name.n),
                             (amount){ 0, llround((double)row->input_ns / steps) });
    }
}

/* Returns sums over the ranks of what their hosts do, by name, and the rates that they are sums over. */
static works sums_over(const tl_diff *diff, const unit *ranks, double rate[2])
{
    works sums = { .map = { 0 } };
    for (int i = A; i <= B; i++) {
        const side *s = &diff->side[i];
        rate[i] = 0;
        for (size_t r = 0; r < ranks->ranks[i].n; r++)
            rate[i] += s->weight[place_of(s->ranks.v, s->ranks.n, ranks->ranks[i].v[r])];
        TL_EACH (const work, x, diff->of[HOST].v) {
            if (place_of(ranks->ranks[i].v, ranks->ranks[i].n, x->kind) == ranks->ranks[i].n)
                continue;
            const size_t rank = place_of(s->ranks.v, s->ranks.n, x->kind);
            amount *sum = &tl_diff_works_at(&sums, 0, x->name)->side[i];
            sum->count += s->weight[rank] * x->side[i].count;
            sum->ns = tl_ns_sum(sum->ns, weighted(s, rank, x->side[i].ns));
        }
    }
    return sums;
}

void tl_diff_put_host(const tl_diff *diff, const unit *ranks, double change_ns, tl_diff_found *row)
{
    double rate[2], most_ns = 0;
    bool any_call = false; /* a call goes before waiting for input, which may have been hidden without the call */
    works sums = sums_over(diff, ranks, rate);
    TL_EACH (const work, x, sums.v) {
        const double a = x->side[A].count / rate[A], b = x->side[B].count / rate[B],
                     ns = (double)x->side[B].ns / rate[B] - (double)x->side[A].ns / rate[A];
        const bool call = x->side[A].count + x->side[B].count > 0, more_often = 2 * fabs(b - a) >= 1;
        if ((call && (!more_often || (b > a) != (ns > 0))) || !(2 * ns / change_ns >= 1) ||
            (any_call == call ? fabs(ns) <= most_ns : any_call))
            continue;
        most_ns = fabs(ns);
        any_call = call;
        row->why = x->name;
        row->why_part = call ? TL_DIFF_IDLE : TL_DIFF_OUTSIDE;
        row->why_ns = llround(ns);
        row->why_a_count = call ? a : NAN;
        row->why_b_count = call ? b : NAN;
    }
    tl_diff_works_free(&sums);
}
