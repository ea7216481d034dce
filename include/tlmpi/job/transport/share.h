/* share.h - rows that proc 0 has, to all; and what all have, to proc 0. */
#ifndef TLMPI_JOB_TRANSPORT_SHARE_H
#define TLMPI_JOB_TRANSPORT_SHARE_H

#include "tlmpi/base/status.h"
#include <stddef.h>

/* Collective.  *n rows of `size` bytes at *rows, on proc 0, become everybody's: the others get a copy of their own. The
 * caller frees *rows.  TL_ENOMEM everywhere. */
tl_status tl_share_rows(void **rows, size_t *n, size_t size, tl_error *err);

/* Collective.  Every proc's n rows, in the order of procs, to proc 0: *out (the caller frees) and *nout there, NULL and
 * 0 elsewhere.  counts: room for as many as there are procs, gets each one's n on proc 0; or NULL.  TL_ENOMEM
 * everywhere. */
tl_status tl_collect_rows(const void *rows, size_t n, size_t size, void **out, size_t *nout, size_t *counts,
                          tl_error *err);

/* Collective.  How many the procs before this one have, when each has n; *total: how many all have.  TL_ENOMEM
 * everywhere. */
tl_status tl_count_before(size_t n, size_t *before, size_t *total, tl_error *err);

#endif
