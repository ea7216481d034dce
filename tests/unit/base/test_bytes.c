/* test_bytes.c - numbers and lists as bytes, and back; what is cut short, or tells of too many, ends the
 * run. */
#include "tlmpi/base/bytes.h"
#include "unit.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct pair {
    int64_t ns;
    uint32_t of, at;
} pair;

static const pair pairs[3] = { { -1, 2, 3 }, { INT64_MAX, 0, 1 }, { 0, UINT32_MAX, 7 } };

/* The exit status of a process that takes a number of `size` bytes, or a list of such elements, from the bytes. */
static int status_of(tl_bytes *b, size_t size, bool list)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        char number[64];
        size_t n = 0;
        void *v = NULL;
        int to = open("/dev/null", O_WRONLY);
        dup2(to, STDERR_FILENO);
        if (list)
            tl_bytes_get_list(b, &v, &n, size);
        else
            tl_bytes_get(b, number, size);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

enum { FAULT = 70 };

static void what_is_put_is_got_in_its_order(void)
{
    tl_bytes b = { 0 };
    const uint16_t number = 4711;
    uint16_t got = 0;
    pair *list = NULL;
    char *text = NULL;
    size_t n = 0;
    tl_bytes_put(&b, &number, sizeof number);
    tl_bytes_put_list(&b, pairs, 3, sizeof *pairs);
    tl_bytes_put_list(&b, "abc", 3, 1);
    CU_ASSERT_EQUAL(b.n, sizeof number + sizeof(size_t) + sizeof pairs + sizeof(size_t) + 3);
    tl_bytes_get(&b, &got, sizeof got);
    CU_ASSERT_EQUAL(got, number);
    tl_bytes_get_list(&b, (void **)&list, &n, sizeof *list);
    CU_ASSERT_EQUAL_FATAL(n, 3);
    CU_ASSERT_EQUAL(memcmp(list, pairs, sizeof pairs), 0);
    list[3] = pairs[0]; /* there is room for one more */
    tl_bytes_get_list(&b, (void **)&text, &n, 1);
    CU_ASSERT_EQUAL_FATAL(n, 3);
    text[3] = 0;
    CU_ASSERT_STRING_EQUAL(text, "abc");
    CU_ASSERT_EQUAL(b.at, b.n);
    free(list);
    free(text);
    tl_bytes_free(&b);
    CU_ASSERT(b.v == NULL && b.n == 0 && b.cap == 0 && b.at == 0);
}

static void a_list_of_none_is_one(void)
{
    tl_bytes b = { 0 };
    pair *list = NULL;
    size_t n = 5;
    tl_bytes_put_list(&b, NULL, 0, sizeof *list);
    tl_bytes_get_list(&b, (void **)&list, &n, sizeof *list);
    CU_ASSERT_EQUAL(n, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(list);
    list[0] = pairs[1];
    free(list);
    tl_bytes_get(&b, NULL, 0);
    CU_ASSERT_EQUAL(status_of(&b, 1, true), FAULT); /* and no other after it */
    tl_bytes_free(&b);
}

static void a_list_that_is_cut_short_ends_the_run(void)
{
    tl_bytes all = { 0 };
    tl_bytes_put_list(&all, pairs, 3, sizeof *pairs);
    CU_ASSERT_EQUAL(status_of(&all, sizeof *pairs, true), 0);
    for (size_t n = 0; n < all.n; n += 7) {
        tl_bytes part = { 0 };
        tl_bytes_put(&part, all.v, n);
        CU_ASSERT_EQUAL(status_of(&part, sizeof *pairs, true), FAULT);
        tl_bytes_free(&part);
    }
    tl_bytes_free(&all);
}

static void a_number_that_is_not_there_ends_the_run(void)
{
    tl_bytes b = { 0 };
    uint32_t small = 5;
    tl_bytes_put(&b, &small, sizeof small);
    CU_ASSERT_EQUAL(status_of(&b, sizeof small, false), 0);
    CU_ASSERT_EQUAL(status_of(&b, sizeof small + 1, false), FAULT);
    tl_bytes_free(&b);
}

/* Also where the count times the size is small again. */
static void a_count_that_is_too_large_ends_the_run(void)
{
    const size_t counts[] = { 4, SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / sizeof *pairs, SIZE_MAX / sizeof *pairs + 1,
                              SIZE_MAX / sizeof *pairs + 4, (size_t)1 << 63, ((size_t)1 << 60) + 2 };
    for (size_t i = 0; i < COUNT(counts); i++) {
        tl_bytes b = { 0 };
        tl_bytes_put(&b, &counts[i], sizeof counts[i]);
        tl_bytes_put(&b, pairs, sizeof pairs);
        CU_ASSERT_EQUAL(status_of(&b, sizeof *pairs, true), FAULT);
        tl_bytes_free(&b);
    }
}

static void a_number_takes_the_fewer_bytes_the_nearer_it_is_to_0(void)
{
    static const struct {
        int64_t x;
        size_t bytes;
    } numbers[] = { { 0, 1 }, { -1, 1 }, { 63, 1 }, { -64, 1 }, { 64, 2 }, { -65, 2 }, { 8191, 2 }, { 8192, 3 }, { INT64_MAX, 10 }, { INT64_MIN, 10 } };
    tl_bytes b = { 0 };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        size_t before = b.n;
        tl_bytes_put_number(&b, numbers[i].x);
        CU_ASSERT_EQUAL(b.n - before, numbers[i].bytes);
    }
    for (size_t i = 0; i < COUNT(numbers); i++)
        CU_ASSERT_EQUAL(tl_bytes_get_number(&b), numbers[i].x);
    CU_ASSERT_EQUAL(b.at, b.n);
    tl_bytes_free(&b);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_is_put_is_got_in_its_order),
        TEST(a_list_of_none_is_one),
        TEST(a_list_that_is_cut_short_ends_the_run),
        TEST(a_number_that_is_not_there_ends_the_run),
        TEST(a_count_that_is_too_large_ends_the_run),
        TEST(a_number_takes_the_fewer_bytes_the_nearer_it_is_to_0),
    };
    return unit_main("bytes", tests, COUNT(tests));
}
