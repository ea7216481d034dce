/* key.c - which participants belong together: those of one key.
 *
 * The first rule that applies:
 *
 *     pair      sends and receives whose other end is    sender, receiver, step, k-th; of both at once the
 *               known                                    lower of the two is the sender
 *     seq       all of its group have a number           number, part
 *     launch    launched in a step; or outside, where    step, kind, k-th
 *               all ranks of the group launched alike
 *     endtime   what is left: later, by alignment        (room align)
 */
#include "tlmpi/analysis/match.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/model/schema.h"

static uint64_t mix3(uint64_t key, int64_t a, int64_t b, int64_t c)
{
    return tl_hash_mix(tl_hash_mix(tl_hash_mix(key, (uint64_t)a), (uint64_t)b), (uint64_t)c);
}

/* Returns a key that is not 0, which means "not known". */
static uint64_t some(uint64_t key)
{
    return key != 0 ? key : 1;
}

void tl_match_key(tl_participant *p, const tl_fate *fate)
{
    uint64_t group = fate->group_key;

    if (p->peer >= 0 && p->rule == TL_BY_ENDTIME) { /* paired already (tl_sends_align) */
        p->group = fate->group;
        return;
    }
    p->key = 0;
    p->rule = TL_BY_NOTHING;
    p->group = fate->group;
    if (p->peer != TL_NO_PEER) {
        /* Nothing else will do: each rank counts its own sends, and they end when they like. */
        if (p->nth < 0 || p->peer < 0) {
            p->key = p->peer >= 0 && p->subseq != TL_UNCOUNTED ? tl_lone_key(p) : 0;
            return;
        }
        bool sends = tl_is_sender((tl_collective)p->kind, p->rank, p->peer);
        int32_t from = sends ? p->rank : p->peer, to = sends ? p->peer : p->rank;
        p->key = some(mix3(mix3(group, TL_BY_PAIR, from, to), p->subseq, p->nth, 0));
        p->rule = TL_BY_PAIR;
    } else if (fate->by_seq && p->seq >= 0) {
        p->key = some(mix3(group, TL_BY_SEQ, p->seq, p->subseq));
        p->rule = TL_BY_SEQ;
    } else if (p->nth >= 0 && (p->step >= 0 || fate->by_loose_launch)) {
        p->key = some(mix3(mix3(group, TL_BY_LAUNCH, p->step, p->kind), p->nth, 0, 0));
        p->rule = TL_BY_LAUNCH;
    }
}

void tl_match_keys(tl_participant *participants, size_t n, const tl_fate *fates)
{
    for (size_t i = 0; i < n; i++)
        tl_match_key(&participants[i], &fates[participants[i].group]);
}

void tl_match_alone(tl_participant *participants, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (participants[i].key == 0)
            participants[i].key = tl_lone_key(&participants[i]);
}

uint64_t tl_lone_key(const tl_participant *p)
{
    return some(mix3(tl_hash_mix(0, (uint64_t)p->group), TL_BY_NOTHING, p->rank, p->uid));
}

uint64_t tl_sighting_item(const tl_participant *p)
{
    return p->nth >= 0 ? some(mix3(0, p->step, p->kind, p->nth)) : 0;
}
