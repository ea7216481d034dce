/* graph.h - what waited for what, on one rank, and on all of them together.
 *
 *     host       (launch a)-->(launch p)-->(wait begins)- - - - ->(wait ends)-->(launch b)
 *                    |             |                                  ^              |
 *                    v             v                                  |              v
 *     stream 7     (a ends)- - ->( p starts )                         |           (b ends)
 *                                    |                                |
 *     all ranks                      +------>(meeting)------>( p ends )
 *
 * A node is an instant: something is done.  A node has work of its own, which ends at that instant, and edges from the
 * nodes that the work waited for, each with the least time from there to the beginning of the work:
 *
 *     node          done when                            own work              waits for (least time)
 *     BEGIN         the recording's first step begins    0                     nothing: its time is fixed
 *     LAUNCH        work is handed to the device         host time since the   what its thread did last, and any
 *                                                        later of the two      other thread that launches (0)
 *     WAIT_BEGIN    a synchronising call begins          as of LAUNCH          as LAUNCH does
 *     WAIT_END      the call returns                     0                     its beginning (its own time at most);
 *                                                                              what released it (as measured)
 *     WORK          a kernel, copy or set has ended      its duration          the work before it on its stream (0);
 *                                                                              its launch (latency); other streams (0)
 *     ARRIVAL       communication has begun on the rank  0                     as work
 *     MEETING       the first member is done             transfer: since the   all arrivals (0)
 *                                                        last arrival
 *     END           a member is done                     0; in an all-to-all   the meeting (0)
 *                                                        since the meeting
 *
 *     done = max over edges (done there + lag) + work + rest
 *
 * The rest is what no edge or work explains: it makes the unchanged graph give the measured times, and stays the same
 * whatever else is changed.  Definitions: delay and wait state as in Scalasca; replay as in dPRO.
 *
 * Work is handed over when its call returns, or, if the work starts before that, right before its start.  A call that
 * takes long is work of the host.  A call that frees memory waits if all work launched before it has ended by its end,
 * and waits until then; the rest of the call is work of the host.  A call that waits for nothing that can be found
 * takes the time that it took.
 *
 * Work waits for work on another stream by the first of these rules: for what recorded waits name; without any such
 * record, communication waits for the computing that was launched last before it; and work that starts later than all
 * that explains waits for what ended right before on another stream and was launched no later.  An edge of the first
 * two kinds belongs to the sequence, not to one rank: if it is impossible on one rank, it is left out on all
 * (tl_job_graph_make).
 *
 * A host waits, too, if a launch found the queue full (full_queue.c), and in pauses for which no wait call is recorded
 * (unrecorded_waits.c).  Untraced ranks come from the meetings in which they were before (untraced_ranks.h).
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
    uint64_t key;    /* LAUNCH: which launch of its name it is between two collectives of its step, the same on ranks
                      * that have the same launches there, whatever else they have; WAIT_BEGIN: the same of a launch
                      * that waits; WORK: content key of its name without addresses, of copies without kinds of memory;
                      * else 0 */
    uint32_t first_edge; /* its edges end where those of the next node begin */
    uint32_t segment;    /* number of collectives that the rank had launched before */
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

/* A vote is a key: the edge is left out on all ranks if any rank shows that it is impossible; with TL_VOTE_OF_KIND also
 * unless some rank has shown the edge. */
#define TL_VOTE_OF_KIND UINT64_C(1) /* in a vote: the edge belongs to its kind, not to its place in the sequence */

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
    uint32_t turn;  /* number of communication kernels that the rank had launched before: the segment of its ARRIVAL */
    uint32_t nwork; /* number of compute kernels launched since the communication kernel before */
} tl_node_comm;

/* A pause of a launching thread between two calls, or a call of unknown kind: either may have been a wait.  Until it is
 * judged to be one, its WAIT_END is like a launch: it comes after what any thread did last, and the host worked
 * since. */
typedef struct tl_pause {
    uint64_t calls;         /* equal for pauses between the same two calls; of a call, for the same call before and
                             * itself */
    int64_t ns;             /* length */
    uint32_t begin, end;    /* WAIT_BEGIN, WAIT_END */
    uint32_t first_release; /* its releases end where those of the next pause begin */
    uint32_t called;        /* 1: it is a call */
} tl_pause;

