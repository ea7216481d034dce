/* track.c - writes events as JSON. */
#include "tlmpi/trace_out/track.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put_word(tl_out_writer *w, const char *word)
{
    (void)tl_sink_put(w->sink, word, strlen(word));
}

static bool is_plain(char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_text(tl_out_writer *w, tl_text t)
{
    put_word(w, "\"");
    while (t.n > 0) {
        char room[8] = "\xEF\xBF\xBD"; /* U+FFFD, for invalid UTF-8 */
        size_t plain = 0;
        while (plain < t.n && is_plain(t.p[plain]))
            plain++;
        (void)tl_sink_put(w->sink, t.p, plain);
        t = (tl_text){ t.p + plain, t.n - plain };
        if (t.n == 0)
            break;
        const tl_char c = tl_char_take(&t);
        if (c.code == '"' || c.code == '\\')
            snprintf(room, sizeof room, "\\%c", (char)c.code);
        else if (c.code < 0x80)
            snprintf(room, sizeof room, "\\u%04x", (unsigned)c.code);
        else if (c.whole)
            snprintf(room, sizeof room, "%.*s", (int)c.bytes.n, c.bytes.p);
        put_word(w, room);
    }
    put_word(w, "\"");
}

static void put_us(tl_out_writer *w, int64_t ns)
{
    char text[32];
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    snprintf(text, sizeof text, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", size / 1000, (unsigned)(size % 1000));
    put_word(w, text);
}

/* Writes a whole number with ".0": some readers distinguish integers. */
static void put_double(tl_out_writer *w, double d)
{
    char text[40] = "null";
    for (int digits = DBL_DIG; isfinite(d) && digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (strtod(text, NULL) == d)
            break;
    }
    put_word(w, text);
    if (isfinite(d) && strpbrk(text, ".e") == NULL)
        put_word(w, ".0");
}

static void put_value(tl_out_writer *w, const tl_out_value *value)
{
    char text[32];

    switch (value->kind) {
    case TL_OUT_INT:
        snprintf(text, sizeof text, "%" PRId64, value->i);
        put_word(w, text);
        break;
    case TL_OUT_US:
        put_us(w, value->i);
        break;
    case TL_OUT_DOUBLE:
        put_double(w, value->d);
        break;
    case TL_OUT_TEXT:
        put_text(w, value->text);
        break;
    case TL_OUT_ABSENT:
        put_word(w, "null");
        break;
    }
}

static void put_member(tl_out_writer *w, bool first, const char *key, tl_out_value value)
{
    if (value.kind == TL_OUT_ABSENT)
        return;
    put_word(w, first ? "" : ", ");
    put_text(w, tl_text_of(key));
    put_word(w, ": ");
    put_value(w, &value);
}

void tl_out_put(tl_out_writer *w, const tl_out_event *e)
{
    const tl_out_track *track = &e->track;

    put_word(w, w->after_entry ? ",\n{" : "\n{");
    put_member(w, true, "ph", tl_out_text((tl_text){ &e->ph, 1 }));
    if (e->cat != NULL)
        put_member(w, false, "cat", tl_out_text(tl_text_of(e->cat)));
    put_member(w, false, "name", tl_out_text(e->name));
    put_member(w, false, "pid", track->pid_text.p != NULL ? tl_out_text(track->pid_text) : tl_out_int(track->pid));
    put_member(w, false, "tid", track->tid_text.p != NULL ? tl_out_text(track->tid_text) : tl_out_int(track->tid));
    put_member(w, false, "ts", e->ts);
    put_member(w, false, "dur", e->dur);
    put_member(w, false, "id", e->id);
    if (e->ph == 'f') /* binds to the enclosing slice instead of the next one */
        put_member(w, false, "bp", tl_out_text(TL_TEXT("e")));
    put_word(w, ", \"args\": {");
    for (size_t i = 0, written = 0; i < e->nargs; i++) {
        put_member(w, written == 0, e->args[i].key, e->args[i].value);
        written += e->args[i].value.kind != TL_OUT_ABSENT;
    }
    put_word(w, "}}");
    w->after_entry = true;
    w->nevents++;
}

static void put_meta(tl_out_writer *w, const tl_out_track *track, const char *what, tl_out_arg arg)
{
    tl_out_put(w, &(tl_out_event){ .ph = 'M', .track = *track, .name = tl_text_of(what), .args = &arg, .nargs = 1 });
}

void tl_out_name_process(tl_out_writer *w, int64_t pid, const char *name)
{
    const tl_out_track track = { .pid = pid };
    put_meta(w, &track, "process_name", (tl_out_arg){ "name", tl_out_text(tl_text_of(name)) });
    put_meta(w, &track, "process_sort_index", (tl_out_arg){ "sort_index", tl_out_int(pid) });
}

void tl_out_name_track(tl_out_writer *w, const tl_out_track *track, const char *name)
{
    put_meta(w, track, "thread_name", (tl_out_arg){ "name", tl_out_text(tl_text_of(name)) });
    put_meta(w, track, "thread_sort_index", (tl_out_arg){ "sort_index", tl_out_int(track->tid) });
}

void tl_out_put_slice(tl_out_writer *w, const tl_out_track *track, tl_text name, const char *cat, int64_t ts_ns,
                      int64_t dur_ns, const tl_out_arg *args, size_t nargs)
{
    tl_out_put(w, &(tl_out_event){ .ph = 'X',
                                   .track = *track,
                                   .name = name,
                                   .cat = cat,
                                   .ts = tl_out_us(ts_ns),
                                   .dur = tl_out_us(dur_ns),
                                   .args = args,
                                   .nargs = nargs });
}

void tl_out_put_arrow(tl_out_writer *w, char end, const tl_out_track *track, const char *name, const char *cat,
                      int64_t ts_ns, int64_t id)
{
    tl_out_put(w, &(tl_out_event){ .ph = end,
                                   .track = *track,
                                   .name = tl_text_of(name),
                                   .cat = cat,
                                   .ts = tl_out_us(ts_ns),
                                   .id = tl_out_int(id) });
}
