/* link_last_two.c - of a link of more than two ranks: which two are held up most?
 *
 *     rank 0   [ waits |  transfer  ]
 *     rank 1   [ waits |  transfer  ]---]
 *     rank 2   [ waits |  transfer  ]----------]        whose own data are slow are done last
 *     rank 3   [ waits |  transfer  ]-----------]
 *                                          |...|  by more than those of links like it are ever apart, and than what
 *                                                 corrected clocks may be off
 *
 * Otherwise nothing is told: healthy rings are done in some order, too.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* Whether the meeting is one in which the link is slow. */
static bool is_slow(const tl_baseline *b, const tl_candidate *candidate, uint32_t meeting)
{
    return b->link_of[meeting] == candidate->link && candidate->on[tl_meeting_step(b, meeting)];
}

/* Sums, over the meetings in which the link is slow, the median spread of ends, ns, of meetings of the same class
 * that are not slow. */
static void baseline_apart(const tl_findings *j, const tl_baseline *b, const tl_candidate *candidate, int64_t *apart_ns)
{
    size_t nmeetings = b->graph->nmeetings;
    int64_t *tails = tl_malloc((nmeetings + 1) * sizeof *tails);

    *apart_ns = 0;
    for (uint32_t c = 0; c < b->nclasses; c++) {
        size_t n = 0, nslow = 0;
        if (b->classes[c].role != candidate->role || b->classes[c].family != TL_FAMILY_TRANSFER)
            continue;
        for (uint32_t m = 0; m < nmeetings; m++) {
            if (b->meeting_class[m] != c)
                continue;
            bool slow = is_slow(b, candidate, m), other = false;
            for (size_t u = 0; !slow && !other && u < j->candidates.n; u++)
                other = j->candidates.v[u].link != TL_NONE && j->candidates.v[u].needed &&
                        is_slow(b, &j->candidates.v[u], m);
            nslow += slow;
            if (!slow && !other)
                tails[n++] = b->end_spread_ns[m];
        }
        *apart_ns += n > 0 ? (int64_t)nslow * tl_median(tails, n) : 0;
    }
    free(tails);
}

void tl_link_last_two(const tl_findings *j, const tl_baseline *b, const tl_candidate *candidate, uint32_t *last,
                      bool *told)
{
    const tl_job_graph *g = b->graph;
    const tl_link_ranks *link = &b->links[candidate->link];
    int64_t apart_ns, unsure_ns = 0, late_ns[3] = { -1, -1, -1 };

    *told = false;
    baseline_apart(j, b, candidate, &apart_ns);
    for (uint32_t i = 0; i < link->n; i++) {
        uint32_t rank = b->link_members[link->first + i], who = rank;
        int64_t ns = 0, unsure_of_rank_ns = 0;
        for (size_t p = 0; p < g->ranks[rank].nports; p++) {
            const tl_rank_port *port = &g->ranks[rank].ports[p];
            bool slow = port->meeting != TL_NONE && is_slow(b, candidate, port->meeting);
            ns += slow ? port->after_meeting_ns : 0;
            unsure_of_rank_ns += slow ? link->unsure_ns : 0;
        }
        unsure_ns = tl_ns_max(unsure_ns, unsure_of_rank_ns);
        for (int k = 0; k < 3; k++) { /* the three that are latest, latest first */
            int64_t least_ns = late_ns[k];
            if (ns <= least_ns)
                continue;
            late_ns[k] = ns;
            ns = least_ns;
            if (k < 2) {
                uint32_t moved = last[k];
                last[k] = who;
                who = moved;
            }
        }
    }
    *told = link->n > 2 && late_ns[1] - late_ns[2] > tl_ns_max(apart_ns, unsure_ns);
}
