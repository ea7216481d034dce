/* rank_row.c - what the device did, in a few numbers. */
#include "tlmpi/analysis/time.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/tables.h"
#include <stdio.h>
#include <string.h>

static void describe_work(const tl_rank_view *view, tl_rank *row)
{
    row->too_long = (int64_t)view->ntoo_long;
    row->too_long_ns = view->too_long_ns;
    row->intervals = (int64_t)(view->nkernels + view->nsyncs);
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        bool new_device = i == 0 || k->device != k[-1].device;
        row->devices += new_device;
        row->device = row->devices == 1 ? k->device : -1;
        row->streams += new_device || k->stream != k[-1].stream;
        row->no_launch += k->launch == TL_NONE;
        if (k->launch != TL_NONE && k->start_ns < k->launch_ns) {
            row->before_launch++;
            row->before_launch_ns = tl_ns_max(row->before_launch_ns, tl_ns_between(k->launch_ns, k->start_ns));
        }
        if (k->kind == TL_COMPUTE || k->kind == TL_COMM)
            row->kernel_ns = tl_ns_add(row->kernel_ns, k->end_ns - k->start_ns);
        if (k->unclassified && k->kind == TL_COMPUTE)
            row->unclassified_ns = tl_ns_add(row->unclassified_ns, k->end_ns - k->start_ns);
        if (row->first_ns == TL_TIME_UNKNOWN || k->start_ns < row->first_ns)
            row->first_ns = k->start_ns;
        if (row->last_ns == TL_TIME_UNKNOWN || k->end_ns > row->last_ns)
            row->last_ns = k->end_ns;
    }
}

/* An entry that is left out is one that is lost. */
void tl_rank_describe_steps(const tl_rank_view *view, tl_rank *row)
{
    char words[160];
    row->steps = (int32_t)view->nsteps;
    if (view->nlost_steps + view->nagain_steps == 0)
        return;
    row->status = row->status == TL_RANK_OK || row->status == TL_RANK_NO_GPU ? TL_RANK_DAMAGED : row->status;
    if (row->error[0] != 0)
        return;
    if (view->nlost_steps > 0)
        snprintf(words, sizeof words,
                 "expected ProfilerStep# with numbers from 0 to 2147483647, found others; left out %zu mark%s, what was "
                 "launched there is in no step",
                 view->nlost_steps, view->nlost_steps > 1 ? "s" : "");
    else
        snprintf(words, sizeof words,
                 "expected each ProfilerStep# once, found a number again after another; left out %zu mark%s, what was "
                 "launched there is in no step",
                 view->nagain_steps, view->nagain_steps > 1 ? "s" : "");
    tl_cell_text(row->error, sizeof row->error, words, strlen(words));
}

void tl_rank_describe(const tl_rank_view *view, tl_rank *row)
{
    describe_work(view, row);
    tl_rank_describe_steps(view, row);
}
