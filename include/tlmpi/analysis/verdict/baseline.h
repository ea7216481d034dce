/* baseline.h - how much time does a rank's work take beyond what its peers need for it in the same steps?
 *
 *     role    ranks that do the same work: they share a group of collectives and exchange data with ranks on the same
 *             sides (TL_TALKS_UP, TL_TALKS_DOWN).  Groups smaller than the job come first, if there are any; a group of
 *             sends and receives alone does not count; a group of all ranks does not count for a rank most of whose
 *             transfers are sends and receives with unknown peers
 *     class   work that is compared: on the device, kernels and copies of one name; on the host, the work between two
 *             collectives of the step, if all ranks of the role launch the same number of collectives in the step, else
 *             all host work of the step
 *     cell    the work of one rank in one class and step
 *
 * The baseline of a rank in a set of steps: each rank's work is summed over these steps, and the baseline is the median
 * of these sums over the role; for an even number of ranks the lower of the two middle sums, since half of the ranks
 * reach it.  Summing first averages noise out, and a step that is heavier for all ranks is heavier in the baseline as
 * well.  A rank without peers is compared with its own other steps: such a rank may be late in some steps, never
 * persistently.
 *
 * A rank's device may be late because its kernels take longer (DEVICE, or COPY for copies, whose times vary less) or
 * because it runs more kernels than its peers (ADDITIONAL; the number of kernels hardly varies).  Its host may be late
 * because it waits for the device where hosts of peers do not wait (WAIT): such a wait keeps the host from running
 * ahead.
 *
 * Transfer times are compared as well (tl_baseline_add_links): the members are then links (ranks between which data
 * move), and a sort of links takes the place of a role.
 *
 * A step is cut if some rank's recording lacks it; the first step also if a recording begins late in it.  The time
 * before all steps and the time after them count as cut steps.  Cut steps are replayed and are never evidence.  The
 * first and the last step of a rank's recording are compared, but are not evidence alone: the time to start or stop a
 * profiler differs by host.
 *
 * May use graph.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_BASELINE_H
#define TLMPI_ANALYSIS_VERDICT_BASELINE_H

#include "tlmpi/analysis/verdict/baseline/work_class_map.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/table.h"

enum { TL_TALKS_UP = 1, TL_TALKS_DOWN = 2 };

/* Key of the class of kernels whose names differ between the ranks of a role while all ranks run the same number of
 * them (cells.c). */
#define TL_EXCHANGED UINT64_MAX

/* A role of ranks, or a sort of links.  members[first .. first + n): indices of its ranks or links, ascending. */
typedef struct tl_role_ranks {
    uint32_t first, n;
    uint32_t nclasses, first_class, last_class; /* see tl_class_first */
} tl_role_ranks;

/* A link: the ranks between which data move.  For collectives, all ranks of a group; for sends and receives, the two
 * ranks, in both directions. */
typedef struct tl_link_ranks {
    int32_t group;         /* row of table group; -1: unknown */
    uint32_t role, member; /* the sort of the link, and the link's index in it */
    uint32_t first, n;     /* its ranks: link_members[first .. first + n), indices, ascending */
    bool pair;
    bool guessed; /* sends and receives in a group that no metadata names: its ranks may wait for others */
} tl_link_ranks;

typedef struct tl_work_class {
    uint64_t key; /* DEVICE, COPY: content key of the name, or TL_EXCHANGED; HOST: number of the segment, UINT32_MAX:
                   * the whole step; WAIT: tl_activity_kind << 32 | the same number; TRANSFER: tl_transfer_key */
    uint32_t role;
    uint32_t next;          /* next class of the role; TL_NONE: last */
    uint8_t family;         /* tl_family; classes of DEVICE serve ADDITIONAL as well */
    TL_VEC(uint32_t) steps; /* steps in which any member has a piece, ascending */
    int64_t *ns;            /* [members of the role * steps.n], by member */
    uint32_t *pieces;       /* [members * steps.n] number of pieces */
    int64_t *amount;        /* [members * steps.n] DEVICE, WAIT: amount of work, in a unit of the class (cells.c);
                             * NULL: other families */
} tl_work_class;

