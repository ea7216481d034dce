/* tracks.c - TraceLens' gaps, as the tracks that TraceLens adds to a trace. */
#include "lens.h"
#include "tlmpi/compat/tracelens/tracelens.h"
#include "tlmpi/trace_out/idle.h"
#include "tlmpi/trace_out/process.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct lens_tracks {
    tl_lens_idle idle;
    tl_names names; /* names of the trace */
    tl_out_process process;
} lens_tracks;

/* --------------------------------------------------------------------------------------------------------- process */

static bool is_slice(const void *arg, uint32_t i)
{
    const tl_lens *lens = arg;
    return lens->set[i] >= TL_LENS_KERNEL && lens->set[i] <= TL_LENS_MEMSET && tl_lens_is_complete(lens, i) &&
           tl_lens_whole(lens, i, TL_MORE_PID);
}

/* Sets the pid to the process of the first process label with "GPU" in its text, for traces without device work. */
static void find_labelled_process(const tl_lens *lens, tl_out_process *out)
{
    const tl_events *e = lens->e;
    for (uint32_t i = 0; i < e->n; i++) {
        uint32_t labels = lens->words->more[i].labels;
        if (labels == TL_NO_NAME || !tl_text_is(tl_lens_name(lens, i, ""), "process_labels") ||
            !tl_text_has(tl_names_text(&e->names, labels), "GPU"))
            continue;
        out->pid = e->tracks.v[tl_event_track(e, i)].pid;
        out->pid_text = e->tracks.v[tl_event_track(e, i)].pid_text;
        return;
    }
}

/* Finds the process with the most device work.  The tids of the tracks are fixed, even if the trace uses them
 * already. */
static void find_process(const tl_lens *lens, tl_out_process *out)
{
    const tl_out_search search = {
        .first_tid = TL_OUT_IDLE_TID, .ntids = TL_OUT_IDLE_STRIDE, .counts = is_slice, .arg = lens
    };
    tl_out_processes found = { 0 };
    tl_out_processes_find(lens->e, &search, &found);

    *out = (tl_out_process){ .pid_text = TL_NO_NAME };
    if (found.n > 0)
        *out = found.v[0];
    else
        find_labelled_process(lens, out);
    out->tid = TL_OUT_IDLE_TID;
    free(found.v);
}

/* --------------------------------------------------------------------------------------------------------- reading */

tl_status tl_tracelens_tracks_read(const char *path, tl_read_report *report, void **out, tl_error *err)
{
    tl_verbatim words = { 0 };
    const tl_entry_hook hook = tl_verbatim_hook(&words, true);
    const tl_read_options options = { .keep = (1u << TL_NCATS) - 1, .hook = &hook };
    tl_trace trace;
    lens_tracks *t = tl_calloc(1, sizeof *t);

    tl_status st = tl_trace_read(path, &options, &trace, err);
    *report = trace.report;
    if (st == TL_OK)
        st = tl_out_idle_check_new(path, &trace.events, err);
    if (st == TL_OK) {
        tl_lens lens = tl_lens_open(&trace, &words);
        find_process(&lens, &t->process);
        t->idle = tl_lens_idle_of(&lens);
        tl_lens_free(&lens);
    }
    t->names = trace.events.names;
    trace.events.names = (tl_names){ 0 };
    tl_trace_free(&trace);
    tl_verbatim_free(&words);
    if (st == TL_OK)
        *out = t;
    else
        tl_tracelens_tracks_free(t);
    return st;
}

size_t tl_tracelens_tracks_gaps(const void *tracks)
{
    return ((const lens_tracks *)tracks)->idle.gaps.n;
}

void tl_tracelens_tracks_free(void *tracks)
{
    lens_tracks *t = tracks;
    if (t == NULL)
        return;
    tl_lens_idle_free(&t->idle);
    tl_names_free(&t->names);
    free(t);
}

/* ---------------------------------------------------------------------------------------------------------- adding */

/* Returns the value as an integer if `whole`, as in the trace, else as a double. */
static tl_out_value time_value(double value, bool whole)
{
    return whole && fabs(value) < 0x1p63 ? tl_out_int((int64_t)value) : tl_out_double(value);
}

tl_status tl_tracelens_tracks_add(void *arg, tl_out_writer *w, tl_error *err)
{
    (void)err;
    const lens_tracks *t = arg;
    const tl_out_track first = tl_out_process_track(&t->process, &t->names);

    tl_out_idle_begin(w, &first, "");
    TL_EACH (const tl_lens_gap, gap, t->idle.gaps) {
        char duration[400];
        snprintf(duration, sizeof duration, "%.2f", tl_lens_duration(gap));
        tl_out_gap out = { .ts = time_value(gap->lo, gap->lo_whole),
                           .dur = time_value(tl_lens_duration(gap), tl_lens_gap_is_whole(gap)),
                           .duration = tl_out_text(tl_text_of(duration)),
                           .id = gap->id,
                           .noise = tl_lens_is_noise(gap) };
        if (!out.noise) {
            out.drain = tl_names_text(&t->idle.words, gap->drain);
            out.sync = tl_names_text(&t->idle.words, gap->sync);
            out.label = tl_names_text(&t->idle.words, gap->cpu);
            out.detail = tl_names_text(&t->idle.words, gap->detail);
        }
        tl_out_idle_gap(w, &first, &out);
    }
    return TL_OK;
}
