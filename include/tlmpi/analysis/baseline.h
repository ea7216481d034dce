/* baseline.h - what do others need for the same work in the same steps?
 *
 *     role    ranks that do the same: they share a group of collectives and talk to ranks on the same sides of them.
 *             A group smaller than the job counts first, if there is any; a group of sends and receives alone never
 *             counts; a group of all ranks does not count for a rank that mostly sends and receives with unknown peers
 *     class   work that is compared: on the device, kernels and copies of one name; of the host, the work between two
 *             collectives of the step, if all ranks of the role have as many in it, else the step as a whole
 *     cell    the work of one rank in one class and step
 *
 * The baseline of a rank in some steps is the median over its role of the sums over these steps; of the two in the
 * middle the lesser, for half of the ranks show that it can be done.  Summed first, noise averages out before an order
 * statistic sees it, and a step heavier for all is heavier in the baseline as well.  A rank without peers is compared
 * with its own other steps: it may be late for a while, never persistently.
 *
 * A rank's device may be late because kernels take long (DEVICE), or because it has more of them than its peers
 * (ADDITIONAL).  The time of kernels is noisy, their number hardly is, and copies are steadier than kernels, so these
 * are three families (COPY).  Waits of a host for its device are another (WAIT): waits that its peers do not have keep
 * a host from running ahead.
 *
 * Transfer times are compared as well (tl_baseline_add_links): the members are then links (ranks between which data
 * move), and links of one sort take the place of a role.
 *
 * A step is cut if the recording of some rank lacks it; the first step also if a recording begins late in it.  The time
 * before all steps and the time after them count as cut steps.  Cut steps are replayed and are never evidence.  The
 * first and the last step of a rank's recording are compared, but prove nothing alone: what it takes to start a
 * profiler differs by host.
 *
 * May use graph.
 */
#ifndef TLMPI_ANALYSIS_BASELINE_H
#define TLMPI_ANALYSIS_BASELINE_H

#include "tlmpi/analysis/baseline/work_class_map.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/table.h"

enum { TL_TALKS_UP = 1, TL_TALKS_DOWN = 2 };

/* The key of the class of kernels whose names differ between the ranks of a role, while all ranks have the same number
 * of them (alike.c). */
#define TL_EXCHANGED UINT64_MAX

/* A role of ranks, or a sort of links: members[first .. first + n) are their indices, ascending. */
typedef struct tl_role_ranks {
    uint32_t first, n;
    uint32_t nclasses, first_class, last_class; /* see tl_class_first */
} tl_role_ranks;

/* A link: the ranks between which data move.  All ranks of a group; of sends and receives the two ranks, for both
 * ways. */
typedef struct tl_link_ranks {
    int32_t group;         /* row of table group; -1: unknown */
    uint32_t role, member; /* the sort of the link, and the link's index in it */
    uint32_t first, n;     /* its ranks: link_members[first .. first + n), indices, ascending */
    bool pair;
    bool guessed;      /* sends and receives in a group that no metadata names: its ranks may wait for others */
} tl_link_ranks;

typedef struct tl_work_class {
    uint64_t key; /* DEVICE, COPY: content key of the name, or TL_EXCHANGED; HOST: number of the segment, UINT32_MAX:
                   * the whole step; WAIT: tl_activity_kind << 32 | the same number; TRANSFER: tl_transfer_key */
    uint32_t role;
    uint32_t next;          /* next class of the role; TL_NONE: last */
    uint8_t family;         /* tl_family; classes of DEVICE serve ADDITIONAL as well */
    TL_VEC(uint32_t) steps; /* in which any member has a piece, ascending: few, as most names are in few steps */
    int64_t *ns;            /* [members of the role * steps.n], a member's steps together */
    uint32_t *pieces;       /* [members * steps.n] number of pieces */
    int64_t *amount;        /* [members * steps.n] DEVICE, WAIT: amount of work, in a unit of the class (amount.c);
                             * NULL: other families */
} tl_work_class;

