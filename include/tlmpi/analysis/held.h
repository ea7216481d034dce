/* held.h - the graphs of ranks on the procs that read them, and the answers that these procs give to proc 0 (ask.h).
 *
 * Of each rank its own graph is kept until SETTLE, then its part of the job's graph, packed if graphs are large; and
 * the steps, repairs and ideal that it was told; never anything of other ranks.  May use graph, baseline and replay.
 */
#ifndef TLMPI_ANALYSIS_HELD_H
#define TLMPI_ANALYSIS_HELD_H

#include "tlmpi/analysis/replay.h"

typedef struct tl_held_rank {
    int32_t rank;
    tl_settled settled;
    tl_frame frame;
    tl_told told;
} tl_held_rank;

/* Zero-initialise; tl_held_free ends it. */
typedef struct tl_held {
    tl_held_rank *ranks; /* [n] ascending */
    size_t n;
    size_t plain_bytes; /* of graphs that are not packed */
    tl_host_pieces pieces;
    tl_open_rank open; /* the rank that was asked last, opened: often there is no other */
} tl_held;

/* Takes over *graphs, which are used up.  tl_held_free ends *out. */
void tl_held_take(tl_rank_graphs *graphs, tl_held *out);
void tl_held_free(tl_held *held);

/* Answers a question to a rank that is held; the answer to HOST_PIECES is its pieces, added to held->pieces, which are
 * to be compared then. */
void tl_held_answer(tl_held *held, int32_t rank, tl_question question, tl_bytes *in, tl_bytes *out);

/* Returns an asker of ranks that are all held here; it borrows *held. */
tl_asker tl_held_asker(tl_held *held);

/* Returns the index of a rank; n: the rank is not held here. */
size_t tl_held_index(const tl_held *held, int32_t rank);

#endif
