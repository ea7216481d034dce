/* interval.c - fills table interval (what ran on the device, and when) and the device columns of table rank.
 *
 * Table interval has one row for each piece of device work, and one for each wait on the device that the profiler
 * recorded (kind sync).
 */
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdio.h>
#include <string.h>

static tl_interval row_of(const tl_rank_view *view, const tl_kernel *k)
{
    const tl_launch *launch = k->launch != TL_NONE ? &view->launches[k->launch] : NULL;
    return (tl_interval){ .rank = view->rank,
                          .device = k->device,
                          .stream = k->stream,
                          .start_ns = k->start_ns,
                          .end_ns = k->end_ns,
                          .duration_ns = k->end_ns - k->start_ns,
                          .kind = k->kind,
                          .name = k->name,
                          .correlation = k->correlation > 0 ? k->correlation : -1, /* other values do not join work to a
                                                                                    * call */
                          .launch_ns = k->launch_ns,
                          .bytes = k->bytes >= 0 ? k->bytes : -1,
                          .step = k->step,
                          .operator= launch != NULL ? launch->op_name : TL_NO_NAME,
                          .annotation = launch != NULL ? launch->annotation_name : TL_NO_NAME };
}

/* Returns a recorded wait in the form of device work. */
static tl_kernel wait_of(const tl_sync *s)
{
    return (tl_kernel){ .start_ns = s->start_ns,
                        .end_ns = s->end_ns,
                        .launch_ns = s->call_ns,
                        .correlation = s->correlation,
                        .bytes = -1,
                        .name = s->name,
                        .launch = TL_NONE,
                        .device = s->device,
                        .stream = s->stream,
                        .step = s->step,
                        .kind = TL_SYNC };
}

/* Kernels and waits both come in the order of the table's keys. */
static void interval_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_table *table = tl_tables_get(out, &tl_interval_schema);
    (void)config;

    tl_table_reserve(table, view->nkernels + view->nsyncs);
    for (size_t i = 0, j = 0; i < view->nkernels || j < view->nsyncs;) {
        bool work = j == view->nsyncs ||
                    (i < view->nkernels && TL_ORDER(&view->kernels[i], &view->syncs[j], device, stream, start_ns) <= 0);
        const tl_kernel k = work ? view->kernels[i++] : wait_of(&view->syncs[j++]);
        const tl_interval row = row_of(view, &k);
        tl_table_append(table, &row, 1);
    }
}

int64_t tl_interval_first(const tl_table *intervals)
{
    int64_t first = TL_TIME_UNKNOWN;
    TL_ROWS (const tl_interval, row, intervals)
        first = first == TL_TIME_UNKNOWN ? row->start_ns : tl_ns_min(first, row->start_ns);
    return first;
}

const tl_analysis tl_interval_analysis = { .per_rank = interval_per_rank };

void tl_rank_describe_steps(const tl_rank_view *view, tl_rank *row)
{
    char words[160];
    size_t n = view->nlost_steps > 0 ? view->nlost_steps : view->nagain_steps;
    if (n == 0)
        return;
    row->status = row->status == TL_RANK_OK || row->status == TL_RANK_NO_GPU ? TL_RANK_DAMAGED : row->status;
    if (row->error[0] != 0)
        return;
    snprintf(words, sizeof words, "expected %s; left out %zu mark%s, what was launched there is in no step",
             view->nlost_steps > 0 ? "ProfilerStep# with numbers from 0 to 2147483647, found others"
                                   : "each ProfilerStep# once, found a number again after another",
             n, n > 1 ? "s" : "");
    tl_cell_text(row->error, sizeof row->error, words, strlen(words));
}

void tl_rank_describe(const tl_rank_view *view, tl_rank *row)
{
    row->too_long = (int64_t)view->ntoo_long;
    row->too_long_ns = view->too_long_ns;
    row->intervals = (int64_t)(view->nkernels + view->nsyncs);
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        int64_t ns = k->end_ns - k->start_ns;
        bool new_device = i == 0 || k->device != k[-1].device;
        row->devices += new_device;
        row->device = row->devices == 1 ? k->device : -1;
        row->no_launch += k->launch == TL_NONE;
        if (k->launch != TL_NONE && k->start_ns < k->launch_ns) {
            row->before_launch++;
            row->before_launch_ns = tl_ns_max(row->before_launch_ns, tl_ns_between(k->launch_ns, k->start_ns));
        }
        if (k->kind == TL_COMPUTE || k->kind == TL_COMM)
            row->kernel_ns = tl_ns_add(row->kernel_ns, ns);
        if (k->unclassified && k->kind == TL_COMPUTE)
            row->unclassified_ns = tl_ns_add(row->unclassified_ns, ns);
        row->first_ns = row->first_ns == TL_TIME_UNKNOWN ? k->start_ns : tl_ns_min(row->first_ns, k->start_ns);
        row->last_ns = tl_ns_max(row->last_ns, k->end_ns); /* TL_TIME_UNKNOWN is the smallest value */
    }
    tl_rank_describe_steps(view, row);
}
