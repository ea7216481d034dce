/* test_print.c - rows as text, CSV and JSON, whatever bytes they hold. */
#include "tlmpi/model/kind.h"
#include "tlmpi/report/format/print.h"
#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_FIELDS(F, T)                                   \
    F(T, I32, rank, KEY, "", "a small number")                \
    F(T, I64, big, MEASURE, "ns", "a large number")           \
    F(T, F64, share, MEASURE, "", "a double")                 \
    F(T, TIME, start_ns, LABEL, "ns", "a time")               \
    F(T, NAME, name, LABEL, "", "a name")                     \
    F(T, ENUM(kind), kind, LABEL, "", "an enum")                                                                       \
    F(T, TEXT16, host, LABEL, "", "a text")
TL_TABLE(sample, SAMPLE_FIELDS);
TL_TABLE_DEFINE(sample, SAMPLE_FIELDS, TL_SCOPE_JOB, "sample", "what is it?");

enum { RANK, BIG, SHARE, START, NAME, KIND, HOST };

static const tl_sample plain = { 3, INT64_C(-9007199254740993), 0.1, 42, 0, TL_COMM, "node-1" };

static tl_text the_name;

static tl_text look_up(void *arg, uint32_t id)
{
    (void)arg, (void)id;
    return the_name;
}

/* What the printer says of n rows; the caller frees it. */
static char *print_as(tl_format format, const tl_sample *rows, size_t n, const uint32_t *columns, size_t ncolumns,
                      size_t text_width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    tl_printer p = { .out = out, .schema = &tl_sample_schema, .format = format, .columns = columns,
                     .ncolumns = ncolumns, .name = look_up, .text_width = text_width };
    bool ok = tl_print_begin(&p) && tl_print_rows(&p, rows, n);
    CU_ASSERT_TRUE(tl_print_end(&p) && ok);
    fclose(out);
    return text;
}

static void expect(tl_format format, const tl_sample *rows, size_t n, const uint32_t *columns, size_t ncolumns,
                   const char *want)
{
    char *got = print_as(format, rows, n, columns, ncolumns, 0);
    CU_ASSERT_STRING_EQUAL(got, want);
    if (strcmp(got, want) != 0)
        fprintf(stderr, "got:\n%s\nwant:\n%s\n", got, want);
    free(got);
}

static void every_type_has_its_text(void)
{
    the_name = TL_TEXT("gemm");
    expect(TL_FORMAT_CSV, &plain, 1, NULL, 0,
           "rank,big,share,start_ns,name,kind,host\n3,-9007199254740993,0.1,42,gemm,comm,node-1\n");
    expect(TL_FORMAT_JSON, &plain, 1, NULL, 0,
           "[\n{\"rank\": 3, \"big\": -9007199254740993, \"share\": 0.1, \"start_ns\": 42, \"name\": \"gemm\", "
           "\"kind\": \"comm\", \"host\": \"node-1\"}\n]\n");
    expect(TL_FORMAT_TABLE, &plain, 1, NULL, 0,
           "rank                big  share  start_ns  name  kind  host\n"
           "   3  -9007199254740993    0.1        42  gemm  comm  node-1\n");
}

static void no_value_is_empty_null_or_a_dash(void)
{
    tl_sample row = plain;
    const uint32_t columns[] = { SHARE, START, NAME };
    row.share = NAN;
    row.start_ns = TL_TIME_UNKNOWN;
    row.name = TL_NO_NAME;
    expect(TL_FORMAT_CSV, &row, 1, columns, 3, "share,start_ns,name\n,,\n");
    expect(TL_FORMAT_JSON, &row, 1, columns, 3, "[\n{\"share\": null, \"start_ns\": null, \"name\": null}\n]\n");
    expect(TL_FORMAT_TABLE, &row, 1, columns, 3, "share  start_ns  name\n    -         -  -\n");
}

static void one_empty_cell_is_still_a_line(void)
{
    tl_sample row = plain;
    const uint32_t column = SHARE;
    row.share = NAN;
    expect(TL_FORMAT_CSV, &row, 1, &column, 1, "share\n\"\"\n");
}

