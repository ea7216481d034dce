/* frame.h - one rank's trace as HTA holds it: the rows it keeps, with the columns it derives.
 *
 * Times are doubles in microseconds, as the text gives them, no base time added.  The steps of loading, in this order:
 *
 *     fill        the entries with a duration and a category, time stamps rounded     every rank
 *     link        launch calls and the device work with the same correlation          every rank
 *     iterate     the profiler step that a row belongs to                             every rank
 *     align       time 0 is the earliest row of all ranks                             needs all ranks
 *     cut         the rows of the last profiler step go                               needs all ranks
 */
#ifndef TLMPI_COMPAT_HTA_FRAME_FRAME_H
#define TLMPI_COMPAT_HTA_FRAME_FRAME_H

#include "tlmpi/compat/hta/frame/symbols.h"
#include "tlmpi/compat/csv.h"
#include "tlmpi/compat/verbatim.h"
#include "tlmpi/trace/read/reader.h"

#define TL_HTA_NO_STEP      (-1)      /* outside of every step */
#define TL_HTA_STEP_UNKNOWN INT64_MIN /* HTA gives the row no value at all (NaN) */

typedef struct tl_hta_row {
    double ts;           /* us; after align, since the earliest row of all ranks */
    double dur;          /* us; rounding makes it -1 where less than a microsecond lies across no full one */
    double end;          /* us; ts + dur as loaded: align does not move it */
    int64_t stream;      /* -1: none */
    int64_t correlation; /* -1: none */
    int64_t link;        /* index of the partner; 0: there is none; -1: no correlation */
    int64_t iteration;   /* a step number, TL_HTA_NO_STEP or TL_HTA_STEP_UNKNOWN */
    uint32_t index;      /* position in traceEvents, all entries counted */
    uint32_t name, cat;  /* symbols */
    uint32_t track;      /* index into the frame's tracks: its pid and tid */
} tl_hta_row;

/* The External id of a row's args. */
typedef struct tl_hta_external {
    int64_t id;
    uint32_t index; /* of the row */
} tl_hta_external;

/* How fast a copy was, as its args have it. */
typedef struct tl_hta_copy {
    uint32_t index; /* of its row */
    double gb_per_s;
} tl_hta_copy;

/* Zero-initialise; tl_hta_frame_free ends it. */
typedef struct tl_hta_frame {
    int64_t rank;
    const char *path;        /* borrowed */
    TL_VEC(tl_hta_row) rows; /* in file order, ascending index; the cut may change both */
    TL_VEC(tl_track) tracks; /* texts are ids of track_names */
    tl_names track_names;
    TL_VEC(tl_hta_external) externals; /* ascending index; only where the hook has taken more than times */
    TL_VEC(tl_hta_copy) copies;        /* ascending index; rows that are not here have 0 */
    size_t nloaded;                    /* rows before the cut */
    uint64_t nentries;                 /* of traceEvents */
    double raw_min_ts, raw_max_ts;     /* before align */

    /* Whether HTA holds the column as integers: it then sums and prints them as such. */
    bool ts_whole, dur_whole, iteration_whole;

    int64_t world_size; /* -1 where absent */
    bool has_base;
    int64_t base_ns;
    tl_hta_vendor vendor; /* of the device, by the launch calls; TL_HTA_NO_LAUNCH: unknown */
} tl_hta_frame;

void tl_hta_frame_free(tl_hta_frame *frame);

/* fill: takes over what HTA keeps of a trace that was read with the hook of `words`; `ns` leaves the time stamps as
 * they are. */
void tl_hta_frame_fill(tl_hta_frame *frame, const tl_trace *trace, const tl_verbatim *words, bool ns,
                       tl_hta_symbols *symbols);

/* link and iterate. */
void tl_hta_frame_link(tl_hta_frame *frame, const tl_hta_symbols *symbols);
void tl_hta_frame_iterate(tl_hta_frame *frame, const tl_hta_symbols *symbols);

/* align: ts counts from `zero` now, which HTA holds as an integer or not. */
void tl_hta_frame_align(tl_hta_frame *frame, double zero, bool zero_whole);

/* cut: keeps the rows that start before the last step starts; with `include_last`, before the last step ends.  A
 * device row stays where a launch with its correlation stays, once for each such launch, and device rows come
 * first.  TL_EINPUT: the result has more than 2^28 rows. */
tl_status tl_hta_frame_cut(tl_hta_frame *frame, bool include_last, const tl_hta_symbols *symbols, tl_error *err);

/* Rows by one of their ids: those of id k are order[first[k]] up to order[first[k + 1]], in file order.  Ids are below n;
 * `of` says which they are, `takes` (NULL: each) which rows count.  tl_hta_groups_free ends it. */
typedef struct tl_hta_groups {
    uint32_t *order; /* positions of rows */
    size_t *first, n;
} tl_hta_groups;
typedef enum tl_hta_id { TL_HTA_BY_NAME, TL_HTA_BY_CATEGORY, TL_HTA_BY_TRACK } tl_hta_id;
tl_hta_groups tl_hta_groups_of(const tl_hta_frame *frame, tl_hta_id by, size_t n,
                               bool (*takes)(const void *context, const tl_hta_row *row), const void *context);
void tl_hta_groups_free(tl_hta_groups *groups);

/* The row with this index while rows are in file order; NULL: there is none. */
const tl_hta_row *tl_hta_row_of_index(const tl_hta_frame *frame, int64_t index);

/* Cells: the pid and the tid of a track, a number or a text; the step of a row. */
tl_cell tl_hta_pid(const tl_hta_frame *frame, uint32_t track);
tl_cell tl_hta_tid(const tl_hta_frame *frame, uint32_t track);
tl_cell tl_hta_step(const tl_hta_frame *frame, int64_t step);

/* Largest ts less smallest; the last row's duration is not in it.  NaN without rows. */
double tl_hta_frame_duration(const tl_hta_frame *frame);

/* HTA's two notions of device work.  The breakdowns go by the stream alone, links and the cut by this one. */
static inline bool tl_hta_on_stream(const tl_hta_row *row)
{
    return row->stream != -1;
}

static inline bool tl_hta_on_device(const tl_hta_row *row, const tl_hta_symbols *symbols)
{
    return (row->stream >= 0 && row->correlation >= 0) || symbols->v.v[row->name].sync;
}

#endif
