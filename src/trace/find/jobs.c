/* jobs.c - finds which traces are of one job.
 *
 * World size and rank are properties of a job.  The process groups of two traces may both be right and have nothing in
 * common, since a rank lists its own groups only; but a group has one set of members, and if more groups disagree than
 * agree, the jobs differ.  A job may have devices of several kinds; its traces then need a rank and a world size to be
 * recognised.
 *
 * Traces with rank and world size come first, then other traces with a rank: each joins the nearest job in time that it
 * does not contradict, or begins a new one.
 */
#include "internal.h"
#include "tlmpi/base/stats.h"

static uint64_t key_of(size_t k, const tl_group_mark *group)
{
    return tl_hash_mix(tl_hash_mix(1, k), group->key);
}

/* Returns a hash of all members of the group, never TL_MAP_NONE. */
static uint32_t members_hash(const tl_group_mark *group)
{
    return (uint32_t)(group->members & UINT64_C(0x7fffffff)); /* never TL_MAP_NONE */
}

size_t tl_commons_new(tl_commons *c)
{
    tl_vec_room(&c->v);
    c->v.v[c->v.n] = (tl_common){ .world_size = -1, .top_rank = -1 };
    return c->v.n++;
}

void tl_commons_free(tl_commons *c)
{
    free(c->v.v);
    tl_map_free(&c->groups);
}

void tl_commons_add(tl_commons *commons, size_t k, const tl_input *t)
{
    tl_common *c = &commons->v.v[k];

    c->world_size = tl_ns_max(c->world_size, t->world_size);
    c->top_rank = tl_ns_max(c->top_rank, t->rank);
    if (t->origin.gpu != 0 && !c->several_gpus) {
        c->several_gpus = c->gpu != 0 && c->gpu != t->origin.gpu;
        c->gpu = c->several_gpus ? 0 : t->origin.gpu;
    }
    if (tl_input_is_timed(t)) {
        c->first_ns = c->timed ? tl_ns_min(c->first_ns, t->begin_ns) : t->begin_ns;
        c->last_ns = c->timed ? tl_ns_max(c->last_ns, t->begin_ns) : t->begin_ns;
        c->timed = true;
    }
    c->n++;
    for (uint32_t i = 0; i < t->origin.ngroups; i++) {
        uint64_t key = key_of(k, &t->origin.groups[i]);
        if (tl_map_get(&commons->groups, key) == TL_MAP_NONE)
            tl_map_put(&commons->groups, key, members_hash(&t->origin.groups[i]));
    }
}

bool tl_commons_contradict(const tl_commons *commons, size_t k, const tl_input *t)
{
    const tl_common *c = &commons->v.v[k];
    bool both = c->world_size >= 0 && t->world_size >= 0;
    uint32_t same = 0, other = 0;

    if (both ? c->world_size != t->world_size
             : (c->world_size >= 0 && t->rank >= c->world_size) || (t->world_size >= 0 && c->top_rank >= t->world_size))
        return true;
    if (c->gpu != 0 && t->origin.gpu != 0 && c->gpu != t->origin.gpu && !(both && t->rank >= 0))
        return true;
    for (uint32_t i = 0; i < t->origin.ngroups; i++) {
        uint32_t members = tl_map_get(&commons->groups, key_of(k, &t->origin.groups[i]));
        bool agrees = members == members_hash(&t->origin.groups[i]);
        same += agrees;
        other += !agrees && members != TL_MAP_NONE;
    }
    return other > same;
}

int64_t tl_common_distance(const tl_common *c, const tl_input *t)
{
    if (!c->timed)
        return 0;
    return tl_ns_max(0, tl_ns_max(tl_ns_between(c->first_ns, t->begin_ns), tl_ns_between(t->begin_ns, c->last_ns)));
}

bool tl_common_is_far(const tl_common *c, const tl_input *t)
{
    return c->timed && tl_input_is_timed(t) && tl_common_distance(c, t) > TL_APART_NS;
}

int tl_by_job_and_time(const void *a, const void *b)
{
    const tl_input *x = *(tl_input *const *)a, *y = *(tl_input *const *)b;
    int order = TL_ORDER(x, y, job, begin_ns);
    return order != 0 ? order : tl_compare_names(x->path, y->path);
}

void tl_jobs_part(tl_input **known, size_t n)
{
    tl_commons jobs = { .groups = { 0 } };

    for (int told = 1; told >= 0; told--)
        for (size_t i = 0; i < n; i++) {
            tl_input *t = known[i];
            size_t nearest = SIZE_MAX;
            if ((t->world_size >= 0) != (told == 1))
                continue;
            for (size_t k = 0; k < jobs.v.n; k++) {
                const tl_common *job = &jobs.v.v[k];
                bool may_be = !tl_commons_contradict(&jobs, k, t) &&
                              (told == 1 || job->world_size < 0 || !tl_common_is_far(job, t));
                if (may_be &&
                    (nearest == SIZE_MAX || tl_common_distance(job, t) < tl_common_distance(&jobs.v.v[nearest], t)))
                    nearest = k;
            }
            if (nearest == SIZE_MAX)
                nearest = tl_commons_new(&jobs);
            t->job = (int32_t)nearest;
            tl_commons_add(&jobs, nearest, t);
        }
    if (n > 0)
        qsort(known, n, sizeof *known, tl_by_job_and_time);
    tl_commons_free(&jobs);
}
