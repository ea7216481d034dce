/* small_job.h - a job of several ranks, simulated kernel by kernel: what a trace of it shows, and how long it took.
 *
 * Each rank has a script.  Its host works through it in order; its streams run what they are given in order; a
 * collective moves data once all its members have come.  The same script with and without a fault, and the same chance,
 * give the true gain of a repair.
 */
#ifndef TLMPI_TESTS_SMALL_JOB_H
#define TLMPI_TESTS_SMALL_JOB_H

#include "draw.h"
#include "tlmpi/analysis/whatif.h"
#include "tlmpi/base/mem.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)

typedef enum small_do {
    SMALL_STEP,    /* a step begins */
    SMALL_HOST,    /* the host is busy for ns */
    SMALL_KERNEL,  /* work of ns on the compute stream */
    SMALL_COPY,    /* the same, to the device */
    SMALL_MEET,    /* collective `of` on stream `stream`; after the compute stream's work unless `free` */
    SMALL_JOIN,    /* the compute stream waits for collective `of` */
    SMALL_SYNC,    /* the host waits for the compute stream */
    SMALL_PAUSE,   /* where a fault may stop the host */
    SMALL_MARK,    /* event `of` on the compute stream */
    SMALL_AWAIT    /* the host waits for event `of` */
} small_do;

typedef struct small_op {
    small_do what;
    int64_t ns;
    int of, stream;
    bool free;
} small_op;

enum { SMALL_RANKS = 16, SMALL_STREAMS = 6, SMALL_MARKS = 64 };

/* A collective: who takes part, what it moves. */
typedef struct small_meeting {
    int members[SMALL_RANKS], n, came;
    int64_t start_ns[SMALL_RANKS], last_ns, transfer_ns;
    uint32_t comm[SMALL_RANKS];      /* kernel of the member in its rank */
    int like, group;
    uint8_t kind;
    bool loose;
} small_meeting;

typedef struct small_fault {
    int rank;                /* -1: none */
    int first, last;         /* steps, from 0 */
    int slower_percent;      /* kernels take so much longer */
    int64_t pause_ns;        /* at pause `at` of the step */
    int at;
    int launch_percent;      /* the host takes so much longer for everything */
    int64_t copy_ns;         /* copies take so much longer */
    int group, link_percent; /* group >= 0: its transfers take so much longer */
} small_fault;

typedef struct small_rank {
    TL_VEC(small_op) script;
    TL_VEC(tl_kernel) kernels;
    TL_VEC(tl_launch) launches;
    TL_VEC(tl_step_window) steps;
    tl_host_waits waits;
    size_t pc;
    int64_t host_ns, free_ns[SMALL_STREAMS], mark_ns[SMALL_MARKS], device_spread, host_spread;
    uint64_t random;
    int step, pause;
    int32_t role;
    tl_rank_view view;
} small_rank;

typedef struct small_job {
    small_rank ranks[SMALL_RANKS];
    int nranks;
    TL_VEC(small_meeting) meetings;
    int jitter_permille, host_permille, queue;     /* queue: launches a host may be ahead, 0: any number */
    small_fault fault;
} small_job;

/* --------------------------------------------------------------------------------------------------------- writing */

static inline void small_add(small_rank *r, small_op op)
{
    tl_vec_room(&r->script);
    r->script.v[r->script.n++] = op;
}

/* A collective of all ranks r with first <= r < end, (r - first) % stride == 0. */
static inline int small_meeting_new(small_job *j, int first, int stride, int n, uint8_t kind, int64_t transfer_ns, int like,
                                    int group)
{
    small_meeting m = { .n = n, .kind = kind, .transfer_ns = transfer_ns, .like = like, .group = group,
                        .loose = kind == TL_SEND_RECV };
    for (int i = 0; i < n; i++)
        m.members[i] = first + i * stride;
    tl_vec_room(&j->meetings);
    j->meetings.v[j->meetings.n] = m;
    return (int)j->meetings.n++;
}

