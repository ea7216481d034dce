/* readers.c - the table of formats, and the choice of a file's format.
 *
 * Formats of other profilers that cannot be read are recognised by their names and first bytes, to be reported by name:
 * in a folder such a file is ignored and costs nothing; alone it ends the run with status 3.
 */
#include "formats.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/text/source.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------------------------------- formats that are not read */

#if TLMPI_HAVE_PROTOBUF
#define TL_NO_PFTRACE "a Perfetto trace by its name, which does not begin as one"
#else
#define TL_NO_PFTRACE                                                                                                  \
    "a Perfetto trace (protobuf), which is not read: tlmpi was made without libprotobuf-c (Debian: "                   \
    "libprotobuf-c-dev, protobuf-c-compiler)"
#endif

/* A file has a format if its path contains `folder` and ends with `ending`, and its text begins with a block that
 * contains `word`; NULL: no condition. */
static const struct format {
    const char *folder, *ending, *word;
    const char *reason;
} unread[] = {
    { "ASCEND_PROFILER_OUTPUT/", NULL, NULL, "of Ascend's torch_npu profiler, whose traces are not read" },
    { "_ascend_pt/", NULL, NULL, "of Ascend's torch_npu profiler, whose traces are not read" },
    { NULL, ".json", "\"Ascend Hardware\"", "of Ascend's torch_npu profiler, whose traces are not read" },
    { NULL, ".pftrace", NULL, TL_NO_PFTRACE },
    { NULL, ".pftrace.gz", NULL, TL_NO_PFTRACE },
    { NULL, ".perfetto-trace", NULL, TL_NO_PFTRACE },
    { NULL, ".nsys-rep", NULL, "a report of Nsight Systems, which is not read: nsys export --type sqlite" },
    { NULL, ".qdrep", NULL, "a report of Nsight Systems, which is not read: nsys export --type sqlite" },
    { NULL, ".xplane.pb", NULL, "a profile of JAX or TensorFlow (XPlane), which is not read" },
    { NULL, NULL, "\"highres-ticks\"", "a trace of JAX or TensorFlow, which is not read" },
    { NULL, NULL, "\"rocprofiler-sdk-tool\"", "JSON of rocprofv3, which is not read: its rocpd database is" },
    { NULL, NULL, "SQLite format 3",
      "an SQLite database, as Nsight Systems and rocprofv3 write, which is not read: tlmpi was made without libsqlite3 "
      "(Debian: libsqlite3-dev)" },
};

static const char *const unread_endings[] = { ".pftrace",  ".pftrace.gz", ".perfetto-trace",
                                              ".nsys-rep", ".qdrep",      ".xplane.pb",
                                              ".sqlite",   ".db",         NULL };

static const struct format *unread_format(const char *path, tl_text head)
{
    for (const struct format *f = unread; f < unread + sizeof unread / sizeof *unread; f++)
        if ((f->folder == NULL || strstr(path, f->folder) != NULL) &&
            (f->ending == NULL || tl_name_has_ending(path, (const char *const[]){ f->ending, NULL })) &&
            (f->word == NULL || tl_text_has(head, f->word)))
            return f;
    return NULL;
}

static bool is_unread(const char *path, tl_text head)
{
    return unread_format(path, head) != NULL;
}

static void look_unread(const char *path, tl_text head, bool deep, bool should_be, tl_look *out)
{
    (void)deep;
    (void)should_be;
    tl_look_say(out, TL_INPUT_OTHER, unread_format(path, head)->reason);
}

static const tl_reader unread_reader = { .name = "foreign",
                                         .kind = TL_INPUT_OTHER,
                                         .endings = unread_endings,
                                         .claims = is_unread,
                                         .look = look_unread,
                                         .reason = "of a format that is not read" };

/* -------------------------------------------------------------------------------------------------------- the table */

const tl_reader *const tl_readers[] = {
    &tl_phases_reader, /* claims files by name */
    &tl_memory_reader, /* claims files by name */
#if TLMPI_HAVE_SQLITE
    &tl_database_reader, /* accepts every database */
#endif
#if TLMPI_HAVE_PROTOBUF
    &tl_pftrace_reader,
#endif
    &unread_reader,
    &tl_execution_reader,
    &tl_kineto_reader, /* the last: accepts every file, and reports what is wrong with one that is not a trace */
    NULL,
};

size_t tl_file_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct stat st;
    bool inside = slash != NULL && stat(path, &st) != 0 && errno == ENOTDIR;
    return inside ? (size_t)(slash - path) : strlen(path);
}

/* Returns the reader of the file; if there are several readers, reads the file's first bytes into head. */
static const tl_reader *pick(const tl_reader *const *readers, const char *path, char head[TL_HEAD_BYTES], size_t *n)
{
    char *file = tl_strndup(path, tl_file_length(path));

    *n = readers[1] != NULL ? tl_source_head(file, head, TL_HEAD_BYTES) : 0;
    free(file);
    while (readers[1] != NULL && !readers[0]->claims(path, (tl_text){ head, *n }))
        readers++;
    return readers[0];
}

const tl_reader *tl_reader_among(const tl_reader *const *readers, const char *path)
{
    char head[TL_HEAD_BYTES];
    size_t n;
    return pick(readers, path, head, &n);
}

void tl_parts_list(const char *path, tl_bytes *names)
{
    const tl_reader *reader = tl_reader_among(tl_readers, path);
    if (reader->parts != NULL)
        reader->parts(path, names);
}

void tl_format_say(const char *path, char *words, size_t size)
{
    const tl_reader *reader = tl_reader_among(tl_readers, path);
    char *said = tl_calloc(size, 1);

    if (reader->say != NULL)
        reader->say(path, said, size);
    tl_printable(words, size, said);
    free(said);
}

void tl_look_at(const char *path, bool deep, bool should_be, tl_look *out)
{
    char head[TL_HEAD_BYTES];
    size_t n;
    const tl_reader *reader = pick(tl_readers, path, head, &n);

    *out = (tl_look)TL_LOOK_INIT;
    out->kind = reader->kind;
    if (reader->look != NULL)
        reader->look(path, (tl_text){ head, n }, deep, should_be, out);
}

void tl_look_say(tl_look *look, tl_input_kind kind, const char *reason)
{
    look->kind = kind;
    tl_printable(look->why, sizeof look->why, reason);
}

tl_status tl_trace_read(const char *path, const tl_read_options *options, tl_trace *out, tl_error *err)
{
    const tl_reader *reader = tl_reader_among(tl_readers, path);

    *out = (tl_trace)TL_TRACE_INIT;
    return reader->read != NULL ? reader->read(path, options, out, err)
                                : tl_fail(err, TL_EINPUT, "%s: %s", path, reader->reason);
}

void tl_trace_free(tl_trace *trace)
{
    tl_events_free(&trace->events);
    tl_meta_free(&trace->meta);
    free(trace->doc);
    *trace = (tl_trace){ 0 };
}
