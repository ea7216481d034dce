/* doubt.c - the words for confidence and doubts, one by one and as a set. */
#include "tlmpi/model/doubt.h"
#include <string.h>

TL_LABELS_DEFINE(confidence, TL_CONFIDENCE_VALUES);
TL_LABELS_DEFINE(doubt, TL_DOUBT_VALUES);

void tl_doubts_text(unsigned doubts, char *cell, size_t size)
{
    size_t used = 0;

    memset(cell, 0, size);
    for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++) {
        size_t n = strlen(tl_doubt_labels[doubt]), gap = used > 0;
        if ((doubts & 1u << doubt) == 0 || used + gap + n > size)
            continue;
        if (gap > 0)
            cell[used++] = ' ';
        memcpy(cell + used, tl_doubt_labels[doubt], n);
        used += n;
    }
}

unsigned tl_doubts_of_text(const char *cell, size_t size)
{
    unsigned doubts = 0;

    size = strnlen(cell, size);
    for (size_t at = 0, n; at < size; at += n + 1) {
        const char *end = memchr(cell + at, ' ', size - at);
        n = end != NULL ? (size_t)(end - (cell + at)) : size - at;
        for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++)
            if (strlen(tl_doubt_labels[doubt]) == n && memcmp(tl_doubt_labels[doubt], cell + at, n) == 0)
                doubts |= 1u << doubt;
    }
    return doubts;
}
