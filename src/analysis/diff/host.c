/* host.c - what the host does while devices are idle: it waits for input, or has waited for its device in a call.
 *
 *     host      (launch a)(synchronise     )......(launch b)    idle time after the call: table gap
 *     device        [ a                    ]          [ b ]
 *
 * Waiting for input is the part input_ns of table path_sum.  Both are sums over the middle steps.
 */
#include "internal.h"
#include "tlmpi/model/path_tables.h"

/* Adds to what the host of a rank does in a step until end_ns, if rank and step are compared; end_ns 0: in any part of
 * the step. */
static void add_host(tl_diff *diff, int which, int32_t rank, int32_t step, int64_t end_ns, uint32_t name, amount more)
{
    const side *s = &diff->side[which];
    const size_t at = s->marked ? place_of(s->steps.v, s->steps.n, step) : 0,
                 place = place_of(s->ranks.v, s->ranks.n, rank);
    if (at == s->steps.n || !s->middle[at] || place == s->ranks.n)
        return;
    const bool outside = s->marked && end_ns > s->cells[place * s->steps.n + at].end_ns;
    const tl_diff_part part = end_ns == 0 ? TL_DIFF_STEP : outside ? TL_DIFF_OUTSIDE : TL_DIFF_IDLE;
    const uint32_t kind = (uint32_t)rank * TL_NDIFF_PARTS + part;
    amount *sum = &tl_diff_works_at(&diff->of[HOST], kind, name)->side[which];
    sum->count += more.count;
    sum->ns = tl_ns_sum(sum->ns, more.ns / tl_diff_devices_of(s, rank));
}

void tl_diff_take_gap(tl_diff *diff, int which, const tl_gap *row)
{
    if (row->drain_type == TL_DRAIN_SYNC && row->sync_event != TL_NO_NAME)
        add_host(diff, which, row->rank, row->step, row->end_ns, tl_diff_name_in(diff, which, row->sync_event),
                 (amount){ 1, row->duration_ns });
}

void tl_diff_read_input(tl_diff *diff, int which)
{
    const side *s = &diff->side[which];
    const tl_text name = TL_TEXT("waiting for input");
    TL_ROWS (const tl_path_sum, row, table_of(s, &tl_path_sum_schema))
        if (row->rank >= 0 && (row->step == -1) == !s->marked)
            add_host(diff, which, row->rank, row->step, 0, tl_names_intern(&diff->names, name.p, name.n),
                     (amount){ 0, row->input_ns });
}

/* Returns sums over the ranks of what their hosts do in the part, by name, and the rates that they are sums over. */
static works sums_over(const tl_diff *diff, const unit *ranks, tl_diff_part part, double rate[2])
{
    works sums = { .map = { 0 } };
    for (int i = A; i <= B; i++) {
        const side *s = &diff->side[i];
        double steps = s->marked ? 0 : s->recorded, weights = 0;
        for (size_t k = 0; s->marked && k < s->steps.n; k++)
            steps += s->middle[k];
        for (size_t r = 0; r < ranks->ranks[i].n; r++)
            weights += s->weight[place_of(s->ranks.v, s->ranks.n, ranks->ranks[i].v[r])];
        rate[i] = steps * weights;
        TL_EACH (const work, x, diff->of[HOST].v) {
            const uint32_t of = x->kind % TL_NDIFF_PARTS, number = x->kind / TL_NDIFF_PARTS;
            if ((part != TL_DIFF_STEP && of != TL_DIFF_STEP && of != (uint32_t)part) ||
                place_of(ranks->ranks[i].v, ranks->ranks[i].n, number) == ranks->ranks[i].n)
                continue;
            const size_t rank = place_of(s->ranks.v, s->ranks.n, number);
            amount *sum = &tl_diff_works_at(&sums, 0, x->name)->side[i];
            sum->count += s->weight[rank] * x->side[i].count;
            sum->ns = tl_ns_sum(sum->ns, weighted(s, rank, x->side[i].ns));
        }
    }
    return sums;
}

/* Returns a call that waits for the device, with all ranks' counts and times; NULL: the ranks are not all, or there is
 * none of the name. */
static const work *waiting_call(const tl_diff *diff, const unit *ranks, uint32_t name)
{
    TL_EACH (const work, x, diff->of[OPERATORS].v)
        if (x->name == name && ranks->ranks[A].n == diff->side[A].ranks.n &&
            tl_text_is(tl_names_text(&diff->names, x->kind), TL_DIFF_CALL))
            return x;
    return NULL;
}

/* Sets columns why* to a call that waits for the device, or to what else the host does, with a_count and b_count in a
 * step. */
static void put_why(tl_diff_found *row, uint32_t name, bool call, double ns, double a_count, double b_count)
{
    row->why = name;
    row->why_part = call ? TL_DIFF_IDLE : TL_DIFF_OUTSIDE;
    row->why_ns = llround(ns);
    row->why_a_count = call ? a_count : NAN;
    row->why_b_count = call ? b_count : NAN;
}

void tl_diff_put_host(const tl_diff *diff, const unit *ranks, tl_diff_part part, double change_ns, tl_diff_found *row)
{
    double rate[2], most_ns = 0;
    bool any_call = false; /* a call goes before waiting for input, which may have been hidden without the call */
    works sums = sums_over(diff, ranks, part, rate);
    TL_EACH (const work, x, sums.v) {
        const bool call = x->side[A].count + x->side[B].count > 0;
        const work *made = call ? waiting_call(diff, ranks, x->name) : NULL;
        const works *of = made != NULL ? &diff->of[OPERATORS] : NULL;
        const double a = of != NULL ? made->side[A].count / of->rate[A] : x->side[A].count / rate[A],
                     b = of != NULL ? made->side[B].count / of->rate[B] : x->side[B].count / rate[B],
                     ns = (double)x->side[B].ns / rate[B] - (double)x->side[A].ns / rate[A];
        const bool more_often = 2 * fabs(b - a) >= 1;
        if ((call && (!more_often || (b > a) != (ns > 0))) || !(2 * ns / change_ns >= 1) ||
            (any_call == call ? fabs(ns) <= most_ns : any_call))
            continue;
        most_ns = fabs(ns);
        any_call = call;
        put_why(row, x->name, call, ns, a, b);
    }
    tl_diff_works_free(&sums);
    /* Devices may be idle in a call that is made where they had run dry before: no gap is after the call. */
    const works *calls = &diff->of[OPERATORS];
    TL_EACH (const work, x, calls->v) {
        const double a = x->side[A].count / calls->rate[A], b = x->side[B].count / calls->rate[B],
                     ns = (double)x->side[B].ns / calls->rate[B] - (double)x->side[A].ns / calls->rate[A];
        if (waiting_call(diff, ranks, x->name) != x || any_call || 2 * fabs(b - a) < 1 || (b > a) != (ns > 0) ||
            !(2 * ns / change_ns >= 1) || fabs(ns) <= most_ns)
            continue;
        most_ns = fabs(ns);
        put_why(row, x->name, true, ns, a, b);
    }
}
