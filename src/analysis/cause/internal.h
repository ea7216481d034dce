/* internal.h - the comparison of a rank with its peers by name, and the causes derived from it: device (compute.c) and
 * host (host.c). */
#ifndef ANALYSIS_CAUSE_INTERNAL_H
#define ANALYSIS_CAUSE_INTERNAL_H

#include "tlmpi/analysis/cause.h"

/* One name: the rank's own values, and the medians of its peers. */
typedef struct tl_cause_entry {
    uint64_t name;
    double ns, peers_ns, peers_most_ns; /* time; of peers: median and maximum */
    double count, peers_count;
    double size, peers_size, peers_most; /* mean size of a piece; of peers: median and maximum */
    double longest_ns, apart_ns;         /* over peers: the largest mean time of a piece; largest less smallest */
    uint32_t depth;
    uint8_t kind, activity;
    bool frame;
} tl_cause_entry;

typedef struct tl_cause_entries {
    tl_cause_entry *v;
    size_t n;
    double count, peers_count; /* number of compute kernels of any name */
} tl_cause_entries;

/* Returns the name with more than half of the excess of the device's work in an activity; 0: none. */
uint64_t tl_cause_largest_of(const tl_cause_entries *all, tl_activity_kind activity);

/* Whether the rank has more to compute: more kernels, larger ones, or more data. */
bool tl_cause_has_more(const tl_cause_entries *all);

/* Returns why computing takes longer: COMPUTE_SLOW, THROTTLED or MORE_WORK. */
tl_cause tl_cause_of_compute(const tl_cause_entries *all);

/* Fills found->dominant, after found->cause: the names that exceed every peer, and the median by at least least_ns. */
void tl_cause_dominant_work(const tl_cause_entries *all, int64_t least_ns, tl_cause_found *found);

/* Returns the name of the host work that makes the host late; for SYNC, of the wait for the device; 0: none. */
uint64_t tl_cause_of_host(const tl_cause_entries *all, tl_activity_kind activity);

#endif
