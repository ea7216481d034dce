/* group.c - how well do the collectives of each process group fit together?
 *
 * The matching has filled a row for each group with what is known of it; the counts are added here, and what they tell
 * of it.
 */
#include "group_parallelism.h"
#include "tlmpi/analysis/match.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/tables.h"

static void count(tl_group_row *row, const tl_collective_row *c)
{
    bool fits = c->suspect == TL_SUSPECT_NOTHING;
    row->collectives++;
    row->pairs += c->match_rule == TL_BY_PAIR;
    row->missing += c->state == TL_COLL_MISSING;
    row->unmatched += c->state == TL_COLL_UNMATCHED;
    row->suspect += !fits;
    if (!fits || c->n < 2)
        return;
    /* The ranks with a trace waited for each other even if others are missing; the transfer time is known only if
     * none is. */
    row->wait_ns = tl_ns_sum(row->wait_ns, c->wait_sum_ns);
    row->matched += c->state != TL_COLL_MISSING;
    if (c->state == TL_COLL_WHOLE)
        row->transfer_ns = tl_ns_sum(row->transfer_ns, c->transfer_ns);
}

static void add_to(tl_group_row *sum, const tl_group_row *row)
{
    sum->collectives += row->collectives;
    sum->pairs += row->pairs;
    sum->matched += row->matched;
    sum->missing += row->missing;
    sum->unmatched += row->unmatched;
    sum->suspect += row->suspect;
    sum->wait_ns = tl_ns_sum(sum->wait_ns, row->wait_ns);
    sum->transfer_ns = tl_ns_sum(sum->transfer_ns, row->transfer_ns);
}

/* A row a group that occurs, with its counts alone. */
static void group_fold(tl_tables *out)
{
    const tl_table *collectives = tl_tables_get(out, &tl_collective_row_schema);
    tl_table *groups = tl_tables_get(out, &tl_group_row_schema);
    tl_map index_of = { 0 };

    for (size_t i = 0; i < collectives->n; i++) {
        const tl_collective_row *c = tl_table_row(collectives, i);
        uint32_t at = tl_map_get(&index_of, (uint64_t)c->group);
        if (at == TL_MAP_NONE) {
            tl_group_row row = { .group = c->group };
            at = (uint32_t)groups->n;
            tl_table_append(groups, &row, 1);
            tl_map_put(&index_of, (uint64_t)c->group, at);
        }
        count(tl_table_row(groups, at), c);
    }
    tl_map_free(&index_of);
}

/* How many ranks the job has, as traces say; where none does, they number them; 0 where there are no rows. */
static int32_t ranks_of_job(const tl_table *ranks)
{
    int32_t told = 0, numbered = 0;

    for (size_t i = 0; ranks != NULL && i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        told = row->world_size > told ? row->world_size : told;
        numbered = row->rank >= numbered && row->rank < INT32_MAX ? row->rank + 1 : numbered;
    }
    return told > 0 ? told : numbered;
}

/* Adds up the rows of each group.  Its first row has the texts: it was there before the counts. */
static void group_reduce(tl_tables *job)
{
    tl_table *groups = tl_tables_get(job, &tl_group_row_schema);
    int32_t nranks = ranks_of_job(tl_tables_get(job, &tl_rank_schema));
    size_t kept = 0;

    for (size_t i = 1; i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        tl_group_row *last = tl_table_row(groups, kept);
        if (row->group == last->group)
            add_to(last, row);
        else
            *(tl_group_row *)tl_table_row(groups, ++kept) = *row;
    }
    groups->n = groups->n > 0 ? kept + 1 : 0;
    for (size_t i = 0; i < groups->n; i++) {
        tl_group_row *row = tl_table_row(groups, i);
        row->parallelism = (uint8_t)tl_group_parallelism(row, nranks);
    }
}

static const tl_schema *const tables[] = { &tl_group_row_schema, NULL };

const tl_analysis tl_group_analysis = {
    .name = "group",
    .question = "How well do the collectives of each process group fit together?",
    .tables = tables,
    .fold = group_fold,
    .reduce = group_reduce,
};
