/* copies.c - the same trace in two files, as x.json and x.json.gz.
 *
 * The texts of the two begin with the same 64 KiB, which have the time stamps of the first events, and are of the same
 * length; and where both are packed alike, the files end alike, of gzip with the checksum of the text.  Where neither
 * says its rank and their names do, they are read as the ranks that they are called.
 */
#include "decide.h"
#include <stdio.h>
#include <string.h>

static bool is_same(const tl_input *a, const tl_input *b)
{
    const tl_origin *x = &a->origin, *y = &b->origin;
    bool called_apart = a->meta_rank < 0 && a->name_rank >= 0 && b->name_rank >= 0 && a->name_rank != b->name_rank;
    bool ends_fit = x->packing != y->packing || x->extent.last == y->extent.last;
    return x->head == y->head && x->extent.text_bytes != 0 && x->extent.text_bytes == y->extent.text_bytes &&
           ends_fit && a->meta_rank == b->meta_rank && !called_apart;
}

/* Whether a is the original and b its copy: the shorter path, of equal lengths the first in order. */
static bool goes_before(const tl_input *a, const tl_input *b)
{
    size_t n = strlen(a->path), m = strlen(b->path);
    return n != m ? n < m : strcmp(a->path, b->path) < 0;
}

static void leave_alone(tl_input *t, const tl_input *original)
{
    char reason[160];
    size_t n = strlen(original->path), shown = 90;

    snprintf(reason, sizeof reason, "the same trace as %s%s, which is read", n > shown ? "..." : "",
             original->path + (n > shown ? n - shown : 0));
    tl_input_say_why(t, TL_INPUT_OTHER, reason);
    t->copy = true;
}

void tl_copies_leave(tl_inventory *inventory)
{
    tl_map originals = { 0 }; /* text -> its input */
    tl_input *v = inventory->inputs.v;

    for (size_t i = 0; i < inventory->inputs.n; i++) {
        if (v[i].kind != TL_INPUT_TRACE || v[i].origin.head == 0)
            continue;
        uint64_t key = tl_hash_mix(v[i].origin.head, v[i].meta_rank >= 0 ? 0 : (uint64_t)v[i].name_rank);
        uint32_t at = tl_map_get(&originals, key);
        if (at != TL_MAP_NONE && is_same(&v[at], &v[i]) && !goes_before(&v[i], &v[at])) {
            leave_alone(&v[i], &v[at]);
            continue;
        }
        if (at != TL_MAP_NONE && is_same(&v[at], &v[i]))
            leave_alone(&v[at], &v[i]);
        tl_map_put(&originals, key, (uint32_t)i);
    }
    tl_map_free(&originals);
}
