/* runs.c - what is told of the runs in a folder: the list of all, and a warning of the runs that were left out. */
#include "tell.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/run.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOUR_NS INT64_C(3600000000000)

/* Runs left out that a warning names, at most; the rest is counted. */
#define NAMED 5

void tl_tell_runs(const tl_inventory *inventory)
{
    printf("run  ranks  of world  begins (UTC)         host              first file\n");
    for (int32_t run = 0; run < inventory->nruns; run++) {
        const tl_run_info *r = &inventory->runs[run];
        if (r->ntraces == 0)
            continue;
        const tl_input *first = &inventory->inputs.v[r->first];
        char when[32] = "unknown", world[24] = "-", path[1024];
        struct tm utc;
        time_t begin = (time_t)(r->begin_ns / 1000000000);
        if (r->timed && gmtime_r(&begin, &utc) != NULL)
            strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &utc);
        if (r->world_size >= 0)
            snprintf(world, sizeof world, "%" PRId64, r->world_size);
        bool told = first->origin.host[0] != 0;
        tl_text by_name = tl_host_of_name(first->path, first->origin.pid);
        tl_text host = told ? (tl_text){ first->origin.host, strlen(first->origin.host) } : by_name;
        tl_printable(path, sizeof path, first->path);
        printf("%3d  %5zu  %8s  %-19s  %-16.*s  %s%s\n", run + 1, r->ntraces, world, when,
               host.n > 0 ? (int)host.n : 1, host.n > 0 ? host.p : "-", path,
               run == inventory->run ? "  <- taken by default" : "");
    }
}

/* Why a run is not the one that is taken, in words. */
static void say_why(const tl_inventory *inventory, int32_t run, char *out, size_t size)
{
    const tl_run_info *r = &inventory->runs[run], *taken = &inventory->runs[inventory->run];
    int64_t later_ns = r->timed && taken->timed ? tl_ns_between(r->begin_ns, taken->begin_ns) : 0;
    double hours = (double)(later_ns < 0 ? -later_ns : later_ns) / (double)HOUR_NS;

    if (r->world_size >= 0 && taken->world_size >= 0 && r->world_size != taken->world_size)
        snprintf(out, size, "of a job of %" PRId64 " ranks, not %" PRId64, r->world_size, taken->world_size);
    else if (r->gpu != 0 && taken->gpu != 0 && r->gpu != taken->gpu)
        snprintf(out, size, "its devices are of another kind");
    else if (hours >= 1)
        snprintf(out, size, "it begins %.0f %s %s", hours < 72 ? hours : hours / 24, hours < 72 ? "h" : "days",
                 later_ns < 0 ? "earlier" : "later");
    else
        snprintf(out, size, "%s", r->job != taken->job ? "of another job" : "of another run");
}

void tl_say_lost(const tl_inventory *inventory, int32_t run, char *out, size_t size)
{
    const tl_run_info *r = &inventory->runs[run];
    const tl_input *first = &inventory->inputs.v[r->first];
    const char *path = first->path;
    size_t length = strlen(path), shown = 100;
    char why[sizeof first->why], text[640], count[32] = "";

    snprintf(why, sizeof why, "%s", first->why);
    if (why[0] == 0)
        say_why(inventory, run, why, sizeof why);
    if (r->ntraces > 1)
        snprintf(count, sizeof count, " and %zu more", r->ntraces - 1);
    snprintf(text, sizeof text, "%s%s%s: %s; --run %d takes %s", length > shown ? "..." : "",
             path + (length > shown ? length - shown : 0), count, why, run + 1, r->ntraces > 1 ? "them" : "it");
    tl_printable(out, size, text);
}

size_t tl_tell_lost(const tl_inventory *inventory)
{
    size_t n = 0;
    for (int32_t run = 0; run < inventory->nruns && inventory->runs != NULL; run++) {
        char text[TL_LOST_BYTES];
        if (!inventory->runs[run].lost || ++n > NAMED)
            continue;
        tl_say_lost(inventory, run, text, sizeof text);
        tl_warn("left out: %s", text);
    }
    if (n > NAMED)
        tl_warn("left out: %zu runs more; --run list lists them", n - NAMED);
    return n;
}