typedef struct tl_baseline {
    const tl_job_graph *graph;
    const tl_asker *asker; /* carries questions to the procs that hold the ranks */
    size_t nroles, nsteps, nclasses, nsorts, nlinks;
    /* Holds all arrays but role_of, which the caller takes over, and growing ones: roles, members, classes, links,
     * link_members. */
    tl_arena arena;
    tl_role_ranks *roles; /* [nroles + nsorts] */
    uint32_t *members;
    uint32_t *role_of;       /* [nranks] */
    uint32_t *index_in_role; /* [nranks] index of the rank in its role */
    uint8_t *talks; /* [nranks] TL_TALKS_UP: to a rank above it, TL_TALKS_DOWN: below it; the first, the last and the
                     * inner stages of a pipeline do unlike work */
    bool by_sides;  /* no group smaller than the job has collectives: roles differ by the sides of their sends alone */
    int32_t *steps; /* [nsteps] numbers, ascending; -1: before the first, TL_STEP_AFTER: after the last */
    bool *cut;      /* [nsteps] */
    bool *left_out; /* [nsteps] cut steps with a number, and the time before or after all steps next to one */
    bool *edge;     /* [nsteps]: the first or last step of some rank's recording: profilers start and stop there */
    bool *lost;     /* [nranks * nsteps]: the rank is not judged in the step; NULL: all ranks are judged in all steps */
    size_t first_whole, last_whole; /* the first and the last step that is not cut; nsteps: there is none */
    tl_work_class *classes;
    size_t class_room;
    tl_map class_of;         /* by family, role and key */
    uint32_t *meeting_class; /* [nmeetings]; TL_NONE: the meeting is no evidence */
    tl_step_cut *cuts;       /* [nranks * nsteps] */
    bool *comparable;        /* [nroles * nsteps]: all ranks of the role launch the same number of collectives */
    tl_link_ranks *links;    /* [nlinks] */
    uint32_t *link_members;
    uint64_t *host_of;        /* [nranks] key of the host's name; 0: unknown */
    uint32_t *link_of;        /* [nmeetings]: TL_NONE: the meeting is no evidence */
    uint32_t **class_of_kind; /* by rank and kind of its class map: the class */
    size_t *nkinds;           /* [nranks] */
    int64_t *compute_ns;      /* [nranks] time of the rank's compute kernels in full steps */
    double *heavy;            /* [3 * nroles * nsteps] of DEVICE, COPY and HOST: weight of a step, 1 as a usual one: a
                               * role's work in it / the role's median step, of the median of the other roles */
} tl_baseline;

/* Asks CELLS and HOST_PIECES.  Borrows graph and asker, which have to outlive *out.  rows: as in tl_job_graph_input. */
void tl_baseline_make(const tl_job_graph *graph, const tl_asker *asker, const int32_t *ranks, const tl_late_row *rows,
                      size_t nrows, tl_baseline *out);
void tl_baseline_free(tl_baseline *baseline);

/* For ranks that lost work in a step, according to table health.  A rank that is late whatever the lost work was is
 * judged in the step.  Any other such rank is not judged there, and counts as the median of its peers.  Call once,
 * after tl_baseline_make, with the same ranks. */
void tl_baseline_leave_out(tl_baseline *baseline, const int32_t *ranks, const tl_table *health);

static inline bool tl_is_unjudged(const tl_baseline *b, size_t rank, size_t step)
{
    return b->lost != NULL && b->lost[rank * b->nsteps + step];
}

/* Finds links, their sorts and their transfer times.  Call once, after tl_baseline_make, with the same ranks and rows.
 *
 *     link     the ranks between which one collective moves its data: its group; of sends and receives, the two ranks
 *     sort     links with the same number of ranks, within a host or not, where that is known, and of groups with one
 *              description (without one: of one parallelism and one distance between the first two ranks); links of
 *              sends and receives, between the same roles; never two links of the same ranks
 *     class    collectives of one kind and size; of sends and all-to-alls, whose sizes vary, sizes up to twice as much;
 *              of unknown size, those of ranks that talk to the same sides: unlike stages move unlike amounts
 *
 * A link without a like one in a class is compared with its own better steps.  A collective is no evidence if it is
 * suspect or if a member has no trace. */
typedef struct tl_link_input {
    const int32_t *ranks; /* of the graph */
    const tl_late_row *rows;
    size_t nrows;
    const tl_table *groups; /* table group */
    const tl_table *hosts;  /* table rank */
} tl_link_input;

void tl_baseline_add_links(tl_baseline *baseline, const tl_link_input *input);

/* The kind and size of a class of transfers; unknown sizes are below 0. */
static inline uint64_t tl_transfer_key(uint8_t kind, int64_t bytes)
{
    return (uint64_t)kind << 56 | ((uint64_t)bytes & (UINT64_MAX >> 8));
}

static inline uint8_t tl_transfer_kind(uint64_t key)
{
    return (uint8_t)(key >> 56);
}

/* Returns the size in bytes; -1: unknown. */
static inline int64_t tl_transfer_bytes(uint64_t key)
{
    uint64_t bytes = key & (UINT64_MAX >> 8);
    return bytes >> 55 != 0 ? -1 : (int64_t)bytes;
}

static inline bool tl_step_is_numbered(int32_t step)
{
    return step >= 0 && step != TL_STEP_AFTER;
}

/* The least and the largest step number of the rank within from to to; false: it has none there. */
bool tl_steps_between(const tl_job_rank *rank, int32_t from, int32_t to, int32_t *low, int32_t *high);

/* Where the consecutive numbers end that begin with ascending steps[from]. */
size_t tl_consecutive_end(const int32_t *steps, size_t nsteps, size_t from);

/* The whole step whose work a cut step is compared with: the first one for a step before it, else the last one. */
static inline size_t tl_whole_step_at(const tl_baseline *b, size_t step)
{
    return step < b->first_whole ? b->first_whole : b->last_whole;
}

/* Returns the class of a role with that family and key; TL_NONE: there is none. */
uint32_t tl_class_find(const tl_baseline *baseline, tl_family family, uint32_t role, uint64_t key);

