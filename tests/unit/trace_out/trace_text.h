/* trace_text.h - traces written by a test, and read again as text or as events. */
#ifndef TESTS_UNIT_TRACE_TEXT_H
#define TESTS_UNIT_TRACE_TEXT_H

#include "scratch.h"
#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace_out/sink.h"
#include "unit.h"
#include <fcntl.h>
#include <yajl/yajl_parse.h>

#define ROOM ((size_t)4 << 20)

/* All of a file, inflated where it is gzip; the caller frees it. */
static inline char *read_file(const char *path, size_t *n)
{
    char *text = malloc(ROOM);
    gzFile f = gzopen(path, "rb");
    int got = f != NULL && text != NULL ? gzread(f, text, (unsigned)ROOM - 1) : -1;
    if (got < 0 || gzclose(f) != Z_OK) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    text[got] = 0;
    *n = (size_t)got;
    return text;
}

static inline bool is_json(const char *text, size_t n)
{
    size_t bom = n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    yajl_handle h = yajl_alloc(NULL, NULL, NULL);
    bool is = h != NULL && yajl_parse(h, (const unsigned char *)text + bom, n - bom) == yajl_status_ok &&
              yajl_complete_parse(h) == yajl_status_ok;
    yajl_free(h);
    return is;
}

static inline tl_status read_trace(const char *path, tl_trace *trace)
{
    const tl_read_options options = { .keep = ~0u };
    tl_error err;
    return tl_trace_read(path, &options, trace, &err);
}

/* Opens a file to write, and a sink on it. */
static inline tl_sink *sink_to(const char *path, bool gzip, int *fd)
{
    tl_sink *sink = NULL;
    *fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CU_ASSERT_FATAL(*fd >= 0);
    CU_ASSERT_EQUAL_FATAL(tl_sink_open(*fd, path, gzip, &sink, NULL), TL_OK);
    return sink;
}

#endif
