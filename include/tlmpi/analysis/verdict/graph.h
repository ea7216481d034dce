/* graph.h - the dependency graph of one rank, and of all ranks together: which work waited for which.
 *
 *     host       (launch a)-->(launch p)-->(wait begins)- - - - ->(wait ends)-->(launch b)
 *                    |             |                                  ^              |
 *                    v             v                                  |              v
 *     stream 7     (a ends)- - ->( p starts )                         |           (b ends)
 *                                    |                                |
 *     all ranks                      +------>(meeting)------>( p ends )
 *
 * A node is an instant at which something is done.  Its own work ends at that instant.  Its edges come from the nodes
 * that the work waited for; an edge's lag is the least time from the end of that node to the begin of the work:
 *
 *     node          done when                            own work              waits for (lag)
 *     BEGIN         the first step, or operator, begins  0                     no node: its time is fixed
 *     LAUNCH        work is handed to the device         host time since the   the last node of its thread, and of any
 *                                                        later of the two      other thread that launches (0)
 *     WAIT_BEGIN    a synchronising call begins          as LAUNCH             as LAUNCH
 *     WAIT_END      the call returns                     0                     its WAIT_BEGIN (call overhead at most);
 *                                                                              the work that released it (measured)
 *     WORK          a kernel, copy or set has ended      its duration          the work before it on its stream (0);
 *                                                                              its launch (latency); other streams (0)
 *     ARRIVAL       communication has begun on the rank  0                     as WORK
 *     MEETING       the first member is done             transfer: since the   all arrivals (0)
 *                                                        last arrival
 *     END           a member is done                     0; in an all-to-all   the meeting (0)
 *                                                        since the meeting
 *
 *     done = max over edges (done there + lag) + work + rest
 *
 * The rest is the time that no edge or work explains: with it the unchanged graph gives the measured times, and it is
 * the same in every replay.  Definitions: delay and wait state as in Scalasca; replay as in dPRO.
 *
 * Work is handed over when its launch call returns or, if the work starts before that, right before its start.  A
 * launch call that takes long is work of the host.  A call that frees memory waits until all work launched before it
 * has ended, if that is before the call returns; the rest of the call is work of the host.  A call for which no release
 * is found takes its measured time.
 *
 * Edges between streams follow these rules (depend.c): recorded stream waits; without any such record, communication
 * waits for the compute kernel launched last before; and a kernel that starts later than all other edges explain waits
 * for the kernel that ended right before on another stream and was launched no later.  An edge of the first two rules
 * belongs to the sequence of launches, not to one rank: if it is impossible on one rank, it is left out on all
 * (tl_job_graph_make).
 *
 * A host also waits if a launch finds the queue full (full_queue.c), and in pauses without a recorded wait call
 * (unrecorded_waits.c).  Untraced ranks arrive from the meetings in which they were before (untraced_ranks.h).
 *
 * Times are int64 ns; those of a rank's own graph are on the clock of its device, those of the job's graph on the job's
 * clock.  May use time, wait and untraced_ranks.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_GRAPH_H
#define TLMPI_ANALYSIS_VERDICT_GRAPH_H

#include "tlmpi/analysis/ask.h"
#include "tlmpi/analysis/collective/wait.h"
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
    int64_t work_ns;     /* 0 or more */
    uint64_t key;        /* LAUNCH: hash of its kernel's name and of its index among launches of that name between two
                      * collectives of its step, the same on all ranks with the same launches there; WAIT_BEGIN: the
                      * same for a blocking launch; WORK: content key of its name without addresses, for copies without
                      * kinds of memory; else 0 */
    uint32_t first_edge; /* its edges end where those of the next node begin */
    uint32_t segment;    /* number of collectives launched by the rank before */
    int32_t step;        /* -1: before all steps, TL_STEP_AFTER: after them */
    uint8_t kind;        /* tl_node_kind */
    uint8_t activity;    /* tl_activity_kind of its work */
    uint16_t blocks;     /* WORK: blocks of its grid, by tl_blocks_rounded; 0: unknown */
} tl_node;

/* Rounds a number of blocks down to 11 bits; the upper 5 of the 16 bits are the shift. */
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
    uint32_t from;
    uint32_t vote; /* 0: certain; else 1 + the number of its vote in the rank's own graph */
} tl_edge;

/* The key of a vote: the edge is left out on all ranks if any rank shows that it is impossible; with TL_VOTE_OF_KIND
 * also if no rank has shown the edge. */
#define TL_VOTE_OF_KIND UINT64_C(1) /* bit of a vote: for all edges of a kind, not of one place in the sequence */

/* Returns the key that a rank casts to show an edge of a kind. */
static inline uint64_t tl_vote_shown(uint64_t vote)
{
    return tl_hash_mix(vote, 1);
}

