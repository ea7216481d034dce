/* rank_clocks.c - the host and clock of each rank that has a trace, and the largest error of a set of clocks. */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/facts.h"

/* A host's number is the row of its first rank. */
void tl_rank_clocks_make(const tl_table *ranks, tl_rank_clock **rank_clocks, size_t *n)
{
    tl_map hosts = { 0 };
    *rank_clocks = tl_calloc(ranks->n + 1, sizeof **rank_clocks);
    *n = 0;

    for (size_t i = 0; i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        uint64_t key = tl_host_key(row);
        if (row->status == TL_RANK_UNREADABLE)
            continue;
        (*rank_clocks)[(*n)++] = (tl_rank_clock){ .rank = row->rank,
                                                  .host = key != 0 ? (int32_t)tl_map_number(&hosts, key, i) : -1,
                                                  .clock = (int32_t)i,
                                                  .guessed = tl_is_host_of_pids(row->host, sizeof row->host) };
    }
    tl_map_free(&hosts);
}

const tl_rank_clock *tl_rank_clock_of(const tl_job_facts *facts, int32_t rank)
{
    size_t low = 0;
    TL_BISECT(low, facts->nranks, mid, facts->ranks[mid].rank < rank);
    return low < facts->nranks && facts->ranks[low].rank == rank ? &facts->ranks[low] : NULL;
}

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
