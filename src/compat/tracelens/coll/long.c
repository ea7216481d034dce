/* long.c - each collective kernel of each rank, and their sums by rank and kind. */
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/tracelens/coll.h"
#include <stdlib.h>

static void put_long(tl_sheet *sheet, const tl_colls *colls, const tl_coll_row *row)
{
    tl_coll_put_id(sheet, colls, row);
    tl_sheet_int(sheet, row->index);
    tl_sheet_int(sheet, row->rank);
    tl_coll_put_text(sheet, colls, row->group);
    tl_coll_put_text(sheet, colls, row->ranks);
    tl_coll_put_text(sheet, colls, row->name);
    tl_coll_put_number(sheet, row->group_size, colls->whole_group_size);
    tl_coll_put_text(sheet, colls, row->dtype);
    tl_coll_put_number(sheet, row->in_nelems, colls->whole_in);
    tl_sheet_real(sheet, tl_coll_in_mb(colls, row));
    tl_coll_put_number(sheet, row->out_nelems, colls->whole_out);
    tl_sheet_real(sheet, tl_coll_out_mb(colls, row));
    tl_coll_put_text(sheet, colls, row->in_split);
    tl_coll_put_text(sheet, colls, row->out_split);
    tl_coll_put_number(sheet, row->stream, colls->whole_stream);
    tl_sheet_number(sheet, row->ts, colls->whole_ts);
    tl_sheet_number(sheet, row->dur, colls->whole_dur);
    tl_coll_put_node(sheet, colls, row->rank);
    tl_coll_put_span(sheet, colls, row->ranks);
    tl_sheet_end_row(sheet);
}

tl_status tl_coll_write_long(const tl_colls *colls, const char *dir, tl_error *err)
{
    tl_sheet sheet;

    if (colls->rows.n == 0)
        return TL_OK;
    tl_status st = tl_sheet_open(&sheet, dir, "nccl_long.csv", NULL, err);
    if (st != TL_OK)
        return st;
    tl_sheet_head(&sheet, "collective_id,index_in_group,rank,Process Group Name,Process Group Ranks,"
                          "Collective name,Group size,dtype,In msg nelems,In msg size (MB),Out msg nelems,"
                          "Out msg size (MB),In split size,Out split size,stream,ts,dur");
    tl_coll_head_nodes(&sheet, colls, "node_id,node_span");
    tl_sheet_end_row(&sheet);
    for (size_t i = 0; i < colls->rows.n; i++)
        put_long(&sheet, colls, &colls->rows.v[i]);
    return tl_sheet_close(&sheet, err);
}

/* ------------------------------------------------------------------------------------------------------------ sums */

/* A row with anything missing belongs to no group. */
static bool is_complete(const tl_coll_row *r)
{
    return r->ranks != TL_NO_NAME && r->name != TL_NO_NAME && r->group_size != TL_COLL_NO_NUMBER &&
           r->dtype != TL_NO_NAME && r->in_nelems != TL_COLL_NO_NUMBER && r->out_nelems != TL_COLL_NO_NUMBER &&
           r->in_split != TL_NO_NAME && r->out_split != TL_NO_NAME && r->stream != TL_COLL_NO_NUMBER;
}

static int in_groups(const tl_coll_row *x, const tl_coll_row *y)
{
    int order = TL_COMPARE(x->rank, y->rank);
    order = order != 0 ? order : TL_COMPARE(x->group, y->group);
    order = order != 0 ? order : TL_COMPARE(x->ranks, y->ranks);
    order = order != 0 ? order : TL_COMPARE(x->name, y->name);
    order = order != 0 ? order : TL_COMPARE(x->group_size, y->group_size);
    order = order != 0 ? order : TL_COMPARE(x->dtype, y->dtype);
    order = order != 0 ? order : TL_COMPARE(x->in_nelems, y->in_nelems);
    order = order != 0 ? order : TL_COMPARE(x->out_nelems, y->out_nelems);
    order = order != 0 ? order : TL_COMPARE(x->in_split, y->in_split);
    order = order != 0 ? order : TL_COMPARE(x->out_split, y->out_split);
    return order != 0 ? order : TL_COMPARE(x->stream, y->stream);
}

/* Rows of a group stay in their order, which is that of one array. */
static int by_group(const void *a, const void *b)
{
    const tl_coll_row *x = *(const tl_coll_row *const *)a, *y = *(const tl_coll_row *const *)b;
    int order = in_groups(x, y);
    return order != 0 ? order : TL_COMPARE(x, y);
}

typedef struct sum {
    const tl_coll_row **v;
    size_t n;
    double total, mean, std, min, max;
} sum;

