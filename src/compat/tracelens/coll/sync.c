/* sync.c - collectives in which each rank waits for the last one to come.
 *
 *     rank 0    [ wait       |  transfer ]        start: the last one's
 *     rank 1          [ wait |           ]
 *     rank 2                 [           ]        the straggler; its duration is the latency
 */
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/tracelens/coll.h"

/* One collective.  Times in us; NaN where unknown. */
typedef struct sync {
    size_t collective;
    const tl_coll_row *row; /* the first rank's */
    uint32_t name, dtype;   /* its */
    int64_t in_nelems;      /* its */
    double last;            /* when the last rank came */
    double latency, start_skew, mean_wait, end_skew;
    double mb, algo, bus; /* 2^20 bytes; 2^30 bytes a second */
    int64_t earliest;     /* the rank that waited longest; of several the largest */
} sync;

/* What is missing is a group of its own. */
TL_ORDER_BY(by_kind, sync, name, dtype, in_nelems)

typedef struct syncs {
    const tl_colls *colls;
    TL_VEC(sync) v;      /* in order of first appearance */
    tl_coll_ranks ranks; /* that take part, ascending */
    bool whole_times;    /* ts and dur are integers */
    bool has_bandwidth;
} syncs;

/* What a name of a collective means; other names do not synchronise. */
typedef enum meaning { NO_KIND, ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL } meaning;

static meaning kind_of(tl_text name)
{
    static const struct {
        const char *name;
        meaning kind;
    } names[] = { { "allreduce", ALL_REDUCE },
                  { "allreduce_coalesced", ALL_REDUCE },
                  { "reducescatter", REDUCE_SCATTER },
                  { "_reduce_scatter_base", REDUCE_SCATTER },
                  { "reduce_scatter_tensor_coalesced", REDUCE_SCATTER },
                  { "allgather", ALL_GATHER },
                  { "all_gather", ALL_GATHER },
                  { "_allgather_base", ALL_GATHER },
                  { "all_gather_into_tensor_coalesced", ALL_GATHER },
                  { "allgather_into_tensor_coalesced", ALL_GATHER },
                  { "all_to_all", ALL_TO_ALL } };
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
        if (TL_ORDER(a, b, ranks, name, group_size, dtype, in_nelems, out_nelems) != 0)
            return false;
    }
    return true;
}

static sync measure(const tl_colls *colls, size_t collective, meaning kind)
{
    const tl_coll_row *row = tl_coll_nth(colls, collective, 0);
    size_t n = tl_coll_nrows(colls, collective);
    sync s = { collective, row, row->name, row->dtype, row->in_nelems, .last = row->ts, .latency = row->dur };
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
        double wait = s.last - r->ts;
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
static uint32_t collect(syncs *s)
{
    const tl_colls *colls = s->colls;

    for (size_t c = 0; c < colls->ncollectives; c++) {
        meaning kind = kind_of(tl_coll_name(colls, c));
        if (kind == NO_KIND && (!colls->plain || tl_text_is(tl_coll_name(colls, c), "all_to_allv")))
            continue;
        if (!colls->plain && !ranks_agree(colls, c))
            return (uint32_t)c;
        tl_vec_push(&s->v, measure(colls, c, kind));
        s->has_bandwidth |= !isnan(s->v.v[s->v.n - 1].algo);
        tl_coll_ranks_add(&s->ranks, colls, c);
    }
    s->whole_times = colls->whole_ts && colls->whole_dur;
    s->ranks.n = tl_ns_distinct(s->ranks.v, s->ranks.n);
    return TL_NONE;
}

/* ------------------------------------------------------------------------------------------------------ a row each */

static void write_syncs(const syncs *s, tl_csv_folder *folder)
{
    const tl_colls *colls = s->colls;
    tl_csv csv = tl_csv_open(folder, "nccl_implicit_sync.csv", NULL);

    tl_csv_head(&csv, "collective_id,Process Group Name,Process Group Ranks,Collective name,Group size,dtype,"
                      "In msg nelems,Out msg nelems,In msg size (MB),Out msg size (MB),Full msg size (MB),"
                      "comm_latency,skew in start time,earliest arrival rank,avg_wait_time,skew in end time,"
                      "algo bw (GB/s),bus bw (GB/s)");
    tl_coll_head_ranks(&csv, &s->ranks, "ts,dur");
    tl_coll_head_ranks(&csv, &s->ranks, "wait_time");
    tl_coll_end_head(&csv, colls, TL_COLL_SPAN);
    TL_EACH (const sync, one, s->v) {
        const tl_coll_row *row = one->row;
        tl_coll_put_id(&csv, colls, row);
        tl_coll_put_kind(&csv, colls, row);
        TL_CELLS(&csv, tl_coll_number(row->in_nelems, colls->whole_in),
                 tl_coll_number(row->out_nelems, colls->whole_out), tl_coll_in_mb(colls, row),
                 tl_coll_out_mb(colls, row), one->mb, tl_number(one->latency, colls->whole_dur),
                 tl_number(one->start_skew, colls->whole_ts), one->earliest, one->mean_wait,
                 tl_number(one->end_skew, s->whole_times), one->algo, one->bus);
        for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
            const tl_coll_row *r = tl_coll_row_of(colls, one->collective, s->ranks.v[i], &k);
            TL_CELLS(&csv, tl_number(r != NULL ? r->ts : NAN, colls->whole_ts),
                     tl_number(r != NULL ? r->dur : NAN, colls->whole_dur));
        }
        for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
            const tl_coll_row *r = tl_coll_row_of(colls, one->collective, s->ranks.v[i], &k);
            TL_CELLS(&csv, tl_number(r != NULL ? one->last - r->ts : NAN, colls->whole_ts));
        }
        tl_coll_end_row(&csv, colls, TL_COLL_SPAN, 0, row->ranks);
    }
    tl_csv_close(&csv);
}

