/* fault_link.c - what a slow link does to those who send over it. */
#include "fault.h"
#include "rank.h"

bool fault_uses_link(const struct job *job, const struct group *group, enum axis axis)
{
    const struct fault *f = &job->fault;

    if (f->peer >= 0) {
        enum axis pair = axis == AXIS_PREV ? AXIS_NEXT : axis;
        return pair == f->axis && group_has(group, f->rank) && group_has(group, f->peer);
    }
    bool inside = false, outside = false;
    for (int i = 0; i < group->n; i++) {
        bool of_host = fault_has(job, group->first + i * group->stride);
        inside = inside || of_host;
        outside = outside || !of_host;
    }
    return inside && outside;
}

/* In a ring each rank passes on what it has received, step by step, in each of its phases.  The two at the slow link
 * are held up in all steps; whoever stands j places after it is spared j of them, as the last j pieces come to it
 * another way. */
static int64_t ring_spared_ns(const struct job *job, const struct meeting *m, int rank, int64_t extra_ns)
{
    enum operation op = m->what->operation;
    int n = m->group.n, phases = op == OP_ALL_REDUCE ? 2 : 1;

    if (n < 3 || op == OP_DISPATCH || op == OP_COMBINE || op == OP_SEND || op == OP_RECV || op == OP_EXCHANGE)
        return 0;
    if (job->fault.peer < 0)
        return fault_has(job, rank) ? 0 : extra_ns / (phases * (n - 1));
    int after = ((rank - job->fault.peer) / m->group.stride + n) % n;
    return rank == job->fault.rank ? 0 : extra_ns * after / (phases * (n - 1));
}

int64_t fault_link_ns(const struct sim *sim, const struct meeting *m, int rank)
{
    const struct job *job = &sim->job;
    const struct fault *f = &job->fault;
    enum operation op = m->what->operation;

    if (f->rank < 0 || f->cause != CAUSE_SLOW_LINK || !fault_uses_link(job, &m->group, m->what->axis))
        return 0;
    if ((op == OP_DISPATCH || op == OP_COMBINE) && f->peer >= 0 && rank != f->rank && rank != f->peer)
        return 0; /* the data of the others go other ways */
    int64_t extra =
        nominal_ns(job, m->what, &m->group) * ppm(fault_step_ns(job, m->step), sim->damage.moved_ns) / 1000000;
    return extra - ring_spared_ns(job, m, rank, extra);
}

int fault_link_others(const struct sim *sim)
{
    const struct job *job = &sim->job;
    int others = 0;

    for (int a = 0; a < NAXES; a++) {
        enum axis axis = (enum axis)a, pairs = axis == AXIS_PREV ? AXIS_NEXT : axis;
        struct group own = group_of(job, axis, job->fault.rank);
        if (axis == AXIS_WORLD || own.n < 2 || !fault_uses_link(job, &own, axis) ||
            sim->programs[stage_of(job, job->fault.rank)].nmet[axis] == 0)
            continue;
        for (int rank = 0; rank < job->ranks; rank++) {
            struct group group = group_of(job, pairs, rank);
            bool alike = group.first == rank && group.n == own.n && across_hosts(job, &group) == across_hosts(job, &own);
            if (pairs == AXIS_NEXT)
                alike = alike && stage_of(job, rank) == stage_of(job, own.first);
            others += alike && !fault_uses_link(job, &group, pairs);
        }
    }
    return others;
}

int64_t fault_link_apart_ns(const struct sim *sim)
{
    const struct job *job = &sim->job;
    const struct program *p = &sim->programs[stage_of(job, job->fault.rank)];
    int64_t apart_ns = 0;

    for (size_t i = 0; i < p->n; i++) {
        const struct instruction *what = &p->v[i];
        struct meeting m = { .group = group_of(job, what->axis, job->fault.rank), .what = what };
        if (what->action != DO_MEET || !fault_uses_link(job, &m.group, what->axis))
            continue;
        int64_t extra = nominal_ns(job, what, &m.group) * ppm(job->fault.ns, sim->damage.moved_ns) / 1000000;
        for (int k = 0; k < m.group.n; k++)
            apart_ns = later(apart_ns, ring_spared_ns(job, &m, m.group.first + k * m.group.stride, extra));
    }
    return apart_ns;
}
