/* test_hta_plot.c - names as HTA shortens them, and the bars of its timeline. */
#include "hta_trace.h"

typedef void shorten(tl_bytes *out, tl_text name);

static bool is_shortened(shorten *by, const char *name, const char *want)
{
    tl_bytes out = { 0 };
    by(&out, (tl_text){ name, strlen(name) });
    bool same = out.n == strlen(want) && (out.n == 0 || memcmp(out.v, want, out.n) == 0);
    if (!same)
        printf("\n    %s: %.*s instead of %s\n", name, (int)out.n, out.v, want);
    tl_bytes_free(&out);
    return same;
}

static void a_short_name_has_no_brackets(void)
{
    static const char *const known[][2] = {
        { "ampere_sgemm_32x32", "ampere_sgemm_32x32" },
        { "aten::add one", "aten::add one" },                        /* without brackets blanks stay */
        { "void f<int, g<4>>(int*, char const*)", "f" },
        { "at::native::(anonymous namespace)::k<2>(long)", "at::native::::k" },
        { "Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)" },
        { "hipMemcpyAsync<1>", "hipMemcpyAsync<1>" },
        { "dma(1)", "dma(1)" },
        { "f(decltype((x)->y))::z", "f::z" },
        { "a-->b(1)", "a-b" },
        { "a->>b(1)", "b" },                                          /* the second > takes away all */
        { "a(b<c)d>e", "e" },                                         /* the < has gone with its ( */
        { "f(1) const ", "" },
        { "f(1", "f(1" },
        { "<built-in method a of type object at 0x1>", "" },
        { "x >y", "x >y" },
        { "x >y<", "y<" },
        { "(", "(" },
    };
    CU_ASSERT(is_shortened(tl_hta_short_name, "", ""));
    for (size_t i = 0; i < COUNT(known); i++)
        CU_ASSERT(is_shortened(tl_hta_short_name, known[i][0], known[i][1]));
}

static void a_plot_shows_up_to_44_characters(void)
{
    static const char *const known[][2] = {
        { "12345678901234567890123456789012345678901234", "12345678901234567890123456789012345678901234" },
        { "123456789012345678901234567890123456789012345", "123456789012345678901234567890123456789012..." },
        { "\u00e4\u00f6\u00fc45678901234567890123456789012345678901234", "\u00e4\u00f6\u00fc45678901234567890123456789012345678901234" },
        { "\u00e4\u00f6\u00fc456789012345678901234567890123456789012345", "\u00e4\u00f6\u00fc456789012345678901234567890123456789012..." },
        { "<built-in method append of list object at 0x7fc740c64540>", "<built-in method append of list object at ..." },
        { "## forward ##", "## forward ##" },
        { "####", "####" },
        { "####(x)", "####" },
        { "<>-", "<>" },
        { "<a-b>", "<a-b>" },
        { "<a-b>(", "<a" },
        { "Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)" },
        { "Memset (Device)", "Memset (Device)" },
        { "Memset(Device)", "Memset" },
        { "Mem (x-y)", "Mem " },
        { "Memcpy a b (x-y)", "Memcpy a b " },
        { "Memcpy ()", "Memcpy " },
        { "void f<int>(int)", "f<int>" },
        { "void void  f(int)", "f" },
        { "voidf(int)", "voidf" },
        { "void", "void" },
        { "void ", "" },
        { "void void ", "void " },
        { "void void  *", " " },
        { "void void *", "void " },
        { "at::native::(anonymous namespace)::k<(anonymous namespace)::l>()", "at::native::anon::k<anon::l>" },
        { "autograd::engine::evaluate_function: AddBackward", "autograd::AddBackward" },
        { "torch/nn/module.py(12): forward", "torch" },
        { "(x)", "(x)" },                                             /* nothing plain at the beginning */
        { "/a", "/a" },
    };
    CU_ASSERT(is_shortened(tl_hta_timeline_name, "", ""));
    for (size_t i = 0; i < COUNT(known); i++)
        CU_ASSERT(is_shortened(tl_hta_timeline_name, known[i][0], known[i][1]));
}

