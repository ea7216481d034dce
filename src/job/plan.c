/* plan.c - see plan.h.
 *
 * Proc 0 lists the folders; every proc looks at each nprocs-th file, for a gzip file may have to be inflated to its end to
 * learn its rank; proc 0 decides and tells all.
 */
#include "plan.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

/* Bytes to be sent, one thing after the other. */
typedef TL_VEC(char) buffer;

static bool put(buffer *b, const void *bytes, size_t n)
{
    if (!tl_grow((void **)&b->v, &b->cap, b->n + n, 1))
        return false;
    if (n > 0)
        memcpy(b->v + b->n, bytes, n);
    b->n += n;
    return true;
}

/* Collective: proc 0's buffer to all. */
static tl_status share(buffer *b, tl_error *err)
{
    size_t n = b->n;
    tl_status st = TL_OK;

    tl_par_bcast(&n, sizeof n, 0);
    if (tl_par_proc() != 0) {
        b->n = 0;
        if (!tl_grow((void **)&b->v, &b->cap, n + 1, 1))
            st = tl_fail_memory(err, "the list of files");
        b->n = n;
    }
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        tl_par_bcast(b->v, n, 0);
    return st;
}

/* ------------------------------------------------------------------------------------------------ finding files */

/* Proc 0: everything that the paths name. */
static tl_status list_files(const tl_options *options, tl_inventory *inventory, buffer *paths, tl_error *err)
{
    for (size_t i = 0; i < options->npaths; i++) {
        tl_status st = tl_inventory_add(inventory, options->paths[i], err);
        if (st != TL_OK)
            return st;
    }
    tl_inventory_sort(inventory);
    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (!put(paths, inventory->inputs.v[i].path, strlen(inventory->inputs.v[i].path) + 1))
            return tl_fail_memory(err, "the list of files");
    return TL_OK;
}

/* Each proc: a look at its share of the files.  A single file's rank and time matter to nobody before it is read; of
 * several, those are looked at to their end whose head does not name the rank, or all (`deep`). */
