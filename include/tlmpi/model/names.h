/* names.h - the distinct texts of one rank: maps texts to ids 0, 1, 2 ... in order of first occurrence.
 *
 * A real trace has 100 to 2,000 distinct names in 10^5 to 10^7 events: events hold ids, and properties of a name (its
 * class, say) are computed once per name, not once per event.
 */
#ifndef TLMPI_MODEL_NAMES_H
#define TLMPI_MODEL_NAMES_H

#include "tlmpi/base/hash.h"
#include "tlmpi/base/text.h"
#include <stdint.h>

/* The id of no text. */
#define TL_NO_NAME UINT32_MAX

#define TL_NAMES_RECENT_BITS 9

/* Zero-initialise; tl_names_free ends it. */
typedef struct tl_names {
    char *bytes; /* all texts, one after the other, each with a 0 after it */
    size_t nbytes, bytes_cap;
    struct tl_name_entry {
        uint64_t key;  /* content key: tl_hash_bytes of the text */
        size_t at;     /* offset of the text in bytes */
        uint32_t n;    /* length of the text, bytes */
        uint32_t next; /* another text with the same key, or TL_NO_NAME */
    } * v;
    size_t n, cap;
    tl_map map;                                 /* content key -> first id of its chain */
    uint32_t recent[1 << TL_NAMES_RECENT_BITS]; /* ids to try first */
} tl_names;

/* Returns the id of the text, which is added if it is new. */
uint32_t tl_names_intern(tl_names *names, const char *text, size_t n);

/* Returns the id of the text; TL_NO_NAME: the text is unknown. */
uint32_t tl_names_find(const tl_names *names, const char *text, size_t n);

/* Returns the text of an id, valid until the next tl_names_intern.  The text is 0-terminated (and may contain a 0).
 * TL_NO_NAME: the empty text. */
tl_text tl_names_text(const tl_names *names, uint32_t id);

void tl_names_free(tl_names *names);

#endif
