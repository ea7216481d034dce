/* coll.c - collective kernels: finding, packing and matching them; cells that all tables of collectives share; the
 * tables of single kernels and of sums by rank and kind.
 */
#include "lens.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

void tl_colls_free(tl_colls *colls)
{
    free(colls->rows.v);
    free(colls->by_collective);
    free(colls->first);
    tl_names_free(&colls->texts);
    *colls = (tl_colls){ 0 };
}

/* ------------------------------------------------------------------------------------------------------ travelling */

/* Pointers to the text ids of a row. */
#define TEXTS(row)                                                                                                     \
    {                                                                                                                  \
        &(row)->group, &(row)->ranks, &(row)->name, &(row)->dtype, &(row)->in_split, &(row)->out_split                 \
    }

static bool is_collective(const tl_lens *lens, uint32_t i)
{
    const tl_more *more = &lens->words->more[i];
    return lens->set[i] == TL_LENS_KERNEL && tl_lens_is_gpu(lens, i) && (tl_lens_says(lens, i) & TL_LENS_COMM) &&
           (more->correlation != TL_REF_NONE || more->external_id != TL_REF_NONE);
}

/* Returns the row of an event, with text ids of the trace's names. */
static tl_coll_row row_of(const tl_lens *lens, uint32_t i)
{
    static const tl_coll_args none = { .group_size = -1,
                                       .in_nelems = -1,
                                       .out_nelems = -1,
                                       .pg_name = TL_NO_NAME,
                                       .pg_ranks = TL_NO_NAME,
                                       .name = TL_NO_NAME,
                                       .dtype = TL_NO_NAME,
                                       .in_split = TL_NO_NAME,
                                       .out_split = TL_NO_NAME };
    const tl_events *e = lens->e;
    const tl_coll_args *args = tl_events_coll(e, i) != NULL ? tl_events_coll(e, i) : &none;
    const tl_lane *lane = tl_event_lane(e, i);
    return (tl_coll_row){ .ts = tl_lens_ts(lens, i),
                          .dur = tl_lens_dur(lens, i),
                          .group_size = args->group_size >= 0 ? args->group_size : TL_COLL_NO_NUMBER,
                          .in_nelems = args->in_nelems >= 0 ? args->in_nelems : TL_COLL_NO_NUMBER,
                          .out_nelems = args->out_nelems >= 0 ? args->out_nelems : TL_COLL_NO_NUMBER,
                          .stream = lane->stream == TL_LANE_ABSENT ? TL_COLL_NO_NUMBER : lane->stream,
                          .group = args->pg_name,
                          .ranks = args->pg_ranks,
                          .name = args->name,
                          .dtype = args->dtype,
                          .in_split = args->in_split,
                          .out_split = args->out_split };
}

static uint32_t intern(tl_names *texts, tl_text text)
{
    return tl_names_intern(texts, text.p, text.n);
}

/* A custom all-reduce has no args, so its kernel's name gives the collective's name; other names are not parsed. */
void tl_colls_pack(const tl_lens *lens, tl_bytes *out)
{
    TL_VEC(tl_coll_row) rows = { 0 };
    tl_names texts = { 0 };

    for (uint32_t i = 0; i < lens->e->n; i++) {
        if (!is_collective(lens, i))
            continue;
        tl_coll_row row = row_of(lens, i);
        uint32_t *ids[] = TEXTS(&row);
        for (size_t k = 0; k < sizeof ids / sizeof ids[0]; k++)
            if (*ids[k] != TL_NO_NAME)
                *ids[k] = intern(&texts, tl_names_text(&lens->e->names, *ids[k]));
        if (row.name == TL_NO_NAME && (tl_lens_says(lens, i) & TL_LENS_CUSTOM_REDUCE))
            row.name = intern(&texts, TL_TEXT("allreduce"));
        tl_vec_push(&rows, row);
    }
    tl_bytes_put_list(out, rows.v, rows.n, sizeof *rows.v);
    tl_bytes_put(out, &texts.n, sizeof texts.n);
    for (uint32_t i = 0; i < texts.n; i++)
        tl_bytes_put_list(out, tl_names_text(&texts, i).p, tl_names_text(&texts, i).n, 1);
    tl_names_free(&texts);
    free(rows.v);
}

