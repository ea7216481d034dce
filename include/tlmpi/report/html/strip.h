/* strip.h - one step of the job on one time axis: the data of the picture and of an export.
 *
 *     rank 3     [work][work]......[work]            two lanes a rank: its work above,
 *                      [wait~~~~~~~][transfer]       its communication below
 *     rank 15    [work][work   work  ]
 *                                  [transfer]
 *                                  ^ the last arrival: a line to the ranks that waited
 *
 * The step is that in which the verdict's excess is largest, else the longest step of the job.  The ranks are all up to
 * TL_STRIP_RANKS ranks; of more, named ranks, ranks on the critical path, ranks that waited most for named ranks,
 * and others, evenly spaced.  A lane has TL_STRIP_COLUMNS columns, each in the colour of the class that
 * covers most of the column: the size of the picture does not depend on the number of kernels.
 */
#ifndef TLMPI_REPORT_HTML_STRIP_H
#define TLMPI_REPORT_HTML_STRIP_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/ranges.h"
#include "tlmpi/report/html.h"

/* Limits of what is shown; no verdict depends on them. */
enum {
    TL_STRIP_RANKS = 24,     /* at 30 pixels each they fill a screen */
    TL_STRIP_COLUMNS = 1200, /* finer than the pixels of a page */
    TL_LATE_DECADE = 6,      /* bins of lateness in a decade; */
    TL_LATE_BINS = 54        /* nine decades of them */
};

/* The classes of a column.  Those below TL_STRIP_COMM belong to the lane of work. */
typedef enum tl_strip_class {
    TL_STRIP_COMPUTE,
    TL_STRIP_COPY,
    TL_STRIP_IDLE_HOST,   /* no work: the host was late */
    TL_STRIP_IDLE_SYNC,   /* the host had waited for the device */
    TL_STRIP_IDLE_LAUNCH, /* launches took long, or work waited for another stream */
    TL_STRIP_COMM,
    TL_STRIP_WAIT,
    TL_STRIP_NCLASSES
} tl_strip_class;

/* A collective, by its number. */
typedef struct tl_strip_meeting {
    int64_t first_ns, last_ns, end_ns; /* first and last arrival, last end */
    int32_t step, late_rank;
    uint8_t kind; /* tl_collective */
    bool told;    /* the late rank is known */
    bool by_rank; /* all ranks wait for each other: no send and receive */
} tl_strip_meeting;

/* A rank in a collective of the step. */
typedef struct tl_strip_stay {
    int32_t rank;
    int64_t start_ns, wait_ns;
    int64_t exposed_ns; /* the part of wait_ns in which the device has no work */
    int64_t collective;
} tl_strip_stay;

/* A part of the critical path. */
typedef struct tl_strip_piece {
    int32_t rank;
    int64_t from_ns, to_ns;
} tl_strip_piece;

typedef struct tl_strip_rank {
    int32_t rank;
    bool named;            /* by the verdict */
    double wait_share;     /* share of the step in which the rank waits and its device has no work */
    const tl_clock *clock; /* NULL: its times are on the job's clock */
    float cover[TL_STRIP_NCLASSES][TL_STRIP_COLUMNS]; /* share of the column */
} tl_strip_rank;

/* How late a rank comes to the collectives of the whole recording, without sends and receives: lateness is measured
 * from the median arrival. */
typedef struct tl_strip_late {
    int32_t rank;
    int64_t n, late_ns;              /* collectives; sum of lateness */
    int64_t count[TL_LATE_BINS + 1]; /* collectives by lateness: below 1 us, then in TL_LATE_BINS bins */
} tl_strip_late;

typedef struct tl_strip {
    const tl_html_input *in;
    int32_t *named; /* ranks that the verdict names, ascending */
    size_t nnamed;
    int32_t step, last_step; /* -1: the whole recording; equal, unless more steps are asked for */
    int64_t from_ns, to_ns;  /* the window; equal: nothing to draw */
    int64_t middle_ns;       /* middle of the recording, from which clock drift counts */
    TL_VEC(tl_strip_meeting) meetings;
    TL_VEC(tl_strip_stay) stays; /* by rank and start */
    TL_VEC(tl_strip_stay) now;   /* stays of the collective whose arrivals are being read */
    TL_VEC(tl_strip_piece) path; /* latest last */
    bool whole_path;             /* the path is from table path; else it is followed through last arrivals */
    tl_strip_rank *ranks;        /* ascending */
    size_t nranks, nall;         /* ranks drawn; ranks of the job */
    tl_strip_late *late;         /* by row of table rank */
    size_t nlate;
    int64_t wait_ns, for_named_ns; /* exposed waiting of the drawn ranks; the part for named ranks */
} tl_strip;

/* Gathers the strip of the worst step and the most important ranks, or of the given steps and ranks (NULL: none given).
 * The caller frees *strip even on failure.  Fails as in->each does. */
tl_status tl_strip_gather(tl_strip *strip, const tl_html_input *in, const tl_ranges *ranks, const tl_ranges *steps,
                          tl_error *err);
void tl_strip_free(tl_strip *strip);

/* Returns the rank's index among the drawn ranks; nranks: not drawn. */
size_t tl_strip_place(const tl_strip *strip, int32_t rank);

/* Returns the class shown in a column of the lane of work, or of the lane of communication; TL_STRIP_NCLASSES: none.
 * *thin: the class covers less than half of the column, or is waiting under work. */
tl_strip_class tl_strip_shown(const tl_strip_rank *rank, bool communication, size_t column, bool *thin);

/* Returns a time of a rank's clock, as in tl_strip_rank, on the job's clock. */
int64_t tl_strip_time(const tl_strip *strip, const tl_clock *clock, int64_t ns);

#endif
