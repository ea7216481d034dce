/* augment.c - tlmpi augment: a copy of each trace with tracks added.
 *
 *     plan -> name the copies, share them out -> for each of mine { read -> analyse -> copy, adding } -> gather -> tell
 *
 * Traces are independent of each other: a failure loses one copy only.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "parts.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/tracelens/tracelens.h"
#include "tlmpi/job/augment.h"
#include "tlmpi/job/call/exit.h"
#include "tlmpi/par/par.h"
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ----------------------------------------------------------------------------------------------------------- names */

/* Returns the index at which ".json", ".json.gz" or the like begins in a file's name; without such an ending, its
 * length. */
static size_t ending_at(const char *name)
{
    size_t n = strlen(name), at = n;
    for (size_t i = n; i-- > 1;)
        if (strncasecmp(name + i, ".json", 5) == 0 && (name[i + 5] == '\0' || name[i + 5] == '.'))
            at = i;
    if (at == n && n > 3 && strcasecmp(name + n - 3, ".gz") == 0)
        at = n - 3;
    if (at == n && n > 4 && strcasecmp(name + n - 4, ".zst") == 0)
        at = n - 4;
    return at;
}

/* Returns DIR/below with the ending of the copy; the caller frees it. */
static char *path_of(const char *dir, const char *below, tl_copy_ending ending)
{
    const char *slash = strrchr(below, '/'), *name = slash != NULL ? slash + 1 : below;
    bool same = ending == TL_COPY_SAME;
    size_t n_below = strlen(below), ndir = strlen(dir);
    bool zstd = n_below > 4 && strcasecmp(below + n_below - 4, ".zst") == 0; /* copies are written with gzip */
    size_t nkept = same ? n_below - (zstd ? 4 : 0) : (size_t)(name - below) + ending_at(name);
    const char *suffix = !same ? "_idle_augmented.json.gz" : zstd ? ".gz" : "";
    size_t n = ndir + 1 + nkept + strlen(suffix) + 1;
    char *path = tl_malloc(n);
    snprintf(path, n, "%s%s%.*s%s", dir, ndir > 0 && dir[ndir - 1] == '/' ? "" : "/", (int)nkept, below, suffix);
    return path;
}

static int by_copy(const void *context, uint32_t a, uint32_t b)
{
    const tl_copies *copies = context;
    return strcmp(copies->v[a].path, copies->v[b].path);
}

static tl_status check_names(const tl_plan *plan, const tl_copies *copies, tl_error *err)
{
    uint32_t *order = tl_sorted_index(copies->n, by_copy, copies);
    tl_status st = TL_OK;
    for (size_t i = 1; i < copies->n && st == TL_OK; i++)
        if (by_copy(copies, order[i - 1], order[i]) == 0)
            st = tl_fail(err, TL_EUSAGE, "%s and %s would both be copied to %s: copy them in two calls",
                         plan->items[order[i - 1]].path, plan->items[order[i]].path, copies->v[order[i]].path);
    free(order);
    return st;
}

/* ----------------------------------------------------------------------------------------------------------- files */

static bool is_input(const tl_plan *plan, const char *path)
{
    struct stat st;
    bool found = false;

    if (stat(path, &st) == 0)
        TL_EACH (const tl_input, in, plan->inventory.inputs)
            found = found || (in->inode == st.st_ino && in->device == st.st_dev);
    return found;
}

/* Proc 0: returns TL_EUSAGE if the copy, or its temporary file, is one of the files read. */
static tl_status copy_check(const tl_plan *plan, const tl_copies *copies, size_t i, tl_error *err)
{
    size_t n = strlen(copies->v[i].path) + sizeof ".part";
    char *part = tl_malloc(n);
    snprintf(part, n, "%s.part", copies->v[i].path);
    bool bad = is_input(plan, copies->v[i].path) || is_input(plan, part);
    free(part);
    if (bad)
        return tl_fail(err, TL_EUSAGE, "%s is one of the traces to be copied, and is not written over",
                       copies->v[i].path);
    return TL_OK;
}

