/* group_parallelism.c - rules from a group's description to what it divides among its ranks. */
#include "group_parallelism.h"

#include <ctype.h>
#include <string.h>

/* Words of descriptions, in lower case.  "sequence" is the one of Megatron, whose context groups are newer. */
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

static tl_parallelism meaning(const char *word, size_t n)
{
    char lower[16] = "";
    if (n >= sizeof lower)
        return TL_PARALLEL_UNKNOWN;
    for (size_t i = 0; i < n; i++)
        lower[i] = (char)tolower((unsigned char)word[i]);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, lower) == 0)
            return words[i].means;
    return TL_PARALLEL_UNKNOWN;
}

/* Which of them a description names, as a set of bits.  Words end where letters do. */
static unsigned named_in(const char *description)
{
    unsigned named = 0;
    for (const char *at = description; *at != '\0';) {
        size_t n = 0;
        while (isalpha((unsigned char)at[n]))
            n++;
        named |= 1U << meaning(at, n);
        at += n > 0 ? n : 1;
    }
    return named & ~(1U << TL_PARALLEL_UNKNOWN);
}

/* Returns the one parallelism that the description names.  "Expert" with another word means the other word; "data" with
 * "context" means data ("DATA_PARALLEL_GROUP_WITH_CP", "mesh_dp_shard_cp"): gradients are summed over the ranks that
 * share a sequence as well.  Any other two words name a group of mixed use, such as all ranks of one model copy:
 * unknown. */
static tl_parallelism described(const char *description)
{
    enum { DATA = 1 << TL_PARALLEL_DATA, EXPERT = 1 << TL_PARALLEL_EXPERT, CONTEXT = 1 << TL_PARALLEL_CONTEXT };
    unsigned named = named_in(description);

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
    tl_parallelism said = described(row->description);
    bool only_pairs = row->collectives > 0 && row->pairs == row->collectives;
    int32_t size = row->size > 0 ? row->size : row->seen;

    if (said != TL_PARALLEL_UNKNOWN)
        return said;
    return only_pairs ? TL_PARALLEL_PIPELINE : size == nranks && nranks > 1 ? TL_PARALLEL_WORLD : said;
}
