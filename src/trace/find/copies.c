/* copies.c - the same trace in two files, as x.json and x.json.gz.
 *
 * A file is a copy of another whose text begins with the same 64 KiB, for that has the time stamps of its first events.
 * Where neither says its rank and their names do, they are read as the ranks that they are called.
 */
#include "decide.h"
#include <stdio.h>
#include <string.h>

static bool is_same(const tl_input *a, const tl_input *b)
{
    bool called_apart = a->meta_rank < 0 && a->name_rank >= 0 && b->name_rank >= 0 && a->name_rank != b->name_rank;
    bool sizes_fit = a->origin.packed || b->origin.packed || a->bytes == b->bytes;
    bool times_fit = tl_input_is_timed(a) == tl_input_is_timed(b) &&
                     (!tl_input_is_timed(a) || a->begin_ns == b->begin_ns); /* a head may be longer than 64 KiB */
    return a->origin.head == b->origin.head && a->meta_rank == b->meta_rank && sizes_fit && times_fit && !called_apart;
}

/* Of a copy and its original the one with the shorter path is the original. */
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

bool tl_copies_leave(tl_inventory *inventory)
{
    tl_map originals = { 0 }; /* text -> its input */
    tl_input *v = inventory->inputs.v;
    bool fine = true;

    for (size_t i = 0; fine && i < inventory->inputs.n; i++) {
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
        fine = tl_map_put(&originals, key, (uint32_t)i) == 0;
    }
    tl_map_free(&originals);
    return fine;
}
