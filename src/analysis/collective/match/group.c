/* group.c - table group: collectives and waits of each process group, and its parallelism.
 *
 * The matching has filled the other columns of each group's row.
 */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/tables.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

static void count_collective(tl_group_row *row, const tl_collective_row *c)
{
    row->collectives++;
    row->pairs += c->match_rule == TL_BY_PAIR;
    if (c->suspect == TL_SUSPECT_NOTHING && c->n > 1) {
        row->wait_ns = tl_ns_sum(row->wait_ns, c->wait_sum_ns);
        row->matched += c->state != TL_COLL_MISSING;
    }
}

/* Adds a row, with counts alone, for each group that has collectives. */
static void group_fold(tl_tables *out)
{
    const tl_table *collectives = tl_tables_get(out, &tl_collective_row_schema);
    tl_table *groups = tl_tables_get(out, &tl_group_row_schema);
    tl_map index_of = { 0 };

    TL_ROWS (const tl_collective_row, c, collectives) {
        uint32_t at = tl_map_number(&index_of, (uint64_t)c->group, groups->n);
        if (at == groups->n)
            ((tl_group_row *)tl_table_add(groups))->group = c->group;
        count_collective(tl_table_row(groups, at), c);
    }
    tl_map_free(&index_of);
}

/* Returns the number of ranks of the job: the largest world size in the traces; if unknown, the highest rank plus 1; 0:
 * no rows. */
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

/* ----------------------------------------------------------------------------------------------------- parallelism */

/* Words of group descriptions, in lower case.  "sequence" is Megatron's older word for context parallelism. */
static const struct {
    const char *word;
    tl_parallelism means;
} words[] = {
    { "tp", TL_PARALLEL_TENSOR },         { "tensor", TL_PARALLEL_TENSOR },    { "pp", TL_PARALLEL_PIPELINE },
    { "pipeline", TL_PARALLEL_PIPELINE }, { "pipe", TL_PARALLEL_PIPELINE },    { "ep", TL_PARALLEL_EXPERT },
    { "expert", TL_PARALLEL_EXPERT },     { "moe", TL_PARALLEL_EXPERT },       { "cp", TL_PARALLEL_CONTEXT },
    { "context", TL_PARALLEL_CONTEXT },   { "sequence", TL_PARALLEL_CONTEXT }, { "sp", TL_PARALLEL_CONTEXT },
    { "dp", TL_PARALLEL_DATA },           { "data", TL_PARALLEL_DATA },        { "ddp", TL_PARALLEL_DATA },
    { "fsdp", TL_PARALLEL_DATA },         { "hsdp", TL_PARALLEL_DATA },        { "zero", TL_PARALLEL_DATA },
};

static tl_parallelism parallelism_of_word(const char *word, size_t n)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncasecmp(words[i].word, word, n) == 0 && words[i].word[n] == '\0')
            return words[i].means;
    return TL_PARALLEL_UNKNOWN;
}

/* Returns the set of parallelisms that the words of a description name, a bit each.  A word is a run of letters. */
static unsigned parallelisms_named(const char *description)
{
    unsigned named = 0;
    for (const char *at = description; *at != '\0';) {
        size_t n = 0;
        while (isalpha((unsigned char)at[n]))
            n++;
        named |= 1U << parallelism_of_word(at, n);
        at += n > 0 ? n : 1;
    }
    return named & ~(1U << TL_PARALLEL_UNKNOWN);
}

/* Returns the one parallelism that the description names.  "Expert" with another word means the other word; "data" with
 * "context" means data ("DATA_PARALLEL_GROUP_WITH_CP", "mesh_dp_shard_cp"): gradients are summed over the ranks that
 * share a sequence as well.  Any other two words name a group of mixed use, such as all ranks of one model copy:
 * unknown. */
static tl_parallelism parallelism_of_description(const char *description)
{
    enum { DATA = 1 << TL_PARALLEL_DATA, EXPERT = 1 << TL_PARALLEL_EXPERT, CONTEXT = 1 << TL_PARALLEL_CONTEXT };
    unsigned named = parallelisms_named(description);

    if (strcmp(description, "default_pg") == 0)
        return TL_PARALLEL_WORLD;
    if ((named & EXPERT) != 0 && (named & ~(unsigned)EXPERT) != 0)
        named &= ~(unsigned)EXPERT;
    if ((named & DATA) != 0)
        named &= ~(unsigned)CONTEXT;
    for (int p = TL_PARALLEL_DATA; p <= TL_PARALLEL_CONTEXT; p++)
        if (named == 1U << p)
            return (tl_parallelism)p;
    return TL_PARALLEL_UNKNOWN;
}

tl_parallelism tl_group_parallelism(const tl_group_row *row, int32_t nranks)
{
    tl_parallelism said = parallelism_of_description(row->description);
    bool only_pairs = row->collectives > 0 && row->pairs == row->collectives;
    int32_t size = row->size > 0 ? row->size : row->seen;

    if (said != TL_PARALLEL_UNKNOWN)
        return said;
    return only_pairs ? TL_PARALLEL_PIPELINE : size == nranks && nranks > 1 ? TL_PARALLEL_WORLD : said;
}

/* Merges the rows of each group: the first one has the texts, the others have counts. */
static void group_reduce(tl_tables *job)
{
    tl_table *groups = tl_tables_get(job, &tl_group_row_schema);
    int32_t nranks = ranks_of_job(tl_tables_get(job, &tl_rank_schema));

    tl_table_unite(groups, 0, NULL);
    TL_ROWS (tl_group_row, row, groups)
        row->parallelism = (uint8_t)tl_group_parallelism(row, nranks);
}

const tl_analysis tl_group_analysis = { .fold = group_fold, .reduce = group_reduce };
