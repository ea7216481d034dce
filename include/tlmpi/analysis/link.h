/* link.h - between which ranks do data move slowly, though nobody comes late?
 *
 * From the rows of all ranks in collectives (wait.h): transfers against those like them, step by step.  Fills table link.  May
 * use wait, step and outlier.
 */
#ifndef TLMPI_ANALYSIS_LINK_H
#define TLMPI_ANALYSIS_LINK_H

#include "tlmpi/analysis/step.h"
#include "tlmpi/analysis/wait.h"
#include "tlmpi/model/tables.h"

/* The ranks of the job and its steps. */
typedef struct tl_link_job {
    const int32_t *ranks; /* ascending */
    const int32_t *roles; /* of each rank: those of one role are compared */
    size_t nranks;
    const tl_job_step *steps; /* ascending */
    size_t nsteps;
} tl_link_job;

/* Zero-initialise; tl_job_links_free ends it. */
typedef struct tl_job_links {
    size_t n;
    int32_t *lowest;     /* [n]: rank at the link, or in its group */
    uint32_t *link_of;   /* [nrows]: the link whose surplus the row's collective has, TL_NONE */
    int64_t *surplus_ns; /* [nrows] */
} tl_job_links;

/* Fills table link, a row a link, gain_ns 0.  rows: in order of collectives.  TL_ENOMEM. */
tl_status tl_job_links_find(tl_job_links *links, const tl_link_job *job, const tl_late_row *rows, size_t nrows,
                            tl_tables *tables, tl_error *err);
void tl_job_links_free(tl_job_links *links);

#endif
