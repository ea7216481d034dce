/* mem.h - memory that says no instead of overflowing.
 *
 * All growth goes through tl_grow: sizes are checked, and an array doubles until it is large, then grows by half, so
 * that an array of n elements costs O(n) in all.  A test may make the k-th allocation fail (tl_mem_fail_after).
 */
#ifndef TLMPI_BASE_MEM_H
#define TLMPI_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* What is mostly done with large arrays from now on; it costs little to say so. */
typedef enum tl_mem_use {
    TL_MEM_GROWING, /* they grow and stay: each goes back to the system when it is freed, whatever was freed before */
    TL_MEM_PASSING  /* they come and go: what was freed stays for the next, 32 MB of it at most */
} tl_mem_use;

void tl_mem_expect(tl_mem_use use);

/* n * size zeroed bytes, NULL when they are not to be had or n * size overflows.  Free with free(). */
void *tl_calloc(size_t n, size_t size);

/* malloc that a test can make fail.  Free with free(). */
void *tl_malloc(size_t size);

/* Makes room for at least `need` elements of `size` bytes in *array, whose capacity is *capacity elements.
 * The elements stay; on failure (false) both are as they were. */
bool tl_grow(void **array, size_t *capacity, size_t need, size_t size);

/* The arrays of one phase, which end together; whether all were to be had is asked once.
 *
 *     tl_arena arena = { 0 };
 *     int64_t *due = tl_arena_take(&arena, n, sizeof *due);
 *     bool *late = tl_arena_zeroed(&arena, n, sizeof *late);
 *     bool ok = !arena.failed && find_late(due, late, n);
 *     tl_arena_free(&arena);
 *
 * Each array is an allocation of its own: none grows, and a large one goes back to the system. */
typedef struct tl_arena {
    struct tl_arena_block *last;
    bool failed; /* an array was not to be had: NULL was returned for it */
} tl_arena;

/* n * size bytes (room for one element at least); what is in them is not known, or 0. */
void *tl_arena_take(tl_arena *arena, size_t n, size_t size);
void *tl_arena_zeroed(tl_arena *arena, size_t n, size_t size);

/* Ends all its arrays.  It may be used again, as one that is new. */
void tl_arena_free(tl_arena *arena);

/* A copy of the first n bytes of text with a 0 after it; NULL when memory is out. */
char *tl_strndup(const char *text, size_t n);

/* Whether n bytes are to be had just now: for a library that takes memory without asking whether it got any. */
bool tl_mem_has(size_t n);

/* For tests: of the allocations through this header the n-th fails (1 is the next), and it alone: what is large may not
 * be to be had where what is asked for after it is.  0 turns it off. */
void tl_mem_fail_after(size_t n);

/* A growing array of T: { T *v; size_t n, cap; }.  Zero-initialise; free(vec.v) ends it. */
#define TL_VEC(T)                                                                                                      \
    struct {                                                                                                           \
        T *v;                                                                                                          \
        size_t n, cap;                                                                                                 \
    }

/* Room for one more: true when vec->v[vec->n] may be written. */
#define tl_vec_room(vec)                                                                                               \
    ((vec)->n < (vec)->cap || tl_grow((void **)&(vec)->v, &(vec)->cap, (vec)->n + 1, sizeof *(vec)->v))

#endif
