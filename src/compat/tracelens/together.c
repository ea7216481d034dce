/* together.c - collectives over their ranks: synchronising collectives, in which each rank waits for the last arrival,
 * and all-to-all-v, whose sizes differ between ranks: there sizes are summed, and no waits are taken.
 *
 *     rank 0    [ wait       |  transfer ]        transfer starts at the last arrival
 *     rank 1          [ wait |           ]
 *     rank 2                 [           ]        the straggler; its duration is the latency
 */
#include "lens.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/trace/text/json.h"
#include <stdlib.h>

/* One collective.  Times in us, sizes in 2^20 bytes, rates in 2^30 bytes a second; NaN where unknown. */
typedef struct together {
    size_t collective;
    const tl_coll_row *row; /* row of the lowest rank */
    double first_start, last_start, start_skew, last_end, end_skew;
    double latency, max_dur, mean_dur; /* latency: the shortest duration */
    double mean_wait;
    int64_t earliest;                                      /* the rank that waited longest; ties: the highest */
    double mb, algo, bus;                                  /* mb: size of one rank */
    double sent_mb, nelems, wall, throughput, most, least; /* sums over ranks; most, least: rates of one rank */
    double imbalance;                                      /* largest size over the mean */
} together;

/* Rows with a missing key form a group of their own. */
TL_ORDER_BY(by_kind, together, row->name, row->dtype, row->in_nelems)
TL_ORDER_BY(by_group, together, row->group, row->dtype)

typedef struct togethers {
    const tl_colls *colls;
    TL_VEC(together) v;    /* in order of first appearance */
    TL_VEC(int64_t) ranks; /* ranks that take part, ascending */
    bool has_bandwidth;
} togethers;

/* The kind of a collective by its name; ALL_TO_ALL_V and NO_KIND do not synchronise. */
typedef enum meaning { NO_KIND, ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL, ALL_TO_ALL_V } meaning;

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
                  { "all_to_all", ALL_TO_ALL },
                  { "all_to_allv", ALL_TO_ALL_V } };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tl_text_is(name, names[i].name))
            return names[i].kind;
    return NO_KIND;
}

/* Whether all ranks record the same ranks, name, group size, type and sizes of the collective. */
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

static double gb_per_s(double mb, double us)
{
    return us > 0 ? mb / 1024 / (us / 1e6) : NAN;
}

static together measure_collective(const tl_colls *colls, size_t collective, meaning kind)
{
    const tl_coll_row *row = tl_coll_nth(colls, collective, 0);
    const size_t n = tl_coll_nrows(colls, collective);
    together t = { collective, row, .most = NAN, .least = NAN };
    const tl_real_stats durs = TL_STATS(&colls->by_collective[colls->first[collective]], n, colls->rows.v, dur);
    double first_end = row->ts + row->dur, largest = NAN, waits = 0;

    t.first_start = t.last_start = row->ts;
    t.last_end = first_end;
    t.latency = durs.min;
    t.max_dur = durs.max;
    t.mean_dur = durs.mean;
    for (size_t k = 0; k < n; k++) {
        const tl_coll_row *r = tl_coll_nth(colls, collective, k);
        const double mb = tl_coll_in_mb(colls, r), rate = mb > 0 ? gb_per_s(mb, r->dur) : NAN;
        t.first_start = fmin(t.first_start, r->ts);
        t.last_start = fmax(t.last_start, r->ts);
        first_end = fmin(first_end, r->ts + r->dur);
        t.last_end = fmax(t.last_end, r->ts + r->dur);
        t.sent_mb += mb;
        t.nelems += r->in_nelems != TL_COLL_NO_NUMBER ? (double)r->in_nelems : NAN;
        largest = fmax(largest, mb); /* fmax ignores NaN */
        t.most = fmax(t.most, rate);
        t.least = fmin(t.least, rate);
    }
    t.start_skew = t.last_start - t.first_start;
    t.end_skew = t.last_end - first_end;
    for (size_t k = 0; k < n; k++) {
        const tl_coll_row *r = tl_coll_nth(colls, collective, k);
        waits += t.last_start - r->ts;
        t.earliest = t.last_start - r->ts >= t.start_skew ? r->rank : t.earliest;
    }
    t.mean_wait = waits / (double)n;
    t.mb = kind == NO_KIND ? NAN : kind == ALL_GATHER ? tl_coll_out_mb(colls, row) : tl_coll_in_mb(colls, row);
    t.algo = gb_per_s(t.mb, t.latency);
    t.bus = NAN;
    if (row->group_size != TL_COLL_NO_NUMBER && row->group_size != 0)
        t.bus = t.algo * (kind == ALL_REDUCE ? 2 : 1) * (double)(row->group_size - 1) / (double)row->group_size;
    t.wall = t.last_end - t.first_start;
    t.throughput = gb_per_s(t.sent_mb, t.wall);
    t.imbalance = t.sent_mb > 0 ? largest / (t.sent_mb / (double)n) : NAN;
    return t;
}

