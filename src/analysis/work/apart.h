/* apart.h - which values lie apart from the others by more than these differ among themselves?  Private to the room. */
#ifndef TLMPI_ANALYSIS_WORK_APART_H
#define TLMPI_ANALYSIS_WORK_APART_H

#include <stddef.h>
#include <stdint.h>

typedef struct tl_rank_value {
    double value, error; /* error: how far it may be off by itself; 0 or NaN: not at all */
    double distance;     /* filled in: from the median of all */
    int32_t rank;
} tl_rank_value;

/* How many lie apart: they stand first in v then, by rank.  room: n numbers. */
size_t tl_apart_find(tl_rank_value *v, size_t n, double *room);

#endif