/* What may have released a pause: the last work of a name that ended right before the end of the pause. */
typedef struct tl_pause_release {
    uint64_t name;
    int64_t lag_ns; /* from the end of the work to the end of the pause */
    uint32_t node;  /* of that work */
    uint32_t nends; /* number of ends of work of that name within the pause */
} tl_pause_release;

/* What the work of a node is called, of a launch the first work that it launches, of a wait the call; and what is around
 * its launch or call: content keys, 0 for none. */
typedef struct tl_node_names {
    uint64_t name, operator, annotation;
    int32_t device, stream; /* -1: none */
} tl_node_names;

/* The names as texts, 0-terminated, "": there is none; and what the work is. */
typedef struct tl_node_label {
    tl_node_names names;
    const char *name, *operator_name, *annotation;
    uint8_t kind, collective; /* tl_kind, of a wait TL_SYNC; tl_collective of communication, else TL_COLL_NONE */
} tl_node_label;

/* The labels of a rank's nodes. */
typedef struct tl_node_labels {
    tl_arena arena; /* of the texts, and of `of` */
    TL_VEC(tl_node_label) list;
    uint32_t *of; /* [nnodes] the node's label; TL_NONE: it has none */
} tl_node_labels;

/* Zero-initialise; tl_rank_graph_free ends it. */
typedef struct tl_rank_graph {
    int32_t rank;
    size_t nnodes, nedges, ncomms, npauses, nreleases, nfalse, nvotes, nkeys, nbytes, nsteps;
    tl_node *nodes; /* [nnodes + 1]: the last one ends the edges of the one before; NULL: nodes and edges are packed */
    tl_edge *edges;
    uint64_t *votes; /* [nvotes] of uncertain edges */
    uint64_t *keys;  /* [nkeys], of packed nodes */
    uint8_t *bytes; /* [nbytes] packed nodes and edges */
    tl_node_comm *comms;
    tl_pause *pauses; /* [npauses + 1]: the last one ends the releases of the one before */
    tl_pause_release *releases;
    uint64_t *false_votes; /* [nfalse] keys of edges that are impossible on this rank, and tl_vote_shown of edges that
                            * this rank has shown; ascending, each once */
    tl_step_window *steps;  /* [nsteps] of the rank's own marks, ascending, on the clock of its device */
    tl_node_labels *labels; /* where they were asked for; else NULL */
} tl_rank_graph;

/* Calls of the host, besides launches, that the graph needs: taken from a view while it has the host's columns, to be
 * used after these are freed.  Zero-initialise; tl_host_calls_free ends it. */
typedef struct tl_host_calls tl_host_calls;

/* named: for a graph with labels.  The caller frees *out. */
void tl_host_calls_find(const tl_rank_view *view, bool named, tl_host_calls **out);
void tl_host_calls_free(tl_host_calls *calls);

/* The graph of the view's rank, whose host spans are known, into *out, which tl_rank_graph_free ends, also after a
 * failure; named: with the labels of its nodes.  A view without device work gives one without nodes, and so does one that
 * spans more than 19 hours: its times are wrong. */
void tl_rank_graph_make(const tl_rank_view *view, const tl_host_calls *calls, const tl_host_spans *spans,
                        bool named, tl_rank_graph *out);
void tl_rank_graph_free(tl_rank_graph *graph);

/* Packs nodes and edges into bytes, a fourth of their size, to be kept until all ranks are joined. */
void tl_rank_graph_pack(tl_rank_graph *graph);

/* Unpacks into nodes[nnodes + 1] and edges[nedges]. */
void tl_rank_graph_unpack(const tl_rank_graph *graph, tl_node *nodes, tl_edge *edges);

/* Returns the size of nodes and edges in bytes; 0 if they are packed. */
size_t tl_rank_graph_plain_bytes(const tl_rank_graph *graph);

/* Graphs that are held together are packed once their nodes and edges exceed this size. */
enum { TL_GRAPHS_PLAIN_BYTES = 4 << 20 };

