/* rank_server.h - the graphs of ranks on the procs that read them, and the answers that these procs give to proc 0
 * (ask.h).
 *
 * For each rank a proc keeps the rank's own graph until FINAL_GRAPH, then its part of the job's graph, packed if graphs
 * are large; and the rank's steps, repairs and ideal as received from proc 0; nothing of ranks on other procs.  May use
 * graph, baseline, replay and whatif.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_WHATIF_RANK_SERVER_H
#define TLMPI_ANALYSIS_VERDICT_WHATIF_RANK_SERVER_H

#include "tlmpi/analysis/verdict/replay.h"

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
    size_t plain_bytes; /* total size of unpacked graphs */
    tl_host_pieces pieces;
    tl_open_rank open; /* the rank asked last, opened: often the proc has only one rank */
} tl_rank_server;

/* Moves the graphs into *out, and empties *graphs.  tl_rank_server_free ends *out. */
void tl_rank_server_take(tl_rank_graphs *graphs, tl_rank_server *out);
void tl_rank_server_free(tl_rank_server *server);

/* Answers a question to a rank of this proc.  HOST_PIECES appends to server->pieces, which tl_host_pieces_compare
 * compares once all ranks are asked. */
void tl_rank_server_answer(tl_rank_server *server, int32_t rank, tl_question question, tl_bytes *in, tl_bytes *out);

/* Returns an asker for a job whose ranks are all on this proc; it borrows *server. */
tl_asker tl_rank_server_asker(tl_rank_server *server);

/* Returns the index of a rank; n: the rank is not on this proc. */
size_t tl_rank_server_index(const tl_rank_server *server, int32_t rank);

#endif
