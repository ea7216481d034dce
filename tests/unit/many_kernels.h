/* many_kernels.h - a rank with more kernels than anybody would draw. */
#ifndef TLMPI_TESTS_MANY_KERNELS_H
#define TLMPI_TESTS_MANY_KERNELS_H

#include "draw.h"
#include <stdlib.h>

typedef struct many {
    tl_kernel *kernels;
    tl_launch *launches;
    tl_rank_view view;
} many;

/* n kernels of 50 us, each launched `apart_ns` after the last; every 1,000th a collective on the same stream. */
static inline many many_kernels(size_t n, int64_t apart_ns)
{
    many m = { calloc(n, sizeof *m.kernels), calloc(n, sizeof *m.launches), { 0 } };
    int64_t end = 0;
    if (m.kernels == NULL || m.launches == NULL)
        abort();
    for (size_t i = 0; i < n; i++) {
        int64_t launch = (int64_t)i * apart_ns, start = launch + 4 * US > end ? launch + 4 * US : end;
        end = start + 50 * US;
        m.launches[i] = (tl_launch){ launch, launch + 3 * US, TL_NO_NAME, (uint32_t)i, 0, 1, TL_LAUNCH_OF_NOTHING };
        m.kernels[i] = (tl_kernel){ .start_ns = start, .end_ns = end, .launch_ns = launch, .correlation = (int64_t)i,
                                    .bytes = -1, .name = TL_NO_NAME, .launch = (uint32_t)i, .uid = (uint32_t)i, .stream = 7,
                                    .step = -1, .kind = i % 1000 == 999 ? TL_COMM : TL_COMPUTE };
    }
    m.view = (tl_rank_view){ .kernels = m.kernels, .nkernels = n, .launches = m.launches, .nlaunches = n };
    return m;
}

static inline void many_free(many *m)
{
    free(m->kernels);
    free(m->launches);
}

#endif
