/* samples.h - what the traces of all procs have, together on proc 0. */
#ifndef JOB_REPS_SAMPLES_H
#define JOB_REPS_SAMPLES_H

#include "tlmpi/analysis/repetition.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/model/table.h"

/* What became of one trace. */
typedef struct tl_sample {
    uint64_t item;   /* of the plan */
    int32_t status;  /* tl_status */
    int32_t variant; /* which path of the command line */
    int32_t trace;   /* which trace of that, in path order; -1: it could not be read */
    int32_t damaged;
    tl_repetition_of of;
    tl_repetition_set repetitions;
    char words[1024]; /* of the failure, the damage, or why there are no repetitions */
} tl_sample;

/* Zero-initialise; tl_samples_free ends it. */
typedef struct tl_samples {
    TL_VEC(tl_sample) v; /* in path order */
    int32_t nvariants;
    tl_names names; /* of the shares */
} tl_samples;

/* Appends the sample as bytes; names are those of its shares. */
void tl_sample_put(tl_bytes *out, const tl_sample *sample, const tl_names *names);

/* Takes all samples out of the bytes. */
void tl_samples_take(tl_bytes *in, tl_samples *out);
void tl_samples_free(tl_samples *samples);

/* The tables, from what could be read; the rows of rep_stat and rep_compare want their path yet. */
void tl_samples_each(const tl_samples *samples, tl_table *out);      /* rep */
void tl_samples_summarise(const tl_samples *samples, tl_table *out); /* rep_stat */
void tl_samples_works(const tl_samples *samples, tl_table *out);     /* rep_work */
void tl_samples_compare(const tl_samples *samples, tl_table *out);   /* rep_compare */

#endif