/* One communication kernel: its ARRIVAL is node `arrival`, its END the one after it. */
typedef struct tl_node_comm {
    int64_t start_ns;
    uint32_t uid; /* uid of the kernel */
    uint32_t arrival;
    uint32_t turn;  /* number of communication kernels launched by the rank before: segment of its ARRIVAL */
    uint32_t nwork; /* number of compute kernels launched since the previous communication kernel */
} tl_node_comm;

/* A possible wait of a launching thread: a pause between two calls, or a call of unknown kind.  Until it is found to be
 * a wait, its WAIT_END is like a LAUNCH: it comes after the last node of any thread, and the time since is host
 * work. */
typedef struct tl_pause {
    uint64_t calls;         /* equal for pauses between the same two calls; of a call: key of the call before and the
                             * call itself */
    int64_t ns;             /* length */
    uint32_t begin, end;    /* WAIT_BEGIN, WAIT_END */
    uint32_t first_release; /* its releases end where those of the next pause begin */
    uint32_t called;        /* 1: a call; 0: a pause between calls */
} tl_pause;

/* A possible release of a pause: the last work of a name that ended right before the end of the pause. */
typedef struct tl_pause_release {
    uint64_t name;
    int64_t lag_ns; /* from the end of the work to the end of the pause */
    uint32_t node;  /* node of that work */
    uint32_t nends; /* number of ends of work of that name within the pause */
} tl_pause_release;

/* Names of a node's work: of a launch its first kernel, of a wait the call; and the operator and annotation around the
 * launch or call.  Content keys; 0: none. */
typedef struct tl_node_names {
    uint64_t name, operator, annotation;
    int32_t device, stream; /* -1: none */
} tl_node_names;

/* The names as 0-terminated texts, "" for none; and the kind of work. */
typedef struct tl_node_label {
    tl_node_names names;
    const char *name, *operator_name, *annotation;
    uint8_t kind, collective; /* tl_kind, of a wait TL_SYNC; tl_collective of communication, else TL_COLL_NONE */
} tl_node_label;

/* The labels of a rank's nodes. */
typedef struct tl_node_labels {
    tl_arena arena; /* owns the texts, and `of` */
    TL_VEC(tl_node_label) list;
    uint32_t *of; /* [nnodes] the node's label; TL_NONE: it has none */
} tl_node_labels;

/* Zero-initialise; tl_rank_graph_free ends it. */
typedef struct tl_rank_graph {
    int32_t rank;
    size_t nnodes, nedges, ncomms, npauses, nreleases, nfalse, nvotes, nkeys, nbytes, nsteps;
    tl_node *nodes; /* [nnodes + 1], with an end entry; NULL: nodes and edges are packed */
    tl_edge *edges;
    uint64_t *votes; /* [nvotes] of uncertain edges */
    uint64_t *keys;  /* [nkeys], of packed nodes */
    uint8_t *bytes;  /* [nbytes] packed nodes and edges */
    tl_node_comm *comms;
    tl_pause *pauses; /* [npauses + 1], with an end entry */
    tl_pause_release *releases;
    uint64_t *false_votes;  /* [nfalse] keys of edges that are impossible on this rank, and tl_vote_shown of edges that
                            * this rank has shown; ascending, each once */
    tl_step_window *steps;  /* [nsteps] of the rank's own marks, ascending, on the clock of its device */
    tl_node_labels *labels; /* NULL: not asked for */
} tl_rank_graph;

/* Calls of the host, besides launches, that the graph needs: found in a view while it has the host's columns, used
 * after these are freed.  Zero-initialise; tl_host_calls_free ends it. */
typedef struct tl_host_calls tl_host_calls;

/* named: for a graph with labels.  tl_host_calls_free ends *out. */
void tl_host_calls_find(const tl_rank_view *view, bool named, tl_host_calls **out);
void tl_host_calls_free(tl_host_calls *calls);

/* Fills *out with the graph of the view's rank; tl_rank_graph_free ends it.  named: with the labels of its nodes.  The
 * graph has no nodes if the view has no device work, or spans more than 19 hours: then its times are wrong. */
void tl_rank_graph_make(const tl_rank_view *view, const tl_host_calls *calls, const tl_host_spans *spans, bool named,
                        tl_rank_graph *out);
void tl_rank_graph_free(tl_rank_graph *graph);

/* Packs nodes and edges into bytes, a fourth of their size, to be kept until all ranks are joined. */
void tl_rank_graph_pack(tl_rank_graph *graph);

/* Unpacks into nodes[nnodes + 1] and edges[nedges]. */
void tl_rank_graph_unpack(const tl_rank_graph *graph, tl_node *nodes, tl_edge *edges);

/* Returns the size of nodes and edges in bytes; 0 if they are packed. */
size_t tl_rank_graph_plain_bytes(const tl_rank_graph *graph);

