/* detail.c - the names under which most of a rank's time went, step by step: of the device, and of the host. */
#include "detail_rows.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* The row of a name. */
static tl_detail *row_of(tl_detail_rows *all, tl_detail_kind kind, int32_t step, uint32_t name, uint8_t activity)
{
    name = tl_name_key(all->view, name);
    uint64_t key = tl_hash_mix(tl_hash_mix((uint64_t)kind, (uint64_t)(int64_t)step), (uint64_t)name);
    uint32_t at = tl_map_get(&all->index_of, key);
    if (at == TL_MAP_NONE) {
        tl_vec_room(&all->rows);
        tl_map_put(&all->index_of, key, (uint32_t)all->rows.n);
        at = (uint32_t)all->rows.n++;
        all->rows.v[at] = (tl_detail){
            .rank = all->view->rank, .step = step, .name = name, .kind = (uint8_t)kind, .activity = activity
        };
    }
    return &all->rows.v[at];
}

void tl_detail_add(tl_detail_rows *all, tl_detail_kind kind, int32_t step, uint32_t name, tl_activity_kind activity,
                   const tl_detail *what)
{
    tl_detail *row = row_of(all, kind, step, name, (uint8_t)activity);
    row->ns = tl_ns_add(row->ns, what->ns);
    row->size = tl_ns_add(row->size, what->size);
    row->count += what->count;
    row->depth = what->depth > row->depth ? what->depth : row->depth;
    row->frame = what->frame;
}

/* What the device did, by name. */
static void add_work(tl_detail_rows *rows)
{
    for (size_t i = 0; i < rows->view->nkernels; i++) {
        const tl_kernel *k = &rows->view->kernels[i];
        tl_detail what = { .ns = k->end_ns - k->start_ns, .count = 1 };
        if (k->name == TL_NO_NAME)
            continue;
        if (k->kind == TL_COMM)
            what.size = rows->view->colls[k->coll].bytes;
        else
            what.size = k->kind == TL_COMPUTE ? k->blocks : k->bytes;
        what.size = what.size > 0 ? what.size : 0;
        tl_detail_add(rows, k->kind == TL_COMM ? TL_DETAIL_COMM : TL_DETAIL_WORK, k->step, k->name,
                      tl_activity_of_work(rows->view, k), &what);
    }
}

/* By kind and step, then most time first, of equals the innermost. */
static int by_time(const void *rows, uint32_t a, uint32_t b)
{
    const tl_detail *x = (const tl_detail *)rows + a, *y = (const tl_detail *)rows + b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth > y->depth ? -1 : 1;
    return TL_COMPARE(x->name, y->name);
}

static void keep_most(const tl_detail_rows *all, tl_details *details)
{
    uint32_t *order = tl_malloc((all->rows.n + 1) * sizeof *order);
    size_t kept = 0;

    for (size_t i = 0; i < all->rows.n; i++)
        order[i] = (uint32_t)i;
    tl_sort_index(order, all->rows.n, by_time, all->rows.v);
    for (size_t i = 0; i < all->rows.n; i++) {
        tl_detail row = all->rows.v[order[i]];
        const tl_detail *before = i > 0 ? &all->rows.v[order[i - 1]] : NULL;
        kept = before != NULL && before->kind == row.kind && before->step == row.step ? kept + 1 : 0;
        if (kept >= TL_DETAILS_MAX)
            continue;
        tl_text name = tl_names_text(all->view->names, row.name);
        row.name = tl_names_intern(&details->names, name.p, name.n);
        tl_vec_room(&details->rows);
        details->rows.v[details->rows.n++] = row;
    }
    free(order);
}

void tl_details_collect(const tl_rank_view *view, const tl_activity *activity, tl_details *details)
{
    tl_detail_rows rows = { .view = view };
    add_work(&rows);
    tl_detail_host(&rows, activity);
    keep_most(&rows, details);
    tl_map_free(&rows.index_of);
    free(rows.rows.v);
}

void tl_details_free(tl_details *details)
{
    free(details->rows.v);
    tl_names_free(&details->names);
    *details = (tl_details){ 0 };
}
