/* critical.h - the critical path across ranks: the chain of work, launches and transfers that decided when the job
 * ended.
 *
 *     rank 0   [ work ]------>[ transfer ]<== the end: walk back from here
 *     rank 1   [===== work ==]^               the transfer began when rank 1 came; so the path goes on there
 *              <=============
 *
 * The walk goes back over the replay of the unchanged job (whatif.h), at every instant to whatever was waited for last.  Its
 * pieces follow on one another without a gap, from the beginning of the rank where it ends to the end of the job.  With the
 * time before that rank's recording began they are the simulated time of the job, to the nanosecond.
 *
 * Imbalance, part by part: what of it lies on the path, less the mean over all ranks of what each has of it in all.  So much
 * of the path is there because ranks differ, and not because there is so much to do.
 */
#ifndef ANALYSIS_WHATIF_CRITICAL_H
#define ANALYSIS_WHATIF_CRITICAL_H

#include "tlmpi/analysis/whatif.h"

typedef enum tl_path_kind {
    TL_PATH_WORK,     /* work on the device */
    TL_PATH_HOST,     /* the host on its way to the launch of what came next */
    TL_PATH_LATENCY,  /* from the launch, or the end of what was waited for, to the start of what waited */
    TL_PATH_TRANSFER  /* communication, after the last had come */
} tl_path_kind;

typedef struct tl_path_piece {
    int64_t start_ns, end_ns; /* on the clock of the job */
    uint32_t rank;
    uint32_t segment;         /* of the rank's program */
    tl_path_kind kind;
} tl_path_piece;

/* Zero-initialise; tl_path_free ends it. */
typedef struct tl_path {
    tl_path_piece *v; /* in order of time; each begins where the one before it ends */
    size_t n, cap;
    tl_parts *by_rank;  /* [nranks], and then those without a trace: the path's time; sums of all are end - start of the
                         * path */
    tl_parts *own;      /* [the same]: the rank's time in all, on the path or not; without a trace, that of who stands
                         * for it */
    tl_parts sum, mean; /* by part: on the path; of a rank that has a trace in all, in the mean */
    int64_t before_ns;  /* the job began so long before the path does */
} tl_path;

/* Fills *path.  TL_ENOMEM; TL_EINPUT where facts.state is not TL_WHATIF_OK.  Replays the unchanged job. */
tl_status tl_critical_path(tl_whatif *whatif, tl_path *path, tl_error *err);
void tl_path_free(tl_path *path);

/* sum - mean where that is more than 0: what balancing could take off the path.  Of TL_PART_DEVICE, latency, 0: what ranks have
 * of that in all is not known. */
int64_t tl_path_imbalance(const tl_path *path, tl_part part);

#endif
