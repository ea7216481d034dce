/* test_classify.c - the rule table, and a user's own rules. */
#include "scratch.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/trace/view.h"
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
        CU_ASSERT(rule->kind != TL_COMM || rule->collective != TL_COLL_NONE);
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

/* Libraries that communicate, too, do so by names that a rule above has, or by behaviour. */
static void libraries_may_communicate(void)
{
    check("void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 4>(...)", TL_COMM, TL_REDUCE_SCATTER);
    check("void aiter::topk_gating_kernel<float>(...)", TL_COMPUTE, TL_COLL_UNKNOWN);
    check("volta_sgemm_128x64_nn", TL_COMPUTE, TL_COLL_NONE);
}

static void kernels_called_after_a_collective_communicate(void)
{
    check("ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)", TL_COMM, TL_ALL_REDUCE);
    check("void turbomind::comm::(anonymous namespace)::AllgatherKernel_Simple_Push<__half>(...)", TL_COMM, TL_ALL_GATHER);
    check("hcom_reduceScatter__503_7_1", TL_COMM, TL_REDUCE_SCATTER);
    check("oneccl_allreduce_large_write_kernel", TL_COMM, TL_ALL_REDUCE);
    check("void alltoall_on_stream_kernel<int, (threadgroup_t)2>(int, int*)", TL_COMM, TL_ALL_TO_ALL);
}

/* Names that have such words for what they are fused with, or in their parameters. */
static void arithmetic_beside_collectives_computes(void)
{
    check("triton_red_fused__to_copy_all_reduce_mul_3", TL_COMPUTE, TL_COLL_UNKNOWN);
    check("void cutlass::device_kernel<AllReduceEpilogue>(...)", TL_COMPUTE, TL_COLL_NONE);
    check("void scaled_softmax<WarpAllReduce>(AllReduceParams)", TL_COMPUTE, TL_COLL_NONE);
    check("void at::native::_scatter_gather_elementwise_kernel<128, 8>(...)", TL_COMPUTE, TL_COLL_NONE);
}

static tl_collective behaves_as(const char *name, const char *known)
{
    tl_behaving names[] = { { 1, TL_COLL_UNKNOWN }, { tl_hash_bytes(known, strlen(known)), TL_MEETING }, { UINT64_MAX, TL_COLL_UNKNOWN } };
    const tl_rules rules = { .behave = names, .nbehave = COUNT(names) };
    return tl_behaves_as(&rules, (tl_text){ name, strlen(name) });
}

static void behaviour_makes_a_name_communication(void)
{
    CU_ASSERT_EQUAL(behaves_as("fabric_x", "fabric_x"), TL_MEETING);
    CU_ASSERT_EQUAL(behaves_as("fabric_x", "fabric_y"), TL_COLL_NONE);
    CU_ASSERT_EQUAL(behaves_as("void lib::fusedAllReduce<4>()", "void lib::fusedAllReduce<4>()"), TL_ALL_REDUCE);
    CU_ASSERT_EQUAL(behaves_as("TokenDispatch", "TokenDispatch"), TL_ALL_TO_ALL);
    CU_ASSERT_EQUAL(behaves_as("sum_reduce", "sum_reduce"), TL_MEETING); /* of which root? */
}

static void requests_to_move_data_are_copies(void)
{
    check("dma_request", TL_MEMCPY, TL_COLL_NONE);
    check("__amd_rocclr_copyBuffer.kd", TL_MEMCPY, TL_COLL_NONE);
    check("MEMORY_COPY_HOST_TO_DEVICE", TL_MEMCPY, TL_COLL_NONE);
}

