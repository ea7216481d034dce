/* pftrace.c - the reader of Perfetto traces: which files they are, and what a quick look at one finds. */
#include "formats.h"
#if TLMPI_HAVE_PROTOBUF
#include "tlmpi/base/hash.h"
#include <stdio.h>

static const char *const endings[] = { ".pftrace", ".pftrace.gz", ".perfetto-trace", NULL };

static bool claims(const char *path, tl_text head)
{
    return tl_name_has_ending(path, endings) && (head.n == 0 || head.p[0] == '\n');
}

static void look(const char *path, tl_text head, bool deep, bool should_be, tl_look *out)
{
    const tl_read_options options = { .keep = ~(TL_CAT_BIT(TL_CAT_NONE) | TL_CAT_BIT(TL_CAT_OTHER)) };
    tl_error err = { 0 };
    tl_trace trace;
    const tl_events *e = &trace.events;

    (void)deep;
    (void)should_be;
    if (tl_perfetto_read(path, &options, true, &trace, &err) != TL_OK) {
        tl_look_say(out, TL_INPUT_UNREADABLE, tl_error_reason(&err, path));
    } else if (e->n == 0) {
        tl_look_say(out, TL_INPUT_OTHER,
                    "a Perfetto trace (.pftrace) with no event of PyTorch or rocprofv3 that can be read");
    } else {
        const bool on_host = !(TL_CAT_BIT(tl_event_cat(e, 0)) & (TL_CAT_GPU_WORK | TL_CAT_BIT(TL_CAT_SYNC)));
        out->begin_ns = e->ts_ns[0];
        out->origin.pid = on_host ? e->tracks.v[tl_event_track(e, 0)].pid : 0;
        out->origin.head = tl_hash_mix(tl_hash_bytes(head.p, head.n), (uint64_t)out->begin_ns) | 1;
    }
    tl_trace_free(&trace);
}

static void say(const char *path, char *words, size_t size)
{
    (void)path;
    snprintf(words, size, "Perfetto; without ranks, groups, devices' names and versions");
}

static tl_status read_trace(const char *path, const tl_read_options *options, tl_trace *out, tl_error *err)
{
    if (options->range != NULL || options->hook != NULL)
        return tl_fail(err, options->range != NULL ? TL_EINTERNAL : TL_EINPUT,
                       "%s: a Perfetto trace is read in one, and not with execution traces", path);
    tl_status st = tl_perfetto_read(path, options, false, out, err);
    const tl_read_report *told = &out->report;
    if (st == TL_OK && told->no_memory && !told->over_limit)
        return tl_fail(err, TL_EINPUT, "%s: more than memory has room for", path);
    return st != TL_OK || told->has_events
               ? st
               : tl_fail(err, TL_EINPUT, "%s: expected events, found none; %s", path, told->first_bad);
}

const tl_reader tl_pftrace_reader = { .name = "pftrace",
                                      .endings = endings,
                                      .claims = claims,
                                      .by_name = true,
                                      .look = look,
                                      .say = say,
                                      .read = read_trace };

#endif
