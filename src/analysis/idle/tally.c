/* tally.c - time by name, in order of first addition, and what is the largest of it. */
#include "internal.h"
#include <stdlib.h>

void tl_idle_tally_make(tl_idle_tally *tally, const tl_names *names)
{
    *tally = (tl_idle_tally){ .nnames = (uint32_t)names->n, .slot = tl_malloc((names->n + 1) * sizeof *tally->slot) };
    for (size_t i = 0; i <= names->n; i++)
        tally->slot[i] = TL_NONE;
}

void tl_idle_tally_free(tl_idle_tally *tally)
{
    free(tally->v);
    free(tally->slot);
    *tally = (tl_idle_tally){ 0 };
}

void tl_idle_tally_more(tl_idle_tally *tally, uint32_t name, uint8_t call, int64_t ns)
{
    uint32_t last = TL_NONE;
    for (uint32_t i = *tl_idle_slot(tally, name); i != TL_NONE; last = i, i = tally->v[i].next)
        if (tally->v[i].call == call) {
            tally->v[i].ns = tl_ns_add(tally->v[i].ns, ns);
            return;
        }
    tl_vec_room(tally);
    uint32_t at = (uint32_t)tally->n++;
    tally->v[at] = (tl_idle_tally_entry){ name, TL_NONE, call, ns };
    if (last == TL_NONE)
        *tl_idle_slot(tally, name) = at;
    else
        tally->v[last].next = at;
}

void tl_idle_tally_clear(tl_idle_tally *tally)
{
    for (size_t i = 0; i < tally->n; i++)
        *tl_idle_slot(tally, tally->v[i].name) = TL_NONE;
    tally->n = 0;
}

void tl_idle_tally_calls(const tl_idle_tally *tally, tl_gap *row)
{
    int64_t sums[TL_NCALLS] = { 0 }, most = -1;
    uint8_t order[TL_NCALLS], n = 0, best = TL_CALL_NONE;
    bool met[TL_NCALLS] = { false };

    for (size_t i = 0; i < tally->n; i++) {
        const tl_idle_tally_entry *e = &tally->v[i];
        sums[e->call] = tl_ns_add(sums[e->call], e->ns);
        if (!met[e->call])
            order[n++] = e->call;
        met[e->call] = true;
    }
    for (uint8_t i = 0; i < n; i++)
        if (sums[order[i]] > most) {
            best = order[i];
            most = sums[best];
        }
    row->call_class = best;
    row->call_ns = most > 0 ? most : 0;
    most = -1;
    for (size_t i = 0; i < tally->n; i++) {
        const tl_idle_tally_entry *e = &tally->v[i];
        if (e->call == best && e->ns > most) {
            row->call = e->name;
            most = e->ns;
        }
    }
}

void tl_idle_tally_ops(const tl_idle_tally *tally, tl_gap *row)
{
    uint32_t names[3] = { TL_NO_NAME, TL_NO_NAME, TL_NO_NAME };
    int64_t ns[3] = { 0, 0, 0 };

    row->ops_ns = 0;
    for (size_t i = 0; i < tally->n; i++) {
        uint32_t name = tally->v[i].name;
        int64_t x = tally->v[i].ns;
        row->ops_ns = tl_ns_add(row->ops_ns, x);
        size_t position = 3;
        for (; position > 0 && x > ns[position - 1]; position--) /* of equals the first stands first */
            if (position < 3) {
                names[position] = names[position - 1];
                ns[position] = ns[position - 1];
            }
        if (position < 3) {
            names[position] = name;
            ns[position] = x;
        }
    }
    row->dominant_op = names[0];
    row->second_op = names[1];
    row->third_op = names[2];
    row->dominant_op_ns = ns[0];
    row->second_op_ns = ns[1];
    row->third_op_ns = ns[2];
}
