/* lens_tables.h - the tables of some traces in words, as TraceLens writes them. */
#ifndef TLMPI_TESTS_LENS_TABLES_H
#define TLMPI_TESTS_LENS_TABLES_H

#include "lens_rank.h"
#include "tlmpi/compat/tracelens/tracelens.h"

/* The tables of some ranks in the folder `out` (of one) or out/rank<i>. */
static inline tl_status run(const char *const *texts, size_t n, const char *out, bool *incomplete, tl_error *err)
{
    tl_bytes share = { 0 };
    char folder[256], dir[300];
    tl_status st = TL_OK;

    snprintf(folder, sizeof folder, "%s/%s", scratch_folder, out);
    for (size_t i = n; st == TL_OK && i-- > 0;) {       /* any order will do */
        snprintf(dir, sizeof dir, n > 1 ? "%s/rank%zu" : "%s", folder, i);
        st = tl_tracelens_rank(scratch_text("rank.json", texts[i]), (int64_t)i, dir, &share, err);
    }
    if (st == TL_OK)
        st = tl_tracelens_ranks(&share, n > 1 ? 2 : 0, folder, incomplete, err);
    free(share.v);
    return st;
}

#define COLLECTIVE(group, name, n, ts, dur)                                                                            \
    ENTRY("kernel", "ncclDevKernel(x)", "0", "7", ts, dur,                                                             \
          "\"stream\":7,\"correlation\":1,\"Process Group Name\":\"" group "\",\"Process Group Ranks\":\"[0, 1, 2]\"," \
          "\"Collective name\":\"" name "\",\"Group size\":3,\"dtype\":\"Float\",\"In msg nelems\":" n                  \
          ",\"Out msg nelems\":" n ",\"In split size\":\"[]\",\"Out split size\":\"[]\"")

#define EXCHANGE(split, ts, dur)                                                                                       \
    ENTRY("kernel", "nccl", "0", "7", ts, dur,                                                                         \
          "\"stream\":7,\"correlation\":1,\"Process Group Name\":\"g\",\"Process Group Ranks\":\"[0, 1, 2]\","         \
          "\"Collective name\":\"all_to_allv\",\"Group size\":3,\"dtype\":\"Byte\",\"In msg nelems\":3145728,"          \
          "\"Out msg nelems\":3145728,\"In split size\":\"" split "\",\"Out split size\":\"[]\"")

#endif