static void names_are_listed_once_by_where_their_rows_are(void)
{
    const char *text = TRACE(OP("f(1)", "1", "1") "," OP("plain", "2", "1") "," KERNEL("plain", "7", "1", "3", "1") ","
                             KERNEL("void g<int>(int)", "7", "2", "4", "1")),
               *more = TRACE(OP("<b>", "1", "1") "," OP("f(1)", "1", "1") "," KERNEL("f(1)", "0", "1", "3", "1"));
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_names, "names.csv", text, more, false),
                           "device,name,kernel_type,short_name,timeline_name\n"
                           "cpu,<b>,,,<b>\n"
                           "cpu,f(1),,f,f\n"
                           "gpu,f(1),COMPUTATION,f,f\n"
                           "gpu,plain,COMPUTATION,plain,plain\n"
                           "gpu,void g<int>(int),COMPUTATION,g,g<int>\n");
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_names, "names.csv", TRACE(KERNEL("", "7", "1", "3", "1")), NULL, false),
                           "device,name,kernel_type,short_name,timeline_name\ngpu,,COMPUTATION,,\n");
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_names, "names.csv", TRACE(OP("plain", "2", "1")), NULL, false), "(no file)");
    CU_ASSERT_STRING_EQUAL(table_notes, "names: all ranks: no name is shortened and none is a kernel's\n");
}

#define BARS "index,task,calibrated_start_global,calibrated_end_global,name,rank\n"

static void bars_are_drawn_by_stream_and_time(void)
{
    /* By the text of the stream, so that 1000 comes before 7.  Rank 1 begins at its own first row. */
    const char *text = TRACE(KERNEL("a", "7", "1", "130", "2") "," KERNEL("b", "7", "2", "110", "1500") ","
                             KERNEL("c", "1000", "3", "120", "999") "," KERNEL("d", "0", "4", "120", "1") ","
                             KERNEL("e", "7", "5", "110", "1") "," OP("host", "90", "9")),
               *more = TRACE(KERNEL("void f(int)", "7", "1", "500", "1"));
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_timeline_gpu, "timeline_gpu.csv", text, more, false),
                           BARS "3,gpu stream 000,10,1010,d,0\n"
                                "1,gpu stream 007,0,1500,b,0\n"
                                "4,gpu stream 007,0,1000,e,0\n"
                                "0,gpu stream 007,20,1020,a,0\n"
                                "2,gpu stream 1000,10,1010,c,0\n"
                                "0,gpu stream 007,0,1000,f,1\n");
}

static void the_default_stream_alone_has_no_name(void)
{
    /* An entry without dur makes durations doubles; ends are, where a bar is as long as its row. */
    const char *text = TRACE(META "," KERNEL("a", "0", "1", "10", "2")), *more = TRACE(META "," KERNEL("b", "0", "1", "10", "1000"));
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_timeline_gpu, "timeline_gpu.csv", text, NULL, false),
                           BARS "1,gpu annotate,0,1000,a,0\n");
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_timeline_gpu, "timeline_gpu.csv", text, more, false),
                           BARS "1,gpu annotate,0,1000,a,0\n1,gpu annotate,0,1000,b,1\n");
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_timeline_gpu, "timeline_gpu.csv", TRACE(OP("a", "1", "1")), NULL, false),
                           "(no file)");
    CU_ASSERT_STRING_EQUAL(table_notes, "timeline_gpu: all ranks: no GPU events, where HTA has no timeline\n");
}

static const unit_test tests[] = {
    TEST(a_short_name_has_no_brackets),
    TEST(a_plot_shows_up_to_44_characters),
    TEST(names_are_listed_once_by_where_their_rows_are),
    TEST(bars_are_drawn_by_stream_and_time),
    TEST(the_default_stream_alone_has_no_name),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta plot", tests, COUNT(tests));
    scratch_remove();
    return status;
}