void tl_colls_unpack(tl_colls *colls, int64_t rank, tl_bytes *share)
{
    const size_t before = colls->rows.n;
    tl_coll_row *rows;
    size_t nrows, ntexts;

    tl_bytes_get_list(share, (void **)&rows, &nrows, sizeof *rows);
    tl_bytes_get(share, &ntexts, sizeof ntexts);
    uint32_t *id = tl_malloc(ntexts * sizeof *id);
    for (size_t i = 0; i < ntexts; i++) {
        tl_text text;
        tl_bytes_get(share, &text.n, sizeof text.n);
        tl_bytes_skip(share, text.n);
        text.p = share->v + share->at - text.n;
        id[i] = intern(&colls->texts, text);
    }
    tl_grow((void **)&colls->rows.v, &colls->rows.cap, before + nrows, sizeof *rows);
    for (size_t i = 0; i < nrows; i++) {
        uint32_t *ids[] = TEXTS(&rows[i]);
        for (size_t k = 0; k < sizeof ids / sizeof ids[0]; k++)
            *ids[k] = *ids[k] != TL_NO_NAME ? id[*ids[k]] : TL_NO_NAME;
        rows[i].rank = rank;
        colls->rows.v[colls->rows.n++] = rows[i];
    }
    free(id);
    free(rows);
}

/* -------------------------------------------------------------------------------------------------------- matching */

TL_SORT_BY(by_rank, tl_coll_row, rank)
TL_ORDER_BY(by_rank_group_and_time, tl_coll_row, rank, group, ts)

/* Whether no row of any rank has a group and each rank's rows lie on one stream. */
static bool is_plain(const tl_colls *colls, uint32_t unknown)
{
    int64_t stream = TL_COLL_NO_NUMBER;

    for (size_t i = 0; i < colls->rows.n; i++) {
        const tl_coll_row *row = &colls->rows.v[i];
        if (row->group != TL_NO_NAME && row->group != unknown)
            return false;
        if (i == 0 || row->rank != row[-1].rank)
            stream = TL_COLL_NO_NUMBER;
        if (row->stream == TL_COLL_NO_NUMBER)
            continue;
        if (stream != TL_COLL_NO_NUMBER && row->stream != stream)
            return false;
        stream = row->stream;
    }
    return true;
}

static void name_groups(tl_colls *colls)
{
    uint32_t unknown = intern(&colls->texts, TL_TEXT("Unknown_Group")), all = intern(&colls->texts, TL_TEXT("all"));

    colls->plain = is_plain(colls, unknown);
    TL_EACH (tl_coll_row, row, colls->rows) {
        if (colls->plain)
            row->group = all;
        else if (tl_names_text(&colls->texts, row->group).n == 0)
            row->group = unknown;
    }
}

/* Numbers the collectives and groups the rows by collective. */
static void group_by_collective(tl_colls *colls)
{
    tl_map known = { 0 };
    uint32_t *collective_of = tl_malloc(colls->rows.n * sizeof *collective_of);

    TL_EACH (tl_coll_row, row, colls->rows) {
        uint64_t key = (uint64_t)row->group << 32 | row->index;
        uint32_t *collective = &collective_of[row - colls->rows.v];
        *collective = tl_map_number(&known, key, colls->ncollectives);
        colls->ncollectives += *collective == colls->ncollectives;
    }
    colls->first = tl_malloc((colls->ncollectives + 1) * sizeof *colls->first);
    colls->by_collective = tl_malloc(colls->rows.n * sizeof *colls->by_collective);
    tl_group_rows(collective_of, colls->rows.n, colls->ncollectives, colls->first, colls->by_collective);
    tl_map_free(&known);
    free(collective_of);
}

