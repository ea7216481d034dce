/* graph.h - what waited for what, on one rank, and on all of them together.
 *
 *     host       (launch a)-->(launch p)-->(wait begins)- - - - ->(wait ends)-->(launch b)
 *                    |             |                                  ^              |
 *                    v             v                                  |              v
 *     stream 7     (a ends)- - ->( p starts )                         |           (b ends)
 *                                    |                                |
 *     all ranks                      +------>(meeting)------>( p ends )
 *
 * A node is an instant: something is done.  It has work of its own, which ends then, and edges from what that work
 * waited for, each with the least time from there to its beginning:
 *
 *     node          done when                            own work              waits for (least time)
 *     BEGIN         the recording's first step begins    0                     nothing: it is where it was
 *     LAUNCH        work is handed to the device         host time since the   what its thread, and any other that launches,
 *                                                        later of the two      did last (0)
 *     WAIT_BEGIN    a synchronising call begins          likewise              likewise
 *     WAIT_END      ... returns                          0                     its beginning (its own time at most); what
 *                                                                              released it (as measured)
 *     WORK          a kernel, copy or set has ended      its duration          the work before it on its stream (0); its
 *                                                                              launch (latency); other streams (0)
 *     ARRIVAL       communication has begun on the rank  0                     as work
 *     MEETING       the first member is done             transfer: since the   all arrivals (0)
 *                                                        last arrival
 *     END           a member is done                     0; in an all-to-all   the meeting (0)
 *                                                        since the meeting
 *
 *     done = max over edges (done there + lag) + work + rest
 *
 * The rest is what nothing explains: it makes the unchanged graph give the measured times, and stays what it is
 * whatever else is changed.  Definitions: delay and wait state as in Scalasca; replay as in dPRO.
 *
 * When work is handed over: as its call returns, or, where it starts before that, right before its start.  A call that
 * takes long is work of the host.  A call that frees memory waits if all that was launched before it has ended by its
 * end, and until then; what follows is work of the host.  Calls that wait for nothing that can be found take the time
 * they took.
 *
 * Which work on another stream something waits for, in this order: what recorded waits name; without any such record,
 * of communication, the computing that was launched last before it; and where something starts later than all that
 * explains, what ended right before on another stream and was launched no later.  An edge of the first two kinds
 * belongs to the sequence, not to one rank: where it is impossible once, it is nowhere (tl_graph_make).
 *
 * A host waits, too, where a launch found the queue full (held.c), and in pauses of which no call tells (untold.c).
 * Ranks without a trace come from the meetings in which they were before (missing.h).
 *
 * Times are int64 ns; those of a rank's own graph on the clock of its device, those of the job's on the job's clock.
 * May use time, wait and missing.
 */
#ifndef TLMPI_ANALYSIS_GRAPH_H
#define TLMPI_ANALYSIS_GRAPH_H

#include "tlmpi/analysis/ask.h"
#include "tlmpi/analysis/wait.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/view.h"

/* -------------------------------------------------------------------------------------------------------- one rank */

typedef enum tl_node_kind {
    TL_NODE_BEGIN,
    TL_NODE_LAUNCH,
    TL_NODE_WAIT_BEGIN,
    TL_NODE_WAIT_END,
    TL_NODE_WORK,
    TL_NODE_ARRIVAL,
    TL_NODE_END,
    TL_NNODE_KINDS
} tl_node_kind;

#define TL_STEP_AFTER INT32_MAX

typedef struct tl_node {
    int64_t done_ns;
    int64_t work_ns; /* not below 0 */
    uint64_t key;    /* LAUNCH: which of its name it is between two collectives of its step, the same on ranks that have
                   * the same there, whatever else they have; WORK: content key of its name without addresses, of
                   * copies without kinds of memory; else 0 */
    uint32_t first_edge; /* its edges end where those of the next node begin */
    uint32_t segment;    /* collectives that the rank had launched before */
    int32_t step;        /* -1: before all steps, TL_STEP_AFTER: after them */
    uint8_t kind;        /* tl_node_kind */
    uint8_t activity;    /* tl_activity_kind of its work */
    uint16_t blocks;     /* WORK: of its grid, as tl_blocks_rounded has them; 0: unknown */
} tl_node;

