/* fuzz_reader.c - any bytes, read in every way that must not matter, come to the same trace.
 *
 *     bytes -> a file in memory   fast reader     \
 *           -> a file in memory   yajl alone      |  every category kept: equal in everything
 *           -> a pipe             in small blocks |
 *           -> a file in memory   by three procs /  (where the joined pieces prove each other)
 *           -> a file in memory   fast reader     \
 *           -> a file in memory   yajl alone      |  with all that other tools' tables need: likewise
 *           -> a pipe             in small blocks /
 *           -> a file in memory   filtered        \
 *           -> a file in memory   not filtered    /  what the analyses keep: likewise; and linked, and analysed
 *
 * Equal means: columns, texts, side tables, metadata, counters, the first bad byte and what is said about it.  Ids of
 * names may differ where a way never sees a name, so texts are compared.  A difference is told and the target aborts,
 * which libFuzzer keeps as a crash.
 */
#define _GNU_SOURCE
#include "tlmpi/analysis/match.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/compat/verbatim.h"
#include "tlmpi/trace/read/join.h"
#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace/view.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A pipe holds so much before its writer has to wait, and the writer is the reader. */
#define LONGEST_PIPED ((size_t)32 << 10)

typedef enum route { WHOLE, PIPED, JOINED } route;

typedef struct way {
    const char *label;
    tl_read_options options;
    route route;
    bool verbatim; /* with the hook of compat/verbatim.h */
} way;

static const way every_category[] = {
    { "fast", { .keep = ~0u, .any_ph = true }, WHOLE, false },
    { "yajl", { .keep = ~0u, .any_ph = true, .yajl_only = true }, WHOLE, false },
    { "piped", { .keep = ~0u, .any_ph = true }, PIPED, false },
    { "joined", { .keep = ~0u, .any_ph = true }, JOINED, false },
};
static const way with_more[] = {
    { "fast, more", { .keep = ~0u, .any_ph = true }, WHOLE, true },
    { "yajl, more", { .keep = ~0u, .any_ph = true, .yajl_only = true }, WHOLE, true },
    { "piped, more", { .keep = ~0u, .any_ph = true }, PIPED, true },
};
static const way asked_for[] = {
    { "filtered", { .keep = TL_LINK_KEEP }, WHOLE, false },
    { "not filtered", { .keep = TL_LINK_KEEP, .no_filter = true }, WHOLE, false },
};

typedef struct reading {
    const char *label;
    tl_status status;
    tl_trace trace;
    tl_verbatim words;
} reading;

static _Noreturn void broken(const char *what)
{
    perror(what);
    abort();
}

/* ----------------------------------------------------------------------------------------------------------- input */

/* The path of a file in memory that holds the bytes. */
static const char *file_of(const uint8_t *data, size_t n)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        if (fd < 0)
            broken("memfd_create");
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
        broken("memfd");
    return path;
}

/* A pipe that is given a block more each time the reader is about to read: blocks end anywhere, also inside words. */
typedef struct tap {
    const uint8_t *data;
    size_t n, at;
    int from, to;
    uint32_t chance;
    bool ticked;
} tap;

static void tap_drip(tap *t)
{
    t->chance = t->chance * 1664525u + 1013904223u;
    size_t block = 2 + (t->chance >> 16) % 97;
    if (block > t->n - t->at)
        block = t->n - t->at;
    if (block > 0 && write(t->to, t->data + t->at, block) != (ssize_t)block)
        broken("pipe");
    t->at += block;
    if (t->at == t->n && t->to >= 0) {
        close(t->to);
        t->to = -1;
    }
}

/* The first block is in the pipe when the file is opened. */
static void tap_tick(void *arg)
{
    tap *t = arg;
    if (t->ticked && t->to >= 0)
        tap_drip(t);
    t->ticked = true;
}

static tl_status read_piped(const uint8_t *data, size_t n, tl_read_options options, tl_trace *trace, tl_error *err)
{
    tap t = { .data = data, .n = n, .chance = (uint32_t)n };
    char path[64];
    int ends[2];

    if (pipe(ends) != 0)
        broken("pipe");
    t.from = ends[0];
    t.to = ends[1];
    tap_drip(&t);
    options.tick = tap_tick;
    options.tick_arg = &t;
    snprintf(path, sizeof path, "/proc/self/fd/%d", t.from);
    tl_status st = tl_trace_read(path, &options, trace, err);
    close(t.from);
    if (t.to >= 0)
        close(t.to);
    return st;
}

