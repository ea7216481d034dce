/* participant.c - lists of participants. */
#include "tlmpi/model/participant.h"
#include "tlmpi/base/decimal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tl_participants_free(tl_participants *set)
{
    free(set->participants.v);
    free(set->memberships.v);
    *set = (tl_participants){ 0 };
}

/* Returns the length of the longest arithmetic progression at the start of `ranks`; *stride: its stride. */
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
        char range[48];
        m = progression(ranks + i, n - i, &stride);
        if (m < 3)
            m = 1;
        const char *comma = i > 0 ? "," : "";
        if (m == 1)
            snprintf(range, sizeof range, "%s%d", comma, (int)ranks[i]);
        else if (stride == 1)
            snprintf(range, sizeof range, "%s%d-%d", comma, (int)ranks[i], (int)ranks[i + m - 1]);
        else
            snprintf(range, sizeof range, "%s%d-%d/%d", comma, (int)ranks[i], (int)ranks[i + m - 1], (int)stride);
        size_t length = strlen(range), room = i + m < n ? 4 : 0;
        if (used + length + room > size) {
            if (used + 4 <= size)
                memcpy(out + used, ",...", 4);
            return;
        }
        memcpy(out + used, range, length);
        used += length;
    }
}

static bool skip_char(tl_text *text, char c)
{
    const bool there = text->n > 0 && *text->p == c;
    *text = (tl_text){ text->p + there, text->n - there };
    return there;
}

size_t tl_ranks_of_text(const char *text, size_t size, int32_t *ranks, size_t most)
{
    tl_text left = { text, strnlen(text, size) };
    size_t n = 0;

    while (left.n > 0) {
        if (n > 0 && !skip_char(&left, ','))
            return 0;
        int64_t first = tl_decimal_take(&left), last = first, stride = 1;
        if (skip_char(&left, '-'))
            last = tl_decimal_take(&left);
        if (skip_char(&left, '/'))
            stride = tl_decimal_take(&left);
        if (first < 0 || last < first || stride < 1)
            return 0;
        for (; first <= last; first += stride) {
            if (n == most)
                return 0;
            ranks[n++] = (int32_t)first;
        }
    }
    return n;
}