static void infinity_is_no_json(void)
{
    tl_sample row = plain;
    const uint32_t column = SHARE;
    row.share = -INFINITY;
    expect(TL_FORMAT_JSON, &row, 1, &column, 1, "[\n{\"share\": null}\n]\n");
    expect(TL_FORMAT_CSV, &row, 1, &column, 1, "share\n-inf\n");
}

static void doubles_are_short_and_read_back(void)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0, "0" },         { 1, "1" },        { -2.5, "-2.5" },   { 0.1, "0.1" },
        { 1e300, "1e+300" }, { 5e-324, "5e-324" }, { 0.1 + 0.2, "0.30000000000000004" },
        { 1.0 / 3, "0.3333333333333333" },     { DBL_MAX, "1.7976931348623157e+308" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_sample row = plain;
        const uint32_t column = SHARE;
        char want[64];
        row.share = cases[i].value;
        snprintf(want, sizeof want, "share\n%s\n", cases[i].text);
        expect(TL_FORMAT_CSV, &row, 1, &column, 1, want);
        CU_ASSERT_EQUAL(strtod(cases[i].text, NULL), cases[i].value);
    }
}

static void tables_for_people_have_six_digits(void)
{
    tl_sample row = plain;
    const uint32_t column = SHARE;
    row.share = 1.0 / 3;
    expect(TL_FORMAT_TABLE, &row, 1, &column, 1, "   share\n0.333333\n");
}

static void hostile_names_stay_in_their_cell(void)
{
    const uint32_t column = NAME;

    the_name = TL_TEXT("a\"b\\c\n\x1b[31m\x01\x7f\xff\xc3\xa9\xc2\x9b\xe2\x80\xae");
    expect(TL_FORMAT_JSON, &plain, 1, &column, 1,
           "[\n{\"name\": \"a\\\"b\\\\c\\n\\u001b[31m\\u0001\\u007f\\ufffd\xc3\xa9\\u009b\\u202e\"}\n]\n");
    expect(TL_FORMAT_CSV, &plain, 1, &column, 1,
           "name\n\"a\"\"b\\c\n\xef\xbf\xbd[31m"
           "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xe2\x80\xae\"\n");
    expect(TL_FORMAT_TABLE, &plain, 1, &column, 1, "name\na\"b\\c??[31m???\xc3\xa9??\n");

    the_name = (tl_text){ "a\0b", 3 };
    expect(TL_FORMAT_JSON, &plain, 1, &column, 1, "[\n{\"name\": \"a\\u0000b\"}\n]\n");
    expect(TL_FORMAT_CSV, &plain, 1, &column, 1, "name\na\xef\xbf\xbd" "b\n");
    expect(TL_FORMAT_TABLE, &plain, 1, &column, 1, "name\na?b\n");

    the_name = TL_TEXT("\xe2\x82");         /* a character that is cut */
    expect(TL_FORMAT_JSON, &plain, 1, &column, 1, "[\n{\"name\": \"\\ufffd\\ufffd\"}\n]\n");
}

