/* internal.h - the repetitions of all traces, on proc 0, and the tables printed from them. */
#ifndef JOB_REPS_INTERNAL_H
#define JOB_REPS_INTERNAL_H

#include "tlmpi/analysis/repetition.h"
#include "tlmpi/job/reps.h"
#include "tlmpi/model/table.h"

typedef struct tl_repeated {
    TL_VEC(tl_repetition) v;
    TL_VEC(tl_repetition_share) shares;
    tl_names names; /* names in the shares */
} tl_repeated;

/* tables.c: fills rep, rep_stat, rep_work and rep_compare.  Each path of the options is a variant. */
void tl_repeated_each(const tl_repeated *repeated, const tl_options *options, tl_table *out);
void tl_repeated_summarise(const tl_repeated *repeated, const tl_options *options, tl_table *out);
void tl_repeated_works(const tl_repeated *repeated, const tl_options *options, tl_table *out);
void tl_repeated_compare(const tl_repeated *repeated, const tl_options *options, tl_table *out);

#endif
