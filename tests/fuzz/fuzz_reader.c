/* fuzz_reader.c - any bytes, read in every way that must not matter, come to the same trace.
 *
 *     bytes -> a file in memory   fast reader     \
 *           -> a file in memory   yajl alone      |  every category kept: equal in everything
 *           -> a pipe             in small blocks |
 *           -> a file in memory   by three procs /  (where the joined pieces prove each other)
 *           -> a file in memory   fast reader     \
 *           -> a file in memory   yajl alone      |  with all that other tools' tables need: likewise
 *           -> a pipe             in small blocks /
 *           -> a file in memory   fast reader     \
 *           -> a file in memory   yajl alone      /  what the analyses keep: likewise; and linked, and analysed
 *
 * What equal means says same.h.
 */
#include "fuzz.h"
#include "same.h"
#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace/view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    { "fast", { .keep = ~0u }, WHOLE, false },
    { "yajl", { .keep = ~0u, .yajl_only = true }, WHOLE, false },
    { "piped", { .keep = ~0u }, PIPED, false },
    { "joined", { .keep = ~0u }, JOINED, false },
};
static const way with_more[] = {
    { "fast, more", { .keep = ~0u }, WHOLE, true },
    { "yajl, more", { .keep = ~0u, .yajl_only = true }, WHOLE, true },
    { "piped, more", { .keep = ~0u }, PIPED, true },
};
static const way asked_for[] = {
    { "fast, kept", { .keep = TL_LINK_KEEP }, WHOLE, false },
    { "yajl, kept", { .keep = TL_LINK_KEEP, .yajl_only = true }, WHOLE, false },
};

/* Whether the hook takes device work whatever its ph: for every other size. */
static bool any_ph(size_t n)
{
    return n % 2 == 1;
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
    size_t block = 4 + (t->chance >> 16) % 97; /* a file is open when its first four bytes have been seen */
    if (block > t->n - t->at)
        block = t->n - t->at;
    if (block > 0 && write(t->to, t->data + t->at, block) != (ssize_t)block)
        fuzz_broken("pipe");
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
        fuzz_broken("pipe");
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
        proven = proven && tl_trace_append(whole, &piece);
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
    tl_entry_hook hook = tl_verbatim_hook(&r->words, true);
    hook.any_ph = any_ph(n);
    tl_read_options options = how->options;
    options.hook = how->verbatim ? &hook : NULL;
    switch (how->route) {
    case WHOLE:
        r->status = tl_trace_read(fuzz_file(data, n), &options, &r->trace, &err);
        return true;
    case PIPED:
        /* Inflating reads on without a tick; an empty pipe is waited for; and the beginning of a pipe, by which formats
         * that are no traces are known, is not seen before it is read. */
        if (gzip || n == 0 || n > LONGEST_PIPED || tl_reader_among(tl_readers, fuzz_file(data, n))->read == NULL)
            return false;
        r->status = read_piped(data, n, options, &r->trace, &err);
        return true;
    case JOINED:
        return !gzip && n >= 3 && read_joined(fuzz_file(data, n), n, options, &r->trace);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    reading all = read_alike(data, n, every_category, sizeof every_category / sizeof every_category[0]);
    reading more = read_alike(data, n, with_more, sizeof with_more / sizeof with_more[0]);
    reading some = read_alike(data, n, asked_for, sizeof asked_for / sizeof asked_for[0]);

    same_int(&all, &more, "status", 0, all.status, more.status);
    if (!any_ph(n))
        same_report(&all, &more);
    same_int(&all, &some, "status", 0, all.status, some.status);
    same_int(&all, &some, "entries", 0, (int64_t)all.trace.report.entries, (int64_t)some.trace.report.entries);
    if (some.status == TL_OK)
        fuzz_analyse(&some.trace);
    free_reading(&some);
    free_reading(&more);
    free_reading(&all);
    return 0;
}
