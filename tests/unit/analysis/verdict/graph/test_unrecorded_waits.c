/* test_unrecorded_waits.c - pauses of a host that were waits, though no call tells of them.  A column is 100 us, a
 * pause 20 of them. */
#include "graph_drawn.h"
#include <stdio.h>
#include <string.h>

/* Launches a, b, ... 20 columns apart, one for each digit: so many columns before the next the work launched by it has
 * ended.  0: it ends 10 columns before.  call: what the host is in from a launch to the next; NULL: in nothing. */
static drawing *pausing_in(const char *call, const char *lags)
{
    enum { PAUSE = 20, MOST = 8 };
    char host[48 + PAUSE * MOST] = "launch 1 cudaLaunchKernel: ", device[48 + PAUSE * MOST] = "compute 7 gemm: ";
    char calls[48 + PAUSE * MOST] = "";
    size_t n = strlen(lags), h = strlen(host), k = strlen(device);
    snprintf(calls, 48, "call 1 %s: ", call != NULL ? call : "none");
    size_t c = strlen(calls);
    if (n > MOST)
        abort();
    for (size_t i = 0; i < n * PAUSE; i++) {
        size_t lag = lags[i / PAUSE] == '0' ? 10 : (size_t)(lags[i / PAUSE] - '0');
        host[h + i] = i % PAUSE == 0 ? (char)('a' + i / PAUSE) : '.';
        device[k + i] = i % PAUSE > 0 && i % PAUSE < PAUSE - lag ? (char)('A' + i / PAUSE) : '.';
        calls[c + i] = call != NULL && i % PAUSE > 0 ? '=' : '.';
    }
    return stretched(draw(host, device, calls, NULL), 100);
}

static drawing *pausing(const char *lags)
{
    return pausing_in(NULL, lags);
}

static size_t waits_of(drawing *first, drawing *second)
{
    graph_job *j = graph_job_of(first, second, NULL);
    size_t n = j->graph.nwaits;
    graph_job_free(j);
    return n;
}

static void three_that_end_at_one_lag_are_waits(void)
{
    graph_job *j = graph_job_of(pausing("1115"), NULL);
    CU_ASSERT_EQUAL(j->graph.npauses, 3);
    CU_ASSERT_EQUAL(j->graph.nwaits, 3);
    uint32_t end = job_node(j, 0, TL_NODE_WAIT_END, 2000), work = job_node(j, 0, TL_NODE_WORK, 1900);
    CU_ASSERT_EQUAL(job_open(j, 0)->nodes[end].work_ns, 0);
    CU_ASSERT_EQUAL(job_lag_us(j, 0, work, end), 100);
    CU_ASSERT_EQUAL(job_lag_us(j, 0, job_node(j, 0, TL_NODE_WAIT_BEGIN, 100), end), 20);
    graph_job_free(j);
}

static void a_call_that_ends_with_work_is_a_wait_whatever_it_is_called(void)
{
    graph_job *j = graph_job_of(pausing_in("urQueueFinish", "1111"), NULL);
    CU_ASSERT_EQUAL(j->graph.nwaits, 4);
    const tl_node *end = job_at(j, 0, TL_NODE_WAIT_END, 2000);
    CU_ASSERT_EQUAL(end->work_ns, 0);
    CU_ASSERT_EQUAL(end->activity, TL_ACTIVITY_SYNC);
    graph_job_free(j);

    j = graph_job_of(pausing_in("urQueueFinish", "1594"), NULL);
    CU_ASSERT_EQUAL(j->graph.nwaits, 0);
    CU_ASSERT_EQUAL(job_at(j, 0, TL_NODE_WAIT_END, 2000)->work_ns, 1900 * US);
    graph_job_free(j);
}

static void fewer_than_three_are_work(void)
{
    graph_job *j = graph_job_of(pausing("115"), NULL);
    CU_ASSERT_EQUAL(j->graph.npauses, 2);
    CU_ASSERT_EQUAL(j->graph.nwaits, 0);
    CU_ASSERT_EQUAL(job_at(j, 0, TL_NODE_WAIT_END, 2000)->work_ns, 1900 * US);
    graph_job_free(j);
}

