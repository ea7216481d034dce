/* clock.h - what recorded clocks must be off by: only what is impossible is corrected.
 *
 *     meeting   rank 0   [           ]        all-reduce, all-gather, reduce-scatter, barrier: nobody leaves before the
 *               rank 1          [    ]        last has come, so for any two x, y:  end_y - o_y >= start_x - o_x
 *     message   sender   [     ]
 *               receiver     [       ]        nothing is received before it is sent:  end_r - o_r >= start_s - o_s
 *
 * o is how far a clock is ahead.  Each line bounds the difference of two unknowns; waiting both ways bounds it from
 * both sides.  Offsets that keep all lines (to TL_CLOCK_ERROR_NS) are feasible:
 *
 *     none is needed        the clocks stay as they are recorded
 *     an offset a host      the ranks of a host read one clock
 *     an offset a rank      where hosts are unknown, or their ranks disagree
 *     ... and a drift       where no offset is feasible over all the time
 *
 * The first of these that breaks nothing is taken; else the one that breaks least, if it breaks fewer than the clocks
 * as recorded.  That ends of a collective differ is no evidence that a clock is off: members differ in their own
 * transfers.  That they agree is evidence that none is: what they differ by bounds what is left in doubt.  Where a
 * clock is known to be off it lies between the middle of what is feasible and where ends agree, each weighed by how
 * sure it is: half the width of what is feasible, and the transfer in which members may differ.
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
    TL_CLOCK_FORCE /* clocks go to the middle of what is feasible, also where they are possible as recorded */
} tl_clock_mode;

/* How several procs that each have some of the job's collectives agree: each call leaves the same n values with all. */
typedef struct tl_clock_procs {
    tl_status (*least)(int64_t *values, size_t n, tl_error *err); /* the least of each */
    tl_status (*sum)(int64_t *values, size_t n, tl_error *err);
} tl_clock_procs;

/* Of `participants`, in the order of tl_participants_sort: finds the clocks of the job, the same on every proc.  Fills
 * clock, component, applied, offset_ns, drift_ppb, middle_ns and sigma_ns of the rank_clocks; the last is how far the
 * constraints leave the offset open, INT64_MAX: not at all bounded.  TL_ENOMEM. */
tl_status tl_clocks_find(const tl_participant *participants, size_t n, tl_clock_mode mode, const tl_clock_procs *procs,
                         tl_rank_clock *rank_clocks, size_t nrank_clocks, tl_error *err);

/* The time on the job's clock of an instant on the rank's. */
int64_t tl_clock_correct(const tl_rank_clock *rank_clock, int64_t ns);

/* Puts the times of participants on it. */
void tl_clocks_correct(tl_participant *participants, size_t n, const tl_job_facts *job);

/* What one rank's end of one collective says: how far from the median end of all it lies, on corrected clocks. */
typedef struct tl_clock_end {
    int64_t apart_ns; /* not below 0 */
    int32_t rank, padding;
} tl_clock_end;

typedef TL_VEC(tl_clock_end) tl_clock_end_list;

/* The ends of one synchronising collective, one a participant, into out (room for n); *nout: how many, none where they
 * say nothing of clocks.  False when memory is out. */
bool tl_clock_ends(const tl_participant *by_rank, size_t n, tl_clock_end *out, size_t *nout);

/* Appends those of participants in the order of tl_participants_sort: of so many collectives of each group as make them
 * sure, the same ones on any number of procs.  False when memory is out. */
bool tl_clock_ends_take(const tl_participant *participants, size_t n, const tl_job_facts *job, tl_clock_end_list *out);

/* How many ends of a rank there are, and what they are apart by: 1.4826 times the median, a standard deviation where
 * they scatter normally around 0. */
typedef struct tl_clock_scatter {
    int64_t ends, sigma_ns;
    int32_t rank, padding;
} tl_clock_scatter;

typedef TL_VEC(tl_clock_scatter) tl_clock_scatter_list;

/* Of n > 0 ends of one rank; puts them in order. */
tl_clock_scatter tl_clock_scatter_of(tl_clock_end *ends, size_t n);

/* Appends that of each rank of which there are ends; puts them in order.  False when memory is out. */
bool tl_clock_scatters(tl_clock_end *ends, size_t n, tl_clock_scatter_list *out);

/* A row of table clock for each rank, which all have a row in table rank; false when memory is out.  And what the
 * memberships say of host and device clocks into them. */
bool tl_clock_rows_begin(const tl_rank_clock *rank_clocks, size_t nrank_clocks, const tl_table *ranks, tl_table *table);
void tl_clock_rows_launches(const tl_membership *memberships, size_t n, tl_table *table);

/* Lowers the sigma of the rank_clocks to what ends leave open, each clock to the median of its ranks, and fills the
 * rows of table clock, one a rank.  Puts `scatter` in order.  TL_ENOMEM. */
tl_status tl_clocks_fill(tl_clock_scatter *scatter, size_t n, tl_rank_clock *rank_clocks, size_t nrank_clocks,
                         tl_table *table, tl_error *err);

#endif
