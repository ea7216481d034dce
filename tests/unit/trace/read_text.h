/* read_text.h - a text read as a trace, and all that was read as one number. */
#ifndef TLMPI_TESTS_TRACE_READ_TEXT_H
#define TLMPI_TESTS_TRACE_READ_TEXT_H

#include "scratch.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/trace/read/reader.h"
#include "unit.h"

static bool hooked;        /* the next readings have the hook below */
static uint64_t heard[64]; /* what it was told of each event of the last reading, as a hash */

static inline tl_key key_of(const char *p, size_t n)
{
    static const char *const keys[] = { "External id", "Input Strides" };
    for (int k = 0; k < (int)COUNT(keys); k++)
        if (strlen(keys[k]) == n && memcmp(p, keys[k], n) == 0)
            return (tl_key)(TL_KEY_HOOK + k);
    return TL_KEY_UNKNOWN;
}

static inline void hear(void *arg, tl_events *events, const tl_fields *f, uint32_t i)
{
    (void)arg;
    (void)events;
    CU_ASSERT_FATAL(i < COUNT(heard));
    heard[i] = f->seen;
    for (int k = 0; k < TL_NKEYS; k++) {
        const tl_value *v = tl_fields_get(f, (tl_key)k);
        bool text = v != NULL && (v->type != TL_VALUE_OTHER || k >= TL_KEY_GRID);
        if (v != NULL)
            heard[i] = tl_hash_mix(heard[i], (uint64_t)v->type);
        if (text)
            heard[i] = tl_hash_mix(heard[i], tl_hash_bytes(v->text.n > 0 ? v->text.p : "", v->text.n));
    }
}

static inline tl_trace read_text(const char *text, size_t n, bool yajl_only)
{
    const tl_entry_hook hook = { .any_ph = true, .key_of = key_of, .keep = hear };
    const tl_read_options options = { .keep = ~0u, .yajl_only = yajl_only, .hook = hooked ? &hook : NULL };
    tl_trace trace;
    tl_error err = { 0 };
    tl_trace_read(scratch_write("reader.json", text, n), &options, &trace, &err);
    return trace;
}

static inline tl_trace read_entries(const char *entries)
{
    char text[8192];
    snprintf(text, sizeof text, "{\"traceEvents\": [%s], \"traceName\": \"t\"}", entries);
    return read_text(text, strlen(text), false);
}

static inline const char *name_of(const tl_trace *t, size_t i)
{
    return tl_names_text(&t->events.names, t->events.name[i]).p;
}

static inline uint64_t hash_of(const tl_trace *t)
{
    const tl_events *e = &t->events;
    uint64_t h = tl_hash_bytes(e->names.bytes != NULL ? e->names.bytes : "", e->names.nbytes);
    const uint64_t more[] = { e->n, t->report.entries, t->report.kept, t->report.dropped, t->report.repaired,
                              (uint64_t)t->report.first_bad_byte, t->report.cut, t->report.fractional_ts, e->copies.n,
                              e->colls.n, e->waits.n, e->grids.n, e->counters.n, e->memory.n, e->shapes.n };
    for (size_t i = 0; i < COUNT(more); i++)
        h = tl_hash_mix(h, more[i]);
    for (size_t i = 0; i < e->n; i++) {
        const tl_event_class *c = &e->classes.v[e->class[i]];
        const uint64_t cells[] = { (uint64_t)e->ts_ns[i], (uint64_t)tl_event_dur_ns(e, i), (uint64_t)tl_event_corr(e, i),
                                   e->name[i], c->track, c->lane, e->uid[i], c->category, e->flags[i] };
        for (size_t k = 0; k < COUNT(cells); k++)
            h = tl_hash_mix(h, cells[k]);
    }
    return h;
}

#endif
