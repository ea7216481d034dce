/* test_par.c - the verbs of par.h that all procs call at once, on as many procs as mpirun starts: each proc checks what
 * it sees. */
#include "bytes.h"

#define MB ((size_t)1 << 20)

static void all_well_is_agreed_on(void)
{
    tl_error err = { .text = "old words" };
    CU_ASSERT_EQUAL(tl_par_agree(TL_OK, &err), TL_OK);
    CU_ASSERT_STRING_EQUAL(err.text, "old words");
    CU_ASSERT_EQUAL(tl_par_agree(TL_OK, NULL), TL_OK);
}

/* The last proc has the worst, everyone else something; all end with its words. */
static void the_worst_is_told_everywhere(void)
{
    tl_error err = { 0 };
    tl_fail(&err, me == all - 1 ? TL_EOUTPUT : TL_EINPUT, "proc %d failed", me);
    tl_status st = tl_par_agree(err.status, &err);

    char words[40];
    snprintf(words, sizeof words, "proc %d failed", all - 1);
    CU_ASSERT_EQUAL(st, TL_EOUTPUT);
    CU_ASSERT_EQUAL(err.status, TL_EOUTPUT);
    CU_ASSERT_STRING_EQUAL(err.text, words);
}

static void of_equal_faults_the_lowest_proc_speaks(void)
{
    int first = all > 1 ? 1 : 0;
    tl_error err = { 0 };
    tl_status st = me >= first ? tl_fail(&err, TL_EINPUT, "proc %d failed", me) : TL_OK;

    char words[40];
    snprintf(words, sizeof words, "proc %d failed", first);
    CU_ASSERT_EQUAL(tl_par_agree(st, &err), TL_EINPUT);
    CU_ASSERT_STRING_EQUAL(err.text, words);
}

static void a_failure_without_words_is_told_too(void)
{
    CU_ASSERT_EQUAL(tl_par_agree(me == all / 2 ? TL_ENOMEM : TL_OK, NULL), TL_ENOMEM);
}

static void bytes_reach_all(void)
{
    /* None to more than one chunk of the sending side. */
    static const size_t sizes[] = { 0, 1, 1000, 17 * MB + 3 };
    size_t ntests = all <= 8 ? COUNT(sizes) : COUNT(sizes) - 1;

    for (size_t k = 0; k < ntests; k++) {
        unsigned char *bytes = bytes_of(me == 0 ? 0 : 77, sizes[k]);
        tl_par_bcast(bytes, sizes[k]);
        CU_ASSERT(are_bytes_of(0, bytes, sizes[k]));
        free(bytes);
    }
}

static void unequal_shares_come_in_proc_order(void)
{
    check_gather(0);
    check_gather(10);
    check_gather(100000);
    if (all <= 8)
        check_gather(9 * MB); /* of proc 2 and above in several chunks */
}

static void shares_of_one_size_come_too(void)
{
    tl_bytes out;
    tl_par_gather(&me, sizeof me, &out);
    CU_ASSERT_EQUAL_FATAL(out.n, me == 0 ? (size_t)all * sizeof me : 0);
    for (int p = 0, from; me == 0 && p < all; p++) {
        tl_bytes_get(&out, &from, sizeof from);
        CU_ASSERT_EQUAL(from, p);
    }
    tl_bytes_free(&out);
}

/* A row tells where it is from, which it was there, and where it goes. */
typedef struct travelling {
    int from, to;
    uint64_t number;
    unsigned char load[1000];
} travelling;

/* Where row i of proc p goes: everywhere, or to few, or to nobody but the last. */
static int goal_of(int p, size_t i, int way)
{
    return way == 0 ? (int)((size_t)p * 7 + i * 3 + i / 5) % all : way == 1 ? (p + 1) % all : all - 1;
}

/* How many rows proc p has: none of some, and of one more than a block. */
static size_t rows_of(int p, size_t most)
{
    return p % 3 == 1 ? 0 : p == 0 ? most : (size_t)p + 4;
}

