/* sync.c - collectives in which each rank waits for the last one to come.
 *
 *     rank 0    [ wait       |  transfer ]        start: the last one's
 *     rank 1          [ wait |           ]
 *     rank 2                 [           ]        the straggler; its duration is the latency
 */
#include "sync.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stddef.h>

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

/* The first collective that ranks do not agree on; TL_NONE: there is none. */
static uint32_t collect(tl_coll_syncs *s)
{
    const tl_colls *colls = s->colls;

    for (size_t c = 0; c < colls->ncollectives; c++) {
        tl_text name = tl_names_text(&colls->texts, tl_coll_nth(colls, c, 0)->name);
        meaning kind = kind_of(name);
        if (kind == NO_KIND && (!colls->plain || tl_text_is(name, "all_to_allv")))
            continue;
        if (!colls->plain && !ranks_agree(colls, c))
            return (uint32_t)c;
        tl_vec_push(&s->v, measure(colls, c, kind));
        s->has_bandwidth |= !isnan(s->v.v[s->v.n - 1].algo);
        tl_coll_ranks_add(&s->ranks, colls, c);
    }
    s->whole_times = colls->whole_ts && colls->whole_dur;
    tl_coll_ranks_distinct(&s->ranks);
    return TL_NONE;
}

/* ------------------------------------------------------------------------------------------------------ a row each */

static void put_sync(tl_csv *csv, const tl_coll_syncs *s, const tl_coll_sync *one)
{
    const tl_colls *colls = s->colls;
    const tl_coll_row *row = one->row;

    tl_coll_put_id(csv, colls, row);
    TL_CELLS(csv, tl_coll_text(colls, row->group), tl_coll_text(colls, row->ranks), tl_coll_text(colls, row->name),
             tl_coll_number(row->group_size, colls->whole_group_size), tl_coll_text(colls, row->dtype),
             tl_coll_number(row->in_nelems, colls->whole_in), tl_coll_number(row->out_nelems, colls->whole_out),
             tl_real(tl_coll_in_mb(colls, row)), tl_real(tl_coll_out_mb(colls, row)), tl_real(one->mb),
             tl_number(one->latency, colls->whole_dur), tl_number(one->start_skew, colls->whole_ts),
             tl_int(one->earliest), tl_real(one->mean_wait), tl_number(one->end_skew, s->whole_times),
             tl_real(one->algo), tl_real(one->bus));
    for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
        const tl_coll_row *r = tl_coll_row_of(colls, one->collective, s->ranks.v[i], &k);
        TL_CELLS(csv, tl_number(r != NULL ? r->ts : NAN, colls->whole_ts),
                 tl_number(r != NULL ? r->dur : NAN, colls->whole_dur));
    }
    for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
        const tl_coll_row *r = tl_coll_row_of(colls, one->collective, s->ranks.v[i], &k);
        TL_CELLS(csv, tl_number(r != NULL ? tl_coll_wait(one, r) : NAN, colls->whole_ts));
    }
    tl_coll_end_row(csv, colls, TL_COLL_SPAN, 0, row->ranks);
}

static void put_rank_word(tl_csv *csv, int64_t rank, const char *what)
{
    char word[64];
    snprintf(word, sizeof word, "rank_%lld_%s", (long long)rank, what);
    tl_csv_head(csv, word);
}

static void write_syncs(const tl_coll_syncs *s, tl_csv_folder *folder)
{
    tl_csv csv = tl_csv_open(folder, "nccl_implicit_sync.csv", NULL);

    tl_csv_head(&csv, "collective_id,Process Group Name,Process Group Ranks,Collective name,Group size,dtype,"
                      "In msg nelems,Out msg nelems,In msg size (MB),Out msg size (MB),Full msg size (MB),"
                      "comm_latency,skew in start time,earliest arrival rank,avg_wait_time,skew in end time,"
                      "algo bw (GB/s),bus bw (GB/s)");
    for (size_t i = 0; i < s->ranks.n; i++) {
        put_rank_word(&csv, s->ranks.v[i], "ts");
        put_rank_word(&csv, s->ranks.v[i], "dur");
    }
    for (size_t i = 0; i < s->ranks.n; i++)
        put_rank_word(&csv, s->ranks.v[i], "wait_time");
    tl_coll_end_head(&csv, s->colls, TL_COLL_SPAN);
    for (size_t i = 0; i < s->v.n; i++)
        put_sync(&csv, s, &s->v.v[i]);
    tl_csv_close(&csv);
}

/* ------------------------------------------------------------------------------------- sums by name, type and size */

/* What is missing is a group of its own. */
static int by_group(const void *context, uint32_t a, uint32_t b)
{
    const tl_coll_row *x = ((const tl_coll_sync *)context)[a].row, *y = ((const tl_coll_sync *)context)[b].row;
    int order = TL_COMPARE(x->name, y->name);
    order = order != 0 ? order : TL_COMPARE(x->dtype, y->dtype);
    return order != 0 ? order : TL_COMPARE(x->in_nelems, y->in_nelems);
}