/* Returns the first of the paths that is the folder or contains it; NULL: none.  The folder need not exist yet. */
static const char *searched_above(const tl_options *options, const char *folder)
{
    char *at = tl_strndup(folder, strlen(folder)), *part = at, *real;
    const char *found = NULL;
    while ((real = realpath(part, NULL)) == NULL && strcmp(part, ".") != 0 && strcmp(part, "/") != 0)
        part = dirname(part);
    for (size_t i = 0; found == NULL && real != NULL && i < options->npaths; i++) {
        char *path = realpath(options->paths[i], NULL);
        size_t n = path != NULL ? strlen(path) : 0;
        n -= n > 0 && path[n - 1] == '/';
        if (path != NULL && strncmp(real, path, n) == 0 && (real[n] == '/' || real[n] == '\0'))
            found = options->paths[i];
        free(path);
    }
    free(real);
    free(at);
    return found;
}

/* Makes the folder for the copies.  Refuses a folder inside a searched path, where the next run would find the
 * copies. */
static tl_status make_folder(const tl_options *options, tl_error *err)
{
    const char *above = searched_above(options, options->output);

    if (above != NULL)
        return tl_fail(err, TL_EUSAGE,
                       "%s lies in %s, where the copies would be found as more traces: choose a folder elsewhere",
                       options->output, above);
    return tl_make_folders(options->output, err);
}

/* Names the copies, and distributes them over procs by the sizes of their traces: the same on every proc.  Makes DIR.
 * TL_EUSAGE: two copies would be one file, or DIR lies in a path that is searched for traces; TL_EOUTPUT. */
static tl_status copies_plan(const tl_plan *plan, const tl_options *options, tl_copy_ending ending, int nprocs,
                             tl_copies *out, tl_error *err)
{
    uint64_t *bytes = tl_calloc(plan->n + 1, sizeof *bytes);
    out->v = tl_calloc(plan->n + 1, sizeof *out->v);
    out->n = plan->n;
    for (size_t i = 0; i < plan->n; i++)
        bytes[i] = plan->items[i].bytes;
    int32_t *proc = tl_deal_by_size(bytes, plan->n, nprocs);
    for (size_t i = 0; i < plan->n; i++) {
        const tl_plan_item *item = &plan->items[i];
        out->v[i] = (tl_copy){ path_of(options->output, item->path + item->below, ending), proc[i] };
    }
    free(bytes);
    free(proc);
    tl_status st = check_names(plan, out, err);
    return st == TL_OK ? make_folder(options, err) : st;
}

static void copies_free(tl_copies *copies)
{
    for (size_t i = 0; i < copies->n; i++)
        free(copies->v[i].path);
    free(copies->v);
    *copies = (tl_copies){ 0 };
}

/* The outcome of one trace; sent to proc 0. */
typedef struct outcome {
    uint64_t item;
    int32_t status;          /* tl_status */
    bool damaged;            /* part of the trace is lost: see `words` */
    bool mended;             /* damaged, but read completely */
    bool closed;             /* the trace is cut, and the copy ends with added brackets */
    uint64_t ngaps, nevents; /* gaps shown, events added */
    char words[1024];        /* the failure or the damage */
} outcome;

typedef struct augmenting {
    const tl_options *options;
    const tl_track_maker *maker;
    tl_plan plan;
    tl_copies copies;
    tl_waits waits;           /* of the traces that this proc copies; empty without a result */
    TL_VEC(outcome) outcomes; /* of the traces that this proc copies; on proc 0 after gather of all, in path order */
} augmenting;

/* Reads TraceLens' idle tracks. */
static tl_status read_tracelens(const char *path, const tl_options *options, const tl_rank_told *told,
                                tl_read_report *report, void **out, tl_error *err)
{
    (void)options; /* TraceLens' tracks take no options and nothing from other ranks */
    (void)told;
    return tl_tracelens_tracks_read(path, report, out, err);
}

static const tl_track_maker tracelens_tracks = {
    TL_COPY_IDLE_AUGMENTED, read_tracelens, tl_tracelens_tracks_add, tl_tracelens_tracks_gaps, tl_tracelens_tracks_free,
};

static bool is_first(void)
{
    return tl_par_proc() == 0;
}

/* ------------------------------------------------------------------------------------------------------- one trace */

