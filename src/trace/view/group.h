/* group.h - process groups: from what is written about their members to who they are. */
#ifndef TLMPI_TRACE_VIEW_GROUP_H
#define TLMPI_TRACE_VIEW_GROUP_H

#include "tlmpi/model/coll.h"
#include "tlmpi/trace/read/reader.h"

/* What one kernel or operator says of its group: names ids (TL_NO_NAME) and numbers (-1). */
typedef struct tl_group_words {
    uint32_t name, desc, ranks;
    int64_t size, rank_start, rank_stride;
} tl_group_words;

/* The groups of one trace.  Start with meta and names set; tl_group_book_free ends it, but for `groups`, which the
 * caller may take. */
typedef struct tl_group_book {
    const tl_meta *meta;
    const tl_names *names;
    TL_VEC(tl_group) groups;
    TL_VEC(struct tl_known_words {
        tl_group_words words;
        uint32_t group;
    })
    known;
    tl_map by_words, by_members;
    size_t nranks; /* members kept, over all groups */
    size_t work;   /* entries looked at to complete what is not written out */
} tl_group_book;

/* The group's index, a new one where it is new; TL_NONE where the words name none.  Sets *no_memory where memory is
 * out. */
uint32_t tl_group_find(tl_group_book *book, const tl_group_words *words, bool *no_memory);

/* As tl_group_find, for a group without a name whose n ranks are known, ascending. */
uint32_t tl_group_of_ranks(tl_group_book *book, const int32_t *ranks, size_t n, bool *no_memory);

void tl_groups_free(tl_group *groups, size_t n);
void tl_group_book_free(tl_group_book *book);

#endif
