/* tracelens_sync.c - collectives in which each rank waits for the last one to come.
 *
 *     rank 0    [ wait       |  transfer ]        start: the last one's
 *     rank 1          [ wait |           ]
 *     rank 2                 [           ]        the straggler; its duration is the latency
 */
#include "python.h"
#include "tracelens_sync.h"
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

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The ranks of all rows at hand; sorted and distinct in the end. */
static bool collect_ranks(tl_coll_syncs *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->v.n; i++)
        for (size_t k = 0; k < tl_coll_nrows(s->colls, s->v.v[i].collective); k++) {
            int64_t rank = tl_coll_nth(s->colls, s->v.v[i].collective, k)->rank;
            if (s->ranks.n > 0 && s->ranks.v[s->ranks.n - 1] == rank)
                continue;
            if (!tl_vec_room(&s->ranks))
                return false;
            s->ranks.v[s->ranks.n++] = rank;
        }
    if (s->ranks.n == 0)
        return true;
    qsort(s->ranks.v, s->ranks.n, sizeof *s->ranks.v, by_number);
    for (size_t i = 0; i < s->ranks.n; i++)
        if (n == 0 || s->ranks.v[i] != s->ranks.v[n - 1])
            s->ranks.v[n++] = s->ranks.v[i];
    s->ranks.n = n;
    return true;
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
    }
    s->whole_times = colls->whole_ts && colls->whole_dur;
    s->work = tl_malloc((s->v.n + 1) * sizeof *s->work);
    return s->work != NULL && collect_ranks(s);
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
    size_t n = tl_coll_nrows(colls, one->collective);

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
        const tl_coll_row *row = k < n ? tl_coll_nth(colls, one->collective, k) : NULL;
        bool there = row != NULL && row->rank == s->ranks.v[i];
        tl_sheet_number(sheet, there ? row->ts : NAN, there && colls->whole_ts);
        tl_sheet_number(sheet, there ? row->dur : NAN, there && colls->whole_dur);
        k += there;
    }
    for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
        const tl_coll_row *row = k < n ? tl_coll_nth(colls, one->collective, k) : NULL;
        bool there = row != NULL && row->rank == s->ranks.v[i];
        tl_sheet_number(sheet, there ? tl_coll_wait(one, row) : NAN, there && colls->whole_ts);
        k += there;
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

/* ------------------------------------------------------------------------------------------------------------ sums */

/* What is missing is a group of its own. */
static int in_groups(const tl_coll_sync *x, const tl_coll_sync *y)
{
    int order = TL_COMPARE(x->row->name, y->row->name);
    order = order != 0 ? order : TL_COMPARE(x->row->dtype, y->row->dtype);
    return order != 0 ? order : TL_COMPARE(x->row->in_nelems, y->row->in_nelems);
}

static int by_group(const void *a, const void *b)
{
    const tl_coll_sync *x = *(const tl_coll_sync *const *)a, *y = *(const tl_coll_sync *const *)b;
    int order = in_groups(x, y);
    return order != 0 ? order : TL_COMPARE(x, y);
}

typedef struct sum {
    const tl_coll_sync **v;
    size_t n;
    double total; /* of the latencies */
} sum;

static int largest_first(const void *a, const void *b)
{
    const sum *x = a, *y = b;
    return x->total != y->total ? TL_COMPARE(y->total, x->total) : TL_COMPARE(x->v[0], y->v[0]);
}

static double latency(const tl_coll_sync *s)
{
    return s->latency;
}

static double start_skew(const tl_coll_sync *s)
{
    return s->start_skew;
}

static double end_skew(const tl_coll_sync *s)
{
    return s->end_skew;
}

static double algo(const tl_coll_sync *s)
{
    return s->algo;
}

static double bus(const tl_coll_sync *s)
{
    return s->bus;
}

/* Mean, median, smallest and largest of what is known. */
static void put_statistics(tl_sheet *sheet, const tl_coll_syncs *s, const sum *g, double (*value)(const tl_coll_sync *),
                           bool whole)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++)
        if (!isnan(value(g->v[i])))
            s->work[n++] = value(g->v[i]);
    tl_sheet_real(sheet, tl_pandas_mean(s->work, n));
    tl_sheet_real(sheet, tl_numpy_median(s->work, n)); /* sorts them */
    tl_sheet_number(sheet, n > 0 ? s->work[0] : NAN, whole);
    tl_sheet_number(sheet, n > 0 ? s->work[n - 1] : NAN, whole);
}