/* Pauses ten times as long, in which chance would hardly end anything right before: two are not enough all the same. */
static void two_say_nothing_of_a_spread(void)
{
    for (size_t n = 2; n <= 3; n++) {
        drawing *d = pausing(n == 2 ? "115" : "1115");
        for (size_t l = 0; l < d->view.nlaunches; l++) {
            d->launches[l].start_ns *= 10;
            d->launches[l].end_ns = d->launches[l].start_ns + 100 * US;
            d->call_columns.start_ns[l] *= 10;
        }
        for (size_t i = 0; i < d->view.nkernels; i++) {
            d->kernels[i].launch_ns *= 10;
            d->kernels[i].start_ns *= 10;
            d->kernels[i].end_ns = i < n ? d->launches[i + 1].start_ns - 100 * US : d->kernels[i].start_ns + 100 * US;
        }
        CU_ASSERT_EQUAL(waits_of(d, NULL), n == 2 ? 0 : 3);
    }
}

static void three_on_two_ranks_are_waits(void)
{
    CU_ASSERT_EQUAL(waits_of(pausing("115"), pausing("115")), 4);
    CU_ASSERT_EQUAL(waits_of(pausing("115"), pausing("105")), 3); /* one of the four is none */
}

static void lags_that_differ_are_work(void)
{
    CU_ASSERT_EQUAL(waits_of(pausing("1350"), NULL), 0);
}

static void a_long_lag_is_no_wake_up(void)
{
    CU_ASSERT_EQUAL(waits_of(pausing("2225"), NULL), 0); /* 200 us: more than three times what hosts differ by */
}

static void where_most_of_the_time_is_not_explained_none_are_waits(void)
{
    CU_ASSERT_EQUAL(waits_of(pausing("111115"), NULL), 5);
    CU_ASSERT_EQUAL(waits_of(pausing("11100005"), NULL), 0); /* three of seven */
}

/* Work of one name that ends all the time ends a short time before anything. */
static void what_ends_all_the_time_releases_nothing(void)
{
    drawing *d = pausing("0005");
    const size_t per_pause = 18;
    for (size_t pause = 0; pause < 3; pause++)
        for (size_t i = 0; i < per_pause; i++) {
            int64_t start = (int64_t)(pause * 2000 + i * 100) * US;
            d->kernels[d->view.nkernels] = (tl_kernel){ .start_ns = start,
                                                        .end_ns = start + 100 * US,
                                                        .launch_ns = TL_TIME_UNKNOWN,
                                                        .correlation = -1,
                                                        .bytes = -1,
                                                        .launch = TL_NONE,
                                                        .step = -1,
                                                        .name = tl_names_intern(&d->names, "often", 5),
                                                        .stream = 9,
                                                        .uid = (uint32_t)d->view.nkernels,
                                                        .kind = TL_COMPUTE };
            d->view.nkernels++;
        }
    for (size_t i = 0; i < d->view.nkernels; i++) /* each pause ends 100 us after one of them */
        if (d->kernels[i].stream == 9) {
            d->kernels[i].start_ns += 100 * US;
            d->kernels[i].end_ns += 100 * US;
        }
    CU_ASSERT_EQUAL(waits_of(d, NULL), 0);
}

static void what_is_launched_in_the_pause_does_not_release_it(void)
{
    drawing *d = pausing("1115");
    for (size_t l = 0; l < d->view.nlaunches; l++) /* by another thread, in the middle of pauses */
        if (l < 3) {
            d->launches[l].track = 2;
            d->launches[l].start_ns += 1000 * US;
            d->launches[l].end_ns += 1000 * US;
        }
    for (size_t i = 0; i < d->view.nkernels; i++) {
        d->kernels[i].start_ns = d->kernels[i].end_ns - 50 * US;
        d->kernels[i].launch_ns = d->launches[d->kernels[i].launch].start_ns;
    }
    CU_ASSERT_EQUAL(waits_of(d, NULL), 0);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(three_that_end_at_one_lag_are_waits),
        TEST(a_call_that_ends_with_work_is_a_wait_whatever_it_is_called),
        TEST(fewer_than_three_are_work),
        TEST(two_say_nothing_of_a_spread),
        TEST(three_on_two_ranks_are_waits),
        TEST(lags_that_differ_are_work),
        TEST(a_long_lag_is_no_wake_up),
        TEST(where_most_of_the_time_is_not_explained_none_are_waits),
        TEST(what_ends_all_the_time_releases_nothing),
        TEST(what_is_launched_in_the_pause_does_not_release_it),
    };
    return unit_main("waits that no call tells of", tests, COUNT(tests));
}
