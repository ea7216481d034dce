/* test_par.c - every verb of par.h, on as many procs as mpirun starts: each proc checks what it sees, proc 0 speaks. */
#include "../unit/unit.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/par/par.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MB ((size_t)1 << 20)

static int me, all;

/* Byte i of what proc `from` sends. */
static unsigned char byte_of(int from, size_t i)
{
    return (unsigned char)((size_t)from * 131 + i * 7 + (i >> 12));
}

static unsigned char *bytes_of(int from, size_t n)
{
    unsigned char *bytes = malloc(n > 0 ? n : 1);
    if (bytes == NULL)
        tl_par_abort(99);
    for (size_t i = 0; i < n; i++)
        bytes[i] = byte_of(from, i);
    return bytes;
}

static bool are_bytes_of(int from, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != byte_of(from, i))
            return false;
    return true;
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

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
    /* None to more than one piece of the sending side. */
    static const size_t sizes[] = { 0, 1, 1000, 17 * MB + 3 };
    size_t ntests = all <= 8 ? COUNT(sizes) : COUNT(sizes) - 1;

    for (size_t k = 0; k < ntests; k++) {
        unsigned char *bytes = bytes_of(me == 0 ? 0 : 77, sizes[k]);
        tl_par_bcast(bytes, sizes[k]);
        CU_ASSERT(are_bytes_of(0, bytes, sizes[k]));
        free(bytes);
    }
}

/* How much proc p gives: nothing, a little, much. */
static size_t share_of(int p, size_t unit)
{
    return p % 3 == 1 ? 0 : (size_t)p * unit + (p % 2 == 0);
}

static void check_gather(size_t unit)
{
    size_t mine = share_of(me, unit), n = 99, *sizes = calloc((size_t)all, sizeof *sizes);
    unsigned char *bytes = bytes_of(me, mine), *out = NULL;
    CU_ASSERT(sizes != NULL);

    CU_ASSERT_EQUAL(tl_par_gather(bytes, mine, (void **)&out, &n, sizes, NULL), TL_OK);
    if (me == 0) {
        size_t at = 0;
        for (int p = 0; p < all && sizes != NULL; p++) {
            CU_ASSERT_EQUAL(sizes[p], share_of(p, unit));
            CU_ASSERT(are_bytes_of(p, out + at, sizes[p]));
            at += sizes[p];
        }
        CU_ASSERT_EQUAL(n, at);
    } else {
        CU_ASSERT_PTR_NULL(out);
        CU_ASSERT_EQUAL(n, 0);
    }
    free(out);
    free(bytes);
    free(sizes);
}

static void unequal_shares_come_in_proc_order(void)
{
    check_gather(0);
    check_gather(10);
    check_gather(100000);
    if (all <= 8)
        check_gather(9 * MB); /* of proc 2 and above in several pieces */
}

static void shares_without_sizes_come_too(void)
{
    int *out = NULL;
    size_t n = 0;
    CU_ASSERT_EQUAL(tl_par_gather(&me, sizeof me, (void **)&out, &n, NULL, NULL), TL_OK);
    for (int p = 0; me == 0 && p < all; p++)
        CU_ASSERT_EQUAL(out[p], p);
    CU_ASSERT_EQUAL(n, me == 0 ? (size_t)all * sizeof me : 0);
    free(out);
}

/* Everybody knows, and nobody hangs; the next gather works. */
static void a_gather_without_memory_fails_on_every_proc(void)
{
    tl_error err = { 0 };
    void *out = NULL;
    size_t n = 0;
    if (me == 0)
        tl_mem_fail_after(1);
    tl_status st = tl_par_gather(&me, sizeof me, &out, &n, NULL, &err);
    tl_mem_fail_after(0);
    CU_ASSERT_EQUAL(st, TL_ENOMEM);
    CU_ASSERT_PTR_NULL(out);
    CU_ASSERT_EQUAL(n, 0);
    shares_without_sizes_come_too();
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
    CU_ASSERT_EQUAL(tl_par_shuffle(rows, n, sizeof *rows, to, (void **)&out, &nout, NULL), TL_OK);
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
    CU_ASSERT_EQUAL(tl_par_shuffle(row, 1, size, &to, (void **)&out, &nout, NULL), TL_OK);
    CU_ASSERT_EQUAL(nout, 1);
    CU_ASSERT(nout == 1 && are_bytes_of((me + all - 1) % all, out, size));
    free(row);
    free(out);
}

/* All know, and nobody hangs; the next one works. */
static void a_shuffle_without_memory_fails_everywhere(void)
{
    for (size_t k = 1; k <= 10; k++) {
        int32_t to = 0;
        void *out = NULL;
        size_t nout = 1;
        tl_error err = { 0 };
        if (me == all - 1)
            tl_mem_fail_after(k);
        tl_status st = tl_par_shuffle(&me, 1, sizeof me, &to, &out, &nout, &err);
        tl_mem_fail_after(0);
        CU_ASSERT(all == 1 || st == TL_ENOMEM);
        CU_ASSERT(st == TL_OK || (out == NULL && nout == 0));
        free(out);
    }
    check_shuffle(0, 10);
}