/* A number of blocks to 11 bits, in 16: shifted by the upper 5. */
static inline uint16_t tl_blocks_rounded(uint32_t blocks)
{
    uint32_t shift = 0;
    while (blocks >> shift > 0x7ff)
        shift++;
    return (uint16_t)(shift << 11 | blocks >> shift);
}

static inline int64_t tl_blocks_of(uint16_t rounded)
{
    return (int64_t)(rounded & 0x7ff) << (rounded >> 11);
}

typedef struct tl_edge {
    int64_t lag_ns;
    uint64_t vote; /* 0: certain; else the key under which it is impossible everywhere if it is anywhere; one of a kind
                    * (TL_VOTE_OF_KIND) is there only if some rank has shown it */
    uint32_t from;
} tl_edge;

#define TL_VOTE_OF_KIND UINT64_C(1) /* in a vote: the edge is of its kind, not of its place in the sequence */

/* The key that says that an edge of a kind has been shown. */
static inline uint64_t tl_vote_shown(uint64_t vote)
{
    return tl_hash_mix(vote, 1);
}

/* One communication kernel: its ARRIVAL is node `arrival`, its END the one after it. */
typedef struct tl_node_comm {
    int64_t start_ns;
    uint32_t uid; /* of the kernel */
    uint32_t arrival;
    uint32_t turn;  /* communication kernels that the rank had launched before: the segment of its ARRIVAL */
    uint32_t nwork; /* kernels that compute, launched since the last of these */
} tl_node_comm;

/* A pause of a launching thread between two calls, or a call of unknown kind, which may have been a wait.  As long as it
 * counts as none its WAIT_END is like a launch: it comes after what any thread did last, and the host worked since. */
typedef struct tl_pause {
    uint64_t calls;         /* the same for the same calls before and after, or before and itself */
    int64_t ns;             /* how long it is */
    uint32_t begin, end;    /* WAIT_BEGIN, WAIT_END */
    uint32_t first_release; /* its releases end where those of the next pause begin */
    uint32_t called;        /* 1: it is a call */
} tl_pause;

/* What may have released it: the last work of a name that ended right before its end. */
typedef struct tl_pause_release {
    uint64_t name;
    int64_t lag_ns; /* from the end of the work to the end of the pause */
    uint32_t node;  /* of that work */
    uint32_t nends; /* of work of that name in the pause */
} tl_pause_release;

/* Zero-initialise; tl_rank_graph_free ends it. */
typedef struct tl_rank_graph {
    int32_t rank;
    size_t nnodes, nedges, ncomms, npauses, nreleases, nfalse, nkeys, nbytes;
    tl_node *nodes; /* [nnodes + 1]: the last one ends the edges of the one before; NULL: they and edges are packed */
    tl_edge *edges;
    uint64_t *keys; /* [nkeys], of packed nodes and votes */
    uint8_t *bytes; /* [nbytes] packed nodes and edges */
    tl_node_comm *comms;
    tl_pause *pauses; /* [npauses + 1], likewise */
    tl_pause_release *releases;
    uint64_t *false_votes; /* [nfalse] keys of edges that are impossible here, and tl_vote_shown of those that are shown;
                            * ascending, each once */
} tl_rank_graph;

/* What the host did that the graph is made of, besides launches: taken from a view that has the host's columns, to be
 * used when these are gone.  Zero-initialise; tl_host_calls_free ends it. */
typedef struct tl_host_calls tl_host_calls;

/* *out is the caller's. */
void tl_host_calls_find(const tl_rank_view *view, tl_host_calls **out);
void tl_host_calls_free(tl_host_calls *calls);

/* The graph of the view's rank, whose host spans are known, into *out, which tl_rank_graph_free ends, also after a
 * failure.  A view without device work gives one without nodes, and so does one that spans more than 19 hours: its
 * times are wrong. */
void tl_rank_graph_make(const tl_rank_view *view, const tl_host_calls *calls, const tl_host_spans *spans,
                        tl_rank_graph *out);
void tl_rank_graph_free(tl_rank_graph *graph);

/* Nodes and edges become bytes, a fourth of what they were, to be kept until they are joined. */
void tl_rank_graph_pack(tl_rank_graph *graph);

