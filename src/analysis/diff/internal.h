/* internal.h - what the files of the room share: a side of the comparison, and what is aligned by name. */
#ifndef TLMPI_ANALYSIS_DIFF_INTERNAL_H
#define TLMPI_ANALYSIS_DIFF_INTERNAL_H

#include "tlmpi/analysis/diff.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"
#include <math.h>

enum { A, B };

/* Times of one rank in one step, by tl_diff_part up to TL_DIFF_OUTSIDE. */
typedef struct cell {
    int64_t ns[TL_DIFF_REST];
} cell;

/* Ranks of both sides that are compared with one another: a rank, if the sides have the same ranks, else a role. */
typedef struct unit {
    TL_VEC(int64_t) ranks[2];
} unit;

typedef struct side {
    const tl_diff_side *in;
    TL_VEC(int64_t) own;    /* ranks with device work, marks if any rank has, and a whole trace, ascending */
    uint64_t *key;          /* by own rank: the key of its unit */
    TL_VEC(int64_t) ranks;  /* own ranks whose unit the other side has, too: these are compared; ascending */
    uint32_t *unit;         /* by rank: its index in diff.units */
    double *weight;         /* by rank: makes the units weigh as much as in A; the sum is ranks.n */
    TL_VEC(int64_t) steps;  /* steps compared, ascending; a single step -1 if there are no marks */
    cell *cells;            /* by rank, then step */
    int64_t *step_ns;       /* by step: the mean over ranks */
    bool *middle, *is_long; /* by step: between the quartiles of step_ns; far above the median */
    TL_VEC(double) samples; /* step times for the test */
    double recorded;        /* number of steps of the recording; 0: unknown */
    double marks;           /* marked steps of a rank, compared or not, in the mean */
    bool marked;            /* steps come from marks */
    bool cut;               /* compared ranks may lack device work of the last steps */
    int64_t median_ns;      /* median time of the compared steps */
    /* Kernel time of collectives, by kind: of all, and of those that could not be matched. */
    int64_t comm_ns[TL_NCOLLECTIVES], unmatched_ns[TL_NCOLLECTIVES];
} side;

/* Number and time of runs of one work (kernel, operator, ...): a sum, as over the ranks of a side. */
typedef struct amount {
    double count;
    int64_t ns;
} amount;

/* Returns whether the side has any of the work, which is not joined to another work. */
static inline bool is_there(const amount *x)
{
    return x->count > 0 || x->ns > 0;
}

typedef struct work {
    uint32_t kind, name, b_name, operator; /* indices in diff.names */
    uint32_t root;      /* index of the work with its sums: itself, or the work that it was joined to */
    bool aligned;       /* joined with works of other names: b_name is the name in B */
    bool waits;         /* of an operator: it copies from the device, so that its host time holds waiting; of a call
                         * that waits for the device */
    uint8_t collective; /* of a collective: its kind */
    amount side[2];
    double p_value; /* of a kernel: of its times over steps; NaN: not tested */
    /* Of a kernel that changes on some ranks: the ranks in B ("": none), the kind of change, the factor of its time per
     * step, its launches on one of them in a step of each side, and p, corrected for the number of units. */
    char ranks[64];
    tl_diff_change ranks_change;
    double ranks_times, ranks_count[2], ranks_p;
    int64_t ranks_ns; /* change on these ranks, in the mean over all ranks */
} work;

/* Launches of a kernel on one rank of a side, by compared step, or of the whole recording. */
typedef struct series {
    uint32_t work, unit; /* indices in of[KERNELS] and diff.units */
    int32_t rank, side;
    bool launched;     /* counts only work whose launch is in the trace */
    amount *step, sum; /* by step; over all steps */
} series;

typedef struct works {
    TL_VEC(work) v;
    tl_map map;
    double rate[2];    /* steps times ranks that the amounts of each side are sums over */
    double least_more; /* least change of a count, as a share of it */
} works;

enum {
    TABLE_FOUND,
    TABLE_RUN,
    TABLE_STEP,
    TABLE_BREAKDOWN,
    TABLE_KERNEL,
    TABLE_OPERATOR,
    TABLE_CALL_PATH,
    TABLE_COLLECTIVE,
    TABLE_IDLE,
    NTABLES
};

enum { KERNELS, OPERATORS, COLLECTIVES, IDLE, CALLS, LAUNCHED, HOST, NWORKS };

struct tl_diff {
    tl_diff_input input;
    tl_names names;
    side side[2];
    TL_VEC(unit) units;
    tl_diff_basis basis;
    tl_diff_step longest;      /* the part of the step with most of the excess of long steps */
    bool same_steps;           /* the compared steps have the same numbers on both sides */
    works of[NWORKS];          /* of[CALLS]: kind is (index of the parent + 1) * TL_NTREE_KINDS + kind; of[LAUNCHED]:
                                * kind is the index of the kernel, name the operator that launches the kernel; of[HOST]:
                                * kind is the rank, name what its host does (host.c) */
    TL_VEC(uint32_t) stack[2]; /* the open nodes around the next row, by side */
    tl_map series_of;          /* name, rank and side of an interval -> index in series */
    TL_VEC(series) series;     /* sorted by work, unit and side after tl_diff_kernel_steps */
    tl_table tables[NTABLES];
};