static void csv_quotes_what_a_reader_would_split(void)
{
    static const char *const cases[][2] = {
        { "plain", "plain" }, { "a,b", "\"a,b\"" }, { "say \"x\"", "\"say \"\"x\"\"\"" },
        { " left", "\" left\"" }, { "two\r\nlines", "\"two\r\nlines\"" },
        { "=cmd|x", "'=cmd|x" }, { "+1", "'+1" }, { "-1", "'-1" }, { "@a,b", "\"'@a,b\"" }, { "\t=x", "'\t=x" },
        { "\r=x", "\"'\r=x\"" }, { "a=b", "a=b" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t columns[] = { NAME, RANK };
        char want[64];
        the_name = (tl_text){ cases[i][0], strlen(cases[i][0]) };
        snprintf(want, sizeof want, "name,rank\n%s,3\n", cases[i][1]);
        expect(TL_FORMAT_CSV, &plain, 1, columns, 2, want);
    }
}

static void a_full_text_cell_has_no_end(void)
{
    tl_sample row = plain;
    const uint32_t column = HOST;
    memcpy(row.host, "0123456789abcdef", sizeof row.host);
    expect(TL_FORMAT_CSV, &row, 1, &column, 1, "host\n0123456789abcdef\n");
}

static void an_enum_without_label_is_its_number(void)
{
    tl_sample row = plain;
    const uint32_t column = KIND;
    row.kind = 200;
    expect(TL_FORMAT_JSON, &row, 1, &column, 1, "[\n{\"kind\": 200}\n]\n");
}

static void no_rows_are_a_header_or_an_empty_array(void)
{
    const uint32_t columns[] = { HOST, RANK };
    expect(TL_FORMAT_CSV, NULL, 0, columns, 2, "host,rank\n");
    expect(TL_FORMAT_JSON, NULL, 0, columns, 2, "[]\n");
    expect(TL_FORMAT_TABLE, NULL, 0, columns, 2, "host  rank\n");
}

static void wide_text_is_cut_where_asked(void)
{
    const uint32_t columns[] = { NAME, RANK };
    the_name = TL_TEXT("\xc3\xa9" "bcdefghijkl");
    char *got = print_as(TL_FORMAT_TABLE, &plain, 1, columns, 2, 8);
    CU_ASSERT_STRING_EQUAL(got, "name      rank\n\xc3\xa9" "bcde...     3\n");
    free(got);

    got = print_as(TL_FORMAT_CSV, &plain, 1, columns, 2, 8);
    CU_ASSERT_STRING_EQUAL(got, "name,rank\n\xc3\xa9" "bcdefghijkl,3\n");
    free(got);
}

static void east_asian_characters_take_two_columns(void)
{
    const uint32_t columns[] = { NAME, RANK };
    the_name = TL_TEXT("\xe7\x9f\xa9\xe9\x98\xb5" "a\xed\x95\x9c"); /* three wide ones and an a */
    expect(TL_FORMAT_TABLE, &plain, 1, columns, 2, "name     rank\n\xe7\x9f\xa9\xe9\x98\xb5" "a\xed\x95\x9c     3\n");
    char *text = print_as(TL_FORMAT_TABLE, &plain, 1, columns, 1, 6);
    CU_ASSERT_STRING_EQUAL(text, "name\n\xe7\x9f\xa9...\n"); /* the second would pass the sixth column */
    free(text);
}

#define BRANCH_FIELDS(F, T)               \
    F(T, I32, parent, LABEL, "", "around it") \
    F(T, I32, depth, LABEL, "", "nodes around it") \
    F(T, NAME, other, LABEL, "", "a name that is not the node's") \
    F(T, NAME, name, LABEL, "", "its name")
TL_TABLE(branch, BRANCH_FIELDS);
TL_TABLE_DEFINE(branch, BRANCH_FIELDS, TL_SCOPE_JOB, "tree", "what is around what?");

/* Where people read it, and nowhere else; a cut leaves as much of the name at any depth. */
static void names_of_a_tree_are_indented(void)
{
    const tl_branch rows[] = { { -1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 1, 2, 0, TL_NO_NAME } };
    the_name = TL_TEXT("aten::linear");
    for (int csv = 0; csv < 2; csv++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        tl_printer p = { .out = out, .schema = &tl_branch_schema, .format = csv ? TL_FORMAT_CSV : TL_FORMAT_TABLE,
                         .name = look_up, .text_width = csv ? 0 : 9 };
        bool ok = tl_print_begin(&p) && tl_print_rows(&p, rows, 3);
        CU_ASSERT_TRUE(tl_print_end(&p) && ok);
        fclose(out);
        CU_ASSERT_STRING_EQUAL(text, csv ? "parent,depth,other,name\n"
                                           "-1,0,aten::linear,aten::linear\n"
                                           "0,1,aten::linear,aten::linear\n"
                                           "1,2,aten::linear,\n"
                                         : "parent  depth  other      name\n"
                                           "    -1      0  aten::...  aten::...\n"
                                           "     0      1  aten::...    aten::...\n"
                                           "     1      2  aten::...      -\n");
        free(text);
    }
}

static void packed_rows_print_as_loose_ones(void)
{
    /* A byte in front puts every cell off its alignment. */
    static const tl_field fields[] = {
        { "tag", "", "", TL_ROLE_KEY, 1, 0, TL_TYPE_ENUM, NULL, NULL },
        { "value", "", "", TL_ROLE_MEASURE, 8, 1, TL_TYPE_I64, NULL, NULL },
        { "share", "", "", TL_ROLE_MEASURE, 8, 9, TL_TYPE_F64, NULL, NULL },
    };
    static const tl_schema schema = { "packed", "", "", TL_SCOPE_JOB, fields, 3, 17, false };
    unsigned char rows[2 * 17];
    int64_t values[] = { -1, INT64_MIN };
    double share = 0.5;
    for (size_t i = 0; i < 2; i++) {
        rows[17 * i] = (unsigned char)i;
        memcpy(rows + 17 * i + 1, &values[i], 8);
        memcpy(rows + 17 * i + 9, &share, 8);
    }

    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    tl_printer p = { .out = out, .schema = &schema, .format = TL_FORMAT_CSV };
    CU_ASSERT_TRUE(tl_print_begin(&p) && tl_print_rows(&p, rows, 1) && tl_print_rows(&p, rows + 17, 1));
    CU_ASSERT_TRUE(tl_print_end(&p));
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, "tag,value,share\n0,-1,0.5\n1,-9223372036854775808,0.5\n");
    free(text);
}

