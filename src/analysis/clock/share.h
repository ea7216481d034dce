/* clock_share.h - which ranks read one clock: those of a host, but for who lies apart from the others of it.
 *
 *     host 0   [0][1][2]...[3]
 *
 * 3 lies further from the middle of its host's ranks than its scatter explains, and than its transfers take: it gets a
 * clock of its own.
 */
#ifndef TLMPI_ANALYSIS_CLOCK_SHARE_H
#define TLMPI_ANALYSIS_CLOCK_SHARE_H

#include "lsq.h"
#include "tlmpi/analysis/clock.h"

/* The clocks of a job, while they are solved for. */
typedef struct tl_clock_solving {
    const tl_clock_edges *all;
    const tl_clock_edge *edges; /* of groups; of place i: first_edge[i] to first_edge[i + 1] */
    size_t nedges, *first_edge;
    tl_rank_place *places;
    size_t nplaces, ngroups, nclocks;
    int64_t middle_ns, half_ns; /* of the time that edges cover, and half its length */
    tl_lsq lsq;
    int32_t *component;              /* of each clock */
    int64_t *offset, *drift, *sigma; /* of each clock */
    int64_t *leeway;                 /* of each clock: what more ends do not make surer (clock_ring.h) */
    int64_t *residual;               /* of each place, against its clock */
    int32_t *room;                   /* by place or host */
    uint32_t *order;                 /* places by clock */
    int64_t *values;                 /* by place or edge */
} tl_clock_solving;

/* A clock for each host, and for each rank whose host is not known. */
void tl_clocks_by_host(tl_clock_solving *s);

/* Numbers clocks by their lowest rank; those that nobody has any more are gone. */
void tl_clocks_number(tl_clock_solving *s);

/* Fills s->order.  False when memory is out. */
bool tl_clocks_order(tl_clock_solving *s);

/* Ranks that lie apart from the others of their clock get one of their own, behind the clocks that there are.  Whether
 * there are any. */
bool tl_clocks_part(tl_clock_solving *s);

/* Medians over the edges of a place: of what the solution leaves, and of how far they scatter; ns, 0 without edges. */
int64_t tl_clock_residual(tl_clock_solving *s, size_t place);
int64_t tl_clock_sigma(tl_clock_solving *s, size_t place);

/* Whether so much is more than chance, and than what ranks of one host differ by. */
bool tl_clock_believed(int64_t ns, int64_t sigma_ns);

#endif
