/* patterns.c - sequences of work as tracks. */
#include "patterns.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/trace_out/idle.h"
#include <inttypes.h>
#include <stdio.h>

/* "Pattern 1: aten::batch_norm", and " (device 1)" where that is to be told. */
static void name_track(tl_out_writer *w, const tl_out_track *track, const tl_occurrence *o, const tl_out_process *p,
                       const tl_names *names)
{
    tl_text operator= tl_names_text(names, o->operator);
    char head[32], of[32] = "";
    tl_bytes name = { 0 };
    int n = snprintf(head, sizeof head, "Pattern %" PRId32 ": ", o->pattern);
    if (p->shared)
        snprintf(of, sizeof of, " (device %" PRId32 ")", p->device);
    tl_bytes_put(&name, head, (size_t)n);
    tl_bytes_put(&name, operator.p, operator.n);
    tl_bytes_put(&name, of, strlen(of) + 1);
    tl_out_name_track(w, track, name.v);
    tl_bytes_free(&name);
}

static void put_one(tl_out_writer *w, const tl_out_track *track, const tl_occurrence *o, int64_t start_ns,
                    int64_t base_ns, const tl_names *names)
{
    const tl_out_arg args[] = { { "operator", tl_out_text(tl_names_text(names, o->operator)) },
                                { "kernels", tl_out_int(o->kernels) },
                                { "id", tl_out_int(o->id) } };
    char name[32];
    int n = snprintf(name, sizeof name, "pattern %" PRId32, o->pattern);
    tl_out_put(w, &(tl_out_event){ .ph = 'X',
                                   .track = *track,
                                   .name = { name, (size_t)n },
                                   .cat = TL_OUT_PATTERN_CAT,
                                   .ts = tl_out_us(tl_ns_between(start_ns, base_ns)),
                                   .dur = tl_out_us(tl_ns_between(o->end_ns, start_ns)),
                                   .args = args,
                                   .nargs = 3 });
}

void tl_patterns_put(const tl_occurrences *occurrences, tl_out_writer *w, const tl_out_process *p,
                     const tl_names *names, int64_t base_ns)
{
    const tl_out_track first = tl_out_process_track(p, names);
    int64_t until_ns = INT64_MIN;

    for (size_t i = 0; i < occurrences->n; i++) {
        const tl_occurrence *o = &occurrences->v[i];
        tl_out_track track = first;
        if (o->device != p->device)
            continue;
        track.tid += TL_OUT_PATTERN_FIRST + o->pattern - 1;
        if (i == 0 || o[-1].device != o->device || o[-1].pattern != o->pattern) {
            until_ns = INT64_MIN;
            name_track(w, &track, o, p, names);
        }
        /* On a track one begins where the one before it ends, also where their work is on several streams. */
        int64_t start_ns = tl_ns_max(o->start_ns, until_ns);
        if (start_ns < o->end_ns || o->start_ns == o->end_ns)
            put_one(w, &track, o, start_ns, base_ns, names);
        until_ns = tl_ns_max(until_ns, o->end_ns);
    }
}
