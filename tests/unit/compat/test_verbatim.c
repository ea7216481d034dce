/* test_verbatim.c - what the emulators keep of entries beside the columns, through the hook of the reader. */
#include "scratch.h"
#include "tlmpi/compat/verbatim.h"
#include "tlmpi/trace/read/reader.h"
#include "unit.h"
#include <math.h>

static tl_trace read_with(const tl_entry_hook *hook, const char *text, bool yajl_only)
{
    const tl_read_options options = { .keep = ~0u, .yajl_only = yajl_only, .hook = hook };
    tl_trace trace;
    tl_error err = { 0 };
    CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("verbatim.json", text), &options, &trace, &err), TL_OK);
    return trace;
}

/* By either event reader. */
static void more_arguments_are_kept_where_asked(void)
{
    static const char text[] =
        "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":null,\"ts\":1,\"dur\":2.0,\"args\":{"
        "\"External id\":9,\"correlation\":\"c\",\"kind\":2,\"Input Dims\":[[5, 3],[]],\"Input Strides\":[ ],"
        "\"Concrete Inputs\":[\"\",\"1\\n]\"]}},"
        "{\"cat\":\"ac2g\",\"id\":1.5,\"ts\":\"1\",\"args\":null},"
        "{\"cat\":\"ac2g\",\"ph\":\"s\",\"id\":-3,\"ts\":1.5,\"args\":{\"correlation\":null,\"External id\":[1]}}]";

    for (int yajl = 0; yajl < 2; yajl++) {
        tl_verbatim words = { 0 };
        const tl_entry_hook hook = tl_verbatim_hook(&words, true);
        tl_trace t = read_with(&hook, text, yajl != 0);
        const tl_more *m = words.more;
        const tl_names *names = &t.events.names;
        CU_ASSERT_EQUAL_FATAL(t.events.n, 3);
        CU_ASSERT_EQUAL(m[0].external_id, 9);
        CU_ASSERT_EQUAL(m[0].correlation, TL_REF_TEXT | tl_names_find(names, "c", 1));
        CU_ASSERT_EQUAL(m[0].id, TL_REF_NONE);
        CU_ASSERT_STRING_EQUAL(tl_names_text(names, m[0].kind).p, "2");
        CU_ASSERT_STRING_EQUAL(tl_names_text(names, m[0].input_dims).p, "[[5, 3],[]]");
        CU_ASSERT_STRING_EQUAL(tl_names_text(names, m[0].input_strides).p, "[ ]");
        CU_ASSERT_STRING_EQUAL(tl_names_text(names, m[0].concrete_inputs).p, "[\"\",\"1\\n]\"]");
        CU_ASSERT_EQUAL(m[0].has, TL_MORE_ARGS | TL_MORE_PH | TL_MORE_PID | TL_MORE_CORRELATION | TL_MORE_WHOLE_TS);
        CU_ASSERT_EQUAL(m[1].id, TL_REF_TEXT | TL_REF_NUMBER | tl_names_find(names, "1.5", 3));
        CU_ASSERT_EQUAL(m[1].has, 0);
        CU_ASSERT_EQUAL(m[1].kind, TL_NO_NAME);
        CU_ASSERT_EQUAL(m[1].input_dims, TL_NO_NAME);
        CU_ASSERT_EQUAL(m[2].id, -3);
        CU_ASSERT_EQUAL(m[2].correlation, TL_REF_NONE);
        CU_ASSERT_EQUAL(m[2].external_id, TL_REF_NONE);
        CU_ASSERT_EQUAL(m[2].has, TL_MORE_ARGS | TL_MORE_PH | TL_MORE_CORRELATION);
        CU_ASSERT_EQUAL(words.dur[0], 2);
        CU_ASSERT_EQUAL(words.ts[1], 1);
        CU_ASSERT(isnan(words.dur[1]));
        tl_trace_free(&t);
        tl_verbatim_free(&words);
    }
    tl_trace plain = read_with(NULL, text, false);
    CU_ASSERT_EQUAL(tl_names_find(&plain.events.names, "[ ]", 3), TL_NO_NAME);
    tl_trace_free(&plain);
}

/* Times alone cost no texts. */
static void times_may_be_kept_alone(void)
{
    tl_verbatim words = { 0 };
    const tl_entry_hook hook = tl_verbatim_hook(&words, false);
    tl_trace t =
        read_with(&hook, "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0.1,\"dur\":3,\"args\":{\"Input Dims\":[ ]}}]", false);

    CU_ASSERT_EQUAL_FATAL(t.events.n, 1);
    CU_ASSERT_EQUAL(words.ts[0], 0.1);
    CU_ASSERT_EQUAL(words.dur[0], 3);
    CU_ASSERT_PTR_NULL(words.more);
    CU_ASSERT_EQUAL(tl_names_find(&t.events.names, "[ ]", 3), TL_NO_NAME);
    tl_trace_free(&t);
    tl_verbatim_free(&words);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(more_arguments_are_kept_where_asked),
        TEST(times_may_be_kept_alone),
    };
    int failed = scratch_make() || unit_main("verbatim", tests, COUNT(tests));
    return scratch_remove() || failed;
}