static tl_status make_folder_of(const char *path, tl_error *err)
{
    char *folder = tl_strndup(path, (size_t)(strrchr(path, '/') - path) + 1);
    tl_status st = tl_make_folders(folder, err);
    free(folder);
    return st;
}

/* Checks that the trace can be read twice: parsed for its content, and copied byte by byte. */
static tl_status check_input(const tl_plan_item *item, tl_error *err)
{
    struct stat st;
    if (item->unreadable)
        return tl_fail(err, TL_EINPUT, "%s: %s", item->path, item->why);
    const tl_reader *reader = tl_reader_among(tl_readers, item->path);
    if (reader->say != NULL)
        return tl_fail(err, TL_EINPUT, "%s: expected JSON, of which a copy can be written, found a %s", item->path,
                       reader->name);
    if (stat(item->path, &st) != 0)
        return tl_fail(err, TL_EINPUT, "%s: %s", item->path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return tl_fail(err, TL_EINPUT, "%s: expected a regular file, which can be read twice", item->path);
    return TL_OK;
}

/* Copies the trace's time stamp, which may be the only record of when the trace began.  Failures are ignored. */
static void keep_time(const tl_plan_item *item, int fd)
{
    const struct timespec of_trace = { .tv_sec = (time_t)(item->mtime_ns / 1000000000),
                                       .tv_nsec = item->mtime_ns % 1000000000 };
    const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, of_trace };
    (void)futimens(fd, times);
}

static tl_status write_copy(const augmenting *a, const tl_plan_item *item, tl_part_file *part, void *tracks,
                            const tl_splice *splice, bool gzip, outcome *o, tl_error *err)
{
    tl_sink *sink = NULL;
    tl_status st = tl_part_file_create(part, err);
    if (st == TL_OK)
        st = tl_sink_open(part->fd, part->part, gzip, &sink, err);
    if (st == TL_OK)
        st = tl_splice_copy(item->path, splice, sink, a->maker->add, tracks, &o->nevents, err);
    tl_sink_close(sink);
    if (st != TL_OK)
        return st;
    keep_time(item, part->fd);
    return tl_part_file_publish(part, err);
}

static tl_status augment_one(const augmenting *a, size_t i, outcome *o, tl_error *err)
{
    const tl_plan_item *item = &a->plan.items[i];
    tl_part_file part = TL_PART_FILE_INIT;
    tl_read_report report = { .first_bad_byte = -1 };
    void *tracks = NULL;
    const tl_rank_told told = tl_waits_of(&a->waits, i);

    tl_status st = check_input(item, err);
    if (st == TL_OK)
        st = make_folder_of(a->copies.v[i].path, err);
    if (st == TL_OK)
        st = tl_part_file_begin(&part, a->copies.v[i].path, a->options->force, err);
    if (st == TL_OK)
        st = a->maker->read(item->path, a->options, &told, &report, &tracks, err);
    if (st == TL_OK) {
        const tl_splice splice = tl_splice_of(&report);
        bool gzip = report.gzip || a->maker->ending == TL_COPY_IDLE_AUGMENTED;
        o->damaged = report.cut || report.dropped > 0 || report.source_fault;
        o->mended = report.repaired > 0;
        o->closed = splice.closing[0] != '\0';
        snprintf(o->words, sizeof o->words, "%s", report.first_bad);
        o->ngaps = a->maker->ngaps(tracks);
        st = write_copy(a, item, &part, tracks, &splice, gzip, o, err);
    }
    a->maker->free(tracks);
    tl_part_file_drop(&part);
    return st;
}

/* ----------------------------------------------------------------------------------------------------- all of them */

static tl_status read_waits(augmenting *a, tl_error *err)
{
    bool *mine = tl_calloc(a->plan.n + 1, sizeof *mine);
    for (size_t i = 0; i < a->plan.n; i++)
        mine[i] = a->copies.v[i].proc == tl_par_proc();
    tl_status st = tl_waits_load(a->options->result, &a->plan, mine, &a->waits, err);
    free(mine);
    return st;
}

