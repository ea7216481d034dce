/* clock.h - what recorded clocks must be off by: only what is impossible is corrected.
 *
 *     meeting   rank 0   [           ]        all-reduce, all-gather, reduce-scatter, barrier: nobody leaves before the
 *               rank 1          [    ]        last has come, so for any two x, y:  end_y - o_y >= start_x - o_x
 *     message   sender   [     ]
 *               receiver     [       ]        nothing is received before it is sent:  end_r - o_r >= start_s - o_s
 *
 * o is how far a clock is ahead.  What ends of collectives differ by, in the median over the collectives of the same
 * ranks, gives the difference of two offsets, as sure as these ends scatter and as the transfers are short; a drift and a
 * step show in it, too.  Least squares over the graph of all clocks and of the ranks that meet give each clock its own
 * (solve.h), and the lines above keep it feasible, to TL_CLOCK_ERROR_NS:
 *
 *     an offset a host      the ranks of a host read one clock; of a host that process ids alone tell, where ends agree
 *     an offset a rank      where hosts are unknown, or their ranks disagree
 *
 * Recorded clocks are corrected where that breaks fewer lines, or where the ends of several ranks a clock agree that it
 * is off by more than they scatter; else what was found is told, and times stay as they are: members differ in their own
 * transfers, too, by up to a few percent of these for good.
 *
 * Who uses it: the job, once collectives are matched; it brings all times to the corrected clocks.  May use: match.
 */
#ifndef TLMPI_ANALYSIS_CLOCK_H
#define TLMPI_ANALYSIS_CLOCK_H

#include "tlmpi/analysis/match.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/table.h"

/* What is done with the clocks that are found. */
typedef enum tl_clock_mode {
    TL_CLOCK_AUTO, /* what is impossible is corrected */
    TL_CLOCK_NONE, /* times stay as recorded; what was found is told */
    TL_CLOCK_FORCE /* clocks go where ends agree, also where they are possible as recorded */
} tl_clock_mode;

/* How several procs that each have some of the job's collectives agree: each call leaves the same n values with all. */
typedef struct tl_clock_procs {
    void (*least)(int64_t *values, size_t n); /* the least of each */
    void (*sum)(int64_t *values, size_t n);
} tl_clock_procs;

/* By how much one rank's end of one collective is after the mean end of all its members, on recorded clocks. */
typedef struct tl_clock_sample {
    uint64_t tie;     /* equal for collectives of the same ranks */
    int64_t at_ns;    /* the mean end */
    int64_t late_ns;  /* of the rank's end after it */
    int64_t took_ns;  /* the shortest kernel of the members: no transfer takes longer */
    int32_t rank;
    int32_t way;      /* 0: a meeting; 1, 2: a message, which the lower or the higher rank sends */
} tl_clock_sample;

typedef TL_VEC(tl_clock_sample) tl_clock_samples;

/* Appends those of participants in the order of tl_participants_sort: of so many collectives of each group as make them
 * sure, the same ones on any number of procs. */
void tl_clock_samples_take(const tl_participant *participants, size_t n, const tl_job_facts *job,
                           tl_clock_samples *out);

/* What the ends of one rank in all collectives of a tie say. */
typedef struct tl_clock_end {
    uint64_t tie;
    int64_t at_ns, late_ns;  /* by how much they are late at that time */
    double sigma_ns;         /* how sure that is: their scatter, and what members may differ in for good; INFINITY: they
                              * tell nothing but who meets */
    int64_t drift_ppb;       /* how much later they become */
    double drift_sigma_ppb;
    int64_t step_ns;         /* what they are later by from the cut on ... */
    double step_sigma_ns;    /* ... how sure that is; INFINITY: too few ends before it or after it ... */
    int64_t step_at_ns;      /* ... and the last end before it, on the rank's clock */
    int64_t found_ns;        /* what they are later by from another moment on, 0: none stands out ... */
    int64_t found_from_ns, found_to_ns; /* ... which is between these, on the mean clock */
    int32_t rank, n;
} tl_clock_end;

typedef TL_VEC(tl_clock_end) tl_clock_ends;

/* Appends the ends of the samples, of which all of a tie are there; puts the samples in order.  cut_ns: a clock steps
 * then, on the mean clock; TL_TIME_UNKNOWN: none is known to. */
void tl_clock_ends_fit(tl_clock_sample *samples, size_t n, int64_t cut_ns, tl_clock_ends *out);

/* Puts the ends of all procs in order. */
void tl_clock_ends_sort(tl_clock_end *ends, size_t n);

/* When a clock steps by most, as ends find it, on the mean clock; TL_TIME_UNKNOWN: none does. */
int64_t tl_clock_ends_cut(const tl_clock_end *ends, size_t n);

/* Of `participants`, in the order of tl_participants_sort, and the ends of all procs, in order: finds the clocks of the
 * job, the same on every proc.  Fills clock, component, applied, offset_ns, drift_ppb, step_ns, step_at_ns, middle_ns
 * and sigma_ns of the rank_clocks; the last is how far off the offset may be, INT64_MAX: nothing tells. */
void tl_clocks_find(const tl_participant *participants, size_t n, const tl_clock_end *ends, size_t nends,
                    tl_clock_mode mode, const tl_clock_procs *procs, tl_rank_clock *rank_clocks, size_t nrank_clocks);

/* A time without the drift and the step of its clock, but with its offset. */
int64_t tl_clock_steady(const tl_rank_clock *clock, int64_t ns);

/* The time on the job's clock of an instant on the rank's. */
int64_t tl_clock_correct(const tl_rank_clock *clock, int64_t ns);

/* Puts the times of participants on it. */
void tl_clocks_correct(tl_participant *participants, size_t n, const tl_job_facts *job);

/* A row of table clock for each rank, which all have a row in table rank.  And what the memberships say of host and
 * device clocks into them. */
void tl_clock_rows_begin(const tl_rank_clock *rank_clocks, size_t nrank_clocks, const tl_table *ranks, tl_table *table);
void tl_clock_rows_launches(const tl_membership *memberships, size_t n, tl_table *table);

/* Fills the rows of table clock, one a rank, from what was found and the ends that it was found by. */
void tl_clock_rows_fill(const tl_rank_clock *rank_clocks, size_t nrank_clocks, const tl_clock_end *ends, size_t nends,
                        tl_table *table);

#endif