typedef struct sum {
    const uint32_t *order; /* of its collectives */
    size_t n;
    double total; /* of the latencies */
} sum;

static int largest_first(const void *a, const void *b)
{
    const sum *x = a, *y = b;
    return x->total != y->total ? TL_COMPARE(y->total, x->total) : TL_COMPARE(x->order[0], y->order[0]);
}

/* Mean, median, smallest and largest of what is known of a measure: the offset of a double. */
static void put_statistics(tl_csv *csv, const tl_coll_syncs *s, const sum *g, size_t measure, bool whole)
{
    double *v = tl_malloc(g->n * sizeof *v);
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++) {
        memcpy(&v[n], (const char *)&s->v.v[g->order[i]] + measure, sizeof v[n]);
        if (!isnan(v[n]))
            n++;
    }
    tl_group_stats stats = tl_pandas_stats(v, n);
    TL_CELLS(csv, tl_real(stats.mean), tl_real(tl_numpy_median(v, n)), tl_number(stats.min, whole),
             tl_number(stats.max, whole));
    free(v);
}

static tl_cell known_text(const tl_colls *colls, uint32_t text)
{
    return text != TL_NO_NAME ? tl_coll_text(colls, text) : tl_words("Unknown");
}

static void put_sum(tl_csv *csv, const tl_coll_syncs *s, const sum *g)
{
    const tl_colls *colls = s->colls;
    const tl_coll_row *row = s->v.v[g->order[0]].row;
    int64_t size = TL_COLL_NO_NUMBER;
    double mb = NAN;

    for (size_t i = 0; i < g->n; i++) {
        const tl_coll_sync *one = &s->v.v[g->order[i]];
        size = size == TL_COLL_NO_NUMBER ? one->row->group_size : size;
        mb = isnan(mb) ? one->mb : mb;
    }
    TL_CELLS(csv, known_text(colls, row->name), known_text(colls, row->dtype),
             row->in_nelems != TL_COLL_NO_NUMBER ? tl_coll_number(row->in_nelems, colls->whole_in)
                                                 : tl_words("Unknown"),
             tl_coll_text(colls, row->group), tl_coll_number(size, colls->whole_group_size), tl_real(mb));
    put_statistics(csv, s, g, offsetof(tl_coll_sync, latency), colls->whole_dur);
    put_statistics(csv, s, g, offsetof(tl_coll_sync, start_skew), colls->whole_ts);
    put_statistics(csv, s, g, offsetof(tl_coll_sync, end_skew), s->whole_times);
    if (s->has_bandwidth) {
        put_statistics(csv, s, g, offsetof(tl_coll_sync, algo), false);
        put_statistics(csv, s, g, offsetof(tl_coll_sync, bus), false);
    }
    TL_ROW(csv, tl_int((int64_t)g->n), tl_real(g->total / 1000));
}

#define STATISTICS(of) of "_mean," of "_median," of "_min," of "_max"

static void write_sums(const tl_coll_syncs *s, tl_csv_folder *folder)
{
    const size_t n = s->v.n;
    uint32_t *order = tl_sorted_index(n, by_group, s->v.v);
    TL_VEC(sum) sums = { 0 };
    tl_csv csv = tl_csv_open(folder, "nccl_summary_implicit_sync.csv", NULL);

    for (size_t from = 0, to; from < n; from = to) {
        double total = 0;
        to = tl_group_end(order, from, n, by_group, s->v.v);
        for (size_t i = from; i < to; i++)
            total += s->v.v[order[i]].latency;
        tl_vec_push(&sums, (sum){ order + from, to - from, total });
    }
    qsort(sums.v, sums.n, sizeof *sums.v, largest_first);
    tl_csv_head(&csv, "Collective name,dtype,In msg nelems,Process Group Name,Group size,Full msg size (MB)");
    tl_csv_head(&csv,
                STATISTICS("comm_latency") "," STATISTICS("skew in start time") "," STATISTICS("skew in end time"));
    if (s->has_bandwidth)
        tl_csv_head(&csv, STATISTICS("algo bw (GB/s)") "," STATISTICS("bus bw (GB/s)"));
    tl_csv_head(&csv, "count,Total comm latency (ms)");
    tl_csv_end_head(&csv);
    csv.as_is = true;
    for (size_t i = 0; i < sums.n; i++)
        put_sum(&csv, s, &sums.v[i]);
    free(order);
    free(sums.v);
    tl_csv_close(&csv);
}

uint32_t tl_coll_write_sync(const tl_colls *colls, tl_csv_folder *folder)
{
    tl_coll_syncs s = { .colls = colls };
    uint32_t differ = collect(&s);

    if (differ == TL_NONE && s.v.n > 0) {
        write_syncs(&s, folder);
        write_sums(&s, folder);
        tl_coll_write_stragglers(&s, folder);
    }
    free(s.v.v);
    free(s.ranks.v);
    return differ;
}