static int largest_first(const void *a, const void *b)
{
    const sum *x = a, *y = b;
    return x->total != y->total ? TL_COMPARE(y->total, x->total) : TL_COMPARE(x->v[0], y->v[0]);
}

static void describe(sum *s, double *work)
{
    s->min = s->max = s->v[0]->dur;
    for (size_t i = 0; i < s->n; i++) {
        work[i] = s->v[i]->dur;
        s->min = fmin(s->min, work[i]);
        s->max = fmax(s->max, work[i]);
    }
    s->total = tl_pandas_sum(work, s->n);
    s->mean = tl_pandas_mean(work, s->n);
    s->std = tl_pandas_std(work, s->n);
}

static void put_sum(tl_sheet *sheet, const tl_colls *colls, const sum *s)
{
    const tl_coll_row *row = s->v[0];

    tl_sheet_int(sheet, row->rank);
    tl_coll_put_text(sheet, colls, row->group);
    tl_coll_put_text(sheet, colls, row->ranks);
    tl_coll_put_text(sheet, colls, row->name);
    tl_coll_put_number(sheet, row->group_size, colls->whole_group_size);
    tl_coll_put_text(sheet, colls, row->dtype);
    tl_coll_put_number(sheet, row->in_nelems, colls->whole_in);
    tl_coll_put_number(sheet, row->out_nelems, colls->whole_out);
    tl_coll_put_text(sheet, colls, row->in_split);
    tl_coll_put_text(sheet, colls, row->out_split);
    tl_coll_put_number(sheet, row->stream, colls->whole_stream);
    tl_sheet_real(sheet, tl_coll_in_mb(colls, row));
    tl_sheet_real(sheet, tl_coll_out_mb(colls, row));
    tl_sheet_number(sheet, s->total, colls->whole_dur);
    tl_sheet_real(sheet, s->mean);
    tl_sheet_real(sheet, s->std);
    tl_sheet_number(sheet, s->min, colls->whole_dur);
    tl_sheet_number(sheet, s->max, colls->whole_dur);
    tl_sheet_int(sheet, (int64_t)s->n);
    tl_coll_put_node(sheet, colls, row->rank);
    tl_coll_put_span(sheet, colls, row->ranks);
    tl_sheet_end_row(sheet);
}

static tl_status write_sums(const tl_colls *colls, const sum *sums, size_t n, const char *dir, const char *name,
                            tl_error *err)
{
    tl_sheet sheet;

    if (n == 0)
        return TL_OK;
    tl_status st = tl_sheet_open(&sheet, dir, name, NULL, err);
    if (st != TL_OK)
        return st;
    tl_sheet_head(&sheet, "rank,Process Group Name,Process Group Ranks,Collective name,Group size,dtype,"
                          "In msg nelems,Out msg nelems,In split size,Out split size,stream,"
                          "In msg size (MB)_first,Out msg size (MB)_first,dur_sum,dur_mean,dur_std,dur_min,"
                          "dur_max,operation_count");
    tl_coll_head_nodes(&sheet, colls, "node_id,node_span");
    tl_sheet_end_row(&sheet);
    for (size_t i = 0; i < n; i++)
        put_sum(&sheet, colls, &sums[i]);
    return tl_sheet_close(&sheet, err);
}

tl_status tl_coll_write_summary_long(const tl_colls *colls, const char *dir, const char *name, tl_error *err)
{
    const tl_coll_row **v = tl_malloc((colls->rows.n + 1) * sizeof *v);
    double *work = tl_malloc((colls->rows.n + 1) * sizeof *work);
    TL_VEC(sum) sums = { 0 };
    size_t n = 0;
    tl_status st = TL_OK;

    if (v == NULL || work == NULL) {
        st = tl_fail_memory(err, "sums of collectives");
        goto done;
    }
    for (size_t i = 0; i < colls->rows.n; i++)
        if (is_complete(&colls->rows.v[i]))
            v[n++] = &colls->rows.v[i];
    qsort(v, n, sizeof *v, by_group);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && in_groups(v[i], v[next]) == 0;)
            next++;
        if (!tl_vec_room(&sums)) {
            st = tl_fail_memory(err, "sums of collectives");
            goto done;
        }
        sums.v[sums.n] = (sum){ .v = &v[i], .n = next - i };
        describe(&sums.v[sums.n++], work);
    }
    if (sums.n > 0)
        qsort(sums.v, sums.n, sizeof *sums.v, largest_first);
    st = write_sums(colls, sums.v, sums.n, dir, name, err);
done:
    free(v);
    free(work);
    free(sums.v);
    return st;
}