/* Collects the synchronising collectives, or the all-to-all-v.  Returns the first synchronising collective on which the
 * ranks disagree; TL_NONE: none. */
static uint32_t collect_collectives(togethers *s, bool synchronise)
{
    const tl_colls *colls = s->colls;

    for (size_t c = 0; c < colls->ncollectives; c++) {
        const meaning kind = kind_of(tl_coll_name(colls, c));
        if ((kind == ALL_TO_ALL_V) == synchronise || (kind == NO_KIND && !(synchronise && colls->plain)))
            continue;
        if (synchronise && !colls->plain && !ranks_agree(colls, c))
            return (uint32_t)c;
        tl_vec_push(&s->v, measure_collective(colls, c, kind));
        s->has_bandwidth |= !isnan(s->v.v[s->v.n - 1].algo);
        for (size_t k = 0; k < tl_coll_nrows(colls, c); k++)
            tl_vec_push(&s->ranks, tl_coll_nth(colls, c, k)->rank);
    }
    s->ranks.n = tl_ns_distinct(s->ranks.v, s->ranks.n);
    return TL_NONE;
}

static void free_togethers(togethers *s)
{
    free(s->v.v);
    free(s->ranks.v);
}

/* ------------------------------------------------------------------------------------------------------ a row each */

/* Returns the row of rank s->ranks.v[i] in a collective; NULL: the rank takes no part.  Calls go in ascending order
 * of i; *k, 0 at first, counts the rows found. */
static const tl_coll_row *row_of(const togethers *s, const together *t, size_t i, size_t *k)
{
    const bool left = *k < tl_coll_nrows(s->colls, t->collective);
    const tl_coll_row *row = left ? tl_coll_nth(s->colls, t->collective, *k) : NULL;
    if (row == NULL || row->rank != s->ranks.v[i])
        return NULL;
    ++*k;
    return row;
}

/* Adds the header cells of each rank: rank_3_ts, rank_3_dur. */
static void head_ranks(tl_csv *csv, const togethers *s, const char *const *words)
{
    for (size_t i = 0; i < s->ranks.n; i++)
        for (const char *const *word = words; *word != NULL; word++) {
            char name[64];
            snprintf(name, sizeof name, "rank_%lld_%s", (long long)s->ranks.v[i], *word);
            tl_csv_head(csv, name);
        }
}
#define RANKS(csv, s, ...) head_ranks(csv, s, (const char *const[]){ __VA_ARGS__, NULL })

