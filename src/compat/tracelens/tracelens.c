/* tracelens.c - the tables of one rank from its trace, with the rank's share; the tables of all ranks from all shares;
 * and the gaps as the tracks that TraceLens adds to a trace. */
#include "lens.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/tracelens/tracelens.h"
#include "tlmpi/trace_out/idle.h"
#include "tlmpi/trace_out/process.h"
#include <stdio.h>
#include <stdlib.h>

/* The head of a rank's bytes in a share; the rank's notes follow, then its rows if the file was usable. */
typedef struct share_head {
    uint64_t n; /* bytes of notes and rows */
    int64_t rank;
    uint64_t nnotes; /* bytes of notes, which are lines */
    uint32_t usable, incomplete;
} share_head;

void tl_tracelens_clear(const char *dir)
{
    static const char *const begins[] = {
        "idle_overview",  "idle_summary", "idle_intervals", "idle_noise", "gpu_timeline",
        "kernel_summary", "short_kernel", "coll_analysis",  "nccl_",      NULL
    };
    tl_csv_clear(dir, begins);
}

/* -------------------------------------------------------------------------------------------------------- one rank */

/* Writes the tables of a rank into the folder; adds its collective kernels to `rows`. */
static void write_rank_tables(const tl_trace *trace, const tl_verbatim *words, const char *path, int64_t rank,
                              tl_csv_folder *folder, tl_bytes *rows)
{
    tl_lens lens = tl_lens_open(trace, words);
    tl_colls colls = { 0 }; /* of this rank alone, numbered 0 */

    (void)tl_make_folders(folder->dir, &folder->error);
    tl_tracelens_clear(folder->dir);
    if (trace->report.first_bad[0] != '\0')
        tl_csv_note(folder, false, "rank %lld: %s: %s", (long long)rank, path, trace->report.first_bad);
    tl_lens_idle idle = tl_lens_idle_of(&lens);
    tl_lens_write_gap_groups(&idle, folder);
    tl_lens_write_gaps(&lens, &idle, folder);
    tl_lens_idle_free(&idle);
    tl_lens_write_device(&lens, rank, folder);
    tl_colls_pack(&lens, rows);
    tl_colls_unpack(&colls, 0, rows);
    rows->at = 0;
    tl_colls_match(&colls);
    tl_coll_write_summary_long(&colls, folder, "coll_analysis.csv");
    tl_colls_free(&colls);
    tl_lens_free(&lens);
}

tl_status tl_tracelens_rank(const char *path, int64_t rank, const char *dir, tl_bytes *share, tl_error *err)
{
    tl_verbatim words = { 0 };
    const tl_entry_hook hook = tl_verbatim_hook(&words, true);
    const tl_read_options options = { .keep = (1u << TL_NCATS) - 1, .hook = &hook };
    share_head head = { .rank = rank, .incomplete = 1 };
    tl_csv_folder folder = { .dir = dir };
    tl_bytes rows = { 0 }, *notes = &folder.notes;
    tl_error why;
    tl_trace trace;

    tl_status st = tl_trace_read(path, &options, &trace, &why);
    if (st == TL_OK) {
        const tl_read_report *report = &trace.report;
        head.usable = 1;
        head.incomplete = report->cut || report->source_fault || report->dropped > 0;
        write_rank_tables(&trace, &words, path, rank, &folder, &rows);
    } else if (st == TL_EINPUT) {
        tl_csv_note(&folder, false, "rank %lld: left out: %s", (long long)rank, why.text);
    } else {
        folder.error = why;
    }
    tl_trace_free(&trace);
    tl_verbatim_free(&words);
    head.nnotes = notes->n;
    head.n = notes->n + rows.n;
    if (tl_csv_failed(&folder)) {
        *err = folder.error;
    } else {
        tl_bytes_put(share, &head, sizeof head);
        tl_bytes_put(share, notes->v, notes->n);
        tl_bytes_put(share, rows.v, rows.n);
    }
    tl_bytes_free(notes);
    tl_bytes_free(&rows);
    return folder.error.status;
}

/* ------------------------------------------------------------------------------------------------------- all ranks */

typedef struct part {
    share_head head;
    size_t at; /* offset of the rank's notes in the shares; its rows follow */
} part;

TL_SORT_BY(by_rank, part, head.rank)

static void write_common_tables(const tl_colls *colls, tl_csv_folder *folder)
{
    tl_coll_write_long(colls, folder);
    tl_coll_write_summary_long(colls, folder, "nccl_summary_long.csv");
    uint32_t differ = tl_coll_write_sync(colls, folder);
    if (differ != TL_NONE) {
        const tl_coll_row *row = tl_coll_nth(colls, differ, 0);
        tl_csv_note(folder, false,
                    "collective %.200s_%u: the ranks do not agree on what it is: no nccl_implicit_sync, "
                    "nccl_summary_implicit_sync, nccl_straggler_summary; TraceLens stops here",
                    tl_names_text(&colls->texts, row->group).p, row->index);
    }
    tl_coll_write_all_to_all(colls, folder);
}

static void warn_lines(const char *at, uint64_t n)
{
    for (const char *end = at + n, *line; at < end; at = line + 1) {
        line = memchr(at, '\n', (size_t)(end - at));
        tl_warn("%.*s", (int)(line - at), at);
    }
}

tl_status tl_tracelens_ranks(tl_bytes *shares, int64_t gpus_per_node, const char *dir, bool *incomplete, tl_error *err)
{
    TL_VEC(part) parts = { 0 };
    tl_csv_folder folder = { .dir = dir };
    tl_colls colls = { .gpus_per_node = gpus_per_node };
    size_t nusable = 0;

    *incomplete = false;
    (void)tl_make_folders(dir, &folder.error);
    while (shares->at < shares->n) {
        part p;
        tl_bytes_get(shares, &p.head, sizeof p.head);
        p.at = shares->at;
        tl_bytes_skip(shares, (size_t)p.head.n);
        tl_vec_push(&parts, p);
    }
    tl_vec_sort(&parts, by_rank);
    TL_EACH (const part, p, parts) {
        *incomplete |= p->head.incomplete != 0;
        if (p->head.incomplete != 0)
            warn_lines(shares->v + p->at, p->head.nnotes);
        tl_bytes_put(&folder.notes, shares->v + p->at, (size_t)p->head.nnotes);
        nusable += p->head.usable;
        shares->at = p->at + (size_t)p->head.nnotes;
        if (p->head.usable)
            tl_colls_unpack(&colls, p->head.rank, shares);
    }
    tl_colls_match(&colls);
    write_common_tables(&colls, &folder);
    tl_csv_write_notes(&folder);
    if (!tl_csv_failed(&folder) && nusable == 0)
        tl_fail(&folder.error, TL_EINPUT, "no file could be used; %s/notes.txt tells more", dir);
    if (tl_csv_failed(&folder))
        *err = folder.error;
    free(parts.v);
    tl_colls_free(&colls);
    return folder.error.status;
}

/* ----------------------------------------------------------------------------------------------------- the tracks */

/* TraceLens' gaps, as the tracks that it adds to a trace. */
typedef struct lens_tracks {
    tl_lens_idle idle;
    tl_names names; /* names of the trace */
    tl_out_process process;
} lens_tracks;

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
        snprintf(duration, sizeof duration, "%.2f", gap->us);
        tl_out_gap out = { .ts = time_value(gap->lo, gap->lo_whole),
                           .dur = time_value(gap->us, gap->lo_whole && gap->hi_whole),
                           .duration = tl_out_text(tl_text_of(duration)),
                           .id = gap->id,
                           .noise = gap->id < 0 };
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
