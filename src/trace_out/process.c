/* process.c - finds the processes of a trace to which tracks about devices belong. */
#include "tlmpi/trace_out/process.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/trace/view.h"
#include <stdlib.h>

/* Work of a device that is shown in one process. */
typedef struct share {
    int32_t device;
    int64_t pid;
    uint32_t pid_text;
    size_t nevents;
} share;

typedef TL_VEC(share) shares;

static bool is_work(const tl_events *e, const tl_out_search *search, uint32_t i)
{
    return search->counts != NULL
               ? search->counts(search->arg, i)
               : (TL_CAT_BIT(tl_event_cat(e, i)) & TL_CAT_GPU_WORK) != 0 && (e->flags[i] & TL_EVENT_HAS_TS) != 0;
}

/* Returns the shares in order of first occurrence. */
static shares shares_of(const tl_events *e, const tl_out_search *search)
{
    shares all = { 0 };
    tl_map places = { 0 }; /* hash of (device, process) -> index */

    for (uint32_t i = 0; i < e->n; i++) {
        if (!is_work(e, search, i))
            continue;
        const tl_track *track = &e->tracks.v[tl_event_track(e, i)];
        const int32_t device = search->apart ? tl_event_device(e, i) : -1;
        const uint64_t process = tl_hash_mix((uint64_t)device, (uint64_t)track->pid);
        const uint64_t key = tl_hash_mix(process, track->pid_text);
        const uint32_t at = tl_map_number(&places, key, all.n);
        if (at >= all.n)
            tl_vec_push(&all, (share){ device, track->pid, track->pid_text, 0 });
        all.v[at].nevents++;
    }
    tl_map_free(&places);
    return all;
}

TL_ORDER_BY(by_device, share, device, DOWN(nevents))

/* Chooses the process with the largest share of each device.  Work of an unknown device makes no process if any device
 * is known: the view has it on one of these. */
static void choose(const shares *s, tl_out_processes *out)
{
    uint32_t *order = tl_sorted_index(s->n, by_device, s->v);
    const bool known = s->n > 0 && s->v[order[s->n - 1]].device >= 0;

    for (size_t i = 0; i < s->n; i++) {
        const share *v = &s->v[order[i]];
        if ((!known || v->device >= 0) && (out->n == 0 || out->v[out->n - 1].device != v->device))
            tl_vec_push(out, (tl_out_process){ .device = v->device, .pid = v->pid, .pid_text = v->pid_text });
    }
    free(order);
}

static bool is_same(const tl_out_process *a, int64_t pid, uint32_t pid_text)
{
    return a->pid == pid && a->pid_text == pid_text;
}

static bool is_used(const tl_events *e, const tl_out_process *p, int64_t first, int64_t n)
{
    TL_EACH (const tl_track, track, e->tracks)
        if (is_same(p, track->pid, track->pid_text) && track->tid_text == TL_NO_NAME && track->tid >= first &&
            track->tid - first < n)
            return true;
    return false;
}

/* Sets aside the first numbers that no event of the process has, after those of the devices before it in the same
 * process. */
static void take_tids(const tl_events *e, const tl_out_search *search, tl_out_processes *out, tl_out_process *p)
{
    p->tid = search->first_tid;
    TL_EACH (const tl_out_process, other, *out)
        if (other != p && is_same(p, other->pid, other->pid_text)) {
            p->shared = true;
            p->tid = other < p ? other->tid + search->ntids : p->tid;
        }
    while (is_used(e, p, p->tid, search->ntids))
        p->tid += search->ntids;
}

void tl_out_processes_find(const tl_events *e, const tl_out_search *search, tl_out_processes *out)
{
    shares all = shares_of(e, search);

    choose(&all, out);
    TL_EACH (tl_out_process, p, *out)
        take_tids(e, search, out, p);
    free(all.v);
}

tl_out_track tl_out_process_track(const tl_out_process *p, const tl_names *names)
{
    tl_out_track track = { .pid = p->pid, .tid = p->tid };
    if (p->pid_text != TL_NO_NAME)
        track.pid_text = tl_names_text(names, p->pid_text);
    return track;
}
