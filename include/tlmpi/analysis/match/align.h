/* align.h - which communication kernels are one collective, if only their ends can tell?
 *
 * May use: match, which gives keys to all other collectives.
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
 * Collectives for which both ranks have keys give the distance of the clocks.  Without such, it is the shift of one row
 * against the other under which kinds and sizes agree and the differences of ends scatter least.  Then the open ones
 * are matched in order, so that matched ends lie close together.
 */

typedef struct tl_align_item {
    int64_t end_ns;
    int64_t bytes;  /* -1 when unknown */
    uint64_t key;   /* 0: open */
    uint64_t dtype; /* 0 when unknown */
    uint32_t kind;  /* tl_collective */
    uint32_t padding;
} tl_align_item;

/* Fills match[i] with the place in `ref` of the same collective as mine[i], or -1: mine[i] is not open, or has no
 * partner.  Both are ascending by end_ns; all of ref have keys. */
void tl_align(const tl_align_item *mine, size_t n, const tl_align_item *ref, size_t nref, int64_t *match);

/* ----------------------------------------------------------------------------------------------------------- rounds */

/* Rows of ranks in groups are aligned in rounds, until a round finds no more: each round compares one rank of a group,
 * the reference, with the others.  The first reference is the rank with most collectives that have a key, each later
 * one the rank with most open collectives. */

/* Participants ordered by group, rank and end; the participants of one group and rank are a row.  Borrows them;
 * tl_align_rows_free ends it. */
typedef struct tl_align_rows {
    tl_participant *participants;
    uint32_t *order;
    size_t n;
} tl_align_rows;

void tl_align_rows_make(tl_align_rows *rows, tl_participant *participants, size_t n);
void tl_align_rows_free(tl_align_rows *rows);

/* The number of collectives in a row that have a key, and of open ones. */
typedef struct tl_align_tally {
    int32_t group, rank;
    uint32_t keyed, open;
} tl_align_tally;

typedef struct tl_align_reference {
    int32_t group, rank;
} tl_align_reference;

/* One collective of a reference's row, on its way to the procs that need it. */
typedef struct tl_align_sent {
    tl_align_item item;
    int32_t group;
    int32_t to; /* free for the caller's use */
} tl_align_sent;

typedef TL_VEC(tl_align_tally) tl_align_tallies;
typedef TL_VEC(tl_align_reference) tl_align_references;
typedef TL_VEC(tl_align_sent) tl_align_sents;
typedef TL_VEC(int32_t) tl_align_groups;

/* Each of these appends to out. */

void tl_align_count(const tl_align_rows *rows, tl_align_tallies *out);

/* Appends the references of the round, by group, from the tallies of all rows of the job, which are sorted here; a
 * group has none if no row would gain from one. */
void tl_align_choose(tl_align_tally *all, size_t n, bool first, tl_align_references *out);

/* Appends the rows of references that are here.  Open collectives in them get keys of their own, which other rows may
 * take over. */
void tl_align_offer(const tl_align_rows *rows, const tl_align_references *references, tl_align_sents *out);

/* Appends, ascending, the groups for which rows here need the reference. */
void tl_align_need(const tl_align_rows *rows, const tl_align_references *references, tl_align_groups *out);

/* Gives keys to open collectives here by comparing rows with references.  sent: the rows of all references that are
 * needed, in any order. */
void tl_align_round(const tl_align_rows *rows, const tl_align_references *references, const tl_align_sents *sent);

/* ------------------------------------------------------------------------------------------------------- pair align */

/* Sends and receives that have no key by counting are matched by when they ended. */

/* One rank's part in a send, a receive or both. */
typedef struct tl_pair_item {
    uint64_t key;  /* 0: open; partners have the same key */
    uint64_t lone; /* the key of an item that finds no partner */
    int64_t start_ns, end_ns;
    int32_t group, rank;
    int32_t peer;    /* -2: unknown */
    int32_t sends;   /* 1: it goes from the rank to its peer; of both at once the lower rank sends */
    int32_t proc;    /* proc that has its participant; for the caller's use */
    size_t position; /* index of its participant on that proc */
} tl_pair_item;

/* Returns the sends and receives of a set, in the set's order; the caller frees them. */
tl_pair_item *tl_pair_items_list(const tl_participants *set, int32_t proc, size_t *n);

/* Before groups are decided: returns the sends and receives of memberships that consist of nothing else and whose
 * traces do not tell the peers.  group is the number of the stream; sends is 1 for a send, -1 for a receive, 0 where
 * the trace does not tell; lone depends on the rank and its event alone.  The caller frees them. */
tl_pair_item *tl_sends_list(const tl_participants *set, int32_t proc, size_t *n);

/* Gives items of the whole job that end together a key and their peers.  If most of a row find a peer, the rest of the
 * row gets TL_PEER_UNKNOWN; other items, as of all-to-alls, keep TL_NO_PEER and no key. */
void tl_sends_align(tl_pair_item *items, size_t n);

/* Writes keys and peers to the participants; their memberships are then of sends and receives. */
void tl_sends_take(const tl_pair_item *items, size_t n, tl_participants *set);

/* Gives every open item a key, by tl_ways_align, then tl_pairs_align; items has all of each of its groups.  Neighbours
 * are not guessed in inferred groups. */
void tl_pair_items_align(tl_pair_item *items, size_t n, const tl_group_fact *groups, size_t ngroups);

/* Writes keys and peers to the participants without a key. */
void tl_pair_items_take(const tl_pair_item *items, size_t n, tl_participants *set);

/* Sends and receives whose two ranks are known.  Recordings begin at different moments, and without step marks counts
 * never restart: what the receiver recorded first may be the second that the sender has.
 *
 *     sender     [s1]..[s2].......[s3].[s4]
 *     receiver         ...[r2].......[r3].[r4]
 *
 * Matched ends are apart by the distance of the clocks, which is constant.  Of all shifts of one row against the other,
 * the ones with the least scatter of these distances remain; of these, as steps repeat, the one with the smallest
 * distance is taken.  Gives every open item whose peer is known a key. */
void tl_ways_align(tl_pair_item *items, size_t n);

/* Sends and receives whose peer is unknown.
 *
 *     0   [?].........[?].........     a chain of ranks; ?: a send and receive with an unknown rank.  A rank with one
 *     1   [?]...[?]...[?]...[?]...     neighbour alone has all of its items with it; what is left of this neighbour is
 *     2   ......[?].........[?]...     with the next rank
 *
 * Neighbours are known from items of the group whose peer is known; without any, ranks next to each other in the group
 * are neighbours.  A pure function of its input.  Gives every open item a key, and a peer if one is found.  Neighbours
 * are not guessed in groups for which guess[group] is false. */
void tl_pairs_align(tl_pair_item *items, size_t n, const bool *guess);

#endif
