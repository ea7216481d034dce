/* meet.c - groups, how long their data move, and when the last has come. */
#include "meet.h"
#include "rank.h"
#include <stdlib.h>

#define BYTES             2        /* of an element */
#define LINK_BYTES_PER_US 150000   /* between devices of a host */
#define WIRE_BYTES_PER_US 40000    /* between hosts */
#define FIRST_NS          (8 * US) /* until the first byte has moved */
#define WIRE_FIRST_NS     (14 * US)
#define RING_NS           (24 * US) /* between the first and the last of a ring to be done, at most */

/* --- groups ------------------------------------------------------------------------------------------------------- */

int data_parallel(const struct job *job)
{
    return job->ranks / (job->tp * job->pp);
}

int stage_of(const struct job *job, int rank)
{
    return rank / (job->tp * data_parallel(job));
}

struct group group_of(const struct job *job, enum axis axis, int rank)
{
    int dp = data_parallel(job), tp = job->tp, of_stage = tp * dp;
    int t = rank % tp, d = rank / tp % dp, s = rank / of_stage;

    switch (axis) {
    case AXIS_TP:
        return (struct group){ .first = rank - t, .stride = 1, .n = tp, .number = d + dp * s, .me = t };
    case AXIS_DP:
        return (struct group){ .first = t + of_stage * s, .stride = tp, .n = dp, .number = t + tp * s, .me = d };
    case AXIS_EP:
        return (struct group){ .first = t + tp * (d - d % job->ep) + of_stage * s,
                               .stride = tp,
                               .n = job->ep,
                               .number = t + tp * (d / job->ep + dp / job->ep * s),
                               .me = d % job->ep };
    case AXIS_PP:
        return (struct group){
            .first = rank % of_stage, .stride = of_stage, .n = job->pp, .number = rank % of_stage, .me = s
        };
    case AXIS_NEXT:
        return (
            struct group){ .first = rank, .stride = of_stage, .n = s + 1 < job->pp ? 2 : 1, .number = rank, .me = 0 };
    case AXIS_PREV:
        return (struct group){
            .first = rank - of_stage, .stride = of_stage, .n = s > 0 ? 2 : 1, .number = rank - of_stage, .me = 1
        };
    case AXIS_WORLD:
    case NAXES:
        break;
    }
    return (struct group){ .first = 0, .stride = 1, .n = job->ranks, .number = 0, .me = rank };
}

int groups_of(const struct job *job, enum axis axis)
{
    struct group last = group_of(job, axis, job->ranks - 1);
    return axis == AXIS_NEXT ? job->ranks : last.number + 1;
}

bool group_has(const struct group *group, int rank)
{
    int away = rank - group->first;
    return away >= 0 && away % group->stride == 0 && away / group->stride < group->n;
}

enum slot slot_of(const struct job *job, enum axis axis)
{
    static const enum slot slots[NAXES] = {
        [AXIS_DP] = SLOT_DP,     [AXIS_TP] = SLOT_TP,       [AXIS_EP] = SLOT_EP,  [AXIS_PREV] = SLOT_PREV,
        [AXIS_NEXT] = SLOT_NEXT, [AXIS_WORLD] = SLOT_WORLD, [AXIS_PP] = SLOT_PREV
    };
    return axis == AXIS_NEXT && job->batched_p2p ? SLOT_PREV : slots[axis];
}

/* --- meetings ----------------------------------------------------------------------------------------------------- */

struct meeting meeting_of(const struct sim *sim, int rank, enum axis axis, int step, int number)
{
    int stage = stage_of(&sim->job, rank);
    const struct program *program = &sim->programs[stage];
    struct meeting m = { .group = group_of(&sim->job, axis, rank),
                         .step = step,
                         .stage = stage,
                         .what = &program->v[program->met[axis][number]] };
    enum axis pair = axis == AXIS_PREV ? AXIS_NEXT : axis; /* both sides of it count as one */
    size_t row = (size_t)m.group.number * (size_t)all_steps(&sim->job) + (size_t)step;

    m.id = sim->base[pair] + row * (size_t)sim->per_step[pair] + (size_t)number;
    m.last_ns = sim->last_ns[m.id];
    return m;
}

bool across_hosts(const struct job *job, const struct group *group)
{
    return host_of(job, group->first) != host_of(job, group->first + group->stride * (group->n - 1));
}