/* --------------------------------------------------------------------------------------------------------- running */

/* ns, give or take so many per mille. */
static inline int64_t small_around(uint64_t *random, int64_t ns, int permille)
{
    int64_t unit = (int64_t)unit_below(random, 2001) - 1000;
    return ns + ns * permille * unit / 1000000;
}

static inline bool small_hit(const small_job *j, int rank, int step)
{
    return j->fault.rank == rank && step >= j->fault.first && step <= j->fault.last;
}

static inline uint32_t small_launch(small_rank *r, int64_t ns)
{
    tl_vec_room(&r->launches);
    r->launches.v[r->launches.n] = (tl_launch){ r->host_ns, r->host_ns + ns, TL_NO_NAME, (uint32_t)r->launches.n, 0, 1,
                                                       TL_LAUNCH_OF_NOTHING };
    r->host_ns += ns;
    return (uint32_t)r->launches.n++;
}

static inline tl_kernel *small_kernel(small_rank *r, uint32_t launch, uint8_t kind, int stream)
{
    tl_vec_room(&r->kernels);
    r->kernels.v[r->kernels.n] = (tl_kernel){ .launch = launch, .launch_ns = r->launches.v[launch].start_ns,
                                              .correlation = launch, .bytes = -1, .name = TL_NO_NAME,
                                              .uid = (uint32_t)r->kernels.n, .stream = stream, .kind = kind, .step = -1 };
    return &r->kernels.v[r->kernels.n++];
}

static inline int64_t small_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline void small_wait(small_rank *r, int64_t until_ns, tl_wait_kind kind)
{
    int64_t end = small_later(until_ns, r->host_ns) + 3 * US;
    tl_vec_room(&r->waits);
    r->waits.v[r->waits.n++] = (tl_host_wait){ r->host_ns, end, 0, kind == TL_WAIT_STREAM ? 0 : -1, kind };
    r->host_ns = end;
}

/* The host may be `queue` kernels ahead: then the launch takes until one has ended. */
static inline int64_t small_held(const small_job *j, const small_rank *r)
{
    int64_t cost = 5 * US;
    int ahead = 0;
    for (size_t i = r->kernels.n; j->queue > 0 && i-- > 0;) {
        if (r->kernels.v[i].kind == TL_COMM)
            continue;
        if (++ahead == j->queue)
            return small_later(cost, r->kernels.v[i].end_ns - r->host_ns);
    }
    return cost;
}

