/* find.c - occurrences of an operator, made patterns. */
#include "find.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>

#define NONE UINT32_MAX

/* A row of the operator, with its kernels. */
typedef struct occurrence {
    uint32_t at;      /* position of the row */
    uint32_t pattern; /* number in `found` */
} occurrence;

typedef struct finding {
    const tl_hta_graph *graph;
    tl_hta_patterns *out;
    uint32_t *of; /* of a row at its position: the occurrence that it is in */
    TL_VEC(occurrence) occurrences;
    uint32_t *kernels; /* positions */
    size_t nkernels;
    uint32_t *names; /* their symbols, in the order of the patterns' texts */
    TL_VEC(tl_hta_pattern) found;
} finding;

/* ---------------------------------------------------------------------------------------------------- occurrences */

/* Whether the symbol has the operator's name in it: each is looked at once, where a row has it. */
static bool has_op(uint8_t *known, const tl_hta_symbols *symbols, uint32_t name, const char *op)
{
    enum { UNKNOWN, NO, YES };
    if (known[name] == UNKNOWN)
        known[name] = tl_text_has(tl_names_text(&symbols->texts, name), op) ? YES : NO;
    return known[name] == YES;
}

static bool is_root(const tl_hta_node *node, int32_t depth, uint32_t min_kernels)
{
    return node->depth == depth && node->nkernels >= min_kernels;
}

/* Gives the row its occurrence: that of what it stands in, or a new one. */
static void take_row(finding *f, uint32_t at, bool root)
{
    uint32_t parent = f->graph->node[at].parent;

    if (parent != TL_HTA_TOP && f->of[parent] != NONE) {
        f->of[at] = f->of[parent];
    } else if (root) {
        f->of[at] = (uint32_t)f->occurrences.n;
        tl_vec_push(&f->occurrences, (occurrence){ .at = at });
    }
}

static void find_occurrences(finding *f, const char *op, uint32_t min_kernels)
{
    const tl_hta_graph *g = f->graph;
    const tl_hta_row *rows = g->frame->rows.v;
    int32_t depth = INT32_MAX;
    uint8_t *known = tl_calloc(f->out->symbols->v.n, sizeof *known);

    for (size_t i = 0; i < g->frame->rows.n; i++) {
        f->of[i] = NONE;
        if (g->node[i].depth < depth && has_op(known, f->out->symbols, rows[i].name, op))
            depth = g->node[i].depth;
    }
    for (size_t i = 0; i < g->nopened && depth >= 0; i++) { /* below 0 the shallowest candidate launches nothing */
        uint32_t at = g->opened[i];
        take_row(f, at, is_root(&g->node[at], depth, min_kernels) && has_op(known, f->out->symbols, rows[at].name, op));
    }
    for (uint32_t i = 0; i < g->frame->rows.n && depth >= 0; i++)
        if (g->node[i].depth >= 0 && tl_hta_on_stream(&rows[i])) {
            take_row(f, i,
                     is_root(&g->node[i], depth, min_kernels) && has_op(known, f->out->symbols, rows[i].name, op));
            if (f->of[i] != NONE)
                f->kernels[f->nkernels++] = i;
        }
    free(known);
}

static int by_occurrence(const void *context, uint32_t a, uint32_t b)
{
    const finding *f = context;
    const tl_hta_row *x = &f->graph->frame->rows.v[a], *y = &f->graph->frame->rows.v[b];
    return f->of[a] != f->of[b] ? TL_COMPARE(f->of[a], f->of[b])
           : x->ts != y->ts     ? TL_COMPARE(x->ts, y->ts)
                                : TL_COMPARE(x->index, y->index);
}

/* ------------------------------------------------------------------------------------------------------- patterns */

static bool is_same(const tl_hta_pattern *a, const tl_hta_pattern *b)
{
    return a->name == b->name && a->nkernels == b->nkernels &&
           (a->nkernels == 0 || memcmp(a->kernels, b->kernels, a->nkernels * sizeof *a->kernels) == 0);
}

/* The number of the pattern of an occurrence among those found so far, or as a new one.  A sequence whose hash is
 * another's looks at the places after that hash. */
static uint32_t number_of(finding *f, tl_map *map, const tl_hta_pattern *pattern)
{
    uint64_t hash = tl_hash_mix(0, pattern->name);

    for (size_t i = 0; i < pattern->nkernels; i++)
        hash = tl_hash_mix(hash, pattern->kernels[i]);
    for (;; hash++) {
        uint32_t number = tl_map_get(map, hash);
        if (number == TL_MAP_NONE) {
            number = (uint32_t)f->found.n;
            tl_map_put(map, hash, number);
            tl_vec_push(&f->found, *pattern);
        }
        if (is_same(&f->found.v[number], pattern))
            return number;
    }
}

