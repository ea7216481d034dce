/* same.c - two readings of the same bytes, field by field. */
#include "same.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void differ(const reading *a, const reading *b, const char *what, size_t i, const char *of_a,
                             const char *of_b)
{
    fprintf(stderr, "DIFFERENCE: %s[%zu]: %s: %s; %s: %s\n", what, i, a->label, of_a, b->label, of_b);
    abort();
}

void same_int(const reading *a, const reading *b, const char *what, size_t i, int64_t x, int64_t y)
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

void same_report(const reading *a, const reading *b)
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

void same_meta(const reading *a, const reading *b)
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
        const tl_track *x = &e->tracks.v[tl_event_track(e, i)], *y = &f->tracks.v[tl_event_track(f, i)];
        INT(pid);
        INT(tid);
        NAME(pid_text);
        NAME(tid_text);
    }
    {
        const tl_lane *x = tl_event_lane(e, i), *y = tl_event_lane(f, i);
        INT(device);
        INT(stream);
    }
    {
        const tl_category *x = tl_event_category(e, i), *y = tl_event_category(f, i);
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

void same_columns(const reading *a, const reading *b, bool verbatim)
{
    const tl_events *x = &a->trace.events, *y = &b->trace.events;
    size_t i = 0;

    INT(n);
    for (i = 0; i < x->n; i++) {
        INT(ts_ns[i]);
        same_int(a, b, "dur_ns", i, tl_event_dur_ns(x, i), tl_event_dur_ns(y, i));
        same_int(a, b, "corr", i, tl_event_corr(x, i), tl_event_corr(y, i));
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

void same_sides(const reading *a, const reading *b)
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
    same_int(a, b, "counters", 0, (int64_t)e->counters.n, (int64_t)f->counters.n);
    for (size_t i = 0; i < e->counters.n; i++) {
        const tl_counter_arg *x = &e->counters.v[i], *y = &f->counters.v[i];
        INT(event);
        NAME(name);
        DOUBLE(value);
    }
    same_int(a, b, "memory", 0, (int64_t)e->memory.n, (int64_t)f->memory.n);
    for (size_t i = 0; i < e->memory.n; i++) {
        const tl_memory_args *x = &e->memory.v[i], *y = &f->memory.v[i];
        INT(event);
        INT(allocated);
        INT(reserved);
        INT(device);
        INT(device_type);
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
