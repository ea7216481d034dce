/* decide.c - assigns files to jobs, runs and ranks, and chooses the run. */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include <ctype.h>
#include <inttypes.h>

#define MISSING_LISTED 4096u

/* -------------------------------------------------------------------------------------------------------------- copies
 *
 * The same trace may lie in two files, as x.json and x.json.gz.  The two texts begin with the same 64 KiB, which
 * contain the time stamps of the first events, and have the same length; and if both are packed in the same way, the
 * files have the same end (of gzip, the checksum of the text).  If neither has its rank in it and their names differ in
 * rank, both are read, as these ranks.
 */

static bool is_same_text(const tl_input *a, const tl_input *b)
{
    const tl_origin *x = &a->origin, *y = &b->origin;
    bool called_apart = a->meta_rank < 0 && a->name_rank >= 0 && b->name_rank >= 0 && a->name_rank != b->name_rank;
    bool ends_fit = x->packing != y->packing || x->extent.last == y->extent.last;
    return x->head == y->head && x->extent.text_bytes != 0 && x->extent.text_bytes == y->extent.text_bytes &&
           ends_fit && a->meta_rank == b->meta_rank && !called_apart;
}

/* Drops all but one file of each text: the one with the shorter path stays; ties: the first one. */
static void drop_copies(tl_inventory *inventory)
{
    tl_map originals = { 0 }; /* hash of the text -> its input */
    tl_input *v = inventory->inputs.v;

    for (size_t i = 0; i < inventory->inputs.n; i++) {
        if (v[i].kind != TL_INPUT_TRACE || v[i].origin.head == 0)
            continue;
        uint64_t key = tl_hash_mix(v[i].origin.head, v[i].meta_rank >= 0 ? 0 : (uint64_t)v[i].name_rank);
        uint32_t at = tl_map_get(&originals, key);
        size_t stays = i;
        if (at != TL_MAP_NONE && is_same_text(&v[at], &v[i])) {
            size_t n = strlen(v[at].path), m = strlen(v[i].path);
            stays = m < n || (m == n && strcmp(v[i].path, v[at].path) < 0) ? i : at;
            tl_input *copy = &v[stays == i ? at : i];
            char reason[160];
            snprintf(reason, sizeof reason, "the same trace as %s, which is read", tl_path_shown(v[stays].path).text);
            tl_input_say_why(copy, TL_INPUT_OTHER, reason);
            copy->copy = true;
        }
        tl_map_put(&originals, key, (uint32_t)stays);
    }
    tl_map_free(&originals);
}

/* --------------------------------------------------------------------------------------------- ranks that are known */

typedef struct deciding {
    tl_inventory *inventory;
    tl_input **known;   /* traces with a rank, in order of time, later of job and time */
    tl_input **unknown; /* other traces, in order of path */
    size_t nknown, nunknown;
    size_t nruns;
} deciding;

/* Resets an earlier decision about the input, and sets the rank that its content or name has; that of the name if the
 * trace's own rank is not below its own world size. */
static void set_own_rank(tl_input *t)
{
    bool beyond =
        t->world_size > 0 && t->meta_rank >= t->world_size && t->name_rank >= 0 && t->name_rank < t->world_size;
    bool is_trace = t->kind == TL_INPUT_TRACE, own = t->meta_rank >= 0 && !beyond;

    t->run = t->job = -1;
    t->rank = -1;
    t->rank_source = TL_RANK_ORDER;
    t->elsewhere = false;
    t->renumbered = beyond && t->kind != TL_INPUT_OTHER;
    if (is_trace)
        t->why[0] = '\0';
    if (t->kind == TL_INPUT_OTHER || (!own && t->name_rank < 0))
        return;
    t->rank = own ? t->meta_rank : t->name_rank;
    t->rank_source = own ? TL_RANK_META : TL_RANK_NAME;
    if (beyond && is_trace)
        snprintf(t->why, sizeof t->why,
                 "it says that it is rank %" PRId64 " of a world of %" PRId64 "; counts as rank %" PRId64
                 " by its name",
                 t->meta_rank, t->world_size, t->rank);
}

/* Divides the traces into known (with a rank) and unknown.  Leaves out traces of processes that are not ranks, as an
 * engine's coordinator or a launcher: traces without rank and device work, if all other traces have a rank. */
