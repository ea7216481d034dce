/* test_wait.c - when the host stood still because it waited for its device, on drawings. */
#include "draw.h"
#include "many_kernels.h"
#include "tlmpi/analysis/host.h"
#include "tlmpi/base/mem.h"
#include "unit.h"

static void calls_are_known_by_their_names(void)
{
    tl_wait_kind kind;
    CU_ASSERT(tl_wait_kind_of(TL_TEXT("cudaDeviceSynchronize"), &kind) && kind == TL_WAIT_DEVICE);
    CU_ASSERT(tl_wait_kind_of(TL_TEXT("hipDeviceSynchronize"), &kind) && kind == TL_WAIT_DEVICE);
    CU_ASSERT(tl_wait_kind_of(TL_TEXT("cuCtxSynchronize"), &kind) && kind == TL_WAIT_DEVICE);
    CU_ASSERT(tl_wait_kind_of(TL_TEXT("Context Sync"), &kind) && kind == TL_WAIT_DEVICE);
    CU_ASSERT(tl_wait_kind_of(TL_TEXT("cudaFree"), &kind) && kind == TL_WAIT_FREE);
    CU_ASSERT(tl_wait_kind_of(TL_TEXT("cudaStreamSynchronize"), &kind) && kind == TL_WAIT_STREAM);
    CU_ASSERT(tl_wait_kind_of(TL_TEXT("Stream Sync"), &kind) && kind == TL_WAIT_STREAM);
    CU_ASSERT(tl_wait_kind_of(TL_TEXT("cudaEventSynchronize"), &kind) && kind == TL_WAIT_EVENT);
    CU_ASSERT(tl_wait_kind_of(TL_TEXT("Event Sync"), &kind) && kind == TL_WAIT_EVENT);
    CU_ASSERT_FALSE(tl_wait_kind_of(TL_TEXT("Stream Wait Event"), &kind));
    CU_ASSERT_FALSE(tl_wait_kind_of(TL_TEXT("cudaStreamWaitEvent"), &kind));
    CU_ASSERT_FALSE(tl_wait_kind_of(TL_TEXT("cudaLaunchKernel"), &kind));
}

static void a_copy_that_its_call_outlasts_was_waited_for(void)
{
    drawing *d = draw("host:     abc.......",
                      "memcpy 7: .AAABBCC..", NULL);
    tl_host_waits waits = { 0 };
    d->launches[0].nkernels = d->launches[1].nkernels = 1;
    d->launches[1].end_ns = 6 * US;
    CU_ASSERT_EQUAL(tl_host_waits_find(&d->view, &waits, NULL), TL_OK);
    CU_ASSERT_EQUAL_FATAL(waits.n, 1);
    CU_ASSERT_EQUAL(waits.v[0].start_ns, 1 * US);
    CU_ASSERT_EQUAL(waits.v[0].end_ns, 6 * US);
    CU_ASSERT_EQUAL(waits.v[0].kind, TL_WAIT_STREAM); /* it reads what the stream has computed */

    waits.n = 0;
    d->kernels[1].name = tl_names_intern(&d->names, "Memcpy HtoD (Pageable -> Device)", 32);
    CU_ASSERT_EQUAL(tl_host_waits_find(&d->view, &waits, NULL), TL_OK);
    CU_ASSERT_EQUAL_FATAL(waits.n, 1);
    CU_ASSERT_EQUAL(waits.v[0].kind, TL_WAIT_COPY);
    tl_host_waits_free(&waits);
    drawing_free(d);
}

static void recorded_waits_begin_with_their_call(void)
{
    drawing *d = draw("compute 7: AAAA......", NULL);
    tl_sync syncs[] = { { .start_ns = 2 * US, .end_ns = 5 * US, .call_ns = 1 * US, .device = 0, .stream = 7 },
                        { .start_ns = 6 * US, .end_ns = 8 * US, .call_ns = TL_TIME_UNKNOWN, .device = 0, .stream = 7 } };
    tl_host_waits waits = { 0 };
    syncs[0].name = tl_names_intern(&d->names, "Stream Sync", 11);
    syncs[1].name = tl_names_intern(&d->names, "Stream Wait Event", 17);
    d->view.syncs = syncs;
    d->view.nsyncs = 2;
    CU_ASSERT_EQUAL(tl_host_waits_find(&d->view, &waits, NULL), TL_OK);
    CU_ASSERT_EQUAL_FATAL(waits.n, 1);
    CU_ASSERT_EQUAL(waits.v[0].start_ns, 1 * US);
    CU_ASSERT_EQUAL(waits.v[0].stream, 7);
    tl_host_waits_free(&waits);
    drawing_free(d);
}

