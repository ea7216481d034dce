/* process.c - where in a trace tracks about a device belong. */
#include "tlmpi/trace_out/process.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/trace/view.h"
#include <stdlib.h>

/* Work of a device that is shown in one process. */
typedef struct share {
    int32_t device;
    int64_t pid;
    uint32_t pid_text;
    size_t nevents;
} share;

typedef struct shares {
    TL_VEC(share) v; /* in the order in which they are met */
    tl_map map;      /* hash of (device, pid) -> index */
} shares;

static bool is_same(const share *a, const share *b)
{
    return a->device == b->device && a->pid == b->pid && a->pid_text == b->pid_text;
}

static void count(shares *s, const share *one)
{
    uint64_t key = tl_hash_mix(tl_hash_mix(tl_hash_mix(0, (uint64_t)one->device), (uint64_t)one->pid), one->pid_text);
    uint32_t at;

    while ((at = tl_map_get(&s->map, key)) != TL_MAP_NONE) {
        if (at < s->v.n && is_same(&s->v.v[at], one)) {
            s->v.v[at].nevents++;
            return;
        }
        key = tl_hash_mix(key, 1);
    }
    tl_vec_room(&s->v);
    tl_map_put(&s->map, key, (uint32_t)s->v.n);
    s->v.v[s->v.n] = *one;
    s->v.v[s->v.n++].nevents = 1;
}

static bool is_work(const tl_events *e, size_t i)
{
    return (TL_CAT_BIT(tl_event_cat(e, i)) & TL_CAT_GPU_WORK) != 0 && (e->flags[i] & TL_EVENT_HAS_TS) != 0;
}

static void count_work(shares *s, const tl_events *e, const tl_out_search *search)
{
    for (size_t i = 0; i < e->n; i++) {
        if (search->counts != NULL ? !search->counts(search->arg, (uint32_t)i) : !is_work(e, i))
            continue;
        const tl_track *track = &e->tracks.v[e->track[i]];
        const share one = { search->apart ? tl_event_device(e, i) : -1, track->pid, track->pid_text, 0 };
        count(s, &one);
    }
}

/* By device; of one device the largest first, then as they were met. */
static int by_device(const void *context, uint32_t a, uint32_t b)
{
    const share *x = (const share *)context + a, *y = (const share *)context + b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->nevents < y->nevents) - (x->nevents > y->nevents);
}

/* What is known by process, as hashes of it: two of one hash share a number, and a block of tids too many is passed
 * over. */
typedef struct tids {
    tl_map used;     /* (process, block of tids) that events have */
    tl_map next;     /* process -> the first block not looked at */
    tl_map ndevices; /* process -> devices shown in it */
} tids;

static uint64_t key_of(int64_t pid, uint32_t pid_text)
{
    return tl_hash_mix(tl_hash_mix(0, (uint64_t)pid), pid_text);
}

static uint32_t number_at(const tl_map *map, uint64_t key)
{
    uint32_t n = tl_map_get(map, key);
    return n != TL_MAP_NONE ? n : 0;
}

static void note_used(tids *t, const tl_events *e, int64_t first, int64_t size)
{
    for (size_t i = 0; i < e->tracks.n; i++) {
        const tl_track *track = &e->tracks.v[i];
        if (track->tid_text != TL_NO_NAME || track->tid < first)
            continue;
        uint64_t block = ((uint64_t)track->tid - (uint64_t)first) / (uint64_t)size;
        tl_map_put(&t->used, tl_hash_mix(key_of(track->pid, track->pid_text), block), 1);
    }
}

static void take_tids(tids *t, tl_out_process *p, int64_t first, int64_t size)
{
    uint64_t key = key_of(p->pid, p->pid_text);
    uint32_t block = number_at(&t->next, key);

    while (tl_map_get(&t->used, tl_hash_mix(key, block)) != TL_MAP_NONE)
        block++;
    p->tid = first + (int64_t)block * size;
    p->shared = number_at(&t->ndevices, key) > 1;
    tl_map_put(&t->next, key, block + 1);
}

/* The largest share of each device: its process.  Work of no known device, where any is known, makes none: the view has
 * it on one of these. */
static void choose(const shares *s, const uint32_t *order, tids *t, tl_out_processes *out)
{
    bool known = s->v.n > 0 && s->v.v[order[s->v.n - 1]].device >= 0;

    for (size_t i = 0; i < s->v.n; i++) {
        const share *v = &s->v.v[order[i]];
        if ((known && v->device < 0) || (out->n > 0 && out->v[out->n - 1].device == v->device))
            continue;
        uint64_t key = key_of(v->pid, v->pid_text);
        tl_vec_room(out);
        tl_map_put(&t->ndevices, key, number_at(&t->ndevices, key) + 1);
        out->v[out->n++] = (tl_out_process){ .device = v->device, .pid = v->pid, .pid_text = v->pid_text };
    }
}

void tl_out_processes_find(const tl_events *e, const tl_out_search *search, tl_out_processes *out)
{
    shares s = { .v = { 0 } };
    tids t = { .used = { 0 } };
    uint32_t *order = NULL;

    count_work(&s, e, search);
    order = tl_malloc((s.v.n + 1) * sizeof *order);
    for (size_t i = 0; i < s.v.n; i++)
        order[i] = (uint32_t)i;
    tl_sort_index(order, s.v.n, by_device, s.v.v);
    choose(&s, order, &t, out);
    note_used(&t, e, search->first_tid, search->ntids);
    for (size_t i = 0; i < out->n; i++)
        take_tids(&t, &out->v[i], search->first_tid, search->ntids);

    free(order);
    free(s.v.v);
    tl_map_free(&s.map);
    tl_map_free(&t.used);
    tl_map_free(&t.next);
    tl_map_free(&t.ndevices);
}

tl_out_track tl_out_process_track(const tl_out_process *p, const tl_names *names)
{
    tl_out_track track = { .pid = p->pid, .tid = p->tid };
    if (p->pid_text != TL_NO_NAME)
        track.pid_text = tl_names_text(names, p->pid_text);
    return track;
}