/* The graphs of several ranks.  Zero-initialise; tl_rank_graphs_free ends it. */
typedef struct tl_rank_graphs {
    TL_VEC(tl_rank_graph) of;
} tl_rank_graphs;

/* Makes room for one more graph, of[n]; packs the last one if the graphs that are not packed are too large. */
void tl_rank_graphs_room(tl_rank_graphs *graphs);
void tl_rank_graphs_free(tl_rank_graphs *graphs);

/* ----------------------------------------------------------------------------------------------------------- a job */

/* One communication kernel of a rank, as the job has it. */
typedef struct tl_rank_port {
    int64_t arrived_ns;       /* when its ARRIVAL is done */
    int64_t meeting_done_ns;  /* when its meeting is done */
    int64_t after_meeting_ns; /* of a port that waited for its meeting: from the meeting to its END, without its own
                               * work */
    uint32_t arrival;         /* its ARRIVAL; its END is the next node */
    uint32_t meeting;         /* number of the meeting in the job; TL_NONE: it waited for no meeting */
    uint32_t segment;         /* of its ARRIVAL, as is the step */
    int32_t step;
    uint8_t kind; /* tl_collective of its meeting */
    bool awaited; /* a meeting waits for its ARRIVAL */
} tl_rank_port;

/* What the job knows of a rank without its nodes. */
typedef struct tl_job_rank {
    size_t nnodes;
    tl_rank_port *ports; /* [nports] in order of its communication kernels */
    size_t nports;
    int32_t *steps; /* [nsteps] of its nodes, ascending */
    size_t nsteps;
    int64_t start_ns; /* when the first of its nodes is done */
} tl_job_rank;

/* How far the job's clock is ahead of a rank's: at two instants, linear between them, plus one step. */
typedef struct tl_clock_shift {
    int64_t first_ns, last_ns; /* on the rank's clock */
    int64_t first_by_ns, last_by_ns;
    int64_t step_at_ns, step_ns; /* at step_at_ns the job's clock steps ahead by step_ns; last_by_ns includes it */
} tl_clock_shift;

/* Returns a rank's time on the job's clock; and a time of the job on the rank's clock, to within a nanosecond where
 * clocks drift. */
int64_t tl_on_job_clock(const tl_clock_shift *shift, int64_t ns);
int64_t tl_on_own_clock(const tl_clock_shift *shift, int64_t job_ns);

/* A rank's graph as a part of the job's, on the proc that read the rank: on the job's clock, without edges that were
 * voted out.  An END that waits for its meeting has one edge, from `nnodes` + the number of its port. */
typedef struct tl_final_graph {
    tl_rank_graph graph; /* [graph.ncomms] ports, but no comms */
    tl_rank_port *ports;
    uint32_t *order;      /* [graph.nnodes] of tl_open_order; NULL: the graph is packed, or had cycles */
    tl_clock_shift shift; /* steps of the graph are on the rank's own clock */
} tl_final_graph;

/* What a meeting waits for: the ARRIVAL of a rank's port, or another meeting, from which an untraced rank comes. */
typedef struct tl_meeting_edge {
    int64_t lag_ns;
    uint32_t rank; /* index; TL_NONE: the edge comes from a meeting */
    uint32_t of;   /* number of the port, or of the meeting */
} tl_meeting_edge;

typedef struct tl_meeting {
    int64_t done_ns;     /* the first end of its members */
    int64_t work_ns;     /* from the last arrival to done_ns */
    int64_t collective;  /* its number among the job's */
    uint32_t first_edge; /* its edges end where those of the next meeting begin */
    int64_t late_ns;     /* lateness of late_rank; part of the lag of each edge that comes from a meeting */
    int32_t late_rank;   /* an untraced rank that came later than ranks of its role come; -1: none */
    int32_t step;        /* the last of its members */
    uint8_t kind;
} tl_meeting;

