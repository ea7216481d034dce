/* spans.c - merging rows. */
#include "tlmpi/compat/hta/frame/spans.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

static int by_ts(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    return TL_COMPARE(rows[a].ts, rows[b].ts);
}

/* Rows sorted by start; one that starts after everything before it has ended begins a new span.  Rows that touch are
 * one span, an empty row alone is a span of length 0, and a row of duration -1 alone one of -1. */
tl_hta_spans tl_hta_spans_of(const tl_hta_frame *frame, const tl_hta_symbols *symbols, tl_hta_class class)
{
    const tl_hta_row *all = frame->rows.v;
    tl_hta_spans out = { 0 };
    size_t n = 0;
    double latest = -INFINITY; /* the latest end of the rows before */
    uint32_t *rows = tl_malloc(frame->rows.n * sizeof *rows);

    for (size_t i = 0; i < frame->rows.n; i++)
        if (tl_hta_on_stream(&all[i]) && (class == TL_HTA_ANY_CLASS || symbols->v.v[all[i].name].class == class))
            rows[n++] = (uint32_t)i;
    tl_sort_index(rows, n, by_ts, all);
    for (size_t i = 0; i < n; i++) {
        double ts = all[rows[i]].ts, end = ts + all[rows[i]].dur;
        if (out.n == 0 || ts > latest)
            tl_vec_push(&out, (tl_hta_span){ ts, end });
        else
            out.v[out.n - 1].end = fmax(out.v[out.n - 1].end, end);
        latest = fmax(latest, end);
    }
    free(rows);
    return out;
}

double tl_hta_spans_total(const tl_hta_spans *spans)
{
    const size_t stride = sizeof *spans->v / sizeof(double);

    if (spans->n == 0)
        return 0;
    return tl_numpy_sum(&spans->v[0].end, spans->n, stride) - tl_numpy_sum(&spans->v[0].ts, spans->n, stride);
}

double tl_hta_spans_lengths(const tl_hta_spans *spans)
{
    double *lengths = tl_malloc(spans->n * sizeof *lengths);

    for (size_t i = 0; i < spans->n; i++)
        lengths[i] = spans->v[i].end - spans->v[i].ts;
    double sum = tl_numpy_sum(lengths, spans->n, 1);
    free(lengths);
    return sum;
}

/*     a       [       )     [        )
 *     b    [     )  [   )     [   )[    )
 *     both    [  )  [  )      [   )[ )            one length each, added up in this order
 */
double tl_hta_spans_overlap(const tl_hta_spans *a, const tl_hta_spans *b)
{
    double *lengths = tl_malloc((a->n + b->n) * sizeof *lengths);
    size_t n = 0;

    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        double from = fmax(a->v[i].ts, b->v[j].ts), to = fmin(a->v[i].end, b->v[j].end);
        if (from < to)
            lengths[n++] = to - from;
        if (a->v[i].end < b->v[j].end)
            i++;
        else
            j++;
    }
    double sum = tl_numpy_sum(lengths, n, 1);
    free(lengths);
    return sum;
}