void tl_colls_match(tl_colls *colls)
{
    tl_vec_sort(&colls->rows, by_rank); /* stable: rows of one rank stay in file order */
    name_groups(colls);
    uint32_t *order = tl_sorted_index(colls->rows.n, by_rank_group_and_time, colls->rows.v);
    for (size_t i = 0; i < colls->rows.n; i++) {
        tl_coll_row *row = &colls->rows.v[order[i]];
        const tl_coll_row *last = i > 0 ? &colls->rows.v[order[i - 1]] : NULL;
        row->index = last != NULL && last->rank == row->rank && last->group == row->group ? last->index + 1 : 0;
    }
    free(order);
    group_by_collective(colls);
}

/* -------------------------------------------------------------------------------------------------- cells of a row */

double tl_coll_mb(const tl_colls *colls, const tl_coll_row *row, int64_t nelems)
{
    static const struct {
        const char *dtype;
        int bytes;
    } known[] = {
        { "Float", 4 }, { "Int", 4 },    { "Long", 8 }, { "BFloat16", 2 }, { "Bool", 1 },
        { "Byte", 1 },  { "Double", 8 }, { "Half", 2 }, { "Short", 2 },
    };

    for (size_t i = 0; row->dtype != TL_NO_NAME && nelems != TL_COLL_NO_NUMBER && i < sizeof known / sizeof known[0];
         i++)
        if (tl_text_is(tl_names_text(&colls->texts, row->dtype), known[i].dtype))
            return (double)nelems * known[i].bytes / (1024 * 1024);
    return NAN;
}

void tl_coll_put_id(tl_csv *csv, const tl_colls *colls, const tl_coll_row *row)
{
    tl_text group = tl_names_text(&colls->texts, row->group);
    tl_bytes id = { 0 };

    if (colls->plain) {
        TL_CELLS(csv, row->index);
        return;
    }
    tl_bytes_put(&id, group.p, group.n);
    tl_bytes_say(&id, "_%u", row->index);
    TL_CELLS(csv, &id);
    tl_bytes_free(&id);
}

void tl_coll_put_kind(tl_csv *csv, const tl_colls *colls, const tl_coll_row *row)
{
    TL_CELLS(csv, tl_coll_text(colls, row->group), tl_coll_text(colls, row->ranks), tl_coll_text(colls, row->name),
             tl_coll_number(row->group_size), tl_coll_text(colls, row->dtype));
}

/* Returns whether the ranks of a group share a node; ranks: "[0, 1, 2]", or a shortened list "[0, 1, ...]", whose
 * missing ranks may lie on another node. */
static const char *span_of(tl_text ranks, int64_t gpus_per_node)
{
    int64_t node = -1;

    for (size_t i = 0; i < ranks.n; i++) {
        int64_t rank = 0;
        if (ranks.p[i] < '0' || ranks.p[i] > '9')
            continue;
        for (; i < ranks.n && ranks.p[i] >= '0' && ranks.p[i] <= '9'; i++)
            rank = rank < INT32_MAX ? rank * 10 + (ranks.p[i] - '0') : rank;
        if (node >= 0 && rank / gpus_per_node != node)
            return "inter_node";
        node = rank / gpus_per_node;
    }
    return node >= 0 && !tl_text_has(ranks, "...") ? "intra_node" : "unknown";
}

void tl_coll_end_row(tl_csv *csv, const tl_colls *colls, unsigned nodes, const tl_coll_row *row)
{
    const int64_t gpus = colls->gpus_per_node;

    if (gpus > 0 && (nodes & TL_COLL_NODE))
        TL_CELLS(csv, row == NULL ? tl_words("node_id") : tl_int(row->rank / gpus));
    if (gpus > 0 && (nodes & TL_COLL_SPAN))
        TL_CELLS(csv, row == NULL ? "node_span" : span_of(tl_names_text(&colls->texts, row->ranks), gpus));
    tl_csv_end_row(csv);
}

/* ------------------------------------------------------------------------------------------------- kernel by kernel */

