/* internal.h - what cause.c has found out of the excess of one rank, and what of it is called what: the work of the
 * device (compute.c), and the time in which it was idle (idle.c). */
#ifndef ANALYSIS_CAUSE_INTERNAL_H
#define ANALYSIS_CAUSE_INTERNAL_H

#include "tlmpi/analysis/cause.h"

/* A name stands out, and one kind of excess has most of it, with this share. */
#define TL_CAUSE_HALF 0.5
/* A cause has this share of the excess, or it is mixed; a place this share of the largest name's. */
#define TL_CAUSE_MOST 0.8

/* One name: the rank's own, and the median of its peers. */
typedef struct tl_cause_entry {
    uint64_t name;
    double ns, peers_ns;
    double count, peers_count;
    double size, peers_size, peers_most; /* of each piece of work, of an activity all; the most that any peer has */
    double spread;                       /* of the peers' ns: they differ by chance, and so may the rank */
    uint32_t depth;
    uint8_t kind, activity;
    bool frame;
} tl_cause_entry;

typedef struct tl_cause_finding {
    tl_cause_entry *v;
    size_t n;
    double over[TL_NACTIVITIES]; /* excess of each activity */
    double more
        [TL_NACTIVITIES]; /* host's time for an activity beyond that of the peers, whether the device ran dry or not */
    double all, idle;     /* positive ones: all, and those of idle time that is the host's doing */
    bool common[TL_NACTIVITIES]; /* the peers' hosts do most of it, too */
} tl_cause_finding;

/* The name of an activity of the device's work with the largest excess, if it has half of all; else 0. */
uint64_t tl_cause_largest_of(const tl_cause_finding *f, int activity, double all);
/* Why kernels took longer, and which one it was; *place 0: all of them, or no single one. */
tl_cause tl_cause_of_compute(const tl_cause_finding *f, uint64_t *place);
/* What there is more of has to come to the device, too. */
bool tl_cause_copies_more(const tl_cause_finding *f);

/* What the peers' hosts do for as long, if under cover of the device, makes nobody late: that the device had run dry
 * there is the host's lateness. */
void tl_cause_leave_common(tl_cause_finding *f);
/* What the host did instead of launching, and under which name; *place 0: none stands out. */
tl_cause tl_cause_of_idle(const tl_cause_finding *f, uint64_t *place);

#endif
