/* programs.c - see programs.h. */
#include "tlmpi/analysis/program/programs.h"
#include <stdlib.h>

void tl_programs_free(tl_programs *programs)
{
    for (size_t i = 0; i < programs->of.n; i++)
        tl_program_free(&programs->of.v[i].program);
    free(programs->of.v);
    *programs = (tl_programs){ 0 };
}

tl_status tl_programs_add(tl_programs *programs, const tl_rank_view *view, const tl_activity *activity,
                          const tl_host_waits *waits, tl_error *err)
{
    if (!tl_vec_room(&programs->of))
        return tl_fail_memory(err, "the program of a rank");
    tl_rank_program *p = &programs->of.v[programs->of.n++];
    *p = (tl_rank_program){ .rank = view->rank };
    tl_status st = tl_program_make(view, activity, waits, &p->program, err);
    for (size_t i = 0; st == TL_OK && i < p->program.ncomms; i++)
        p->program.comms[i].kernel = view->kernels[p->program.comms[i].kernel].uid;
    return st;
}
