/* rank_server.h - the graphs of ranks on the procs that read them, and the answers that these procs give to proc 0
 * (ask.h).
 *
 * Of each rank its own graph is kept until FINAL_GRAPH, then its part of the job's graph, packed if graphs are large;
 * and the steps, repairs and ideal that it was told; never anything of other ranks.  May use graph, baseline,
 * replay and whatif.
 */
#ifndef TLMPI_ANALYSIS_RANK_SERVER_H
#define TLMPI_ANALYSIS_RANK_SERVER_H

#include "tlmpi/analysis/replay.h"

typedef struct tl_served_rank {
    int32_t rank;
    tl_final_graph final;
    tl_work_class_map class_map;
    tl_rank_repairs repairs;
} tl_served_rank;

/* Zero-initialise; tl_rank_server_free ends it. */
typedef struct tl_rank_server {
    tl_served_rank *ranks; /* [n] ascending */
    size_t n;
    size_t plain_bytes; /* of graphs that are not packed */
    tl_host_pieces pieces;
    tl_open_rank open; /* the rank that was asked last, opened: often there is no other */
} tl_rank_server;

/* Takes over *graphs, which are used up.  tl_rank_server_free ends *out. */
void tl_rank_server_take(tl_rank_graphs *graphs, tl_rank_server *out);
void tl_rank_server_free(tl_rank_server *server);

/* Answers a question to a rank that is held here; the answer to HOST_PIECES is its pieces, added to server->pieces,
 * which are to be compared then. */
void tl_rank_server_answer(tl_rank_server *server, int32_t rank, tl_question question, tl_bytes *in, tl_bytes *out);

/* Returns an asker of ranks that are all held here; it borrows *server. */
tl_asker tl_rank_server_asker(tl_rank_server *server);

/* Returns the index of a rank; n: the rank is not held here. */
size_t tl_rank_server_index(const tl_rank_server *server, int32_t rank);

#endif
