/* readers.c - the formats of traces, and which of them a file has. */
#include "foreign.h"
#include "jsonl.h"
#include "kineto.h"
#include "memory_reader.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/text/source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tl_reader *const tl_readers[] = {
    &tl_jsonl_reader,  /* claims files by name */
    &tl_memory_reader, /* claims files by name */
    &tl_foreign_reader,
    &tl_kineto_reader, /* the last: claims every file, and says what is wrong with one that is no trace */
    NULL,
};

/* Bytes of the text that are enough to tell its format. */
#define HEAD ((size_t)4096)

const tl_reader *tl_reader_among(const tl_reader *const *readers, const char *path)
{
    char head[HEAD];
    tl_text text = { head, 0 };
    bool read = false;

    for (; readers[1] != NULL; readers++) {
        if (!read && !readers[0]->by_name && !tl_source_head(path, head, sizeof head, &text.n))
            return NULL;
        read = read || !readers[0]->by_name;
        if (readers[0]->claims(path, text))
            break;
    }
    return readers[0];
}

static const tl_trace no_trace = { .meta = TL_META_INIT, .report = { .first_bad_byte = -1, .base_at = UINT64_MAX } };

tl_status tl_trace_refuse(const char *path, const char *reason, tl_trace *out, tl_error *err)
{
    *out = no_trace;
    return tl_fail(err, TL_EINPUT, "%s: %s", path, reason);
}

tl_status tl_trace_read(const char *path, const tl_read_options *options, tl_trace *out, tl_error *err)
{
    const tl_reader *reader = tl_reader_among(tl_readers, path);
    if (reader != NULL)
        return reader->read(path, options, out, err);
    *out = no_trace;
    return tl_fail_memory(err, path);
}

void tl_look_say(tl_look *look, tl_input_kind kind, const char *reason)
{
    look->kind = kind;
    tl_printable(look->why, sizeof look->why, reason);
}

void tl_trace_free(tl_trace *trace)
{
    tl_events_free(&trace->events);
    tl_meta_free(&trace->meta);
    free(trace->doc);
    *trace = (tl_trace){ 0 };
}
