/* idle.h - the gaps of a rank's device timeline, and what TraceLens says about each.
 *
 *     device   [  A  ]................[ B ]......[ C
 *              [ D ]
 *                     [---- gap ----- )   [ gap )
 *
 * Answers why the device was idle, in TraceLens' words and by its rules.  From rank.h, which with the columns of a
 * trace and the common files of compat is all that it may use.
 *
 * All devices and streams are one.  A gap shorter than 5 us is noise, and nothing more is said about it; the others are
 * macro gaps.
 */
#ifndef TLMPI_COMPAT_TRACELENS_IDLE_H
#define TLMPI_COMPAT_TRACELENS_IDLE_H

#include "tlmpi/compat/tracelens/rank.h"

typedef enum tl_lens_sync {
    TL_LENS_NO_SYNC,
    TL_LENS_SYNC_DEVICE,
    TL_LENS_SYNC_STREAM,
    TL_LENS_SYNC_EVENT,
    TL_LENS_SYNC_D2H,
    TL_LENS_SYNC_H2D
} tl_lens_sync;

typedef enum tl_lens_cpu {
    TL_LENS_LAUNCH_ANOMALY,
    TL_LENS_LAUNCH_OVERHEAD_ONLY,
    TL_LENS_RUNTIME_DOMINATED,
    TL_LENS_CPU_UNTRACED,
    TL_LENS_CPU_DOMINATED
} tl_lens_cpu;

/* Times in us.  Events are TL_NONE where there is none. */
typedef struct tl_lens_gap {
    double lo, hi;
    bool lo_whole, hi_whole; /* written as integers */
    int64_t id;              /* macro gaps 0, 1, ...; noise -1, -2, ...: each in order of time */
    uint32_t before, after;  /* events whose names stand for what lies on either side */

    /* Of macro gaps alone. */
    uint32_t next;         /* the event that ends it */
    uint32_t launch;       /* its launch */
    double launch_to_exec; /* from the end of the launch to the start of `next`; may be negative */
    bool prequeued;        /* the launch had returned more than 8 us before the gap began */
    tl_lens_sync sync;     /* what sort of wait `sync_call` is */
    uint32_t sync_call;
    bool drained; /* sync_drain; else starved */
    tl_lens_cpu cpu;
    uint32_t detail; /* ids of words */
    uint32_t op;     /* dominant operator; TL_NO_NAME: none */
    uint32_t key;    /* what a gap is grouped by, beside drained and cpu */
} tl_lens_gap;

/* tl_lens_idle_free ends it. */
typedef struct tl_lens_idle {
    TL_VEC(tl_lens_gap) gaps; /* in order of time */
    size_t nmacro;
    double busy; /* time covered by device work, linked or not */
    tl_names words;
} tl_lens_idle;

/* The gaps, and all about them. */
tl_lens_idle tl_lens_idle_of(const tl_lens *lens);
void tl_lens_idle_free(tl_lens_idle *idle);

static inline bool tl_lens_is_noise(const tl_lens_gap *gap)
{
    return gap->id < 0;
}

static inline double tl_lens_duration(const tl_lens_gap *gap)
{
    return gap->hi - gap->lo;
}

static inline bool tl_lens_gap_is_whole(const tl_lens_gap *gap)
{
    return gap->lo_whole && gap->hi_whole;
}

/* TraceLens' words. */
extern const char *const tl_lens_sync_words[], *const tl_lens_cpu_words[];
static inline const char *tl_lens_drain_word(bool drained)
{
    return drained ? "sync_drain" : "starved";
}

/* The sort of wait that a runtime call is: TL_LENS_NO_SYNC for none.  Of a copy that does not say its direction the
 * device event `prev` tells it; TL_NONE for none. */
tl_lens_sync tl_lens_sync_of(const tl_lens *lens, uint32_t call, uint32_t prev);

/* What the host did in the gaps (cpu.c): fills cpu, detail, op and key.  Ask in order of time. */
typedef struct tl_lens_host tl_lens_host;
tl_lens_host *tl_lens_host_new(const tl_lens *lens, tl_names *words);
void tl_lens_host_label(tl_lens_host *host, tl_lens_gap *gap);
void tl_lens_host_free(tl_lens_host *host);

/* The value in thousandths, half to even: two times are equal when these are. */
int64_t tl_lens_thousandths(double us);

/* idle_intervals, and idle_noise, which TraceLens has no sheet for. */
void tl_lens_write_gaps(const tl_lens *lens, const tl_lens_idle *idle, tl_csv_folder *folder);

/* idle_overview, idle_summary. */
void tl_lens_write_gap_groups(const tl_lens_idle *idle, tl_csv_folder *folder);

#endif
