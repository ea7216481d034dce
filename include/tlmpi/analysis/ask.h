/* ask.h - the graphs of ranks stay where they were read: who judges the job asks those who hold them.
 *
 *     proc 0                            procs that hold ranks
 *     meetings, steps, clocks     ---SETTLE-->   the graph of a rank as the job has it
 *     baseline                    ---CELLS--->   what it has of each class of work in each step; what stays of it, folded
 *     late, and costs?            ---UNITS--->   what its repairs would take off
 *     what if                     ---CHANGE-->   what stays of it then
 *
 * A question to a rank is bytes, and so is the answer.  What reaches proc 0 is in proportion to steps, names and
 * collectives, never to kernels.
 */
#ifndef TLMPI_ANALYSIS_ASK_H
#define TLMPI_ANALYSIS_ASK_H

#include "tlmpi/base/bytes.h"
#include <stddef.h>
#include <stdint.h>

/* Who answers, and where question and answer are written. */
typedef enum tl_question {
    TL_ASK_SETTLE,      /* graph/settle.c */
    TL_ASK_WAYS,        /* graph/ways.c */
    TL_ASK_CELLS,       /* baseline/frame.c */
    TL_ASK_HOST_PIECES, /* baseline/host_pieces.c: of all ranks at once; there is no answer */
    TL_ASK_SUMS,        /* replay/sums.c */
    TL_ASK_UNITS,       /* replay/answers.c */
    TL_ASK_IDEAL,       /* replay/ideal.c */
    TL_ASK_CHANGE,      /* replay/answers.c */
    TL_ASK_PATH,        /* replay/path.c */
    TL_ASK_NOTHING      /* there are no more questions */
} tl_question;

/* Questions to ranks and their answers.  Zero-initialise; tl_asked_free ends it. */
typedef struct tl_asked {
    size_t n;      /* ranks */
    tl_bytes *in;  /* [n] a rank with none is not asked */
    tl_bytes *out; /* [n] of those that are */
} tl_asked;

/* tl_asked_free ends it. */
void tl_asked_new(size_t n, tl_asked *out);
void tl_asked_free(tl_asked *asked);

/* Who knows where ranks are: the i-th that is asked is ranks[i].  Questions are used up.  False: memory was out
 * somewhere. */
typedef struct tl_asker {
    void (*ask)(void *of, const int32_t *ranks, tl_question question, tl_asked *asked);
    void *of;
    const int32_t *ranks; /* set by who asks */
} tl_asker;

void tl_ask_ranks(const tl_asker *asker, tl_question question, tl_asked *asked);

#endif
