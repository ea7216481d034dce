/* idle.c - idle time of a device as tracks in its trace. */
#include "tlmpi/trace_out/idle.h"
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

static const char *const track_names[] = { "Idle: Noise/Macro", "Idle: Drain Type", "Idle: CPU During Gap" };

enum { MACRO, DRAIN, CPU, WAITS };

static tl_out_track track_of(const tl_out_track *first, int which)
{
    tl_out_track track = *first;
    track.tid += which;
    return track;
}

void tl_out_idle_begin(tl_out_writer *w, const tl_out_track *first, const char *of)
{
    char name[64];
    for (int i = MACRO; i <= CPU; i++) {
        const tl_out_track track = track_of(first, i);
        snprintf(name, sizeof name, "%s%s", track_names[i], of);
        tl_out_name_track(w, &track, name);
    }
}

void tl_out_waits_begin(tl_out_writer *w, const tl_out_track *first, int track, const char *of)
{
    const tl_out_track own = track_of(first, WAITS + track);
    char name[64], number[16] = "";
    if (track > 0)
        snprintf(number, sizeof number, " %d", track + 1);
    snprintf(name, sizeof name, "Waiting for Ranks%s%s", number, of);
    tl_out_name_track(w, &own, name);
}

void tl_out_wait_put(tl_out_writer *w, const tl_out_track *first, int track, const tl_out_wait *wait)
{
    const tl_out_arg args[] = { { "late_rank", tl_out_int(wait->late_rank) },
                                { "collective", tl_out_int(wait->collective) } };
    char name[96], rank[24] = "other ranks";
    if (wait->late_rank >= 0)
        snprintf(rank, sizeof rank, "rank %" PRId32, wait->late_rank);
    int n = snprintf(name, sizeof name, "waits for %s%s%s", rank, wait->kind != NULL ? ": " : "",
                     wait->kind != NULL ? wait->kind : "");
    tl_out_put(w, &(tl_out_event){ .ph = 'X',
                                   .track = track_of(first, WAITS + track),
                                   .name = { name, (size_t)n },
                                   .cat = TL_OUT_IDLE_CAT,
                                   .ts = wait->ts,
                                   .dur = wait->dur,
                                   .args = args,
                                   .nargs = 2 });
}

static void put(tl_out_writer *w, const tl_out_track *first, int which, const tl_out_gap *gap, tl_text name,
                const tl_out_arg *args, size_t nargs)
{
    tl_out_put(w, &(tl_out_event){ .ph = 'X',
                                   .track = track_of(first, which),
                                   .name = name,
                                   .cat = TL_OUT_IDLE_CAT,
                                   .ts = gap->ts,
                                   .dur = gap->dur,
                                   .args = args,
                                   .nargs = nargs });
}

/* A gap on one of its tracks, named "idle#3 a: b", or without what is empty of it. */
static void put_named(tl_out_writer *w, const tl_out_track *first, int which, const tl_out_gap *gap, tl_text a,
                      tl_text b, const tl_out_arg args[3])
{
    tl_bytes name = { 0 };

    tl_bytes_say(&name, "idle#%" PRId64 " ", gap->id);
    tl_bytes_put(&name, a.p, a.n);
    tl_bytes_put(&name, ": ", b.n > 0 ? 2 : 0);
    tl_bytes_put(&name, b.p, b.n);
    put(w, first, which, gap, (tl_text){ name.v, name.n }, args, 3);
    tl_bytes_free(&name);
}