static int64_t move_ns(const struct job *job, int64_t bytes, const struct group *group)
{
    return across_hosts(job, group) ? WIRE_FIRST_NS + bytes * US / WIRE_BYTES_PER_US
                                    : FIRST_NS + bytes * US / LINK_BYTES_PER_US;
}

int64_t nominal_ns(const struct job *job, const struct instruction *what, const struct group *group)
{
    int64_t bytes = BYTES * what->elements, n = group->n;

    switch (what->operation) {
    case OP_ALL_REDUCE:
        return move_ns(job, 2 * (n - 1) * bytes / n, group);
    case OP_ALL_GATHER:
    case OP_REDUCE_SCATTER:
    case OP_DISPATCH:
    case OP_COMBINE:
        return move_ns(job, (n - 1) * bytes / n, group);
    case OP_SEND:
    case OP_RECV:
    case OP_EXCHANGE:
        break;
    }
    return move_ns(job, bytes, group);
}

static int member(const struct group *group, int i)
{
    return group->first + i * group->stride;
}

/* Where the rank sits in the ring that the group has built for good. */
static int ring_place(const struct job *job, const struct meeting *m)
{
    uint64_t first = seeded(job->seed, USE_RING, (uint64_t)m->group.number * NAXES + (uint64_t)m->what->axis);
    return (int)((first + (uint64_t)m->group.me) % (uint64_t)m->group.n);
}

/* All-to-all: each has as much to move as it sends or is sent.  Else all end together, each a little later than the one
 * before it in the ring. */
int64_t meeting_end(const struct sim *sim, const struct meeting *m, int rank)
{
    const struct job *job = &sim->job;
    const struct instruction *what = m->what;
    int64_t ns = nominal_ns(job, what, &m->group);
    uint64_t noise = seeded(job->seed, USE_TRANSFER, m->id);

    ns += ns * job->noise.jitter_percent / 100 * (int64_t)(noise % 1024) / 1024;
    if (noise >> 56 == 0)
        ns += ns * job->noise.jitter_percent / 100 * (int64_t)(noise % 1000) / 100;
    if (what->operation == OP_DISPATCH || what->operation == OP_COMBINE) {
        int64_t mine = tokens_ppm(sim, rank, m->step, what->routing);
        ns = ns * later(mine, 1000000) / 1000000;
        ns += ns * (int64_t)(seeded(job->seed, USE_TAIL, m->id * 1024 + (uint64_t)m->group.me) % 1024) / 8192;
    } else if (m->group.n > 1 && job->noise.jitter_percent > 0) {
        int64_t most = RING_NS < ns / 8 ? RING_NS : ns / 8, place = ring_place(job, m);
        ns += most * place / m->group.n + (int64_t)(seeded(job->seed, USE_TAIL, m->id + (uint64_t)rank) % 2048);
    }
    return m->last_ns + ns + fault_link_ns(sim, m, rank);
}

/* --- tokens ------------------------------------------------------------------------------------------------------- */

/* How much the router likes the experts of a member, in parts of a million of the usual. */
static int64_t liking(const struct sim *sim, const struct group *group, int step, int routing, int i)
{
    const struct job *job = &sim->job;
    int rank = member(group, i);
    uint64_t which = ((uint64_t)step * 4096 + (uint64_t)routing) * 65536 + (uint64_t)rank;

    return 1000000 + fixed_between(job->seed, USE_TOKENS, which, INT64_C(10000) * job->noise.imbalance_percent) +
           fault_tokens_ppm(sim, rank, step);
}

/* In thousands: more than 0, and precise enough. */
static int64_t all_liking(const struct sim *sim, const struct group *group, int step, int routing)
{
    int64_t sum = 0;
    for (int i = 0; i < group->n; i++)
        sum += liking(sim, group, step, routing, i);
    return later(sum / 1000, 1);
}

int64_t tokens_ppm(const struct sim *sim, int rank, int step, int routing)
{
    struct group group = group_of(&sim->job, AXIS_EP, rank);
    int64_t mine = liking(sim, &group, step, routing, group.me);
    return mine * group.n * 1000 / all_liking(sim, &group, step, routing);
}

