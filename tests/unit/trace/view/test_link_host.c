/* test_link_host.c - what the host did, in the view: which events, in which order, by which thread, under which name.
 */
#include "view_text.h"

#define EVENT(cat, name, tid, ts, dur, args)                                                                           \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":9,\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur  \
    ",\"args\":{" args "}}"

static const char *name_of(const tl_rank_view *v, uint32_t name)
{
    return tl_names_text(v->names, name).p;
}

static void calls_and_ops_stand_by_thread_and_time_the_longer_first(void)
{
    const tl_rank_view *v = view_of(
        EVENT("cpu_op", "aten::add", 2, 10, 5, "") "," EVENT("cuda_runtime", "cudaLaunchKernel", 2, 11, 1, "\"correlation\":7") "," EVENT(
            "python_function", "train.py(3): main", 1,
            5, 100,
            "") "," EVENT("kernel", "k", 7, 20, 5,
                          "\"correlation\":7") "," EVENT("cpu_op", "aten::linear", 2, 10, 9,
                                                         "") "," EVENT("cuda_driver", "cuLaunchKernel", 1, 8, 1,
                                                                       "") "," EVENT("user_annotation", "fwd", 1, 5,
                                                                                     100, "") "," EVENT("cpu_op",
                                                                                                        "aten::add_", 2,
                                                                                                        10, 5, ""),
        "");
    CU_ASSERT_EQUAL_FATAL(v->calls.n, 2);
    CU_ASSERT_EQUAL_FATAL(v->calls.nthreads, 2);
    CU_ASSERT_EQUAL_FATAL(v->ops.n, 5);
    CU_ASSERT_EQUAL_FATAL(v->ops.nthreads, 2);

    /* Thread 2 is met first, so it has the smaller number; equal spans stay in file order. */
    const tl_thread *two = &v->ops.threads[0], *one = &v->ops.threads[1];
    CU_ASSERT_EQUAL(two->first, 0);
    CU_ASSERT_EQUAL(two->n, 3);
    CU_ASSERT_EQUAL(one->first, 3);
    CU_ASSERT_STRING_EQUAL(name_of(v, v->ops.name[0]), "aten::linear");
    CU_ASSERT_STRING_EQUAL(name_of(v, v->ops.name[1]), "aten::add");
    CU_ASSERT_STRING_EQUAL(name_of(v, v->ops.name[2]), "aten::add_");
    CU_ASSERT_EQUAL(v->ops.uid[0], 4);
    CU_ASSERT_EQUAL(v->ops.start_ns[0], 10000);
    CU_ASSERT_EQUAL(v->ops.dur_ns[0], 9000);
    CU_ASSERT_EQUAL(v->ops.kind[2], TL_OP);
    CU_ASSERT_EQUAL(v->ops.kind[3], TL_FRAME);
    CU_ASSERT_EQUAL(v->ops.kind[4], TL_ANNOTATION);
    CU_ASSERT_STRING_EQUAL(name_of(v, v->calls.name[0]), "cudaLaunchKernel");
    CU_ASSERT_EQUAL(v->calls.correlation[0], 7);
    CU_ASSERT_EQUAL(v->calls.correlation[1], -1);
    CU_ASSERT_EQUAL(v->calls.threads[0].track, two->track);
    CU_ASSERT_EQUAL(v->calls.threads[1].track, one->track);
    CU_ASSERT_EQUAL(v->launches[0].track, two->track);
    CU_ASSERT_EQUAL(v->kernels[0].launch, 0);
    forget();
}