static void write_syncs(const togethers *s, tl_csv_folder *folder)
{
    const tl_colls *colls = s->colls;
    tl_csv csv = tl_csv_open(folder, "nccl_implicit_sync.csv", NULL);

    tl_csv_head(&csv, "collective_id,Process Group Name,Process Group Ranks,Collective name,Group size,dtype,"
                      "In msg nelems,Out msg nelems,In msg size (MB),Out msg size (MB),Full msg size (MB),"
                      "comm_latency,skew in start time,earliest arrival rank,avg_wait_time,skew in end time,"
                      "algo bw (GB/s),bus bw (GB/s)");
    RANKS(&csv, s, "ts", "dur");
    RANKS(&csv, s, "wait_time");
    tl_coll_end_row(&csv, colls, TL_COLL_SPAN, NULL);
    TL_EACH (const together, t, s->v) {
        const tl_coll_row *row = t->row;
        tl_coll_put_id(&csv, colls, row);
        tl_coll_put_kind(&csv, colls, row);
        TL_CELLS(&csv, tl_coll_number(row->in_nelems), tl_coll_number(row->out_nelems), tl_coll_in_mb(colls, row),
                 tl_coll_out_mb(colls, row), t->mb, t->latency, t->start_skew, t->earliest, t->mean_wait, t->end_skew,
                 t->algo, t->bus);
        for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
            const tl_coll_row *r = row_of(s, t, i, &k);
            TL_CELLS(&csv, r != NULL ? r->ts : NAN, r != NULL ? r->dur : NAN);
        }
        for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
            const tl_coll_row *r = row_of(s, t, i, &k);
            TL_CELLS(&csv, r != NULL ? t->last_start - r->ts : NAN);
        }
        tl_coll_end_row(&csv, colls, TL_COLL_SPAN, row);
    }
    tl_csv_close(&csv);
}

static void write_exchanges(const togethers *s, tl_csv_folder *folder)
{
    const tl_colls *colls = s->colls;
    tl_csv csv = tl_csv_open(folder, "nccl_all2allv.csv", NULL);

    tl_csv_head(&csv, "collective_id,Process Group Name,Process Group Ranks,Collective name,Group size,dtype,stream,"
                      "total data communicated (MB),total nelems communicated,wall_time (us),max_rank_dur (us),"
                      "min_rank_dur (us),avg_rank_dur (us),throughput (GB/s),max_rank_throughput (GB/s),"
                      "min_rank_throughput (GB/s),size_imbalance,skew in start time,skew in end time");
    RANKS(&csv, s, "ts", "dur", "In msg nelems", "Out msg nelems", "In msg size (MB)", "Out msg size (MB)",
          "In split size", "Out split size");
    RANKS(&csv, s, "skew in start time", "skew in end time");
    tl_coll_end_row(&csv, colls, TL_COLL_SPAN, NULL);
    TL_EACH (const together, t, s->v) {
        tl_coll_put_id(&csv, colls, t->row);
        tl_coll_put_kind(&csv, colls, t->row);
        TL_CELLS(&csv, tl_coll_number(t->row->stream), t->sent_mb, t->nelems, t->wall, t->max_dur, t->latency,
                 t->mean_dur, t->throughput, t->most, t->least, t->imbalance, t->start_skew, t->end_skew);
        for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
            const tl_coll_row *r = row_of(s, t, i, &k);
            if (r == NULL)
                TL_CELLS(&csv, tl_blank(), tl_blank(), tl_blank(), tl_blank(), tl_blank(), tl_blank(), "", "");
            else
                TL_CELLS(&csv, r->ts, r->dur, tl_coll_number(r->in_nelems), tl_coll_number(r->out_nelems),
                         tl_coll_in_mb(colls, r), tl_coll_out_mb(colls, r), tl_coll_text(colls, r->in_split),
                         tl_coll_text(colls, r->out_split));
        }
        for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
            const tl_coll_row *r = row_of(s, t, i, &k);
            TL_CELLS(&csv, r != NULL ? r->ts - t->first_start : NAN, r != NULL ? t->last_end - (r->ts + r->dur) : NAN);
        }
        tl_coll_end_row(&csv, colls, TL_COLL_SPAN, t->row);
    }
    tl_csv_close(&csv);
}

/* ----------------------------------------------------------------------------------------- sums of some collectives */

/* Statistics of a column, in the order of their cells. */
enum {
    MEAN = 1,
    MEDIAN = 2,
    STD = 4,
    MIN = 8,
    MAX = 16,
    SPREAD = MEAN | STD | MIN | MAX,
    PEAK = MEAN | MAX,
    MIDDLE = MEAN | MEDIAN | MIN | MAX,
    TOTAL = 32
};

typedef struct column {
    const char *name;
    size_t at;      /* offset of the double in a together */
    unsigned tells; /* statistics; TOTAL stands alone, and its cell has the plain name */
} column;

