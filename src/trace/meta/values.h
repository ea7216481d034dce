/* values.h - the metadata under way: where in it the parser stands, and what a value is there. */
#ifndef TLMPI_TRACE_META_VALUES_H
#define TLMPI_TRACE_META_VALUES_H

#include "tlmpi/base/text.h"
#include "tlmpi/trace/meta.h"
#include <string.h>

typedef enum tl_meta_position {
    TL_AT_OUTSIDE, /* around the outermost value */
    TL_AT_DOCUMENT,
    TL_AT_DEVICES,
    TL_AT_DEVICE,
    TL_AT_DISTRIBUTED,
    TL_AT_GROUP_LIST,
    TL_AT_GROUP_MAP,
    TL_AT_GROUP,
    TL_AT_RANKS
} tl_meta_position;

/* The longest path: outside, document, distributed, group list, group, ranks. */
#define TL_META_PLACES 8

typedef struct tl_meta_parsing {
    tl_meta *meta;
    tl_meta_position root; /* what the outermost object is */
    tl_meta_position path[TL_META_PLACES];
    unsigned at;      /* path[at] is where we stand */
    uint64_t ignored; /* open brackets of a value that is passed over */
    char key[32];     /* of the value to come; empty where it is too long to be one of ours */
    char *group_key;  /* the same in a TL_AT_GROUP_MAP, whole: ngroup_key bytes */
    size_t ngroup_key, group_key_cap;
    tl_pg_config *group; /* the one being read, NULL beyond the limit */
    size_t nranks;       /* of all groups together */
    bool told;           /* a distributedInfo with a rank has ended */
    bool whole;          /* the outermost value has ended */
    bool no_memory;
} tl_meta_parsing;

static inline bool tl_meta_key_is(const tl_meta_parsing *p, const char *word)
{
    return strcmp(p->key, word) == 0;
}

/* A number or a string. */
void tl_meta_take_scalar(tl_meta_parsing *p, tl_text t);

/* Opens an object or array.  *to: its position in the document; TL_AT_OUTSIDE where its content is not wanted. */
void tl_meta_take_bracket(tl_meta_parsing *p, bool object, tl_meta_position *to);

/* Before a value that is neither number nor string. */
void tl_meta_note_other(tl_meta_parsing *p);

#endif
