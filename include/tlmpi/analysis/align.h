/* align.h - which collectives of two ranks of one group are the same, by when they ended.
 *
 *     reference   [A ]..[B ]....[C]..[D ]...[E ]
 *     mine          .....[b]....[c]..[d ]...[e ]      open: b, which was launched before the window; c, d, e have keys
 *
 * What both have keys for tells how far the clocks are apart; where nothing does, the shift of one row against the
 * other under which kinds and sizes agree and the differences of ends scatter least.  Then the open ones are matched in
 * order, so that matched ends lie close together.
 */
#ifndef TLMPI_ANALYSIS_ALIGN_H
#define TLMPI_ANALYSIS_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tl_align_item {
    int64_t end_ns;
    int64_t bytes;  /* -1 when unknown */
    uint64_t key;   /* 0: open */
    uint64_t dtype; /* 0 when unknown */
    uint32_t kind;  /* tl_collective */
    uint32_t padding;
} tl_align_item;

/* match[i] = the place in `ref` of the same collective as mine[i], or -1: mine[i] is not open, or has no partner.  Both
 * ascending by end_ns; all of ref have keys.  False when memory is out. */
bool tl_align(const tl_align_item *mine, size_t n, const tl_align_item *ref, size_t nref, int64_t *match);

#endif
