/* held.h - the graphs of ranks where they were read, and what these answer to who judges the job (ask.h).
 *
 * Of each rank its own graph is kept until it settles, then the job's, packed where they are large; what it has been told of its steps, its
 * repairs and its ideal; never anything of other ranks.  May use graph, baseline and replay.
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
    tl_open_rank open; /* the one that was asked last: often there is no other */
} tl_held;

/* Those of *graphs, which are used up.  tl_held_free ends it. */
void tl_held_take(tl_rank_graphs *graphs, tl_held *out);
void tl_held_free(tl_held *held);

/* What a rank that is held answers; to HOST_PIECES its pieces, appended to *pieces. */
void tl_held_answer(tl_held *held, int32_t rank, tl_question question, tl_bytes *in, tl_bytes *out,
                    tl_host_pieces *pieces);

/* What is usual of pieces that were listed here, once that is known. */
void tl_held_take_pieces(tl_held *held, const tl_host_piece *pieces, size_t n);

/* An asker of ranks that are all held here; it has to stay. */
tl_asker tl_held_asker(tl_held *held);

/* Where a rank stands; n: it is not held here. */
size_t tl_held_index(const tl_held *held, int32_t rank);

#endif
