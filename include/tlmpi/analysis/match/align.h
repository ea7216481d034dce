/* align.h - which communication kernels are one collective, where nothing but their ends tells?
 *
 * May use: match, which gives all others their keys.
 */
#ifndef TLMPI_ANALYSIS_MATCH_ALIGN_H
#define TLMPI_ANALYSIS_MATCH_ALIGN_H

#include "tlmpi/analysis/match.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------------------ align */

/* Which collectives of two ranks of one group are the same, by when they ended.
 *
 *     reference   [A ]..[B ]....[C]..[D ]...[E ]
 *     mine          .....[b]....[c]..[d ]...[e ]      open: b, which was launched before the window; c, d, e have keys
 *
 * What both have keys for tells how far the clocks are apart; where nothing does, the shift of one row against the
 * other under which kinds and sizes agree and the differences of ends scatter least.  Then the open ones are matched in
 * order, so that matched ends lie close together.
 */

typedef struct tl_align_item {
    int64_t end_ns;
    int64_t bytes;  /* -1 when unknown */
    uint64_t key;   /* 0: open */
    uint64_t dtype; /* 0 when unknown */
    uint32_t kind;  /* tl_collective */
    uint32_t padding;
} tl_align_item;

/* match[i] = the place in `ref` of the same collective as mine[i], or -1: mine[i] is not open, or has no partner.  Both
 * ascending by end_ns; all of ref have keys. */
void tl_align(const tl_align_item *mine, size_t n, const tl_align_item *ref, size_t nref, int64_t *match);

/* ----------------------------------------------------------------------------------------------------------- rounds */

/* Rows of ranks in groups, until nothing more is found: in each round the others of a group are compared with one of
 * its ranks, the reference.  The first reference is the rank of whose collectives most have a key, the next the one
 * with most that are still open. */

/* Some participants by group, rank and end: those of one group and rank are a row.  Borrows them; tl_align_rows_free
 * ends it. */
typedef struct tl_align_rows {
    tl_participant *participants;
    uint32_t *order;
    size_t n;
} tl_align_rows;

void tl_align_rows_make(tl_align_rows *rows, tl_participant *participants, size_t n);
void tl_align_rows_free(tl_align_rows *rows);

/* How many of a row have a key, how many are open. */
typedef struct tl_align_tally {
    int32_t group, rank;
    uint32_t keyed, open;
} tl_align_tally;

typedef struct tl_align_reference {
    int32_t group, rank;
} tl_align_reference;

/* One of a reference's row, on its way to those who need it. */
typedef struct tl_align_sent {
    tl_align_item item;
    int32_t group;
    int32_t to; /* the caller's */
} tl_align_sent;

typedef TL_VEC(tl_align_tally) tl_align_tallies;
typedef TL_VEC(tl_align_reference) tl_align_references;
typedef TL_VEC(tl_align_sent) tl_align_sents;
typedef TL_VEC(int32_t) tl_align_groups;

/* Each of these appends to out. */

void tl_align_count(const tl_align_rows *rows, tl_align_tallies *out);

/* From the tallies of all rows of the job, which are put in order: the references of the round, by group; none for
 * groups in which one would serve nobody. */
void tl_align_choose(tl_align_tally *all, size_t n, bool first, tl_align_references *out);

/* The rows of references that are here.  What is open in them gets keys of its own, which others may take on. */
void tl_align_offer(const tl_align_rows *rows, const tl_align_references *references, tl_align_sents *out);

/* The groups of whose references the rows here need to know, ascending. */
void tl_align_need(const tl_align_rows *rows, const tl_align_references *references, tl_align_groups *out);

/* Gives keys to what is open here and matches the rows of references: all that are needed, in any order. */
void tl_align_round(const tl_align_rows *rows, const tl_align_references *references, const tl_align_sents *sent);

/* ------------------------------------------------------------------------------------------------------- pair align */

/* Sends and receives that counting does not match: by when they ended. */

/* One rank's part in a send, a receive or both. */
typedef struct tl_pair_item {
    uint64_t key;  /* 0: open; of what has a partner the same on both sides */
    uint64_t lone; /* the key that it gets alone */
    int64_t start_ns, end_ns;
    int32_t group, rank;
    int32_t peer;    /* -2: unknown */
    int32_t sends;   /* 1: it goes from the rank to its peer; of both at once the lower rank sends */
    int32_t proc;    /* whose it is: the caller's */
    size_t position; /* of its participant there */
} tl_pair_item;

/* The sends and receives of a set, in their order; the caller frees them. */
tl_pair_item *tl_pair_items_list(const tl_participants *set, int32_t proc, size_t *n);

/* Before groups are decided: the sends and receives of a set whose traces tell nothing but that they are such, whole
 * memberships of them; group is the number of the stream, lone knows the rank and its event alone.  The caller frees
 * them. */
tl_pair_item *tl_sends_list(const tl_participants *set, int32_t proc, size_t *n);

/* Gives those of the whole job that end with one another a key and their peer; what is left of a row of which most have
 * one, TL_PEER_UNKNOWN; others, as those of all-to-alls, keep TL_NO_PEER and no key. */
void tl_sends_align(tl_pair_item *items, size_t n);

/* What was found, to the participants; their memberships are of sends and receives then. */
void tl_sends_take(const tl_pair_item *items, size_t n, tl_participants *set);

/* Gives every open item of some groups, all of whose items are there, a key, as the two below have it; no neighbours
 * are guessed where the group is inferred. */
void tl_pair_items_align(tl_pair_item *items, size_t n, const tl_group_fact *groups, size_t ngroups);

/* What was found, to the participants without a key. */
void tl_pair_items_take(const tl_pair_item *items, size_t n, tl_participants *set);

/* Those that are known between whom.  Recordings begin raggedly, and where no step is marked nothing begins the counts
 * anew: what the receiver recorded first may be the second that the sender has.
 *
 *     sender     [s1]..[s2].......[s3].[s4]
 *     receiver         ...[r2].......[r3].[r4]
 *
 * Both end together, but for the distance of the clocks, which is one: of all shifts of the one against the other,
 * those under which the differences of ends scatter least, and of these, as steps repeat, the one under which ends lie
 * least apart.  Gives every open item whose peer is known a key. */
void tl_ways_align(tl_pair_item *items, size_t n);

/* Those of which nobody says between whom.
 *
 *     0   [?].........[?].........     a chain of ranks; ?: a send and receive with nobody knows whom.  Who has one
 *     1   [?]...[?]...[?]...[?]...     neighbour alone has all of them with that one; what is left of his neighbour is
 *     2   ......[?].........[?]...     with the next
 *
 * Who neighbours are is known from what is known of others of the group; where nothing is, those next to each other in
 * the group are.  A pure function of its input.  Gives every open item a key, and those for which one is found a peer.
 * No neighbours are guessed in groups that guess[group] is false for. */
void tl_pairs_align(tl_pair_item *items, size_t n, const bool *guess);

#endif
