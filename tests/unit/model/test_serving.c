/* test_serving.c - what the names of a server's iterations tell. */
#include "tlmpi/model/view.h"
#include "unit.h"
#include <math.h>

typedef struct said {
    const char *name;
    tl_serving serving;
    double requests, tokens; /* -1: not told */
} said;

static bool tells(double number, double told)
{
    return told < 0 ? isnan(number) : number == told;
}

static void a_name_tells_the_kind_the_requests_and_the_tokens(void)
{
    static const said all[] = {
        { "step[DECODE bs=64 toks=64 g_sqsk=4096]", TL_DECODE, 64, 64 },
        { "step[DECODE bs=64]", TL_DECODE, 64, -1 },
        { "step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]", TL_DECODE, 64, 128 },
        { "step[TARGET_VERIFY bs=8]", TL_DECODE, 8, -1 },
        { "step[EXTEND bs=2 toks=14721]", TL_PREFILL, 2, 14721 },
        { "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12]", TL_MIXED, 2, 6 },
        { "step[IDLE bs=0]", TL_SERVING_OTHER, 0, -1 },
        { "step[DRAFT_EXTEND_V2 bs=3]", TL_SERVING_OTHER, 3, -1 },
        { "execute_context_2(14721)_generation_0(0)", TL_PREFILL, 2, 14721 },
        { "execute_context_0(0)_generation_64(64)", TL_DECODE, 64, 64 },
        { "execute_context_3(1024)_generation_12(12)", TL_MIXED, 15, 1036 },
        { "execute_context_0(0)_generation_0(0)", TL_SERVING_OTHER, 0, 0 },
        { "execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)_generation_3(sq3sk6144sqsq3sqsk6144)", TL_MIXED, 5,
          6147 },
        { "execute_new_2_cached_0", TL_PREFILL, 2, -1 },
        { "execute_new_0_cached_7", TL_DECODE, 7, -1 },
        { "[Executor] _forward_step 60000: 1 ctx reqs, 32 gen reqs", TL_MIXED, 33, -1 },
        { "[Executor] _forward_step: 0 ctx reqs, 32 gen reqs", TL_DECODE, 32, -1 },
        { "[Executor] _forward_step 7: 2 ctx reqs, 900 ctx tokens, 0 gen reqs", TL_PREFILL, 2, -1 },
        { "prefill[bs=2 tok=14721 ctx=[7803, 6918]]", TL_PREFILL, 2, 14721 },
        { "decode[bs=117/128 tok=117 d=117]", TL_DECODE, 117, 117 },
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        tl_iteration found = tl_iteration_of(tl_text_of(all[i].name));
        CU_ASSERT_EQUAL(found.serving, all[i].serving);
        CU_ASSERT(tells(found.requests, all[i].requests) && tells(found.tokens, all[i].tokens));
    }
}

static void other_names_are_no_iterations(void)
{
    static const char *const all[] = { "",
                                       "s",
                                       "step",
                                       "step[",
                                       "step[3]",
                                       "step[DECODE bs=]",
                                       "step[DECODE bs=1234567890]",
                                       "ProfilerStep#3",
                                       "execute_context_",
                                       "execute_context_3(1024)_generation_12(12",
                                       "execute_context_3(1024)_generation_12(12) ",
                                       "execute_model",
                                       "[Executor] _forward_step",
                                       "prefill",
                                       "decode[12]",
                                       "DistributedDataParallel.forward" };
    for (size_t i = 0; i < COUNT(all); i++)
        CU_ASSERT_EQUAL(tl_iteration_of(tl_text_of(all[i])).serving, TL_NOT_SERVING);
    /* A name has no end but its length. */
    CU_ASSERT_EQUAL(tl_iteration_of((tl_text){ "step[DECODE bs=64]", 15 }).serving, TL_NOT_SERVING);
}

static const unit_test tests[] = {
    TEST(a_name_tells_the_kind_the_requests_and_the_tokens),
    TEST(other_names_are_no_iterations),
};

int main(void)
{
    return unit_main("serving", tests, COUNT(tests));
}
