/* clock_doubt.c - how far the clocks of some ranks may be apart, a rank at a time. */
#include "tlmpi/analysis/match.h"

static int64_t error_of(const tl_rank_clock *r)
{
    int64_t offset = r->applied ? 0 : r->offset_ns < 0 ? -r->offset_ns : r->offset_ns;
    int64_t sigma = r->sigma_ns < TL_CLOCK_UNTIED_NS ? r->sigma_ns : 0;
    return offset > sigma ? offset : sigma;
}

void tl_clock_doubt_add(tl_clock_doubt *doubt, const tl_rank_clock *rank)
{
    if (rank == NULL)
        return;
    doubt->corrected |= rank->applied != 0;
    doubt->several |= doubt->clock >= 0 && doubt->clock != rank->clock;
    bool apart = doubt->clock >= 0 && doubt->clock != rank->clock && doubt->component != rank->component;
    doubt->apart |= apart;
    bool open = apart || (doubt->clock >= 0 && doubt->clock != rank->clock && rank->sigma_ns >= TL_CLOCK_UNTIED_NS);
    doubt->untied |= open && doubt->host >= 0 && rank->host >= 0 && doubt->host != rank->host;
    doubt->host = rank->host;
    doubt->clock = rank->clock;
    doubt->component = rank->component;
    doubt->worst_ns = error_of(rank) > doubt->worst_ns ? error_of(rank) : doubt->worst_ns;
}

int64_t tl_clock_doubt_of(const tl_clock_doubt *doubt)
{
    return doubt->untied ? TL_CLOCK_UNTIED_NS : doubt->several ? doubt->worst_ns : 0;
}