/* Kernels of 50 us one after the other; from the 101st on every launch takes so long, and 7 us pass until the next. */
static void hold(many *m, int64_t took_ns)
{
    int64_t now = 0;
    for (size_t i = 0; i < m->view.nlaunches; i++) {
        int64_t took = i <= 100 ? 3 * US : took_ns;
        m->launches[i].start_ns = now;
        m->launches[i].end_ns = now + took;
        now += took + 7 * US;
        m->kernels[i].kind = TL_COMPUTE;
    }
}

/* They go on as fast as the device: the queue is full. */
static void launches_that_were_held_are_a_few_waits(void)
{
    enum { N = 400 };
    many m = many_kernels(N, 10 * US);
    tl_host_waits waits = { 0 };
    int64_t sum = 0;
    hold(&m, 40 * US);
    CU_ASSERT_EQUAL(tl_host_waits_find(&m.view, &waits, NULL), TL_OK);
    tl_host_waits_sort(&waits);
    CU_ASSERT(waits.n >= 20 && waits.n <= 40);
    for (size_t i = 0; i < waits.n; i++) {
        CU_ASSERT_EQUAL(waits.v[i].kind, TL_WAIT_QUEUE);
        CU_ASSERT(i == 0 || waits.v[i].start_ns >= waits.v[i - 1].end_ns);
        sum += waits.v[i].end_ns - waits.v[i].start_ns;
    }
    CU_ASSERT_EQUAL(sum, 299 * 37 * US); /* the host keeps 3 us a launch */
    tl_host_waits_free(&waits);
    many_free(&m);
}

/* A device that waits for other ranks works off its queue now slowly, now fast, and the lead with it; the queue is as
 * full as ever. */
static void a_full_queue_that_is_worked_off_faster_is_full(void)
{
    enum { N = 400, DEPTH = 100 };
    many m = many_kernels(N, 10 * US);
    tl_host_waits waits = { 0 };
    int64_t now = 0, sum = 0;
    for (size_t i = 0; i < N; i++) {
        m.kernels[i].kind = TL_COMPUTE;
        m.kernels[i].start_ns = i > 0 ? m.kernels[i - 1].end_ns : 10 * US;
        m.kernels[i].end_ns = m.kernels[i].start_ns + (i < N / 2 ? 100 : 20) * US;
        m.launches[i].start_ns = now;
        now += 3 * US;
        if (i >= DEPTH && m.kernels[i - DEPTH].end_ns > now)
            now = m.kernels[i - DEPTH].end_ns;
        m.launches[i].end_ns = now;
        sum += now - m.launches[i].start_ns - 3 * US;
        now += 2 * US;
    }
    CU_ASSERT_EQUAL(tl_host_waits_find(&m.view, &waits, NULL), TL_OK);
    for (size_t i = 0; i < waits.n; i++)
        sum -= waits.v[i].end_ns - waits.v[i].start_ns;
    CU_ASSERT(waits.n > 0 && sum == 0);
    tl_host_waits_free(&waits);
    many_free(&m);
}

static void who_loses_its_lead_was_not_held(void)
{
    many m = many_kernels(400, 10 * US);
    tl_host_waits waits = { 0 };
    hold(&m, 80 * US);
    CU_ASSERT_EQUAL(tl_host_waits_find(&m.view, &waits, NULL), TL_OK);
    CU_ASSERT_EQUAL(waits.n, 0);
    tl_host_waits_free(&waits);
    many_free(&m);
}

/* So that it ends where the host's segment does. */
static void no_wait_of_several_launches_spans_that_of_a_collective(void)
{
    many m = many_kernels(400, 10 * US);
    tl_host_waits waits = { 0 };
    hold(&m, 40 * US);
    for (size_t i = 4; i < 400; i += 5)
        m.kernels[i].kind = TL_COMM;
    CU_ASSERT_EQUAL(tl_host_waits_find(&m.view, &waits, NULL), TL_OK);
    CU_ASSERT(waits.n >= 55);
    for (size_t i = 0; i < waits.n; i++)
        for (size_t k = 4; k < 400; k += 5)
            CU_ASSERT_FALSE(waits.v[i].start_ns < m.launches[k].start_ns && waits.v[i].end_ns > m.launches[k].start_ns);
    tl_host_waits_free(&waits);
    many_free(&m);
}

/* The drawing with columns of 100 us. */
static drawing *wide(drawing *d)
{
    for (size_t i = 0; i < d->view.nkernels; i++) {
        d->kernels[i].start_ns *= 100;
        d->kernels[i].end_ns *= 100;
        d->kernels[i].launch_ns *= d->kernels[i].launch_ns != TL_TIME_UNKNOWN ? 100 : 1;
    }
    for (size_t i = 0; i < d->view.nlaunches; i++) {
        d->launches[i].start_ns *= 100;
        d->launches[i].end_ns *= 100;
    }
    for (size_t i = 0; i < d->view.calls.n; i++)
        d->call_columns.start_ns[i] *= 100;
    return d;
}

