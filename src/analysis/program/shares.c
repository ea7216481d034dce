/* shares.c - work by what it was, lateness by what the host was doing.
 *
 *     host     [ a ]...thinks...|[ b ]          the pause is charged where the host made it, in the segment that ends
 *     work         [ a ]------------[ b ]       with the launch of b, whatever segment b's own work counts in
 *     segment          k        | k + 1
 */
#include "shares.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

bool tl_shares_begin(tl_shares *s, const tl_building *b, const tl_activity *activity, size_t nsegments)
{
    *s = (tl_shares){ .b = b, .activity = activity, .nsegments = nsegments };
    s->of = tl_calloc(nsegments + 1, sizeof *s->of);
    return s->of != NULL;
}

void tl_shares_free(tl_shares *s)
{
    free(s->of);
    free(s->late.v);
    *s = (tl_shares){ 0 };
}

/* Of a late launch the parts of the host, of work the others; what is neither goes to `rest`. */
static void add(tl_shares *s, uint32_t segment, int64_t from_ns, int64_t to_ns, bool work, tl_part rest)
{
    tl_parts sum = { { 0 } };
    int64_t counted = 0;

    if (to_ns <= from_ns)
        return;
    tl_activity_add(s->activity, &s->cursor, from_ns, to_ns, &sum);
    for (int part = 0; part < TL_NPARTS; part++) {
        s->of[segment].ns[tl_part_is_work((tl_part)part) == work ? part : (int)rest] += sum.ns[part];
        counted += sum.ns[part];
    }
    s->of[segment].ns[rest] += to_ns - from_ns - counted;
}

void tl_shares_work(tl_shares *s, uint32_t segment, int64_t from_ns, int64_t to_ns)
{
    add(s, segment, from_ns, to_ns, true, TL_PART_DEVICE);
}

bool tl_shares_late(tl_shares *s, int64_t from_ns, int64_t to_ns)
{
    if (to_ns <= from_ns)
        return true;
    if (!tl_vec_room(&s->late))
        return false;
    s->late.v[s->late.n++] = (tl_span){ from_ns, to_ns };
    return true;
}

static int by_start(const void *a, const void *b)
{
    const tl_span *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return TL_COMPARE(x->end_ns, y->end_ns);
}

/* A launch takes a while to arrive: up to then its segment's host is late. */
static int64_t until_of(const tl_shares *s, size_t segment)
{
    return segment < s->b->nboundaries ? s->b->boundaries[segment].host_ns + s->b->latency_ns : INT64_MAX;
}

static void charge_late(tl_shares *s)
{
    int64_t done_ns = INT64_MIN;
    size_t segment = 0;

    if (s->late.n > 1)
        qsort(s->late.v, s->late.n, sizeof *s->late.v, by_start);
    s->cursor = (tl_activity_cursor){ 0 };
    for (size_t i = 0; i < s->late.n; i++) {
        int64_t from = s->late.v[i].start_ns > done_ns ? s->late.v[i].start_ns : done_ns, to = s->late.v[i].end_ns;
        while (from < to) {
            while (until_of(s, segment) <= from)
                segment++;
            int64_t end = to < until_of(s, segment) ? to : until_of(s, segment);
            add(s, (uint32_t)segment, from, end, false, TL_PART_HOST);
            done_ns = from = end;
        }
    }
}

bool tl_shares_write(tl_shares *s, tl_program *out)
{
    size_t cap = 0;

    charge_late(s);
    for (size_t i = 0; i < s->nsegments; i++) {
        out->segments[i].first_share = (uint32_t)out->nshares;
        for (int part = 0; part < TL_NPARTS; part++) {
            if (s->of[i].ns[part] == 0)
                continue;
            if (!tl_grow((void **)&out->shares, &cap, out->nshares + 1, sizeof *out->shares))
                return false;
            out->shares[out->nshares++] = (tl_share){ s->of[i].ns[part], (tl_part)part };
        }
    }
    out->segments[s->nsegments].first_share = (uint32_t)out->nshares;
    return true;
}
