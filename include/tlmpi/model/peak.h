/* peak.h - the peaks of devices: dense floating-point operations per second of their matrix units, by type. */
#ifndef TLMPI_MODEL_PEAK_H
#define TLMPI_MODEL_PEAK_H

#include "tlmpi/model/coll.h"

/* Peaks that the user gives, 10^9 FLOP/s; 0: the device's own. */
typedef struct tl_peaks {
    int64_t gflop_per_s[TL_NPRECISIONS];
} tl_peaks;

/* The time that a device needs at its peak, ns for each FLOP; NaN: unknown. */
typedef struct tl_pace {
    double ns[TL_NPRECISIONS];
} tl_pace;

/* device: its name in the trace; NULL: unknown. */
tl_pace tl_pace_of(const tl_peaks *given, const char *device);

#endif
