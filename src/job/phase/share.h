/* share.h - what all procs have to know before cells can move: names.c. */
#ifndef JOB_PHASE_SHARE_H
#define JOB_PHASE_SHARE_H

#include "internal.h"

/* Collective.  Names of phases in order, their numbers in the cells, and their rows in /names. */
tl_status tl_phase_names_share(tl_phasing *p, tl_error *err);

/* Collective.  All steps and ranks of the cells. */
tl_status tl_phase_numbers_share(tl_phasing *p, tl_error *err);

/* Collective.  *out[*n], the caller frees: for each step that a Kineto trace marks what its rank waited in it. */
tl_status tl_phase_waits_share(const tl_phasing *p, tl_phase_wait **out, size_t *n, tl_error *err);

/* -1: not measured. */
int64_t tl_phase_wait_of(const tl_phase_wait *waits, size_t n, int32_t step, int32_t rank);

#endif
