/* nest.c - sorting the edges of rows, and the sweep over them. */
#include "nest.h"
#include "tlmpi/base/sort.h"

/* In the order in which they stand at one time. */
enum { END, START, EMPTY };

/* Row at[k] has edge 2k, its start, and 2k + 1, its end; of a row of no length the first stands for both. */
typedef struct edges {
    const tl_hta_nest *nest;
    const uint32_t *at;
    uint32_t *v;
    size_t n;
} edges;

static const tl_hta_row *row_of(const edges *e, uint32_t edge)
{
    return &e->nest->rows[e->at[edge / 2]];
}

static double length_of(const edges *e, const tl_hta_row *row)
{
    return row->dur < 0 && e->nest->way == TL_HTA_SIBLINGS ? 0 : row->dur;
}

static int kind_of(const edges *e, uint32_t edge)
{
    return edge % 2 == 1 ? END : length_of(e, row_of(e, edge)) == 0 ? EMPTY : START;
}

static double time_of(const edges *e, uint32_t edge)
{
    const tl_hta_row *row = row_of(e, edge);
    return edge % 2 == 1 ? row->ts + row->dur : row->ts;
}

static int compare(const void *context, uint32_t a, uint32_t b)
{
    const edges *e = context;
    const tl_hta_row *x = row_of(e, a), *y = row_of(e, b);
    int kind = kind_of(e, a), order = TL_COMPARE(time_of(e, a), time_of(e, b));

    if (order == 0)
        order = TL_COMPARE(kind, kind_of(e, b));
    if (order == 0)
        order = kind == END ? TL_COMPARE(x->dur, y->dur) : kind == START ? TL_COMPARE(y->dur, x->dur) : 0;
    if (order == 0)
        order = kind == END ? TL_COMPARE(y->index, x->index) : TL_COMPARE(x->index, y->index);
    return order;
}

typedef struct sweep {
    tl_hta_nest *nest;
    const edges *edges;
    uint32_t *stack;
    size_t n;
} sweep;

static void open_row(sweep *s, uint32_t edge)
{
    uint32_t at = s->edges->at[edge / 2];

    s->nest->parent[at] = s->n > 0 ? s->stack[s->n - 1] : TL_HTA_TOP;
    s->nest->opened[s->nest->nopened++] = at;
    s->stack[s->n++] = at;
}

static void close_rows(sweep *s, size_t n)
{
    s->n -= n < s->n ? n : s->n;
}

static void open_empty_rows(sweep *s, size_t from, size_t to)
{
    size_t depth = s->n;
    for (size_t i = from; i < to; i++) {
        open_row(s, s->edges->v[i]);
        if (s->nest->way == TL_HTA_SIBLINGS)
            s->n = depth;
    }
    s->n = depth;
}

/* The edges of one time: ends in [from, starts), starts in [starts, empty), rows of no length in [empty, to). */
static void sweep_time(sweep *s, size_t from, size_t starts, size_t empty, size_t to)
{
    bool first = from < starts;

    if (first)
        open_empty_rows(s, empty, to);
    close_rows(s, starts - from);
    for (size_t i = starts; i < empty; i++)
        open_row(s, s->edges->v[i]);
    if (!first)
        open_empty_rows(s, empty, to);
}

/* Whether a row of no length meets one below 0 there. */
static void look_for_clash(sweep *s, size_t from, size_t empty, size_t to)
{
    if (s->nest->way == TL_HTA_SIBLINGS || empty == to)
        return;
    for (size_t i = from; i < empty && !s->nest->clash; i++)
        if (row_of(s->edges, s->edges->v[i])->dur < 0) {
            s->nest->clash = true;
            s->nest->clash_of = row_of(s->edges, s->edges->v[empty])->index;
            s->nest->clash_with = row_of(s->edges, s->edges->v[i])->index;
        }
}

static void sweep_all(sweep *s)
{
    const edges *e = s->edges;

    for (size_t from = 0, to; from < e->n; from = to) {
        size_t count[EMPTY + 1] = { 0 };
        double now = time_of(e, e->v[from]);
        for (to = from; to < e->n && time_of(e, e->v[to]) == now; to++)
            count[kind_of(e, e->v[to])]++;
        size_t starts = from + count[END], empty = starts + count[START];
        look_for_clash(s, from, empty, to);
        sweep_time(s, from, starts, empty, to);
    }
}

bool tl_hta_nest_rows(tl_hta_nest *nest, const uint32_t *at, size_t n)
{
    tl_arena arena = { 0 };
    edges e = { .nest = nest, .at = at };
    sweep s = { .nest = nest, .edges = &e };

    e.v = tl_arena_take(&arena, 2 * n, sizeof *e.v);
    s.stack = tl_arena_take(&arena, n, sizeof *s.stack);
    bool ok = !arena.failed && n < UINT32_MAX / 2;
    if (ok) {
        /* All starts, then all ends: two stretches that are nearly in order. */
        for (size_t k = 0; k < n; k++)
            e.v[e.n++] = (uint32_t)(2 * k);
        for (size_t k = 0; k < n; k++)
            if (length_of(&e, &nest->rows[at[k]]) != 0)
                e.v[e.n++] = (uint32_t)(2 * k + 1);
        ok = tl_sort_index(e.v, e.n, compare, &e);
    }
    if (ok)
        sweep_all(&s);
    tl_arena_free(&arena);
    return ok;
}
