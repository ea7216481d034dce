/* sync.c - collectives in which each rank waits for the last one to come.
 *
 *     rank 0    [ wait       |  transfer ]        start: the last one's
 *     rank 1          [ wait |           ]
 *     rank 2                 [           ]        the straggler; its duration is the latency
 */
#include "sync.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* What a name of a collective means; other names do not synchronise. */
typedef enum meaning { NO_KIND, ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL } meaning;

static const struct {
    const char *name;
    meaning kind;
} names[] = {
    { "allreduce", ALL_REDUCE },
    { "allreduce_coalesced", ALL_REDUCE },
    { "reducescatter", REDUCE_SCATTER },
    { "_reduce_scatter_base", REDUCE_SCATTER },
    { "reduce_scatter_tensor_coalesced", REDUCE_SCATTER },
    { "allgather", ALL_GATHER },
    { "all_gather", ALL_GATHER },
    { "_allgather_base", ALL_GATHER },
    { "all_gather_into_tensor_coalesced", ALL_GATHER },
    { "allgather_into_tensor_coalesced", ALL_GATHER },
    { "all_to_all", ALL_TO_ALL },
};

static meaning kind_of(tl_text name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tl_text_is(name, names[i].name))
            return names[i].kind;
    return NO_KIND;
}

/* Whether all ranks say the same of what they do together. */
static bool ranks_agree(const tl_colls *colls, size_t collective)
{
    const tl_coll_row *a = tl_coll_nth(colls, collective, 0);
    for (size_t k = 1; k < tl_coll_nrows(colls, collective); k++) {
        const tl_coll_row *b = tl_coll_nth(colls, collective, k);
        if (a->ranks != b->ranks || a->name != b->name || a->group_size != b->group_size || a->dtype != b->dtype ||
            a->in_nelems != b->in_nelems || a->out_nelems != b->out_nelems)
            return false;
    }
    return true;
}

static tl_coll_sync measure(const tl_colls *colls, size_t collective, meaning kind)
{
    const tl_coll_row *row = tl_coll_nth(colls, collective, 0);
    size_t n = tl_coll_nrows(colls, collective);
    tl_coll_sync s = {
        .collective = collective, .row = row, .last = row->ts, .latency = row->dur, .earliest = row->rank
    };
    double first_end = row->ts + row->dur, last_end = first_end, waits = 0;

    for (size_t k = 0; k < n; k++) {
        const tl_coll_row *r = tl_coll_nth(colls, collective, k);
        s.last = fmax(s.last, r->ts);
        s.latency = fmin(s.latency, r->dur);
        first_end = fmin(first_end, r->ts + r->dur);
        last_end = fmax(last_end, r->ts + r->dur);
    }
    s.start_skew = -INFINITY;
    for (size_t k = 0; k < n; k++) {
        const tl_coll_row *r = tl_coll_nth(colls, collective, k);
        double wait = tl_coll_wait(&s, r);
        waits += wait;
        if (wait >= s.start_skew) {
            s.start_skew = wait;
            s.earliest = r->rank;
        }
    }
    s.mean_wait = waits / (double)n;
    s.end_skew = last_end - first_end;
    s.mb = kind == NO_KIND ? NAN : kind == ALL_GATHER ? tl_coll_out_mb(colls, row) : tl_coll_in_mb(colls, row);
    s.algo = s.latency > 0 ? s.mb / 1024 / (s.latency / 1e6) : NAN;
    s.bus = NAN;
    if (row->group_size != TL_COLL_NO_NUMBER && row->group_size != 0)
        s.bus = s.algo * (kind == ALL_REDUCE ? 2 : 1) * (double)(row->group_size - 1) / (double)row->group_size;
    return s;
}

/* False: memory is out.  *differ: ranks do not agree on that collective. */
static bool collect(tl_coll_syncs *s, uint32_t *differ)
{
    const tl_colls *colls = s->colls;

    *differ = TL_NONE;
    for (size_t c = 0; c < colls->ncollectives; c++) {
        const tl_coll_row *row = tl_coll_nth(colls, c, 0);
        tl_text name = tl_names_text(&colls->texts, row->name);
        meaning kind = kind_of(name);
        if (kind == NO_KIND && (!colls->plain || tl_text_is(name, "all_to_allv")))
            continue;
        if (!colls->plain && !ranks_agree(colls, c)) {
            *differ = (uint32_t)c;
            return true;
        }
        if (!tl_vec_room(&s->v))
            return false;
        s->v.v[s->v.n] = measure(colls, c, kind);
        s->has_bandwidth |= !isnan(s->v.v[s->v.n++].algo);
        if (!tl_coll_ranks_add(&s->ranks, colls, c))
            return false;
    }
    s->whole_times = colls->whole_ts && colls->whole_dur;
    s->work = tl_malloc((s->v.n + 1) * sizeof *s->work);
    tl_coll_ranks_distinct(&s->ranks);
    return s->work != NULL;
}

