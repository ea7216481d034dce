/* test_par_messages.c - messages from proc to proc, on as many procs as mpirun starts, and the naps of those who
 * wait. */
#include "bytes.h"

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

/* Round the procs, each of which sleeps until the one before it sends; how long that took. */
static double send_round(char *bytes, size_t n, int rounds)
{
    int next = (me + 1) % all;
    tl_par_barrier();
    double started = seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < rounds; i++) {
        tl_envelope m;
        unsigned spins = 0;
        if (me == 0)
            tl_par_send(next, i, bytes, n, NULL, NULL);
        while (!tl_par_probe(&m))
            tl_par_nap(&spins);
        tl_par_take(&m, bytes);
        CU_ASSERT_EQUAL(m.tag, i);
        if (me != 0)
            tl_par_send(next, i, bytes, n, NULL, NULL);
    }
    return seconds(CLOCK_MONOTONIC) - started;
}

/* A message that were only found at the end of a nap would take 32 ms a proc, each time. */
static void a_message_wakes_who_waits_for_it(void)
{
    static const size_t sizes[] = { 0, 200, 1000, 5000, 100000 };
    static char bytes[100000];
    const int rounds = 20;

    for (size_t k = 0; k < COUNT(sizes) && all > 1; k++) {
        bool quick = false;
        for (int tries = 0; tries < TRIES && !quick; tries++)
            quick = all_agree(send_round(bytes, sizes[k], rounds) < rounds * all * 0.016);
        CU_ASSERT(quick);
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
    TEST(large_messages_cross),
    TEST(a_napping_proc_gets_everything_in_the_end),
    TEST(messages_keep_their_order),
    TEST(a_message_to_oneself_comes_back),
    TEST(messages_and_gathers_do_not_mix),
    TEST(a_message_wakes_who_waits_for_it),
    TEST(naps_grow),
};

int main(int argc, char **argv)
{
    return procs_main(argc, argv, "par_messages", tests, COUNT(tests));
}