/* What was packed, into nodes[nnodes + 1] and edges[nedges]. */
void tl_rank_graph_unpack(const tl_rank_graph *graph, tl_node *nodes, tl_edge *edges);

/* What nodes and edges that are not packed take, in bytes. */
size_t tl_rank_graph_plain_bytes(const tl_rank_graph *graph);

/* Of several graphs in one place those whose nodes and edges are larger together than this are packed. */
enum { TL_GRAPHS_PLAIN_BYTES = 4 << 20 };

/* Those of several ranks.  Zero-initialise; tl_rank_graphs_free ends it. */
typedef struct tl_rank_graphs {
    TL_VEC(tl_rank_graph) of;
} tl_rank_graphs;

/* Room for one more, of[n]; the last one is packed for that if those that are not are too large. */
void tl_rank_graphs_room(tl_rank_graphs *graphs);
void tl_rank_graphs_free(tl_rank_graphs *graphs);

/* ----------------------------------------------------------------------------------------------------------- a job */

/* One communication kernel of a rank, as the job has it. */
typedef struct tl_port {
    int64_t came_ns;  /* when its ARRIVAL is done */
    int64_t met_ns;   /* when its meeting is done */
    int64_t tail_ns;  /* of one that waited for its meeting: how much later it was done, but for its own work */
    uint32_t arrival; /* its ARRIVAL; its END is the next node */
    uint32_t meeting; /* number among the job's; TL_NONE: it waited for nobody */
    uint32_t segment; /* of its ARRIVAL, and so is the step */
    int32_t step;
    uint8_t kind; /* tl_collective of its meeting */
    bool awaited; /* a meeting waits for its ARRIVAL */
} tl_port;

/* What the job knows of a rank without its nodes. */
typedef struct tl_job_rank {
    size_t nnodes;
    tl_port *ports; /* [nports] in order of its communication kernels */
    size_t nports;
    int32_t *steps; /* [nsteps] of its nodes, ascending */
    size_t nsteps;
    int64_t start_ns; /* when the first of its nodes is done */
} tl_job_rank;

/* A rank's graph as the job has it, where it was read: on the job's clock, without what was voted out.  An END that
 * waits for its meeting has one edge, from `nnodes` + the number of its port. */
typedef struct tl_settled {
    tl_rank_graph graph; /* [graph.ncomms] ports, but no comms */
    tl_port *ports;
    uint32_t *order; /* [graph.nnodes] of tl_open_order; NULL: it is packed, or had circles */
} tl_settled;

/* What a meeting waits for: the ARRIVAL of a rank's port, or, where somebody without a trace comes from there, another
 * meeting. */
typedef struct tl_meeting_edge {
    int64_t lag_ns;
    uint32_t rank; /* index; TL_NONE: a meeting */
    uint32_t of;   /* the port, the meeting */
} tl_meeting_edge;

typedef struct tl_meeting {
    int64_t done_ns;     /* the first end of its members */
    int64_t work_ns;     /* since the last has come */
    int64_t collective;  /* its number among the job's */
    uint32_t first_edge; /* they end where those of the next meeting begin */
    int64_t late_ns;     /* of late_rank; in the lag of each edge that comes from a meeting */
    int32_t late_rank;   /* without a trace, and so much later than those that do the same come; -1: none */
    int32_t step;        /* the last of its members */
    uint8_t kind;
} tl_meeting;

/* Where all ranks meet, and what is known of each. */
typedef struct tl_graph {
    size_t nranks, nmeetings;
    tl_job_rank *ranks;   /* [nranks] */
    tl_meeting *meetings; /* [nmeetings + 1] */
    tl_meeting_edge *edges;
    size_t nvoted, ncycled; /* edges left out: by vote; of a cycle, those back in time */
    size_t npauses, nwaits; /* pauses, and those that were waits */
    bool first_is_late;     /* the recording of some rank begins late in the first step that all have */
} tl_graph;