static void nothing_is_said_of_names_that_nobody_knows(void)
{
    const tl_rules ours = { 0 };
    CU_ASSERT_PTR_NULL(tl_classify(&ours, TL_TEXT("my_kernel")));
    CU_ASSERT_PTR_NULL(tl_classify(&ours, TL_TEXT("")));
    CU_ASSERT_PTR_NULL(tl_classify(&ours, TL_TEXT("hipify_me")));
    CU_ASSERT_PTR_NULL(tl_classify(&ours, TL_TEXT("void sdma_wait(int)")));
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

static void what_is_wrong_in_rules_is_refused_with_its_place(void)
{
    static const struct {
        const char *text, *message;         /* after the file's name */
    } wrong[] = {
        { "", ":1: expected JSON: parse error: premature EOF" },
        { "[\n{\"equals\": \"x\", \"kind\": \"comm\"}\n", ":3: expected JSON: parse error: premature EOF" },
        { "[]\n]", ":2: expected JSON: parse error: trailing garbage" },
        { "[\n\n{\"equals\": x}]", ":3: expected JSON: lexical error: invalid char in json text." },
        { "{}", ": expected a JSON array of rules" },
        { "\n\n\"equals\"", ": expected a JSON array of rules" },
        { "[1]", ": rule 1: expected an object in braces" },
        { "[\"x\"]", ": rule 1: expected an object in braces" },
        { "[{}]", ": rule 1: expected contains, starts or equals" },
        { "[{\"contains\": \"x\"}]", ": rule 1: expected a kind: compute, comm, memcpy or memset" },
        { "[{\"contains\": \"\", \"kind\": \"comm\"}]", ": rule 1: expected a text that is not empty" },
        { "[{\"contains\": \"x\\u0000y\", \"kind\": \"comm\"}]", ": expected a JSON array of rules, without \\u0000" },
        { "[{\"contains\": 1, \"kind\": \"comm\"}]", ": rule 1: expected a text in double quotes under \"contains\"" },
        { "[{\"contains\": {\"x\": 1}}]", ": rule 1: expected a text in double quotes under \"contains\"" },
        { "[{\"contains\": [\"x\"]}]", ": rule 1: expected a text in double quotes under \"contains\"" },
        { "[{\"contains\": \"x\",\n\"starts\": \"x\", \"kind\": \"comm\"}]",
          ": rule 1: expected one of contains, starts and equals, found several" },
        { "[{\"kind\": \"comm\",\n\"kind\": \"comm\", \"equals\": \"x\"}]", ": rule 1: \"kind\" stands twice in this rule" },
        { "[{\"contains\": \"x\", \"class\": \"comm\"}]",
          ": rule 1: \"class\" is no key of a rule: expected contains, starts or equals; kind; for communication collective" },
        { "[{\"contains\": \"x\", \"kind\":\n\"sync\"}]", ": rule 1: expected a kind: compute, comm, memcpy or memset" },
        { "[{\"contains\": \"x\", \"kind\": \"comm\", \"collective\": \"ring\"}]", ": rule 1: expected a collective: " },
        { "[{\"contains\": \"x\", \"kind\": \"comm\", \"collective\": \"none\"}]", ": rule 1: expected a collective: " },
        { "[{\"contains\": \"x\", \"kind\": \"memset\", \"collective\": \"barrier\"}]",
          ": rule 1: a collective goes with kind comm alone" },
        { "[{\"contains\": \"ring\", \"kind\": \"comm\"}, {\"equals\": \"my_ring\", \"kind\": \"compute\"}]",
          ": rule 2: no name comes to this rule: rule 1 takes them all" },
        { "[{\"starts\": \"a\", \"kind\": \"comm\"}, {\"starts\": \"ab\", \"kind\": \"compute\"}]",
          ": rule 2: no name comes to this rule: rule 1 takes them all" },
        { "[{\"equals\": \"a\", \"kind\": \"comm\"}, {\"equals\": \"a\", \"kind\": \"comm\"}]",
          ": rule 2: no name comes to this rule: rule 1 takes them all" },
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        tl_rules rules = { 0 };
        tl_error err = { 0 };
        const char *path = scratch_text("wrong.json", wrong[i].text);
        CU_ASSERT_EQUAL(tl_rules_read(path, &rules, &err), TL_EUSAGE);
        bool said = strncmp(err.text, path, strlen(path)) == 0 &&
                    strncmp(err.text + strlen(path), wrong[i].message, strlen(wrong[i].message)) == 0;
        CU_ASSERT(said);
        if (!said)
            fprintf(stderr, "%s\ngave: %s\n", wrong[i].text, err.text);
        CU_ASSERT_PTR_NULL(strchr(err.text, '\n'));
        tl_rules_free(&rules);
    }
    tl_rules rules = { 0 };
    tl_error err = { 0 };
    CU_ASSERT_EQUAL(tl_rules_read(scratch_path("missing.json"), &rules, &err), TL_EUSAGE);
}

static void the_specific_may_stand_above_the_general(void)
{
    tl_rules rules = { 0 };
    tl_error err = { 0 };
    const char *path = scratch_text("rules.json", "// mine\n[\n"
                                                  "  {\"equals\": \"ring\", \"kind\": \"memset\"},\n"
                                                  "  {\"starts\": \"ring\", \"kind\": \"memcpy\"},\n"
                                                  "  {\"contains\": \"ring\", \"kind\": \"comm\", \"collective\": \"unknown\"},\n"
                                                  "  {\"starts\": \"spring\", \"kind\": \"compute\"}   /* hidden */\n]");
    CU_ASSERT_EQUAL(tl_rules_read(path, &rules, &err), TL_EUSAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, ": rule 4: no name comes to this rule: rule 3"));
    tl_rules_free(&rules);

    path = scratch_text("rules.json", "// mine\n[{\"equals\": \"ring\", \"kind\": \"memset\"}, {\"starts\": \"ring\", \"kind\": \"memcpy\"},"
                                      " {\"contains\": \"ring\", \"kind\": \"comm\"}]");
    CU_ASSERT_EQUAL_FATAL(tl_rules_read(path, &rules, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_classify(&rules, TL_TEXT("ring"))->kind, TL_MEMSET);
    CU_ASSERT_EQUAL(tl_classify(&rules, TL_TEXT("ring2"))->kind, TL_MEMCPY);
    CU_ASSERT_EQUAL(tl_classify(&rules, TL_TEXT("a ring"))->kind, TL_COMM);
    tl_rules_free(&rules);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(every_rule_catches_the_name_it_was_seen_on),
        TEST(libraries_may_communicate),
        TEST(kernels_called_after_a_collective_communicate),
        TEST(arithmetic_beside_collectives_computes),
        TEST(behaviour_makes_a_name_communication),
        TEST(old_and_new_names_of_nccl_are_communication),
        TEST(requests_to_move_data_are_copies),
        TEST(nothing_is_said_of_names_that_nobody_knows),
        TEST(collective_arguments_are_understood),
        TEST(a_users_rules_stand_above_ours),
        TEST(what_is_wrong_in_rules_is_refused_with_its_place),
        TEST(the_specific_may_stand_above_the_general),
    };
    int failed = scratch_make() || unit_main("classify", tests, COUNT(tests));
    return scratch_remove() || failed;
}
