/* idle.c - idle time of a device as tracks in its trace. */
#include "tlmpi/trace_out/idle.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/activity.h"
#include "tlmpi/model/kind.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

tl_status tl_out_idle_check_new(const char *path, const tl_events *e, tl_error *err)
{
    for (size_t i = 0; i < e->categories.n; i++) {
        uint32_t text = e->categories.v[i].text;
        if (text == TL_NO_NAME)
            continue;
        const tl_text cat = tl_names_text(&e->names, text);
        if (tl_text_is(cat, TL_OUT_IDLE_CAT) || tl_text_is(cat, TL_OUT_COUNTER_CAT) ||
            tl_text_is(cat, TL_OUT_PATTERN_CAT) || tl_text_is(cat, TL_OUT_PATH_CAT))
            return tl_fail(err, TL_EINPUT,
                           "%s: has tracks of idle time already; augment the trace that it was made from", path);
    }
    return TL_OK;
}

enum { MACRO, DRAIN, CPU, WAITS };

static tl_out_track track_of(const tl_out_track *first, int which)
{
    tl_out_track track = *first;
    track.tid += which;
    return track;
}

void tl_out_idle_begin(tl_out_writer *w, const tl_out_track *first, const char *of)
{
    static const char *const names[] = { "Idle: Noise/Macro", "Idle: Drain Type", "Idle: CPU During Gap" };
    char name[64];
    for (int i = MACRO; i <= CPU; i++) {
        const tl_out_track track = track_of(first, i);
        snprintf(name, sizeof name, "%s%s", names[i], of);
        tl_out_name_track(w, &track, name);
    }
}

/* ------------------------------------------------------------------------------------------------------------- gaps */

/* Puts a gap on one of its tracks, named "idle#3 a: b", without the parts that are empty. */
static void put_gap(tl_out_writer *w, const tl_out_track *first, int which, const tl_out_gap *gap, tl_text a, tl_text b,
                    const tl_out_arg *args, size_t nargs)
{
    tl_bytes name = { 0 };
    if (gap->noise)
        tl_bytes_say(&name, "noise");
    else
        tl_bytes_say(&name, "idle#%" PRId64 "%s", gap->id, a.n > 0 ? " " : "");
    tl_bytes_put(&name, a.p, a.n);
    tl_bytes_put(&name, ": ", b.n > 0 ? 2 : 0);
    tl_bytes_put(&name, b.p, b.n);
    tl_out_put(w, &(tl_out_event){ .ph = 'X',
                                   .track = track_of(first, which),
                                   .name = { name.v, name.n },
                                   .cat = TL_OUT_IDLE_CAT,
                                   .ts = gap->ts,
                                   .dur = gap->dur,
                                   .args = args,
                                   .nargs = nargs });
    tl_bytes_free(&name);
}

void tl_out_idle_gap(tl_out_writer *w, const tl_out_track *first, const tl_out_gap *gap)
{
    const tl_text none = TL_TEXT("");
    const tl_out_arg id = { "idle_id", tl_out_int(gap->id) }, macro[] = { id, { "duration_us", gap->duration } };
    const tl_out_arg drain[] = { id,
                                 { "drain_type", tl_out_text(gap->drain) },
                                 { "sync_type", tl_out_text(gap->sync.n > 0 ? gap->sync : TL_TEXT("none")) } };
    const tl_out_arg cpu[] = { id,
                               { "cpu_during_gap", tl_out_text(gap->label) },
                               { "detail", tl_out_text(gap->detail) } };
    /* The kind of wait is in the name of a drained gap only: on a starved gap the wait was for a queue already
     * empty. */
    const bool drained = tl_text_is(gap->drain, "sync_drain");

    put_gap(w, first, MACRO, gap, none, none, macro, 2);
    if (gap->noise)
        return;
    put_gap(w, first, DRAIN, gap, gap->drain, drained ? gap->sync : none, drain, 3);
    put_gap(w, first, CPU, gap, gap->label, gap->detail, cpu, 3);
}

void tl_out_idle_row(tl_out_writer *w, const tl_out_track *first, const tl_gap *row, int64_t ts_ns, int64_t dur_ns,
                     tl_out_name *name, void *arg)
{
    tl_bytes detail = { 0 };
    tl_out_gap_words(&detail, row, name, arg);
    tl_out_idle_gap(
        w, first,
        &(tl_out_gap){ .ts = tl_out_us(ts_ns),
                       .dur = tl_out_us(dur_ns),
                       .duration = tl_out_us(row->duration_ns),
                       .id = row->idle_id,
                       .drain = tl_text_of(tl_drain_labels[row->drain_type]),
                       .sync = tl_text_of(row->sync_type != TL_SYNC_NONE ? tl_wait_labels[row->sync_type] : ""),
                       .label = tl_text_of(tl_doing_labels[row->cpu_during_gap]),
                       .detail = { detail.v, detail.n } });
    tl_bytes_free(&detail);
}

