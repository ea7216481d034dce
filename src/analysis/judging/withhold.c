/* withhold.c - see withhold.h. */
#include "withhold.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Nobody stands out by less than this share of the steps. */
static const double least_hidden = 0.01;

static double all_steps_ns(const tl_verdict_input *in)
{
    double sum = 0;
    for (size_t s = 0; s < in->nsteps; s++)
        sum += (double)in->steps[s].ns;
    return sum;
}

/* What may have stayed hidden, in all steps: where waits are all that tells, a delay in each collective; where the
 * ranks' own time has been replayed, no more in a step than the clocks are apart. */
static double hidden_ns(const tl_verdict_input *in, const tl_hidden *h)
{
    return h->uncertainty_ns * (in->gain_ns != NULL ? (double)in->nsteps : 2 * (double)h->hidden);
}

/* What the rank costs of each step that it stands out in: the mean of what waits and repairs tell, whichever is more.
 * Of ranks that are late together neither shows it alone. */
static double cost_of_step(const tl_verdict_input *in, const tl_blame_step *steps, const tl_straggler *row,
                           int64_t together_ns)
{
    double wall_ns = 0, n = 0, gain_ns = (double)(row->gain_ns > together_ns ? row->gain_ns : together_ns);
    for (size_t s = 0; s < in->nsteps; s++) {
        wall_ns += steps[s].flagged ? (double)steps[s].wall_ns : 0;
        n += steps[s].flagged != 0;
    }
    n = fmax(n, fmax(1, round(row->share_steps * (double)in->nsteps)));
    return fmax(wall_ns, gain_ns) / n;
}

/* The verdict stands, but not on arrivals. */
static void say_own_time(tl_straggler *row)
{
    static const char own[] = "; by its own time: clocks hide who came last";
    size_t n = strnlen(row->reason, sizeof row->reason);
    if (row->verdict == TL_VERDICT_STRAGGLER && row->cause != TL_CAUSE_SLOW_LINK && n + sizeof own <= sizeof row->reason)
        memcpy(row->reason + n, own, sizeof own);
}

/* Where nothing compares the clocks of hosts they are not known to be off either, and a rank's own time tells what it
 * can. */
static void withhold_untied(const tl_hidden *h, tl_straggler *row)
{
    if (row->verdict != TL_VERDICT_OK)
        return;
    row->verdict = TL_VERDICT_INCONCLUSIVE;
    snprintf(row->reason, sizeof row->reason,
             "nothing compares the clocks of hosts: who came last to %" PRId64 " of %" PRId64 " collectives is open",
             h->untied + h->hidden, h->collectives);
}

void tl_verdict_withhold(const tl_verdict_input *in, const tl_hidden *hidden, int64_t together_ns,
                         const tl_table *blame_step, tl_table *straggler)
{
    double steps_ns = all_steps_ns(in);

    for (size_t i = 0; i < straggler->n && i < in->nranks; i++) {
        tl_straggler *row = tl_table_row(straggler, i);
        const tl_hidden *h = &hidden[i];
        if (h->hidden + h->untied <= h->collectives / 2 || in->nsteps == 0)
            continue;
        if (h->untied >= h->hidden) {
            withhold_untied(h, row);
            say_own_time(row);
            continue;
        }
        double cost_ns = cost_of_step(in, tl_table_row(blame_step, i * in->nsteps), row, together_ns);
        if (row->verdict == TL_VERDICT_STRAGGLER && row->cause != TL_CAUSE_SLOW_LINK && cost_ns < h->uncertainty_ns) {
            row->verdict = TL_VERDICT_INCONCLUSIVE;
            snprintf(row->reason, sizeof row->reason,
                     "rank %" PRId32
                     " costs %.3g ms a step by its own time, less than the clocks leave open (+-%.3g ms)",
                     row->rank, cost_ns / 1e6, h->uncertainty_ns / 1e6);
        } else if (row->verdict == TL_VERDICT_OK && hidden_ns(in, h) >= least_hidden * steps_ns) {
            row->verdict = TL_VERDICT_INCONCLUSIVE;
            snprintf(row->reason, sizeof row->reason,
                     "clocks (+-%.3g ms) hide who came last to %" PRId64 " of %" PRId64 " collectives",
                     h->uncertainty_ns / 1e6, h->hidden, h->collectives);
        }
        say_own_time(row);
    }
}
