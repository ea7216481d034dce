/* compare.h - the cells of a step against the same cells of other ranks. */
#ifndef ANALYSIS_USUAL_COMPARE_H
#define ANALYSIS_USUAL_COMPARE_H

#include "peers.h"

/* A time, and whose it is. */
typedef struct tl_number {
    int64_t ns;
    size_t of;
} tl_number;

typedef struct tl_comparing {
    tl_whatif *w;
    size_t medians_cap, compared_cap, first_cap, ncompared;
    tl_block *common;   /* scratch, as many as there are blocks */
    tl_number *numbers; /* scratch, as many as there are cells or blocks */
} tl_comparing;

/* The k-th cell of a block, from its end where `back`. */
tl_cell *tl_cell_at(const tl_comparing *c, const tl_block *b, size_t k, bool back);

/* Compares the k-th cells of n blocks: the medians become what is expected of them.  False when memory is out. */
bool tl_compare_cells(tl_comparing *c, const tl_block *v, size_t n, size_t k, bool back);

/* Takes what is chance off the surpluses of n blocks whose cells have been compared. */
void tl_balance_all(tl_comparing *c, const tl_block *v, size_t n);

/* Both, for blocks of one structure and their cells [from, to).  False when memory is out. */
bool tl_compare_blocks(tl_comparing *c, const tl_block *v, size_t n, size_t from, size_t to);

/* One block against the sums of n others, itself left out where it is among them. */
void tl_compare_sums(tl_comparing *c, const tl_block *b, const tl_block *v, size_t n);

/* Recordings that end in turn end in a step, whatever its mark says: of n ranks of a role some have less of their last
 * one than others, and what they have is the beginning of it. */
void tl_end_in_turn(const tl_comparing *c, tl_block *v, size_t n);

/* A step in which some recordings begin, or end: compared from the other side, as far as each has it.  Those that do
 * not agree with the longest are left out.  False when memory is out. */
bool tl_compare_cut(tl_comparing *c, const tl_block *v, size_t n);

#endif
