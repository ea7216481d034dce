/* work_class_map.c - a rank's work of each kind in each step. */
#include "tlmpi/analysis/verdict/baseline/work_class_map.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>

void tl_work_class_map_free(tl_work_class_map *f)
{
    free(f->steps);
    free(f->cut);
    free(f->cuts);
    free(f->comparable);
    free(f->kinds);
    free(f->as);
    tl_map_free(&f->kind_of);
    *f = (tl_work_class_map){ 0 };
}

uint32_t tl_segment_of(const tl_work_class_map *f, const tl_node *node)
{
    size_t step = tl_step_index(f->steps, f->nsteps, node->step);
    const tl_step_cut *c = &f->cuts[step];
    if (f->cut[step] || !f->comparable[step] || c->n == 0)
        return UINT32_MAX;
    uint32_t at = node->segment < c->first ? 0 : node->segment - c->first;
    return at < c->n ? at : c->n;
}

/* ------------------------------------------------------------------------------------------------------------ kinds */

/* Fills *kind with the kind of a node's work; false: the node has none. */
static bool work_of(const tl_work_class_map *f, const tl_node *node, tl_work_kind *kind)
{
    bool host = node->kind == TL_NODE_LAUNCH || node->kind == TL_NODE_WAIT_BEGIN || node->kind == TL_NODE_WAIT_END;
    if (host ? node->work_ns <= 0 : node->key == 0) /* device work of 0 ns is a piece as well */
        return false;
    bool copies = node->activity == TL_ACTIVITY_H2D || node->activity == TL_ACTIVITY_COPY;
    *kind = host ? (tl_work_kind){ tl_segment_of(f, node), TL_FAMILY_HOST, 0 }
                 : (tl_work_kind){ node->key, copies ? TL_FAMILY_COPY : TL_FAMILY_DEVICE,
                                   node->activity == TL_ACTIVITY_COMPUTE };
    return true;
}

uint32_t tl_kind_find(const tl_work_class_map *f, tl_work_kind kind)
{
    uint32_t number = tl_map_get(&f->kind_of, tl_hash_mix(kind.family + 1, kind.key)); /* TL_MAP_NONE is TL_NONE */
    return f->as != NULL && number != TL_NONE ? f->as[number] : number;
}

void tl_kinds_merge(tl_work_class_map *f, const uint64_t *keys)
{
    uint32_t *as = tl_malloc((f->nkinds + 1) * sizeof *as);
    for (uint32_t k = 0; k < f->nkinds; k++) {
        const tl_work_kind like = { keys[k], f->kinds[k].family, 0 };
        as[k] = tl_kind_find(f, like);
        if (as[k] != TL_NONE)
            continue;
        as[k] = k;
        tl_map_put(&f->kind_of, tl_hash_mix(like.family + 1, like.key), k);
    }
    f->as = as;
}

uint32_t tl_kind_of(const tl_work_class_map *f, const tl_node *node)
{
    tl_work_kind kind;
    return work_of(f, node, &kind) ? tl_kind_find(f, kind) : TL_NONE;
}

/* Returns the kind of a wait, by activity: for the device within a call, for the device without a recorded call, for
 * memory, for a copy. */
static tl_work_kind wait_of(const tl_work_class_map *f, const tl_node *node)
{
    return (tl_work_kind){ (uint64_t)node->activity << 32 | tl_segment_of(f, node), TL_FAMILY_WAIT, 0 };
}

uint32_t tl_kind_of_wait(const tl_work_class_map *f, const tl_node *node)
{
    return tl_kind_find(f, wait_of(f, node));
}

/* ------------------------------------------------------------------------------------------------------------ cells */

typedef struct filling {
    tl_work_class_map *f;
    TL_VEC(tl_work_cell) cells; /* in order of first appearance */
    tl_map cell_of;             /* by kind and step */
    uint32_t *newest;           /* by kind: its latest cell */
    size_t room;
    int64_t compute_ns;
} filling;

/* Returns the number of a kind, adding it if it is new. */
static uint32_t kind_number(filling *c, tl_work_kind kind)
{
    tl_work_class_map *f = c->f;
    uint32_t number = tl_kind_find(f, kind);
    if (number < c->room) /* not TL_NONE */
        return number;
    number = (uint32_t)f->nkinds;
    tl_grow((void **)&f->kinds, &f->kind_room, f->nkinds + 1, sizeof *f->kinds);
    tl_grow((void **)&c->newest, &c->room, f->nkinds + 1, sizeof *c->newest);
    tl_map_put(&f->kind_of, tl_hash_mix(kind.family + 1, kind.key), number);
    c->newest[number] = TL_NONE;
    f->kinds[f->nkinds++] = kind;
    return number;
}

static void add_to_cell(filling *c, tl_work_kind of, size_t step, int64_t ns, uint16_t blocks)
{
    uint32_t kind = kind_number(c, of);
    uint32_t cell = c->newest[kind];
    if (cell == TL_NONE || c->cells.v[cell].step != step) {
        uint64_t key = kind * c->f->nsteps + step;
        cell = tl_map_number(&c->cell_of, key, c->cells.n);
        if (cell == c->cells.n)
            tl_vec_push(&c->cells, (tl_work_cell){ 0, 0, kind, (uint32_t)step, 0 });
        c->newest[kind] = cell;
    }
    tl_work_cell *all = &c->cells.v[cell];
    all->ns += ns;
    all->blocks = blocks > 0 && all->blocks >= 0 ? all->blocks + tl_blocks_of(blocks) : -1;
    all->pieces++;
}

void tl_cells_answer(const tl_open_rank *rank, tl_work_class_map *f, tl_bytes *in, tl_bytes *out)
{
    filling c = { .f = f };
    size_t n;
    tl_work_class_map_free(f);
    tl_bytes_get_list(in, (void **)&f->steps, &f->nsteps, sizeof *f->steps);
    tl_bytes_get_list(in, (void **)&f->cut, &n, sizeof *f->cut);
    tl_bytes_get_list(in, (void **)&f->cuts, &n, sizeof *f->cuts);
    tl_bytes_get_list(in, (void **)&f->comparable, &n, sizeof *f->comparable);
    for (uint32_t v = 0; v < rank->n; v++) {
        const tl_node *node = &rank->nodes[v];
        int64_t waited_ns = tl_waited_ns(rank, v);
        size_t step = tl_step_index(f->steps, f->nsteps, node->step);
        tl_work_kind kind;
        c.compute_ns += tl_computes(f, node) ? node->work_ns : 0;
        f->nhost_pieces += tl_is_host_piece(node);
        if (waited_ns >= 0)
            add_to_cell(&c, wait_of(f, node), step, waited_ns, 0);
        if (work_of(f, node, &kind))
            add_to_cell(&c, kind, step, node->work_ns, node->blocks);
    }
    tl_bytes_put(out, &c.compute_ns, sizeof c.compute_ns);
    tl_bytes_put_list(out, f->kinds, f->nkinds, sizeof *f->kinds);
    tl_bytes_put_list(out, c.cells.v, c.cells.n, sizeof *c.cells.v);
    free(c.cells.v);
    free(c.newest);
    tl_map_free(&c.cell_of);
}