/* -------------------------------------------------------------------------------------------------------- equality */

static _Noreturn void differ(const reading *a, const reading *b, const char *what, size_t i, const char *of_a,
                             const char *of_b)
{
    fprintf(stderr, "DIFFERENCE: %s[%zu]: %s: %s; %s: %s\n", what, i, a->label, of_a, b->label, of_b);
    abort();
}

static void same_int(const reading *a, const reading *b, const char *what, size_t i, int64_t x, int64_t y)
{
    char of_a[32], of_b[32];
    if (x == y)
        return;
    snprintf(of_a, sizeof of_a, "%" PRId64, x);
    snprintf(of_b, sizeof of_b, "%" PRId64, y);
    differ(a, b, what, i, of_a, of_b);
}

/* To the bit: a NaN is itself. */
static void same_double(const reading *a, const reading *b, const char *what, size_t i, double x, double y)
{
    char of_a[32], of_b[32];
    if (memcmp(&x, &y, sizeof x) == 0)
        return;
    snprintf(of_a, sizeof of_a, "%a", x);
    snprintf(of_b, sizeof of_b, "%a", y);
    differ(a, b, what, i, of_a, of_b);
}

static void same_chars(const reading *a, const reading *b, const char *what, size_t i, const char *x, const char *y)
{
    if ((x == NULL) != (y == NULL) || (x != NULL && strcmp(x, y) != 0))
        differ(a, b, what, i, x != NULL ? x : "(none)", y != NULL ? y : "(none)");
}

static void same_name(const reading *a, const reading *b, const char *what, size_t i, uint32_t x, uint32_t y)
{
    tl_text s = tl_names_text(&a->trace.events.names, x), t = tl_names_text(&b->trace.events.names, y);
    if ((x == TL_NO_NAME) != (y == TL_NO_NAME) || s.n != t.n || memcmp(s.p, t.p, s.n) != 0)
        differ(a, b, what, i, x == TL_NO_NAME ? "(none)" : s.p, y == TL_NO_NAME ? "(none)" : t.p);
}

#define INT(field) same_int(a, b, #field, i, (int64_t)x->field, (int64_t)y->field)
#define DOUBLE(field) same_double(a, b, #field, i, x->field, y->field)
#define CHARS(field) same_chars(a, b, #field, i, x->field, y->field)
#define NAME(field) same_name(a, b, #field, i, x->field, y->field)

/* What is true of the bytes however they come; a gzip file through a pipe has no size, and its faults name the path. */
static void same_report(const reading *a, const reading *b)
{
    const tl_read_report *x = &a->trace.report, *y = &b->trace.report;
    const size_t i = 0;

    INT(gzip);
    INT(text_bytes);
    INT(entries);
    INT(kept);
    INT(filtered);
    INT(dropped);
    INT(repaired);
    INT(first_bad_byte);
    INT(cut);
    INT(source_fault);
    INT(has_events);
    INT(fractional_ts);
    INT(no_memory);
    if (!x->source_fault)
        CHARS(first_bad);
}

static void same_meta(const reading *a, const reading *b)
{
    const tl_meta *x = &a->trace.meta, *y = &b->trace.meta;
    size_t i = 0;

    INT(rank);
    INT(world_size);
    INT(has_base);
    INT(base_ns);
    INT(ndevices);
    INT(has_schema);
    INT(has_nodes);
    INT(groups.n);
    CHARS(device);
    CHARS(backend);
    CHARS(host);
    CHARS(trace_name);
    for (i = 0; i < a->trace.meta.groups.n; i++) {
        const tl_pg_config *g = &x->groups.v[i], *h = &y->groups.v[i];
        same_chars(a, b, "group name", i, g->name, h->name);
        same_chars(a, b, "group desc", i, g->desc, h->desc);
        same_int(a, b, "group size", i, (int64_t)g->nranks, (int64_t)h->nranks);
        for (size_t k = 0; k < g->nranks; k++)
            same_int(a, b, "group rank", k, g->ranks[k], h->ranks[k]);
    }
}

