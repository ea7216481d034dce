/* match.c - collective kernels: which they are, how they travel, how they are matched. */
#include "tlmpi/compat/tracelens/coll.h"
#include "tlmpi/base/group.h"
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

/* The texts of a row. */
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

static int64_t number(int64_t x)
{
    return x >= 0 ? x : TL_COLL_NO_NUMBER;
}

/* The row of an event; texts are ids of the trace's names. */
static tl_coll_row row_of(const tl_lens *lens, uint32_t i, int64_t rank)
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
    const tl_lane *lane = &e->lanes.v[e->lane[i]];
    return (tl_coll_row){ .rank = rank,
                          .ts = tl_lens_ts(lens, i),
                          .dur = tl_lens_dur(lens, i),
                          .group_size = number(args->group_size),
                          .in_nelems = number(args->in_nelems),
                          .out_nelems = number(args->out_nelems),
                          .stream = lane->stream == TL_LANE_ABSENT ? TL_COLL_NO_NUMBER : lane->stream,
                          .group = args->pg_name,
                          .ranks = args->pg_ranks,
                          .name = args->name,
                          .dtype = args->dtype,
                          .in_split = args->in_split,
                          .out_split = args->out_split,
                          .whole_ts = tl_lens_whole(lens, i, TL_MORE_WHOLE_TS),
                          .whole_dur = tl_lens_whole(lens, i, TL_MORE_WHOLE_DUR) };
}

static uint32_t intern(tl_names *texts, tl_text text)
{
    return tl_names_intern(texts, text.p, text.n);
}

/* A custom all-reduce does not say what it is; nothing else is read out of a kernel's name. */
void tl_colls_pack(const tl_lens *lens, int64_t rank, tl_bytes *out)
{
    TL_VEC(tl_coll_row) rows = { 0 };
    tl_names texts = { 0 };

    for (uint32_t i = 0; i < lens->e->n; i++) {
        if (!is_collective(lens, i))
            continue;
        tl_coll_row row = row_of(lens, i, rank);
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

/* The next number of items, and moves *at after it. */
static size_t get(const char **at)
{
    size_t n;
    memcpy(&n, *at, sizeof n);
    *at += sizeof n;
    return n;
}

void tl_colls_unpack(tl_colls *colls, const char **at)
{
    size_t nrows = get(at), before = colls->rows.n;

    for (; colls->rows.n < before + nrows; *at += sizeof(tl_coll_row)) {
        tl_coll_row row;
        memcpy(&row, *at, sizeof row);
        tl_vec_push(&colls->rows, row);
    }
    size_t ntexts = get(at);
    uint32_t *id = tl_malloc(ntexts * sizeof *id);
    for (size_t i = 0; i < ntexts; i++) {
        tl_text text = { .n = get(at) };
        text.p = *at;
        *at += text.n;
        id[i] = intern(&colls->texts, text);
    }
    for (size_t i = before; i < colls->rows.n; i++) {
        uint32_t *ids[] = TEXTS(&colls->rows.v[i]);
        for (size_t k = 0; k < sizeof ids / sizeof ids[0]; k++)
            *ids[k] = *ids[k] != TL_NO_NAME ? id[*ids[k]] : TL_NO_NAME;
    }
    free(id);
}

/* -------------------------------------------------------------------------------------------------------- matching */

static int by_rank(const void *context, uint32_t a, uint32_t b)
{
    const tl_colls *colls = context;
    return TL_COMPARE(colls->rows.v[a].rank, colls->rows.v[b].rank);
}

static int by_rank_group_and_time(const void *context, uint32_t a, uint32_t b)
{
    const tl_coll_row *x = &((const tl_colls *)context)->rows.v[a], *y = &((const tl_colls *)context)->rows.v[b];
    return TL_ORDER(x, y, rank, group, ts);
}

/* Sorts the rows by rank.  Rows of one rank stand together already and stay in file order. */
static void sort_rows(tl_colls *colls)
{
    uint32_t *order = tl_sorted_index(colls->rows.n, by_rank, colls);
    tl_coll_row *sorted = tl_malloc((colls->rows.n + 1) * sizeof *sorted);

    for (size_t i = 0; i < colls->rows.n; i++)
        sorted[i] = colls->rows.v[order[i]];
    free(order);
    free(colls->rows.v);
    colls->rows.v = sorted;
    colls->rows.cap = colls->rows.n + 1;
}

/* No row of any rank has a group, and each rank's rows lie on one stream. */
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
    for (size_t i = 0; i < colls->rows.n; i++) {
        uint32_t *group = &colls->rows.v[i].group;
        if (colls->plain)
            *group = all;
        else if (tl_names_text(&colls->texts, *group).n == 0)
            *group = unknown;
    }
}

/* Numbers the collectives and gathers the rows of each. */
static void gather(tl_colls *colls)
{
    tl_map known = { 0 };

    TL_EACH (tl_coll_row, row, colls->rows) {
        uint64_t key = (uint64_t)row->group << 32 | row->index;
        row->collective = tl_map_get(&known, key);
        if (row->collective == TL_MAP_NONE) {
            row->collective = (uint32_t)colls->ncollectives++;
            tl_map_put(&known, key, row->collective);
        }
    }
    tl_map_free(&known);
    colls->first = tl_calloc(colls->ncollectives + 2, sizeof *colls->first);
    colls->by_collective = tl_calloc(colls->rows.n + 1, sizeof *colls->by_collective);
    /* Counts, then their sums, then each row to the place that its collective has reached. */
    for (size_t i = 0; i < colls->rows.n; i++)
        colls->first[colls->rows.v[i].collective + 2]++;
    for (size_t c = 2; c < colls->ncollectives + 2; c++)
        colls->first[c] += colls->first[c - 1];
    for (uint32_t i = 0; i < colls->rows.n; i++)
        colls->by_collective[colls->first[colls->rows.v[i].collective + 1]++] = i;
}

static void judge_columns(tl_colls *colls)
{
    colls->whole_ts = colls->whole_dur = colls->whole_group_size = true;
    colls->whole_in = colls->whole_out = colls->whole_stream = true;
    TL_EACH (const tl_coll_row, row, colls->rows) {
        colls->whole_ts &= row->whole_ts != 0;
        colls->whole_dur &= row->whole_dur != 0;
        colls->whole_group_size &= row->group_size != TL_COLL_NO_NUMBER;
        colls->whole_in &= row->in_nelems != TL_COLL_NO_NUMBER;
        colls->whole_out &= row->out_nelems != TL_COLL_NO_NUMBER;
        colls->whole_stream &= row->stream != TL_COLL_NO_NUMBER;
    }
}

void tl_colls_match(tl_colls *colls)
{
    const size_t n = colls->rows.n;

    sort_rows(colls);
    name_groups(colls);
    uint32_t *order = tl_sorted_index(n, by_rank_group_and_time, colls);
    for (size_t i = 0; i < n; i++) {
        tl_coll_row *row = &colls->rows.v[order[i]];
        const tl_coll_row *last = i > 0 ? &colls->rows.v[order[i - 1]] : NULL;
        row->index = last != NULL && last->rank == row->rank && last->group == row->group ? last->index + 1 : 0;
    }
    free(order);
    judge_columns(colls);
    gather(colls);
}