static tl_status look_at_share(const buffer *paths, bool deep, buffer *looks, tl_error *err)
{
    size_t n = 0, number = 0;

    looks->n = 0;
    for (size_t at = 0; at < paths->n; at += strlen(paths->v + at) + 1)
        n++;
    for (size_t at = 0; at < paths->n; at += strlen(paths->v + at) + 1, number++) {
        if (number % (size_t)tl_par_nprocs() != (size_t)tl_par_proc())
            continue;
        tl_input look = { .path = paths->v + at };
        tl_input_look(&look, deep);
        if (!deep && n > 1 && look.kind == TL_INPUT_TRACE && look.meta_rank < 0) {
            look = (tl_input){ .path = paths->v + at };
            tl_input_look(&look, true);
        }
        look.path = NULL;
        if (!put(looks, &look, sizeof look))
            return tl_fail_memory(err, "the list of files");
    }
    return TL_OK;
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
            char *path = inventory->inputs.v[number].path;
            memcpy(&inventory->inputs.v[number], looks, sizeof(tl_input));
            inventory->inputs.v[number].path = path;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- the plan */

/* By rank; what can be read before what cannot. */
static int by_rank(const void *a, const void *b)
{
    const tl_input *x = *(const tl_input *const *)a, *y = *(const tl_input *const *)b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* Traces of the chosen run; and a file that cannot be read but whose name tells its rank, for it is that rank's trace where
 * there is no other. */
static bool is_chosen(const tl_inventory *inventory, const tl_input *in)
{
    if (in->rank < 0 || in->rank > INT32_MAX)
        return false;
    return in->kind == TL_INPUT_TRACE ? in->run == inventory->run : in->kind == TL_INPUT_UNREADABLE;
}

/* A team's piece of a file has at least so many bytes. */
#define LEAST_PIECE ((uint64_t)8 << 20)

static bool is_plain(const tl_plan_item *item)
{
    size_t n = strlen(item->path);
    return !item->unreadable && (n < 3 || strcmp(item->path + n - 3, ".gz") != 0);
}

/* What stands in a plan's message before the two texts of an item. */
typedef struct item_head {
    int64_t rank, mtime_ns;
    uint64_t bytes;
    int32_t rank_source, unreadable;
} item_head;

/* Proc 0: what is to be read, a file a rank, in rank order. */
static bool write_plan(tl_plan *plan, buffer *out)
{
    const tl_inventory *inventory = &plan->inventory;
    const tl_input **chosen = tl_calloc(inventory->inputs.n + 1, sizeof *chosen);
    size_t n = 0;
    plan->planned = tl_calloc(inventory->inputs.n + 1, sizeof *plan->planned);
    bool whole = chosen != NULL && plan->planned != NULL;

    for (size_t i = 0; whole && i < inventory->inputs.n; i++) {
        if (is_chosen(inventory, &inventory->inputs.v[i]))
            chosen[n++] = &inventory->inputs.v[i];
    }
    if (whole)
        qsort(chosen, n, sizeof *chosen, by_rank);
    for (size_t i = 0; whole && i < n; i++) {
        const tl_input *in = chosen[i];
        if (i > 0 && in->rank == chosen[i - 1]->rank)
            continue;
        plan->planned[in - inventory->inputs.v] = true;
        item_head head = { in->rank, in->mtime_ns, in->bytes, (int32_t)in->rank_source, in->kind == TL_INPUT_UNREADABLE };
        whole = put(out, &head, sizeof head) && put(out, in->path, strlen(in->path) + 1) &&
                put(out, in->why, strlen(in->why) + 1);
    }
    free(chosen);
    return whole;
}

/* Where procs outnumber the traces, the spare ones are spread over the plain files by their sizes.  A compressed file cannot be
 * cut; should one be called plain, its team finds out and one proc reads it. */
static void form_teams(tl_plan *plan)
{
    uint64_t spare = (uint64_t)tl_par_nprocs() > plan->n ? (uint64_t)tl_par_nprocs() - plan->n : 0, total = 0;

    for (size_t i = 0; i < plan->n; i++) {
        plan->items[i].npieces = 1;
        total += is_plain(&plan->items[i]) ? plan->items[i].bytes : 0;
    }
    for (size_t i = 0; i < plan->n && total > 0; i++) {
        tl_plan_item *item = &plan->items[i];
        if (!is_plain(item))
            continue;
        uint64_t share = 1 + (uint64_t)((double)spare * ((double)item->bytes / (double)total));
        uint64_t most = item->bytes / LEAST_PIECE;
        item->npieces = (int32_t)(share < most ? share : most > 0 ? most : 1);
    }
}

/* Each proc: the plan from its message, which the plan then owns. */
static bool read_plan(buffer *message, tl_plan *plan)
{
    size_t cap = 0;

    plan->texts = message->v;
    for (size_t at = 0; at < message->n;) {
        item_head head;
        if (!tl_grow((void **)&plan->items, &cap, plan->n + 1, sizeof *plan->items))
            return false;
        memcpy(&head, message->v + at, sizeof head);
        const char *path = message->v + at + sizeof head, *why = path + strlen(path) + 1;
        plan->items[plan->n++] = (tl_plan_item){ .path = path, .rank = head.rank, .mtime_ns = head.mtime_ns,
                                                 .bytes = head.bytes, .rank_source = (tl_rank_source)head.rank_source,
                                                 .unreadable = head.unreadable != 0, .why = why };
        at = (size_t)(why + strlen(why) + 1 - message->v);
    }
    if (plan->n == 1)
        plan->items[0].alone = true;
    form_teams(plan);
    return true;
}

/* Collective: one round of looks, and what proc 0 makes of them. */
static tl_status look_round(const tl_options *options, const buffer *paths, bool deep, buffer *looks,
                            tl_inventory *inventory, tl_error *err)
{
    void *all = NULL;
    size_t nall, *sizes = tl_calloc((size_t)tl_par_nprocs(), sizeof *sizes);
    tl_status st = sizes == NULL ? tl_fail_memory(err, "the list of files") : look_at_share(paths, deep, looks, err);

    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = tl_par_gather(looks->v, looks->n, &all, &nall, sizes, err);
    if (st == TL_OK && sizes != NULL && tl_par_proc() == 0) {
        merge_looks(inventory, all, sizes);
        st = tl_inventory_decide(inventory, options->run > 0 ? options->run : 0, err);
    }
    free(all);
    free(sizes);
    return tl_par_agree(st, err);
}

/* Whether runs were told apart without knowing when some trace began: its base time stands behind its events. */
static bool needs_deep_look(const tl_inventory *inventory)
{
    bool unknown = false;
    for (size_t i = 0; i < inventory->inputs.n; i++)
        unknown |= inventory->inputs.v[i].kind == TL_INPUT_TRACE &&
                   inventory->inputs.v[i].begin_ns == inventory->inputs.v[i].mtime_ns;
    return inventory->nruns > 1 && unknown;
}

tl_status tl_plan_make(const tl_options *options, tl_plan *plan, tl_error *err)
{
    buffer paths = { 0 }, looks = { 0 }, message = { 0 };
    bool first = tl_par_proc() == 0, deep = false;

    tl_status st = first ? list_files(options, &plan->inventory, &paths, err) : TL_OK;
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = share(&paths, err);
    if (st == TL_OK)
        st = look_round(options, &paths, false, &looks, &plan->inventory, err);
    if (st == TL_OK) {
        deep = first && needs_deep_look(&plan->inventory);
        tl_par_bcast(&deep, sizeof deep, 0);
    }
    if (st == TL_OK && deep)
        st = look_round(options, &paths, true, &looks, &plan->inventory, err);
    if (st == TL_OK && first && !write_plan(plan, &message))
        st = tl_fail_memory(err, "the plan");
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = share(&message, err);
    if (st == TL_OK) {
        st = read_plan(&message, plan) ? TL_OK : tl_fail_memory(err, "the plan");
        message.v = NULL;
        st = tl_par_agree(st, err);
    }
    free(paths.v);
    free(looks.v);
    free(message.v);
    return st;
}

void tl_plan_free(tl_plan *plan)
{
    free(plan->items);
    free(plan->texts);
    free(plan->planned);
    tl_inventory_free(&plan->inventory);
    *plan = (tl_plan){ 0 };
}