static void what_is_no_span_of_the_host_is_left_out(void)
{
    const tl_rank_view *v =
        view_of("{\"ph\":\"i\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":9,\"tid\":1,\"ts\":1}," EVENT(
                    "ac2g", "f", 1, 1, 1,
                    "") "," EVENT("gpu_user_annotation", "g", 1, 1, 1,
                                  "") "," EVENT("overhead", "o", 1, 1, 1,
                                                "") "," EVENT("cuda_sync", "Stream Sync", 1, 1, 1,
                                                              "\"stream\":7") "," EVENT("cuda_runtime", "cudaFree", 1,
                                                                                        2, 1, ""),
                "");
    CU_ASSERT_EQUAL(v->ops.n, 0);
    CU_ASSERT_EQUAL(v->ops.nthreads, 0);
    CU_ASSERT_EQUAL(v->calls.n, 1);
    forget();
}

static void a_trace_without_a_host_shows_nothing(void)
{
    const tl_rank_view *v = view_of(EVENT("kernel", "k", 7, 20, 5, "\"correlation\":7"), "");
    CU_ASSERT_EQUAL(v->calls.n, 0);
    CU_ASSERT_EQUAL(v->calls.nthreads, 0);
    CU_ASSERT_EQUAL(v->ops.n, 0);
    CU_ASSERT_EQUAL(v->ops.nthreads, 0);
    CU_ASSERT_EQUAL(v->nkernels, 1);
    forget();
}

static void calls_know_their_stream_and_the_direction_of_a_copy(void)
{
    const tl_rank_view *v = view_of(
        EVENT("cuda_runtime", "a", 1, 1, 1, "\"stream\":20,\"device\":1") "," EVENT(
            "cuda_runtime", "b", 1, 2, 1, "") "," EVENT("hip_runtime", "hipMemcpyAsync", 1, 3, 1,
                                                        "\"kind\":\"2\",\"stream\":\"0x0\",\"correlation\":"
                                                        "4") "," EVENT("gpu_memcpy", "Memcpy", 0, 9, 1,
                                                                       "\"kind\":\"DtoD\",\"correlation\":"
                                                                       "4") "," EVENT("cuda_runtime", "c", 1, 4, 1,
                                                                                      "\"kind\":1,"
                                                                                      "\"bytes\":64"),
        "");
    CU_ASSERT_EQUAL_FATAL(v->calls.n, 4);
    CU_ASSERT_EQUAL(v->streams[v->calls.stream[0]].stream, 20);
    CU_ASSERT_EQUAL(v->streams[v->calls.stream[0]].device, 1);
    CU_ASSERT_EQUAL(v->streams[v->calls.stream[1]].stream, -1);
    CU_ASSERT_EQUAL(v->streams[v->calls.stream[2]].stream, -1); /* a pointer is no number of a stream */
    CU_ASSERT_EQUAL(v->calls.copy[0], -1);
    CU_ASSERT_EQUAL(v->calls.copy[2], 2);
    CU_ASSERT_EQUAL(v->calls.copy[3], 1);
    forget();
}

static void a_wait_knows_the_stream_that_it_waits_for(void)
{
    const tl_rank_view *v = view_of(
        EVENT("cuda_sync", "Event Sync", 0, 1, 1,
              "\"stream\":4294967295,\"wait_on_stream\":20,\"correlation\":3") "," EVENT("cuda_sync", "Stream Sync", 0,
                                                                                         2, 1, "\"stream\":7"),
        "");
    CU_ASSERT_EQUAL_FATAL(v->nsyncs, 2);
    CU_ASSERT_EQUAL(v->syncs[0].stream, -1);
    CU_ASSERT_EQUAL(v->syncs[0].wait_on_stream, 20);
    CU_ASSERT_EQUAL(v->syncs[1].stream, 7);
    CU_ASSERT_EQUAL(v->syncs[1].wait_on_stream, -1);
    forget();
}

static void the_base_time_is_added(void)
{
    const tl_rank_view *v = view_of(EVENT("cpu_op", "a", 1, 1.5, 1, ""), ",\"baseTimeNanoseconds\":1000000");
    CU_ASSERT_EQUAL(v->ops.start_ns[0], 1001500);
    forget();
}

