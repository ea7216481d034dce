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

enum { A, B };

/* Times of a rank in a step, by tl_diff_part: those up to TL_DIFF_OUTSIDE. */
typedef struct cell {
    int64_t ns[TL_DIFF_REST];
} cell;

typedef struct side {
    const tl_diff_side *in;
    TL_VEC(int64_t) own;       /* ranks with device work whose trace is whole, ascending */
    const struct side *common; /* the other side, where ranks of both alone are compared; NULL: all of them */
    TL_VEC(int64_t) ranks;     /* that are compared, ascending */
    TL_VEC(int64_t) steps;     /* that are compared, ascending; one of number -1 where steps are not told apart */
    cell *cells;               /* by rank, then step */
    int64_t *step_ns;          /* by step: the mean over ranks */
    bool *middle, *is_long;    /* by step: between the quartiles of step_ns; far above the median */
    TL_VEC(double) samples;    /* times of steps for the test */
    double recorded;           /* steps of the recording; 0: not known */
    bool all_cut;              /* the traces of all ranks end too early; else those of such ranks are not compared */
    bool marked;               /* steps are those of the marks */
    int64_t median_ns;         /* of the compared steps */
} side;

/* What one name has on one side, over all ranks. */
typedef struct amount {
    double count;
    int64_t ns;
    double pairs, ratios, ratios_sq; /* of B: ranks that have it in A, too; sums of log (mean in B / mean in A) */
} amount;

typedef struct work {
    uint32_t kind, name, b_name, operator; /* of diff.names */
    uint32_t root;                         /* place of the work that has its times: itself, or what it was joined to */
    bool aligned;                          /* by more than its name: b_name is of B */
    bool by_name;                          /* it is aligned by its name alone */
    amount side[2];
    double p_value; /* of times: of kernels over steps where these are known, else over ranks; NaN: too few */
    /* Of a kernel that changes on some ranks: which, what, how many times as long in a step, p over as many tests; else "". */
    char ranks[64];
    tl_diff_change ranks_change;
    double ranks_times, ranks_p;
} work;

/* Launches of a work in one step, on one rank or all. */
typedef struct launches {
    int64_t count, ns;
} launches;

/* Launches of a kernel on a rank of a side, by compared step. */
typedef struct series {
    uint32_t work; /* place in of[KERNELS] */
    int32_t rank, side;
    launches *step;
} series;

