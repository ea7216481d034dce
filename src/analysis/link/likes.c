/* likes.c - what is of one size, though nobody says how large it is?
 *
 *     step      |      4        |      5        |
 *     group 0    a      b        a      b            place 0, place 1: the same in each step
 *     group 1      a      b        a      b          as many of the same kind in a step as group 0, and other ranks
 *
 * The k-th that a group does in a step is what it does as the k-th of every other.  Groups of as many ranks that do as
 * many of a kind do the same as long as none of them share a rank: who is in two groups does different things in them.
 * Those of one stage send the same amounts; those of other stages may have other weights to send.  What is sent to each
 * by each, in amounts of its own, has about one size in each group, if any: it is compared with other steps alone. */
#include "slow_link.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/model/view.h"
#include <stdlib.h>

/* All of one kind that one group does. */
typedef struct doing {
    uint64_t what, roles; /* of its ranks, in any order */
    uint64_t of_stage, of_all;
    int32_t group;
    uint32_t n, most; /* ranks; how many in a step */
} doing;

typedef struct liking {
    const tl_link_like_input *in;
    TL_VEC(doing) doings;
    uint32_t *doing_of; /* [ncollectives], TL_NONE: not asked */
    uint32_t *place;    /* [ncollectives] */
    tl_map numbers;     /* group and kind -> its place in doings */
    tl_map counts;      /* that and the step -> how many so far */
} liking;

static bool is_asked(const tl_link_like_input *in, size_t c)
{
    const tl_link_collective *of = &in->collectives[c];
    return of->bytes < 0 && of->stages == 0 && !in->pair[c];
}

static uint64_t roles_of(const tl_link_like_input *in, const tl_link_collective *c)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < c->n; k++)
        sum += tl_hash_mix((uint64_t)(int64_t)in->roles[in->ends[c->first + k].rank], 1);
    return sum;
}

/* What each group does, and how many of it in a step. */
static bool list(liking *l)
{
    for (uint32_t i = 0; i < l->in->ncollectives; i++) {
        const tl_link_collective *c = &l->in->collectives[i];
        uint64_t key = tl_hash_mix((uint64_t)(int64_t)l->in->group[i], c->kind);
        l->doing_of[i] = TL_NONE;
        if (!is_asked(l->in, i))
            continue;
        uint32_t at = tl_map_get(&l->numbers, key);
        if (at == TL_MAP_NONE) {
            at = (uint32_t)l->doings.n;
            if (!tl_vec_room(&l->doings) || tl_map_put(&l->numbers, key, at) != 0)
                return false;
            l->doings.v[l->doings.n++] = (doing){ .what = c->kind, .group = l->in->group[i] };
        }
        if (l->doings.v == NULL)
            return false;
        doing *d = &l->doings.v[at];
        uint64_t in_step = tl_hash_mix(at, c->step);
        uint32_t place = tl_map_get(&l->counts, in_step);
        l->doing_of[i] = at;
        l->place[i] = place == TL_MAP_NONE ? 0 : place;
        if (tl_map_put(&l->counts, in_step, l->place[i] + 1) != 0)
            return false;
        d->most = l->place[i] + 1 > d->most ? l->place[i] + 1 : d->most;
        if (c->n > d->n) {
            d->n = c->n;
            d->roles = roles_of(l->in, c);
        }
    }
    return true;
}

enum { IN_ONE = 1, SEVERAL, SHARED };

/* state[class of a doing]: of one group, of several, or of some that share a rank.  False when memory is out. */
static bool look_at(const liking *l, bool by_stage, tl_map *state)
{
    tl_map owner = { 0 }; /* class and rank -> doing */
    bool whole = true;

    for (uint32_t i = 0; whole && i < l->in->ncollectives; i++) {
        const tl_link_collective *c = &l->in->collectives[i];
        if (l->doing_of[i] == TL_NONE)
            continue;
        const doing *d = &l->doings.v[l->doing_of[i]];
        uint64_t class = by_stage ? d->of_stage : d->of_all;
        uint32_t first = tl_map_get(&owner, class), is = tl_map_get(state, class);
        if (first == TL_MAP_NONE)
            whole = tl_map_put(&owner, class, l->doing_of[i]) == 0 && tl_map_put(state, class, IN_ONE) == 0;
        else if (first != l->doing_of[i] && is == IN_ONE)
            whole = tl_map_put(state, class, SEVERAL) == 0;
        for (uint32_t k = 0; whole && k < c->n; k++) {
            uint64_t key = tl_hash_mix(class, l->in->ends[c->first + k].rank);
            uint32_t other = tl_map_get(&owner, key);
            if (other == TL_MAP_NONE)
                whole = tl_map_put(&owner, key, l->doing_of[i]) == 0;
            else if (other != l->doing_of[i])
                whole = tl_map_put(state, class, SHARED) == 0;
        }
    }
    tl_map_free(&owner);
    return whole;
}

/* With the others of its stage, or of any, or alone. */
static void set(const liking *l, const tl_map *of_stage, const tl_map *of_all)
{
    for (uint32_t i = 0; i < l->in->ncollectives; i++) {
        if (l->doing_of[i] == TL_NONE)
            continue;
        const doing *d = &l->doings.v[l->doing_of[i]];
        tl_link_collective *c = &l->in->collectives[i];
        bool strict = tl_is_synchronising((tl_collective)c->kind);
        bool stage = strict && l->in->roles_known && tl_map_get(of_stage, d->of_stage) == SEVERAL;
        bool all = strict && !stage && tl_map_get(of_all, d->of_all) == SEVERAL;
        uint64_t class = stage ? d->of_stage : all ? d->of_all : tl_hash_mix((uint64_t)(int64_t)d->group, d->what);
        c->stages = tl_hash_mix(class, l->place[i]) | 1;
        c->unlike = all;
    }
}

bool tl_link_likes_set(const tl_link_like_input *in)
{
    liking l = { .in = in,
                 .doing_of = tl_malloc((in->ncollectives + 1) * sizeof *l.doing_of),
                 .place = tl_calloc(in->ncollectives + 1, sizeof *l.place) };
    tl_map of_stage = { 0 }, of_all = { 0 };
    bool whole = l.doing_of != NULL && l.place != NULL && list(&l);

    for (size_t i = 0; i < l.doings.n; i++) {
        doing *d = &l.doings.v[i];
        d->of_all = tl_hash_mix(tl_hash_mix(d->what, d->n), d->most);
        d->of_stage = tl_hash_mix(d->of_all, d->roles);
    }
    whole = whole && look_at(&l, true, &of_stage) && look_at(&l, false, &of_all);
    if (whole)
        set(&l, &of_stage, &of_all);
    free(l.doings.v);
    free(l.doing_of);
    free(l.place);
    tl_map_free(&l.numbers);
    tl_map_free(&l.counts);
    tl_map_free(&of_stage);
    tl_map_free(&of_all);
    return whole;
}