static void same_place(const reading *a, const reading *b, size_t i)
{
    const tl_events *e = &a->trace.events, *f = &b->trace.events;
    {
        const tl_track *x = &e->tracks.v[e->track[i]], *y = &f->tracks.v[f->track[i]];
        INT(pid);
        INT(tid);
        NAME(pid_text);
        NAME(tid_text);
    }
    {
        const tl_lane *x = &e->lanes.v[e->lane[i]], *y = &f->lanes.v[f->lane[i]];
        INT(device);
        INT(stream);
    }
    {
        const tl_category *x = &e->categories.v[e->category[i]], *y = &f->categories.v[f->category[i]];
        NAME(text);
        INT(cat);
    }
}

static void same_ref(const reading *a, const reading *b, const char *what, size_t i, tl_ref x, tl_ref y)
{
    const tl_ref kind = TL_REF_TEXT | TL_REF_NUMBER;
    if (x < TL_REF_TEXT || y < TL_REF_TEXT) {
        same_int(a, b, what, i, x, y);
        return;
    }
    same_int(a, b, what, i, x & kind, y & kind);
    same_name(a, b, what, i, (uint32_t)(x & ~kind), (uint32_t)(y & ~kind));
}

static void same_more(const reading *a, const reading *b, size_t i)
{
    const tl_more *x = &a->words.more[i], *y = &b->words.more[i];

    same_ref(a, b, "correlation", i, x->correlation, y->correlation);
    same_ref(a, b, "external_id", i, x->external_id, y->external_id);
    same_ref(a, b, "id", i, x->id, y->id);
    NAME(kind);
    NAME(input_dims);
    NAME(input_strides);
    NAME(concrete_inputs);
    INT(has);
}

static void same_columns(const reading *a, const reading *b, bool verbatim)
{
    const tl_events *x = &a->trace.events, *y = &b->trace.events;
    size_t i = 0;

    INT(n);
    for (i = 0; i < x->n; i++) {
        INT(ts_ns[i]);
        INT(dur_ns[i]);
        INT(corr[i]);
        INT(uid[i]);
        INT(flags[i]);
        NAME(name[i]);
        if (verbatim) {
            same_double(a, b, "words.ts", i, a->words.ts[i], b->words.ts[i]);
            same_double(a, b, "words.dur", i, a->words.dur[i], b->words.dur[i]);
            same_more(a, b, i);
        }
        same_place(a, b, i);
    }
}

static void same_sides(const reading *a, const reading *b)
{
    const tl_events *e = &a->trace.events, *f = &b->trace.events;

    same_int(a, b, "copies", 0, (int64_t)e->copies.n, (int64_t)f->copies.n);
    for (size_t i = 0; i < e->copies.n; i++) {
        const tl_copy_args *x = &e->copies.v[i], *y = &f->copies.v[i];
        INT(event);
        INT(kind);
        INT(bytes);
        DOUBLE(gb_per_s);
    }
    same_int(a, b, "waits", 0, (int64_t)e->waits.n, (int64_t)f->waits.n);
    for (size_t i = 0; i < e->waits.n; i++) {
        const tl_wait_args *x = &e->waits.v[i], *y = &f->waits.v[i];
        INT(event);
        INT(wait_on_stream);
        INT(wait_on_corr);
    }
    same_int(a, b, "grids", 0, (int64_t)e->grids.n, (int64_t)f->grids.n);
    for (size_t i = 0; i < e->grids.n; i++) {
        const tl_grid_args *x = &e->grids.v[i], *y = &f->grids.v[i];
        INT(event);
        INT(blocks);
    }
    same_int(a, b, "colls", 0, (int64_t)e->colls.n, (int64_t)f->colls.n);
    for (size_t i = 0; i < e->colls.n; i++) {
        const tl_coll_args *x = &e->colls.v[i], *y = &f->colls.v[i];
        INT(event);
        NAME(name);
        NAME(dtype);
        NAME(pg_name);
        NAME(pg_desc);
        NAME(pg_ranks);
        NAME(in_split);
        NAME(out_split);
        INT(in_nelems);
        INT(out_nelems);
        INT(group_size);
        INT(seq);
        INT(src_rank);
        INT(dst_rank);
        INT(rank_start);
        INT(rank_stride);
    }
}

/* ------------------------------------------------------------------------------------------------------------ ways */

