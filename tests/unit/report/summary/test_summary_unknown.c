/* test_summary_unknown.c - kernels that no rule names are told where one of them may communicate. */
#include "flat.h"
#include "summary_job.h"
#include <stdbool.h>

/* The summary with three kernels that no rule names, of which `name` has `pct` of 100; freed by the caller. */
static char *summary_with(const char *name, int64_t pct)
{
    static const tl_answers none;
    job *j = new_job();
    tl_names names = { 0 };
    char *text = NULL;
    size_t n = 0;
    tl_kernel_ranks kernels[] = {
        { .name = tl_names_intern(&names, "gemm", 4), .total_ns = 40 },
        { .name = tl_names_intern(&names, "fused_common_gather", 19), .total_ns = 20, .unclassified = 1 },
        { .name = tl_names_intern(&names, name, strlen(name)), .total_ns = pct, .unclassified = 1 },
        { .name = tl_names_intern(&names, "topk", 4), .total_ns = 2, .unclassified = 1 },
    };
    add_rank(j, 1, 0, 0, 1)->unclassified_ns = 30;
    j->s.answers = &none;
    j->s.names = &names;
    j->s.kernels = kernels;
    j->s.nkernels = COUNT(kernels);
    FILE *out = open_memstream(&text, &n);
    tl_print_summary(out, &j->s);
    (void)fclose(out);
    tl_names_free(&names);
    free(j);
    return text;
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

static void the_three_largest_are_named_with_their_shares(void)
{
    char *text = summary_with("my_moe_dispatch_v2", 8);
    CU_ASSERT_TRUE(says(text, "30.0 % of kernel time is of kernels that no rule names, and counts as compute: fused_common_gather "
                              "(20.0 %), my_moe_dispatch_v2 (8.0 %), topk (2.0 %) - if one communicates, --rules FILE can say so."));
    free(text);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(they_are_told_where_one_may_communicate),
        TEST(the_three_largest_are_named_with_their_shares),
    };
    return unit_main("summary of unknown kernels", tests, COUNT(tests));
}