static void nobody_passes_a_barrier_early(void)
{
    double started = seconds(CLOCK_MONOTONIC);
    if (me == all - 1)
        sleep_ms(300);
    tl_par_barrier();
    CU_ASSERT(seconds(CLOCK_MONOTONIC) - started > 0.25 || me == all - 1);
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

    double *out = NULL, sum = 0;
    size_t n = 0;
    CU_ASSERT_EQUAL(tl_par_gather(&burnt, sizeof burnt, (void **)&out, &n, NULL, NULL), TL_OK);
    for (size_t i = 0; i < n / sizeof *out; i++)
        sum += out[i];
    if (me == 0)
        printf("%.1f ms a proc ... ", sum * 1000 / all);
    CU_ASSERT(sum < 0.01 * all);
    free(out);
}

struct inbox {
    size_t got, nbytes;
    bool right;
};

/* Takes what has come; each message says by its tag how long it is, in units of 10,000 bytes. */
static void take_all(void *arg)
{
    struct inbox *inbox = arg;
    tl_envelope m;

    while (tl_par_probe(&m)) {
        unsigned char *bytes = malloc(m.n > 0 ? m.n : 1);
        if (bytes == NULL)
            tl_par_abort(99);
        tl_par_take(&m, bytes);
        inbox->right = inbox->right && m.n == (size_t)m.tag * 10000 && are_bytes_of(m.from, bytes, m.n);
        inbox->nbytes += m.n;
        inbox->got++;
        free(bytes);
    }
}

static void send_units(int to, int units, struct inbox *inbox)
{
    unsigned char *bytes = bytes_of(me, (size_t)units * 10000);
    tl_par_send(to, units, bytes, (size_t)units * 10000, take_all, inbox);
    free(bytes);
}

static void wait_for_messages(struct inbox *inbox, size_t n)
{
    unsigned spins = 0;
    while (inbox->got < n) {
        take_all(inbox);
        tl_par_nap(&spins);
    }
}

/* Neighbours send each other 10 MB at once: nobody could send if nobody took while it waits. */
static void large_messages_cross(void)
{
    struct inbox inbox = { .right = true };
    int units = all <= 8 ? 1000 : 100;

    if (all > 1) {
        send_units((me + 1) % all, units, &inbox);
        send_units((me + all - 1) % all, units, &inbox);
        wait_for_messages(&inbox, 2);
    }
    CU_ASSERT(inbox.right);
    CU_ASSERT_EQUAL(inbox.nbytes, all > 1 ? 2 * (size_t)units * 10000 : 0);
    tl_par_barrier();
}

/* Proc 0 naps while all others send to it, as a writer does that is late. */
static void a_napping_proc_gets_everything_in_the_end(void)
{
    struct inbox inbox = { .right = true };

    if (me == 0) {
        sleep_ms(200);
        wait_for_messages(&inbox, 5 * (size_t)(all - 1));
    } else {
        for (int k = 0; k < 5; k++)
            send_units(0, k * 30, &inbox);
    }
    CU_ASSERT(inbox.right);
    CU_ASSERT_EQUAL(inbox.nbytes, me == 0 ? 300 * 10000 * (size_t)(all - 1) : 0);
    tl_par_barrier();
    tl_envelope m;
    CU_ASSERT_FALSE(tl_par_probe(&m));
    tl_par_barrier();
}

/* One sender's messages arrive in the order in which they were sent, to another proc or to itself. */
static void messages_keep_their_order(void)
{
    int next = (me + 1) % all, taken = 0;
    unsigned spins = 0;

    for (int i = 0; i < 100; i++)
        tl_par_send(next, i, &i, i % 2 ? sizeof i : 0, NULL, NULL);
    while (taken < 100) {
        tl_envelope m;
        int i = -1;
        if (!tl_par_probe(&m)) {
            tl_par_nap(&spins);
            continue;
        }
        tl_par_take(&m, &i);
        CU_ASSERT_EQUAL(m.from, (me + all - 1) % all);
        CU_ASSERT_EQUAL(m.tag, taken);
        CU_ASSERT_EQUAL(i, taken % 2 ? taken : -1);
        taken++;
    }
    tl_par_barrier();
}

static void a_message_to_oneself_comes_back(void)
{
    struct inbox inbox = { .right = true };
    send_units(me, 300, &inbox);
    send_units(me, 0, &inbox);
    CU_ASSERT_EQUAL(inbox.got, 0);
    take_all(&inbox);
    CU_ASSERT_EQUAL(inbox.got, 2);
    CU_ASSERT(inbox.right);
    tl_par_barrier();
}

/* Messages under way do not get into a gather, nor its bytes into a probe. */
static void messages_and_gathers_do_not_mix(void)
{
    struct inbox inbox = { .right = true };
    if (me != 0)
        send_units(0, 0, &inbox);
    check_gather(5000);
    if (me == 0)
        wait_for_messages(&inbox, (size_t)all - 1);
    CU_ASSERT(inbox.right);
    tl_par_barrier();
}

