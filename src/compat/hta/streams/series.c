/* series.c - the order of a series, and cells. */
#include "series.h"
#include <stdlib.h>

uint32_t *tl_hta_series_order(const void *things, const double *ts, size_t n, tl_compare *compare)
{
    uint32_t *order = tl_malloc((n + 1) * sizeof *order);
    if (order == NULL)
        return NULL;
    tl_numpy_argsort(order, ts, n);
    if (!tl_sort_index(order, n, compare, things)) {
        free(order);
        return NULL;
    }
    return order;
}

void tl_hta_write_described(tl_sheet *csv, double *values, size_t n)
{
    tl_described d = tl_pandas_describe(values, n);

    tl_sheet_real(csv, d.count);
    tl_sheet_real(csv, d.mean);
    tl_sheet_real(csv, d.std);
    tl_sheet_real(csv, d.min);
    for (size_t i = 0; i < 3; i++)
        tl_sheet_real(csv, d.quartile[i]);
    tl_sheet_real(csv, d.max);
}

static void write_id(tl_sheet *csv, const tl_hta_frame *frame, int64_t number, uint32_t text)
{
    if (text == TL_NO_NAME)
        tl_sheet_int(csv, number);
    else
        tl_sheet_text(csv, tl_names_text(&frame->track_names, text));
}

void tl_hta_write_pid(tl_sheet *csv, const tl_hta_frame *frame, uint32_t track)
{
    write_id(csv, frame, frame->tracks.v[track].pid, frame->tracks.v[track].pid_text);
}

void tl_hta_write_tid(tl_sheet *csv, const tl_hta_frame *frame, uint32_t track)
{
    write_id(csv, frame, frame->tracks.v[track].tid, frame->tracks.v[track].tid_text);
}