static const column sync_columns[] = {
    { "comm_latency", offsetof(together, latency), MIDDLE },
    { "skew in start time", offsetof(together, start_skew), MIDDLE },
    { "skew in end time", offsetof(together, end_skew), MIDDLE },
    { "algo bw (GB/s)", offsetof(together, algo), MIDDLE },
    { "bus bw (GB/s)", offsetof(together, bus), MIDDLE },
};
enum { NSYNC = sizeof sync_columns / sizeof sync_columns[0], NBANDWIDTHS = 2 };

static const column exchange_columns[] = {
    { "total data communicated (MB)", offsetof(together, sent_mb), SPREAD },
    { "wall_time (us)", offsetof(together, wall), SPREAD },
    { "Total wall_time (us)", offsetof(together, wall), TOTAL },
    { "throughput (GB/s)", offsetof(together, throughput), SPREAD },
    { "size_imbalance", offsetof(together, imbalance), PEAK },
    { "max_rank_dur (us)", offsetof(together, max_dur), PEAK },
    { "skew in start time", offsetof(together, start_skew), PEAK },
    { "skew in end time", offsetof(together, end_skew), PEAK },
};
enum { NEXCHANGE = sizeof exchange_columns / sizeof exchange_columns[0] };

static void head_columns(tl_csv *csv, const column *columns, size_t n)
{
    static const char *const ends[] = { "_mean", "_median", "_std", "_min", "_max", "" };
    for (const column *c = columns; c < columns + n; c++)
        for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++)
            if (c->tells >> k & 1) {
                char name[64];
                snprintf(name, sizeof name, "%s%s", c->name, ends[k]);
                tl_csv_head(csv, name);
            }
}

/* Adds the statistics of each column over the collectives order[0 .. n), NaN left out. */
static void put_columns(tl_csv *csv, const togethers *s, const column *columns, size_t ncolumns, const uint32_t *order,
                        size_t n)
{
    for (const column *c = columns; c < columns + ncolumns; c++) {
        double *v = tl_column(order, n, (const double *)(const void *)((const char *)s->v.v + c->at), sizeof *s->v.v);
        const tl_real_stats stats = tl_stats_of(NULL, n, v, sizeof *v);
        size_t known = 0;
        for (size_t i = 0; i < n; i++)
            if (!isnan(v[i]))
                v[known++] = v[i];
        const double told[] = { stats.mean, tl_real_median(v, known), stats.std, stats.min, stats.max, stats.sum };
        for (size_t k = 0; k < sizeof told / sizeof told[0]; k++)
            if (c->tells >> k & 1)
                TL_CELLS(csv, told[k]);
        free(v);
    }
}

/* Writes sums by name, type and size. */
static void write_sync_sums(const togethers *s, tl_csv_folder *folder)
{
    const tl_colls *colls = s->colls;
    const tl_cell unknown = tl_words("Unknown");
    const size_t ncolumns = s->has_bandwidth ? NSYNC : NSYNC - NBANDWIDTHS;
    uint32_t *order = tl_malloc(s->v.n * sizeof *order);
    tl_csv csv = tl_csv_open(folder, "nccl_summary_implicit_sync.csv", NULL);

    for (uint32_t i = 0; i < s->v.n; i++)
        order[i] = i;
    tl_sums sums = TL_SUMS(order, s->v.n, by_kind, s->v.v, latency);
    tl_csv_head(&csv, "Collective name,dtype,In msg nelems,Process Group Name,Group size,Full msg size (MB)");
    head_columns(&csv, sync_columns, ncolumns);
    tl_csv_head(&csv, "count,Total comm latency (ms)");
    tl_csv_end_row(&csv);
    TL_EACH (const tl_sum, g, sums) {
        const tl_coll_row *row = s->v.v[g->order[0]].row;
        int64_t size = TL_COLL_NO_NUMBER;
        double mb = NAN;
        for (size_t i = 0; i < g->n; i++) {
            const together *t = &s->v.v[g->order[i]];
            size = size == TL_COLL_NO_NUMBER ? t->row->group_size : size;
            mb = isnan(mb) ? t->mb : mb;
        }
        TL_CELLS(&csv, row->name != TL_NO_NAME ? tl_coll_text(colls, row->name) : unknown,
                 row->dtype != TL_NO_NAME ? tl_coll_text(colls, row->dtype) : unknown,
                 row->in_nelems != TL_COLL_NO_NUMBER ? tl_coll_number(row->in_nelems) : unknown,
                 tl_coll_text(colls, row->group), tl_coll_number(size), mb);
        put_columns(&csv, s, sync_columns, ncolumns, g->order, g->n);
        TL_ROW(&csv, g->n, g->stats.sum / 1000);
    }
    free(order);
    free(sums.v);
    tl_csv_close(&csv);
}