/* Messages go round the procs, each of which sleeps until the one before it sends: a message that were only found at the
 * end of a nap would take 32 ms a proc. */
static void a_message_wakes_who_waits_for_it(void)
{
    static const size_t sizes[] = { 0, 200, 1000, 5000, 100000 };
    static char bytes[100000];
    const int rounds = 20;
    int hops = rounds * all, next = (me + 1) % all;

    for (size_t k = 0; k < COUNT(sizes) && all > 1; k++) {
        tl_par_barrier();
        double started = seconds(CLOCK_MONOTONIC);
        for (int i = 0; i < rounds; i++) {
            tl_envelope m;
            unsigned spins = 0;
            if (me == 0)
                tl_par_send(next, i, bytes, sizes[k], NULL, NULL);
            while (!tl_par_probe(&m))
                tl_par_nap(&spins);
            tl_par_take(&m, bytes);
            CU_ASSERT_EQUAL(m.tag, i);
            if (me != 0)
                tl_par_send(next, i, bytes, sizes[k], NULL, NULL);
        }
        CU_ASSERT(seconds(CLOCK_MONOTONIC) - started < hops * 0.016);
    }
    tl_par_barrier();
}

/* Nor does who tells the others something, again and again, wait for naps to end. */
static void all_are_told_at_once(void)
{
    static const size_t sizes[] = { 1, 100, 257, 600, 1000, 5000 };
    static char bytes[5000];
    const int rounds = 20;

    for (size_t k = 0; k < COUNT(sizes); k++) {
        tl_par_barrier();
        double started = seconds(CLOCK_MONOTONIC);
        for (int i = 0; i < rounds; i++)
            tl_par_bcast(bytes, sizes[k]);
        CU_ASSERT(seconds(CLOCK_MONOTONIC) - started < rounds * (0.010 + 0.001 * all));
    }
    tl_par_barrier();
}

static double nap(unsigned *spins)
{
    double from = seconds(CLOCK_MONOTONIC);
    tl_par_nap(spins);
    return seconds(CLOCK_MONOTONIC) - from;
}

/* Who comes to the barrier first rings and ends a nap. */
static void naps_grow(void)
{
    unsigned spins = 0;
    double last = 0;
    for (int i = 0; i < 30 + all && last < 0.0199; i++)
        last = nap(&spins);
    CU_ASSERT(last > 0.0199);
    tl_par_barrier();
}

static const unit_test tests[] = {
    TEST(all_well_is_agreed_on),
    TEST(the_worst_is_told_everywhere),
    TEST(of_equal_faults_the_lowest_proc_speaks),
    TEST(a_failure_without_words_is_told_too),
    TEST(bytes_reach_all),
    TEST(unequal_shares_come_in_proc_order),
    TEST(shares_without_sizes_come_too),
    TEST(a_gather_without_memory_fails_on_every_proc),
    TEST(rows_find_their_procs_in_order),
    TEST(rows_may_be_large),
    TEST(a_shuffle_without_memory_fails_everywhere),
    TEST(nobody_passes_a_barrier_early),
    TEST(waiting_burns_no_processor),
    TEST(large_messages_cross),
    TEST(a_napping_proc_gets_everything_in_the_end),
    TEST(messages_keep_their_order),
    TEST(a_message_to_oneself_comes_back),
    TEST(messages_and_gathers_do_not_mix),
    TEST(a_message_wakes_who_waits_for_it),
    TEST(all_are_told_at_once),
    TEST(naps_grow),
};

/* What failed here, on a proc whose tests run in silence. */
static void print_failures(void)
{
    for (CU_pFailureRecord f = CU_get_failure_list(); f != NULL; f = f->pNext)
        fprintf(stderr, "proc %d of %d: %s:%u: %s\n", me, all, f->strFileName, f->uiLineNumber, f->strCondition);
}

/* The one argument is the number of procs that there must be. */
int main(int argc, char **argv)
{
    bool started = argc == 2 && CU_initialize_registry() == CUE_SUCCESS;
    CU_pSuite suite = started ? CU_add_suite("par", NULL, NULL) : NULL;
    for (size_t i = 0; i < COUNT(tests) && suite != NULL; i++)
        if (CU_add_test(suite, tests[i].claim, tests[i].check) == NULL)
            suite = NULL;
    tl_par_start(&argc, &argv);
    me = tl_par_proc();
    all = tl_par_nprocs();
    if (suite == NULL || strtol(argv[1], NULL, 10) != all) {
        fprintf(stderr, "proc %d: %d procs, or no test could be added\n", me, all);
        tl_par_abort(1);
    }

    if (me == 0) {
        CU_basic_set_mode(CU_BRM_VERBOSE);
        CU_basic_run_tests();
    } else {
        CU_run_all_tests();
        print_failures();
    }
    bool failed = CU_get_number_of_failures() != 0 || CU_get_number_of_tests_run() != COUNT(tests);
    failed = tl_par_agree(failed ? TL_EINTERNAL : TL_OK, NULL) != TL_OK;
    CU_cleanup_registry();
    tl_par_end();
    return failed;
}