/* Limit of the total size of a proc's unpacked nodes and edges, bytes. */
enum { TL_GRAPHS_PLAIN_BYTES = 4 << 20 };

/* The graphs of several ranks.  Zero-initialise; tl_rank_graphs_free ends it. */
typedef struct tl_rank_graphs {
    TL_VEC(tl_rank_graph) of;
} tl_rank_graphs;

/* Makes room for one more graph, of[n]; packs the last one if the unpacked graphs exceed TL_GRAPHS_PLAIN_BYTES. */
void tl_rank_graphs_room(tl_rank_graphs *graphs);
void tl_rank_graphs_free(tl_rank_graphs *graphs);

/* ----------------------------------------------------------------------------------------------------------- a job */

/* One communication kernel of a rank, as proc 0 has it. */
typedef struct tl_rank_port {
    int64_t arrived_ns;       /* done_ns of its ARRIVAL */
    int64_t meeting_done_ns;  /* done_ns of its meeting */
    int64_t after_meeting_ns; /* time from its meeting to its END, without the END's own work; if it waited for its
                               * meeting */
    uint32_t arrival;         /* its ARRIVAL; its END is the next node */
    uint32_t meeting;         /* number of the meeting in the job; TL_NONE: waited for none */
    uint32_t segment;         /* segment and step are those of its ARRIVAL */
    int32_t step;
    uint8_t kind; /* tl_collective of its meeting */
    bool awaited; /* a meeting waits for its ARRIVAL */
} tl_rank_port;

/* What proc 0 has of a rank: all but its nodes. */
typedef struct tl_job_rank {
    size_t nnodes;
    tl_rank_port *ports; /* [nports] in order of its communication kernels */
    size_t nports;
    int32_t *steps; /* [nsteps] of its nodes, ascending */
    size_t nsteps;
    int64_t start_ns; /* earliest done_ns of its nodes */
} tl_job_rank;

/* The lead of the job's clock over a rank's, ns: given at two instants, linear in between, plus one step. */
typedef struct tl_clock_shift {
    int64_t first_ns, last_ns; /* on the rank's clock */
    int64_t first_by_ns, last_by_ns;
    int64_t step_at_ns, step_ns; /* at step_at_ns the job's clock steps ahead by step_ns; last_by_ns includes it */
} tl_clock_shift;

/* tl_on_job_clock returns a rank's time on the job's clock; tl_on_own_clock the inverse, exact to 1 ns under drift. */
int64_t tl_on_job_clock(const tl_clock_shift *shift, int64_t ns);
int64_t tl_on_own_clock(const tl_clock_shift *shift, int64_t job_ns);

/* A rank's graph as a part of the job's, on the proc that read the rank: on the job's clock, without edges voted out.
 * An END that waits for its meeting has one edge, from number nnodes + index of its port. */
typedef struct tl_final_graph {
    tl_rank_graph graph; /* [graph.ncomms] ports, but no comms */
    tl_rank_port *ports;
    uint32_t *order;      /* [graph.nnodes] of tl_open_order; NULL: the graph is packed, or had cycles */
    tl_clock_shift shift; /* steps of the graph are on the rank's own clock */
} tl_final_graph;

/* An edge to a meeting: from the ARRIVAL of a rank's port, or from an earlier meeting of an untraced rank. */
typedef struct tl_meeting_edge {
    int64_t lag_ns;
    uint32_t rank; /* index; TL_NONE: the edge comes from a meeting */
    uint32_t of;   /* index of the port, or number of the meeting */
} tl_meeting_edge;

typedef struct tl_meeting {
    int64_t done_ns;     /* the first end of its members */
    int64_t work_ns;     /* transfer: from the last arrival to done_ns */
    int64_t collective;  /* number of the collective in the job */
    uint32_t first_edge; /* its edges end where those of the next meeting begin */
    int64_t late_ns;     /* lateness of late_rank, included in the lag of edges that come from meetings */
    int32_t late_rank;   /* an untraced rank that arrived later than its role usually does; -1: none */
    int32_t step;        /* latest step of its members */
    uint8_t kind;
} tl_meeting;

/* The job's graph: its meetings, and each rank without its nodes. */
typedef struct tl_job_graph {
    size_t nranks, nmeetings;
    tl_job_rank *ranks;   /* [nranks] */
    tl_meeting *meetings; /* [nmeetings + 1] */
    tl_meeting_edge *edges;
    size_t nvoted, ncycled; /* number of edges left out: by vote; in cycles, because they go back in time */
    size_t npauses, nwaits; /* number of pauses; of pauses that were waits */
    TL_VEC(int32_t) late;   /* steps in which the recording of some rank begins late */
} tl_job_graph;

