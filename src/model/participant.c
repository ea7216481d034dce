/* participant.c - see participant.h. */
#include "tlmpi/model/participant.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tl_participants_free(tl_participants *set)
{
    free(set->parts.v);
    free(set->memberships.v);
    *set = (tl_participants){ 0 };
}

/* Length of the longest progression that ranks begins with, and its stride. */
static size_t progression(const int32_t *ranks, size_t n, int64_t *stride)
{
    size_t m = n < 2 ? n : 2;
    *stride = n < 2 ? 1 : (int64_t)ranks[1] - ranks[0];
    while (m < n && (int64_t)ranks[m] - ranks[m - 1] == *stride)
        m++;
    return m;
}

void tl_ranks_text(const int32_t *ranks, size_t n, char *out, size_t size)
{
    size_t used = 0;

    memset(out, 0, size);
    for (size_t i = 0, m; i < n; i += m) {
        int64_t stride;
        char piece[48];
        m = progression(ranks + i, n - i, &stride);
        if (m < 3)
            m = 1;
        const char *comma = i > 0 ? "," : "";
        if (m == 1)
            snprintf(piece, sizeof piece, "%s%d", comma, (int)ranks[i]);
        else if (stride == 1)
            snprintf(piece, sizeof piece, "%s%d-%d", comma, (int)ranks[i], (int)ranks[i + m - 1]);
        else
            snprintf(piece, sizeof piece, "%s%d-%d/%d", comma, (int)ranks[i], (int)ranks[i + m - 1], (int)stride);
        size_t length = strlen(piece), room = i + m < n ? 4 : 0;
        if (used + length + room > size) {
            if (used + 4 <= size)
                memcpy(out + used, ",...", 4);
            return;
        }
        memcpy(out + used, piece, length);
        used += length;
    }
}
