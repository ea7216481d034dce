/* suspects.c - whose delay costs are worth a question. */
#include "tlmpi/analysis/blame.h"

/* What is charged less than this share of the most that any rank is charged is jitter, or not all of it was passed on. */
static const double least_of_most = 0.3;

static int64_t most_blame(const tl_table *straggler)
{
    int64_t most = 0;
    for (size_t i = 0; i < straggler->n; i++) {
        const tl_straggler *row = tl_table_row(straggler, i);
        most = row->blame_ns > most ? row->blame_ns : most;
    }
    return most;
}

bool tl_verdict_suspects(const tl_straggler *row, const tl_table *straggler)
{
    return row->pattern != TL_PATTERN_NONE && (double)row->blame_ns >= least_of_most * (double)most_blame(straggler);
}