static void collect_traces(deciding *d)
{
    size_t n = d->inventory->inputs.n, idle = 0;

    d->known = tl_calloc(n + 1, sizeof(tl_input *));
    d->unknown = tl_calloc(n + 1, sizeof(tl_input *));
    for (size_t i = 0; i < n; i++) {
        tl_input *input = &d->inventory->inputs.v[i];
        set_own_rank(input);
        if (input->kind != TL_INPUT_TRACE)
            continue;
        if (input->rank >= 0)
            d->known[d->nknown++] = input;
        else
            d->unknown[d->nunknown++] = input;
        idle += input->rank < 0 && input->origin.no_device_work;
    }
    if (d->nknown == 0)
        return;
    if (idle == d->nunknown) {
        for (size_t i = 0; i < d->nunknown; i++)
            tl_input_say_why(d->unknown[i], TL_INPUT_OTHER,
                             "of a process that is no rank: it has no device work, and tells no rank as the others do");
        d->nunknown = 0;
    }
    qsort(d->known, d->nknown, sizeof *d->known, tl_by_job_and_time);
}

/* Finds the runs of traces with a rank: slices of one job in which neighbours begin at most TL_APART_NS apart. */
static void find_runs_of_known(deciding *d)
{
    tl_jobs_part(d->known, d->nknown);
    for (size_t from = 0, to; from < d->nknown; from = to) {
        tl_slice s = { .v = d->known + from, .world_size = d->known[from]->world_size };
        for (to = from + 1; to < d->nknown && d->known[to]->job == d->known[from]->job; to++) {
            const tl_input *a = d->known[to - 1], *b = d->known[to];
            if (tl_begin_gap(a, b) > TL_APART_NS)
                break;
            s.world_size = tl_ns_max(s.world_size, b->world_size);
        }
        s.n = to - from;
        tl_runs_part(&s);
        tl_duplicate_ranks_resolve(&s);
        for (size_t i = 0; i < s.n; i++)
            s.v[i]->run += (int32_t)d->nruns;
        d->nruns += s.nruns;
    }
}

/* ------------------------------------------------------------------------------------------------- the list of runs */

TL_SORT_BY(oldest_first, tl_run_info, begin_ns, number)

/* Fills the list of runs, oldest first, and numbers the runs of the traces accordingly. */
static void list_runs(deciding *d)
{
    tl_inventory *inventory = d->inventory;
    tl_input *v = inventory->inputs.v;
    int32_t *number = tl_calloc(d->nruns + 1, sizeof *number);
    tl_run_info *runs = tl_calloc(d->nruns + 1, sizeof *runs);

    for (size_t k = 0; k < d->nruns; k++)
        runs[k] = (tl_run_info){ .number = (int32_t)k, .world_size = -1 };
    for (size_t i = 0; i < inventory->inputs.n; i++) {
        tl_run_info *r = v[i].run >= 0 ? &runs[v[i].run] : NULL;
        if (r == NULL)
            continue;
        if (r->ntraces == 0 || v[i].rank < v[r->first].rank)
            r->first = i;
        if (tl_input_is_timed(&v[i])) {
            r->begin_ns = r->timed ? tl_ns_min(r->begin_ns, v[i].begin_ns) : v[i].begin_ns;
            r->timed = true;
        }
        r->world_size = tl_ns_max(r->world_size, v[i].world_size);
        r->gpu = r->ntraces == 0 || r->gpu == v[i].origin.gpu ? v[i].origin.gpu : 0;
        r->job = v[i].job;
        r->ntraces++;
    }
    if (d->nruns > 1)
        qsort(runs, d->nruns, sizeof *runs, oldest_first);
    for (size_t k = 0; k < d->nruns; k++) {
        number[runs[k].number] = (int32_t)k;
        runs[k].number = (int32_t)k;
    }
    for (size_t i = 0; i < inventory->inputs.n; i++)
        v[i].run = v[i].run >= 0 ? number[v[i].run] : -1;
    free(number);
    free(inventory->runs);
    inventory->runs = runs;
    inventory->nruns = d->nruns > 0 ? (int32_t)d->nruns : 1;
}

/* ------------------------------------------------------------------------------------------------ what is not taken */

