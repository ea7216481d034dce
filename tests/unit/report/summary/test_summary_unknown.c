/* test_summary_unknown.c - kernels that no rule names are told where one of them may communicate. */
#include "flat.h"
#include "summary_job.h"
#include <stdbool.h>

/* A kernel that no rule names, and its share of 100. */
typedef struct unknown {
    const char *name;
    int64_t pct;
} unknown;

/* The summary of a job of so many ranks with these, the most time first, of which the first is of that kind; freed by the
 * caller. */
static char *summary_with_first(tl_kind first, const unknown *v, size_t n, int64_t world_size)
{
    static const tl_answers none;
    job *j = new_job();
    tl_names names = { 0 };
    char *text = NULL;
    size_t size = 0;
    tl_kernel_ranks kernels[8] = { { .name = tl_names_intern(&names, "gemm", 4), .total_ns = 40 } };
    for (size_t i = 0; i < n; i++)
        kernels[i + 1] = (tl_kernel_ranks){ .name = tl_names_intern(&names, v[i].name, strlen(v[i].name)),
                                            .total_ns = v[i].pct,
                                            .kind = (uint8_t)(i == 0 ? first : TL_COMPUTE),
                                            .unclassified = 1 };
    add_rank(j, 1, 0, 0, 1)->unclassified_ns = 30;
    j->s.answers = &none;
    j->s.names = &names;
    j->of_kernels.rows = (unsigned char *)kernels;
    j->of_kernels.n = n + 1;
    j->s.world_size = world_size;
    FILE *out = open_memstream(&text, &size);
    print_tables(out, j->s);
    (void)fclose(out);
    tl_names_free(&names);
    free(j);
    return text;
}

static char *summary_of_unknown(const unknown *v, size_t n, int64_t world_size)
{
    return summary_with_first(TL_COMPUTE, v, n, world_size);
}

/* One that has `pct` of 100 between two others. */
static char *summary_with(const char *name, int64_t pct)
{
    const unknown v[] = { { "fused_common_gather", 20 }, { name, pct }, { "topk", 2 } };
    return summary_of_unknown(v, COUNT(v), 1);
}

static void they_are_told_where_one_may_communicate(void)
{
    static const struct {
        const char *name;
        int64_t pct;
        bool told;
    } cases[] = {
        { "my_moe_dispatch_v2", 8, true }, { "void pushSend<half>(int)", 8, false }, { "void push_send<half>(int)", 8, true },
        { "QuickAllReduce", 8, true },     { "QuickAllReduce", 0, false },           { "uccl::kernel", 8, true },
        { "append_kv", 8, false },         { "computed_commit", 8, false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = summary_with(cases[i].name, cases[i].pct);
        CU_ASSERT_EQUAL(strstr(text, "that no rule names") != NULL, cases[i].told);
        free(text);
    }
}

/* Of one rank alone they mostly are of arithmetic. */
static void among_ranks_more_words_are_a_sign(void)
{
    static const char *const names[] = { "my_custom_ring_exchange", "fused_common_gather", "Exchange<float>", "kv_push" };
    for (size_t i = 0; i < COUNT(names); i++) {
        const unknown v[] = { { "zorp", 9 }, { names[i], 8 } };
        char *alone = summary_of_unknown(v, COUNT(v), 1), *among = summary_of_unknown(v, COUNT(v), 8);
        CU_ASSERT_PTR_NULL(strstr(alone, "that no rule names"));
        CU_ASSERT_PTR_NOT_NULL(strstr(among, "that no rule names"));
        free(alone);
        free(among);
    }
    const unknown v[] = { { "string_pushed_scattering", 9 } };
    char *text = summary_of_unknown(v, COUNT(v), 8);
    CU_ASSERT_PTR_NULL(strstr(text, "that no rule names"));
    free(text);
}

static void one_that_may_is_named_whatever_it_takes(void)
{
    const unknown v[] = { { "a", 9 }, { "b", 8 }, { "c", 7 }, { "d", 6 }, { "my_all_to_all", 5 }, { "p2p", 4 } };
    char *text = summary_of_unknown(v, COUNT(v), 1);
    CU_ASSERT_TRUE(says(text, "a (9.0 %), b (8.0 %), my_all_to_all (5.0 %) - if"));
    free(text);
}

static void the_three_largest_are_named_with_their_shares(void)
{
    char *text = summary_with("my_moe_dispatch_v2", 8);
    CU_ASSERT_TRUE(says(text, "30.0 % of kernel time is of kernels that no rule names, and counts as compute: fused_common_gather "
                              "(20.0 %), my_moe_dispatch_v2 (8.0 %), topk (2.0 %) - if one communicates, --rules FILE can say so."));
    free(text);
}

static void one_that_behaves_as_communication_is_said_to_be_taken_for_it(void)
{
    const unknown v[] = { { "my_all_to_all", 9 }, { "zorp", 8 } };
    char *text = summary_with_first(TL_COMM, v, COUNT(v), 1);
    CU_ASSERT_TRUE(says(text, "Taken for communication, as they end together on all ranks: my_all_to_all (9.0 %) - --rules "
                              "FILE can say otherwise."));
    CU_ASSERT_PTR_NULL(strstr(text, "that no rule names"));
    free(text);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(they_are_told_where_one_may_communicate),
        TEST(among_ranks_more_words_are_a_sign),
        TEST(one_that_may_is_named_whatever_it_takes),
        TEST(the_three_largest_are_named_with_their_shares),
        TEST(one_that_behaves_as_communication_is_said_to_be_taken_for_it),
    };
    return unit_main("summary of unknown kernels", tests, COUNT(tests));
}
