/* ask.h - the graphs of ranks stay on the procs that read them; proc 0, which judges the job, asks these procs.
 *
 *     proc 0                            procs that hold ranks
 *     meetings, steps, clocks     ---FINAL_GRAPH-->   the rank's graph becomes a part of the job's
 *     baseline                    ---CELLS--->   the rank's work, by class and step
 *     late, and costs?            ---UNITS--->   what its repairs would take off; the rank folded
 *     what if                     ---CHANGE-->   the rank folded, with the change
 *
 * A question to a rank is bytes, and so is the answer.  The bytes that reach proc 0 grow with steps, names and
 * collectives, never with kernels.
 */
#ifndef TLMPI_ANALYSIS_ASK_H
#define TLMPI_ANALYSIS_ASK_H

#include "tlmpi/base/bytes.h"
#include <stddef.h>
#include <stdint.h>

/* The questions, each with the file that reads it and writes its answer. */
typedef enum tl_question {
    TL_ASK_FINAL_GRAPH,            /* graph/final_graph.c */
    TL_ASK_INTER_COLLECTIVE_PATHS, /* graph/inter_collective_path.c */
    TL_ASK_CELLS,                  /* baseline/work_class_map.c */
    TL_ASK_HOST_PIECES,            /* baseline/host_pieces.c: of all ranks at once; there is no answer */
    TL_ASK_SUMS,                   /* replay/sums.c */
    TL_ASK_CANDIDATES,             /* replay/answers.c */
    TL_ASK_IDEAL,                  /* replay/ideal.c */
    TL_ASK_CHANGE,                 /* replay/answers.c */
    TL_ASK_PATH,                   /* replay/path.c */
    TL_ASK_WHATIF,                 /* whatif/answer.c */
    TL_ASK_NOTHING                 /* there are no more questions */
} tl_question;

/* Questions to ranks and their answers.  Zero-initialise; tl_asked_free ends it. */
typedef struct tl_asked {
    size_t n;      /* ranks */
    tl_bytes *in;  /* [n] the question to each rank; an empty one is not asked */
    tl_bytes *out; /* [n] the answers of the ranks that are asked */
} tl_asked;

/* tl_asked_free ends it. */
void tl_asked_new(size_t n, tl_asked *out);
void tl_asked_free(tl_asked *asked);

/* Carries questions to the procs that hold the ranks: in[i] goes to ranks[i].  The questions are used up. */
typedef struct tl_asker {
    void (*ask)(void *of, const int32_t *ranks, tl_question question, tl_asked *asked);
    void *of;
    const int32_t *ranks; /* set by the code that asks */
} tl_asker;

void tl_ask_ranks(const tl_asker *asker, tl_question question, tl_asked *asked);

#endif