typedef struct tl_baseline {
    const tl_job_graph *graph;
    const tl_asker *asker; /* carries questions to the procs that hold the ranks */
    size_t nroles, nsteps, nclasses, nsorts, nlinks;
    /* Frees all arrays but the growing arrays (roles, members, classes, links, link_members) and role_of. */
    tl_arena arena;
    tl_role_ranks *roles; /* [nroles + nsorts] */
    uint32_t *members;
    uint32_t *role_of;       /* [nranks] */
    uint32_t *index_in_role; /* [nranks] index of the rank in its role */
    uint8_t *talks; /* [nranks] TL_TALKS_UP: exchanges data with a higher rank, TL_TALKS_DOWN: with a lower one; the
                     * first, the last and the inner stages of a pipeline do different work */
    bool by_sides;  /* no group smaller than the job has collectives: roles differ by `talks` alone */
    int32_t *steps; /* [nsteps] step numbers, ascending; -1: time before the first, TL_STEP_AFTER: after the last */
    bool *cut;      /* [nsteps] */
    bool *left_out; /* [nsteps] cut steps with a number, and cut time before or after all steps next to such a step */
    bool *edge;     /* [nsteps] first or last step of some rank's recording */
    bool *lost;     /* [nranks * nsteps]: the rank is not judged in the step; NULL: all ranks are judged in all steps */
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
    uint32_t **class_of_kind; /* [nranks][nkinds[rank]] index of the class */
    size_t *nkinds;           /* [nranks] */
    int64_t *compute_ns;      /* [nranks] time of the rank's compute kernels in full steps */
    double *heavy;            /* [3 * nroles * nsteps] for DEVICE, COPY and HOST: weight of a step, 1 = usual: over the
                               * other roles, the median of (the role's work in the step / the role's median step) */
} tl_baseline;

/* Asks the questions CELLS and HOST_PIECES.  Borrows graph and asker, which have to outlive *out.  rows: as in
 * tl_job_graph_input. */
void tl_baseline_make(const tl_job_graph *graph, const tl_asker *asker, const int32_t *ranks, const tl_late_row *rows,
                      size_t nrows, tl_baseline *out);
void tl_baseline_free(tl_baseline *baseline);

/* Bounds the work of ranks that lost some of it in a step (table health).  A rank that is late under any bound is
 * judged in the step; any other such rank is not judged in the step, and its work counts as the median of its peers.
 * Call once, after tl_baseline_make, with the same ranks. */
void tl_baseline_leave_out(tl_baseline *baseline, const int32_t *ranks, const tl_table *health);

static inline bool tl_is_unjudged(const tl_baseline *b, size_t rank, size_t step)
{
    return b->lost != NULL && b->lost[rank * b->nsteps + step];
}

/* Finds links, their sorts and their transfer times.  Call once, after tl_baseline_make, with the same ranks and rows.
 *
 *     link     the ranks between which one collective moves its data: its group; for sends and receives, the two ranks
 *     sort     links with the same number of ranks, alike in lying within one host or not, if known, whose groups have
 *              the same description (if they have none: the same parallelism and the same distance between the first
 *              two ranks); for sends and receives, links between the same roles; never two links of the same ranks
 *     class    collectives of one kind and size; sends and all-to-alls vary in size and are classed by powers of two;
 *              collectives of unknown size are classed by the sides of their ranks, since different stages move
 *              different amounts
 *
 * A link without peers in a class is compared with its own better steps.  A collective is no evidence if it is suspect
 * or if a member has no trace. */
typedef struct tl_link_input {
    const int32_t *ranks; /* of the graph */
    const tl_late_row *rows;
    size_t nrows;
    const tl_table *groups; /* table group */
    const tl_table *hosts;  /* table rank */
} tl_link_input;

void tl_baseline_add_links(tl_baseline *baseline, const tl_link_input *input);