typedef struct tl_job_graph_input {
    const tl_rank_graphs *graphs; /* ascending by rank, with all of `ranks`; nodes and edges are not read */
    const int32_t *ranks;         /* [nranks], ascending */
    size_t nranks;
    const int32_t *marked; /* [nmarked], ascending: ranks whose own step marks are the job's; other ranks take the steps
                            * of their rows */
    size_t nmarked;
    const tl_late_row *rows; /* rows of all matched collectives, grouped by collective; on the job's clock */
    size_t nrows;
    const tl_table *groups; /* table group: names the untraced members of collectives; NULL: all ranks are traced */
    int32_t world;          /* number of ranks of the job; 0: unknown */
} tl_job_graph_input;

/* Asks FINAL_GRAPH, and INTER_COLLECTIVE_PATHS if any rank is untraced.  tl_job_graph_free ends *out. */
void tl_job_graph_make(const tl_job_graph_input *input, const tl_asker *asker, tl_job_graph *out);
void tl_job_graph_free(tl_job_graph *graph);

/* Answers FINAL_GRAPH: the rank's own graph is replaced by its part of the job's, unpacked. */
void tl_finalize_rank_graph(tl_final_graph *rank, tl_bytes *in, tl_bytes *out);
void tl_final_graph_pack(tl_final_graph *rank);
void tl_final_graph_free(tl_final_graph *rank);

/* Returns the key of ENDs of all-to-alls of a kind (tl_collective); the times from meeting to END are compared by
 * it. */
uint64_t tl_stay_key(uint8_t kind);

/* Whether the rank has nodes. */
static inline bool tl_job_graph_has(const tl_job_graph *g, size_t rank)
{
    return g->ranks[rank].nnodes > 0;
}

/* Returns done_ns of the node from which an edge to a meeting comes. */
static inline int64_t tl_meeting_from_ns(const tl_job_graph *g, const tl_meeting_edge *edge)
{
    return edge->rank != TL_NONE ? g->ranks[edge->rank].ports[edge->of].arrived_ns : g->meetings[edge->of].done_ns;
}

/* Returns the rest of a meeting, ns: time that neither its edges nor its work explain. */
int64_t tl_meeting_rest_ns(const tl_job_graph *graph, uint32_t meeting);

/* A rank whose nodes can be read: borrowed, or unpacked from a packed graph; *of must not change meanwhile.
 * Zero-initialise; may be used for one rank after the other, and tl_open_free ends it. */
typedef struct tl_open_rank {
    const tl_final_graph *of;
    uint32_t n;
    const tl_node *nodes; /* [n + 1] */
    const tl_edge *edges;
    int64_t *rest_ns;   /* [n] rest: time that edges and work do not explain; of a node without edges its done_ns */
    tl_node *own_nodes; /* nodes of a packed rank */
    tl_edge *own_edges;
    size_t node_room, edge_room, rest_room;
} tl_open_rank;

void tl_rank_open(const tl_final_graph *rank, tl_open_rank *out);
void tl_open_free(tl_open_rank *open);

/* Answers INTER_COLLECTIVE_PATHS. */
void tl_inter_collective_paths_answer(const tl_open_rank *rank, tl_bytes *in, tl_bytes *out);

/* Fills order[n]: each node comes after all nodes that it waits for, an END after its ARRIVAL. */
void tl_open_order(const tl_open_rank *open, uint32_t *order);

/* Returns the port whose meeting an END waits for; TL_NONE: the node is no END, or waited for no meeting. */
static inline uint32_t tl_rank_port_of(const tl_open_rank *o, uint32_t node)
{
    uint32_t e = o->nodes[node].first_edge;
    bool met = o->nodes[node].kind == TL_NODE_END && e < o->nodes[node + 1].first_edge && o->edges[e].from >= o->n;
    return met ? o->edges[e].from - o->n : TL_NONE;
}

/* Returns done_ns of the node from which an edge comes. */
static inline int64_t tl_from_ns(const tl_open_rank *o, const tl_edge *edge)
{
    return edge->from < o->n ? o->nodes[edge->from].done_ns : o->of->ports[edge->from - o->n].meeting_done_ns;
}

/* Returns the time that a host waited for its device in this WAIT_END, ns; -1: the node is no such wait, or the host
 * waited for room in the queue, as a host does that is ahead. */
static inline int64_t tl_waited_ns(const tl_open_rank *o, uint32_t node)
{
    uint32_t e = o->nodes[node].first_edge;
    return o->nodes[node].kind == TL_NODE_WAIT_END && o->nodes[node + 1].first_edge - e == 2 &&
                   o->nodes[node].work_ns == 0 && o->nodes[node].activity != TL_ACTIVITY_DEVICE
               ? o->nodes[node].done_ns - o->nodes[o->edges[e].from].done_ns
               : -1;
}

#endif
