/* unknown.c - kernels whose names no rule knows, where that may matter:
 *
 *     Taken for communication, as they end together on all ranks: my_exchange (21.0 %) - --rules FILE can say otherwise.
 *     12.3 % of kernel time is of kernels that no rule names, and counts as compute: my_dispatch (9.1 %), fused_x
 *       (2.0 %), ... - if one communicates, --rules FILE can say so (table kernel_ranks, unclassified)
 */
#include "unknown.h"
#include "table.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/format/words.h"
#include "tlmpi/report/format/wrap.h"
#include <ctype.h>
#include <string.h>

/* How many are named, how much of a name is shown, and from which share of kernel time on they matter. */
enum { NAMED_KERNELS = 3, NAME_BYTES = 40, LEAST_PCT = 1 };

/* Parts of names, in lower case, that kernels of communication libraries have.  A word stands by itself. */
typedef struct sign {
    const char *part;
    bool word;
} sign;

static const sign signs[] = {
    { "allreduce", false }, { "all_reduce", false },
    { "allgather", false }, { "all_gather", false },
    { "alltoall", false },  { "all_to_all", false },
    { "all2all", false },   { "a2a", true },
    { "shmem", false },     { "reducescatter", false },
    { "dispatch", true },   { "reduce_scatter", false },
    { "sendrecv", false },  { "send", true },
    { "recv", true },       { "put", true },
    { "comm", true },       { "p2p", true },
    { "peer", true },       { "ccl", false },
    { "multimem", false },  { "nvlink", false },
    { "rdma", true },       { "halo", true },
};

/* Arithmetic may be called so, too: they tell something where there are other ranks. */
static const sign signs_among_ranks[] = {
    { "exchange", false }, { "ring", true },      { "gather", true }, { "scatter", true }, { "push", true },
    { "pull", true },      { "broadcast", true }, { "bcast", true },  { "remote", true },
};

/* Whether the part stands at `at` of the name, in either case, and by itself where it must. */
static bool has_at(tl_text name, size_t at, const char *part, bool word)
{
    size_t n = strlen(part);
    if (at + n > name.n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (tolower((unsigned char)name.p[at + i]) != part[i])
            return false;
    return !word || ((at == 0 || !isalpha((unsigned char)name.p[at - 1])) &&
                     (at + n == name.n || !isalpha((unsigned char)name.p[at + n])));
}

static bool has_any(tl_text name, const sign *v, size_t n)
{
    for (size_t at = 0; at < name.n; at++)
        for (size_t i = 0; i < n; i++)
            if (has_at(name, at, v[i].part, v[i].word))
                return true;
    return false;
}

static bool may_communicate(tl_text name, bool among_ranks)
{
    return has_any(name, signs, sizeof signs / sizeof *signs) ||
           (among_ranks && has_any(name, signs_among_ranks, sizeof signs_among_ranks / sizeof *signs_among_ranks));
}

/* The names of some kernels, each with its share of all_ns. */
static void say_names(tl_wrap *w, const tl_summary *s, const tl_kernel_ranks *const *v, size_t n, int64_t all_ns)
{
    for (size_t i = 0; i < n; i++) {
        tl_text name = tl_names_text(s->names, v[i]->name);
        char cell[NAME_BYTES + 1] = "";
        tl_cell_text(cell, NAME_BYTES, name.p, name.n);
        tl_wrap_words(w, cell);
        tl_wrap_printf(w, "(%.1f %%)%s", tl_percent(v[i]->total_ns, all_ns), i + 1 < n ? "," : "");
    }
}

static void say_taken(FILE *out, const tl_summary *s, int64_t all_ns)
{
    const tl_kernel_ranks *largest[NAMED_KERNELS];
    size_t n = 0;

    for (size_t i = 0; i < s->nkernels && n < NAMED_KERNELS; i++)
        if (s->kernels[i].unclassified && s->kernels[i].kind == TL_COMM && s->kernels[i].name != TL_NO_NAME)
            largest[n++] = &s->kernels[i];
    if (n == 0)
        return;
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_words(&w, "Taken for communication, as they end together on all ranks:");
    say_names(&w, s, largest, n, all_ns);
    tl_wrap_words(&w, "- --rules FILE can say otherwise.");
    tl_wrap_end(&w);
}

void tl_say_unknown_kernels(FILE *out, const tl_summary *s)
{
    const tl_kernel_ranks *largest[NAMED_KERNELS];
    size_t named = 0;
    int64_t unknown_ns = 0, all_ns = 0;
    bool matters = false, among_ranks = s->nranks > 1 || s->world_size > 1;

    for (size_t i = 0; i < s->nranks; i++) {
        unknown_ns = tl_ns_add(unknown_ns, s->ranks[i].unclassified_ns);
        all_ns = tl_ns_add(all_ns, s->ranks[i].kernel_ns);
    }
    for (size_t i = 0; i < s->nkernels && !(matters && named == NAMED_KERNELS); i++) {
        const tl_kernel_ranks *k = &s->kernels[i];
        if (!k->unclassified || k->kind != TL_COMPUTE || k->name == TL_NO_NAME)
            continue;
        bool may = tl_percent(k->total_ns, all_ns) >= LEAST_PCT && may_communicate(tl_names_text(s->names, k->name), among_ranks);
        if (named < NAMED_KERNELS)
            largest[named++] = k;
        else if (may)
            largest[named - 1] = k; /* names one that may communicate in any case */
        matters |= may;
    }
    say_taken(out, s, all_ns);
    if (!matters)
        return;
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_printf(&w, "%.1f %%", tl_percent(unknown_ns, all_ns));
    tl_wrap_words(&w, "of kernel time is of kernels that no rule names, and counts as compute:");
    say_names(&w, s, largest, named, all_ns);
    tl_wrap_words(&w, "- if one communicates, --rules FILE can say so.");
    tl_wrap_end(&w);
}
