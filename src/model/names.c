/* names.c - interning: finds a text by its content key in a map, and compares the bytes.
 *
 * Different texts with the same key form a chain, whose first entry is in the map.  No such texts are known, but a
 * trace could be made to have some.
 */
#include "tlmpi/model/names.h"
#include "tlmpi/base/load.h"
#include "tlmpi/base/mem.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(TL_NO_NAME == TL_MAP_NONE, "a name that is not in the map is no name");

/* Returns the id of the text on the chain that starts at id; TL_NO_NAME: it is not on the chain. */
static inline uint32_t find_on_chain(const tl_names *names, uint32_t id, const char *text, size_t n)
{
    while (id != TL_NO_NAME) {
        const struct tl_name_entry *e = &names->v[id];
        if (e->n == n && (n == 0 || memcmp(names->bytes + e->at, text, n) == 0))
            break;
        id = e->next;
    }
    return id;
}

/* Adds a new text; `first` starts the chain of its key, or is TL_NO_NAME. */
static uint32_t add_text(tl_names *names, uint64_t key, uint32_t first, const char *text, size_t n)
{
    tl_mem_indexable(n);
    tl_mem_indexable(names->n);
    tl_vec_room(names);
    tl_grow((void **)&names->bytes, &names->bytes_cap, names->nbytes + n + 1, 1);

    uint32_t id = (uint32_t)names->n, next = TL_NO_NAME;
    if (first != TL_NO_NAME) {
        next = names->v[first].next;
        names->v[first].next = id;
    } else {
        tl_map_put(&names->map, key, id);
    }

    if (n > 0)
        memcpy(names->bytes + names->nbytes, text, n);
    names->bytes[names->nbytes + n] = '\0';
    names->v[id] = (struct tl_name_entry){ .key = key, .at = names->nbytes, .n = (uint32_t)n, .next = next };
    names->nbytes += n + 1;
    names->n++;
    return id;
}

uint32_t tl_names_intern(tl_names *names, const char *text, size_t n)
{
    uint32_t none, *recent = &none; /* most texts recur soon, and are found by their first and last bytes */

    if (n >= 8) {
        uint64_t ends = load64((const unsigned char *)text) ^ load64((const unsigned char *)text + n - 8) << 1;
        recent = &names->recent[ends * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TL_NAMES_RECENT_BITS)];
        if (*recent < names->n && names->v[*recent].n == n && memcmp(names->bytes + names->v[*recent].at, text, n) == 0)
            return *recent;
    }
    uint64_t key = tl_hash_bytes(text, n);
    uint32_t first = tl_map_get(&names->map, key);
    uint32_t id = find_on_chain(names, first, text, n);

    return *recent = id != TL_NO_NAME ? id : add_text(names, key, first, text, n);
}

uint32_t tl_names_find(const tl_names *names, const char *text, size_t n)
{
    return find_on_chain(names, tl_map_get(&names->map, tl_hash_bytes(text, n)), text, n);
}

tl_text tl_names_text(const tl_names *names, uint32_t id)
{
    if (id >= names->n)
        return TL_TEXT("");
    return (tl_text){ names->bytes + names->v[id].at, names->v[id].n };
}

void tl_names_free(tl_names *names)
{
    free(names->bytes);
    free(names->v);
    tl_map_free(&names->map);
    *names = (tl_names){ 0 };
}