/* In three pieces of equal shares, as a team of procs reads it.  False: they do not prove each other. */
static bool read_joined(const char *path, size_t n, tl_read_options options, tl_trace *whole)
{
    tl_error err;
    bool proven = true;

    for (uint64_t k = 0; k < 3 && proven; k++) {
        const tl_read_range range = { k * (n / 3), k < 2 ? (k + 1) * (n / 3) : UINT64_MAX };
        tl_trace piece;
        options.range = &range;
        if (tl_trace_read(path, &options, k == 0 ? whole : &piece, &err) != TL_OK)
            proven = false;
        if (k == 0)
            continue;
        proven = proven && tl_trace_continues(whole, &piece) && tl_trace_append(whole, &piece, &err) == TL_OK;
        tl_trace_free(&piece);
    }
    if (proven)
        tl_trace_complete(whole);
    return proven;
}

/* False: this way does not go with these bytes. */
static bool read_one(const uint8_t *data, size_t n, const way *how, reading *r)
{
    bool gzip = n >= 2 && data[0] == 0x1f && data[1] == 0x8b;
    tl_error err = { 0 };

    *r = (reading){ .label = how->label };
    const tl_entry_hook hook = tl_verbatim_hook(&r->words, true);
    tl_read_options options = how->options;
    options.hook = how->verbatim ? &hook : NULL;
    switch (how->route) {
    case WHOLE:
        r->status = tl_trace_read(file_of(data, n), &options, &r->trace, &err);
        return true;
    case PIPED:                 /* inflating reads on without a tick; an empty pipe is waited for */
        if (gzip || n == 0 || n > LONGEST_PIPED)
            return false;
        r->status = read_piped(data, n, options, &r->trace, &err);
        return true;
    case JOINED:
        return !gzip && n >= 3 && read_joined(file_of(data, n), n, options, &r->trace);
    }
    return false;
}

static void free_reading(reading *r)
{
    tl_trace_free(&r->trace);
    tl_verbatim_free(&r->words);
}

/* Reads in all ways, compares each with the first, which stays. */
static reading read_alike(const uint8_t *data, size_t n, const way *ways, size_t nways)
{
    reading first, other;

    (void)read_one(data, n, &ways[0], &first);
    for (size_t k = 1; k < nways; k++) {
        if (read_one(data, n, &ways[k], &other)) {
            same_int(&first, &other, "status", 0, first.status, other.status);
            same_report(&first, &other);
            same_meta(&first, &other);
            same_columns(&first, &other, ways[0].verbatim);
            same_sides(&first, &other);
        }
        free_reading(&other);
    }
    return first;
}

/* All analyses, as a run makes them. */
static void analyse(const tl_rank_view *view, unsigned needs, tl_tables *out)
{
    tl_error err;
    for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++)
        if ((*a)->per_rank != NULL && (*a)->needs == needs &&
            (*a)->per_rank(view, &tl_config_default, out, &err) != TL_OK)
            broken(err.text);
}

static void link_and_analyse(tl_trace *trace)
{
    const tl_rules rules = { 0 };
    tl_linked linked;
    tl_tables out;
    tl_error err;
    size_t nschemas;
    const tl_schema *const *schemas = tl_all_schemas(&nschemas);

    if (tl_link(trace, &rules, 0, &linked, &err) != TL_OK)
        broken(err.text);
    tl_participants set = { 0 };
    if (tl_participants_collect(&linked.view, &set, &err) != TL_OK || set.parts.n != linked.view.ncolls)
        broken("parts in collectives");
    tl_participants_free(&set);
    if (!tl_tables_init(&out, schemas, nschemas))
        broken("tables");
    analyse(&linked.view, TL_NEEDS_HOST, &out);
    tl_linked_free_host(&linked);
    analyse(&linked.view, 0, &out);
    for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++)
        if ((*a)->reduce != NULL && (*a)->reduce(&out, &err) != TL_OK)
            broken(err.text);
    tl_tables_free(&out);
    tl_linked_free(&linked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    reading all = read_alike(data, n, every_category, sizeof every_category / sizeof every_category[0]);
    reading more = read_alike(data, n, with_more, sizeof with_more / sizeof with_more[0]);
    reading some = read_alike(data, n, asked_for, sizeof asked_for / sizeof asked_for[0]);

    same_int(&all, &more, "status", 0, all.status, more.status);
    same_report(&all, &more);
    same_int(&all, &some, "status", 0, all.status, some.status);
    same_int(&all, &some, "entries", 0, (int64_t)all.trace.report.entries, (int64_t)some.trace.report.entries);
    if (some.status == TL_OK)
        link_and_analyse(&some.trace);
    free_reading(&some);
    free_reading(&more);
    free_reading(&all);
    return 0;
}
