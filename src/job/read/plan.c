/* plan.c - decides the files to read, their ranks and their order.
 *
 * Proc 0 lists the folders; each proc looks at every nprocs-th file, since a gzip file may have to be inflated to its
 * end to find its rank; proc 0 decides and shares the plan.
 */
#include "tlmpi/job/read/plan.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/format/words.h"
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- finding files */

/* Collective: proc 0 lists all files under the command line's paths, and shares the list. */
static void find_files(const tl_options *options, tl_inventory *inventory, tl_bytes *paths)
{
    for (size_t i = 0; tl_par_proc() == 0 && i < options->npaths; i++)
        tl_inventory_add(inventory, options->paths[i]);
    tl_inventory_sort(inventory);
    tl_inventory_part(inventory);
    for (size_t i = 0; i < inventory->inputs.n; i++)
        tl_bytes_put(paths, inventory->inputs.v[i].path, strlen(inventory->inputs.v[i].path) + 1);
    tl_par_share((void **)&paths->v, &paths->n, 1);
}

/* How far to look into a file: to its first event, to its end where the head does not name the rank, or always to its
 * end. */
typedef enum depth { LOOK_AT_HEAD, LOOK_FOR_RANK, LOOK_FOR_ANY_RANK, LOOK_AT_ALL } depth;

/* The result of looking at a file. */
typedef struct look {
    size_t number; /* index of the file, in order of paths */
    tl_input input;
} look;

/* Looks at this proc's share of the files.  A single file's rank is needed before reading only with --ranks. */
static void look_at_own_files(const tl_bytes *paths, depth how, tl_bytes *looks)
{
    size_t n = 0, number = 0;

    for (size_t at = 0; at < paths->n; at += strlen(paths->v + at) + 1)
        n++;
    for (size_t at = 0; at < paths->n; at += strlen(paths->v + at) + 1, number++) {
        if (number % (size_t)tl_par_nprocs() != (size_t)tl_par_proc())
            continue;
        look l = { number, { .path = paths->v + at } };
        tl_input_look(&l.input, how == LOOK_AT_ALL);
        if ((how == LOOK_FOR_ANY_RANK || (how == LOOK_FOR_RANK && n > 1)) && l.input.kind == TL_INPUT_TRACE &&
            l.input.meta_rank < 0) {
            l.input = (tl_input){ .path = paths->v + at };
            tl_input_look(&l.input, true);
        }
        tl_bytes_put(looks, &l, sizeof l);
    }
}

/* Collective: looks at all files, and stores the results in proc 0's inventory. */
static void look_round(const tl_bytes *paths, depth how, tl_inventory *inventory)
{
    tl_bytes looks = { 0 }, all;

    look_at_own_files(paths, how, &looks);
    tl_par_gather(looks.v, looks.n, &all);
    while (all.at < all.n) {
        look l;
        tl_bytes_get(&all, &l, sizeof l);
        tl_input *in = &inventory->inputs.v[l.number];
        if (l.number >= inventory->inputs.n || in->no_file)
            continue;
        l.input.path = in->path;
        l.input.below = in->below;
        l.input.word = in->word;
        l.input.named = in->named;
        *in = l.input;
    }
    tl_bytes_free(&looks);
    tl_bytes_free(&all);
}

/* Collective: proc 0 decides ranks and runs from the looks. */
static tl_status decide(const tl_options *options, tl_inventory *inventory, tl_error *err)
{
    tl_status st = TL_OK;
    if (tl_par_proc() == 0)
        st = tl_inventory_decide(inventory, options->run > 0 ? options->run : 0, err);
    return tl_par_agree(st, err);
}

/* -------------------------------------------------------------------------------------- proc 0: what is to be read */

static size_t count_windows(const tl_inventory *inventory)
{
    size_t n = 0;
    for (int32_t r = 0; r < inventory->nruns; r++)
        n += inventory->runs[r].joined;
    return n;
}

/* Adds a trace, or the n windows of a rank, to the plan's message: the item, the two texts that it points to, and where
 * runs are joined the windows, each with its path. */
