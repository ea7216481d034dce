/* strip.h - one step of the job on one time axis: what is gathered for the picture, and for an export.
 *
 *     rank 3     [work][work]......[work]            two lanes a rank: its work above,
 *                      [wait~~~~~~~][transfer]       its communication below
 *     rank 15    [work][work   work  ]
 *                                  [transfer]
 *                                  ^ the last arrival: a line to those that waited
 *
 * The step is that in which the verdict's excess is largest, else the longest step of the job.  The ranks are all up to
 * TL_STRIP_RANKS; of more those that the verdict names, those on the critical path, those that waited most for them,
 * and others, evenly spaced.  A lane has TL_STRIP_COLUMNS columns, each of the colour of what
 * covers most of it: the picture is as large for a million kernels as for a thousand.
 */
#ifndef TLMPI_REPORT_HTML_STRIP_H
#define TLMPI_REPORT_HTML_STRIP_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/ranges.h"
#include "tlmpi/report/html.h"

/* How much is shown; nothing is decided by these. */
enum {
    TL_STRIP_RANKS = 24,     /* at 30 pixels each they fill a screen */
    TL_STRIP_COLUMNS = 1200, /* finer than the pixels of a page */
    TL_LATE_BINS = 54        /* of lateness: six a decade, nine decades */
};

/* What a column of a lane shows.  The first TL_STRIP_COMM are of the lane of work. */
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
    bool told;    /* it is known which rank was waited for */
    bool by_rank; /* all meet all: not a sender and a receiver */
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
    bool named;                                       /* by the verdict */
    double wait_share;                                /* of the step, in which it waits and its device has no work */
    const tl_clock *clock;                            /* NULL: its times are on the job's clock */
    float cover[TL_STRIP_NCLASSES][TL_STRIP_COLUMNS]; /* share of the column */
} tl_strip_rank;

/* How late a rank of the job comes to the collectives of the whole recording, sends and receives apart: against the
 * median of those that meet. */
typedef struct tl_strip_late {
    int32_t rank;
    int64_t n, late_ns;              /* collectives; how late in all */
    int64_t count[TL_LATE_BINS + 1]; /* collectives by lateness: below 1 us, then in TL_LATE_BINS bins */
} tl_strip_late;

typedef struct tl_strip {
    const tl_html_input *in;
    int32_t *named; /* ranks that the verdict names, ascending */
    size_t nnamed;
    int32_t step, last_step; /* -1: the whole recording; equal, unless more steps are asked for */
    int64_t from_ns, to_ns;  /* of the step; equal: there is nothing to draw */
    int64_t middle_ns;       /* of the recording, from where clocks drift */
    TL_VEC(tl_strip_meeting) meetings;
    TL_VEC(tl_strip_stay) stays;   /* by rank and start */
    TL_VEC(tl_strip_stay) now;     /* of the collective whose arrivals are being read */
    TL_VEC(tl_strip_piece) path;   /* latest last */
    bool whole_path;               /* of table path; else followed through the last arrivals */
    tl_strip_rank *ranks;          /* ascending */
    size_t nranks, nall;           /* drawn, and in the job */
    tl_strip_late *late;           /* by row of table rank */
    size_t nlate;
    int64_t wait_ns, for_named_ns; /* exposed waiting of those drawn, and its part for ranks that the verdict names */
} tl_strip;

/* Gathers the strip of the step and the ranks that matter, or of those that are asked for (NULL: none).  *strip is to
 * be freed in any case.  Fails as in->each does. */
tl_status tl_strip_gather(tl_strip *strip, const tl_html_input *in, const tl_ranges *ranks, const tl_ranges *steps,
                          tl_error *err);
void tl_strip_free(tl_strip *strip);

/* The rank's place among those drawn; nranks: it is not. */
size_t tl_strip_place(const tl_strip *strip, int32_t rank);

/* What a column of the lane of work (communication: of the other) shows; TL_STRIP_NCLASSES: nothing.  *thin: less than
 * half of the column, or waiting under work. */
tl_strip_class tl_strip_shown(const tl_strip_rank *rank, bool communication, size_t column, bool *thin);

/* A time by the clock of a rank, as tl_strip_rank has it, on the job's clock. */
int64_t tl_strip_time(const tl_strip *strip, const tl_clock *clock, int64_t ns);

#endif
