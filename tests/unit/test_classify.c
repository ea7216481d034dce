/* test_classify.c - the rule table, and a user's own rules. */
#include "scratch.h"
#include "tlmpi/trace/classify.h"
#include "unit.h"

/* A rule that an earlier one hides cannot stay. */
static void every_rule_catches_the_name_it_was_seen_on(void)
{
    const tl_rules ours = { 0 };
    for (const tl_rule *rule = tl_default_rules; rule->needle != NULL; rule++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(rule->seen);
        const tl_rule *caught = tl_classify(&ours, (tl_text){ rule->seen, strlen(rule->seen) });
        if (caught != rule)
            printf("\n  %s is caught by \"%s\", not by \"%s\"\n", rule->seen, caught ? caught->needle : "nothing", rule->needle);
        CU_ASSERT_PTR_EQUAL(caught, rule);
        CU_ASSERT((rule->kind == TL_COMM) == (rule->collective != TL_COLL_NONE));
    }
}

static void check(const char *name, tl_kind kind, tl_collective collective)
{
    const tl_rules ours = { 0 };
    const tl_rule *rule = tl_classify(&ours, (tl_text){ name, strlen(name) });
    CU_ASSERT_PTR_NOT_NULL_FATAL(rule);
    CU_ASSERT_EQUAL(rule->kind, kind);
    CU_ASSERT_EQUAL(rule->collective, collective);
}

static void old_and_new_names_of_nccl_are_communication(void)
{
    check("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", TL_COMM, TL_ALL_REDUCE);
    check("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)", TL_COMM, TL_ALL_GATHER);
    check("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", TL_COMM, TL_REDUCE_SCATTER);
    check("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", TL_COMM, TL_COLL_UNKNOWN);
    check("void ncclDevKernel_Reduce_Sum_f32_RING_LL(...)", TL_COMM, TL_REDUCE);
}

static void nothing_is_said_of_names_that_nobody_knows(void)
{
    const tl_rules ours = { 0 };
    CU_ASSERT_PTR_NULL(tl_classify(&ours, TL_TEXT("my_kernel")));
    CU_ASSERT_PTR_NULL(tl_classify(&ours, TL_TEXT("")));
    CU_ASSERT_PTR_NULL(tl_classify(&ours, TL_TEXT("hipify_me")));
}

static void collective_arguments_are_understood(void)
{
    CU_ASSERT_EQUAL(tl_collective_of(TL_TEXT("allreduce_coalesced")), TL_ALL_REDUCE);
    CU_ASSERT_EQUAL(tl_collective_of(TL_TEXT("_allgather_base")), TL_ALL_GATHER);
    CU_ASSERT_EQUAL(tl_collective_of(TL_TEXT("_reduce_scatter_base")), TL_REDUCE_SCATTER);
    CU_ASSERT_EQUAL(tl_collective_of(TL_TEXT("all_to_allv")), TL_ALL_TO_ALL);
    CU_ASSERT_EQUAL(tl_collective_of(TL_TEXT("nccl:broadcast")), TL_BROADCAST);
    CU_ASSERT_EQUAL(tl_collective_of(TL_TEXT("send")), TL_SEND);
    CU_ASSERT_EQUAL(tl_collective_of(TL_TEXT("gather")), TL_GATHER);
    CU_ASSERT_EQUAL(tl_collective_of(TL_TEXT("something")), TL_COLL_UNKNOWN);
}

static void a_users_rules_stand_above_ours(void)
{
    tl_rules rules = { 0 };
    tl_error err = { 0 };
    const char *path = scratch_text("rules.json", "[{\"starts\": \"ncclDev\", \"kind\": \"compute\"},"
                                                  " {\"equals\": \"my_ring\", \"kind\": \"comm\", \"collective\": \"all_gather\"},"
                                                  " {\"contains\": \"ring\", \"kind\": \"comm\"}]");
    CU_ASSERT_EQUAL_FATAL(tl_rules_read(path, &rules, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_classify(&rules, TL_TEXT("ncclDevKernel_AllReduce"))->kind, TL_COMPUTE);
    CU_ASSERT_EQUAL(tl_classify(&rules, TL_TEXT("my_ring"))->collective, TL_ALL_GATHER);
    CU_ASSERT_EQUAL(tl_classify(&rules, TL_TEXT("my_ring2"))->collective, TL_COLL_UNKNOWN);
    CU_ASSERT_EQUAL(tl_classify(&rules, TL_TEXT("ncclKernel_AllReduce_"))->collective, TL_ALL_REDUCE);
    tl_rules_free(&rules);
}

static void rules_that_are_none_are_refused(void)
{
    static const char *const wrong[] = { "", "{}", "[1]", "[{}]", "[{\"contains\": \"\", \"kind\": \"comm\"}]",
                                         "[{\"contains\": \"x\", \"kind\": \"sync\"}]", "[{\"contains\": \"x\"}]",
                                         "[{\"contains\": \"x\", \"kind\": \"comm\", \"collective\": \"ring\"}]", "[" };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        tl_rules rules = { 0 };
        tl_error err = { 0 };
        CU_ASSERT_EQUAL(tl_rules_read(scratch_text("wrong.json", wrong[i]), &rules, &err), TL_EUSAGE);
        CU_ASSERT(strstr(err.text, "expected") != NULL || strstr(err.text, "is no") != NULL);
        CU_ASSERT_PTR_NULL(strchr(err.text, '\n'));
        tl_rules_free(&rules);
    }
    tl_rules rules = { 0 };
    tl_error err = { 0 };
    CU_ASSERT_EQUAL(tl_rules_read(scratch_path("missing.json"), &rules, &err), TL_EUSAGE);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(every_rule_catches_the_name_it_was_seen_on),
        TEST(old_and_new_names_of_nccl_are_communication),
        TEST(nothing_is_said_of_names_that_nobody_knows),
        TEST(collective_arguments_are_understood),
        TEST(a_users_rules_stand_above_ours),
        TEST(rules_that_are_none_are_refused),
    };
    int failed = scratch_make() || unit_main("classify", tests, COUNT(tests));
    return scratch_remove() || failed;
}