static void put_item(const tl_inventory *inventory, tl_bytes *out, const tl_input *const *windows, size_t n)
{
    const tl_input *in = windows[0];
    const bool joined = inventory->runs != NULL && in->run >= 0 && inventory->runs[in->run].joined;
    const size_t all = joined ? count_windows(inventory) : 0;
    char why[sizeof in->why];
    tl_plan_item item = { .rank = in->rank,
                          .pid = in->origin.pid,
                          .mtime_ns = in->mtime_ns,
                          .bytes = in->bytes,
                          .below = in->below,
                          .word = in->word,
                          .rank_source = in->rank_source,
                          .nslices = 1,
                          .nwindows = joined ? n : 0,
                          .unreadable = in->kind == TL_INPUT_UNREADABLE };
    for (size_t i = 1; i < n; i++) {
        item.bytes += windows[i]->bytes;
        item.mtime_ns = tl_ns_max(item.mtime_ns, windows[i]->mtime_ns);
    }
    tl_bytes_put(out, &item, sizeof item);
    tl_bytes_put(out, in->path, strlen(in->path) + 1);
    snprintf(why, sizeof why, "%s", in->why);
    if (n < all && why[0] == '\0')
        snprintf(why, sizeof why, "it has %zu of the %zu windows of the job", n, all);
    tl_bytes_put(out, why, strlen(why) + 1);
    for (size_t i = 0; i < item.nwindows; i++) {
        tl_bytes_put(out, &inventory->runs[windows[i]->run].window, sizeof(tl_window));
        tl_bytes_put(out, windows[i]->path, strlen(windows[i]->path) + 1);
    }
}

/* Puts every trace and unreadable file, in path order; returns their number. */
static size_t put_all_traces(tl_plan *plan, tl_bytes *out)
{
    size_t n = 0;

    TL_EACH (const tl_input, in, plan->inventory.inputs) {
        bool planned = in->kind == TL_INPUT_TRACE || in->kind == TL_INPUT_UNREADABLE;
        plan->planned[in - plan->inventory.inputs.v] = planned;
        if (planned)
            put_item(&plan->inventory, out, &in, 1);
        n += planned;
    }
    return n;
}

/* Puts one file for each rank that --ranks asks for, in rank order, and fills plan->ranks with the ranks of all files.
 * Returns the number of files put. */
static size_t put_chosen(const tl_options *options, tl_plan *plan, tl_bytes *out)
{
    const tl_inventory *inventory = &plan->inventory;
    const tl_input **chosen = tl_calloc(inventory->inputs.n + 1, sizeof *chosen);
    size_t n = tl_inventory_choose(inventory, chosen), kept = 0;

    for (size_t i = 0, to; i < n; i = to) {
        int64_t rank = chosen[i]->rank;
        for (to = i + 1; to < n && chosen[to]->rank == rank; to++)
            ;
        tl_vec_push(&plan->ranks, (tl_range){ rank, rank });
        if (!tl_ranges_has(&options->ranks, rank))
            continue;
        for (size_t k = i; k < to; k++)
            plan->planned[chosen[k] - inventory->inputs.v] = true;
        put_item(inventory, out, chosen + i, to - i);
        kept++;
    }
    free(chosen);
    return kept;
}

static void put_side_file(tl_bytes *out, tl_input_kind kind, const char *path, int64_t rank)
{
    const tl_plan_side side = { .kind = kind, .rank = rank };
    tl_bytes_put(out, &side, sizeof side);
    tl_bytes_put(out, path, strlen(path) + 1);
}

/* Puts the phase files that --events names. */
static tl_status put_event_files(const char *pattern, tl_bytes *out, tl_error *err)
{
    glob_t found;
    int got = glob(pattern, 0, NULL, &found);
    if (got == GLOB_NOSPACE)
        tl_mem_out(strlen(pattern));
    for (size_t i = 0; got == 0 && i < found.gl_pathc; i++)
        put_side_file(out, TL_INPUT_PHASES, found.gl_pathv[i], -1);
    globfree(&found);
    return got != 0 ? tl_fail(err, TL_EINPUT, "--events %s: no such file", pattern) : TL_OK;
}