/* The job's graph: the meetings of ranks, and what is known of each rank. */
typedef struct tl_job_graph {
    size_t nranks, nmeetings;
    tl_job_rank *ranks;   /* [nranks] */
    tl_meeting *meetings; /* [nmeetings + 1] */
    tl_meeting_edge *edges;
    size_t nvoted, ncycled; /* edges left out: by vote; of a cycle, the edges that go back in time */
    size_t npauses, nwaits; /* all pauses; pauses that were waits */
    TL_VEC(int32_t) late;   /* steps of all ranks in which some rank's recording begins late */
} tl_job_graph;

typedef struct tl_job_graph_input {
    const tl_rank_graphs *graphs; /* ascending by rank, `ranks` among them; nodes and edges are not looked at */
    const int32_t *ranks;         /* [nranks], ascending */
    size_t nranks;
    const int32_t *marked; /* [nmarked], ascending: ranks whose own steps are the job's; other ranks take the steps in
                            * their rows */
    size_t nmarked;
    const tl_late_row *rows; /* of all matched collectives, rows of one collective together; on the job's clock */
    size_t nrows;
    const tl_table *groups; /* table group: names the untraced members of collectives; NULL: all ranks are traced */
    int32_t world;          /* number of ranks of the job; 0: unknown */
} tl_job_graph_input;

/* Asks FINAL_GRAPH, and INTER_COLLECTIVE_PATHS if any rank is untraced.  tl_job_graph_free ends *out. */
void tl_job_graph_make(const tl_job_graph_input *input, const tl_asker *asker, tl_job_graph *out);
void tl_job_graph_free(tl_job_graph *graph);

/* Answers FINAL_GRAPH: the rank's own graph becomes a part of the job's, for good, and is not packed then. */
void tl_finalize_rank_graph(tl_final_graph *rank, tl_bytes *in, tl_bytes *out);
void tl_final_graph_pack(tl_final_graph *rank);
void tl_final_graph_free(tl_final_graph *rank);

/* Returns the key of ENDs in all-to-alls of a kind (tl_collective), whose members' stays are compared. */
uint64_t tl_stay_key(uint8_t kind);

/* Whether the rank has a graph. */
static inline bool tl_job_graph_has(const tl_job_graph *g, size_t rank)
{
    return g->ranks[rank].nnodes > 0;
}

/* Returns when the start of an edge to a meeting was done. */
static inline int64_t tl_meeting_from_ns(const tl_job_graph *g, const tl_meeting_edge *edge)
{
    return edge->rank != TL_NONE ? g->ranks[edge->rank].ports[edge->of].arrived_ns : g->meetings[edge->of].done_ns;
}

/* Returns the part of a meeting's time that its arrivals and its own work do not explain, ns. */
int64_t tl_meeting_rest_ns(const tl_job_graph *graph, uint32_t meeting);

/* A rank whose nodes can be read; borrowed, or unpacked if the rank is packed: *of has to stay as it is meanwhile.
 * Zero-initialise; may be used for one rank after the other, and tl_open_free ends it. */
typedef struct tl_open_rank {
    const tl_final_graph *of;
    uint32_t n;
    const tl_node *nodes; /* [n + 1] */
    const tl_edge *edges;
    int64_t *rest_ns;   /* [n] time that edges and work do not explain; of a node without edges: when it was done */
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

/* Returns when the start of an edge was done. */
static inline int64_t tl_from_ns(const tl_open_rank *o, const tl_edge *edge)
{
    return edge->from < o->n ? o->nodes[edge->from].done_ns : o->of->ports[edge->from - o->n].meeting_done_ns;
}

/* Returns how long a host waited for its device, ns; -1: the node is no such wait, or the host waited for room in the
 * queue, as a host that is ahead does. */
static inline int64_t tl_waited_ns(const tl_open_rank *o, uint32_t node)
{
    uint32_t e = o->nodes[node].first_edge;
    return o->nodes[node].kind == TL_NODE_WAIT_END && o->nodes[node + 1].first_edge - e == 2 &&
                   o->nodes[node].work_ns == 0 && o->nodes[node].activity != TL_ACTIVITY_DEVICE
               ? o->nodes[node].done_ns - o->nodes[o->edges[e].from].done_ns
               : -1;
}

#endif
