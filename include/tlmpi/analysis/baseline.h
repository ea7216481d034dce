/* baseline.h - what do others need for the same work in the same steps?
 *
 *     role    ranks that do the same: they share a group of collectives (a group smaller than the job, if there is any; groups of
 *             nothing but sends and receives do not count), and talk to ranks on the same sides of them; where most of what
 *             a rank does is sending and receiving, and nothing tells between whom, a group of all ranks does not count
 *     class   work that is compared: on the device, kernels and copies of one name; of the host, what lies between two collectives
 *             of the step, where all ranks of the role have as many in it, else the step as a whole
 *     cell    the work of one rank in one class and step
 *
 * The baseline of a rank in some steps is the median over its role of the sums over these steps; of the two in the
 * middle the lesser, for half of the ranks show that it can be done.  Summed first, noise averages out before an order
 * statistic sees it, and a step heavier for all is heavier in the baseline as well.  A rank that nobody is like is
 * compared with itself in other steps: it may be late for a while there, and never persistently.
 *
 * A rank's device may be late because pieces of work take long, or because it has more of them than its peers.  How
 * long pieces take has noise, how many there are has hardly any; so these are two families.  Waits of its host for its
 * device are a third: those that peers do not have keep it from running ahead.
 *
 * What data take is compared as well: the members are links then, ranks between which data move, and links of one sort
 * are the role (tl_baseline_add_links).
 *
 * A step that some rank's recording lacks was cut, and so is what lies before all steps or after them, and the first one
 * where a rank's recording begins late in it.  Such steps are replayed, and never are evidence.  The first and the last
 * step of a rank's recording are compared, and prove nothing alone: what it takes to start a profiler differs by host.
 *
 * May use graph.
 */
#ifndef TLMPI_ANALYSIS_BASELINE_H
#define TLMPI_ANALYSIS_BASELINE_H

#include "tlmpi/analysis/baseline/frame.h"
#include "tlmpi/model/table.h"

enum { TL_TALKS_UP = 1, TL_TALKS_DOWN = 2 };

/* The key of the class of kernels whose names differ between the ranks of a role, though there are as many. */
#define TL_EXCHANGED UINT64_MAX

/* Ranks that do the same, or links of a sort: members[first .. first + n), their indices, ascending. */
typedef struct tl_role_ranks {
    uint32_t first, n;
    uint32_t nclasses, first_class, last_class; /* see tl_class_first */
} tl_role_ranks;

/* Ranks between which data move: those of a group; of sends and receives the two, for both ways. */
typedef struct tl_link_ranks {
    int32_t group;         /* row of table group; -1: unknown */
    uint32_t role, member; /* its sort, and which of it */
    uint32_t first, n;     /* its ranks: link_members[first .. first + n), indices, ascending */
    bool pair;
    int64_t unsure_ns; /* what corrected clocks of its ranks may still be off, at most; 0 where none was */
} tl_link_ranks;

typedef struct tl_work_class {
    uint64_t
        key; /* DEVICE: content key of the name, TL_EXCHANGED (alike.c); HOST, WAIT: number of the segment, UINT32_MAX: the whole step;
                   * TRANSFER: tl_transfer_key */
    uint32_t role;
    uint32_t next;          /* the next of the role; TL_NONE */
    uint8_t family;         /* tl_family; those of DEVICE are ADDITIONAL's as well */
    TL_VEC(uint32_t) steps; /* in which any member has a piece, ascending: many names and many steps make few of both */
    int64_t *ns;            /* [members of the role * steps.n], a member's steps together */
    uint32_t *pieces;       /* likewise: how many there are */
    int64_t *amount;        /* likewise: DEVICE, WAIT: how much work they are, in a unit of the class; NULL */
    int64_t *sure_ns; /* likewise: TRANSFER: how long the member stays that stays shortest, by one clock alone; NULL */
} tl_work_class;