/* Returns the rank of an execution trace: that in its name; else of the only trace of its process; else of the only
 * trace; -1: unknown. */
static int64_t rank_of_execution(const tl_inventory *inventory, const tl_input *execution)
{
    const tl_input *of_process = NULL, *any = NULL;
    size_t nof_process = 0, n = 0;

    if (execution->name_rank >= 0)
        return execution->name_rank;
    TL_EACH (const tl_input, in, inventory->inputs) {
        if (in->kind != TL_INPUT_TRACE || !tl_inventory_takes(inventory, in))
            continue;
        any = in;
        n++;
        if (in->origin.pid == 0 || in->origin.pid != execution->origin.pid)
            continue;
        of_process = in;
        nof_process++;
    }
    return nof_process == 1 ? of_process->rank : n == 1 ? any->rank : -1;
}

/* Puts the files that are no traces: phase files of --events first, the others in path order.  Execution traces of
 * ranks that --ranks excludes are left out. */
static tl_status put_side_files(const tl_options *options, const tl_inventory *inventory, tl_bytes *out, tl_error *err)
{
    tl_status st = options->events != NULL ? put_event_files(options->events, out, err) : TL_OK;

    TL_EACH (const tl_input, in, inventory->inputs) {
        int64_t rank = in->kind == TL_INPUT_EXECUTION ? rank_of_execution(inventory, in) : -1;
        bool beside = in->kind == TL_INPUT_PHASES && options->events == NULL;
        if (beside || in->kind == TL_INPUT_MEMORY ||
            (in->kind == TL_INPUT_EXECUTION && (rank < 0 || tl_ranges_has(&options->ranks, rank))))
            put_side_file(out, in->kind, in->path, rank);
    }
    return st;
}

/* Puts the times between windows in which no rank recorded. */
static void put_holes(const tl_inventory *inventory, tl_bytes *out)
{
    TL_VEC(tl_hole) holes = { 0 };
    int64_t closed_ns = 0;

    for (int32_t r = 0; r < inventory->nruns && inventory->runs != NULL; r++) {
        const tl_run_info *run = &inventory->runs[r];
        if (run->joined && run->window.closed_ns != closed_ns)
            tl_vec_push(&holes, (tl_hole){ run->recorded_ns, closed_ns = run->window.closed_ns });
    }
    tl_bytes_put_list(out, holes.v, holes.n, sizeof *holes.v);
    free(holes.v);
}

/* Writes the plan's message: holes, the number of traces, the traces, the other files. */
static tl_status write_plan(const tl_options *options, bool every, tl_plan *plan, tl_bytes *out, tl_error *err)
{
    size_t n = 0;

    plan->planned = tl_calloc(plan->inventory.inputs.n + 1, sizeof *plan->planned);
    put_holes(&plan->inventory, out);
    size_t at = out->n;
    tl_bytes_put(out, &n, sizeof n);
    n = every ? put_all_traces(plan, out) : put_chosen(options, plan, out);
    memcpy(out->v + at, &n, sizeof n);
    if (n == 0 && plan->ranks.n > 0) {
        char asked[300], there[300];
        tl_ranges_text(&options->ranks, asked, sizeof asked);
        tl_ranges_text(&plan->ranks, there, sizeof there);
        return tl_fail(err, TL_EUSAGE, "nothing is selected by ranks %s: there are ranks %s", asked, there);
    }
    return every ? TL_OK : put_side_files(options, &plan->inventory, out, err);
}

/* ------------------------------------------------------------------------------------- each proc: from the message */

/* Smallest slice of a file that a team member reads, bytes. */
#define LEAST_PIECE ((uint64_t)8 << 20)

static bool is_plain(const tl_plan_item *item)
{
    static const char *const packed[] = { ".gz", ".zst", NULL };
    return !item->unreadable && item->nwindows <= 1 && !tl_name_has_ending(item->path, packed);
}

/* Distributes the procs beyond one per trace over the plain files, by their bytes.  A compressed file cannot be sliced;
 * if a file turns out to be compressed, the leader of its team reads it alone. */