int64_t tokens_sent(const struct sim *sim, const struct meeting *m, int from, int to)
{
    int expert = m->what->operation == OP_DISPATCH ? to : from;
    int64_t part = liking(sim, &m->group, m->step, m->what->routing, expert);
    return m->what->elements / 1000 * part / all_liking(sim, &m->group, m->step, m->what->routing);
}

/* --- the crowd ---------------------------------------------------------------------------------------------------- */

/* Meetings that a stream has before it, in their order. */
struct line {
    struct meeting *v;
    int64_t *ready_ns;
    size_t first, n, cap;
    int64_t free_ns; /* end of the one before the first */
};

struct crowd {
    struct sim *sim;
    struct line *lines; /* by rank and slot */
    int *come;          /* by meeting: how many */
    int64_t *last_ns;   /* by meeting: when the last of those */
    size_t known;
};

struct crowd *crowd_new(struct sim *sim)
{
    struct crowd *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->sim = sim;
    c->lines = calloc((size_t)sim->job.ranks * NSLOTS, sizeof *c->lines);
    c->come = calloc(sim->nmeetings + 1, sizeof *c->come);
    c->last_ns = calloc(sim->nmeetings + 1, sizeof *c->last_ns);
    if (c->lines != NULL && c->come != NULL && c->last_ns != NULL)
        return c;
    crowd_free(c);
    return NULL;
}

void crowd_free(struct crowd *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; c->lines != NULL && i < (size_t)c->sim->job.ranks * NSLOTS; i++) {
        free(c->lines[i].v);
        free(c->lines[i].ready_ns);
    }
    free(c->lines);
    free(c->come);
    free(c->last_ns);
    free(c);
}

static struct line *line_of(struct crowd *c, int rank, enum axis axis)
{
    return &c->lines[(size_t)rank * NSLOTS + (size_t)slot_of(&c->sim->job, axis)];
}

static bool line_up(struct line *line, const struct meeting *m, int64_t ready_ns)
{
    if (line->first > 0 && line->first == line->n)
        line->first = line->n = 0;
    if (line->n == line->cap) {
        size_t cap = line->cap == 0 ? 16 : 2 * line->cap;
        struct meeting *v = realloc(line->v, cap * sizeof *v);
        if (v == NULL)
            return false;
        line->v = v;
        int64_t *ready = realloc(line->ready_ns, cap * sizeof *ready);
        if (ready == NULL)
            return false;
        line->ready_ns = ready;
        line->cap = cap;
    }
    line->v[line->n] = *m;
    line->ready_ns[line->n++] = ready_ns;
    return true;
}

/* The rank's stream has come to the first in its line.  Where it is the last of the group to come, the meeting ends,
 * and all streams of the group go on to what is next in their lines. */
static void arrive(struct crowd *c, const struct line *line)
{
    const struct meeting *m = &line->v[line->first];
    int64_t start = later(line->ready_ns[line->first], line->free_ns + STREAM_NS);
    const struct group group = m->group;
    size_t id = m->id;

    c->last_ns[id] = c->come[id] == 0 ? start : later(c->last_ns[id], start);
    if (++c->come[id] < group.n)
        return;
    c->sim->last_ns[id] = c->last_ns[id];
    c->known++;
    for (int i = 0; i < group.n; i++) {
        int rank = member(&group, i);
        enum axis axis = m->what->axis;
        if (axis == AXIS_NEXT || axis == AXIS_PREV)
            axis = i == 0 ? AXIS_NEXT : AXIS_PREV;
        struct line *other = line_of(c, rank, axis);
        struct meeting *own = &other->v[other->first];
        own->last_ns = c->last_ns[id];
        other->free_ns = meeting_end(c->sim, own, rank);
        other->first++;
    }
    for (int i = 0; i < group.n; i++) {
        enum axis axis = m->what->axis;
        if (axis == AXIS_NEXT || axis == AXIS_PREV)
            axis = i == 0 ? AXIS_NEXT : AXIS_PREV;
        struct line *other = line_of(c, member(&group, i), axis);
        if (other->first < other->n)
            arrive(c, other);
    }
}

bool crowd_come(struct crowd *c, int rank, const struct meeting *m, int64_t ready_ns)
{
    struct line *line = line_of(c, rank, m->what->axis);
    if (!line_up(line, m, ready_ns))
        return false;
    if (line->n - line->first == 1)
        arrive(c, line);
    return true;
}

size_t crowd_known(const struct crowd *c)
{
    return c->known;
}
