/* internal.h - the known metadata keys of a trace. */
#ifndef TLMPI_TRACE_META_INTERNAL_H
#define TLMPI_TRACE_META_INTERNAL_H

#include "tlmpi/trace/meta.h"
#include <stdlib.h>
#include <string.h>

typedef enum tl_meta_take { TL_TAKE_NOTHING, TL_TAKE_TEXT, TL_TAKE_HOST, TL_TAKE_COUNT, TL_TAKE_BASE } tl_meta_take;

typedef struct tl_meta_key {
    const char *word;
    const char *begins; /* first bytes that its value may have */
    unsigned depth;     /* number of brackets open around it: 1 in the document, 2 in distributedInfo; a host may be in
                     * either */
    bool traces_alone;  /* only a trace has it */
    tl_meta_take take;  /* use of a number or text under it */
    size_t at, size;    /* of a text or count: offset in tl_meta, and size there */
} tl_meta_key;

enum { TL_META_KEYS = 27, TL_META_LONGEST_KEY = 20, TL_META_INFO = 2 /* distributedInfo */ };

extern const tl_meta_key tl_meta_keys[TL_META_KEYS];

/* Returns the index of a word in the table; TL_META_KEYS: none. */
size_t tl_meta_key_of(tl_text word);

static inline bool tl_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns the index of the first byte from i on that is not white space. */
static inline size_t tl_skip_space(tl_text t, size_t i)
{
    while (i < t.n && tl_is_space(t.p[i]))
        i++;
    return i;
}

#endif
