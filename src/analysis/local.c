/* local.c - parts of a rank's time since its previous collective of the same group. */
#include "tlmpi/analysis/local.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

static int by_start(const void *parts, uint32_t a, uint32_t b)
{
    const tl_participant *p = parts;
    if (p[a].start_ns != p[b].start_ns)
        return p[a].start_ns < p[b].start_ns ? -1 : 1;
    return (p[a].uid > p[b].uid) - (p[a].uid < p[b].uid);
}

/* For each participant its stretch of time, from the previous end to its start. */
typedef struct stretch {
    int64_t from_ns, to_ns;
} stretch;

static int by_from(const void *stretches, uint32_t a, uint32_t b)
{
    const stretch *s = stretches;
    return (s[a].from_ns > s[b].from_ns) - (s[a].from_ns < s[b].from_ns);
}

/* Where a rank's time begins to be comparable: its first step, else its first work. */
static int64_t beginning(const tl_rank_view *view, const tl_activity *activity)
{
    int64_t first = activity->n > 0 ? activity->v[0].start_ns : INT64_MAX;
    return view->nsteps > 0 && view->steps[0].start_ns < first ? view->steps[0].start_ns : first;
}

static bool find_previous(tl_participant *parts, size_t n, int64_t begin_ns, const uint32_t *order, stretch *stretches)
{
    tl_map last = { 0 };
    bool whole = true;
    for (size_t i = 0; whole && i < n; i++) {
        uint32_t at = order[i];
        uint32_t previous = tl_map_get(&last, (uint64_t)(uint32_t)parts[at].group);
        parts[at].previous = previous == TL_MAP_NONE ? TL_NONE : parts[previous].uid;
        parts[at].since = (tl_parts){ { 0 } };
        stretches[at] = (stretch){ previous == TL_MAP_NONE ? begin_ns : parts[previous].end_ns, parts[at].start_ns };
        whole = tl_map_put(&last, (uint64_t)(uint32_t)parts[at].group, at) == 0;
    }
    tl_map_free(&last);
    return whole;
}

bool tl_local_since(const tl_rank_view *view, const tl_activity *activity, tl_participant *parts, size_t n)
{
    uint32_t *order = tl_malloc((n + 1) * sizeof *order);
    stretch *stretches = tl_malloc((n + 1) * sizeof *stretches);
    int64_t begin_ns = beginning(view, activity);
    bool whole = order != NULL && stretches != NULL;

    for (size_t i = 0; whole && i < n; i++)
        order[i] = (uint32_t)i;
    whole = whole && tl_sort_index(order, n, by_start, parts) && find_previous(parts, n, begin_ns, order, stretches) &&
            tl_sort_index(order, n, by_from, stretches);
    tl_activity_cursor cursor = { 0 };
    for (size_t i = 0; whole && i < n; i++) {
        const stretch *s = &stretches[order[i]];
        tl_parts *sum = &parts[order[i]].since;
        tl_activity_add(activity, &cursor, s->from_ns, s->to_ns, sum);
        /* Nothing has run yet: the host has not fed the device. */
        int64_t first = activity->n > 0 ? activity->v[0].start_ns : s->to_ns;
        if (s->from_ns < first && s->from_ns < s->to_ns)
            sum->ns[TL_PART_HOST] += (first < s->to_ns ? first : s->to_ns) - s->from_ns;
    }
    free(order);
    free(stretches);
    return whole;
}
