/* internal.h - what a proc reads of files of phases. */
#ifndef JOB_PHASE_INTERNAL_H
#define JOB_PHASE_INTERNAL_H

#include "tlmpi/analysis/phase.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"
#include "tlmpi/job/phase.h"

/* Phases that are told apart; a program has a few. */
enum { TL_PHASES_MOST = 256 };

typedef struct tl_phasing {
    const tl_options *options;
    tl_names names;
    tl_phase_cells cells;
    TL_VEC(tl_phase_file) files;
} tl_phasing;

/* read.c, local: this proc's share of the files. */
void tl_phase_files_read(const tl_plan *plan, tl_phasing *p);

#endif