static size_t length_of_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static bool are_in_one_folder(const char *a, const char *b)
{
    size_t n = length_of_folder(a);
    return n == length_of_folder(b) && memcmp(a, b, n) == 0;
}

/* Whether the names of two files differ only in their numbers. */
static bool are_called_alike(const char *a, const char *b)
{
    a += length_of_folder(a);
    b += length_of_folder(b);
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

/* Whether the trace is another recording of the rank that `taken`, of the chosen run, has: of the same process, or with
 * a name that differs only in numbers. */
static bool is_other_recording(const tl_input *t, const tl_input *taken)
{
    if (t->job != taken->job || (t->why[0] != 0 && !t->renumbered))
        return false;
    bool same_process = t->origin.pid > 0 && t->origin.pid == taken->origin.pid;
    return same_process || (t->rank_source != TL_RANK_ORDER && are_called_alike(t->path, taken->path));
}

/* Marks other runs as lost if they have a trace that is not another recording of the chosen run, unless the user chose
 * the run.  Files that cannot be read belong to the runs with files of similar names. */
static void mark_lost_runs(tl_inventory *inventory, bool chose)
{
    tl_map ranks = { 0 }, families = { 0 }; /* of the chosen run: rank -> its input, family -> 0 */
    tl_input *v = inventory->inputs.v;

    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (v[i].run == inventory->run) {
            tl_map_put(&ranks, (uint64_t)v[i].rank, (uint32_t)i);
            tl_map_put(&families, tl_family_of(&v[i]), 0);
        }
    for (size_t i = 0; i < inventory->inputs.n; i++) {
        tl_input *t = &v[i];
        uint32_t at = tl_map_get(&ranks, (uint64_t)t->rank);
        if (!chose && t->run >= 0 && t->run != inventory->run)
            inventory->runs[t->run].lost |= at == TL_MAP_NONE || !is_other_recording(t, &v[at]);
        t->elsewhere = t->kind == TL_INPUT_UNREADABLE && tl_map_get(&families, tl_family_of(t)) == TL_MAP_NONE;
    }
    tl_map_free(&ranks);
    tl_map_free(&families);
}

/* Whether a file that is not a trace takes the place of a rank's trace: its name has a rank that the chosen run lacks;
 * or, if names have no rank, it has a name like a trace in the same folder. */
static bool replaces_trace(const tl_inventory *inventory, const tl_input *t)
{
    bool absent = t->name_rank >= 0 && t->name_rank < inventory->world_size;
    bool alike = false;

    if (t->kind != TL_INPUT_OTHER || t->copy || t->origin.no_device_work)
        return false;
    TL_EACH (const tl_input, other, inventory->inputs) {
        bool trace = other->run >= 0 && other->run == inventory->run;
        absent = absent && !(trace && other->rank == t->name_rank);
        alike |= trace && other->name_rank < 0 && are_in_one_folder(t->path, other->path) &&
                 are_called_alike(t->path, other->path);
    }
    return absent || (t->name_rank < 0 && alike);
}

tl_status tl_inventory_decide(tl_inventory *inventory, int which, tl_error *err)
{
    deciding d = { .inventory = inventory };
    int32_t best = 0;

    drop_copies(inventory);
    collect_traces(&d);
    find_runs_of_known(&d);
    tl_unknown_ranks_assign(inventory, d.unknown, d.nunknown, &d.nruns);
    list_runs(&d);
    free(d.known);
    free(d.unknown);
    if (which < 0 || which > inventory->nruns)
        return tl_fail(err, TL_EUSAGE, "there is no run %d: the traces are of %d run%s", which, inventory->nruns,
                       inventory->nruns == 1 ? "" : "s");
    for (int32_t k = 1; k < inventory->nruns; k++) /* the newest of those with the most ranks */
        if (inventory->runs[k].ntraces >= inventory->runs[best].ntraces)
            best = k;
    inventory->run = which > 0 ? which - 1 : best;
    if (inventory->nruns > 1)
        mark_lost_runs(inventory, which > 0);
    tl_inventory_learn(inventory);
    TL_EACH (tl_input, input, inventory->inputs)
        if (replaces_trace(inventory, input)) {
            input->kind = TL_INPUT_UNREADABLE;
            input->rank = input->name_rank;
            input->rank_source = input->name_rank >= 0 ? TL_RANK_NAME : TL_RANK_ORDER;
        }
    return TL_OK;
}

/* Whether the input represents its rank in the chosen run: its trace, or a file that cannot be read. */
static bool represents_rank(const tl_inventory *inventory, const tl_input *in)
{
    if (in->rank < 0 || in->rank > INT32_MAX)
        return false;
    return in->kind == TL_INPUT_TRACE ? tl_inventory_takes(inventory, in)
                                      : in->kind == TL_INPUT_UNREADABLE && !in->elsewhere;
}

void tl_inventory_learn(tl_inventory *inventory)
{
    int64_t *ranks = tl_calloc(inventory->inputs.n + 1, sizeof *ranks);
    int64_t world_size = -1, top = -1, next = 0; /* each rank below `next` has a file */
    size_t n = 0;

    TL_EACH (const tl_input, t, inventory->inputs) {
        bool here = t->run >= 0 ? tl_inventory_takes(inventory, t)
                                : t->kind == TL_INPUT_UNREADABLE && t->rank >= 0 && !t->elsewhere;
        if (here)
            ranks[n++] = t->rank;
        if (here || (t->run >= 0 && t->job == inventory->runs[inventory->run].job))
            top = tl_ns_max(top, t->rank);
        if (t->run == inventory->run)
            world_size = tl_ns_max(world_size, t->world_size);
    }
    tl_ns_sort(ranks, n);
    inventory->world_size = world_size >= 0 ? world_size : top + 1;
    inventory->missing.n = inventory->nmissing = 0;
    for (size_t i = 0; i <= n; i++) {
        int64_t to = i < n ? tl_ns_min(ranks[i], inventory->world_size) : inventory->world_size;
        if (to > next)
            inventory->nmissing += (size_t)(to - next);
        for (; next < to && inventory->missing.n < MISSING_LISTED; next++) {
            tl_vec_push(&inventory->missing, next);
        }
        next = to + 1;
    }
    free(ranks);
}

/* ----------------------------------------------------------------------------------------- of runs that are decided */

bool tl_inventory_is_unsure(const tl_inventory *inventory)
{
    bool unknown = false;
    for (size_t i = 0; i < inventory->inputs.n; i++)
        unknown |= inventory->inputs.v[i].kind == TL_INPUT_TRACE && !tl_input_is_timed(&inventory->inputs.v[i]);
    return inventory->nruns > 1 && unknown;
}

bool tl_input_is_lost(const tl_input *input)
{
    return input->kind == TL_INPUT_UNREADABLE || (input->kind == TL_INPUT_OTHER && input->named && !input->copy);
}

/* Order: rank, kind (readable before unreadable), run (oldest first), path. */
static int by_rank(const void *a, const void *b)
{
    const tl_input *x = *(const tl_input *const *)a, *y = *(const tl_input *const *)b;
    int order = TL_ORDER(x, y, rank, kind, run);
    return order != 0 ? order : strcmp(x->path, y->path);
}

size_t tl_inventory_choose(const tl_inventory *inventory, const tl_input **out)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (represents_rank(inventory, &inventory->inputs.v[i]))
            out[n++] = &inventory->inputs.v[i];
    if (n > 0)
        qsort(out, n, sizeof *out, by_rank);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || out[i]->rank != out[i - 1]->rank ||
            (out[i]->kind == TL_INPUT_TRACE && out[i]->run != out[i - 1]->run))
            out[kept++] = out[i];
    return kept;
}

size_t tl_inventory_duplicates(const tl_inventory *inventory, int64_t rank, int64_t within_ns)
{
    const tl_input *own = NULL;
    size_t n = 0;

    for (int turn = 0; turn < 2; turn++) /* finds the rank's own trace, then counts others */
        TL_EACH (const tl_input, t, inventory->inputs) {
            if (t->kind != TL_INPUT_TRACE || t->rank != rank || !tl_input_is_timed(t))
                continue;
            if (turn == 0 && t->run == inventory->run)
                own = t;
            if (turn == 0 || own == NULL || tl_inventory_takes(inventory, t))
                continue;
            int64_t apart_ns = tl_ns_between(t->begin_ns, own->begin_ns);
            n += apart_ns != 0 && apart_ns < within_ns && apart_ns > -within_ns; /* at the same instant: a copy */
        }
    return n;
}