static void count_patterns(finding *f)
{
    const tl_hta_row *rows = f->graph->frame->rows.v;
    tl_map map = { 0 };

    for (size_t i = 0; i < f->nkernels; i++)
        f->names[i] = rows[f->kernels[i]].name;
    for (size_t i = 0, k = 0; i < f->occurrences.n; i++) {
        occurrence *o = &f->occurrences.v[i];
        size_t from = k;
        while (k < f->nkernels && f->of[f->kernels[k]] == i)
            k++;
        const tl_hta_pattern p = { .name = rows[o->at].name, .kernels = f->names + from, .nkernels = k - from };
        o->pattern = number_of(f, &map, &p);
        f->found.v[o->pattern].count++;
        f->found.v[o->pattern].kernel_dur_sum += f->graph->node[o->at].kernel_dur_sum;
        f->found.v[o->pattern].dur += rows[o->at].dur;
    }
    tl_map_free(&map);
}

/* Piece k of the text of a pattern: a name, or the bar between two. */
static tl_text piece_of(const finding *f, const tl_hta_pattern *p, size_t k)
{
    if (k % 2 == 1)
        return TL_TEXT("|");
    return tl_names_text(&f->out->symbols->texts, k == 0 ? p->name : p->kernels[k / 2 - 1]);
}

static int by_text(const void *context, uint32_t a, uint32_t b)
{
    const finding *f = context;
    const tl_hta_pattern *x = &f->found.v[a], *y = &f->found.v[b];
    size_t nx = 1 + 2 * x->nkernels, ny = 1 + 2 * y->nkernels, i = 0, j = 0;
    tl_text s = piece_of(f, x, 0), t = piece_of(f, y, 0);

    for (;;) {
        size_t n = s.n < t.n ? s.n : t.n;
        int order = n > 0 && s.p != t.p ? memcmp(s.p, t.p, n) : 0;
        if (order != 0)
            return order;
        s = (tl_text){ s.p + n, s.n - n };
        t = (tl_text){ t.p + n, t.n - n };
        while (s.n == 0 && ++i < nx)
            s = piece_of(f, x, i);
        while (t.n == 0 && ++j < ny)
            t = piece_of(f, y, j);
        if (i >= nx || j >= ny)
            return (j >= ny) - (i >= nx);
    }
}

static int by_count(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_pattern *found = ((const finding *)context)->found.v;
    return TL_COMPARE(found[b].count, found[a].count);
}

/* Makes one of those whose texts are equal, for names may have bars in them, puts them in order and counts the rows that
 * are in the first few. */
static void merge_equal_texts(finding *f, size_t top)
{
    tl_hta_patterns *out = f->out;
    size_t n = 0;
    uint32_t *order = tl_sorted_index(f->found.n, by_text, f);
    uint32_t *same = tl_malloc(f->found.n * sizeof *same); /* which pattern it has become */
    bool *first = tl_calloc(f->found.n, sizeof *first);

    for (size_t i = 0; i < f->found.n; i++) {
        tl_hta_pattern *p = &f->found.v[order[i]];
        if (n > 0 && by_text(f, order[n - 1], order[i]) == 0) {
            tl_hta_pattern *into = &f->found.v[order[n - 1]];
            into->count += p->count;
            into->kernel_dur_sum += p->kernel_dur_sum;
            into->dur += p->dur;
            same[order[i]] = order[n - 1];
        } else {
            same[order[i]] = order[i];
            order[n++] = order[i];
        }
    }
    (void)tl_sort_index(order, n, by_count, f);
    out->v = tl_malloc(n * sizeof *out->v);
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        out->v[i] = f->found.v[order[i]];
        first[order[i]] = i < top;
    }
    for (size_t i = 0; i < f->graph->frame->rows.n; i++)
        if (f->of[i] != NONE)
            out->marked += first[same[f->occurrences.v[f->of[i]].pattern]];
    free(order);
    free(same);
    free(first);
}

tl_hta_patterns tl_hta_patterns_find(const tl_hta_graph *graph, const tl_hta_symbols *symbols, const char *op,
                                     uint32_t min_kernels, size_t top)
{
    size_t n = graph->frame->rows.n;
    tl_hta_patterns patterns = { .symbols = symbols };
    finding f = { .graph = graph, .out = &patterns };

    f.of = tl_malloc(n * sizeof *f.of);
    f.kernels = tl_malloc(n * sizeof *f.kernels);
    find_occurrences(&f, op, min_kernels);
    f.names = patterns.kernels = tl_malloc(f.nkernels * sizeof *f.names);
    (void)tl_sort_index(f.kernels, f.nkernels, by_occurrence, &f);
    count_patterns(&f);
    merge_equal_texts(&f, top);
    free(f.of);
    free(f.kernels);
    free(f.occurrences.v);
    free(f.found.v);
    return patterns;
}

void tl_hta_patterns_free(tl_hta_patterns *patterns)
{
    free(patterns->v);
    free(patterns->kernels);
}