/* ------------------------------------------------------------------------------------------------------ a row each */

static void put_meta(tl_sheet *sheet, const tl_colls *colls, const tl_coll_row *row)
{
    tl_coll_put_id(sheet, colls, row);
    tl_coll_put_text(sheet, colls, row->group);
    tl_coll_put_text(sheet, colls, row->ranks);
    tl_coll_put_text(sheet, colls, row->name);
    tl_coll_put_number(sheet, row->group_size, colls->whole_group_size);
    tl_coll_put_text(sheet, colls, row->dtype);
    tl_coll_put_number(sheet, row->in_nelems, colls->whole_in);
    tl_coll_put_number(sheet, row->out_nelems, colls->whole_out);
    tl_sheet_real(sheet, tl_coll_in_mb(colls, row));
    tl_sheet_real(sheet, tl_coll_out_mb(colls, row));
}

static void put_sync(tl_sheet *sheet, const tl_coll_syncs *s, const tl_coll_sync *one)
{
    const tl_colls *colls = s->colls;

    put_meta(sheet, colls, one->row);
    tl_sheet_real(sheet, one->mb);
    tl_sheet_number(sheet, one->latency, colls->whole_dur);
    tl_sheet_number(sheet, one->start_skew, colls->whole_ts);
    tl_sheet_int(sheet, one->earliest);
    tl_sheet_real(sheet, one->mean_wait);
    tl_sheet_number(sheet, one->end_skew, s->whole_times);
    tl_sheet_real(sheet, one->algo);
    tl_sheet_real(sheet, one->bus);
    for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
        const tl_coll_row *row = tl_coll_row_of(colls, one->collective, s->ranks.v[i], &k);
        bool there = row != NULL;
        tl_sheet_number(sheet, there ? row->ts : NAN, there && colls->whole_ts);
        tl_sheet_number(sheet, there ? row->dur : NAN, there && colls->whole_dur);
    }
    for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
        const tl_coll_row *row = tl_coll_row_of(colls, one->collective, s->ranks.v[i], &k);
        bool there = row != NULL;
        tl_sheet_number(sheet, there ? tl_coll_wait(one, row) : NAN, there && colls->whole_ts);
    }
    tl_coll_put_span(sheet, colls, one->row->ranks);
    tl_sheet_end_row(sheet);
}

static void put_syncs(tl_sheet *sheet, const tl_coll_syncs *s)
{
    for (size_t i = 0; i < s->v.n; i++)
        put_sync(sheet, s, &s->v.v[i]);
}

static void put_rank_word(tl_sheet *sheet, int64_t rank, const char *what)
{
    char word[64];
    snprintf(word, sizeof word, "rank_%lld_%s", (long long)rank, what);
    tl_sheet_words(sheet, word);
}

static tl_status write_syncs(const tl_coll_syncs *s, const char *dir, tl_error *err)
{
    static const char *const head[] = {
        "collective_id",       "Process Group Name",
        "Process Group Ranks", "Collective name",
        "Group size",          "dtype",
        "In msg nelems",       "Out msg nelems",
        "In msg size (MB)",    "Out msg size (MB)",
        "Full msg size (MB)",  "comm_latency",
        "skew in start time",  "earliest arrival rank",
        "avg_wait_time",       "skew in end time",
        "algo bw (GB/s)",      "bus bw (GB/s)",
    };
    tl_sheet sheet;
    tl_status st = tl_sheet_open(&sheet, dir, "nccl_implicit_sync.csv", NULL, err);
    if (st != TL_OK)
        return st;

    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        tl_sheet_words(&sheet, head[i]);
    for (size_t i = 0; i < s->ranks.n; i++) {
        put_rank_word(&sheet, s->ranks.v[i], "ts");
        put_rank_word(&sheet, s->ranks.v[i], "dur");
    }
    for (size_t i = 0; i < s->ranks.n; i++)
        put_rank_word(&sheet, s->ranks.v[i], "wait_time");
    tl_coll_head_nodes(&sheet, s->colls, "node_span");
    tl_sheet_end_row(&sheet);
    tl_sheet_look(&sheet);
    put_syncs(&sheet, s);
    tl_sheet_write(&sheet);
    put_syncs(&sheet, s);
    return tl_sheet_close(&sheet, err);
}

tl_status tl_coll_write_sync(const tl_colls *colls, const char *dir, uint32_t *differ, tl_error *err)
{
    tl_coll_syncs s = { .colls = colls };
    tl_status st = collect(&s, differ) ? TL_OK : tl_fail_memory(err, "collectives of all ranks");

    if (st == TL_OK && *differ == TL_NONE && s.v.n > 0) {
        st = write_syncs(&s, dir, err);
        if (st == TL_OK)
            st = tl_coll_write_sync_sums(&s, dir, err);
        if (st == TL_OK)
            st = tl_coll_write_stragglers(&s, dir, err);
    }
    free(s.v.v);
    free(s.ranks.v);
    free(s.work);
    return st;
}
