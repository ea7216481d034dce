/* delays.h - what the search for the delays of operators found, to be written. */
#ifndef TLMPI_COMPAT_HTA_STREAMS_DELAYS_H
#define TLMPI_COMPAT_HTA_STREAMS_DELAYS_H

#include "peaks.h"
#include "series.h"

/* A launch of an operator, and its kernel. */
typedef struct tl_hta_launched {
    double op_ts;
    double op_us, runtime_us; /* delays */
    int64_t tid;
    uint32_t tid_text;
    uint32_t op, kernel; /* symbols */
} tl_hta_launched;

/* An operator with its kernels; delays of its first launch. */
typedef struct tl_hta_run {
    uint32_t op;
    uint32_t kernels; /* names id of the bytes of their symbols */
    double op_us, runtime_us;
} tl_hta_run;

/* Runs of the same operator with the same kernels: a row of the table. */
typedef struct tl_hta_run_group {
    size_t from, n; /* of the runs in order */
} tl_hta_run_group;

typedef struct tl_hta_delays {
    const tl_hta_frame *frame;
    const tl_hta_symbols *symbols;
    tl_arena arena;
    uint32_t *ops; /* places of rows, by ts */
    size_t nops;
    tl_hta_peaks ends;           /* of ops */
    uint32_t *nkernels, *kernel; /* by index of a launch: how many rows are linked to it, and the place of the last */
    size_t nindices;
    TL_VEC(tl_hta_launched) launched;
    tl_names lists; /* of kernels */
    tl_hta_run *runs;
    uint32_t *order; /* of the runs: those of a group stand together */
    tl_hta_run_group *groups;
    size_t nruns, ngroups;
} tl_hta_delays;

/* Writes the groups: a row for each.  False: memory is out. */
bool tl_hta_write_delays(tl_sheet *csv, tl_hta_delays *d);

#endif
