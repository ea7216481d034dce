/* plan.c - which trace files are read, as which ranks, and in which order.
 *
 * Proc 0 lists the folders; every proc looks at each nprocs-th file, for a gzip file may have to be inflated to its end
 * to learn its rank; proc 0 decides and tells all.
 */
#include "tlmpi/job/read/plan.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/read/phase_files.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/format/words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- finding files */

/* Collective: proc 0's listing of everything that the paths name, to all. */
static void find_files(const tl_options *options, tl_inventory *inventory, tl_bytes *paths)
{
    for (size_t i = 0; tl_par_proc() == 0 && i < options->npaths; i++)
        tl_inventory_add(inventory, options->paths[i]);
    tl_inventory_sort(inventory);
    for (size_t i = 0; i < inventory->inputs.n; i++)
        tl_bytes_put(paths, inventory->inputs.v[i].path, strlen(inventory->inputs.v[i].path) + 1);
    tl_par_share((void **)&paths->v, &paths->n, 1);
}

/* How far to look into a file: to its first event, to its end where the head does not name the rank, or always to its
 * end. */
typedef enum depth { LOOK_AT_HEAD, LOOK_FOR_RANK, LOOK_FOR_ANY_RANK, LOOK_AT_ALL } depth;

/* Each proc: looks at its share of the files.  The rank and time of a single file are needed before reading only where
 * --ranks is given. */
static void look_at_share(const tl_bytes *paths, depth how, tl_bytes *looks)
{
    size_t n = 0, number = 0;

    looks->n = 0;
    for (size_t at = 0; at < paths->n; at += strlen(paths->v + at) + 1)
        n++;
    for (size_t at = 0; at < paths->n; at += strlen(paths->v + at) + 1, number++) {
        if (number % (size_t)tl_par_nprocs() != (size_t)tl_par_proc())
            continue;
        tl_input look = { .path = paths->v + at };
        tl_input_look(&look, how == LOOK_AT_ALL);
        if ((how == LOOK_FOR_ANY_RANK || (how == LOOK_FOR_RANK && n > 1)) && look.kind == TL_INPUT_TRACE &&
            look.meta_rank < 0) {
            look = (tl_input){ .path = paths->v + at };
            tl_input_look(&look, true);
        }
        look.path = NULL;
        tl_bytes_put(looks, &look, sizeof look);
    }
}

/* Proc 0: the looks of all procs, back to their places.  `sizes` are their bytes by proc. */
static void merge_looks(tl_inventory *inventory, const char *looks, const size_t *sizes)
{
    size_t nprocs = (size_t)tl_par_nprocs();
    for (size_t proc = 0; proc < nprocs; proc++) {
        for (size_t k = 0; k < sizes[proc] / sizeof(tl_input); k++, looks += sizeof(tl_input)) {
            size_t number = proc + k * nprocs;
            if (number >= inventory->inputs.n || inventory->inputs.v[number].no_file)
                continue;
            const tl_input known = inventory->inputs.v[number];
            memcpy(&inventory->inputs.v[number], looks, sizeof(tl_input));
            inventory->inputs.v[number].path = known.path;
            inventory->inputs.v[number].below = known.below;
            inventory->inputs.v[number].word = known.word;
            inventory->inputs.v[number].named = known.named;
        }
    }
}

/* -------------------------------------------------------------------------------------------------------- the plan */

/* Least bytes of a team's slice of a file. */
#define LEAST_PIECE ((uint64_t)8 << 20)

static bool is_plain(const tl_plan_item *item)
{
    size_t n = strlen(item->path);
    return !item->unreadable && (n < 3 || strcmp(item->path + n - 3, ".gz") != 0) &&
           (n < 4 || strcmp(item->path + n - 4, ".zst") != 0);
}

/* What stands in a plan's message before the two texts of an item. */
typedef struct item_head {
    int64_t rank, pid, mtime_ns;
    uint64_t bytes, below, word;
    int32_t rank_source, unreadable;
} item_head;

static void put_item(tl_bytes *out, const tl_input *in)
{
    item_head head = { .rank = in->rank,
                       .pid = in->origin.pid,
                       .mtime_ns = in->mtime_ns,
                       .bytes = in->bytes,
                       .below = in->below,
                       .word = in->word,
                       .rank_source = (int32_t)in->rank_source,
                       .unreadable = in->kind == TL_INPUT_UNREADABLE };
    tl_bytes_put(out, &head, sizeof head);
    tl_bytes_put(out, in->path, strlen(in->path) + 1);
    tl_bytes_put(out, in->why, strlen(in->why) + 1);
}

