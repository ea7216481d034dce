/* internal.h - names in which a rank is compared with its peers, and what of its cause they tell: the work of the device
 * (compute.c), and what its host did (host.c). */
#ifndef ANALYSIS_CAUSE_INTERNAL_H
#define ANALYSIS_CAUSE_INTERNAL_H

#include "tlmpi/analysis/cause.h"

/* One name: the rank's own, and the median of its peers. */
typedef struct tl_cause_entry {
    uint64_t name;
    double ns, peers_ns, peers_most_ns; /* of peers: their median, and the most of any */
    double count, peers_count;
    double size, peers_size, peers_most; /* of each piece of work; the most that any peer has */
    double longest_ns, apart_ns;         /* mean time of its pieces at the slowest peer; less that at the fastest one */
    uint32_t depth;
    uint8_t kind, activity;
    bool frame;
} tl_cause_entry;

typedef struct tl_cause_entries {
    tl_cause_entry *v;
    size_t n;
    double count, peers_count; /* kernels that compute, of any name */
} tl_cause_entries;

/* The name of an activity of the device's work that has most of what it has more; 0: none has. */
uint64_t tl_cause_largest_of(const tl_cause_entries *all, tl_activity_kind activity);

/* Whether it has more to compute on: more kernels, larger ones, or more data. */
bool tl_cause_has_more(const tl_cause_entries *all);

/* Why computing takes longer: COMPUTE_SLOW, THROTTLED or MORE_WORK. */
tl_cause tl_cause_of_compute(const tl_cause_entries *all);

/* Fills in found->dominant, where the cause is known: the names that exceed every peer, and the median by least_ns. */
void tl_cause_dominant_work(const tl_cause_entries *all, int64_t least_ns, tl_cause_found *found);

/* Under which name the host did what it is late for; of SYNC, in what it waited for the device; 0: none has most of it. */
uint64_t tl_cause_of_host(const tl_cause_entries *all, tl_activity_kind activity);

#endif
