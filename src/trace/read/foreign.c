/* foreign.c - formats that other profilers write and no reader here reads: known by their names, so that each is named.
 *
 * In a folder such a file is left out and costs nothing; alone it ends the run with status 3 and its name.
 */
#include "foreign.h"
#include "tlmpi/trace/text/source.h"
#include <string.h>

/* A file is of a format if its path has `folder`, ends with `ending` and its text begins with a block that has `word`;
 * NULL is in all. */
static const struct format {
    const char *folder, *ending, *word;
    const char *reason;
} formats[] = {
    { "ASCEND_PROFILER_OUTPUT/", NULL, NULL, "of Ascend's torch_npu profiler, whose traces are not read" },
    { "_ascend_pt/", NULL, NULL, "of Ascend's torch_npu profiler, whose traces are not read" },
    { NULL, ".json", "\"Ascend Hardware\"", "of Ascend's torch_npu profiler, whose traces are not read" },
    { NULL, ".pftrace", NULL, "a Perfetto trace (protobuf), which is not read: export Chrome JSON" },
    { NULL, ".perfetto-trace", NULL, "a Perfetto trace (protobuf), which is not read: export Chrome JSON" },
    { NULL, ".nsys-rep", NULL, "a report of Nsight Systems, which is not read" },
    { NULL, ".qdrep", NULL, "a report of Nsight Systems, which is not read" },
    { NULL, ".xplane.pb", NULL, "a profile of JAX or TensorFlow (XPlane), which is not read" },
    { NULL, NULL, "\"highres-ticks\"", "a trace of JAX or TensorFlow, which is not read" },
    { NULL, NULL, "\"rocprofiler-sdk-tool\"", "of rocprofv3, which is not read" },
    { NULL, NULL, "SQLite format 3", "an SQLite database, as Nsight Systems and rocprofv3 export, which is not read" },
};

static const char *const endings[] = { ".pftrace",   ".perfetto-trace", ".nsys-rep", ".qdrep",
                                       ".xplane.pb", ".sqlite",         ".db",       NULL };

static const struct format *format_of(const char *path, tl_text head)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const struct format *f = &formats[i];
        const char *const ending[] = { f->ending, NULL };
        if ((f->folder == NULL || strstr(path, f->folder) != NULL) &&
            (f->ending == NULL || tl_name_has_ending(path, ending)) && (f->word == NULL || tl_text_has(head, f->word)))
            return f;
    }
    return NULL;
}

static bool claims(const char *path, tl_text head)
{
    return format_of(path, head) != NULL;
}

static void look(const char *path, bool deep, bool should_be, tl_look *out)
{
    char head[4096];
    size_t n = 0;

    (void)deep;
    (void)should_be;
    (void)tl_source_head(path, head, sizeof head, &n);
    const struct format *f = format_of(path, (tl_text){ head, n });
    tl_look_say(out, TL_INPUT_OTHER, f != NULL ? f->reason : "changed while it was looked at");
}

static tl_status refuse(const char *path, const tl_read_options *options, tl_trace *out, tl_error *err)
{
    (void)options;
    return tl_trace_refuse(path, "of a format that is not read", out, err);
}

const tl_reader tl_foreign_reader = { .name = "foreign",
                                      .kind = TL_INPUT_OTHER,
                                      .endings = endings,
                                      .claims = claims,
                                      .look = look,
                                      .read = refuse };