/* ------------------------------------------------------------------------------------- sums by name, type and size */

/* Mean, median, smallest and largest of what is known of a measure, whose first one is given. */
static void put_statistics(tl_csv *csv, const tl_sum *g, const double *first, bool whole)
{
    double *v = tl_column(g->order, g->n, first, sizeof(sync));
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++)
        if (!isnan(v[i]))
            v[n++] = v[i];
    tl_group_stats stats = tl_pandas_stats(v, n);
    TL_CELLS(csv, stats.mean, tl_real_median(v, n), tl_number(stats.min, whole), tl_number(stats.max, whole));
    free(v);
}

static void put_sum(tl_csv *csv, const syncs *s, const tl_sum *g)
{
    const tl_colls *colls = s->colls;
    const tl_coll_row *row = s->v.v[g->order[0]].row;
    const tl_cell unknown = tl_words("Unknown");
    int64_t size = TL_COLL_NO_NUMBER;
    double mb = NAN;

    for (size_t i = 0; i < g->n; i++) {
        const sync *one = &s->v.v[g->order[i]];
        size = size == TL_COLL_NO_NUMBER ? one->row->group_size : size;
        mb = isnan(mb) ? one->mb : mb;
    }
    TL_CELLS(csv, row->name != TL_NO_NAME ? tl_coll_text(colls, row->name) : unknown,
             row->dtype != TL_NO_NAME ? tl_coll_text(colls, row->dtype) : unknown,
             row->in_nelems != TL_COLL_NO_NUMBER ? tl_coll_number(row->in_nelems, colls->whole_in) : unknown,
             tl_coll_text(colls, row->group), tl_coll_number(size, colls->whole_group_size), mb);
    put_statistics(csv, g, &s->v.v->latency, colls->whole_dur);
    put_statistics(csv, g, &s->v.v->start_skew, colls->whole_ts);
    put_statistics(csv, g, &s->v.v->end_skew, s->whole_times);
    if (s->has_bandwidth) {
        put_statistics(csv, g, &s->v.v->algo, false);
        put_statistics(csv, g, &s->v.v->bus, false);
    }
    TL_ROW(csv, g->n, g->total / 1000);
}

#define STATISTICS(of) of "_mean," of "_median," of "_min," of "_max"

