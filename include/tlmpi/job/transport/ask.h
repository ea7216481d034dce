/* ask.h - questions of proc 0 to the procs that hold ranks (analysis/ask.h), and their answers.
 *
 *     proc 0:  tl_rank_procs_find ... asks ... tl_ask_nothing
 *     others:  tl_rank_procs_find ... tl_answer_questions
 *
 * May use rank_server.
 */
#ifndef TLMPI_JOB_TRANSPORT_ASK_H
#define TLMPI_JOB_TRANSPORT_ASK_H

#include "tlmpi/analysis/verdict/whatif/rank_server.h"
#include "tlmpi/base/status.h"

/* The proc that holds each rank, on proc 0; v is empty elsewhere.  free(procs.v) ends it. */
typedef struct tl_rank_procs {
    tl_rank_server *server; /* this proc's */
    struct tl_rank_proc {
        int32_t rank, proc;
    } * v; /* ascending by rank */
    size_t n;
} tl_rank_procs;

/* Collective.  Returns the ranks of all servers. */
tl_rank_procs tl_rank_procs_find(tl_rank_server *server);

/* Proc 0: returns an asker of all ranks; borrows procs. */
tl_asker tl_procs_asker(tl_rank_procs *procs);

/* tl_ask_nothing, on proc 0, ends the questions; tl_answer_questions, on the other procs, answers until then. */
void tl_ask_nothing(void);
void tl_answer_questions(const tl_rank_procs *procs);

#endif
