/* clock.h - estimates the offsets, drifts and steps of recorded clocks; corrects those that make times impossible.
 *
 *     meeting   rank 0   [           ]        all-reduce, all-gather, reduce-scatter, barrier: no rank leaves before
 *               rank 1          [    ]        the last has come, so for any two x, y:  end_y - o_y >= start_x - o_x
 *     message   sender   [     ]
 *               receiver     [       ]        nothing is received before it is sent:  end_r - o_r >= start_s - o_s
 *
 * An all-to-all is a meeting only if each member exchanges data with every other: ranks of one host, which read one
 * clock, show whether the all-to-alls of a group are meetings.
 *
 * o is how far a clock is ahead.  The difference of two offsets is the median difference of the two ranks' ends, over
 * the collectives of the same ranks; its error grows with the scatter of the ends and with the length of the transfers.
 * A drift and a step of a clock show in these ends, too.  Least squares over the graph of clocks and of the ranks that
 * meet give each clock its offset (find.c), and the inequalities above keep it feasible, to TL_CLOCK_ERROR_NS:
 *
 *     an offset a host      the ranks of a host read one clock; if process ids alone tell the host, where ends agree
 *     an offset a rank      where hosts are unknown, or their ranks disagree
 *
 * Recorded clocks are corrected if that breaks fewer of the inequalities, or if the ends of several ranks of one clock
 * agree that the clock is off by more than they scatter.  Otherwise the offset is reported and times stay as they are:
 * the transfers of members differ, too, persistently by up to a few percent.
 *
 * Used by the job once collectives are matched, to bring all times to the corrected clocks.  May use: match.
 */
#ifndef TLMPI_ANALYSIS_COLLECTIVE_CLOCK_H
#define TLMPI_ANALYSIS_COLLECTIVE_CLOCK_H

#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/table.h"

/* What is done with the clocks that are found. */
typedef enum tl_clock_mode {
    TL_CLOCK_AUTO, /* impossible times are corrected */
    TL_CLOCK_NONE, /* times stay as recorded; the offsets are reported */
    TL_CLOCK_FORCE /* clocks are corrected so that ends agree, even if the recorded times are possible */
} tl_clock_mode;

/* Reductions over procs that each own some of the job's collectives: each call leaves the same n values on all
 * procs. */
typedef struct tl_clock_procs {
    void (*least)(int64_t *values, size_t n); /* the minimum of each */
    void (*sum)(int64_t *values, size_t n);
} tl_clock_procs;

/* Sets groups[].stays, the same on every proc: no rank leaves an all-to-all of the group before every other rank of its
 * host has arrived, and in at least TL_PATTERN_LEAST all-to-alls a rank waits for another one of its host longer than
 * the shortest kernel takes.  Participants are in the order of tl_participants_sort. */
void tl_clock_stays_find(const tl_participant *participants, size_t n, const tl_clock_procs *procs,
                         const tl_rank_clock *rank_clocks, size_t nrank_clocks, tl_group_fact *groups, size_t ngroups);

/* One rank's end of one collective, compared with the mean end of all members, on recorded clocks. */
typedef struct tl_clock_sample {
    uint64_t tie;    /* equal for collectives of the same ranks */
    int64_t at_ns;   /* the mean end */
    int64_t late_ns; /* the rank's end less the mean end */
    int64_t took_ns; /* duration of the members' shortest kernel: an upper limit of the transfer */
    int32_t rank;
    int32_t way; /* 0: a meeting; 1, 2: a message, which the lower or the higher rank sends */
} tl_clock_sample;

typedef TL_VEC(tl_clock_sample) tl_clock_samples;

/* Appends samples of about TL_SAMPLES collectives of each group, the same ones on any number of procs.
 * Participants are in the order of tl_participants_sort. */
void tl_clock_samples_take(const tl_participant *participants, size_t n, const tl_job_facts *job,
                           tl_clock_samples *out);

/* One rank's ends in all collectives of the same ranks, fitted. */
typedef struct tl_clock_end {
    uint64_t tie;
    int64_t at_ns, late_ns; /* late_ns: how late the rank's ends are at at_ns */
    double sigma_ns;        /* error of late_ns: scatter of the ends, and lasting differences between members'
                              * transfers; INFINITY: the ends only tell which ranks meet */
    int64_t drift_ppb;      /* growth of late_ns */
    double drift_sigma_ppb;
    int64_t step_ns;                    /* by how much the ends are later after the cut */
    double step_sigma_ns;               /* error of step_ns; INFINITY: too few ends before or after the cut */
    int64_t step_at_ns;                 /* last end before the cut, on the rank's clock */
    int64_t found_ns;                   /* another step, at a moment that is not the cut; 0: none stands out */
    int64_t found_from_ns, found_to_ns; /* the time span of step found_ns, on the mean clock */
    int32_t rank, n;
} tl_clock_end;

typedef TL_VEC(tl_clock_end) tl_clock_ends;

/* Appends the fitted ends of the samples, which include all samples of each tie; sorts the samples.  cut_ns: when a
 * clock steps, on the mean clock; TL_TIME_UNKNOWN: no step is known. */
void tl_clock_ends_fit(tl_clock_sample *samples, size_t n, int64_t cut_ns, tl_clock_ends *out);

/* Sorts the ends of all procs by tie, then rank. */
void tl_clock_ends_sort(tl_clock_end *ends, size_t n);

/* Returns the time of the largest clock step that the ends show, on the mean clock; TL_TIME_UNKNOWN: there is none. */
int64_t tl_clock_ends_cut(const tl_clock_end *ends, size_t n);

/* Finds the job's clocks, the same on every proc, from participants in the order of tl_participants_sort and from the
 * sorted ends of all procs; groups: of the job.  Fills clock, component, applied, offset_ns, drift_ppb, step_ns,
 * step_at_ns, middle_ns and sigma_ns of the rank_clocks.  sigma_ns: error of the offset; INT64_MAX: unknown. */
void tl_clocks_find(const tl_participant *participants, size_t n, const tl_clock_end *ends, size_t nends,
                    tl_clock_mode mode, const tl_clock_procs *procs, const tl_group_fact *groups, size_t ngroups,
                    tl_rank_clock *rank_clocks, size_t nrank_clocks);

/* Returns a time without the drift and the step of its clock, but still with the offset. */
int64_t tl_clock_steady(const tl_rank_clock *clock, int64_t ns);

/* Returns the time on the job's clock of an instant on the rank's clock. */
int64_t tl_clock_correct(const tl_rank_clock *clock, int64_t ns);

/* Puts the times of participants on the job's clock. */
void tl_clocks_correct(tl_participant *participants, size_t n, const tl_job_facts *job);

/* Adds a row of table clock for each rank clock, whose ranks all have a row in table rank. */
void tl_clock_rows_begin(const tl_rank_clock *rank_clocks, size_t nrank_clocks, const tl_table *ranks, tl_table *table);

/* Fills the rows of table clock, one for each rank clock, from the clocks found and the ends used to find them. */
void tl_clock_rows_fill(const tl_rank_clock *rank_clocks, size_t nrank_clocks, const tl_clock_end *ends, size_t nends,
                        tl_table *table);

#endif