static void check_shuffle(int way, size_t most)
{
    size_t n = rows_of(me, most), nout = 99, at = 0;
    travelling *rows = calloc(n + 1, sizeof *rows), *out = NULL;
    int32_t *to = calloc(n + 1, sizeof *to);
    if (rows == NULL || to == NULL)
        tl_par_abort(99);
    for (size_t i = 0; i < n; i++) {
        to[i] = goal_of(me, i, way);
        rows[i] = (travelling){ .from = me, .to = to[i], .number = i };
        memset(rows[i].load, byte_of(me, i), sizeof rows[i].load);
    }
    tl_par_shuffle(rows, n, sizeof *rows, to, (void **)&out, &nout);
    memset(rows, 0, n * sizeof *rows);
    for (int p = 0; p < all; p++)
        for (size_t i = 0; i < rows_of(p, most); i++) {
            if (goal_of(p, i, way) != me)
                continue;
            bool right = at < nout && out[at].from == p && out[at].number == i && out[at].to == me &&
                         out[at].load[0] == byte_of(p, i) && out[at].load[999] == byte_of(p, i);
            CU_ASSERT(right);
            at++;
        }
    CU_ASSERT_EQUAL(at, nout);
    free(rows);
    free(to);
    free(out);
}

static void rows_find_their_procs_in_order(void)
{
    for (int way = 0; way < 3; way++) {
        check_shuffle(way, 0);
        check_shuffle(way, 50);
        check_shuffle(way, all <= 8 ? 12000 : 2000); /* many blocks from proc 0, or a few */
    }
}

/* A row larger than a block is a block. */
static void rows_may_be_large(void)
{
    size_t size = all <= 8 ? 3 * MB : MB + 1, nout = 0;
    unsigned char *row = bytes_of(me, size), *out = NULL;
    int32_t to = (me + 1) % all;
    tl_par_shuffle(row, 1, size, &to, (void **)&out, &nout);
    CU_ASSERT_EQUAL(nout, 1);
    CU_ASSERT(nout == 1 && are_bytes_of((me + all - 1) % all, out, size));
    free(row);
    free(out);
}

/* All procs of a test are on one machine, and have one monotonic clock. */
static void a_barrier_waits_for_the_last_proc(void)
{
    double entered, passed;
    if (me == 0)
        sleep_ms(300);
    entered = seconds(CLOCK_MONOTONIC);
    tl_par_barrier();
    passed = seconds(CLOCK_MONOTONIC);
    tl_par_bcast(&entered, sizeof entered);
    CU_ASSERT(passed >= entered);
    tl_par_barrier();
}

/* A second of waiting for one that works (here: sleeps) costs the others next to nothing; spinning, as many as the
 * machine has cores would burn it all. */
static void waiting_burns_no_processor(void)
{
    tl_par_barrier();
    double burnt = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (me == all - 1)
        sleep_ms(1000);
    tl_par_barrier();
    burnt = seconds(CLOCK_PROCESS_CPUTIME_ID) - burnt;

    double one, sum = 0;
    tl_bytes out;
    tl_par_gather(&burnt, sizeof burnt, &out);
    while (out.at < out.n) {
        tl_bytes_get(&out, &one, sizeof one);
        sum += one;
    }
    if (me == 0)
        printf("%.1f ms a proc ... ", sum * 1000 / all);
    CU_ASSERT(sum < 0.01 * all);
    tl_bytes_free(&out);
}

/* Nor does who tells the others something, again and again, wait for naps to end. */
static void all_are_told_at_once(void)
{
    static const size_t sizes[] = { 1, 100, 257, 600, 1000, 5000 };
    static char bytes[5000];
    const int rounds = 20;

    for (size_t k = 0; k < COUNT(sizes); k++) {
        bool quick = false;
        for (int tries = 0; tries < TRIES && !quick; tries++) {
            tl_par_barrier();
            double started = seconds(CLOCK_MONOTONIC);
            for (int i = 0; i < rounds; i++)
                tl_par_bcast(bytes, sizes[k]);
            quick = all_agree(seconds(CLOCK_MONOTONIC) - started < rounds * (0.010 + 0.001 * all));
        }
        CU_ASSERT(quick);
    }
    tl_par_barrier();
}

static const unit_test tests[] = {
    TEST(all_well_is_agreed_on),
    TEST(the_worst_is_told_everywhere),
    TEST(of_equal_faults_the_lowest_proc_speaks),
    TEST(a_failure_without_words_is_told_too),
    TEST(bytes_reach_all),
    TEST(unequal_shares_come_in_proc_order),
    TEST(shares_of_one_size_come_too),
    TEST(rows_find_their_procs_in_order),
    TEST(rows_may_be_large),
    TEST(a_barrier_waits_for_the_last_proc),
    TEST(waiting_burns_no_processor),
    TEST(all_are_told_at_once),
};

int main(int argc, char **argv)
{
    return procs_main(argc, argv, "par", tests, COUNT(tests));
}