/* Returns the table of a side. */
static inline const tl_table *table_of(const side *s, const tl_schema *schema)
{
    return tl_tables_get(s->in->tables, schema);
}

/* Returns the index of the value among ascending values; n: not found. */
static inline size_t place_of(const int64_t *v, size_t n, int64_t value)
{
    size_t at = 0;
    TL_BISECT(at, n, mid, v[mid] < value);
    return at < n && v[at] == value ? at : n;
}

/* Returns the time of the rank with that index, weighted. */
static inline int64_t weighted(const side *s, size_t rank, int64_t ns)
{
    return llround(s->weight[rank] * (double)ns);
}

/* Chooses the ranks and steps of both sides that are compared, and fills their times. */
void tl_diff_sides_init(tl_diff *diff);
void tl_diff_side_free(side *s);

/* Returns the number of devices of the rank, 1 if unknown; sums over devices are divided by it. */
int64_t tl_diff_devices_of(const side *s, int32_t rank);

/* Writes ranks as tl_ranks_text does. */
void tl_diff_put_ranks(char *text, size_t size, const int64_t *ranks, size_t n);

/* Fills tables diff_run, diff_step and diff_breakdown. */
void tl_diff_runs(tl_diff *diff);
void tl_diff_steps(tl_diff *diff);

/* Returns the side with the larger share of long steps. */
static inline int with_long_steps(const tl_diff_basis *basis)
{
    return basis->nlong[B] * basis->steps[A] > basis->nlong[A] * basis->steps[B] ? B : A;
}

/* Returns the p-value of the difference in the number of long steps; one long step is ignored.  NaN: too few steps for
 * any test. */
double tl_diff_long_test(const tl_diff_basis *basis);

/* Returns the two-sided p-value of a difference between two samples; NaN: too few values for a test. */
double tl_diff_rank_test(const double *a, size_t n, const double *b, size_t m);

/* Returns the p-value of the ratios of equal steps if their true mean differs from 1 by up to `least`; values are by
 * compared step, NaN if missing.  NaN: the sides have different steps, or steps whose times do not correlate. */
double tl_diff_pairs_test(const tl_diff *diff, const double *a, const double *b, double least);

/* Returns the p-value of a difference in times that is up to `least` in truth, a share: of paired steps if
 * tl_diff_pairs_test applies, else of the means of all steps; NaN: fewer than two steps. */
double tl_diff_times_test(const tl_diff *diff, const double *a, const double *b, double least);

/* Returns the work with that kind and name, added if missing; valid until the next call. */
work *tl_diff_works_at(works *w, uint32_t kind, uint32_t name);

/* Returns the work with the largest change in one direction (way 1: longer, -1: shorter); times of each side are
 * divided by `by`; NULL: none.  *change_ns: its change; *all_ns: the sum of such changes. */
const work *tl_diff_most_changed(const works *w, double way, const double by[2], double *change_ns, double *all_ns);

/* Sets, for each aligned kernel, the p-value of its times over steps and the ranks on which it changes. */
void tl_diff_kernel_steps(tl_diff *diff);

/* Joins works of A only with works of B only, by names and operators; the others fill a table. */
void tl_diff_works_align(tl_diff *diff, works *w);
void tl_diff_tree_align(tl_diff *diff); /* of[CALLS], a level of the tree after the other */
void tl_diff_works_table(tl_diff *diff, const works *w, tl_table *table);
void tl_diff_works_free(works *w);

/* Fills the columns that all tables of works share. */
void tl_diff_amounts(const tl_diff *diff, const works *w, const work *x, tl_diff_work *row);

/* Returns the name without template arguments, argument lists, addresses, versions and numbers. */
uint32_t tl_diff_family_of(tl_names *names, uint32_t name);

/* Returns the collective in a kernel's name, such as "AllReduce"; TL_COLL_UNKNOWN: none. */
tl_collective tl_diff_collective_of(tl_text name);

/* Returns the id in diff.names of a NAME cell of the side, or of a class of idle time. */
uint32_t tl_diff_name_in(tl_diff *diff, int which, uint32_t id);
uint32_t tl_diff_class_of(tl_diff *diff, const tl_idle_summary *row);

/* tl_diff_add_host adds to what the host of a rank does in a step; tl_diff_read_input adds that it waits for input. */
void tl_diff_add_host(tl_diff *diff, int which, int32_t rank, uint32_t name, amount more);
void tl_diff_read_input(tl_diff *diff, int which);

/* Sets columns why* of the finding to what the host of the ranks does that makes half or more of a change of idle time
 * or of time outside: it waits for input, or more or less often in a call for its device.  Keeps the columns if nothing
 * does. */
void tl_diff_put_host(const tl_diff *diff, const unit *ranks, double change_ns, tl_diff_found *row);

/* Reads the tables of both sides into works, and fills the tables of works. */
void tl_diff_read_works(tl_diff *diff);

/* Fills the verdict from the other tables. */
void tl_diff_verdict(tl_diff *diff);

#endif