static void a_table_of_any_length_prints_every_row_once(void)
{
    enum { ROWS = 2500 };
    tl_sample *rows = calloc(ROWS, sizeof *rows);
    const uint32_t column = RANK;
    for (int i = 0; i < ROWS; i++)
        rows[i].rank = i;
    char *got = print_as(TL_FORMAT_TABLE, rows, ROWS, &column, 1, 0);
    const char *at = strchr(got, '\n');
    for (int i = 0; i < ROWS; i++) {
        char *end;
        CU_ASSERT_EQUAL(strtol(at, &end, 10), i);
        at = end;
    }
    CU_ASSERT_STRING_EQUAL(at, "\n");
    free(got);
    free(rows);
}

static void a_full_disk_is_said(void)
{
    FILE *out = fopen("/dev/full", "w");
    if (out == NULL)
        return;
    for (tl_format format = TL_FORMAT_TABLE; format <= TL_FORMAT_JSON; format++) {
        tl_printer p = { .out = out, .schema = &tl_sample_schema, .format = format };
        clearerr(out);
        bool ok = tl_print_begin(&p) && tl_print_rows(&p, &plain, 1);
        ok = tl_print_end(&p) && ok;
        CU_ASSERT_FALSE(ok);
    }
    fclose(out);
}

static const unit_test tests[] = {
    TEST(every_type_has_its_text),
    TEST(no_value_is_empty_null_or_a_dash),
    TEST(one_empty_cell_is_still_a_line),
    TEST(infinity_is_no_json),
    TEST(doubles_are_short_and_read_back),
        TEST(tables_for_people_have_six_digits),
    TEST(hostile_names_stay_in_their_cell),
    TEST(csv_quotes_what_a_reader_would_split),
    TEST(a_full_text_cell_has_no_end),
    TEST(an_enum_without_label_is_its_number),
    TEST(no_rows_are_a_header_or_an_empty_array),
    TEST(wide_text_is_cut_where_asked),
    TEST(east_asian_characters_take_two_columns),
    TEST(names_of_a_tree_are_indented),
    TEST(packed_rows_print_as_loose_ones),
    TEST(a_table_of_any_length_prints_every_row_once),
    TEST(a_full_disk_is_said),
};

int main(void)
{
    return unit_main("print", tests, COUNT(tests));
}