/* Writes sums by process group and type. */
static void write_exchange_sums(const togethers *s, tl_csv_folder *folder)
{
    const tl_colls *colls = s->colls;
    const size_t n = s->v.n;
    uint32_t *order = tl_sorted_index(n, by_group, s->v.v);
    tl_csv csv = tl_csv_open(folder, "nccl_summary_all2allv.csv", NULL);

    tl_csv_head(&csv, "Process Group Name,dtype");
    head_columns(&csv, exchange_columns, NEXCHANGE);
    tl_csv_head(&csv, "count,Process Group Ranks,Collective name,Group size,Total wall_time (ms)");
    tl_csv_end_row(&csv);
    TL_GROUPS (from, to, order, n, by_group, s->v.v) {
        const tl_coll_row *row = s->v.v[order[from]].row;
        TL_CELLS(&csv, tl_coll_text(colls, row->group), tl_coll_text(colls, row->dtype));
        put_columns(&csv, s, exchange_columns, NEXCHANGE, order + from, to - from);
        TL_ROW(&csv, to - from, tl_coll_text(colls, row->ranks), tl_coll_text(colls, row->name),
               tl_coll_number(row->group_size), TL_STATS(order + from, to - from, s->v.v, wall).sum / 1000);
    }
    free(order);
    tl_csv_close(&csv);
}

/* ------------------------------------------------------------------------------- which rank the others waited for */

/* Sums of a rank over the synchronising collectives. */
typedef struct standing {
    int64_t rank;
    size_t order;            /* position of the rank's first appearance: breaks ties of the last arrival */
    double waits, durs;      /* us; durs: over all kernels of the rank */
    uint64_t n, last, first; /* collectives of the rank; arrivals as the last, as the first rank */
} standing;

/* Returns the standing of a rank; NULL: the rank takes no part. */
static standing *standing_of(const togethers *s, standing *v, int64_t rank)
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