void tl_coll_write_long(const tl_colls *colls, tl_csv_folder *folder)
{
    if (colls->rows.n == 0)
        return;
    tl_csv csv = tl_csv_open(folder, "nccl_long.csv", NULL);
    tl_csv_head(&csv, "collective_id,index_in_group,rank,Process Group Name,Process Group Ranks,"
                      "Collective name,Group size,dtype,In msg nelems,In msg size (MB),Out msg nelems,"
                      "Out msg size (MB),In split size,Out split size,stream,ts,dur");
    tl_coll_end_row(&csv, colls, TL_COLL_NODE | TL_COLL_SPAN, NULL);
    TL_EACH (const tl_coll_row, row, colls->rows) {
        tl_coll_put_id(&csv, colls, row);
        TL_CELLS(&csv, row->index, row->rank);
        tl_coll_put_kind(&csv, colls, row);
        TL_CELLS(&csv, tl_coll_number(row->in_nelems), tl_coll_in_mb(colls, row), tl_coll_number(row->out_nelems),
                 tl_coll_out_mb(colls, row), tl_coll_text(colls, row->in_split), tl_coll_text(colls, row->out_split),
                 tl_coll_number(row->stream), row->ts, row->dur);
        tl_coll_end_row(&csv, colls, TL_COLL_NODE | TL_COLL_SPAN, row);
    }
    tl_csv_close(&csv);
}

/* ------------------------------------------------------------------------------------------------------------ sums */

TL_ORDER_BY(by_group, tl_coll_row, rank, group, ranks, name, group_size, dtype, in_nelems, out_nelems, in_split,
            out_split, stream)

/* Whether the row has all keys of the summary; other rows are left out. */
static bool is_complete(const tl_coll_row *r)
{
    return r->ranks != TL_NO_NAME && r->name != TL_NO_NAME && r->group_size != TL_COLL_NO_NUMBER &&
           r->dtype != TL_NO_NAME && r->in_nelems != TL_COLL_NO_NUMBER && r->out_nelems != TL_COLL_NO_NUMBER &&
           r->in_split != TL_NO_NAME && r->out_split != TL_NO_NAME && r->stream != TL_COLL_NO_NUMBER;
}

void tl_coll_write_summary_long(const tl_colls *colls, tl_csv_folder *folder, const char *name)
{
    const tl_coll_row *rows = colls->rows.v;
    uint32_t *order = tl_malloc(colls->rows.n * sizeof *order);
    size_t n = 0;

    for (uint32_t i = 0; i < colls->rows.n; i++)
        if (is_complete(&rows[i]))
            order[n++] = i;
    if (n > 0) {
        tl_sums sums = TL_SUMS(order, n, by_group, rows, dur);
        tl_csv csv = tl_csv_open(folder, name, NULL);
        tl_csv_head(&csv, "rank,Process Group Name,Process Group Ranks,Collective name,Group size,dtype,"
                          "In msg nelems,Out msg nelems,In split size,Out split size,stream,"
                          "In msg size (MB)_first,Out msg size (MB)_first,dur_sum,dur_mean,dur_std,dur_min,"
                          "dur_max,operation_count");
        tl_coll_end_row(&csv, colls, TL_COLL_NODE | TL_COLL_SPAN, NULL);
        TL_EACH (const tl_sum, s, sums) {
            const tl_coll_row *row = &rows[s->order[0]];
            TL_CELLS(&csv, row->rank);
            tl_coll_put_kind(&csv, colls, row);
            TL_CELLS(&csv, tl_coll_number(row->in_nelems), tl_coll_number(row->out_nelems),
                     tl_coll_text(colls, row->in_split), tl_coll_text(colls, row->out_split),
                     tl_coll_number(row->stream), tl_coll_in_mb(colls, row), tl_coll_out_mb(colls, row), s->stats.sum,
                     s->stats.mean, s->stats.std, s->stats.min, s->stats.max, s->n);
            tl_coll_end_row(&csv, colls, TL_COLL_NODE | TL_COLL_SPAN, row);
        }
        tl_csv_close(&csv);
        free(sums.v);
    }
    free(order);
}