static void form_teams(tl_plan *plan)
{
    uint64_t spare = (uint64_t)tl_par_nprocs() > plan->n ? (uint64_t)tl_par_nprocs() - plan->n : 0, total = 0;

    for (size_t i = 0; i < plan->n; i++)
        total += is_plain(&plan->items[i]) ? plan->items[i].bytes : 0;
    for (size_t i = 0; i < plan->n && total > 0; i++) {
        tl_plan_item *item = &plan->items[i];
        if (!is_plain(item))
            continue;
        uint64_t share = 1 + (uint64_t)((double)spare * ((double)item->bytes / (double)total));
        uint64_t most = item->bytes / LEAST_PIECE;
        item->nslices = (int32_t)(share < most ? share : most > 0 ? most : 1);
    }
}

/* Returns the item of a rank; SIZE_MAX: none.  A single trace, whose rank is unknown before it is read, is any
 * rank's. */
static size_t item_of(const tl_plan *plan, int64_t rank)
{
    for (size_t i = 0; i < plan->n; i++)
        if (plan->items[i].rank == rank || plan->items[i].alone)
            return i;
    return SIZE_MAX;
}

/* Reads the windows of an item from the message. */
static void read_windows(tl_bytes *message, tl_plan *plan, size_t *cap, size_t *n, size_t nwindows)
{
    tl_grow((void **)&plan->windows, cap, *n + nwindows, sizeof *plan->windows);
    for (size_t i = 0; i < nwindows; i++) {
        tl_plan_window *window = &plan->windows[(*n)++];
        tl_bytes_get(message, &window->place, sizeof window->place);
        window->path = message->v + message->at;
        tl_bytes_skip(message, strlen(window->path) + 1);
    }
}

/* Reads the plan from its message, which the plan then owns. */
static void read_plan(tl_bytes *message, bool ranks_known, tl_plan *plan)
{
    int32_t numbers[TL_INPUT_OTHER + 1] = { 0 };
    size_t cap = 0, window_cap = 0, nwindows = 0;

    plan->texts = message->v;
    tl_bytes_get_list(message, (void **)&plan->holes, &plan->nholes, sizeof *plan->holes);
    tl_bytes_get(message, &plan->n, sizeof plan->n);
    plan->items = tl_calloc(plan->n + 1, sizeof *plan->items);
    for (size_t i = 0; i < plan->n; i++) {
        tl_plan_item *item = &plan->items[i];
        tl_bytes_get(message, item, sizeof *item);
        item->path = message->v + message->at;
        item->why = item->path + strlen(item->path) + 1;
        tl_bytes_skip(message, strlen(item->path) + strlen(item->why) + 2);
        read_windows(message, plan, &window_cap, &nwindows, item->nwindows);
    }
    for (size_t i = 0, at = 0; i < plan->n; at += plan->items[i++].nwindows)
        plan->items[i].windows = plan->windows != NULL ? plan->windows + at : NULL;
    plan->items[0].alone = plan->n == 1 && !ranks_known;
    form_teams(plan);
    while (message->at < message->n) {
        tl_grow((void **)&plan->sides, &cap, plan->nsides + 1, sizeof *plan->sides);
        tl_plan_side *side = &plan->sides[plan->nsides++];
        tl_bytes_get(message, side, sizeof *side);
        side->path = message->v + message->at;
        side->number = numbers[side->kind]++;
        side->item = side->kind == TL_INPUT_EXECUTION ? item_of(plan, side->rank) : SIZE_MAX;
        if (side->item != SIZE_MAX)
            plan->items[side->item].nslices = 1; /* ids that link nodes to events are read from whole files only */
        tl_bytes_skip(message, strlen(side->path) + 1);
    }
}

bool tl_plan_has(const tl_plan *plan, tl_input_kind kind)
{
    for (size_t i = 0; i < plan->nsides; i++)
        if (plan->sides[i].kind == kind)
            return true;
    return false;
}

bool tl_plan_is_mine(const tl_plan_side *side, tl_input_kind kind)
{
    return side->kind == kind && side->number % tl_par_nprocs() == tl_par_proc();
}

/* -------------------------------------------------------------------------------------------------------- the plan */