/* How many waits are inferred, when the last work ends so long before the next call. */
static size_t inferred(drawing *d, int64_t early_ns, tl_host_wait *first)
{
    tl_host_waits waits = { 0 };
    wide(d)->kernels[d->view.nkernels - 1].end_ns -= early_ns;
    CU_ASSERT_TRUE(tl_host_waits_infer(&d->view, &waits));
    size_t n = waits.n;
    if (n > 0)
        *first = waits.v[0];
    tl_host_waits_free(&waits);
    drawing_free(d);
    return n;
}

static void a_host_that_goes_on_right_after_its_device_had_waited(void)
{
#define SILENT "launch 1 cudaLaunchKernel: a.b........................................",  \
               "call 1 cudaMalloc:         .........................................==."
    tl_host_wait wait = { 0 };
    CU_ASSERT_EQUAL(inferred(draw(SILENT, "compute 7: AA......................................",
                                  "comm 9:    ...RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR", NULL), 20 * US, &wait), 1);
    CU_ASSERT_EQUAL(wait.kind, TL_WAIT_EVENT);
    CU_ASSERT(wait.start_ns > 200 * US && wait.start_ns <= 300 * US);
    CU_ASSERT_EQUAL(wait.end_ns, 4100 * US);
    /* too long before, for one end in 3.8 ms not to be chance */
    CU_ASSERT_EQUAL(inferred(draw(SILENT, "compute 7: AA......................................",
                                  "comm 9:    ...RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR", NULL), 50 * US, &wait), 0);
    /* one of many ends */
    CU_ASSERT_EQUAL(inferred(draw(SILENT, "compute 7: AA......................................",
                                  "comm 9:    ...RRSSTTUUVVWWXXYYZZCCDDEEFFGGHHIIJJKKLL", NULL), 20 * US, &wait), 0);
#undef SILENT
    /* what the call launches that ends the silence is done 16 us later, and was not waited for */
    CU_ASSERT_EQUAL(inferred(draw("launch 1 cudaMemcpyAsync: a........................................m",
                                  "compute 7: AAAAAAAAAAAAAAAAAAAA....................",
                                  "memcpy 24: .........................................M", NULL), 84 * US, &wait), 0);
    /* but who then asks how long it took has waited, 1 ms ago */
    static const char *const asked[] = { "call 1 cudaEventElapsedTime: .........................................=.",
                                         "call 1 cudaEventQuery:       .........................................=." };
    for (size_t i = 0; i < COUNT(asked); i++)
        CU_ASSERT_EQUAL(inferred(draw("launch 1 cudaLaunchKernel:   a.b........................................", asked[i],
                                      "compute 7: AA......................................",
                                      "comm 9:    ...RRSSTTUUVVWWXXYYZZCCDDEEFFGGHHIIJJKKLL", NULL), 1000 * US, &wait), 1 - i);
}

static void waits_that_overlap_are_one(void)
{
    tl_host_waits waits = { 0 };
    static const int span[][2] = { { 5, 9 }, { 1, 3 }, { 6, 8 }, { 2, 2 }, { 5, 9 }, { 8, 11 }, { 3, 4 } };
    for (size_t i = 0; i < COUNT(span); i++) {
        CU_ASSERT_FATAL(tl_vec_room(&waits));
        waits.v[waits.n++] = (tl_host_wait){ span[i][0], span[i][1], -1, -1, TL_WAIT_DEVICE };
    }
    tl_host_waits_sort(&waits);
    CU_ASSERT_EQUAL_FATAL(waits.n, 3);
    CU_ASSERT(waits.v[0].start_ns == 1 && waits.v[1].start_ns == 3 && waits.v[2].start_ns == 5);
    CU_ASSERT(waits.v[0].end_ns == 3 && waits.v[1].end_ns == 4 && waits.v[2].end_ns == 11);
    tl_host_waits_free(&waits);
}

static const unit_test tests[] = {
    TEST(calls_are_known_by_their_names),
    TEST(a_copy_that_its_call_outlasts_was_waited_for),
    TEST(recorded_waits_begin_with_their_call),
    TEST(launches_that_were_held_are_a_few_waits),
    TEST(a_full_queue_that_is_worked_off_faster_is_full),
    TEST(who_loses_its_lead_was_not_held),
    TEST(no_wait_of_several_launches_spans_that_of_a_collective),
    TEST(a_host_that_goes_on_right_after_its_device_had_waited),
    TEST(waits_that_overlap_are_one),
};

int main(void)
{
    return unit_main("wait", tests, COUNT(tests));
}
