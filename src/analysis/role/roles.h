/* roles.h - which ranks do the same: the stages of a pipeline.
 *
 *     0 -> 2 -> 4 -> 6      ranks that send to one another are one pipeline; a rank's place in it, counted from its
 *     1 -> 3 -> 5 -> 7      lowest rank, is its stage: here 0 and 1 are of one role, 2 and 3 of the next
 *
 * Ranks of different stages have different work, and a stage's waiting for the one before it is nobody's fault: only
 * ranks of one role are compared.
 */
#ifndef ANALYSIS_ROLE_ROLES_H
#define ANALYSIS_ROLE_ROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two ranks, as indices in ascending order of rank, that exchanged messages between the two of them. */
typedef struct tl_rank_pair {
    uint32_t a, b;
} tl_rank_pair;

/* Fills roles[nranks], numbers from 0.  All ranks have role 0 where there are no pairs, where the pipelines are not of
 * one length, or where they are no pipelines (some rank has more than four partners).  False when memory is out. */
bool tl_roles_of(const tl_rank_pair *pairs, size_t npairs, size_t nranks, int32_t *roles);

#endif
