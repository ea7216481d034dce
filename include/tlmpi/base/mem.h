/* mem.h - memory: an allocation succeeds, or the run ends.
 *
 * Memory that is out ends the run (tl_mem_out): a message, no unfinished file, all procs, exit status 70.  So no caller
 * checks a result.  A size that an input dictates is checked first (tl_mem_fits): an input that needs more than is there
 * is damaged input, and the run goes on without it.
 *
 * All growth goes through tl_grow: sizes are checked, and an array doubles until it is large, then grows by half, so
 * that an array of n elements costs O(n) in all.  A test may make the k-th allocation fail (tl_mem_fail_after).
 */
#ifndef TLMPI_BASE_MEM_H
#define TLMPI_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is mostly done with large arrays from now on: a hint that costs little. */
typedef enum tl_mem_use {
    TL_MEM_GROWING, /* arrays grow and stay: a freed array goes back to the system at once */
    TL_MEM_PASSING  /* arrays come and go: freed memory stays for the next array, 32 MB at most */
} tl_mem_use;

void tl_mem_expect(tl_mem_use use);

/* Ends the run: n bytes were asked for and are not there. */
_Noreturn void tl_mem_out(size_t n);

/* Ends the run where n elements have no 32-bit indices; UINT32_MAX is kept free, it means none. */
void tl_mem_indexable(size_t n);

/* Ends the run for a fault of the program itself, described by `what`. */
_Noreturn void tl_fault(const char *what);

/* Sets what tl_mem_out and tl_fault call to end the run, with the exit status (tl_par_abort); without it the process
 * exits alone. */
void tl_mem_on_failure(void (*end)(int status));

/* Whether n more bytes are there: below the limits on the process and on its group (ulimit -v, cgroup), and in the
 * machine.  For a size that an input dictates, and for a library that allocates by itself. */
bool tl_mem_fits(size_t n);

/* Sets how much memory this process should have resident, which nothing enforces: `most` bytes; with 0 three quarters
 * of what the machine and the group have left, divided by `procs`. */
void tl_mem_set_limit(uint64_t most, int procs);

/* Whether n more bytes stay below that. */
bool tl_mem_within_limit(size_t n);

/* n * size zeroed bytes.  Free with free(). */
void *tl_calloc(size_t n, size_t size);

/* n indices, each UINT32_MAX: none.  Free with free(). */
uint32_t *tl_malloc_none(size_t n);

/* Free with free(). */
void *tl_malloc(size_t size);
void *tl_realloc(void *array, size_t size);

/* The same for a library that takes functions, as yajl, which checks none of its allocations. */
void *tl_mem_get(void *none, size_t size);
void *tl_mem_resize(void *none, void *array, size_t size);
void tl_mem_drop(void *none, void *array);

/* Makes room for at least `need` elements of `size` bytes in *array, whose capacity is *capacity elements.
 * The elements stay. */
void tl_grow(void **array, size_t *capacity, size_t need, size_t size);

/* The arrays of one phase, which end together.
 *
 *     tl_arena arena = { 0 };
 *     int64_t *due = tl_arena_take(&arena, n, sizeof *due);
 *     bool *late = tl_arena_zeroed(&arena, n, sizeof *late);
 *     find_late(due, late, n);
 *     tl_arena_free(&arena);
 *
 * Each array is an allocation of its own: none grows, and a large one goes back to the system. */
typedef struct tl_arena {
    struct tl_arena_block *last;
} tl_arena;

/* n * size bytes (room for one element at least), not initialised; tl_arena_zeroed: zeroed. */
void *tl_arena_take(tl_arena *arena, size_t n, size_t size);
void *tl_arena_zeroed(tl_arena *arena, size_t n, size_t size);

/* n indices, each UINT32_MAX: none. */
uint32_t *tl_arena_none(tl_arena *arena, size_t n);

/* Ends all its arrays.  It may be used again, as one that is new. */
void tl_arena_free(tl_arena *arena);

/* A copy of the first n bytes of text with a 0 after it. */
char *tl_strndup(const char *text, size_t n);

/* For tests: of the allocations through this header the n-th fails (1 is the next).  0 turns it off. */
void tl_mem_fail_after(size_t n);

/* A growing array of T: { T *v; size_t n, cap; }.  Zero-initialise; free(vec.v) ends it. */
#define TL_VEC(T)                                                                                                      \
    struct {                                                                                                           \
        T *v;                                                                                                          \
        size_t n, cap;                                                                                                 \
    }

/* Room for one more: vec->v[vec->n] may be written. */
#define tl_vec_room(vec)                                                                                               \
    ((vec)->n < (vec)->cap ? (void)0 : tl_grow((void **)&(vec)->v, &(vec)->cap, (vec)->n + 1, sizeof *(vec)->v))

/* What a macro declares has no parentheses.  NOLINTBEGIN(bugprone-macro-parentheses) */
/* Appends a value to a TL_VEC; all but the first argument is the value. */
#define tl_vec_push(vec, ...) (tl_vec_room(vec), (void)((vec)->v[(vec)->n++] = __VA_ARGS__))

/* For each element x of a TL_VEC, a T: a loop; T may be const. */
#define TL_EACH(T, x, vec) for (T *x = (vec).v, *const x##_end = (vec).n > 0 ? x + (vec).n : x; x != x##_end; x++)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
