/* scope.h - the gaps of one device, or of a rank, as the files that sum them see them. */
#ifndef ANALYSIS_IDLE_SCOPE_H
#define ANALYSIS_IDLE_SCOPE_H

#include "internal.h"
#include "stats.h"

/* What is looked at of each gap again and again: its row is large, and there may be many. */
typedef struct tl_idle_brief {
    int64_t ns, other_op_ns;
    int32_t step;
    uint32_t label; /* both labels as one number, below TL_IDLE_NLABELS */
    uint32_t place; /* the first of its places in the rank's; TL_NONE */
} tl_idle_brief;

enum { TL_IDLE_NLABELS = TL_NDRAINS * TL_NDOINGS };

/* One device, or all of a rank. */
typedef struct tl_idle_scope {
    tl_idle_rank *k;
    int32_t device; /* -1: all */
    const tl_gap *gaps;
    size_t first_row;     /* of them in the gap table */
    tl_idle_brief *brief; /* of each */
    size_t ngaps;
    const tl_idle_noise *noise;
    size_t nnoise;
    int64_t macro_ns;
    uint32_t *index;       /* room for the numbers of its gaps, of either kind */
    int64_t *durations;    /* and for their lengths */
    tl_idle_tally tally;   /* scratch: of annotations */
    tl_table *annotations; /* idle_annotation; NULL for one of several devices */
} tl_idle_scope;

static inline void tl_idle_number(uint32_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++)
        index[i] = (uint32_t)i;
}

/* Lengths of the gaps index[0, n) to s->durations. */
static inline void tl_idle_lengths(const tl_idle_scope *s, const uint32_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->durations[i] = s->brief[index[i]].ns;
}

/* Adds a row of idle_summary with what n lengths say, which are in another order then; all_ns: of all macro gaps of the
 * step, or of all steps. */
tl_idle_summary *tl_idle_row_add(const tl_idle_scope *scope, tl_table *table, int32_t step, uint8_t drain, uint8_t doing,
                                 int64_t *lengths, size_t n, int64_t all_ns);

/* What the gaps index[0, n) of one class, or of all, say beside their lengths. */
void tl_idle_say_longest(const tl_idle_scope *scope, const uint32_t *index, size_t n, tl_idle_summary *row);

/* Its classes: rows of idle_summary and idle_annotation. */
void tl_idle_class_rows(tl_idle_scope *scope, tl_table *table);

/* Finds the places of each gap. */
void tl_idle_places_find(tl_idle_scope *scope);

/* In which annotations the gaps index[0, n) of a class, or of all, were: the largest to the class' row, and rows of
 * idle_annotation for a class. */
void tl_idle_say_places(tl_idle_scope *scope, const uint32_t *index, size_t n, tl_idle_summary *row);

/* Fills the largest annotation of a class over all ranks; index[n]: the class's rows of idle_summary. */
void tl_idle_say_places_of_job(tl_tables *job, const uint32_t *index, size_t n, tl_idle_summary *row);

#endif