typedef struct tl_graph_input {
    const tl_rank_graphs *graphs; /* ascending by rank, `ranks` among them; nodes and edges are not looked at */
    const int32_t *ranks;         /* [nranks], ascending */
    size_t nranks;
    const int32_t *marked; /* [nmarked], ascending: ranks whose own steps are the job's; those of the others are as
                            * their rows have it */
    size_t nmarked;
    const tl_late_row *rows; /* of all matched collectives, those of one together; on the job's clock */
    size_t nrows;
    const tl_table *groups; /* table group: who of a collective has no trace; NULL: all have one */
    int32_t world;          /* ranks of the job; 0: not known */
} tl_graph_input;

/* Asks SETTLE, and where ranks have no trace WAYS.  *out is tl_graph_free's, also after a failure. */
void tl_graph_make(const tl_graph_input *input, const tl_asker *asker, tl_graph *out);
void tl_graph_free(tl_graph *graph);

/* The answer to SETTLE, of a rank's own graph, which settles for good and is not packed then. */
void tl_settle_answer(tl_settled *rank, tl_bytes *in, tl_bytes *out);
void tl_settled_pack(tl_settled *rank);
void tl_settled_free(tl_settled *rank);

/* The key of ENDs in all-to-alls of a kind (tl_collective): how long a member stays in one is compared. */
uint64_t tl_stay_key(uint8_t kind);

/* Whether the rank has a graph. */
static inline bool tl_graph_has(const tl_graph *g, size_t rank)
{
    return g->ranks[rank].nnodes > 0;
}

/* When what a meeting waits for was done. */
static inline int64_t tl_meeting_from_ns(const tl_graph *g, const tl_meeting_edge *edge)
{
    return edge->rank != TL_NONE ? g->ranks[edge->rank].ports[edge->of].came_ns : g->meetings[edge->of].done_ns;
}

/* How long a meeting took that is not explained by its arrivals and its own work. */
int64_t tl_meeting_rest_ns(const tl_graph *graph, uint32_t meeting);

/* A rank's nodes, which are its own unless it is packed: it has to stay as it is meanwhile.  Zero-initialise; the same
 * may be used for one rank after the other, and tl_open_free ends it. */
typedef struct tl_open_rank {
    const tl_settled *of;
    uint32_t n;
    const tl_node *nodes; /* [n + 1] */
    const tl_edge *edges;
    int64_t *rest_ns;   /* [n]; of what waits for nothing: when it was done */
    tl_node *own_nodes; /* of one that is packed */
    tl_edge *own_edges;
    size_t node_room, edge_room, rest_room;
} tl_open_rank;

void tl_rank_open(const tl_settled *rank, tl_open_rank *out);
void tl_open_free(tl_open_rank *open);

/* The answer to WAYS. */
void tl_ways_answer(const tl_open_rank *rank, tl_bytes *in, tl_bytes *out);

/* order[n]: each node comes after all that it waits for, an END after its ARRIVAL. */
void tl_open_order(const tl_open_rank *open, uint32_t *order);

/* The port whose meeting an END waits for; TL_NONE: it is none, or waited for nobody. */
static inline uint32_t tl_port_of(const tl_open_rank *o, uint32_t node)
{
    uint32_t e = o->nodes[node].first_edge;
    bool met = o->nodes[node].kind == TL_NODE_END && e < o->nodes[node + 1].first_edge && o->edges[e].from >= o->n;
    return met ? o->edges[e].from - o->n : TL_NONE;
}

/* When what an edge comes from was done. */
static inline int64_t tl_from_ns(const tl_open_rank *o, const tl_edge *edge)
{
    return edge->from < o->n ? o->nodes[edge->from].done_ns : o->of->ports[edge->from - o->n].met_ns;
}

/* How long a host waited for what released it; below 0: for nothing of its device, or for room in the queue: who is
 * ahead has to, and who is late has not. */
static inline int64_t tl_waited_ns(const tl_open_rank *o, uint32_t node)
{
    uint32_t e = o->nodes[node].first_edge;
    return o->nodes[node].kind == TL_NODE_WAIT_END && o->nodes[node + 1].first_edge - e == 2 &&
                   o->nodes[node].work_ns == 0 && o->nodes[node].activity != TL_ACTIVITY_DEVICE
               ? o->nodes[node].done_ns - o->nodes[o->edges[e].from].done_ns
               : -1;
}

#endif
