/* fuzz.c - what the targets share. */
#define _GNU_SOURCE
#include "fuzz.h"
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/trace/view.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

void fuzz_differ(const char *what, int64_t a, int64_t b)
{
    fprintf(stderr, "DIFFERENCE: %s: %" PRId64 ", %" PRId64 "\n", what, a, b);
    abort();
}

void fuzz_broken(const char *what)
{
    perror(what);
    abort();
}

const char *fuzz_file(const void *data, size_t n)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
        fuzz_broken("memfd");
    return path;
}

const char *fuzz_file_packed(const void *data, size_t n)
{
    z_stream z = { 0 };
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    size_t room = deflateBound(&z, n);
    uint8_t *packed = malloc(room);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)n;
    z.next_out = packed;
    z.avail_out = (uInt)room;
    if (packed == NULL || deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    const char *path = fuzz_file(packed, z.total_out);
    deflateEnd(&z);
    free(packed);
    return path;
}

bool fuzz_is_packed(const uint8_t *data, size_t n)
{
    return n >= 2 && (data[0] == 0x1f || data[0] == 0x28 || (n >= 4 && data[3] == 0x18));
}

bool fuzz_is_encoded(const uint8_t *data, size_t n)
{
    return n >= 2 && data[0] >= 0xef;
}

static void analyse(const tl_rank_view *view, unsigned needs, tl_tables *out)
{
    for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++)
        if ((*a)->per_rank != NULL && (*a)->needs == needs)
            (*a)->per_rank(view, &tl_config_default, out);
}

void fuzz_analyse(tl_trace *trace)
{
    const tl_rules rules = { 0 };
    tl_linked linked;
    tl_tables out;
    size_t nschemas;
    const tl_schema *const *schemas = tl_all_schemas(&nschemas);

    tl_link(trace, &rules, 0, &linked);
    tl_participants set = { 0 };
    tl_participants_collect(&linked.view, &set);
    if (set.participants.n != linked.view.ncolls)
        fuzz_differ("parts in collectives", (int64_t)set.participants.n, (int64_t)linked.view.ncolls);
    tl_participants_free(&set);
    tl_tables_init(&out, schemas, nschemas);
    out.names = &trace->events.names;
    analyse(&linked.view, TL_NEEDS_HOST, &out);
    tl_linked_free_host(&linked);
    analyse(&linked.view, 0, &out);
    for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++)
        if ((*a)->reduce != NULL)
            (*a)->reduce(&out);
    tl_tables_free(&out);
    tl_linked_free(&linked);
}
