/* labels.c - what each piece of device work is called, for those who select some of it. */
#include "build.h"
#include <stdlib.h>
#include <string.h>

void tl_work_labels_free(tl_work_labels *labels)
{
    if (labels == NULL)
        return;
    tl_arena_free(&labels->arena);
    free(labels->list.v);
    free(labels);
}

static const char *copy_name(tl_work_labels *labels, const tl_rank_view *view, uint32_t name)
{
    if (name == TL_NO_NAME)
        return "";
    tl_text text = tl_names_text(view->names, name);
    char *copy = tl_arena_zeroed(&labels->arena, text.n + 1, 1);
    if (text.n > 0)
        memcpy(copy, text.p, text.n);
    return copy;
}

/* Returns the number of the kernel's label. */
static uint32_t label_of(tl_work_labels *labels, const tl_rank_view *view, const tl_kernel *k, tl_map *number_of)
{
    const tl_launch *launch = k->launch != TL_NONE ? &view->launches[k->launch] : NULL;
    uint32_t operator_name = launch != NULL ? launch->op_name : TL_NO_NAME;
    uint32_t annotation = launch != NULL ? launch->annotation_name : TL_NO_NAME;
    uint8_t collective = k->kind == TL_COMM ? view->colls[k->coll].kind : TL_COLL_NONE;
    uint64_t names = tl_hash_mix((uint64_t)k->name << 32 | operator_name, annotation);
    uint64_t key = tl_hash_mix(tl_hash_mix(names, k->kind), collective);
    uint32_t number = tl_map_get(number_of, key);
    if (number != TL_MAP_NONE)
        return number;
    number = (uint32_t)labels->list.n;
    tl_map_put(number_of, key, number);
    tl_vec_push(&labels->list, (tl_work_label){ .name = copy_name(labels, view, k->name),
                                                .operator_name = copy_name(labels, view, operator_name),
                                                .annotation = copy_name(labels, view, annotation),
                                                .kind = k->kind,
                                                .collective = collective });
    return number;
}

/* The nodes of work stand in the order of the view's kernels (rank.c): a WORK, or an ARRIVAL and its END, for each. */
void tl_rank_graph_label(tl_rank_graph *graph, const tl_rank_view *view)
{
    tl_work_labels *labels = tl_calloc(1, sizeof *labels);
    tl_map number_of = { 0 };
    size_t kernel = 0;
    labels->of = tl_arena_take(&labels->arena, graph->nnodes, sizeof *labels->of);
    for (size_t v = 0; v < graph->nnodes; v++) {
        bool is_work = graph->nodes[v].kind == TL_NODE_WORK || graph->nodes[v].kind == TL_NODE_END;
        labels->of[v] = is_work ? label_of(labels, view, &view->kernels[kernel++], &number_of) : TL_NONE;
    }
    tl_map_free(&number_of);
    graph->labels = labels;
}
