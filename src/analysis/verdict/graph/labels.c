/* labels.c - names of the work of each node, for selections of work and for a rank's path. */
#include "build.h"
#include <stdlib.h>
#include <string.h>

struct tl_labelling {
    const tl_graph_build *b;
    tl_node_labels *labels;
    tl_map number_of;
};

void tl_node_labels_free(tl_node_labels *labels)
{
    if (labels == NULL)
        return;
    tl_arena_free(&labels->arena);
    free(labels->list.v);
    free(labels);
}

static const char *text_of(tl_labelling *l, uint32_t name)
{
    if (name == TL_NO_NAME)
        return "";
    tl_text text = tl_names_text(l->b->view->names, name);
    char *copy = tl_arena_zeroed(&l->labels->arena, text.n + 1, 1);
    if (text.n > 0)
        memcpy(copy, text.p, text.n);
    return copy;
}

static uint64_t key_of(const tl_labelling *l, uint32_t name)
{
    return name != TL_NO_NAME ? l->b->view->names->v[name].key : 0;
}

void tl_graph_label(tl_labelling *l, uint32_t begin, uint32_t end, uint32_t name, uint32_t operator_name,
                    uint32_t annotation, tl_node_label label)
{
    uint64_t what = tl_hash_mix(label.kind, label.collective);
    uint64_t where = (uint64_t)(uint32_t)label.names.device << 32 | (uint32_t)label.names.stream;
    uint64_t names = tl_hash_mix((uint64_t)name << 32 | operator_name, annotation);
    uint64_t key = tl_hash_mix(tl_hash_mix(names, what), where);
    uint32_t number = tl_map_number(&l->number_of, key, l->labels->list.n);
    if (number == l->labels->list.n) {
        label.names.name = key_of(l, name);
        label.names.operator= key_of(l, operator_name);
        label.names.annotation = key_of(l, annotation);
        label.name = text_of(l, name);
        label.operator_name = text_of(l, operator_name);
        label.annotation = text_of(l, annotation);
        tl_vec_push(&l->labels->list, label);
    }
    l->labels->of[begin] = l->labels->of[end] = number;
}

/* Kernels are labelled from the last to the first, so a launch gets the label of the first kernel that it launches. */
tl_node_labels *tl_graph_labels_of(const tl_graph_build *b, const tl_graph_hosts *hosts)
{
    const tl_rank_view *view = b->view;
    tl_labelling l = { .b = b, .labels = tl_calloc(1, sizeof *l.labels) };
    l.labels->of = tl_arena_take(&l.labels->arena, b->nodes.n, sizeof *l.labels->of);
    for (size_t v = 0; v < b->nodes.n; v++)
        l.labels->of[v] = TL_NONE;
    tl_graph_label_waits(hosts, &l);
    for (size_t turn = view->nkernels; turn-- > 0;) {
        const tl_graph_kernel *p = &b->placed[b->by_turn[turn]];
        const tl_kernel *k = &view->kernels[b->by_turn[turn]];
        const tl_launch *launch = k->launch != TL_NONE ? &view->launches[k->launch] : NULL;
        tl_graph_label(&l, p->start, p->end, k->name, launch != NULL ? launch->op_name : TL_NO_NAME,
                       launch != NULL ? launch->annotation_name : TL_NO_NAME,
                       (tl_node_label){ .names = { .device = k->device, .stream = k->stream },
                                        .kind = k->kind,
                                        .collective = k->kind == TL_COMM ? view->colls[k->coll].kind : TL_COLL_NONE });
        if (p->launch != TL_NONE && b->launched[p->launch] != TL_NONE)
            l.labels->of[b->launched[p->launch]] = l.labels->of[p->start];
    }
    tl_map_free(&l.number_of);
    return l.labels;
}
