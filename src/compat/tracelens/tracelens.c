/* tracelens.c - a trace in, a rank's tables and its share of the common ones out; the common ones from all shares. */
#include "tlmpi/base/log.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/tracelens/coll.h"
#include "tlmpi/compat/tracelens/idle.h"
#include "tlmpi/compat/tracelens/tracelens.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What stands before the bytes of a rank in a share: then come its notes, and its rows if it could be used. */
typedef struct share_head {
    uint64_t n; /* bytes of notes and rows */
    int64_t rank;
    uint64_t nnotes; /* bytes; lines */
    uint32_t usable, incomplete;
} share_head;

/* Adds a line.  What is longer than the line has room for is cut. */
static tl_status note(tl_bytes *to, tl_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));

static tl_status note(tl_bytes *to, tl_error *err, const char *format, ...)
{
    char line[2048];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    line[length++] = '\n';
    return tl_bytes_put(to, line, length) ? TL_OK : tl_fail_memory(err, "the notes");
}

void tl_tracelens_clear(const char *dir)
{
    static const char *const names[] = {
        "idle_overview",
        "idle_summary",
        "idle_intervals",
        "idle_noise",
        "gpu_timeline",
        "gpu_timeline_micro5",
        "gpu_timeline_all_events",
        "gpu_timeline_all_events_micro5",
        "kernel_summary",
        "short_kernel_histogram",
        "short_kernels_summary",
        "coll_analysis",
        "nccl_long",
        "nccl_summary_long",
        "nccl_implicit_sync",
        "nccl_summary_implicit_sync",
        "nccl_straggler_summary",
        "nccl_all2allv",
        "nccl_summary_all2allv",
        "nccl_all2allv_heatmap",
    };
    char path[4096];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (snprintf(path, sizeof path, "%s/%s.csv", dir, names[i]) < (int)sizeof path)
            (void)unlink(path);
}

/* -------------------------------------------------------------------------------------------------------- one rank */

/* The collectives of this rank alone; its number is then 0. */
static tl_status write_own_collectives(const tl_lens *lens, const char *dir, tl_error *err)
{
    tl_bytes own = { 0 };
    tl_colls colls = { 0 };
    bool ok = tl_colls_pack(lens, 0, &own);

    if (ok) {
        const char *at = own.v;
        ok = tl_colls_unpack(&colls, &at) && tl_colls_match(&colls);
    }
    tl_status st = ok ? tl_coll_write_summary_long(&colls, dir, "coll_analysis.csv", err)
                      : tl_fail_memory(err, "the collectives of a rank");
    tl_colls_free(&colls);
    free(own.v);
    return st;
}

static tl_status write_own(const tl_lens *lens, int64_t rank, const char *dir, tl_bytes *to, tl_error *err)
{
    tl_lens_idle idle = { 0 };
    tl_lens_timeline linked, all;

    tl_status st = tl_lens_idle_find(&idle, lens, err);
    if (st == TL_OK)
        st = tl_lens_write_gap_groups(&idle, dir, err);
    if (st == TL_OK)
        st = tl_lens_write_gaps(lens, &idle, dir, err);
    tl_lens_idle_free(&idle);
    if (st == TL_OK)
        st = tl_lens_timeline_of(&linked, lens, true, err);
    if (st == TL_OK)
        st = tl_lens_timeline_of(&all, lens, false, err);
    if (st != TL_OK)
        return st;
    if (!all.any)
        st = note(to, err, "rank %lld: no device work: no gpu_timeline, no kernel tables; TraceLens stops here",
                  (long long)rank);
    else if (!linked.any)
        st = note(to, err,
                  "rank %lld: no device work is linked to a launch: no gpu_timeline but that of all events, no "
                  "percentages of "
                  "the total time; TraceLens stops here",
                  (long long)rank);
    if (st == TL_OK)
        st = tl_lens_write_timelines(&linked, &all, dir, err);
    if (st == TL_OK)
        st = tl_lens_write_kernels(lens, linked.any ? linked.total : NAN, dir, err);
    if (st == TL_OK)
        st = write_own_collectives(lens, dir, err);
    return st;
}

static tl_status take_trace(const tl_trace *trace, const tl_verbatim *words, const char *path, int64_t rank,
                            const char *dir, tl_bytes *to, tl_bytes *rows, bool *incomplete, tl_error *err)
{
    const tl_read_report *report = &trace->report;
    tl_lens lens = { 0 };
    tl_status st = tl_make_folders(dir, err);

    tl_tracelens_clear(dir);
    *incomplete = report->cut || report->source_fault || report->dropped > 0;
    if (st == TL_OK && report->first_bad[0] != '\0')
        st = note(to, err, "rank %lld: %s: %s", (long long)rank, path, report->first_bad);
    if (st == TL_OK)
        st = tl_lens_open(&lens, trace, words, err);
    if (st == TL_OK)
        st = write_own(&lens, rank, dir, to, err);
    if (st == TL_OK && !tl_colls_pack(&lens, rank, rows))
        st = tl_fail_memory(err, "the collectives of a rank");
    tl_lens_free(&lens);
    return st;
}

