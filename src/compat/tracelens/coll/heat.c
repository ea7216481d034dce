/* heat.c - all-to-all-v: the bytes that each rank sent to each. */
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/tracelens/coll.h"
#include <stdlib.h>

/* What a rank sent to the j-th of its group. */
typedef struct flow {
    int64_t from;
    size_t to;
    double mb;
    uint64_t n;
} flow;

typedef struct heat {
    TL_VEC(flow) flows;
    tl_map known;          /* hash of from and to -> place in flows */
    TL_VEC(int64_t) split; /* of the row at hand */
} heat;

static void add_flow(heat *h, int64_t from, size_t to, double mb)
{
    for (uint64_t key = tl_hash_mix((uint64_t)from, to);; key++) {
        uint32_t at = tl_map_get(&h->known, key);
        if (at == TL_MAP_NONE) {
            at = (uint32_t)h->flows.n;
            tl_map_put(&h->known, key, at);
            tl_vec_push(&h->flows, (flow){ .from = from, .to = to });
        }
        flow *f = &h->flows.v[at];
        if (f->from == from && f->to == to) {
            f->mb += mb;
            f->n++;
            return;
        }
    }
}

/* "[256, 512, 768]" to h->split.  False: it is no list of whole numbers. */
static bool read_split(heat *h, tl_text text)
{
    h->split.n = 0;
    if (text.n < 2 || text.p[0] != '[' || text.p[text.n - 1] != ']')
        return false;
    for (size_t at = 1; at < text.n - 1;) {
        int64_t number;
        size_t from = at;
        while (at < text.n - 1 && text.p[at] != ',')
            at++;
        size_t to = at++;
        while (from < to && text.p[from] == ' ')
            from++;
        while (to > from && text.p[to - 1] == ' ')
            to--;
        if (!tl_decimal_to_int(text.p + from, to - from, &number))
            return false;
        tl_vec_push(&h->split, number);
    }
    return true;
}

static int by_pair(const void *a, const void *b)
{
    const flow *x = a, *y = b;
    return x->from != y->from ? TL_COMPARE(x->from, y->from) : TL_COMPARE(x->to, y->to);
}

static void collect_flows(heat *h, const tl_colls *colls)
{
    for (size_t i = 0; i < colls->rows.n; i++) {
        const tl_coll_row *row = &colls->rows.v[i];
        if (!tl_text_is(tl_names_text(&colls->texts, row->name), "all_to_allv") ||
            !read_split(h, tl_names_text(&colls->texts, row->in_split)) || (int64_t)h->split.n != row->group_size ||
            isnan(tl_coll_mb(colls, row, 1)))
            continue;
        for (size_t k = 0; k < h->split.n; k++)
            add_flow(h, row->rank, k, tl_coll_mb(colls, row, h->split.v[k]));
    }
    if (h->flows.n > 0)
        qsort(h->flows.v, h->flows.n, sizeof *h->flows.v, by_pair);
}

void tl_coll_write_heat(const tl_colls *colls, tl_csv_folder *folder)
{
    heat h = { .known = { 0 } };

    collect_flows(&h, colls);
    if (h.flows.n > 0) {
        tl_csv csv =
            tl_csv_open(folder, "nccl_all2allv_heatmap.csv", "src_rank,dst_rank,total_sent_MB,avg_sent_MB,count");
        for (size_t i = 0; i < h.flows.n; i++) {
            const flow *f = &h.flows.v[i];
            TL_ROW(&csv, tl_int(f->from), tl_int((int64_t)f->to), tl_real(f->mb), tl_real(f->mb / (double)f->n),
                   tl_int((int64_t)f->n));
        }
        tl_csv_close(&csv);
    }
    free(h.flows.v);
    free(h.split.v);
    tl_map_free(&h.known);
}