/* Goes through the classes of a role, in the order of their numbers; TL_NONE: there is none.
 *
 *     for (uint32_t c = tl_class_first(b, role); c != TL_NONE; c = b->classes[c].next)
 */
static inline uint32_t tl_class_first(const tl_baseline *b, uint32_t role)
{
    return b->roles[role].nclasses > 0 ? b->roles[role].first_class : TL_NONE;
}

/* Returns the index of a member's cell in the arrays of the class; SIZE_MAX: no member has a piece in the step. */
static inline size_t tl_class_cell(const tl_work_class *class, size_t member, size_t step)
{
    size_t column = 0;
    TL_BISECT(column, class->steps.n, mid, class->steps.v[mid] < step);
    bool has = column < class->steps.n && class->steps.v[column] == step;
    return has ? member * class->steps.n + column : SIZE_MAX;
}

/* Returns the number of pieces that a member has of the class in a step. */
static inline uint32_t tl_class_pieces(const tl_work_class *class, size_t member, size_t step)
{
    size_t cell = tl_class_cell(class, member, step);
    return cell != SIZE_MAX ? class->pieces[cell] : 0;
}

/* The index of the meeting's step. */
static inline size_t tl_meeting_step(const tl_baseline *b, uint32_t meeting)
{
    return tl_step_index(b->steps, b->nsteps, b->graph->meetings[meeting].step);
}

/* Returns the median of n > 0 values; of the two in the middle the lesser, for half of the values show that it can be
 * done.  Sorts the values. */
int64_t tl_baseline_median(int64_t *values, size_t n);

/* Returns the baseline, ns, of a member of the class in the steps that are `on`; *own_ns: the member's own work in
 * these steps.  scratch: room for the members of the role, and for all steps. */
int64_t tl_baseline_of(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on, int64_t *own_ns,
                       int64_t *scratch);

/* Returns the part of ns that is there because amount exceeds baseline_amount; below 0: the part of baseline_ns that
 * the peers have more.  baseline_ns, baseline_amount: of the peers. */
int64_t tl_additional(int64_t ns, int64_t amount, int64_t baseline_ns, int64_t baseline_amount);

/* As tl_baseline_of, for a class of DEVICE: what the member's own amount of work takes its peers. */
int64_t tl_baseline_of_amount(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on,
                              int64_t *own_ns, int64_t *scratch);

/* Fills late_ns, by cell of the class, with a member's work less the median of its role in the same step; 0 for a rank
 * alone in its role.  A link is compared with links of its sort, or alone with its own better steps.  scratch: as for
 * tl_baseline_of. */
void tl_excess(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch);

/* Fills late_ns[members * nsteps]: by how much the work of a family exceeds that of peers in the same step, summed over
 * classes, less the median of these sums over the role.  Of two ranks each is the other's peer, and no median is taken
 * off.  ADDITIONAL and WAIT: the time of pieces and waits that peers do not have.  scratch: as for tl_baseline_of. */
void tl_lateness(const tl_baseline *b, uint32_t role, tl_family family, double *late_ns, int64_t *scratch);

/* own.c: fills ns[nsteps] with the DEVICE, COPY or HOST work of the rank in the middle of a role.  scratch: room for the
 * members of the role. */
void tl_own_work(const tl_baseline *b, uint32_t role, tl_family family, double *ns, int64_t *scratch);

/* Fills late_ns[nsteps] with the time by which the rank in the middle of a role exceeds, in DEVICE or HOST work,
 * the role's better steps (the 1 - TL_PERSISTENT_SHARE quantile of its steps).  scratch[nranks + nsteps]: room. */
void tl_lateness_of_own(const tl_baseline *b, uint32_t role, tl_family family, double *late_ns, int64_t *scratch);

/* Returns what a member of the class would have in the steps that are `on`, ns, were they like the role's steps that are
 * not `late`, and fills *own_ns with what it has; the same if there are no others. */
int64_t tl_baseline_of_own(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on,
                           const bool *late, int64_t *own_ns, int64_t *scratch);

/* Whether ranks of the role talk to both sides, as those of the inner stages of a pipeline do. */
static inline bool tl_is_inner_stage(const tl_baseline *b, uint32_t role)
{
    return b->talks[b->members[b->roles[role].first]] == (TL_TALKS_UP | TL_TALKS_DOWN);
}

/* Whether the role is two inner stages, each the only peer of the other. */
static inline bool tl_is_two_stages(const tl_baseline *b, uint32_t role)
{
    return b->by_sides && b->roles[role].n == 2 && tl_is_inner_stage(b, role);
}

/* across.c: fills late_ns[nroles * nsteps] with the time by which an inner stage exceeds the median of inner stages,
 * over kernels that these stages have in equal number. */
void tl_lateness_across(const tl_baseline *b, double *late_ns);

/* Returns own_ns, a member's work in the steps that are `on`, scaled down to the median of the roles with the same
 * work; own_ns itself if no other role has the same work.  same[nroles], scratch[nranks + nroles]: room. */
int64_t tl_baseline_across(const tl_baseline *b, const tl_work_class *class, int64_t own_ns, const bool *on,
                           const tl_work_class **same, int64_t *scratch);

#endif