/* Goes on with the script; false where another rank has to come first, true at the end. */
static inline bool small_run_rank(small_job *j, int rank)
{
    small_rank *r = &j->ranks[rank];
    for (; r->pc < r->script.n; r->pc++) {
        const small_op *op = &r->script.v[r->pc];
        bool hit = small_hit(j, rank, r->step);
        small_meeting *m = op->what == SMALL_MEET || op->what == SMALL_JOIN ? &j->meetings.v[op->of] : NULL;
        if (op->what == SMALL_STEP) {
            r->step++;
            r->pause = 0;
            tl_vec_room(&r->steps);
            if (r->steps.n > 0)
                r->steps.v[r->steps.n - 1].end_ns = r->host_ns;
            r->steps.v[r->steps.n++] = (tl_step_window){ r->host_ns, INT64_MAX, r->step, TL_NO_NAME };
        } else if (op->what == SMALL_HOST) {
            int64_t ns = small_around(&r->random, op->ns * r->host_spread / 1000, j->host_permille);
            r->host_ns += ns + (hit ? ns * j->fault.launch_percent / 100 : 0);
        } else if (op->what == SMALL_PAUSE) {
            if (hit && j->fault.pause_ns > 0 && r->pause == j->fault.at)
                r->host_ns += j->fault.pause_ns;
            r->pause++;
        } else if (op->what == SMALL_KERNEL || op->what == SMALL_COPY) {
            int64_t ns = small_around(&r->random, op->ns * r->device_spread / 1000, j->jitter_permille);
            int64_t arrives = small_around(&r->random, 4 * US, 300);
            bool copy = op->what == SMALL_COPY;
            if (hit)
                ns += copy ? j->fault.copy_ns : ns * j->fault.slower_percent / 100;
            int64_t held = small_held(j, r);
            arrives += r->host_ns + (held > 5 * US ? held : 0);
            tl_kernel *k = small_kernel(r, small_launch(r, held), copy ? TL_MEMCPY : TL_COMPUTE, 0);
            k->start_ns = small_later(arrives, r->free_ns[0] + US);
            k->end_ns = k->start_ns + ns;
            r->free_ns[0] = k->end_ns;
        } else if (op->what == SMALL_MEET) {
            if (r->free_ns[op->stream] == INT64_MAX)
                return false;
            int me = 0;
            while (m->members[me] != rank)
                me++;
            int64_t ready = op->free ? 0 : r->free_ns[0] + 2 * US;
            int64_t start = small_later(small_later(r->host_ns + 4 * US, ready), r->free_ns[op->stream] + US);
            tl_kernel *k = small_kernel(r, small_launch(r, 6 * US), TL_COMM, op->stream);
            k->collective = m->kind;
            k->start_ns = start;
            m->start_ns[me] = start;
            m->comm[me] = (uint32_t)r->kernels.n - 1;
            m->last_ns = m->came++ == 0 ? start : small_later(m->last_ns, start);
            r->free_ns[op->stream] = INT64_MAX;
            if (m->came == m->n) {
                int64_t ns = m->transfer_ns;
                if (j->fault.group >= 0 && m->group == j->fault.group && r->step >= j->fault.first && r->step <= j->fault.last)
                    ns += ns * j->fault.link_percent / 100;
                for (int i = 0; i < m->n; i++) {
                    small_rank *q = &j->ranks[m->members[i]];
                    tl_kernel *other = &q->kernels.v[m->comm[i]];
                    other->end_ns = m->last_ns + ns;
                    q->free_ns[other->stream] = other->end_ns;
                }
            }
        } else if (op->what == SMALL_JOIN) {
            if (m->came < m->n)
                return false;
            int me = 0;
            while (m->members[me] != rank)
                me++;
            r->free_ns[0] = small_later(r->free_ns[0], r->kernels.v[m->comm[me]].end_ns + 2 * US);
        } else if (op->what == SMALL_SYNC) {
            small_wait(r, r->free_ns[0], TL_WAIT_STREAM);
        } else if (op->what == SMALL_MARK) {
            r->mark_ns[op->of] = r->free_ns[0];
        } else {
            small_wait(r, r->mark_ns[op->of], TL_WAIT_EVENT);
        }
    }
    return true;
}

static inline int small_by_place(const void *a, const void *b)
{
    const tl_kernel *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->uid > y->uid) - (x->uid < y->uid);
}

/* Runs all; the time from the first start to the last end on a device.  The views are ready afterwards. */
static inline int64_t small_run(small_job *j, uint64_t seed)
{
    int64_t last = 0;
    for (int i = 0; i < j->nranks; i++) {
        small_rank *r = &j->ranks[i];
        r->random = seed * 1000003 + (uint64_t)i * 7919 + 1;
        unit_random(&r->random);
        r->device_spread = small_around(&r->random, 1000, 3);
        r->host_spread = small_around(&r->random, 1000, 30);
        r->step = -1;
        r->host_ns = MS;
    }
    for (bool done = false; !done;) {
        size_t before = 0, after = 0;
        for (int i = 0; i < j->nranks; i++)
            before += j->ranks[i].pc;
        done = true;
        for (int i = 0; i < j->nranks; i++) {
            done = small_run_rank(j, i) && done;
            after += j->ranks[i].pc;
        }
        if (!done && before == after)
            abort();
    }
    for (int i = 0; i < j->nranks; i++) {
        small_rank *r = &j->ranks[i];
        for (size_t k = 0; k < r->kernels.n; k++)
            last = small_later(last, r->kernels.v[k].end_ns);
        qsort(r->kernels.v, r->kernels.n, sizeof *r->kernels.v, small_by_place);
        if (r->steps.n > 0)
            r->steps.v[r->steps.n - 1].end_ns = r->host_ns;
        r->view = (tl_rank_view){ .rank = i, .kernels = r->kernels.v, .nkernels = r->kernels.n, .launches = r->launches.v,
                                  .nlaunches = r->launches.n, .steps = r->steps.v, .nsteps = r->steps.n };
    }
    return last - MS;
}

