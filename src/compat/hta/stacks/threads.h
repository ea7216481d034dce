/* threads.h - the rows of a rank by thread: by pid and tid, in the order in which pandas groups them. */
#ifndef TLMPI_COMPAT_HTA_STACKS_THREADS_H
#define TLMPI_COMPAT_HTA_STACKS_THREADS_H

#include "tlmpi/compat/hta/frame/frame.h"

typedef struct tl_hta_thread {
    const tl_track *track;
    const uint32_t *at; /* positions of its rows, ascending */
    size_t n;           /* one at least */
} tl_hta_thread;

/* Zero-initialise; tl_hta_threads_free ends it. */
typedef struct tl_hta_threads {
    tl_arena arena;
    tl_hta_thread *v;
    size_t n;
} tl_hta_threads;

/* False: memory is out. */
bool tl_hta_threads_of(tl_hta_threads *threads, const tl_hta_frame *frame);
void tl_hta_threads_free(tl_hta_threads *threads);

#endif