/* Collective: finds the files and makes the plan.  every: reads only the heads of files, and plans all traces. */
static tl_status make_plan(const tl_options *options, bool every, tl_plan *plan, tl_error *err)
{
    tl_bytes paths = { 0 }, message = { 0 };
    const bool first = tl_par_proc() == 0, asked = options->ranks.n > 0;
    bool deep = false;

    find_files(options, &plan->inventory, &paths);
    look_round(&paths, every ? LOOK_AT_HEAD : asked ? LOOK_FOR_ANY_RANK : LOOK_FOR_RANK, &plan->inventory);
    tl_status st = every ? TL_OK : decide(options, &plan->inventory, err);
    if (st == TL_OK && !every) {
        deep = first && tl_inventory_is_unsure(&plan->inventory);
        tl_par_bcast(&deep, sizeof deep);
    }
    if (st == TL_OK && deep) {
        look_round(&paths, LOOK_AT_ALL, &plan->inventory);
        st = decide(options, &plan->inventory, err);
    }
    if (st == TL_OK && !every)
        tl_windows_join(options, &paths, &plan->inventory);
    if (st == TL_OK && first) {
        tl_inventory_close(&plan->inventory); /* adds paths without files */
        st = write_plan(options, every, plan, &message, err);
    }
    st = tl_par_agree(st, err);
    if (st == TL_OK) {
        tl_par_share((void **)&message.v, &message.n, 1);
        read_plan(&message, asked && !every, plan);
        message.v = NULL;
    }
    free(paths.v);
    free(message.v);
    return st;
}

tl_status tl_plan_make(const tl_options *options, tl_plan *plan, tl_error *err)
{
    return make_plan(options, false, plan, err);
}

tl_status tl_plan_every(const tl_options *options, tl_plan *plan, tl_error *err)
{
    tl_status st = make_plan(options, true, plan, err);
    if (st != TL_OK || plan->n > 0)
        return st;
    if (tl_par_proc() == 0)
        tl_plan_warn(plan);
    return tl_fail(err, TL_EINPUT, "%s%s: no traces found (tlmpi describe formats)", options->paths[0],
                   options->npaths > 1 ? " ..." : "");
}

/* ---------------------------------------------------------------------- ranks of one host, by their process ids
 *
 *     rank     0    1    2    3         4    5    6    7
 *     pid   4100 4101 4102 4104     91530 91531 91532 91533
 *     device   0    1    2    3         0    1    2    3
 *           '------ a host ----'   '------ another ------'
 *
 * A launcher starts the ranks of a host one after the other, so their process ids are consecutive but for threads
 * started in between.  Similar hosts may have equal ids: if one occurs twice, no host is inferred.
 */

/* Largest step between the process ids of two ranks that were started one after the other. */
#define STEP_MOST 4

typedef struct process {
    int64_t pid;
    tl_rank *row;
} process;

TL_SORT_BY(by_pid, process, pid, row->rank)

/* Lists the ranks with unknown host but known process and device, ascending by pid; returns their number. */
static size_t processes_of(const tl_plan *plan, const tl_table *rows, process *out)
{
    size_t count = 0;
    TL_ROWS (tl_rank, row, rows) {
        size_t at = 0;
        TL_BISECT(at, plan->n, mid, plan->items[mid].rank < row->rank);
        const bool known = at < plan->n && plan->items[at].rank == row->rank && plan->items[at].pid > 0;
        if (known && row->host[0] == 0 && row->device >= 0)
            out[count++] = (process){ plan->items[at].pid, row };
    }
    tl_sort(out, count, sizeof *out, by_pid);
    return count;
}

/* Whether p is on the host of v[from, to): the next process id, another device, and a time span that overlaps
 * theirs. */
static bool continues_host(const process *v, size_t from, size_t to, const process *p)
{
    if (p->pid - v[to - 1].pid > STEP_MOST)
        return false;
    for (size_t i = from; i < to; i++)
        if (v[i].row->device == p->row->device || p->row->first_ns >= v[i].row->last_ns ||
            v[i].row->first_ns >= p->row->last_ns)
            return false;
    return true;
}

