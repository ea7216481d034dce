/* names.h - the distinct texts of one rank: bytes -> small ids, 0, 1, 2 ... in order of first sight.
 *
 * A real trace has 100 to 2,000 distinct names in 10^5 to 10^7 events: events hold ids, and what is to be known of a
 * name (its class, say) is worked out once a name, not once an event.
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
        size_t at;     /* of the text in bytes */
        uint32_t n;    /* its length */
        uint32_t next; /* another text with the same key, or TL_NO_NAME */
    } * v;
    size_t n, cap;
    tl_map map; /* content key -> first id */
    uint32_t recent[1 << TL_NAMES_RECENT_BITS]; /* ids to try first */
} tl_names;

/* Returns the id of the text; a text that is not there yet gets a new id. */
uint32_t tl_names_intern(tl_names *names, const char *text, size_t n);

/* The id of the text, or TL_NO_NAME when it is not there. */
uint32_t tl_names_find(const tl_names *names, const char *text, size_t n);

/* The text of an id; valid until the next tl_names_intern.  It is 0-terminated (and may hold a 0 inside).  The empty
 * text for TL_NO_NAME. */
tl_text tl_names_text(const tl_names *names, uint32_t id);

void tl_names_free(tl_names *names);

#endif
