/* interval.c - what ran on the device, when, and what was it?
 *
 * One row for each piece of device work, and one for each wait that the profiler recorded there (kind sync).
 */
#include "tlmpi/analysis/time.h"
#include "tlmpi/model/tables.h"

/* Whether the kernel's row stands before that of the wait; both come in the order of the table's keys. */
static bool stands_before(const tl_kernel *k, const tl_sync *s)
{
    if (k->device != s->device)
        return k->device < s->device;
    if (k->stream != s->stream)
        return k->stream < s->stream;
    return k->start_ns <= s->start_ns;
}

/* What is not above 0 joins nothing. */
static int64_t number_of(int64_t correlation)
{
    return correlation > 0 ? correlation : -1;
}

static void interval_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    (void)config;
    tl_table *table = tl_tables_get(out, &tl_interval_schema);

    tl_table_reserve(table, view->nkernels + view->nsyncs);
    size_t i = 0, j = 0;
    while (i < view->nkernels || j < view->nsyncs) {
        tl_interval *row = tl_table_add(table);
        if (j == view->nsyncs || (i < view->nkernels && stands_before(&view->kernels[i], &view->syncs[j]))) {
            const tl_kernel *k = &view->kernels[i++];
            const tl_launch *launch = k->launch != TL_NONE ? &view->launches[k->launch] : NULL;
            *row = (tl_interval){
                .rank = view->rank,
                .device = k->device,
                .stream = k->stream,
                .start_ns = k->start_ns,
                .end_ns = k->end_ns,
                .duration_ns = k->end_ns - k->start_ns,
                .kind = k->kind,
                .name = k->name,
                .correlation = number_of(k->correlation),
                .launch_ns = k->launch_ns,
                .bytes = k->bytes >= 0 ? k->bytes : -1,
                .step = k->step,
                .operator= launch != NULL ? launch->op_name : TL_NO_NAME,
                .annotation = launch != NULL ? launch->annotation_name : TL_NO_NAME,
            };
        } else {
            const tl_sync *s = &view->syncs[j++];
            *row = (tl_interval){
                .rank = view->rank,
                .device = s->device,
                .stream = s->stream,
                .start_ns = s->start_ns,
                .end_ns = s->end_ns,
                .duration_ns = s->end_ns - s->start_ns,
                .kind = TL_SYNC,
                .name = s->name,
                .correlation = number_of(s->correlation),
                .launch_ns = s->call_ns,
                .bytes = -1,
                .step = s->step,
                .operator= TL_NO_NAME,
                .annotation = TL_NO_NAME,
            };
        }
    }
}

int64_t tl_interval_first(const tl_table *intervals)
{
    int64_t first = TL_TIME_UNKNOWN;
    for (size_t i = 0; i < intervals->n; i++) {
        const tl_interval *row = tl_table_row(intervals, i);
        if (first == TL_TIME_UNKNOWN || row->start_ns < first)
            first = row->start_ns;
    }
    return first;
}

TL_TABLE_DEFINE(interval, TL_INTERVAL_FIELDS, TL_SCOPE_EVENT, "device work",
                "What ran on which device stream, from when to when, and which call queued it?");

static const tl_schema *const tables[] = { &tl_interval_schema, NULL };

const tl_analysis tl_interval_analysis = {
    .name = "interval",
    .question = "What ran on the device, when, and what was it?",
    .tables = tables,
    .per_rank = interval_per_rank,
};