typedef struct tl_baseline {
    const tl_graph *graph;
    const tl_asker *asker; /* who knows where its ranks are */
    size_t nroles, nsteps, nclasses, nsorts, nlinks;
    /* Of all arrays but role_of, which is handed on, and those that grow: roles, members, classes, links and theirs. */
    tl_arena arena;
    tl_role_ranks *roles; /* [nroles + nsorts] */
    uint32_t *members;
    uint32_t *role_of;       /* [nranks] */
    uint32_t *index_in_role; /* [nranks]: of each in its role */
    uint8_t *talks; /* [nranks] TL_TALKS_UP, TL_TALKS_DOWN: to ranks above it, below it; the first, the last and the
                     * inner stages of a pipeline do unlike work */
    int32_t *steps; /* [nsteps] numbers, ascending; -1: before the first, TL_STEP_AFTER: after the last */
    bool *cut;      /* [nsteps] */
    bool *edge; /* [nsteps]: the first or the last that some rank has: profilers start and stop there */
    bool *lost; /* [nranks * nsteps]: the rank is not judged in the step; NULL: all are in all */
    size_t first_whole, last_whole; /* steps that are not cut; nsteps: there is none */
    tl_work_class *classes;
    size_t class_room;
    tl_map class_of;         /* by family, role and key */
    uint32_t *meeting_class; /* [nmeetings]: TL_NONE: it is no evidence */
    tl_step_cut *cuts;       /* [nranks * nsteps] */
    bool *comparable;        /* [nroles * nsteps]: all of the role launch as many collectives */
    tl_link_ranks *links;    /* [nlinks] */
    uint32_t *link_members;
    uint64_t *host_of;        /* [nranks] key of the host's name; 0: unknown */
    uint32_t *link_of;        /* [nmeetings]: TL_NONE: the meeting is no evidence */
    int64_t *tail_ns;         /* [nmeetings] how much later than the first its last member is done */
    uint32_t **class_of_kind; /* by rank and kind of its frame: the class */
    size_t *nkinds;           /* [nranks] */
    int64_t *compute_ns;      /* [nranks] what its kernels that compute take in full steps */
    double *heavy;            /* [2 * nsteps] of DEVICE and HOST: how heavy a step is for all, 1 as others are */
} tl_baseline;

/* Asks CELLS and HOST_PIECES.  Graph and asker stay the caller's, and have to stay.  rows: as of tl_graph_input. */
void tl_baseline_make(const tl_graph *graph, const tl_asker *asker, const int32_t *ranks, const tl_late_row *rows,
                      size_t nrows, tl_baseline *out);
void tl_baseline_free(tl_baseline *baseline);

/* Of ranks of which table health says that work is lost in a step, what bounds tell: they are judged there if they are
 * late whatever that work was, and count as their peers otherwise.  Once, after tl_baseline_make, with the same ranks.
 */
void tl_baseline_leave_out(tl_baseline *baseline, const int32_t *ranks, const tl_table *health);

static inline bool tl_is_unjudged(const tl_baseline *b, size_t rank, size_t step)
{
    return b->lost != NULL && b->lost[rank * b->nsteps + step];
}

/* Links, their sorts and what data took there.  Once, after tl_baseline_make, with the same ranks and rows.
 *
 *     link     what moves its data in one collective: the ranks of a group; of sends and receives, the two
 *     sort     links of as many ranks, of groups of one description (without one: as many ranks as far apart), within a host or
 *              not, where that is known; of sends and receives, between the same roles; never two of the same ranks
 *     class    collectives of a kind and size; what differs by itself (sends, all-to-all), of a size up to twice as much; where
 *              nobody knows the size, of ranks that talk to the same sides: unlike stages move unlike amounts
 *
 * Who has no like in a class is compared with itself in other steps.  Collectives of which members have no trace, or
 * that are suspect, are no evidence.  TL_ENOMEM. */
typedef struct tl_link_input {
    const int32_t *ranks; /* of the graph */
    const tl_late_row *rows;
    size_t nrows;
    const tl_table *groups; /* tables group and rank */
    const tl_table *hosts;
} tl_link_input;

void tl_baseline_add_links(tl_baseline *baseline, const tl_link_input *input);

/* By how much a link exceeds its baseline in the steps that are `on`, as far as no clock can be at fault: where two are
 * apart, transfers look longer whenever the last to arrive is on one of them.  scratch: as above. */
int64_t tl_sure_lateness(const tl_baseline *baseline, uint32_t link, const bool *on, int64_t *scratch);

