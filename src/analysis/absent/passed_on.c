/* passed_on.c - whether ranks without a trace pass on delays that no replay sees. */
#include "tlmpi/analysis/absent.h"
#include "tlmpi/model/coll_tables.h"
#include <string.h>

/* Groups of the same ranks are as one. */
static bool same_ranks(const tl_group_row *a, const tl_group_row *b)
{
    return a->size == b->size && a->ranks[0] != 0 && memcmp(a->ranks, b->ranks, sizeof a->ranks) == 0;
}

bool tl_passed_on_unseen(const tl_table *groups)
{
    const tl_group_row *met = NULL;
    for (size_t i = 0; i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        if (row->seen >= row->size)
            continue;
        if (row->pairs > 0 || (met != NULL && !same_ranks(row, met)))
            return true;
        met = row;
    }
    return false;
}
