/* mem.c - checked sizes, growth by doubling, the end of a run without memory, and allocations that fail on purpose. */
#define _GNU_SOURCE /* madvise */
#include "tlmpi/base/mem.h"
#include "tlmpi/base/part_file.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined __GLIBC__
#include <malloc.h>
#endif

/* Initial size of an array, and the size from which it grows by half instead of doubling, bytes. */
#define FIRST_BYTES 256
#define LARGE_BYTES ((size_t)64 << 20)

/* Size, bytes, from which an array has pages of its own, which move without a copy, in a process whose arrays grow.  By
 * default glibc puts such arrays into the heap once a larger one has been freed; a column freed there leaves a hole
 * that counts as used memory. */
#define GROWING_BYTES (1 << 20)

/* As GROWING_BYTES for a process whose arrays come and go: fresh pages cost more than the work on a smaller array. */
#define PASSING_BYTES (8 << 20)

/* Free bytes that are kept at the end of the heap for later allocations. */
#define SPARE_BYTES         (4 << 20)
#define PASSING_SPARE_BYTES (32 << 20)

/* Size, bytes (two large pages), from which an array has large pages, if the system has them: one page fault instead of
 * 512. */
#define LARGE_PAGES_BYTES ((size_t)4 << 20)

/* Number of allocations up to the one that fails; 0: off. */
static size_t fuse;

static bool denied(void)
{
    return fuse > 0 && --fuse == 0;
}

/* Exit code of a process that is out of memory; TL_EXIT_FAULT of job/call/exit.h. */
#define EXIT_OUT 70

static void (*ends_by)(int status);

void tl_mem_on_failure(void (*end)(int status))
{
    ends_by = end;
}

static _Noreturn void end_run(void)
{
    tl_unfinished_remove();
    if (ends_by != NULL)
        ends_by(EXIT_OUT);
    exit(EXIT_OUT);
}

_Noreturn void tl_mem_out(size_t n)
{
    fprintf(stderr,
            "tlmpi: memory is out: %zu more bytes were asked for.  Give it more memory or more hosts, or less to read "
            "(fewer ranks, --steps)\n",
            n);
    end_run();
}

_Noreturn void tl_fault(const char *what)
{
    fprintf(stderr, "tlmpi: internal fault: %s\n", what);
    end_run();
}

void tl_mem_indexable(size_t n)
{
    if (n >= UINT32_MAX - 1)
        tl_mem_out(n);
}

/* Returns the array of n requested bytes; ends the run if it is NULL. */
static void *or_end_run(void *array, size_t n)
{
    if (array == NULL)
        tl_mem_out(n);
    return array;
}

void tl_mem_expect(tl_mem_use use)
{
#if defined __GLIBC__
    mallopt(M_MMAP_THRESHOLD, use == TL_MEM_PASSING ? PASSING_BYTES : GROWING_BYTES);
    mallopt(M_TRIM_THRESHOLD, use == TL_MEM_PASSING ? PASSING_SPARE_BYTES : SPARE_BYTES);
#else
    (void)use;
#endif
}

void tl_mem_fail_after(size_t n)
{
    fuse = n;
}

/* Returns the array, with large pages for all of it: Linux cannot move a mapping with pages of two kinds.  Failures do
 * not matter. */
static void *with_large_pages(void *array, size_t n)
{
#if defined __GLIBC__ && defined MADV_HUGEPAGE
    if (n >= LARGE_PAGES_BYTES) {
        const size_t before = (uintptr_t)array % (size_t)sysconf(_SC_PAGESIZE);
        madvise((char *)array - before, before + malloc_usable_size(array), MADV_HUGEPAGE);
    }
#else
    (void)n;
#endif
    return array;
}

void *tl_malloc(size_t size)
{
    return with_large_pages(or_end_run(denied() ? NULL : malloc(size > 0 ? size : 1), size), size);
}

void *tl_realloc(void *array, size_t size)
{
    return with_large_pages(or_end_run(denied() ? NULL : realloc(array, size > 0 ? size : 1), size), size);
}

void *tl_mem_get(void *none, size_t size)
{
    (void)none;
    return tl_malloc(size);
}

void *tl_mem_resize(void *none, void *array, size_t size)
{
    (void)none;
    return tl_realloc(array, size);
}

void tl_mem_drop(void *none, void *array)
{
    (void)none;
    free(array);
}

void *tl_calloc(size_t n, size_t size)
{
    size_t bytes = size > 0 && n > SIZE_MAX / size ? SIZE_MAX : n * size;
    return with_large_pages(or_end_run(denied() || bytes == SIZE_MAX ? NULL : calloc(bytes > 0 ? bytes : 1, 1), bytes),
                            bytes);
}

/* The header of each array of an arena. */
struct tl_arena_block {
    struct tl_arena_block *before;
    max_align_t array[];
};

static void *add_block(tl_arena *arena, size_t n, size_t size, void *(*get)(size_t bytes))
{
    const size_t head = sizeof *arena->last;
    n += n == 0;
    struct tl_arena_block *block = get(size <= (SIZE_MAX - head) / n ? head + n * size : SIZE_MAX);
    block->before = arena->last;
    arena->last = block;
    return block->array;
}

static void *get_zeroed(size_t bytes)
{
    return tl_calloc(1, bytes);
}

void *tl_arena_take(tl_arena *arena, size_t n, size_t size)
{
    return add_block(arena, n, size, tl_malloc);
}

void *tl_arena_zeroed(tl_arena *arena, size_t n, size_t size)
{
    return add_block(arena, n, size, get_zeroed);
}

uint32_t *tl_malloc_none(size_t n)
{
    return memset(tl_malloc((n + 1) * sizeof(uint32_t)), 0xff, (n + 1) * sizeof(uint32_t));
}

uint32_t *tl_arena_none(tl_arena *arena, size_t n)
{
    return memset(tl_arena_take(arena, n, sizeof(uint32_t)), 0xff, n * sizeof(uint32_t));
}

void tl_arena_free(tl_arena *arena)
{
    for (struct tl_arena_block *block = arena->last, *before; block != NULL; block = before) {
        before = block->before;
        free(block);
    }
    *arena = (tl_arena){ 0 };
}

void tl_grow(void **array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return;
    if (size == 0 || need > SIZE_MAX / size)
        tl_mem_out(SIZE_MAX);

    size_t most = SIZE_MAX / size;
    size_t more = *capacity < LARGE_BYTES / size ? *capacity : *capacity / 2;
    size_t cap = *capacity <= most - more ? *capacity + more : most;
    if (cap < FIRST_BYTES / size)
        cap = FIRST_BYTES / size;
    if (cap < need)
        cap = need;

    /* The caller's pointer is a T *, accessed through a void **: its bytes are copied, never accessed as a void *. */
    void *old, *new;
    memcpy(&old, array, sizeof old);
    new = tl_realloc(old, cap * size);
    memcpy(array, &new, sizeof new);
    *capacity = cap;
}

char *tl_strndup(const char *text, size_t n)
{
    char *copy = tl_malloc(n < SIZE_MAX ? n + 1 : n);
    if (n > 0)
        memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}