static void put_sum(tl_sheet *sheet, const tl_coll_syncs *s, const sum *g)
{
    const tl_colls *colls = s->colls;
    const tl_coll_row *row = g->v[0]->row;
    int64_t size = TL_COLL_NO_NUMBER;
    double mb = NAN;

    for (size_t i = 0; i < g->n; i++) {
        size = size == TL_COLL_NO_NUMBER ? g->v[i]->row->group_size : size;
        mb = isnan(mb) ? g->v[i]->mb : mb;
    }
    tl_sheet_text(sheet, row->name != TL_NO_NAME ? tl_names_text(&colls->texts, row->name) : TL_TEXT("Unknown"));
    tl_sheet_text(sheet, row->dtype != TL_NO_NAME ? tl_names_text(&colls->texts, row->dtype) : TL_TEXT("Unknown"));
    if (row->in_nelems != TL_COLL_NO_NUMBER)
        tl_coll_put_number(sheet, row->in_nelems, colls->whole_in);
    else
        tl_sheet_words(sheet, "Unknown");
    tl_coll_put_text(sheet, colls, row->group);
    tl_coll_put_number(sheet, size, colls->whole_group_size);
    tl_sheet_real(sheet, mb);
    put_statistics(sheet, s, g, latency, colls->whole_dur);
    put_statistics(sheet, s, g, start_skew, colls->whole_ts);
    put_statistics(sheet, s, g, end_skew, s->whole_times);
    if (s->has_bandwidth) {
        put_statistics(sheet, s, g, algo, false);
        put_statistics(sheet, s, g, bus, false);
    }
    tl_sheet_int(sheet, (int64_t)g->n);
    tl_sheet_real(sheet, g->total / 1000);
    tl_sheet_end_row(sheet);
}

#define STATISTICS(of) of "_mean," of "_median," of "_min," of "_max,"

static tl_status write_sums(const tl_coll_syncs *s, const sum *sums, size_t n, const char *dir, tl_error *err)
{
    tl_sheet sheet;
    char header[1024];

    snprintf(header, sizeof header, "%s%s%s",
             "Collective name,dtype,In msg nelems,Process Group Name,Group size,Full msg size (MB)," STATISTICS(
                 "comm_latency") STATISTICS("skew in start time") STATISTICS("skew in end time"),
             s->has_bandwidth ? STATISTICS("algo bw (GB/s)") STATISTICS("bus bw (GB/s)") : "",
             "count,Total comm latency (ms)");
    tl_status st = tl_sheet_open(&sheet, dir, "nccl_summary_implicit_sync.csv", header, err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        put_sum(&sheet, s, &sums[i]);
    return tl_sheet_close(&sheet, err);
}

static tl_status write_summary(const tl_coll_syncs *s, const char *dir, tl_error *err)
{
    const tl_coll_sync **v = tl_malloc((s->v.n + 1) * sizeof *v);
    TL_VEC(sum) sums = { 0 };
    bool whole = v != NULL;
    tl_status st;

    for (size_t i = 0; whole && i < s->v.n; i++)
        v[i] = &s->v.v[i];
    if (whole)
        qsort(v, s->v.n, sizeof *v, by_group);
    for (size_t i = 0, next; whole && i < s->v.n; i = next) {
        for (next = i + 1; next < s->v.n && in_groups(v[i], v[next]) == 0;)
            next++;
        whole = tl_vec_room(&sums);
        if (!whole)
            break;
        sum *g = &sums.v[sums.n++];
        *g = (sum){ .v = &v[i], .n = next - i };
        for (size_t k = 0; k < g->n; k++)
            g->total += g->v[k]->latency;
    }
    if (whole && sums.n > 0)
        qsort(sums.v, sums.n, sizeof *sums.v, largest_first);
    st = whole ? write_sums(s, sums.v, sums.n, dir, err) : tl_fail_memory(err, "sums of collectives");
    free(v);
    free(sums.v);
    return st;
}

tl_status tl_coll_write_sync(const tl_colls *colls, const char *dir, uint32_t *differ, tl_error *err)
{
    tl_coll_syncs s = { .colls = colls };
    tl_status st = collect(&s, differ) ? TL_OK : tl_fail_memory(err, "collectives of all ranks");

    if (st == TL_OK && *differ == TL_NONE && s.v.n > 0) {
        st = write_syncs(&s, dir, err);
        if (st == TL_OK)
            st = write_summary(&s, dir, err);
        if (st == TL_OK)
            st = tl_coll_write_stragglers(&s, dir, err);
    }
    free(s.v.v);
    free(s.ranks.v);
    free(s.work);
    return st;
}
