/* alike.c - see alike.h. */
#include "alike.h"
#include <stdbool.h>

/* A member has this part of the most that anybody has; nobody else has more than this part of the least of them.  Of
 * ranks that differ by chance alone some have twice what the others have, too. */
static const double part_of_most = 0.5, part_of_least = 1.0 / 3;
/* They are fewer than half of all ranks, or a pair: what most ranks do is no fault of theirs. */
enum { PAIR = 2 };

size_t tl_alike_units(const int64_t *own_ns, size_t nranks, uint32_t *unit_of)
{
    int64_t most = 0, least = INT64_MAX, next = 0;
    size_t members = 0, units = 1;

    for (size_t r = 0; r < nranks; r++)
        most = own_ns[r] > most ? own_ns[r] : most;
    for (size_t r = 0; r < nranks; r++) {
        if (most > 0 && (double)own_ns[r] >= part_of_most * (double)most) {
            least = own_ns[r] < least ? own_ns[r] : least;
            unit_of[r] = 0;
            members++;
        } else {
            next = own_ns[r] > next ? own_ns[r] : next;
            unit_of[r] = (uint32_t)units++;
        }
    }
    bool few = 2 * members < nranks || (members == PAIR && 2 * members == nranks);
    if (members < PAIR || !few || (double)next > part_of_least * (double)least)
        return 0;
    return units;
}
