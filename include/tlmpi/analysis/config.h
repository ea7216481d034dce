/* config.h - what a user may choose about the analyses: thresholds.
 *
 *     tl_config config = tl_config_default;
 *     tl_thresholds_read(tl_idle_thresholds, "noise=10, drain=2.5", &config.idle);
 */
#ifndef TLMPI_ANALYSIS_CONFIG_H
#define TLMPI_ANALYSIS_CONFIG_H

#include "tlmpi/base/text.h"
#include "tlmpi/model/coll.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the user may choose. */
typedef struct tl_verdict_options {
    double alpha;      /* chance of one wrong name in a job */
    double least_cost; /* of the steps in which a unit is late */
} tl_verdict_options;

typedef struct tl_idle_config {
    int64_t noise_ns;      /* a shorter gap is noise, and not classified */
    int64_t launch_ns;     /* a launch takes this long until its work starts; queued work was launched longer than that
                            * before the gap */
    int64_t anomaly_ns;    /* a launch that exceeds this and anomaly_pct is an anomaly */
    int64_t anomaly_pct;   /* the launch's least part of the gap for that */
    int64_t queued_ns;     /* a gap longer than this is an anomaly although its work was queued in time */
    int64_t runtime_pct;   /* calls dominate a gap if they take this part of it or more */
    int64_t coverage_pct;  /* a gap is untraced if operators take less than this part of it */
    int64_t drain_ns;      /* a wait that lasted longer than this past its start drained the device */
    int64_t sync_ns;       /* a wait may end this long before the gap */
    int64_t implicit_ns;   /* an allocation that lasts longer waits for the device */
    int64_t own_launch_ns; /* the launch call that ends a gap counts as a call in it only when it is not shorter */
    int64_t kernel_ns;     /* of a stream: work that starts later than this after its launch has waited for something */
} tl_idle_config;

typedef struct tl_launch_config {
    int64_t runtime_ns; /* a call that takes longer is slow; of other calls the work is compared with their cost */
    int64_t delay_ns;   /* work that starts longer after its call is late */
    int64_t full;       /* work in a queue that holds no more */
} tl_launch_config;

/* Peaks of devices, 10^9 FLOP/s; 0: that of the data sheet (peak.c). */
typedef struct tl_peaks {
    int64_t gflop_per_s[TL_NPRECISIONS];
} tl_peaks;

/* The time that a device needs at its peak, ns for each FLOP; NaN: unknown. */
typedef struct tl_pace {
    double ns[TL_NPRECISIONS];
} tl_pace;

/* device: its name in the trace; NULL: unknown. */
tl_pace tl_pace_of(const tl_peaks *given, const char *device);

typedef enum tl_threshold_unit { TL_IN_US, TL_IN_PERCENT, TL_IN_NUMBER, TL_IN_TFLOP_PER_S } tl_threshold_unit;

typedef struct tl_threshold {
    const char *name; /* on the command line */
    size_t offset;    /* of its int64_t: a time in ns, a percentage, a number or GFLOP/s */
    tl_threshold_unit unit;
    const char *doc;
} tl_threshold;

/* Each ended by name NULL. */
extern const tl_threshold tl_idle_thresholds[], tl_launch_thresholds[], tl_peak_thresholds[];

typedef struct tl_config {
    tl_idle_config idle;
    tl_launch_config launch;
    tl_peaks peaks; /* of the devices */
    bool series;    /* what changes over time is kept point by point: table series */
    bool path;      /* the critical path of each rank is kept piece by piece: table path */
} tl_config;

/* The texts say what tl_config_default has. */
extern const tl_config tl_config_default;
#define TL_IDLE_DEFAULT                                                                                                \
    "noise=5, launch=8, anomaly=10, anomaly-pct=25, queued=5, runtime-pct=25, coverage-pct=20, drain=5, sync=2, "      \
    "implicit=50, own-launch=10, kernel=30"
#define TL_LAUNCH_DEFAULT "runtime=50, delay=100, full=1024"

/* The part of a text that is no threshold. */
typedef struct tl_threshold_fault {
    tl_text name, value;    /* value.p is NULL where there is no '=' */
    const tl_threshold *of; /* the threshold whose value it should be; NULL: no threshold has that name */
} tl_threshold_fault;

/* Reads "NAME=VALUE, ..." into config, the struct that `list` describes: times in microseconds.  False if a name or a
 * value is not valid, which *fault then tells (NULL: not asked for); the rest has then been read in part. */
bool tl_thresholds_read(const tl_threshold *list, const char *text, void *config, tl_threshold_fault *fault);

/* What values a threshold of that unit takes, for messages. */
const char *tl_threshold_takes(tl_threshold_unit unit);

#endif
