#include "tlmpi/compat/spans.h"
#include "tlmpi/base/group.h"
#include <math.h>
#include <stdlib.h>

TL_SORT_BY(by_start, tl_real_span, ts)

void tl_real_spans_join(tl_real_spans *spans)
{
    size_t n = 0;

    tl_vec_sort(spans, by_start);
    TL_EACH (const tl_real_span, each, *spans) {
        if (n == 0 || each->ts > spans->v[n - 1].end)
            spans->v[n++] = *each;
        else
            spans->v[n - 1].end = fmax(spans->v[n - 1].end, each->end);
    }
    spans->n = n;
}

double tl_real_spans_total(const tl_real_spans *spans)
{
    double us = 0;
    TL_EACH (const tl_real_span, each, *spans)
        us += each->end - each->ts;
    return us;
}

/* The start of a class's span, or with a negative bit its end. */
typedef struct edge {
    double ts;
    int bit;
} edge;

TL_SORT_BY(by_time, edge, ts)

void tl_real_spans_overlap(const tl_real_spans *spans, size_t n, bool whole, double us[TL_NSETS])
{
    TL_VEC(edge) edges = { 0 };
    int running = 0;

    for (int set = 0; set < TL_NSETS; set++)
        us[set] = NAN;
    for (size_t k = 0; k < n; k++)
        TL_EACH (const tl_real_span, each, spans[k]) {
            tl_vec_push(&edges, (edge){ each->ts, 1 << k });
            tl_vec_push(&edges, (edge){ each->end, -(1 << k) });
        }
    tl_vec_sort(&edges, by_time);
    for (size_t i = 0; i < edges.n; i++) {
        const double piece = i + 1 < edges.n ? edges.v[i + 1].ts - edges.v[i].ts : 0;
        running += edges.v[i].bit;
        if (running > 0)
            us[running] = fmax(us[running], 0) + (whole ? trunc(piece) : piece);
    }
    free(edges.v);
}