/* The kind and size of a class of transfers; unknown sizes are below 0. */
static inline uint64_t tl_transfer_key(uint8_t kind, int64_t bytes)
{
    return (uint64_t)kind << 56 | ((uint64_t)bytes & (UINT64_MAX >> 8));
}

static inline uint8_t tl_transfer_kind(uint64_t key)
{
    return (uint8_t)(key >> 56);
}

/* -1: unknown. */
static inline int64_t tl_transfer_bytes(uint64_t key)
{
    uint64_t bytes = key & (UINT64_MAX >> 8);
    return bytes >> 55 != 0 ? -1 : (int64_t)bytes;
}

/* The whole step next to one that is cut. */
static inline size_t tl_whole_step_at(const tl_baseline *b, size_t step)
{
    return step < b->first_whole ? b->first_whole : b->last_whole;
}

/* The class of a role that has that key; TL_NONE: there is none. */
uint32_t tl_class_find(const tl_baseline *baseline, tl_family family, uint32_t role, uint64_t key);

/* Goes through the classes of a role, in the order of their numbers; TL_NONE: there is none.
 *
 *     for (uint32_t c = tl_class_first(b, role); c != TL_NONE; c = b->classes[c].next)
 */
static inline uint32_t tl_class_first(const tl_baseline *b, uint32_t role)
{
    return b->roles[role].nclasses > 0 ? b->roles[role].first_class : TL_NONE;
}

/* Which of its arrays' cells a member has in a step; SIZE_MAX: no member has a piece in it. */
static inline size_t tl_class_cell(const tl_work_class *class, size_t member, size_t step)
{
    size_t column = 0;
    TL_BISECT(column, class->steps.n, mid, class->steps.v[mid] < step);
    bool has = column < class->steps.n && class->steps.v[column] == step;
    return has ? member * class->steps.n + column : SIZE_MAX;
}

/* How many pieces of a class a member has in a step. */
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

/* What is usual of n > 0 values: the median, of the two in the middle the lesser, for half of them show that it can be
 * done.  Puts them in order. */
int64_t tl_baseline_median(int64_t *values, size_t n);

/* How much of its baseline in the steps that are `on` a member of the class's role takes: baseline and own work.
 * scratch: room for the members of the role, and for all steps. */
int64_t tl_baseline_of(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on, int64_t *own_ns,
                       int64_t *scratch);

/* How much of the time of some work is there for its being more than that of peers; below 0: what they have more.
 * baseline_ns, baseline_amount: of peers. */
int64_t tl_additional(int64_t ns, int64_t amount, int64_t baseline_ns, int64_t baseline_amount);

/* As tl_baseline_of, of a class of DEVICE: what as much work as it has takes its peers. */
int64_t tl_baseline_of_amount(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on,
                              int64_t *own_ns, int64_t *scratch);

/* late_ns, by cell of the class: by how much its work exceeds what is usual in the same step of its role, or of links
 * like it; 0 of who has none.  scratch: likewise. */
void tl_excess(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch);

/* late_ns[members * nsteps]: by how much the work of a family exceeds that of peers in the same step, summed over
 * classes, less the median over the ranks of the role; of two ranks that of the other one.  Of waits, how long those
 * are that peers do not have.  scratch: likewise. */
void tl_lateness(const tl_baseline *b, uint32_t role, tl_family family, double *late_ns, int64_t *scratch);

/* Whether ranks of the role talk to both sides, as those of the inner stages of a pipeline do. */
static inline bool tl_is_inner_stage(const tl_baseline *b, uint32_t role)
{
    return b->talks[b->members[b->roles[role].first]] == (TL_TALKS_UP | TL_TALKS_DOWN);
}

/* across.c: late_ns[nroles * nsteps]: by how much the ranks of an inner stage are slower than those of others in
 * kernels of which both have as many. */
void tl_lateness_across(const tl_baseline *b, double *late_ns);

/* What is usual across roles of what takes a member of the class own_ns in the steps that are `on`; own_ns where no other
 * role has the same.  same[nroles], scratch[nranks + nroles]. */
int64_t tl_baseline_across(const tl_baseline *b, const tl_work_class *class, int64_t own_ns, const bool *on,
                           const tl_work_class **same, int64_t *scratch);

#endif
