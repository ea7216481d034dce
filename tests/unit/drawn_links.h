/* drawn_links.h - transfers of groups, drawn.
 *
 * A drawing has a line for each group and a digit for each step: what its transfers of that step take, in tenths of a
 * millisecond; a step takes 5 ms.  Groups are of `size` ranks: 0 .. size - 1, size .. 2 size - 1, ... */
#ifndef TLMPI_TESTS_DRAWN_LINKS_H
#define TLMPI_TESTS_DRAWN_LINKS_H

#include "src/analysis/link/slow_link.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/view.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum { ENDS_MAX = 4096, STEPS_MAX = 32, UNIT_NS = 100000, STEP_NS = 5000000 };

static tl_link_end ends[ENDS_MAX];
static tl_link_collective collectives[ENDS_MAX];
static double step_ns[STEPS_MAX];
static tl_link_input input;
static size_t nends;
static tl_slow_links links;

static inline void begin(void)
{
    tl_slow_links_free(&links);
    nends = 0;
    input = (tl_link_input){ ends, collectives, 0, step_ns, 0, NULL };
    for (size_t i = 0; i < STEPS_MAX; i++)
        step_ns[i] = STEP_NS;
}

/* One collective of `n` ranks from `first` on, which all take ns. */
static inline tl_link_collective *meet(uint32_t first, uint32_t n, uint32_t step, int64_t ns)
{
    tl_link_collective *c = &collectives[input.ncollectives++];
    *c = (tl_link_collective){
        .first = (uint32_t)nends, .n = n, .step = step, .bytes = 4096, .kind = TL_ALL_REDUCE, .span = TL_SPAN_INTRA_NODE
    };
    for (uint32_t k = 0; k < n; k++) {
        int64_t start = (int64_t)step * STEP_NS;
        ends[nends++] = (tl_link_end){ start, start + ns, start + ns, first + k };
    }
    if (step >= input.nsteps)
        input.nsteps = step + 1;
    return c;
}

static inline void draw_groups(uint32_t size, const char *const *lines)
{
    begin();
    for (uint32_t s = 0; lines[0][s] != 0; s++)
        for (uint32_t g = 0; lines[g] != NULL; g++)
            meet(g * size, size, s, (lines[g][s] - '0') * (int64_t)UNIT_NS);
}

static inline void find(void)
{
    tl_error err;
    tl_slow_links_free(&links);
    CU_ASSERT_EQUAL_FATAL(tl_slow_links_find(&input, &links, &err), TL_OK);
}

#define DRAW(size, ...) draw_groups(size, (const char *const[]){ __VA_ARGS__, NULL })

static inline int links_main(const char *name, const unit_test *tests, size_t n)
{
    int failed = unit_main(name, tests, n);
    tl_slow_links_free(&links);
    return failed;
}

#endif
