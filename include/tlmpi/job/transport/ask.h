/* ask.h - questions of proc 0 to the procs that hold ranks (analysis/ask.h), and their answers.
 *
 *     proc 0:  tl_rank_procs_find ... asks ... tl_ask_nothing
 *     others:  tl_rank_procs_find ... tl_answer_questions
 *
 * May use rank_server.
 */
#ifndef TLMPI_JOB_TRANSPORT_ASK_H
#define TLMPI_JOB_TRANSPORT_ASK_H

#include "tlmpi/analysis/rank_server.h"
#include "tlmpi/base/status.h"

/* Which proc holds which rank; on proc 0.  free(procs.v) ends it. */
typedef struct tl_rank_procs {
    tl_rank_server *server; /* this proc's */
    struct tl_rank_proc {
        int32_t rank, proc;
    } * v; /* ascending by rank */
    size_t n;
} tl_rank_procs;

/* Collective. */
tl_rank_procs tl_rank_procs_find(tl_rank_server *server);

/* On proc 0: an asker of all of them, which have to stay. */
tl_asker tl_procs_asker(tl_rank_procs *procs);

/* On proc 0, in the end: there are no more questions.  On the others: answers until then. */
void tl_ask_nothing(void);
void tl_answer_questions(const tl_rank_procs *procs);

#endif