static void write_sums(const syncs *s, tl_csv_folder *folder)
{
    uint32_t *order = tl_malloc(s->v.n * sizeof *order);
    tl_csv csv = tl_csv_open(folder, "nccl_summary_implicit_sync.csv", NULL);

    for (uint32_t i = 0; i < s->v.n; i++)
        order[i] = i;
    tl_sums sums = TL_SUMS(order, s->v.n, by_kind, s->v.v, latency, true);
    tl_csv_head(&csv, "Collective name,dtype,In msg nelems,Process Group Name,Group size,Full msg size (MB)");
    tl_csv_head(&csv,
                STATISTICS("comm_latency") "," STATISTICS("skew in start time") "," STATISTICS("skew in end time"));
    if (s->has_bandwidth)
        tl_csv_head(&csv, STATISTICS("algo bw (GB/s)") "," STATISTICS("bus bw (GB/s)"));
    tl_csv_head(&csv, "count,Total comm latency (ms)");
    tl_csv_end_head(&csv);
    csv.as_is = true;
    TL_EACH (const tl_sum, g, sums)
        put_sum(&csv, s, g);
    free(order);
    free(sums.v);
    tl_csv_close(&csv);
}

/* ------------------------------------------------------------------------------- which rank the others waited for */

/* A rank, over the collectives above. */
typedef struct standing {
    int64_t rank;
    size_t order; /* of its first appearance: decides who was last where two came at once */
    double waits, durs;
    uint64_t n, last, first;
} standing;

/* The standing of a rank; NULL: it takes no part. */
static standing *standing_of(const syncs *s, standing *v, int64_t rank)
{
    size_t at = 0;
    TL_BISECT(at, s->ranks.n, mid, s->ranks.v[mid] < rank);
    return at < s->ranks.n && s->ranks.v[at] == rank ? &v[at] : NULL;
}

static int least_wait_first(const void *a, const void *b)
{
    const standing *x = a, *y = b;
    double p = tl_python_round(x->waits, 1), q = tl_python_round(y->waits, 1);
    return p != q ? TL_COMPARE(p, q) : TL_COMPARE(x->rank, y->rank);
}

static void count(const syncs *s, standing *v)
{
    size_t nseen = 0;

    TL_EACH (const sync, one, s->v) {
        standing *last = NULL;
        double least = INFINITY;
        for (size_t k = 0; k < tl_coll_nrows(s->colls, one->collective); k++) {
            const tl_coll_row *row = tl_coll_nth(s->colls, one->collective, k);
            standing *r = standing_of(s, v, row->rank);
            double wait = one->last - row->ts;
            if (r->n++ == 0)
                r->order = nseen++;
            r->waits += wait;
            if (last == NULL || wait < least || (wait == least && r->order < last->order)) {
                least = wait;
                last = r;
            }
        }
        if (last != NULL)
            last->last++;
        standing_of(s, v, one->earliest)->first++;
    }
    TL_EACH (const tl_coll_row, row, s->colls->rows)
        if (standing_of(s, v, row->rank) != NULL)
            standing_of(s, v, row->rank)->durs += row->dur;
}

/* Writes the ranks by their waits: the rank that waits least came last. */
static void write_stragglers(const syncs *s, tl_csv_folder *folder)
{
    standing *v = tl_calloc(s->ranks.n, sizeof *v);

    for (size_t i = 0; i < s->ranks.n; i++)
        v[i].rank = s->ranks.v[i];
    count(s, v);
    qsort(v, s->ranks.n, sizeof *v, least_wait_first);
    tl_csv csv = tl_csv_open(folder, "nccl_straggler_summary.csv", NULL);
    tl_csv_head(&csv, "rank,total_wait_time_us,mean_wait_time_us,times_arrived_last,times_arrived_first,"
                      "pct_arrived_last,num_collectives,total_nccl_dur_us");
    tl_coll_end_head(&csv, s->colls, TL_COLL_NODE);
    for (size_t i = 0; i < s->ranks.n; i++) {
        TL_CELLS(&csv, v[i].rank, tl_python_round(v[i].waits, 1), tl_python_round(v[i].waits / (double)v[i].n, 1),
                 v[i].last, v[i].first, tl_python_round(100.0 * (double)v[i].last / (double)s->v.n, 1), s->v.n,
                 tl_python_round(v[i].durs, 1));
        tl_coll_end_row(&csv, s->colls, TL_COLL_NODE, v[i].rank, TL_NO_NAME);
    }
    free(v);
    tl_csv_close(&csv);
}

uint32_t tl_coll_write_sync(const tl_colls *colls, tl_csv_folder *folder)
{
    syncs s = { .colls = colls };
    uint32_t differ = collect(&s);

    if (differ == TL_NONE && s.v.n > 0) {
        write_syncs(&s, folder);
        write_sums(&s, folder);
        write_stragglers(&s, folder);
    }
    free(s.v.v);
    free(s.ranks.v);
    return differ;
}