static void count_arrivals(const togethers *s, standing *v)
{
    size_t nseen = 0;

    TL_EACH (const together, t, s->v) {
        standing *last = NULL;
        double least = INFINITY;
        for (size_t k = 0; k < tl_coll_nrows(s->colls, t->collective); k++) {
            const tl_coll_row *row = tl_coll_nth(s->colls, t->collective, k);
            standing *r = standing_of(s, v, row->rank);
            double wait = t->last_start - row->ts;
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
        standing_of(s, v, t->earliest)->first++;
    }
    TL_EACH (const tl_coll_row, row, s->colls->rows)
        if (standing_of(s, v, row->rank) != NULL)
            standing_of(s, v, row->rank)->durs += row->dur;
}

/* Writes the ranks by total wait, ascending: a straggler waits least. */
static void write_stragglers(const togethers *s, tl_csv_folder *folder)
{
    standing *v = tl_calloc(s->ranks.n, sizeof *v);

    for (size_t i = 0; i < s->ranks.n; i++)
        v[i].rank = s->ranks.v[i];
    count_arrivals(s, v);
    qsort(v, s->ranks.n, sizeof *v, least_wait_first);
    tl_csv csv = tl_csv_open(folder, "nccl_straggler_summary.csv", NULL);
    tl_csv_head(&csv, "rank,total_wait_time_us,mean_wait_time_us,times_arrived_last,times_arrived_first,"
                      "pct_arrived_last,num_collectives,total_nccl_dur_us");
    tl_coll_end_row(&csv, s->colls, TL_COLL_NODE, NULL);
    for (size_t i = 0; i < s->ranks.n; i++) {
        TL_CELLS(&csv, v[i].rank, tl_python_round(v[i].waits, 1), tl_python_round(v[i].waits / (double)v[i].n, 1),
                 v[i].last, v[i].first, tl_python_round(100.0 * (double)v[i].last / (double)s->v.n, 1), s->v.n,
                 tl_python_round(v[i].durs, 1));
        tl_coll_end_row(&csv, s->colls, TL_COLL_NODE, &(tl_coll_row){ .rank = v[i].rank });
    }
    free(v);
    tl_csv_close(&csv);
}

uint32_t tl_coll_write_sync(const tl_colls *colls, tl_csv_folder *folder)
{
    togethers s = { .colls = colls };
    const uint32_t differ = collect_collectives(&s, true);

    if (differ == TL_NONE && s.v.n > 0) {
        write_syncs(&s, folder);
        write_sync_sums(&s, folder);
        write_stragglers(&s, folder);
    }
    free_togethers(&s);
    return differ;
}

/* ------------------------------------------------------------------------------------------ what each sent to each */

typedef TL_VEC(int64_t) numbers;

/* Parses "[256, 512, 768]" into *split.  False: the text is no list of whole numbers. */
static bool read_split(numbers *split, tl_text text)
{
    tl_text rest = tl_json_inside(text), element;
    int64_t number;

    split->n = 0;
    while (tl_json_element(&rest, &element)) {
        if (!tl_decimal_to_int(element.p, element.n, &number))
            return false;
        tl_vec_push(split, number);
    }
    return text.n > 0 && text.p[0] == '[';
}

/* What the current rank sent to one member of its groups, by the member's position. */
typedef struct flow {
    double mb; /* 2^20 bytes */
    int64_t n; /* sends */
} flow;

static void write_heatmap(const tl_colls *colls, tl_csv_folder *folder)
{
    tl_csv csv = tl_csv_open(folder, "nccl_all2allv_heatmap.csv", "src_rank,dst_rank,total_sent_MB,avg_sent_MB,count");
    const tl_coll_row *rows = colls->rows.v;
    numbers split = { 0 };
    TL_VEC(flow) to = { 0 };

    for (size_t i = 0; i < colls->rows.n; i++) {
        const tl_coll_row *row = &rows[i];
        if (tl_text_is(tl_names_text(&colls->texts, row->name), "all_to_allv") &&
            read_split(&split, tl_names_text(&colls->texts, row->in_split)) && (int64_t)split.n == row->group_size &&
            !isnan(tl_coll_mb(colls, row, 1)))
            for (size_t k = 0; k < split.n; k++) {
                if (k == to.n)
                    tl_vec_push(&to, (flow){ 0 });
                to.v[k].mb += tl_coll_mb(colls, row, split.v[k]);
                to.v[k].n++;
            }
        if (i + 1 < colls->rows.n && rows[i + 1].rank == row->rank)
            continue;
        TL_EACH (const flow, f, to)
            TL_ROW(&csv, row->rank, f - to.v, f->mb, f->mb / (double)f->n, f->n);
        to.n = 0;
    }
    tl_csv_close_rows(&csv);
    free(split.v);
    free(to.v);
}

/* Sorted by size sent, descending, unknown sizes last; ties by first appearance. */
static int largest_first(const void *a, const void *b)
{
    const together *x = a, *y = b;
    if (isnan(x->sent_mb) != isnan(y->sent_mb))
        return isnan(x->sent_mb) ? 1 : -1;
    return x->sent_mb != y->sent_mb && !isnan(x->sent_mb) ? TL_COMPARE(y->sent_mb, x->sent_mb)
                                                          : TL_COMPARE(x->collective, y->collective);
}

void tl_coll_write_all_to_all(const tl_colls *colls, tl_csv_folder *folder)
{
    togethers s = { .colls = colls };

    (void)collect_collectives(&s, false);
    if (s.v.n > 0) {
        write_exchange_sums(&s, folder);
        qsort(s.v.v, s.v.n, sizeof *s.v.v, largest_first);
        write_exchanges(&s, folder);
        write_heatmap(colls, folder);
    }
    free_togethers(&s);
}
