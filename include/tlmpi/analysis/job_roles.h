/* job_roles.h - which ranks of the job do the same: those of one stage of a pipeline. */
#ifndef TLMPI_JOB_JOB_ROLES_H
#define TLMPI_JOB_JOB_ROLES_H

#include "tlmpi/analysis/late_rows.h"
#include "tlmpi/analysis/graph/programs.h"

typedef struct tl_role_input {
    const tl_late_row *rows; /* in the order of collectives */
    size_t nrows;
    const int32_t *ranks; /* that have a trace, ascending */
    size_t nranks;
    const tl_programs *programs; /* NULL: nobody knows what they compute */
} tl_role_input;

/* Zero-initialise; tl_job_roles_free ends it. */
typedef struct tl_job_roles {
    int32_t *of;          /* [nranks]: the role of each rank that has a trace */
    int32_t *named;       /* these, and the ranks without a trace that they send to or receive from; ascending */
    int32_t *named_roles; /* of each of them */
    size_t nnamed;
    bool several; /* not all of `of` are the same */
} tl_job_roles;

/* False when memory is out. */
bool tl_job_roles_find(tl_job_roles *roles, const tl_role_input *in);

void tl_job_roles_free(tl_job_roles *roles);

#endif
