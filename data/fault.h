/* fault.h - what the fault does, and where: see enum cause and enum style of job.h. */
#ifndef DATA_FAULT_H
#define DATA_FAULT_H

#include "job.h"
#include "program.h"

struct rank;
struct sim;
struct meeting;

/* What follows from the fault and the job, once for all. */
struct damage {
    enum style style;           /* as asked, or as the seed chooses */
    int site;                   /* of the first rank's program */
    const char *kernel;         /* COMPUTE_SLOW: the kind that is slow */
    int64_t moved_ns;           /* SLOW_LINK: what all transfers of a step take that use the link */
};

/* Needs the programs; marks slow kernels in them. */
void damage_find(struct sim *sim);

/* What the fault adds to a step of this rank, in ns; steps counted from 0. */
int64_t fault_ns(const struct job *job, int rank, int step);
int64_t fault_step_ns(const struct job *job, int step);         /* of whoever has it */
bool fault_has(const struct job *job, int rank);

/* Parts of a million that a kernel takes longer, and those that there is more to do. */
int64_t fault_slower_ppm(const struct rank *rank, const struct instruction *what);
int64_t fault_larger_ppm(const struct rank *rank, const struct shape *shape);

/* Parts of a million that the tokens for a rank's experts are more. */
int64_t fault_tokens_ppm(const struct sim *sim, int rank, int step);

/* What a meeting takes longer, of the slow link alone, for all or for this rank. */
int64_t fault_link_ns(const struct sim *sim, const struct meeting *meeting, int rank);

/* Groups whose data go the same ways without the slow link, over wires of the same sort and, in a pipeline, between the
 * same stages; and by how much the link sets the ends of its group's ranks apart, at most: nothing else in the traces
 * of a job whose link is slow in all steps tells of it. */
int fault_link_others(const struct sim *sim);
int64_t fault_link_apart_ns(const struct sim *sim);

/* What each launch of this step takes longer. */
int64_t fault_launch_ns(const struct rank *rank);

/* What happens to the host at a place of the step.  False: it waits for a meeting that is not known yet; to be asked
 * again. */
bool fault_at_site(struct rank *rank, int site);

/* Words, for the command line and the truth. */
extern const char *const cause_names[NCAUSES];
extern const char *const style_names[NSTYLES];
extern const char *const pattern_names[NPATTERNS];
bool style_fits(enum style style, enum cause cause);

/* What somebody who looks at the trace can name as the place: kernel, annotation, operator ...; NULL: nothing. */
const char *fault_place(const struct sim *sim);

struct group;

/* fault_link.c: whether data of the group go over its slow link. */
bool fault_uses_link(const struct job *job, const struct group *group, enum axis axis);

/* A part in millions of the whole. */
static inline int64_t ppm(int64_t part, int64_t whole)
{
    return whole > 0 ? part * 1000 / later(whole / 1000, 1) : 0;
}

#endif
