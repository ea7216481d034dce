/* changes.c - a rank opened to be changed. */
#include "tlmpi/analysis/replay.h"
#include "tlmpi/base/mem.h"
#include <string.h>

static void make_room(tl_changes *c)
{
    size_t n = c->open.n + (size_t)1;
    if (n <= c->room)
        return;
    tl_arena_free(&c->arena);
    c->room = n;
    c->kind_of = tl_arena_take(&c->arena, n, sizeof *c->kind_of);
    c->step_of = tl_arena_take(&c->arena, n, sizeof *c->step_of);
    c->baseline_ns = tl_arena_take(&c->arena, n, sizeof *c->baseline_ns);
    c->less_ns = tl_arena_take(&c->arena, n, sizeof *c->less_ns);
    c->gone = tl_arena_take(&c->arena, n, sizeof *c->gone);
    c->order = tl_arena_take(&c->arena, n, sizeof *c->order);
    c->at = tl_arena_take(&c->arena, n, sizeof *c->at);
}

void tl_changes_reset(tl_changes *c)
{
    memset(c->less_ns, 0, c->open.n * sizeof *c->less_ns);
    memset(c->gone, 0, c->open.n * sizeof *c->gone);
}

void tl_changes_open(const tl_open_rank *rank, const tl_frame *frame, tl_changes *c)
{
    c->frame = frame;
    c->compared = c->laid_out = false;
    tl_net_free(&c->net);
    c->open = *rank;
    make_room(c);
    for (uint32_t v = 0; v < c->open.n; v++) {
        bool same = v > 0 && c->open.nodes[v].step == c->open.nodes[v - 1].step;
        c->step_of[v] =
            same ? c->step_of[v - 1] : (uint32_t)tl_step_index(frame->steps, frame->nsteps, c->open.nodes[v].step);
    }
    tl_changes_reset(c);
}

/* The kind of the last node of each key, by some of the key's bits: few kernels run again and again. */
enum { CACHED = 256 };

typedef struct cache {
    uint64_t key[CACHED];
    uint32_t kind_of[CACHED];
} cache;

static uint32_t kind_of(const tl_changes *c, cache *known, uint32_t v)
{
    const tl_node *node = &c->open.nodes[v];
    size_t at = node->key % CACHED;
    if (node->kind != TL_NODE_WORK || node->key == 0)
        return tl_kind_of(c->frame, node);
    if (known->key[at] != node->key) {
        known->key[at] = node->key;
        known->kind_of[at] = tl_kind_of(c->frame, node);
    }
    return known->kind_of[at];
}

void tl_changes_compare(tl_changes *c)
{
    const int64_t *baseline_ns = c->frame->baseline_ns;
    cache known = { .key = { 0 } };
    for (uint32_t v = 0; v < c->open.n && !c->compared; v++) {
        c->kind_of[v] = kind_of(c, &known, v);
        c->baseline_ns[v] = baseline_ns != NULL && tl_is_host_piece(&c->open.nodes[v]) ? *baseline_ns++ : 0;
    }
    c->compared = true;
}

void tl_changes_free(tl_changes *c)
{
    tl_arena_free(&c->arena);
    tl_net_free(&c->net);
    *c = (tl_changes){ 0 };
}
