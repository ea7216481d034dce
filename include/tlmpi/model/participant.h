/* participant.h - one rank's part in one collective, sent to the proc that matches the collective.
 *
 * A participant is small and of fixed size: each communication kernel of each rank has one, and participants travel
 * between procs.
 */
#ifndef TLMPI_MODEL_PARTICIPANT_H
#define TLMPI_MODEL_PARTICIPANT_H

#include "tlmpi/model/schema.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/model/activity.h"
#include <stdint.h>

/* The rule that gave participants their common key. */
#define TL_RULE_VALUES(V)                                                                                              \
    V(TL_BY_NOTHING, "none", "not matched")                                                                            \
    V(TL_BY_SEQ, "seq", "by the sequence number in the trace")                                                         \
    V(TL_BY_LAUNCH, "launch", "by the order of launches in the step")                                                  \
    V(TL_BY_ENDTIME, "endtime", "because they ended together")                                                         \
    V(TL_BY_PAIR, "pair", "by sender, receiver and order")
typedef enum tl_match_rule { TL_RULE_VALUES(TL_VALUE_NAME) } tl_match_rule;

enum {
    TL_NO_PEER = -1,     /* the collective is of a group, not point-to-point */
    TL_PEER_UNKNOWN = -2 /* the trace does not tell the rank at the other end */
};

/* The subseq of sends and receives of a rank that marks no steps: no step restarts the count, so the number of the
 * first message is unknown. */
enum { TL_UNCOUNTED = INT32_MIN };

typedef struct tl_participant {
    uint64_t key; /* equal for all participants of one collective; 0: not known yet */
    int64_t start_ns, end_ns;
    int64_t launch_ns; /* TL_TIME_UNKNOWN: the launch is not in the trace */
    int64_t seq;       /* -1: unknown */
    int64_t bytes;     /* size of the message; -1: unknown */
    int64_t in_bytes, out_bytes; /* of the rank's own buffers; -1: unknown */
    uint64_t dtype;    /* content key of the type's name; 0: unknown */
    int32_t rank;
    int32_t group;  /* index of the membership; once groups are decided, the number of the group in the job */
    int32_t step;   /* -1: none */
    int32_t nth;    /* order among the participants of its membership, step and kind that have a launch, from 0; -1:
                     * no launch; of sends and receives: order among the messages from one rank to the other (of both
                     * at once: from the lower rank) */
    int32_t subseq; /* order among the participants of its membership and seq, from 0; of sends and receives: the step
                     * that nth counts in, or TL_UNCOUNTED */
    int32_t peer;   /* the other end of a send or receive, or of both at once; TL_NO_PEER, TL_PEER_UNKNOWN */
    uint32_t uid;   /* position in traceEvents */
    uint8_t kind;   /* tl_collective */
    uint8_t rule;   /* tl_match_rule */
    uint8_t size_from; /* tl_size_from */
    uint32_t previous; /* uid of the rank's previous participant in its membership; UINT32_MAX: none */
    int32_t device, stream;
    tl_activity_ns work_between_collectives; /* ns by activity, from the time that `previous` was ready to the time that
                                              * this participant was */
    tl_activity_ns work_since_step;          /* ns by activity, from the time that the last participant of the step
                                              * before was ready */
    /* The part of work_between_collectives, and of work_since_step, that is work of the step before,
     * communication left out: ns; 0 where the span does not begin in the step before. */
    int64_t after_last_ns, after_last_step_ns;
    int64_t done_ns; /* when the device had completed the step; TL_TIME_UNKNOWN outside of steps */
} tl_participant;

/* The membership of one rank in one process group. */
typedef struct tl_membership {
    uint64_t members_key; /* equal for the ranks of one group; of an inferred group: hash of the group's place among
                           * the streams */
    uint64_t name_key;
    uint64_t loose_key; /* hash of the kinds launched outside any step, in order of launch */
    int32_t rank;
    int32_t size;       /* number of ranks in the group; -1: unknown */
    uint32_t n;         /* participants */
    uint32_t nlaunched; /* participants with a launch, sends and receives not counted; of these: */
    uint32_t nseq;      /* with a seq */
    uint32_t nloose;    /* outside any step */
    uint32_t nends;     /* of these nloose: collectives that all ranks leave together */
    int64_t ends_ns[3]; /* ends of three of the nends: the first, the last one with a power of two as its number, the
                         * last */
    uint8_t collects;   /* a participant is known to be neither a send nor a receive */
    uint8_t inferred;   /* no metadata names the group: the stream and the kind of collective stand for it */
    char name[32], desc[64], ranks[64]; /* texts for people, padded with 0 */
} tl_membership;

/* The participants of some ranks, and their memberships.  Zero-initialise; tl_participants_free ends it. */
typedef struct tl_participants {
    TL_VEC(tl_participant) participants;
    TL_VEC(tl_membership) memberships;
} tl_participants;

void tl_participants_free(tl_participants *set);

/* Writes ascending ranks as text: "0-7", "0-56/8" (every eighth), "0,3,5"; cut with "..." if it does not fit. */
void tl_ranks_text(const int32_t *ranks, size_t n, char *out, size_t size);

/* Reads such a text of at most `size` bytes into ranks[most].  Returns the number of ranks; 0: the text is cut, or
 * names more than `most` ranks. */
size_t tl_ranks_of_text(const char *text, size_t size, int32_t *ranks, size_t most);

#endif
