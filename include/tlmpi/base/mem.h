/* mem.h - memory: an allocation succeeds, or the run ends.
 *
 * Lack of memory ends the run (tl_mem_out): a message, unfinished files removed, all procs ended, exit status 70.  So
 * no caller checks a result.  A size that an input dictates is checked first (tl_mem_fits): an input that needs more
 * than is available is damaged input, and the run continues without it.
 *
 * All growth goes through tl_grow: sizes are checked, and an array doubles until it is large, then grows by half, so
 * that an array of n elements costs O(n) in total.  A test may make the k-th allocation fail (tl_mem_fail_after).
 */
#ifndef TLMPI_BASE_MEM_H
#define TLMPI_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The main use of large arrays from now on, a hint for the allocator. */
typedef enum tl_mem_use {
    TL_MEM_GROWING, /* arrays grow and stay: a freed array is returned to the system at once */
    TL_MEM_PASSING  /* arrays come and go: freed memory is kept for the next array, at most 32 MB */
} tl_mem_use;

void tl_mem_expect(tl_mem_use use);

/* Ends the run: n bytes were requested and are not available. */
_Noreturn void tl_mem_out(size_t n);

/* Ends the run if n elements cannot have 32-bit indices; UINT32_MAX is reserved for "none". */
void tl_mem_indexable(size_t n);

/* Ends the run because of an error in the program, described by `what`. */
_Noreturn void tl_fault(const char *what);

/* Sets the function by which tl_mem_out and tl_fault end the run, with the exit status (tl_par_abort); without one the
 * process exits alone. */
void tl_mem_on_failure(void (*end)(int status));

/* Whether n more bytes are available: below the limits of the process and of its group (ulimit -v, cgroup), and in the
 * machine.  For a size that an input dictates, and for a library that allocates by itself. */
bool tl_mem_fits(size_t n);

/* Sets the resident memory that this process should not exceed (not enforced): `most` bytes; 0: three quarters of what
 * the machine and the group have left, divided by `procs`. */
void tl_mem_set_limit(uint64_t most, int procs);

/* Whether the process stays below that limit with n more bytes. */
bool tl_mem_within_limit(size_t n);

/* Returns n * size zeroed bytes.  Free with free(). */
void *tl_calloc(size_t n, size_t size);

/* Returns n indices, each UINT32_MAX: none.  Free with free(). */
uint32_t *tl_malloc_none(size_t n);

/* Free with free(). */
void *tl_malloc(size_t size);
void *tl_realloc(void *array, size_t size);

/* Allocation functions for a library that takes such, as yajl, which does not check results. */
void *tl_mem_get(void *none, size_t size);
void *tl_mem_resize(void *none, void *array, size_t size);
void tl_mem_drop(void *none, void *array);

/* Makes room for at least `need` elements of `size` bytes in *array, whose capacity is *capacity elements, and keeps
 * the elements. */
void tl_grow(void **array, size_t *capacity, size_t need, size_t size);

/* The arrays of one phase, which are freed together.
 *
 *     tl_arena arena = { 0 };
 *     int64_t *due = tl_arena_take(&arena, n, sizeof *due);
 *     bool *late = tl_arena_zeroed(&arena, n, sizeof *late);
 *     find_late(due, late, n);
 *     tl_arena_free(&arena);
 *
 * Each array is a separate allocation: it cannot grow, and a large one is returned to the system when freed. */
typedef struct tl_arena {
    struct tl_arena_block *last;
} tl_arena;

/* Returns n * size bytes (at least one element), not initialised; tl_arena_zeroed: zeroed. */
void *tl_arena_take(tl_arena *arena, size_t n, size_t size);
void *tl_arena_zeroed(tl_arena *arena, size_t n, size_t size);

/* Returns n indices, each UINT32_MAX: none. */
uint32_t *tl_arena_none(tl_arena *arena, size_t n);

/* Frees all arrays.  The arena is then empty and may be used again. */
void tl_arena_free(tl_arena *arena);

/* Returns a copy of the first n bytes of text, followed by a 0. */
char *tl_strndup(const char *text, size_t n);

/* For tests: makes the n-th allocation through this header fail (1 is the next). 0 turns it off. */
void tl_mem_fail_after(size_t n);

/* A growing array of T: { T *v; size_t n, cap; }.  Zero-initialise; free(vec.v) ends it. */
#define TL_VEC(T)                                                                                                      \
    struct {                                                                                                           \
        T *v;                                                                                                          \
        size_t n, cap;                                                                                                 \
    }

/* Makes room for one more element: vec->v[vec->n] may be written. */
#define tl_vec_room(vec)                                                                                               \
    ((vec)->n < (vec)->cap ? (void)0 : tl_grow((void **)&(vec)->v, &(vec)->cap, (vec)->n + 1, sizeof *(vec)->v))

/* What a macro declares has no parentheses.  NOLINTBEGIN(bugprone-macro-parentheses) */
/* Appends a value to a TL_VEC; everything after the first argument is the value. */
#define tl_vec_push(vec, ...) (tl_vec_room(vec), (void)((vec)->v[(vec)->n++] = __VA_ARGS__))

/* For each element x of a TL_VEC, a T: a loop; T may be const. */
#define TL_EACH(T, x, vec) for (T *x = (vec).v, *const x##_end = (vec).n > 0 ? x + (vec).n : x; x != x##_end; x++)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
