/* rows.c - collective moves of rows: all procs to proc 0, proc 0 to all, any proc to any. */
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/par/par.h"

/* ------------------------------------------------------------------------------------------------------------ share */

void tl_collect_rows(const void *rows, size_t n, size_t size, void **out, size_t *nout)
{
    tl_bytes all;
    tl_par_gather(rows, n * size, &all);
    memcpy(out, &all.v, sizeof all.v);
    *nout = all.n / size;
}

void tl_move_rows(void **rows, size_t *n, size_t size, tl_goal *goal, const void *context)
{
    void *moved = NULL;
    size_t nmoved = 0;
    if (tl_par_nprocs() == 1) /* rows stay */
        return;
    int32_t *to = tl_malloc((*n + 1) * sizeof *to);
    for (size_t i = 0; i < *n; i++)
        to[i] = goal((const char *)*rows + i * size, context);
    tl_par_shuffle(*rows, *n, size, to, &moved, &nmoved);
    free(to);
    free(*rows);
    *rows = moved;
    *n = nmoved;
}

void tl_collect_names(tl_names *names)
{
    tl_bytes texts = { 0 }, all;
    for (uint32_t i = 0; i < names->n; i++) {
        tl_text text = tl_names_text(names, i);
        tl_bytes_put_list(&texts, text.p, text.n, 1);
    }
    tl_par_gather(texts.v, texts.n, &all);
    while (all.at < all.n) {
        char *text;
        size_t n;
        tl_bytes_get_list(&all, (void **)&text, &n, 1);
        (void)tl_names_intern(names, text, n);
        free(text);
    }
    tl_bytes_free(&texts);
    tl_bytes_free(&all);
}

int32_t tl_to_first(const void *row, const void *context)
{
    (void)row;
    (void)context;
    return 0;
}

void tl_count_before(size_t n, size_t *before, size_t *total)
{
    size_t *all = NULL, nprocs = 0;
    tl_collect_rows(&n, 1, sizeof n, (void **)&all, &nprocs);
    tl_par_share((void **)&all, &nprocs, sizeof *all);
    *before = *total = 0;
    for (size_t p = 0; p < nprocs; p++) {
        *before += p < (size_t)tl_par_proc() ? all[p] : 0;
        *total += all[p];
    }
    free(all);
}

static void reduce(int64_t *values, size_t n, int64_t (*of)(int64_t a, int64_t b))
{
    int64_t *all = NULL;
    size_t nall = 0;

    if (tl_par_nprocs() == 1 || n == 0)
        return;
    tl_collect_rows(values, n, sizeof *values, (void **)&all, &nall);
    for (size_t i = n; i < nall; i++)
        all[i % n] = of(all[i % n], all[i]);
    if (nall > 0)
        memcpy(values, all, n * sizeof *values);
    free(all);
    tl_par_bcast(values, n * sizeof *values);
}

void tl_reduce_least(int64_t *values, size_t n)
{
    reduce(values, n, tl_ns_min);
}

void tl_reduce_sum(int64_t *values, size_t n)
{
    reduce(values, n, tl_ns_sum);
}

/* ----------------------------------------------------------------------------------------------------------- tables */

void tl_gather_tables(tl_tables *tables, tl_scope scope)
{
    tl_bytes mine = { 0 }, all = { 0 };

    for (size_t t = 0; tl_par_nprocs() > 1 && t < tables->n; t++) {
        tl_table *table = &tables->v[t];
        if (table->schema->scope != scope)
            continue;
        tl_bytes_put_list(&mine, table->rows, table->n, table->schema->row_size);
        table->n = 0;
    }
    if (tl_par_nprocs() > 1)
        tl_par_gather(mine.v, mine.n, &all);
    while (all.at < all.n) /* the messages of all procs, in order of procs */
        TL_EACH (tl_table, table, *tables) {
            size_t n;
            if (table->schema->scope != scope)
                continue;
            tl_bytes_get(&all, &n, sizeof n);
            const char *rows = all.v + all.at;
            tl_bytes_skip(&all, n * table->schema->row_size);
            tl_table_append(table, rows, n);
        }
    for (size_t t = 0; t < tables->n; t++)
        if (tables->v[t].schema->scope == scope)
            tl_table_sort(&tables->v[t]);
    free(mine.v);
    free(all.v);
}

/* ----------------------------------------------------------------------------------------------------------- graphs */

/* Appends a graph without nodes and edges.  Pauses have one extra element, the end of the last one. */
static void put_head(const tl_rank_graph *g, tl_bytes *out)
{
    static const tl_pause none;
    tl_bytes_put(out, &g->rank, sizeof g->rank);
    tl_bytes_put(out, &g->nnodes, sizeof g->nnodes);
    tl_bytes_put(out, &g->nedges, sizeof g->nedges);
    tl_bytes_put_list(out, g->comms, g->ncomms, sizeof *g->comms);
    tl_bytes_put_list(out, g->pauses != NULL ? g->pauses : &none, g->npauses + 1, sizeof *g->pauses);
    tl_bytes_put_list(out, g->releases, g->nreleases, sizeof *g->releases);
    tl_bytes_put_list(out, g->false_votes, g->nfalse, sizeof *g->false_votes);
}

static tl_rank_graph get_head(tl_bytes *in)
{
    tl_rank_graph g = { 0 };
    tl_bytes_get(in, &g.rank, sizeof g.rank);
    tl_bytes_get(in, &g.nnodes, sizeof g.nnodes);
    tl_bytes_get(in, &g.nedges, sizeof g.nedges);
    tl_bytes_get_list(in, (void **)&g.comms, &g.ncomms, sizeof *g.comms);
    tl_bytes_get_list(in, (void **)&g.pauses, &g.npauses, sizeof *g.pauses);
    tl_bytes_get_list(in, (void **)&g.releases, &g.nreleases, sizeof *g.releases);
    tl_bytes_get_list(in, (void **)&g.false_votes, &g.nfalse, sizeof *g.false_votes);
    g.npauses--;
    return g;
}

TL_SORT_BY(by_rank, tl_rank_graph, rank)

void tl_graph_heads_collect(const tl_rank_graphs *own, tl_rank_graphs *all)
{
    tl_bytes mine = { 0 }, messages = { 0 };

    TL_EACH (const tl_rank_graph, g, own->of)
        put_head(g, &mine);
    tl_par_gather(mine.v, mine.n, &messages);
    free(mine.v);
    while (messages.at < messages.n)
        tl_vec_push(&all->of, get_head(&messages));
    free(messages.v);
    if (all->of.n > 1)
        qsort(all->of.v, all->of.n, sizeof *all->of.v, by_rank);
}
