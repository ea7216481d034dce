/* spans.c - merging rows. */
#include "tlmpi/compat/hta/frame/spans.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include <math.h>
#include <stdlib.h>

/* Rows of one array: those with the same ts keep their order. */
static int by_ts(const void *a, const void *b)
{
    const tl_hta_row *x = *(const tl_hta_row *const *)a, *y = *(const tl_hta_row *const *)b;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return TL_COMPARE(x, y);
}

/* Rows sorted by start; one that starts after everything before it has ended begins a new span.  Rows that touch are
 * one span, an empty row alone is a span of length 0, and a row of duration -1 alone one of -1. */
bool tl_hta_spans_of(tl_hta_spans *out, const tl_hta_frame *frame, const tl_hta_symbols *symbols, tl_hta_class class)
{
    size_t n = 0;
    double latest = -INFINITY; /* end so far */
    const tl_hta_row **rows = tl_malloc(frame->rows.n * sizeof *rows);
    if (rows == NULL)
        return false;

    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        if (tl_hta_on_stream(row) && (class == TL_HTA_ANY_CLASS || symbols->v.v[row->name].class == class))
            rows[n++] = row;
    }
    if (n > 0)
        qsort(rows, n, sizeof *rows, by_ts);

    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        double ts = rows[i]->ts, end = ts + rows[i]->dur;
        if (ts > latest) {
            if (!tl_vec_room(out)) {
                free(rows);
                return false;
            }
            out->v[out->n++] = (tl_hta_span){ ts, end };
        } else {
            tl_hta_span *last = &out->v[out->n - 1];
            last->end = fmax(last->end, end);
        }
        latest = fmax(latest, end);
    }
    free(rows);
    return true;
}

double tl_hta_spans_total(const tl_hta_spans *spans)
{
    const size_t stride = sizeof *spans->v / sizeof(double);

    if (spans->n == 0)
        return 0;
    return tl_numpy_sum(&spans->v[0].end, spans->n, stride) - tl_numpy_sum(&spans->v[0].ts, spans->n, stride);
}

bool tl_hta_spans_lengths(const tl_hta_spans *spans, double *out)
{
    double *lengths = tl_malloc(spans->n * sizeof *lengths);
    if (lengths == NULL)
        return false;

    for (size_t i = 0; i < spans->n; i++)
        lengths[i] = spans->v[i].end - spans->v[i].ts;
    *out = tl_numpy_sum(lengths, spans->n, 1);
    free(lengths);
    return true;
}

/*     a       [       )     [        )
 *     b    [     )  [   )     [   )[    )
 *     both    [  )  [  )      [   )[ )            one length each, added up in this order
 */
bool tl_hta_spans_overlap(const tl_hta_spans *a, const tl_hta_spans *b, double *out)
{
    TL_VEC(double) lengths = { 0 };

    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        double from = fmax(a->v[i].ts, b->v[j].ts), to = fmin(a->v[i].end, b->v[j].end);
        if (from < to) {
            if (!tl_vec_room(&lengths)) {
                free(lengths.v);
                return false;
            }
            lengths.v[lengths.n++] = to - from;
        }
        if (a->v[i].end < b->v[j].end)
            i++;
        else
            j++;
    }
    *out = lengths.n > 0 ? tl_numpy_sum(lengths.v, lengths.n, 1) : 0;
    free(lengths.v);
    return true;
}