static tl_status prepare(augmenting *a, tl_error *err)
{
    tl_status st = tl_plan_every(a->options, &a->plan, err);
    if (st == TL_OK)
        st = copies_plan(&a->plan, a->options, a->maker->ending, tl_par_nprocs(), &a->copies, err);
    for (size_t i = 0; st == TL_OK && is_first() && i < a->copies.n; i++)
        st = copy_check(&a->plan, &a->copies, i, err);
    if (st == TL_OK && a->options->result != NULL)
        st = read_waits(a, err);
    return tl_par_agree(st, err);
}

/* Copies this proc's traces; a failure is recorded in the trace's outcome, and other traces are still copied. */
static void augment_mine(augmenting *a)
{
    for (size_t i = 0; i < a->plan.n; i++) {
        if (a->copies.v[i].proc != tl_par_proc())
            continue;
        tl_error why = { 0 };
        tl_vec_push(&a->outcomes, (outcome){ .item = i });
        outcome *o = &a->outcomes.v[a->outcomes.n - 1];
        o->status = (int32_t)augment_one(a, i, o, &why);
        if (o->status != TL_OK)
            snprintf(o->words, sizeof o->words, "%s", why.text);
    }
}

TL_SORT_BY(by_item, outcome, item)

static void gather(augmenting *a)
{
    tl_bytes all;
    tl_par_gather(a->outcomes.v, a->outcomes.n * sizeof *a->outcomes.v, &all);
    if (!is_first())
        return;
    free(a->outcomes.v);
    a->outcomes.v = (outcome *)(void *)all.v;
    a->outcomes.n = a->outcomes.cap = all.n / sizeof *a->outcomes.v;
    tl_vec_sort(&a->outcomes, by_item);
}

/* ----------------------------------------------------------------------------------------------------------- words */

static void tell(const augmenting *a)
{
    char path[1024], words[sizeof a->outcomes.v->words];

    tl_plan_warn(&a->plan);
    TL_EACH (const outcome, o, a->outcomes) {
        if (o->status != TL_OK) {
            tl_printable(words, sizeof words, o->words);
            fprintf(stderr, "tlmpi: %s\n", words);
            continue;
        }
        if (o->damaged || o->mended)
            tl_warn("%s: %s; %s", a->plan.items[o->item].path, o->words,
                    o->closed ? "the copy ends after what is complete" : "in the copy it stands as it is");
        if (a->waits.rank_of != NULL && a->waits.rank_of[o->item] < 0)
            tl_warn("%s: %s does not have it: no waits are shown", a->plan.items[o->item].path, a->options->result);
        if (a->options->quiet)
            continue;
        tl_printable(path, sizeof path, a->copies.v[o->item].path);
        printf("%s: %" PRIu64 " gaps, %" PRIu64 " events added\n", path, o->ngaps, o->nevents);
    }
}

/* Returns the exit status of the worst outcome; failing to write is worse than failing to read. */
static int exit_of(const augmenting *a)
{
    tl_status worst = TL_OK;
    size_t copied = 0, damaged = tl_plan_lost(&a->plan);

    for (size_t i = 0; i < a->outcomes.n; i++) {
        tl_status st = (tl_status)a->outcomes.v[i].status;
        worst = st > worst ? st : worst;
        copied += st == TL_OK;
        damaged += a->outcomes.v[i].damaged;
    }
    if (worst > TL_EINPUT)
        return tl_exit_of_status(worst);
    if (copied == 0)
        return TL_EXIT_NOTHING;
    return worst != TL_OK || damaged > 0 ? TL_EXIT_PARTIAL : TL_EXIT_DONE;
}

int tl_augment(const tl_options *options)
{
    augmenting a = { .options = options, .maker = options->tracelens ? &tracelens_tracks : &tl_idle_tracks };
    tl_error err = { 0 };
    int code = TL_EXIT_DONE;

    tl_status st = prepare(&a, &err);
    if (st == TL_OK) {
        augment_mine(&a);
        gather(&a);
    }
    if (is_first()) {
        if (st == TL_OK)
            tell(&a);
        code = st == TL_OK ? exit_of(&a) : tl_exit_say(&err);
    }
    tl_par_bcast(&code, sizeof code);
    free(a.outcomes.v);
    tl_waits_free(&a.waits);
    copies_free(&a.copies);
    tl_plan_free(&a.plan);
    return code;
}