/* Returns the key of a class of transfers.  bytes below 0: unknown. */
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

/* Finds the lowest and the highest step number of the rank in [from, to]; false: the rank has no step there. */
bool tl_steps_between(const tl_job_rank *rank, int32_t from, int32_t to, int32_t *low, int32_t *high);

/* Returns the end index of the run of consecutive numbers that begins at steps[from].  steps: ascending. */
size_t tl_consecutive_end(const int32_t *steps, size_t nsteps, size_t from);

/* Returns the class with that role, family and key; TL_NONE: there is none. */
uint32_t tl_class_find(const tl_baseline *baseline, tl_family family, uint32_t role, uint64_t key);

/* tl_class_first returns the first class of a role, `next` leads to the others; TL_NONE: no more.
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

static inline size_t tl_meeting_step(const tl_baseline *b, uint32_t meeting)
{
    return tl_step_index(b->steps, b->nsteps, b->graph->meetings[meeting].step);
}

/* Returns the median of n > 0 values; for even n the lower of the two middle values.  Sorts the values. */
int64_t tl_baseline_median(int64_t *values, size_t n);

/* Returns the baseline, ns, of a member of the class over the steps with on[step]; *own_ns: the member's own work in
 * these steps.  scratch[members of the role + nsteps]: room. */
int64_t tl_baseline_of(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on, int64_t *own_ns,
                       int64_t *scratch);

/* Returns the part of ns that is due to amount exceeding baseline_amount; if amount is less, minus the part of
 * baseline_ns that is due to the difference.  baseline_ns, baseline_amount: of the peers. */
int64_t tl_additional(int64_t ns, int64_t amount, int64_t baseline_ns, int64_t baseline_amount);

/* As tl_baseline_of, for a class of DEVICE, plus the time of the member's additional amount of work (tl_additional), at
 * the peers' rate at most. */
int64_t tl_baseline_of_amount(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on,
                              int64_t *own_ns, int64_t *scratch);

/* Fills late_ns, by cell of the class, with a member's work less the median of its role in the same step; 0 for a rank
 * alone in its role.  A link is compared with the links of its sort; without peers, with its own better steps.
 * scratch: as for tl_baseline_of. */
void tl_excess(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch);

/* Fills late_ns[members * nsteps] with the time by which a member's work of a family exceeds that of its peers in the
 * same step, summed over classes, less the median of these sums over the role.  Of two members each is the other's
 * peer, and no median is subtracted.  ADDITIONAL and WAIT: the time of kernels and waits that peers do not have.
 * scratch: as for tl_baseline_of. */
void tl_lateness(const tl_baseline *b, uint32_t role, tl_family family, double *late_ns, int64_t *scratch);

/* Fills late_ns[nsteps] with the time by which the role's median work of a family, DEVICE or HOST, exceeds that of the
 * role's better steps (the 1 - TL_MOST_SHARE quantile of its steps).  scratch[nranks + nsteps]: room. */
void tl_lateness_of_own(const tl_baseline *b, uint32_t role, tl_family family, double *late_ns, int64_t *scratch);

/* Returns the work, ns, that a member of the class would have in the steps with on[step] if they were like the role's
 * other steps; *own_ns: the work it has.  Returns *own_ns if there are no such steps. */
int64_t tl_baseline_of_own(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on,
                           int64_t *own_ns, int64_t *scratch);

/* Whether the role's ranks exchange data with ranks on both sides, as inner stages of a pipeline do. */
static inline bool tl_is_inner_stage(const tl_baseline *b, uint32_t role)
{
    return b->talks[b->members[b->roles[role].first]] == (TL_TALKS_UP | TL_TALKS_DOWN);
}

/* Whether the role is two inner stages, each the only peer of the other. */
static inline bool tl_is_two_stages(const tl_baseline *b, uint32_t role)
{
    return b->by_sides && b->roles[role].n == 2 && tl_is_inner_stage(b, role);
}

#endif