/* Proc 0: everything that is a trace or should be one, in path order. */
static void write_every(tl_plan *plan, tl_bytes *out)
{
    const tl_inventory *inventory = &plan->inventory;
    plan->planned = tl_calloc(inventory->inputs.n + 1, sizeof *plan->planned);

    for (size_t i = 0; i < inventory->inputs.n; i++) {
        tl_input_kind kind = inventory->inputs.v[i].kind;
        plan->planned[i] = kind == TL_INPUT_TRACE || kind == TL_INPUT_UNREADABLE;
        if (plan->planned[i])
            put_item(out, &inventory->inputs.v[i]);
    }
}

/* Removes the files of ranks that --ranks leaves out from chosen[n], and returns how many are left.  plan->ranks gets
 * the ranks of all. */
static size_t leave_asked(const tl_options *options, tl_plan *plan, const tl_input **chosen, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t rank = chosen[i]->rank;
        tl_vec_room(&plan->ranks);
        plan->ranks.v[plan->ranks.n++] = (tl_range){ rank, rank };
        if (tl_ranges_has(&options->ranks, rank))
            chosen[kept++] = chosen[i];
    }
    return kept;
}

/* Proc 0: what is to be read, a file a rank, in rank order. */
static tl_status write_plan(const tl_options *options, tl_plan *plan, tl_bytes *out, tl_error *err)
{
    const tl_inventory *inventory = &plan->inventory;
    const tl_input **chosen = tl_calloc(inventory->inputs.n + 1, sizeof *chosen);
    plan->planned = tl_calloc(inventory->inputs.n + 1, sizeof *plan->planned);
    size_t n = tl_inventory_choose(inventory, chosen);
    size_t kept = leave_asked(options, plan, chosen, n);

    bool ok = kept != SIZE_MAX;
    for (size_t i = 0; ok && i < kept; i++) {
        plan->planned[chosen[i] - inventory->inputs.v] = true;
        put_item(out, chosen[i]);
    }
    free(chosen);
    if (!ok)
        return tl_fail_memory(err, "the plan");
    if (n > 0 && kept == 0) {
        char asked[300], there[300];
        tl_ranges_text(&options->ranks, asked, sizeof asked);
        tl_ranges_text(&plan->ranks, there, sizeof there);
        return tl_fail(err, TL_EUSAGE, "nothing is selected by ranks %s: there are ranks %s", asked, there);
    }
    return TL_OK;
}

/* Spreads the procs beyond one a trace over the plain files, by their bytes.  A compressed file cannot be cut; where
 * one turns out to be compressed after all, one proc of its team reads it. */
static void form_teams(tl_plan *plan)
{
    uint64_t spare = (uint64_t)tl_par_nprocs() > plan->n ? (uint64_t)tl_par_nprocs() - plan->n : 0, total = 0;

    for (size_t i = 0; i < plan->n; i++) {
        plan->items[i].nslices = 1;
        total += is_plain(&plan->items[i]) ? plan->items[i].bytes : 0;
    }
    for (size_t i = 0; i < plan->n && total > 0; i++) {
        tl_plan_item *item = &plan->items[i];
        if (!is_plain(item))
            continue;
        uint64_t share = 1 + (uint64_t)((double)spare * ((double)item->bytes / (double)total));
        uint64_t most = item->bytes / LEAST_PIECE;
        item->nslices = (int32_t)(share < most ? share : most > 0 ? most : 1);
    }
}

/* Each proc: the plan from its message, which the plan then owns. */
static void read_plan(tl_bytes *message, bool ranks_known, tl_plan *plan)
{
    size_t cap = 0;

    plan->texts = message->v;
    for (size_t at = 0; at < message->n;) {
        item_head head;
        tl_grow((void **)&plan->items, &cap, plan->n + 1, sizeof *plan->items);
        memcpy(&head, message->v + at, sizeof head);
        const char *path = message->v + at + sizeof head, *why = path + strlen(path) + 1;
        plan->items[plan->n++] = (tl_plan_item){ .path = path,
                                                 .below = (size_t)head.below,
                                                 .word = (size_t)head.word,
                                                 .rank = head.rank,
                                                 .pid = head.pid,
                                                 .mtime_ns = head.mtime_ns,
                                                 .bytes = head.bytes,
                                                 .rank_source = (tl_rank_source)head.rank_source,
                                                 .unreadable = head.unreadable != 0,
                                                 .why = why };
        at = (size_t)(why + strlen(why) + 1 - message->v);
    }
    if (plan->n == 1 && !ranks_known)
        plan->items[0].alone = true;
    form_teams(plan);
}

