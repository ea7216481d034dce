/* doubt.h - how sure an answer is, and what speaks against it.
 *
 * Confidence is high without a doubt, medium with one or two; low with three, or with a grave one.
 */
#ifndef TLMPI_MODEL_DOUBT_H
#define TLMPI_MODEL_DOUBT_H

#include "tlmpi/model/schema.h"

typedef enum tl_confidence { TL_CONFIDENCE_HIGH, TL_CONFIDENCE_MEDIUM, TL_CONFIDENCE_LOW } tl_confidence;
extern const char *const tl_confidence_labels[]; /* "high", "medium", "low", NULL */
#define TL_CELL_CONFIDENCE(name) uint8_t name
#define TL_TYPE_OF_CONFIDENCE    TL_TYPE_ENUM
#define TL_LABELS_OF_CONFIDENCE  tl_confidence_labels

/* What speaks against an answer; a set of them has bits 1 << tl_doubt. */
typedef enum tl_doubt {
    TL_DOUBT_ONE_STEP,       /* grave: a single step was recorded, or none */
    TL_DOUBT_FEW_STEPS,      /* fewer than 5 */
    TL_DOUBT_CHANCE,         /* p is not far below the chance of one wrong name in a job */
    TL_DOUBT_ELSEWHERE,      /* most of the gain lies in steps that are not flagged */
    TL_DOUBT_HARDLY_MATCHED, /* grave: less than half of the collectives are matched, or there are none */
    TL_DOUBT_COMM_UNKNOWN,   /* communication that may be waiting or transfer exceeds 10 % of the gain, or 1 % of the
                              * wall time */
    TL_DOUBT_OUTSIDE,        /* more than 10 % of the collectives are in no step, though there are marks */
    TL_DOUBT_CLOCKS,         /* what clocks cannot tell may come to 1 % of the wall time */
    TL_DOUBT_HIDDEN,         /* grave: clocks hide which rank was waited for in most of all waiting */
    TL_DOUBT_MISSING,        /* ranks of the job have no trace */
    TL_DOUBT_DAMAGED,        /* traces are cut or damaged */
    TL_DOUBT_UNTIMED,        /* 0.1 % of all events, or of the named ranks' events, have no valid duration */
    TL_DOUBT_SIZES,          /* grave: traces tell different sizes of the job: the traces may be of several jobs */
    TL_DOUBT_DUPLICATES,     /* grave: several traces of one time say they are the same rank */
    TL_DOUBT_NO_WORK,        /* traces of ranks show no device work */
    TL_DOUBT_NO_LAUNCHES,    /* traces of ranks lack the launches of 10 % of the device work: what released the work
                              * is unknown */
    TL_DOUBT_LOST,           /* traces lack the work of launches: table health */
    TL_DOUBT_TAKEN,          /* kernels count as communication by their behaviour, not by their names */
    TL_DOUBT_UNMARKED,       /* grave: ranks have no steps, though others have: ranks without steps are compared with
                              * no rank */
    TL_DOUBT_FOLLOWING,      /* ranks mark no steps, or number them otherwise: steps are taken from the ranks that they
                              * meet */
    TL_DOUBT_NOT_REPLAYED,   /* the replay misses the measured time by more than 5 %, or there is none */
    TL_DOUBT_GAIN,           /* a rank is late by twice the gain, and others waited as long, or steps are as much
                              * longer; or the gain is twice the lateness, and others waited */
    TL_DOUBT_UNEXPLAINED,    /* the unexplained part of the critical path exceeds the gain, or what is worth acting
                              * upon */
    TL_DOUBT_EXCESS,         /* no rank is named, though one rank, or each rank of a host, has more work than its peers
                              * and caused most of all waiting, or is late by 5 % of a step while others wait; or a
                              * step takes 5 % longer than others, by time in which a rank does not communicate */
    TL_DOUBT_ENDS,           /* which ranks are at the ends of the link is not known */
    TL_DOUBT_OTHER_STAGES,   /* all ranks of a role are late: they are compared with other stages of a pipeline */
    TL_DOUBT_HALF,           /* half of the ranks, all of one host, are late in all steps: only the other half is left
                              * to compare with */
    TL_DOUBT_MIXED,          /* no cause has 80 % of the delay */
    TL_DOUBT_UNKNOWN,        /* grave: nothing of the rank's own time explains the delay */
    TL_DOUBT_NO_PLACE,       /* no kernel, operator or annotation stands out */
    TL_DOUBT_CHARGES,        /* most of the charges in table blame are for other parts of the rank's time */
    TL_DOUBT_NO_VERDICT,     /* grave: there is nothing to judge by */
    TL_NDOUBTS
} tl_doubt;
extern const char *const tl_doubt_labels[]; /* "one_step", "few_steps", ... NULL */

/* A set as a cell of `size` bytes, "few_steps chance", padded with 0; labels that do not fit are left out. */
void tl_doubts_text(unsigned doubts, char *cell, size_t size);

/* Such a cell back to a set; what is no label is left out. */
unsigned tl_doubts_of_text(const char *cell, size_t size);

#endif