tl_status tl_tracelens_rank(const char *path, int64_t rank, const char *dir, tl_bytes *share, tl_error *err)
{
    tl_verbatim words = { 0 };
    const tl_entry_hook hook = tl_verbatim_hook(&words, true);
    const tl_read_options options = { .keep = (1u << TL_NCATS) - 1, .hook = &hook };
    share_head head = { .rank = rank, .incomplete = 1 };
    tl_bytes rows = { 0 };
    tl_bytes lines = { 0 };
    bool incomplete = true;
    tl_error why;
    tl_trace trace;

    tl_status st = tl_trace_read(path, &options, &trace, &why);
    if (st == TL_OK) {
        head.usable = 1;
        st = take_trace(&trace, &words, path, rank, dir, &lines, &rows, &incomplete, err);
    } else if (st == TL_EINPUT) {
        st = note(&lines, err, "rank %lld: left out: %s", (long long)rank, why.text);
    } else {
        tl_fail(err, st, "%s", why.text);
    }
    tl_trace_free(&trace);
    tl_verbatim_free(&words);
    head.incomplete = incomplete;
    head.nnotes = lines.n;
    head.n = lines.n + rows.n;
    if (st == TL_OK && !(tl_bytes_put(share, &head, sizeof head) && tl_bytes_put(share, lines.v, lines.n) &&
                         tl_bytes_put(share, rows.v, rows.n)))
        st = tl_fail_memory(err, "what a rank has to say to the others");
    free(lines.v);
    free(rows.v);
    return st;
}

/* ------------------------------------------------------------------------------------------------------- all ranks */

typedef struct part {
    share_head head;
    const char *at; /* of its tl_bytes */
} part;

typedef TL_VEC(part) parts;

static int by_rank(const void *a, const void *b)
{
    const part *x = a, *y = b;
    return TL_COMPARE(x->head.rank, y->head.rank);
}

static tl_status split_shares(parts *out, const char *shares, size_t n, tl_error *err)
{
    const char *at = shares;

    while (at < shares + n) {
        part p;
        memcpy(&p.head, at, sizeof p.head);
        p.at = at + sizeof p.head;
        at = p.at + p.head.n;
        if (!tl_vec_room(out))
            return tl_fail_memory(err, "what the ranks have to say to each other");
        out->v[out->n++] = p;
    }
    if (out->n > 0)
        qsort(out->v, out->n, sizeof *out->v, by_rank);
    return TL_OK;
}

static tl_status write_notes(const tl_bytes *lines, const char *dir, tl_error *err)
{
    tl_sheet file;
    tl_status st = tl_sheet_open(&file, dir, "notes.txt", NULL, err);
    if (st != TL_OK)
        return st;
    if (lines->n > 0)
        fwrite(lines->v, 1, lines->n, file.file);
    return tl_sheet_close(&file, err);
}

static tl_status write_common(const tl_colls *colls, const char *dir, tl_bytes *lines, tl_error *err)
{
    uint32_t differ = TL_NONE;

    tl_status st = tl_coll_write_long(colls, dir, err);
    if (st == TL_OK)
        st = tl_coll_write_summary_long(colls, dir, "nccl_summary_long.csv", err);
    if (st == TL_OK)
        st = tl_coll_write_sync(colls, dir, &differ, err);
    if (st == TL_OK && differ != TL_NONE) {
        const tl_coll_row *row = tl_coll_nth(colls, differ, 0);
        st = note(lines, err,
                  "collective %.200s_%u: the ranks do not agree on what it is: no nccl_implicit_sync, "
                  "nccl_summary_implicit_sync, nccl_straggler_summary; TraceLens stops here",
                  tl_names_text(&colls->texts, row->group).p, row->index);
    }
    if (st == TL_OK)
        st = tl_coll_write_all_to_all(colls, dir, err);
    return st;
}

static void warn_lines(const char *at, uint64_t n)
{
    for (const char *end = at + n, *line; at < end; at = line + 1) {
        line = memchr(at, '\n', (size_t)(end - at));
        tl_warn("%.*s", (int)(line - at), at);
    }
}

tl_status tl_tracelens_ranks(const char *shares, size_t n, int64_t gpus_per_node, const char *dir, bool *incomplete,
                             tl_error *err)
{
    parts all = { 0 };
    tl_bytes lines = { 0 };
    tl_colls colls = { .gpus_per_node = gpus_per_node };
    size_t nusable = 0;

    *incomplete = false;
    tl_status st = tl_make_folders(dir, err);
    if (st == TL_OK)
        st = split_shares(&all, shares, n, err);
    for (size_t i = 0; st == TL_OK && i < all.n; i++) {
        const part *p = &all.v[i];
        const char *rows = p->at + p->head.nnotes;
        *incomplete |= p->head.incomplete != 0;
        if (p->head.incomplete != 0)
            warn_lines(p->at, p->head.nnotes);
        nusable += p->head.usable;
        if (!tl_bytes_put(&lines, p->at, p->head.nnotes) || (p->head.usable && !tl_colls_unpack(&colls, &rows)))
            st = tl_fail_memory(err, "the collectives of all ranks");
    }
    if (st == TL_OK && !tl_colls_match(&colls))
        st = tl_fail_memory(err, "the collectives of all ranks");
    if (st == TL_OK)
        st = write_common(&colls, dir, &lines, err);
    if (st == TL_OK)
        st = write_notes(&lines, dir, err);
    if (st == TL_OK && nusable == 0)
        st = tl_fail(err, TL_EINPUT, "no file could be used; %s/notes.txt tells more", dir);
    free(all.v);
    free(lines.v);
    tl_colls_free(&colls);
    return st;
}