/* Collective: one round of looks.  Then proc 0 knows what they say. */
static void look_round(const tl_bytes *paths, depth how, tl_bytes *looks, tl_inventory *inventory)
{
    void *all = NULL;
    size_t nall, *sizes = tl_calloc((size_t)tl_par_nprocs(), sizeof *sizes);
    look_at_share(paths, how, looks);

    tl_par_gather(looks->v, looks->n, &all, &nall, sizes);
    if (tl_par_proc() == 0)
        merge_looks(inventory, all, sizes);
    free(all);
    free(sizes);
}

/* Collective: proc 0 decides what the looks say about ranks and runs. */
static tl_status decide(const tl_options *options, tl_inventory *inventory, tl_error *err)
{
    tl_status st = TL_OK;
    if (tl_par_proc() == 0)
        st = tl_inventory_decide(inventory, options->run > 0 ? options->run : 0, err);
    return tl_par_agree(st, err);
}

/* Collective: proc 0's message to all, and the plan from it. */
static tl_status spread_plan(tl_status written, bool ranks_known, tl_bytes *message, tl_plan *plan, tl_error *err)
{
    tl_status st = tl_par_agree(written, err);
    if (st == TL_OK)
        tl_par_share((void **)&message->v, &message->n, 1);
    if (st == TL_OK) {
        read_plan(message, ranks_known, plan);
        message->v = NULL;
    }
    return st;
}

/* Collective: proc 0 adds what was named in vain. */
static void close_inventory(tl_inventory *inventory)
{
    if (tl_par_proc() == 0)
        tl_inventory_close(inventory);
}

tl_status tl_plan_make(const tl_options *options, tl_plan *plan, tl_error *err)
{
    tl_bytes paths = { 0 }, looks = { 0 }, message = { 0 };
    bool first = tl_par_proc() == 0, deep = false, asked = options->ranks.n > 0;

    find_files(options, &plan->inventory, &paths);
    look_round(&paths, asked ? LOOK_FOR_ANY_RANK : LOOK_FOR_RANK, &looks, &plan->inventory);
    tl_status st = decide(options, &plan->inventory, err);
    if (st == TL_OK) {
        deep = first && tl_inventory_is_unsure(&plan->inventory);
        tl_par_bcast(&deep, sizeof deep);
    }
    if (st == TL_OK && deep) {
        look_round(&paths, LOOK_AT_ALL, &looks, &plan->inventory);
        st = decide(options, &plan->inventory, err);
    }
    if (st == TL_OK)
        close_inventory(&plan->inventory);
    if (st == TL_OK)
        st = spread_plan(first ? write_plan(options, plan, &message, err) : TL_OK, asked, &message, plan, err);
    if (st == TL_OK)
        st = tl_phase_files_find(options, plan, err);
    if (st == TL_OK)
        st = tl_memory_files_find(plan, err);
    if (st == TL_OK)
        st = tl_execution_files_find(options, plan, err);
    free(paths.v);
    free(looks.v);
    free(message.v);
    return st;
}

tl_status tl_plan_every(const tl_options *options, tl_plan *plan, tl_error *err)
{
    tl_bytes paths = { 0 }, looks = { 0 }, message = { 0 };
    bool first = tl_par_proc() == 0;

    find_files(options, &plan->inventory, &paths);
    look_round(&paths, LOOK_AT_HEAD, &looks, &plan->inventory);
    close_inventory(&plan->inventory);
    if (first)
        write_every(plan, &message);
    tl_status st = spread_plan(TL_OK, false, &message, plan, err);
    free(paths.v);
    free(looks.v);
    free(message.v);
    if (st == TL_OK && plan->n == 0) {
        if (first)
            tl_plan_warn(plan);
        st = tl_fail(err, TL_EINPUT, "%s%s: no traces found (.json, .json.gz, .json.zst)", options->paths[0],
                     options->npaths > 1 ? " ..." : "");
    }
    return st;
}

size_t tl_plan_lost(const tl_plan *plan)
{
    size_t lost = 0;
    for (size_t i = 0; i < plan->inventory.inputs.n; i++)
        lost += tl_input_is_lost(&plan->inventory.inputs.v[i]);
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
    free(plan->phases);
    free(plan->memory);
    free(plan->executions);
    free(plan->execution_texts);
    free(plan->planned);
    free(plan->ranks.v);
    tl_inventory_free(&plan->inventory);
    *plan = (tl_plan){ 0 };
}
