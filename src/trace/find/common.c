/* common.c - whether a trace can be of the job that others are of.
 *
 * World size and rank are facts of a job.  The groups of two traces may both be right and have nothing in common, for a
 * rank tells those it is in; but a group has one set of members, and where more groups disagree than agree the jobs are
 * two.  A job may have devices of several kinds, and then its traces say of how many ranks it is.
 */
#include "decide.h"
#include "tlmpi/base/stats.h"

#define MEMBERS UINT64_C(0x7fffffff)

static uint64_t key_of(const tl_common *c, const tl_group_mark *group)
{
    return tl_hash_mix(tl_hash_mix(1, c->number), group->key);
}

void tl_common_add(tl_common *c, tl_map *groups, const tl_input *t)
{
    if (t->world_size > c->world_size)
        c->world_size = t->world_size;
    if (t->rank > c->top_rank)
        c->top_rank = t->rank;
    if (t->origin.gpu != 0 && !c->several_gpus) {
        c->several_gpus = c->gpu != 0 && c->gpu != t->origin.gpu;
        c->gpu = c->several_gpus ? 0 : t->origin.gpu;
    }
    if (tl_input_is_timed(t)) {
        c->first_ns = !c->timed || t->begin_ns < c->first_ns ? t->begin_ns : c->first_ns;
        c->last_ns = !c->timed || t->begin_ns > c->last_ns ? t->begin_ns : c->last_ns;
        c->timed = true;
    }
    c->n++;
    for (uint32_t i = 0; i < t->origin.ngroups; i++) {
        uint64_t key = key_of(c, &t->origin.groups[i]);
        if (tl_map_get(groups, key) == TL_MAP_NONE)
            tl_map_put(groups, key, (uint32_t)(t->origin.groups[i].members & MEMBERS));
    }
}

static bool groups_disagree(const tl_common *c, const tl_map *groups, const tl_origin *o)
{
    uint32_t same = 0, other = 0;
    for (uint32_t i = 0; i < o->ngroups; i++) {
        uint32_t members = tl_map_get(groups, key_of(c, &o->groups[i]));
        bool agrees = members == (uint32_t)(o->groups[i].members & MEMBERS);
        same += agrees;
        other += !agrees && members != TL_MAP_NONE;
    }
    return other > same;
}

bool tl_common_contradicts(const tl_common *c, const tl_map *groups, const tl_input *t)
{
    bool both = c->world_size >= 0 && t->world_size >= 0;

    if (both ? c->world_size != t->world_size
             : (c->world_size >= 0 && t->rank >= c->world_size) || (t->world_size >= 0 && c->top_rank >= t->world_size))
        return true;
    if (c->gpu != 0 && t->origin.gpu != 0 && c->gpu != t->origin.gpu && !(both && t->rank >= 0))
        return true;
    return groups_disagree(c, groups, &t->origin);
}

int64_t tl_common_distance(const tl_common *c, const tl_input *t)
{
    if (!c->timed)
        return 0;
    return t->begin_ns < c->first_ns  ? tl_ns_between(c->first_ns, t->begin_ns)
           : t->begin_ns > c->last_ns ? tl_ns_between(t->begin_ns, c->last_ns)
                                      : 0;
}

bool tl_common_is_far(const tl_common *c, const tl_input *t)
{
    return c->timed && tl_input_is_timed(t) && tl_common_distance(c, t) > TL_APART_NS;
}
