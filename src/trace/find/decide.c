/* decide.c - files to jobs, runs and ranks, and the run that is taken. */
#include "decide.h"
#include "tlmpi/base/sort.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct deciding {
    tl_inventory *inventory;
    tl_input **known;   /* traces that know their rank, in order of time, then of job and time */
    tl_input **unknown; /* the others, in order of path */
    size_t nknown, nunknown;
    size_t nruns;
} deciding;

static int by_time(const void *a, const void *b)
{
    const tl_input *x = *(tl_input *const *)a, *y = *(tl_input *const *)b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* ----------------------------------------------------------------------------------------------- ranks that are known */

/* Forgets the run, job and rank that an earlier decision gave the input. */
static void begin_anew(tl_input *t)
{
    t->run = t->job = -1;
    t->rank = -1;
    t->rank_source = TL_RANK_ORDER;
    t->renumbered = t->elsewhere = false;
    if (t->kind == TL_INPUT_TRACE)
        t->why[0] = '\0';
}

/* Whether the trace's own rank is beyond its own world size, and the rank in its name is not. */
static bool is_beyond(const tl_input *t)
{
    return t->world_size > 0 && t->meta_rank >= t->world_size && t->name_rank >= 0 && t->name_rank < t->world_size;
}

/* Takes the rank that the input's content or name tells. */
static void take_own(tl_input *t)
{
    if (is_beyond(t)) {
        t->rank = t->name_rank;
        t->rank_source = TL_RANK_NAME;
        t->renumbered = true;
        if (t->kind == TL_INPUT_TRACE)
            snprintf(t->why, sizeof t->why,
                     "it says that it is rank %" PRId64 " of a world of %" PRId64 "; counts as rank %" PRId64
                     " by its name",
                     t->meta_rank, t->world_size, t->rank);
    } else if (t->meta_rank >= 0 || t->name_rank >= 0) {
        t->rank = t->meta_rank >= 0 ? t->meta_rank : t->name_rank;
        t->rank_source = t->meta_rank >= 0 ? TL_RANK_META : TL_RANK_NAME;
    }
}

/* Leaves out the traces of processes that are no rank, as an engine's coordinator or a launcher: all traces but these
 * tell their rank, and these have no device work. */
static void leave_coordinators(deciding *d)
{
    if (d->nknown == 0)
        return;
    for (size_t i = 0; i < d->nunknown; i++)
        if (!d->unknown[i]->origin.no_device_work)
            return;
    for (size_t i = 0; i < d->nunknown; i++)
        tl_input_say_why(d->unknown[i], TL_INPUT_OTHER,
                         "of a process that is no rank: it has no device work, and tells no rank as the others do");
    d->nunknown = 0;
}

/* Gives every input the rank that its own content or name tells, and parts the traces into known (with a rank) and
 * unknown. */
static void collect(deciding *d)
{
    tl_inventory *inventory = d->inventory;
    size_t n = inventory->inputs.n;

    d->known = tl_calloc(n + 1, sizeof(tl_input *));
    d->unknown = tl_calloc(n + 1, sizeof(tl_input *));
    for (size_t i = 0; i < n; i++) {
        tl_input *input = &inventory->inputs.v[i];
        begin_anew(input);
        if (input->kind == TL_INPUT_OTHER)
            continue;
        take_own(input);
        if (input->kind != TL_INPUT_TRACE)
            continue;
        if (input->rank >= 0)
            d->known[d->nknown++] = input;
        else
            d->unknown[d->nunknown++] = input;
    }
    leave_coordinators(d);
    if (d->nknown > 0)
        qsort(d->known, d->nknown, sizeof *d->known, by_time);
}

/* The end of the traces from `from` on that are of one job and not far apart, each from the next. */
static size_t end_of_slice(const deciding *d, size_t from)
{
    size_t to = from + 1;
    for (; to < d->nknown && d->known[to]->job == d->known[from]->job; to++) {
        const tl_input *a = d->known[to - 1], *b = d->known[to];
        if (b->begin_ns - a->begin_ns > TL_APART_NS && tl_input_is_timed(a) && tl_input_is_timed(b))
            break;
    }
    return to;
}

/* Runs of the traces that know their rank. */
static void part_known(deciding *d)
{
    tl_jobs_part(d->known, d->nknown);
    for (size_t from = 0, to; from < d->nknown; from = to) {
        to = end_of_slice(d, from);
        tl_slice s = { .v = d->known + from, .n = to - from, .world_size = -1 };
        for (size_t i = 0; i < s.n; i++)
            s.world_size = s.v[i]->world_size > s.world_size ? s.v[i]->world_size : s.world_size;
        tl_runs_part(&s);
        tl_doubles_settle(&s);
        for (size_t i = 0; i < s.n; i++)
            s.v[i]->run += (int32_t)d->nruns;
        d->nruns += s.nruns;
    }
}

/* ---------------------------------------------------------------------------------------------------- the list of runs */

static int oldest_first(const void *a, const void *b)
{
    const tl_run_info *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return TL_COMPARE(x->number, y->number);
}

static void add_to_run(tl_run_info *r, const tl_input *t, size_t at, const tl_inventory *inventory)
{
    if (r->ntraces == 0 || t->rank < inventory->inputs.v[r->first].rank)
        r->first = at;
    if (r->ntraces == 0 || t->begin_ns < r->begin_ns) {
        r->begin_ns = t->begin_ns;
        r->timed = tl_input_is_timed(t);
    }
    r->world_size = t->world_size > r->world_size ? t->world_size : r->world_size;
    r->gpu = r->ntraces == 0 || r->gpu == t->origin.gpu ? t->origin.gpu : 0;
    r->job = t->job;
    r->ntraces++;
}

/* Fills in the list, oldest first, and numbers the runs of the traces anew. */
static void list_runs(deciding *d)
{
    tl_inventory *inventory = d->inventory;
    size_t n = inventory->inputs.n;
    int32_t *number = tl_calloc(d->nruns + 1, sizeof *number);
    tl_run_info *runs = tl_calloc(d->nruns + 1, sizeof *runs);

    for (size_t k = 0; k < d->nruns; k++)
        runs[k] = (tl_run_info){ .number = (int32_t)k, .world_size = -1 };
    for (size_t i = 0; i < n; i++)
        if (inventory->inputs.v[i].run >= 0)
            add_to_run(&runs[inventory->inputs.v[i].run], &inventory->inputs.v[i], i, inventory);
    qsort(runs, d->nruns, sizeof *runs, oldest_first);
    for (size_t k = 0; k < d->nruns; k++) {
        number[runs[k].number] = (int32_t)k;
        runs[k].number = (int32_t)k;
    }
    for (size_t i = 0; i < n; i++) {
        tl_input *t = &inventory->inputs.v[i];
        t->run = t->run >= 0 ? number[t->run] : -1;
    }
    free(number);
    free(inventory->runs);
    inventory->runs = runs;
    inventory->nruns = d->nruns > 0 ? (int32_t)d->nruns : 1;
}

/* The newest run that has every rank seen anywhere; where there is none, the newest of those with most ranks. */
static int32_t choose(const deciding *d)
{
    const tl_run_info *runs = d->inventory->runs;
    size_t best = 0;
    for (size_t k = 1; k < d->nruns; k++)
        if (runs[k].ntraces >= runs[best].ntraces)
            best = k;
    return (int32_t)best;
}

/* ----------------------------------------------------------------------------------------------- what is not taken */

/* The names of two files, in which every number may be another one. */
static bool are_called_alike(const char *a, const char *b)
{
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    a = slash_a != NULL ? slash_a + 1 : a;
    b = slash_b != NULL ? slash_b + 1 : b;
    while (*a != '\0' || *b != '\0') {
        bool numbers = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        if (!numbers && *a++ != *b++)
            return false;
        while (numbers && isdigit((unsigned char)*a))
            a++;
        while (numbers && isdigit((unsigned char)*b))
            b++;
    }
    return true;
}

/* Whether the trace is another recording of that of the run taken which has the same rank: it is of its process, or is
 * called as that one is. */
static bool repeats(const tl_input *t, const tl_input *taken)
{
    if (taken == NULL || t->job != taken->job || (t->why[0] != 0 && !t->renumbered))
        return false;
    bool same_process = t->origin.pid > 0 && t->origin.pid == taken->origin.pid;
    return same_process || (t->rank_source != TL_RANK_ORDER && are_called_alike(t->path, taken->path));
}

/* Marks a run as lost, unless the user chose a run, where it has a trace that the run taken has no recording of. */
static void find_lost(tl_inventory *inventory)
{
    tl_map ranks = { 0 }; /* of the run taken -> its input */
    const tl_input *v = inventory->inputs.v;

    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (v[i].run == inventory->run)
            tl_map_put(&ranks, (uint64_t)v[i].rank, (uint32_t)i);
    for (size_t i = 0; i < inventory->inputs.n; i++) {
        if (v[i].run < 0 || v[i].run == inventory->run)
            continue;
        uint32_t at = tl_map_get(&ranks, (uint64_t)v[i].rank);
        inventory->runs[v[i].run].lost |= !repeats(&v[i], at != TL_MAP_NONE ? &v[at] : NULL);
    }
    tl_map_free(&ranks);
}

/* Files that cannot be read are of the runs whose files have names like theirs. */
static void send_elsewhere(tl_inventory *inventory)
{
    tl_map families = { 0 };

    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (inventory->inputs.v[i].run == inventory->run)
            tl_map_put(&families, tl_family_of(&inventory->inputs.v[i]), 0);
    for (size_t i = 0; i < inventory->inputs.n; i++) {
        tl_input *t = &inventory->inputs.v[i];
        t->elsewhere = t->kind == TL_INPUT_UNREADABLE && tl_map_get(&families, tl_family_of(t)) == TL_MAP_NONE;
    }
    tl_map_free(&families);
}

tl_status tl_inventory_decide(tl_inventory *inventory, int which, tl_error *err)
{
    deciding d = { .inventory = inventory };
    tl_status st = TL_OK;

    tl_copies_leave(inventory);
    collect(&d);
    part_known(&d);
    tl_strays_place(inventory, d.unknown, d.nunknown, &d.nruns);
    list_runs(&d);
    if (which < 0 || which > inventory->nruns) {
        st = tl_fail(err, TL_EUSAGE, "there is no run %d: the traces are of %d run%s", which, inventory->nruns,
                     inventory->nruns == 1 ? "" : "s");
    } else {
        inventory->run = which > 0 ? which - 1 : choose(&d);
        if (inventory->nruns > 1) {
            if (which <= 0)
                find_lost(inventory);
            send_elsewhere(inventory);
        }
        tl_inventory_learn(inventory);
    }
    free(d.known);
    free(d.unknown);
    return st;
}