typedef struct works {
    TL_VEC(work) v;
    tl_map map;
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

enum { KERNELS, OPERATORS, COLLECTIVES, IDLE, CALLS, LAUNCHED, NWORKS };

typedef struct node {
    uint32_t parent; /* TL_MAP_NONE: none */
    uint8_t kind;
} node;

struct tl_diff {
    tl_diff_input input;
    tl_names names;
    side side[2];
    tl_diff_basis basis;
    tl_diff_step longest; /* part of the step that has most of what long steps have more, where more of them are long */
    bool same_steps;      /* those that are compared have the same numbers on both sides */
    works of[NWORKS];     /* of CALLS kind is a node's parent and its kind, of LAUNCHED kind the kernel, name the
                                * operator that launches it */
    TL_VEC(node) nodes;   /* of the numbers of of[CALLS] */
    TL_VEC(uint32_t) stack[2]; /* nodes around the next row */
    tl_map series_of;          /* name, rank and side of an interval -> place in series */
    TL_VEC(series) series;     /* in order of works, ranks and sides once tl_diff_kernel_steps has run */
    tl_map means;              /* name and rank of A -> place in mean */
    TL_VEC(double) mean;       /* of one, ns */
    tl_table tables[NTABLES];
};

/* The table of a side. */
static inline const tl_table *table_of(const side *s, const tl_schema *schema)
{
    return tl_tables_get(s->in->tables, schema);
}

/* Place of a value that ascending values have; n: they lack it. */
static inline size_t place_of(const int64_t *v, size_t n, int64_t value)
{
    size_t at = 0;
    TL_BISECT(at, n, mid, v[mid] < value);
    return at < n && v[at] == value ? at : n;
}

/* Fills in what is compared of the sides. */
void tl_diff_sides_init(tl_diff *diff);
void tl_diff_side_free(side *s);

/* Devices of the rank, 1 where none is known: sums over devices are divided by them. */
int64_t tl_diff_devices_of(const side *s, int32_t rank);

/* Ranks as tl_ranks_text writes them. */
void tl_diff_put_ranks(char *text, size_t size, const int64_t *ranks, size_t n);

/* Fills tables diff_run, diff_step and diff_breakdown. */
void tl_diff_runs(tl_diff *diff);
void tl_diff_steps(tl_diff *diff);

/* The side of which more steps are long. */
static inline int with_long_steps(const tl_diff_basis *basis)
{
    return basis->nlong[B] * basis->steps[A] > basis->nlong[A] * basis->steps[B] ? B : A;
}

/* The chance that long steps are as unequally many; one odd step is chance.  NaN: no test could tell so few. */
double tl_diff_long_test(const tl_diff_basis *basis);

/* The chance, two-sided, of samples as far apart; NaN: a side has too few for a test. */
double tl_diff_rank_test(const double *a, size_t n, const double *b, size_t m);

/* Of values by compared step, NaN where there is none: the chance of ratios of steps of one number as far from 1; NaN where
 * the steps of both sides are not the same, or do not vary alike. */
double tl_diff_pairs_test(const tl_diff *diff, const double *a, const double *b);

/* The same of times: of steps of one number where they vary alike, else of the means of all; NaN: fewer than two steps. */
double tl_diff_times_test(const tl_diff *diff, const double *a, const double *b);

/* Of ranks that both sides have, by their ratios: what differs between ranks is no noise.  NaN: fewer than three. */
double tl_diff_ranks_test(const amount *b);

/* Adds to what the name has.  Returns it; valid until the next call. */
work *tl_diff_works_at(works *w, uint32_t kind, uint32_t name);
void tl_diff_amount_add(amount *to, const amount *more);

/* The one that changes most that way (1: longer, -1: shorter), of times by side that are divided by `by`; NULL: none.
 * *change_ns: by how much, *all_ns: all together. */
const work *tl_diff_most_changed(const works *w, double way, const double by[2], double *change_ns, double *all_ns);

/* Finds, of each kernel that is aligned, the chance of its times over steps and the ranks that change. */
void tl_diff_kernel_steps(tl_diff *diff);

/* How many works are compared: they share the chance of one wrong name. */
double tl_diff_tests_of(const works *w);

/* Joins those of A alone with those of B alone, by names and operators, and fills the table. */
void tl_diff_works_align(tl_diff *diff, works *w);
void tl_diff_works_table(tl_diff *diff, const works *w, tl_table *table);
void tl_diff_works_free(works *w);

/* What runs of a rank have.  key: of the name, the same on both sides; side A
 * must be added first. */
void tl_diff_add_rank(tl_diff *diff, amount amounts[2], int which, uint64_t key, int32_t rank, amount more);

/* The name without template arguments, argument lists, addresses and numbers. */
uint32_t tl_diff_family_of(tl_names *names, uint32_t name);

/* The collective that the name of a kernel tells, as "AllReduce" does; TL_COLL_UNKNOWN: none. */
tl_collective tl_diff_collective_of(tl_text name);

/* Steps and ranks of a recording, by which its sums are divided. */
double tl_diff_rate_of(const tl_diff *diff, int which);

/* Whether a side has any of it: what was joined to another name has nothing left. */
bool tl_diff_is_there(const amount amounts[2]);

/* What became of amounts of so many steps; times of one differ by chance with p_value. */
tl_diff_change tl_diff_change_of(const amount amounts[2], const double steps[2], double p_value);

/* Puts the columns that tables have in common into *row. */
void tl_diff_amounts(const tl_diff *diff, const work *x, tl_diff_work *row);

/* The name of a NAME cell of the side, and of a class of idle time, in diff.names. */
uint32_t tl_diff_name_in(tl_diff *diff, int which, uint32_t id);
uint32_t tl_diff_class_of(tl_diff *diff, const tl_idle_summary *row);

/* Reads the tables of the sides into works. */
void tl_diff_read_works(tl_diff *diff);

/* Fills diff_call_path. */
void tl_diff_tree(tl_diff *diff);

/* Fills the verdict from the other tables. */
void tl_diff_verdict(tl_diff *diff);

#endif