static void names_that_differ_by_an_address_have_one_key(void)
{
    const tl_rank_view *v =
        view_of(EVENT("python_function", "<run of X object at 0x7f3c>", 1, 1, 1, "") "," EVENT(
                    "python_function", "<run of X object at 0x09af>", 1, 2, 1,
                    "") "," EVENT("cpu_op", "0xyz", 1, 3, 1, "") "," EVENT("cpu_op", "0x1 and 0x2", 1, 4, 1, ""),
                "");
    const uint32_t *name = v->ops.name;
    CU_ASSERT_NOT_EQUAL(name[0], name[1]);
    CU_ASSERT_EQUAL(tl_name_key(v, name[0]), tl_name_key(v, name[1]));
    CU_ASSERT_STRING_EQUAL(name_of(v, tl_name_key(v, name[0])), "<run of X object at 0x\xe2\x80\xa6>");
    CU_ASSERT_EQUAL(tl_name_key(v, name[2]), name[2]);
    CU_ASSERT_STRING_EQUAL(name_of(v, tl_name_key(v, name[3])), "0x\xe2\x80\xa6 and 0x\xe2\x80\xa6");
    CU_ASSERT_EQUAL(tl_name_key(v, tl_name_key(v, name[0])), tl_name_key(v, name[0]));
    forget();
}

/* Random spans on random threads: every event is there once, and stands where it should. */
static void nothing_is_lost_and_all_is_in_order(void)
{
    uint64_t seed = 5;
    for (int round = 0; round < 100; round++) {
        char entries[8000];
        size_t n = 0;
        unsigned m = 1 + unit_below(&seed, 60), calls = 0;
        for (unsigned i = 0; i < m; i++) {
            bool call = unit_below(&seed, 3) == 0;
            calls += call;
            n += (size_t)snprintf(
                entries + n, sizeof entries - n,
                "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"n%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":%u}",
                i > 0 ? "," : "", call ? "cuda_runtime" : "cpu_op", i, unit_below(&seed, 4), unit_below(&seed, 9),
                unit_below(&seed, 4));
        }
        const tl_rank_view *v = view_of(entries, "");
        CU_ASSERT_EQUAL(v->calls.n, calls);
        CU_ASSERT_EQUAL(v->ops.n, m - calls);
        bool seen[60] = { false };
        size_t threads = 0;
        for (size_t t = 0; t < v->ops.nthreads; t++) {
            const tl_thread *thread = &v->ops.threads[t];
            threads += thread->n;
            for (size_t i = thread->first; i < thread->first + thread->n; i++) {
                char name[16];
                snprintf(name, sizeof name, "n%u", v->ops.uid[i]);
                CU_ASSERT_STRING_EQUAL(name_of(v, v->ops.name[i]), name);
                CU_ASSERT_FALSE(seen[v->ops.uid[i]]);
                seen[v->ops.uid[i]] = true;
                if (i == thread->first)
                    continue;
                int64_t earlier = v->ops.start_ns[i] - v->ops.start_ns[i - 1],
                        shorter = v->ops.dur_ns[i - 1] - v->ops.dur_ns[i];
                CU_ASSERT(earlier > 0 ||
                          (earlier == 0 && (shorter > 0 || (shorter == 0 && v->ops.uid[i] > v->ops.uid[i - 1]))));
            }
        }
        CU_ASSERT_EQUAL(threads, v->ops.n);
        forget();
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(calls_and_ops_stand_by_thread_and_time_the_longer_first),
        TEST(what_is_no_span_of_the_host_is_left_out),
        TEST(a_trace_without_a_host_shows_nothing),
        TEST(calls_know_their_stream_and_the_direction_of_a_copy),
        TEST(a_wait_knows_the_stream_that_it_waits_for),
        TEST(the_base_time_is_added),
        TEST(names_that_differ_by_an_address_have_one_key),
        TEST(nothing_is_lost_and_all_is_in_order),
    };
    if (scratch_make() != 0)
        return 1;
    int failed = unit_main("link_host", tests, COUNT(tests));
    scratch_remove();
    return failed;
}
