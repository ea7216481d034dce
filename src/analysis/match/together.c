/* together.c - the participants of one collective: where they end, and what ties them. */
#include "tlmpi/analysis/match.h"
#include "tlmpi/model/coll.h"

size_t tl_participants_end(const tl_participant *participants, size_t n, size_t from)
{
    size_t to = from + 1;
    while (to < n && participants[to].group == participants[from].group &&
           participants[to].key == participants[from].key)
        to++;
    return to;
}

bool tl_participants_synchronise(const tl_participant *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!tl_is_synchronising((tl_collective)p[i].kind))
            return false;
    return true;
}

/* Whether there are two that name each other. */
static bool are_partners(const tl_participant *p, size_t n)
{
    return n == 2 && p[0].peer == p[1].rank && p[1].peer == p[0].rank;
}

bool tl_participants_meet(const tl_participant *p, size_t n)
{
    return tl_participants_synchronise(p, n) || (are_partners(p, n) && p[0].kind == p[1].kind);
}

int32_t tl_participants_sender(const tl_participant *p, size_t n)
{
    if (!are_partners(p, n))
        return -1;
    return p[0].kind == TL_SEND && p[1].kind == TL_RECV ? 0 : p[0].kind == TL_RECV && p[1].kind == TL_SEND ? 1 : -1;
}
