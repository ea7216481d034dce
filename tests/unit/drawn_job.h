/* drawn_job.h - several drawn ranks as one job; a column is 100 us.
 *
 *     drawn_job *j = job_new();
 *     job_rank(j, 0, draw("host:      arc........",         ranks of one role (0) are peers
 *                         "compute 7: AAA....CC..",
 *                         "comm 9:    ...RRRR....", NULL));
 *     job_rank(j, 0, draw(...));
 *     job_ready(j);
 *
 * The n-th comm of one letter is one collective on all ranks that have it.  Without steps all is step 1.  A kernel may start in the column of its launch;
 * launches take no time.
 */
#ifndef TLMPI_TESTS_DRAWN_JOB_H
#define TLMPI_TESTS_DRAWN_JOB_H

#include "draw.h"
#include "src/analysis/whatif/critical.h"
#include "tlmpi/analysis/whatif.h"
#include "tlmpi/base/mem.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum { DRAWN_RANKS = 8, DRAWN_COMMS = 64 };
#define COLUMN (100 * US)

typedef struct drawn_job {
    drawing *ranks[DRAWN_RANKS];
    tl_host_waits waits[DRAWN_RANKS];
    tl_program programs[DRAWN_RANKS];
    int32_t roles[DRAWN_RANKS];
    int64_t offset_ns[DRAWN_RANKS];
    size_t nranks;
    const char *pairs;              /* letters of what one rank sends to another of its replica; NULL: none */
    int replica[DRAWN_RANKS];
    tl_whatif_member members[DRAWN_RANKS * DRAWN_COMMS];
    tl_whatif_collective collectives[DRAWN_COMMS];
    char letters[DRAWN_COMMS];      /* of the collectives */
    size_t nmembers, ncollectives;
    tl_whatif *whatif;
} drawn_job;

static inline drawn_job *job_new(void)
{
    drawn_job *j = calloc(1, sizeof *j);
    if (j == NULL)
        abort();
    return j;
}

static inline void job_rank(drawn_job *j, int32_t role, drawing *d)
{
    for (size_t i = 0; i < d->view.nkernels; i++) {
        tl_kernel *k = &d->kernels[i];
        k->start_ns *= COLUMN / US;
        k->end_ns *= COLUMN / US;
        if (k->launch_ns != TL_TIME_UNKNOWN)
            k->launch_ns *= COLUMN / US;
        k->collective = k->kind == TL_COMM ? TL_ALL_REDUCE : TL_COLL_NONE;
    }
    for (size_t i = 0; i < d->view.nlaunches; i++) {
        d->launches[i].start_ns *= COLUMN / US;
        d->launches[i].end_ns = d->launches[i].start_ns;
    }
    for (size_t i = 0; i < d->view.nsteps; i++) {
        d->steps[i].start_ns *= COLUMN / US;
        d->steps[i].end_ns *= COLUMN / US;
    }
    if (d->view.nsteps == 0 && d->view.nkernels > 0)
        d->steps[d->view.nsteps++] = (tl_step_window){ d->view.nlaunches > 0 ? d->launches[0].start_ns : 0, INT64_MAX, 1, TL_NO_NAME };
    j->roles[j->nranks] = role;
    j->ranks[j->nranks++] = d;
}

/* The host of a rank waits from one column to another. */
static inline void job_wait(drawn_job *j, size_t rank, int from, int to, tl_wait_kind kind)
{
    tl_host_waits *w = &j->waits[rank];
    if (!tl_vec_room(w))
        abort();
    w->v[w->n++] = (tl_host_wait){ from * COLUMN, to * COLUMN, -1, -1, kind };
}

static inline void job_program(drawn_job *j, size_t rank)
{
    tl_activity activity = { 0 };
    tl_host_waits_sort(&j->waits[rank]);
    if (!draw_activity(&activity, &j->ranks[rank]->view, NULL, 0) ||
        tl_program_make(&j->ranks[rank]->view, &activity, &j->waits[rank], &j->programs[rank], NULL) != TL_OK)
        abort();
    tl_activity_free(&activity);
}