static inline void small_free(small_job *j)
{
    for (int i = 0; i < j->nranks; i++) {
        free(j->ranks[i].script.v);
        free(j->ranks[i].kernels.v);
        free(j->ranks[i].launches.v);
        free(j->ranks[i].steps.v);
        tl_host_waits_free(&j->ranks[i].waits);
    }
    free(j->meetings.v);
    free(j);
}

/* --------------------------------------------------------------------------------------------------- what it shows */

/* Everything that the replays want, made of the views. */
typedef struct small_model {
    tl_program programs[SMALL_RANKS];
    int32_t roles[SMALL_RANKS];
    tl_whatif_member *members;
    tl_whatif_collective *collectives;
    tl_whatif *whatif;
} small_model;

static inline void small_model_make(small_model *model, const small_job *j)
{
    size_t nmembers = 0;
    *model = (small_model){ 0 };
    model->members = calloc(j->meetings.n * SMALL_RANKS + 1, sizeof *model->members);
    model->collectives = calloc(j->meetings.n + 1, sizeof *model->collectives);
    uint32_t *comm[SMALL_RANKS];
    if (model->members == NULL || model->collectives == NULL)
        abort();
    for (int i = 0; i < j->nranks; i++) {
        const small_rank *r = &j->ranks[i];
        tl_activity activity = { 0 };
        tl_host_waits waits = { 0 };
        uint32_t n = 0;
        for (size_t k = 0; k < r->waits.n; k++) {
            if (!tl_vec_room(&waits))
                abort();
            waits.v[waits.n++] = r->waits.v[k];
        }
        if (!draw_activity(&activity, &r->view, NULL, 0) || tl_host_waits_find(&r->view, &waits, NULL) != TL_OK)
            abort();
        tl_host_waits_sort(&waits);
        if (tl_program_make(&r->view, &activity, &waits, &model->programs[i], NULL) != TL_OK)
            abort();
        model->roles[i] = r->role;
        comm[i] = calloc(r->kernels.n + 1, sizeof *comm[i]);
        for (size_t k = 0; k < r->kernels.n; k++)
            if (r->kernels.v[k].kind == TL_COMM)
                comm[i][r->kernels.v[k].uid] = n++;
        tl_activity_free(&activity);
        tl_host_waits_free(&waits);
    }
    for (size_t c = 0; c < j->meetings.n; c++) {
        const small_meeting *m = &j->meetings.v[c];
        model->collectives[c] = (tl_whatif_collective){ .first = (uint32_t)nmembers, .n = (uint32_t)m->n, .like = (uint32_t)m->like, .loose = m->loose };
        for (int i = 0; i < m->n; i++)
            model->members[nmembers++] =
                (tl_whatif_member){ (uint32_t)m->members[i], comm[m->members[i]][m->comm[i]] };
    }
    for (int i = 0; i < j->nranks; i++)
        free(comm[i]);
    tl_whatif_input in = { .programs = model->programs, .roles = model->roles, .nranks = (size_t)j->nranks,
                           .members = model->members, .nmembers = nmembers, .collectives = model->collectives,
                           .ncollectives = j->meetings.n };
    if (tl_whatif_new(&in, &model->whatif, NULL) != TL_OK)
        abort();
}

static inline void small_model_free(small_model *model, const small_job *j)
{
    tl_whatif_free(model->whatif);
    for (int i = 0; i < j->nranks; i++)
        tl_program_free(&model->programs[i]);
    free(model->members);
    free(model->collectives);
}

#endif
