/* idle.h - idle time of a device as tracks in its trace.
 *
 *     Idle: Noise/Macro      [n]   [  idle#0             ]  [  idle#1        ]
 *     Idle: Drain Type             [  idle#0 starved     ]  [  idle#1 sync_drain: DEVICE_SYNC ]
 *     Idle: CPU During Gap         [  idle#0 CPU_UNTRACED: ... ] ...
 *
 * Names, arguments and numbers of tracks are those of TraceLens' idle tracks, so that users of TraceLens find the same
 * tracks.  Where the result of a run tells which rank waited for which, wait tracks of ours stand below, as many as
 * waits overlap: Perfetto drops an event that begins within another event of its track and ends after it.
 *
 *     Waiting for Ranks      [ waits for rank 3: all_reduce ]
 *     Waiting for Ranks 2          [ waits for rank 1: all_gather ]
 *
 * Below these are the tracks of patterns (in an export, of what others waited for), and of the critical paths of the
 * rank and of the job.
 */
#ifndef TLMPI_TRACE_OUT_IDLE_H
#define TLMPI_TRACE_OUT_IDLE_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/trace/event/events.h"
#include "tlmpi/trace_out/track.h"

/* The category of these events, and of counters, patterns and the critical path beside them: no analysis asks for
 * these, so that an augmented trace says what its original says. */
#define TL_OUT_IDLE_CAT    "idle_classification"
#define TL_OUT_COUNTER_CAT "tlmpi_counter"
#define TL_OUT_PATTERN_CAT "tlmpi_pattern"
#define TL_OUT_PATH_CAT    "tlmpi_path"

/* The first track's tid; the other tracks follow.  Devices shown in one process have tids TL_OUT_IDLE_STRIDE apart. */
#define TL_OUT_IDLE_TID       9000
#define TL_OUT_IDLE_STRIDE    20
#define TL_OUT_WAIT_TRACKS    7
#define TL_OUT_PATTERN_FIRST  10
#define TL_OUT_PATTERN_TRACKS 5
#define TL_OUT_PATH_TRACK     15

/* TL_EINPUT: the trace, which must have been read with TL_CAT_OTHER, has such events already. */
tl_status tl_out_idle_check_new(const char *path, const tl_events *events, tl_error *err);

/* The metadata of the three tracks, `first` and the two after it.  `of` ends their names: "" or " (device 1)". */
void tl_out_idle_begin(tl_out_writer *writer, const tl_out_track *first, const char *of);

typedef struct tl_out_gap {
    tl_out_value ts, dur;
    tl_out_value duration; /* the argument duration_us */
    int64_t id;
    bool noise;            /* on the first track alone; what is below is empty */
    tl_text drain, sync;   /* "starved", "sync_drain"; what waited, empty for none */
    tl_text label, detail; /* "CPU_DOMINATED"; detail may be empty */
} tl_out_gap;

/* One event of noise, three of others. */
void tl_out_idle_gap(tl_out_writer *writer, const tl_out_track *first, const tl_out_gap *gap);

/* The text of a name of a row. */
typedef tl_text tl_out_name(void *arg, uint32_t id);

/* The same of a row, shown for dur_ns from ts_ns on. */
void tl_out_idle_row(tl_out_writer *writer, const tl_out_track *first, const tl_gap *row, int64_t ts_ns, int64_t dur_ns,
                     tl_out_name *name, void *arg);

/* Appends to *out what the label of the gap does not say. */
void tl_out_gap_words(tl_bytes *out, const tl_gap *gap, tl_out_name *name, void *arg);

/* The tracks of the waits of one device, or rank, the fourth from `first` on.  Zero-initialise but for the first two.
 */
typedef struct tl_out_waits {
    const tl_out_track *first;
    const char *of;                       /* ends the names of the tracks */
    int64_t until_ns[TL_OUT_WAIT_TRACKS]; /* by track: its last wait ends */
    int n;                                /* tracks that there are */
} tl_out_waits;

typedef struct tl_out_wait {
    int64_t ts_ns, dur_ns;
    int32_t late_rank;  /* -1: not known */
    int64_t collective; /* its row in table collective; -1: in none */
    uint8_t kind;       /* tl_collective */
} tl_out_wait;

/* Puts a wait, which begins no earlier than those before, on the first track that is free, whose name comes first.
 * Returns the track's tid; -1: none is free, and it is left out. */
int64_t tl_out_wait_put(tl_out_writer *writer, tl_out_waits *tracks, const tl_out_wait *wait);

#endif
