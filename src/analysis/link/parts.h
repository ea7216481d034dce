/* parts.h - what the parts of slow_link.h share. */
#ifndef ANALYSIS_LINK_PARTS_H
#define ANALYSIS_LINK_PARTS_H

#include "slow_link.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/model/view.h"

/* Collectives of one group and class, all of them or those of one step, make a cell: order[from .. to). */
typedef struct tl_link_finding {
    const tl_link_input *in;
    tl_slow_links *out;
    tl_map units, classes;                  /* sets of ranks; what should take the same time */
    uint32_t *unit, *class_of;              /* [ncollectives], TL_NONE: not looked at */
    int64_t *took_ns, *should_ns, *long_ns; /* long_ns: a surplus from which on it counts */
    int64_t *apart_ns; /* so much further apart than those of the other groups its ends are, up to what healthy rings' are */
    uint8_t *evidence;
    bool *shared;    /* [ncollectives]: other transfers were under way at its ranks */
    uint32_t *order; /* those looked at, by class, unit and length */
    size_t n;
    double *charge; /* [nunits * nsteps] */
    bool *flagged;  /* the same */
    tl_persistence *found;
    size_t nunits;
    int64_t *scratch;
} tl_link_finding;

/* Where charge and flagged have the step of a collective. */
size_t tl_link_place(const tl_link_finding *f, uint32_t collective);
/* Behind the collectives of one group and class of which order[i] is one. */
size_t tl_link_cell_end(const tl_link_finding *f, size_t i);
/* Of unknown size, or of several, or where ranks are missing: only how they end can tell; but stages send each other
 * what others like them do. */
bool tl_link_is_comparable(const tl_link_collective *c);
/* Whether its ranks may send each other different amounts. */
bool tl_link_is_loose(const tl_link_collective *c);

/* should_ns and evidence of all, from others of their class where there are any.  order is by class, group and
 * length. */
void tl_link_expect_all(tl_link_finding *f);
/* What has no other group: against the own steps that are not flagged; where none is, by how it ended.  order is by
 * class, group and step.  False when memory is out. */
bool tl_link_expect_alone(tl_link_finding *f);

/* charge, flagged and found from took_ns and should_ns; leaves order by class, group and step.  TL_ENOMEM. */
tl_status tl_link_test(tl_link_finding *f, tl_error *err);

/* The links of what the test found, into out.  False when memory is out. */
bool tl_link_name_all(tl_link_finding *f);

#endif