/* Names the host "pids <first>-<last>" of ranks without a host that share one by process ids, devices and times. */
static void infer_hosts(const tl_plan *plan, const tl_table *rows)
{
    process *v = tl_calloc(rows->n + 1, sizeof *v);
    bool twice = false;

    size_t count = processes_of(plan, rows, v);
    for (size_t i = 1; i < count; i++)
        twice |= v[i].pid == v[i - 1].pid;
    for (size_t from = 0, to; !twice && from < count; from = to) {
        for (to = from + 1; to < count && continues_host(v, from, to, &v[to]); to++)
            ;
        for (size_t i = from; to - from > 1 && i < to; i++)
            snprintf(v[i].row->host, sizeof v[i].row->host, "pids %" PRId64 "-%" PRId64, v[from].pid, v[to - 1].pid);
    }
    free(v);
}

/* ---------------------------------------------------------------------------------------------------- after reading */

/* Counts other traces of each rank.  Two traces within half the recording's length are of one recording: successive
 * recordings are at least that length apart. */
static void count_duplicates(const tl_inventory *inventory, const tl_table *rows)
{
    TL_ROWS (tl_rank, row, rows)
        if (inventory->nruns > 1)
            row->duplicates =
                (int32_t)tl_inventory_duplicates(inventory, row->rank, tl_ns_between(row->last_ns, row->first_ns) / 2);
}

void tl_plan_learn(tl_plan *plan, const tl_table *rows)
{
    tl_inventory *inventory = &plan->inventory;

    for (size_t i = 0; rows->n > 0 && i < inventory->inputs.n; i++) {
        tl_input *in = &inventory->inputs.v[i];
        const tl_rank *row = plan->items[0].alone    ? tl_table_row(rows, 0)
                             : in->rank <= INT32_MAX ? tl_row_of_rank(rows, (int32_t)in->rank)
                                                     : NULL;
        if (!plan->planned[i] || row == NULL || row->status == TL_RANK_UNREADABLE)
            continue;
        in->rank = row->rank;
        in->world_size = row->world_size;
    }
    count_duplicates(inventory, rows);
    infer_hosts(plan, rows);
    tl_inventory_learn(inventory);
}

size_t tl_plan_lost(const tl_plan *plan)
{
    size_t lost = 0;
    TL_EACH (const tl_input, in, plan->inventory.inputs)
        lost += tl_input_is_lost(in);
    return lost;
}

static bool is_no_trace(const tl_plan *plan, const tl_input *in)
{
    return in->kind == TL_INPUT_OTHER || (in->kind == TL_INPUT_EXECUTION && plan->n == 0);
}

/* Warns of file i and counts the files after it, in path order, with the same reason.  Returns their number. */
static size_t warn_alike(const tl_plan *plan, size_t i)
{
    const tl_inventory *inventory = &plan->inventory;
    const tl_input *in = &inventory->inputs.v[i];
    char more[48] = "";
    size_t n = 0;

    while (i + n + 1 < inventory->inputs.n && is_no_trace(plan, in + n + 1) &&
           tl_input_is_lost(in) == tl_input_is_lost(in + n + 1) && strcmp(in->why, in[n + 1].why) == 0)
        n++;
    if (n > 0)
        snprintf(more, sizeof more, "; so are %zu more", n);
    tl_input_warn(in, tl_input_is_lost(in) ? "left out: " : "not a trace: ", more);
    return n;
}

void tl_plan_warn(const tl_plan *plan)
{
    for (size_t i = 0; i < plan->inventory.inputs.n; i++) {
        const tl_input *in = &plan->inventory.inputs.v[i];
        if (is_no_trace(plan, in))
            i += warn_alike(plan, i);
        else if (in->kind == TL_INPUT_UNREADABLE && !plan->planned[i])
            tl_input_warn(in, "cannot be read: ", "");
    }
}

void tl_plan_free(tl_plan *plan)
{
    free(plan->items);
    free(plan->texts);
    free(plan->windows);
    free(plan->holes);
    free(plan->sides);
    free(plan->planned);
    free(plan->ranks.v);
    tl_inventory_free(&plan->inventory);
    *plan = (tl_plan){ 0 };
}