/* -------------------------------------------------------------------------- what is said of a gap besides its label */

/* Adds microseconds with one decimal, rounded half up. */
static void add_us(tl_bytes *w, const char *before, int64_t ns, const char *after)
{
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns, tenths = size / 100 + (size % 100 >= 50);
    tl_bytes_say(w, "%s%s%" PRIu64 ".%u\xC2\xB5s%s", before, ns < 0 && tenths > 0 ? "-" : "", tenths / 10,
                 (unsigned)(tenths % 10), after);
}

static unsigned percent(int64_t part, int64_t whole)
{
    return whole > 0 ? (unsigned)((double)part / (double)whole * 100 + 0.5) : 0;
}

static void add_text(tl_bytes *w, tl_text text)
{
    tl_bytes_put(w, text.p, text.n);
}

void tl_out_gap_words(tl_bytes *w, const tl_gap *gap, tl_out_name *name, void *arg)
{
    const struct {
        uint32_t op;
        int64_t ns;
    } ops[] = { { gap->dominant_op, gap->dominant_op_ns },
                { gap->second_op, gap->second_op_ns },
                { gap->third_op, gap->third_op_ns } };

    switch ((tl_doing)gap->cpu_during_gap) {
    case TL_DOING_LAUNCH_ANOMALY:
        if (gap->prequeued == TL_QUEUED_YES)
            add_us(w, "gap=", gap->duration_ns, ", ");
        add_us(w, "launch_to_exec=", gap->launch_to_exec_ns,
               gap->prequeued == TL_QUEUED_YES ? " (prequeued)" : " (launched_during_gap)");
        break;
    case TL_DOING_LAUNCH_OVERHEAD:
        add_us(w, "app_overhead=", gap->duration_ns - gap->launch_to_exec_ns, ", ");
        add_us(w, "launch_to_exec=", gap->launch_to_exec_ns, "");
        break;
    case TL_DOING_RUNTIME:
        tl_bytes_say(w, "%s: ", tl_call_labels[gap->call_class]);
        add_text(w, name(arg, gap->call));
        break;
    case TL_DOING_CPU:
        for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
            if (ops[i].op == TL_NO_NAME)
                continue;
            tl_bytes_say(w, "%s", i > 0 ? ", " : "");
            add_text(w, name(arg, ops[i].op));
            tl_bytes_say(w, ": %u%%", percent(ops[i].ns, gap->duration_ns));
        }
        break;
    case TL_DOING_UNTRACED:
        tl_bytes_say(w, "operators cover %u%% of the gap", percent(gap->ops_ns, gap->duration_ns));
        break;
    case TL_DOING_NO_TRACE:
        tl_bytes_say(w, "the trace has no operators");
        break;
    case TL_DOING_GRAPH:
        add_text(w, name(arg, gap->launch));
        break;
    case TL_DOING_DEPENDENCY:
        add_text(w, name(arg, gap->following));
        break;
    case TL_DOING_UNRECORDED:
        tl_bytes_say(w, "work was launched that the trace lacks");
        break;
    case TL_DOING_ALL:
    case TL_DOING_NOISE:
    case TL_NDOINGS:
        break;
    }
}

/* ------------------------------------------------------------------------------------------------------------ waits */

int64_t tl_out_wait_put(tl_out_writer *w, tl_out_waits *tracks, const tl_out_wait *wait)
{
    const tl_out_arg args[] = { { "late_rank", tl_out_int(wait->late_rank) },
                                { "collective", tl_out_int(wait->collective) } };
    const bool met = wait->collective >= 0;
    char name[96], rank[24] = "other ranks", number[16] = "";
    int at = 0;
    while (at < tracks->n && tracks->until_ns[at] > wait->ts_ns)
        at++;
    if (at == TL_OUT_WAIT_TRACKS)
        return -1;
    const tl_out_track track = track_of(tracks->first, WAITS + at);
    if (at == tracks->n) {
        tracks->n++;
        if (at > 0)
            snprintf(number, sizeof number, " %d", at + 1);
        snprintf(name, sizeof name, "Waiting for Ranks%s%s", number, tracks->of);
        tl_out_name_track(w, &track, name);
    }
    tracks->until_ns[at] = tl_ns_sum(wait->ts_ns, wait->dur_ns);
    if (wait->late_rank >= 0)
        snprintf(rank, sizeof rank, "rank %" PRId32, wait->late_rank);
    snprintf(name, sizeof name, "waits for %s%s%s", rank, met ? ": " : "", met ? tl_collective_labels[wait->kind] : "");
    tl_out_put_slice(w, &track, tl_text_of(name), TL_OUT_IDLE_CAT, wait->ts_ns, wait->dur_ns, args, 2);
    return track.tid;
}