void tl_out_idle_gap(tl_out_writer *w, const tl_out_track *first, const tl_out_gap *gap)
{
    const tl_text none = TL_TEXT("none");
    const tl_out_arg id = { "idle_id", tl_out_int(gap->id) }, macro[] = { id, { "duration_us", gap->duration } };
    const tl_out_arg drain[] = { id,
                                 { "drain_type", tl_out_text(gap->drain) },
                                 { "sync_type", tl_out_text(gap->sync.n > 0 ? gap->sync : none) } };
    const tl_out_arg cpu[] = { id,
                               { "cpu_during_gap", tl_out_text(gap->label) },
                               { "detail", tl_out_text(gap->detail) } };
    /* What waited is in the name of a drain alone: on a starved gap it was a wait for a queue already empty. */
    const bool drained = tl_text_is(gap->drain, "sync_drain");
    char name[32] = "noise";

    if (!gap->noise)
        snprintf(name, sizeof name, "idle#%" PRId64, gap->id);
    put(w, first, MACRO, gap, (tl_text){ name, strlen(name) }, macro, 2);
    if (gap->noise)
        return;
    put_named(w, first, DRAIN, gap, gap->drain, drained ? gap->sync : TL_TEXT(""), drain);
    put_named(w, first, CPU, gap, gap->label, gap->detail, cpu);
}

static tl_text text_of(const char *label)
{
    return (tl_text){ label, strlen(label) };
}

tl_out_gap tl_out_gap_of(const tl_gap *row, int64_t ts_ns, int64_t dur_ns, tl_text detail)
{
    return (tl_out_gap){ .ts = tl_out_us(ts_ns),
                         .dur = tl_out_us(dur_ns),
                         .duration = tl_out_us(row->duration_ns),
                         .id = row->idle_id,
                         .drain = text_of(tl_drain_labels[row->drain_type]),
                         .sync = text_of(row->sync_type != TL_SYNC_NONE ? tl_wait_labels[row->sync_type] : ""),
                         .label = text_of(tl_doing_labels[row->cpu_during_gap]),
                         .detail = detail };
}

/* ---------------------------------------------------------------------------- what is said of a gap besides its label */

/* Microseconds with one decimal, rounded half up. */
static void add_us(tl_bytes *w, const char *before, int64_t ns, const char *after)
{
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns, tenths = size / 100 + (size % 100 >= 50);
    tl_bytes_say(w, "%s%s%" PRIu64 ".%u\xC2\xB5s%s", before, ns < 0 && tenths > 0 ? "-" : "", tenths / 10,
                 (unsigned)(tenths % 10), after);
}

static void add_name(tl_bytes *w, const tl_names *names, uint32_t name)
{
    const tl_text text = name != TL_NO_NAME ? tl_names_text(names, name) : TL_TEXT("(no name)");
    tl_bytes_put(w, text.p, text.n);
}

static unsigned percent(int64_t part, int64_t whole)
{
    return whole > 0 ? (unsigned)((double)part / (double)whole * 100 + 0.5) : 0;
}

static void add_op(tl_bytes *w, const tl_names *names, uint32_t op, int64_t ns, const tl_gap *gap, const char *before)
{
    if (op == TL_NO_NAME)
        return;
    tl_bytes_say(w, "%s", before);
    add_name(w, names, op);
    tl_bytes_say(w, ": %u%%", percent(ns, gap->duration_ns));
}

void tl_out_gap_words(tl_bytes *w, const tl_names *names, const tl_gap *gap)
{
    w->n = 0;
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
        add_name(w, names, gap->call);
        break;
    case TL_DOING_CPU:
        add_op(w, names, gap->dominant_op, gap->dominant_op_ns, gap, "");
        add_op(w, names, gap->second_op, gap->second_op_ns, gap, ", ");
        add_op(w, names, gap->third_op, gap->third_op_ns, gap, ", ");
        break;
    case TL_DOING_UNTRACED:
        tl_bytes_say(w, "operators cover %u%% of the gap", percent(gap->ops_ns, gap->duration_ns));
        break;
    case TL_DOING_NO_TRACE:
        tl_bytes_say(w, "%s", "the trace has no operators");
        break;
    case TL_DOING_GRAPH:
        add_name(w, names, gap->launch);
        break;
    case TL_DOING_DEPENDENCY:
        add_name(w, names, gap->following);
        break;
    case TL_DOING_UNRECORDED:
        tl_bytes_say(w, "%s", "work was launched that the trace lacks");
        break;
    case TL_DOING_ALL:
    case TL_DOING_NOISE:
    case TL_NDOINGS:
        break;
    }
}