/* The n-th comm of the letter on each rank, of one replica or (-1) all.  False when there is none. */
static inline bool job_meet(drawn_job *j, char letter, size_t nth, int replica)
{
    uint32_t first = (uint32_t)j->nmembers;
    for (uint32_t r = 0; r < j->nranks; r++) {
        size_t seen = 0;
        for (uint32_t c = 0; c < j->programs[r].ncomms; c++) {
            const tl_kernel *k = &j->ranks[r]->kernels[j->programs[r].comms[c].kernel];
            if (k->correlation == letter - 'A' + 'a' && seen++ == nth && (replica < 0 || j->replica[r] == replica))
                j->members[j->nmembers++] = (tl_whatif_member){ r, c };
        }
    }
    if (j->nmembers == first)
        return false;
    j->letters[j->ncollectives] = letter;
    j->collectives[j->ncollectives++] =
        (tl_whatif_collective){ .first = first, .n = (uint32_t)j->nmembers - first, .like = replica >= 0, .loose = replica >= 0 };
    return true;
}

static inline void job_match(drawn_job *j)
{
    for (char letter = 'A'; letter <= 'Z'; letter++) {
        bool pair = j->pairs != NULL && strchr(j->pairs, letter) != NULL;
        for (int replica = pair ? 0 : -1; replica < (pair ? DRAWN_RANKS : 0); replica++)
            for (size_t nth = 0; job_meet(j, letter, nth, replica); nth++)
                ;
    }
}

static inline tl_whatif_input job_input(const drawn_job *j)
{
    return (tl_whatif_input){ .programs = j->programs, .roles = j->roles, .offset_ns = j->offset_ns, .nranks = j->nranks,
                              .members = j->members, .nmembers = j->nmembers, .collectives = j->collectives,
                              .ncollectives = j->ncollectives };
}

/* Replayed unchanged every drawing must take what it took. */
static inline void job_ready(drawn_job *j)
{
    for (size_t r = 0; r < j->nranks; r++)
        job_program(j, r);
    job_match(j);
    tl_whatif_input in = job_input(j);
    CU_ASSERT_EQUAL_FATAL(tl_whatif_new(&in, &j->whatif, NULL), TL_OK);
    const tl_whatif_facts *facts = tl_whatif_facts_of(j->whatif);
    CU_ASSERT_EQUAL(facts->state, TL_WHATIF_OK);
    CU_ASSERT_EQUAL(facts->simulated_ns, facts->measured_ns);
}

/* The gain of repairing one rank, in columns. */
static inline double job_gain(drawn_job *j, size_t rank)
{
    uint8_t repaired[DRAWN_RANKS] = { 0 };
    repaired[rank] = 1;
    return (double)tl_whatif_gain(j->whatif, &(tl_scenario){ .repaired = repaired }, NULL) / (double)COLUMN;
}

static inline void job_free(drawn_job *j)
{
    tl_whatif_free(j->whatif);
    for (size_t r = 0; r < j->nranks; r++) {
        tl_program_free(&j->programs[r]);
        tl_host_waits_free(&j->waits[r]);
        drawing_free(j->ranks[r]);
    }
    free(j);
}

/* Time as columns of a drawing. */
static inline double columns(int64_t ns)
{
    return (double)ns / (double)COLUMN;
}

/* Rank 2's host launches c 4 columns late; all hosts launch g in column 18. */
static inline drawn_job *job_late_host(bool waits)
{
    drawn_job *j = job_new();
    for (int r = 0; r < 2; r++)
        job_rank(j, 0, draw("host:      a.....cre.........g.",
                            "compute 7: AA....CC......EE..GG",
                            "comm 9:    ........RRRRRR......", NULL));
    job_rank(j, 0, draw("host:      a.........cre.....g.",
                        "compute 7: AA........CC..EE..GG",
                        "comm 9:    ............RR......", NULL));
    for (size_t r = 0; waits && r < 3; r++)
        job_wait(j, r, r < 2 ? 9 : 13, 16, TL_WAIT_DEVICE);
    job_ready(j);
    return j;
}

#endif
