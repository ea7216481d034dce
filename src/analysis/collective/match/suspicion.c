/* suspicion.c - checks whether the participants of a matched collective contradict each other. */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"

/* Limits beyond the uncertainty of the clocks: on the time from a kernel's end to a later start of another member
 * (WAIT), and on the distance of ends (ENDS).  On one host all-reduces were seen to end 0.4 ms apart. */
#define WAIT_SLACK_NS INT64_C(500000)
#define ENDS_SLACK_NS INT64_C(1000000)

/* Both limits for even all-to-alls, in which each rank gets data from all (ends were seen 4.3 ms apart), and for
 * unknown kinds, which may be sends and receives with other ranks.  Broadcasts and uneven all-to-alls have no limit: a
 * rank may end without waiting for the others. */
#define STRANGE_SLACK_NS INT64_C(5000000)

/* Whether two sizes allow one collective.  Ranks that exchange messages may send and receive different amounts. */
static bool sizes_agree(const tl_participant *a, const tl_participant *b)
{
    return a->bytes < 0 || b->bytes < 0 || a->bytes == b->bytes ||
           !(tl_is_of_one_size((tl_collective)a->kind) || a->kind == TL_SEND || a->kind == TL_RECV);
}

/* Whether two kinds allow one collective: SendRecv, a kernel's name, may be an all-to-all; a send matches a receive. */
static bool kinds_agree(uint8_t a, uint8_t b)
{
    if (a == b || a == TL_COLL_UNKNOWN || b == TL_COLL_UNKNOWN)
        return true;
    if (a == TL_SEND_RECV || b == TL_SEND_RECV)
        return tl_is_of_sends((tl_collective)(a == TL_SEND_RECV ? b : a));
    return (a == TL_SEND && b == TL_RECV) || (a == TL_RECV && b == TL_SEND);
}

/* Each participant is compared with the first one that has a known kind, size or type. */
tl_suspicion tl_collective_suspect(const tl_participant *p, size_t n)
{
    const tl_participant *kind = p, *dtype = p, *bytes = p;
    tl_suspicion worst = TL_SUSPECT_NOTHING;

    for (size_t i = 1; i < n; i++) {
        tl_suspicion s = TL_SUSPECT_NOTHING;
        kind = kind->kind == TL_COLL_UNKNOWN || kind->kind == TL_SEND_RECV ? &p[i] : kind;
        dtype = dtype->dtype == 0 ? &p[i] : dtype;
        bytes = bytes->bytes < 0 ? &p[i] : bytes;
        if (!kinds_agree(kind->kind, p[i].kind) || !kinds_agree(p[i - 1].kind, p[i].kind))
            s = TL_SUSPECT_KIND;
        else if (p[i].dtype != 0 && dtype->dtype != p[i].dtype)
            s = TL_SUSPECT_DTYPE;
        else if (!sizes_agree(bytes, &p[i]))
            s = TL_SUSPECT_SIZE;
        else if (p[i].rank == p[i - 1].rank)
            s = TL_SUSPECT_TWICE;
        if (s != TL_SUSPECT_NOTHING && (worst == TL_SUSPECT_NOTHING || s < worst))
            worst = s;
    }
    return worst;
}

/* The limits, ns, on contradictions in time between members of one collective, beyond the clocks' uncertainty;
 * INT64_MAX: no limit. */
typedef struct slack {
    int64_t wait_ns, ends_ns;
} slack;

/* Whether all ranks send the same amount. */
static bool is_even(const tl_collective_view *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->by_rank[i].bytes <= 0 || c->by_rank[i].bytes != c->by_rank[0].bytes)
            return false;
    return true;
}

static slack slack_of(const tl_collective_view *c)
{
    if (tl_is_synchronising((tl_collective)c->kind))
        return (slack){ WAIT_SLACK_NS, ENDS_SLACK_NS };
    if (c->kind == TL_COLL_UNKNOWN || c->kind == TL_SEND_RECV || (c->kind == TL_ALL_TO_ALL && is_even(c)))
        return (slack){ STRANGE_SLACK_NS, STRANGE_SLACK_NS };
    return (slack){ INT64_MAX, INT64_MAX };
}

/* Whether the receiver ends before the sender starts or, if both send, either ends before the other starts. */
static bool ends_too_early(const tl_participant *p, int64_t doubt_ns)
{
    if (p[0].kind == p[1].kind) {
        int64_t last = p[0].start_ns > p[1].start_ns ? p[0].start_ns : p[1].start_ns;
        int64_t first = p[0].end_ns < p[1].end_ns ? p[0].end_ns : p[1].end_ns;
        return tl_ns_between(last, first) > tl_ns_sum(WAIT_SLACK_NS, doubt_ns);
    }
    const tl_participant *send = p[0].kind == TL_SEND ? &p[0] : &p[1], *recv = send == p ? &p[1] : &p[0];
    return tl_ns_between(send->start_ns, recv->end_ns) > tl_ns_sum(WAIT_SLACK_NS, doubt_ns);
}

tl_suspicion tl_collective_suspect_times(const tl_collective_view *c)
{
    int64_t last_arrival_ns = INT64_MIN, first_end_ns = INT64_MAX, last_end_ns = INT64_MIN;
    int64_t doubt_ns = tl_ns_sum(c->uncertainty_ns, tl_ns_sum(c->uncertainty_ns, c->uncertainty_ns));
    const slack most = slack_of(c);

    if (c->n < 2)
        return TL_SUSPECT_NOTHING;
    if (c->n == 2 && c->by_rank[0].peer == c->by_rank[1].rank)
        return ends_too_early(c->by_rank, doubt_ns) ? TL_SUSPECT_WAIT : TL_SUSPECT_NOTHING;
    for (size_t i = 0; i < c->n; i++) {
        const tl_participant *p = &c->by_rank[i];
        last_arrival_ns = p->start_ns > last_arrival_ns ? p->start_ns : last_arrival_ns;
        first_end_ns = p->end_ns < first_end_ns ? p->end_ns : first_end_ns;
        last_end_ns = p->end_ns > last_end_ns ? p->end_ns : last_end_ns;
    }
    if (tl_ns_between(last_arrival_ns, first_end_ns) > tl_ns_sum(most.wait_ns, doubt_ns))
        return TL_SUSPECT_WAIT;
    int64_t took_ns = tl_ns_between(last_end_ns, last_arrival_ns);
    int64_t ring = took_ns - took_ns / TL_LITTLE_PART; /* ranks beyond a slow link may skip the last passes */
    ring = ring > most.ends_ns ? ring : most.ends_ns;
    return tl_ns_between(last_end_ns, first_end_ns) > tl_ns_sum(ring, doubt_ns) ? TL_SUSPECT_ENDS : TL_SUSPECT_NOTHING;
}
