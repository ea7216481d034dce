/* test_heat_draw.c - a heat map as text of SVG: each cell once, runs of one shade as one, outlines, what is missing. */
#include "heat_job.h"
#include <math.h>

static tl_picture picture_of(const heat_job *j)
{
    return (tl_picture){ .heat = &j->heat,
                         .shades = tl_shades_by_scatter(&j->heat),
                         .rows = tl_heat_rows(&j->heat, NULL),
                         .id = "p",
                         .title = "A < B",
                         .finding = "rank 1",
                         .cell = "against its peers",
                         .late = "late",
                         .weak = "perhaps" };
}

/* The scale at the end is drawn by itself: what stands before. */
static char *cells_of(const tl_picture *p)
{
    char *text = drawn_text(p), *legend = strstr(text, "<div class=\"legend\">");
    CU_ASSERT_PTR_NOT_NULL_FATAL(legend);
    *legend = '\0';
    return text;
}

static void a_small_one_is_drawn_cell_by_cell(void)
{
    heat_job *j = drawn_heat(2, (const char *const[]){ "0b", ".5" });
    tl_picture p = picture_of(j);
    tl_vec_push(&p.outlines, (tl_outline){ .row = 1, .first = 1, .last = 1 });
    p.rows.named[1] = true;
    char *text = cells_of(&p);
    static const char expected[] =
        "<div style=\"max-width:164px\">\n"
        "<svg class=\"plot\" role=\"img\" aria-labelledby=\"p-title p-says\" height=\"74\" "
        "style=\"margin-left:84px;width:calc(100% - 84px)\">\n"
        "<title id=\"p-title\">A &lt; B</title><desc id=\"p-says\">rank 1</desc>\n"
        "<text class=\"end\" x=\"-8\" y=\"14\">rank 0</text>\n"
        "<rect class=\"band\" x=\"0.00%\" y=\"20\" width=\"100.00%\" height=\"20\"/>"
        "<text class=\"end named\" x=\"-8\" y=\"34\">\xE2\x96\xB8 rank 1</text>\n"
        "<rect class=\"cell n\" x=\"0.00%\" y=\"0\" width=\"50.00%\" height=\"20\">"
        "<title>rank 0, step 1: 0.0\xC2\xA0% against its peers (0\xC2\xA0us of 1.00\xC2\xA0us)</title></rect>\n"
        "<rect class=\"cell b2\" x=\"50.00%\" y=\"0\" width=\"50.00%\" height=\"20\">"
        "<title>rank 0, step 2: -20.0\xC2\xA0% against its peers (-0.20\xC2\xA0us of 1.00\xC2\xA0us)</title></rect>\n"
        "<rect class=\"cell m\" x=\"0.00%\" y=\"20\" width=\"50.00%\" height=\"20\">"
        "<title>rank 1, step 1: no record</title></rect>\n"
        "<rect class=\"cell a3\" x=\"50.00%\" y=\"20\" width=\"50.00%\" height=\"20\">"
        "<title>rank 1, step 2: +50.0\xC2\xA0% against its peers (0.50\xC2\xA0us of 1.00\xC2\xA0us)</title></rect>\n"
        "<rect class=\"under\" x=\"50.00%\" y=\"20\" width=\"50.00%\" height=\"20\"/>"
        "<rect class=\"late\" x=\"50.00%\" y=\"20\" width=\"50.00%\" height=\"20\"/>"
        "<text class=\"quiet middle\" x=\"25.00%\" y=\"54\">1</text>\n"
        "<text class=\"quiet middle\" x=\"75.00%\" y=\"54\">2</text>\n"
        "<text class=\"quiet\" x=\"0.00%\" y=\"69\">step</text>\n"
        "</svg>\n</div>\n";
    CU_ASSERT_STRING_EQUAL(text, expected);
    if (strcmp(text, expected) != 0)
        fprintf(stderr, "found:\n%s", text);
    free(text);
    free(p.outlines.v);
    free_heat(j);
}

/* 30 ranks of 100 steps, of which one is longer, one shorter, and one missing for a while. */
static heat_job *large(void)
{
    static char lines[30][101];
    const char *of[30];
    for (size_t r = 0; r < 30; r++) {
        memset(lines[r], r == 3 ? '3' : r == 4 ? 'c' : '0', 100);
        of[r] = lines[r];
    }
    memset(lines[5] + 40, '.', 20);
    memset(lines[3] + 50, '6', 10);
    return drawn_heat(30, of);
}

static void neighbours_of_one_shade_are_one_piece(void)
{
    heat_job *j = large();
    tl_picture p = picture_of(j);
    char *text = cells_of(&p);
    CU_ASSERT_EQUAL(count_of(text, "<rect"), 0);
    /* A step is 1 wide, rows have 13 pixels; 0.5, 1, 2, 5, 10, 20 %: 30 and 60 % are one shade. */
    CU_ASSERT_EQUAL(count_of(text, "<path class=\"a6\" d=\"M0 39h100v12h-100z\"/>\n"), 1);
    CU_ASSERT_EQUAL(count_of(text, "<path class=\"b6\" d=\"M0 52h100v12h-100z\"/>\n"), 1);
    CU_ASSERT_EQUAL(count_of(text, "<path class=\"m\" d=\"M40 65h20v12h-20z\"/>\n"), 1);
    CU_ASSERT_EQUAL(count_of(text, "<path class=\"a") + count_of(text, "<path class=\"b"), 2);
    free(text);
    free_heat(j);
}

/* Cells of the paths of a class. */
static size_t cells_drawn(const char *text, const char *class)
{
    size_t n = 0;
    const char *p = strstr(text, class), *end = p != NULL ? strchr(p, '>') : NULL;
    for (p = p != NULL ? strchr(p, 'h') : NULL; p != NULL && p < end;
         p = strchr(p + 1, 'z') == NULL ? NULL : strchr(strchr(p + 1, 'z'), 'h'))
        n += (size_t)atoi(p + 1);
    return n;
}

/* Random shades, and each cell is drawn in its own, once. */
static void as_many_cells_are_drawn_as_given(void)
{
    enum { RANKS = 40, STEPS = 90 };
    static char lines[RANKS][STEPS + 1];
    static const char of_cell[] = "0000000000001125abe.";
    const char *of[RANKS];
    uint64_t state = 7;
    for (size_t r = 0; r < RANKS; r++) {
        for (size_t s = 0; s < STEPS; s++)
            lines[r][s] = of_cell[unit_below(&state, sizeof of_cell - 1)];
        of[r] = lines[r];
    }
    heat_job *j = drawn_heat(RANKS, of);
    tl_picture p = picture_of(j);
    p.shades = tl_shades_of_parts();
    p.shades.both = true; /* from 1 percent on: 10, 20 and 50 are shades 4, 5 and 6 */
    char *text = cells_of(&p);
    static const struct {
        const char *class;
        char cell;
    } kinds[] = { { "\"a4\"", '1' }, { "\"a5\"", '2' }, { "\"a6\"", '5' }, { "\"b4\"", 'a' },
                  { "\"b5\"", 'b' }, { "\"b6\"", 'e' }, { "\"m\"", '.' }, { "\"n\"", '0' } };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        size_t n = 0;
        for (size_t r = 0; r < RANKS; r++)
            for (size_t s = 0; s < STEPS; s++)
                n += lines[r][s] == kinds[k].cell;
        CU_ASSERT_EQUAL(cells_drawn(text, kinds[k].class), n);
    }
    free(text);
    free_heat(j);
}

static void the_legend_has_what_the_picture_has(void)
{
    heat_job *j = drawn_heat(2, (const char *const[]){ "00", "05" });
    tl_picture p = picture_of(j);
    char *text = drawn_text(&p);
    CU_ASSERT_PTR_NULL(strstr(text, "nothing recorded"));
    CU_ASSERT_PTR_NULL(strstr(text, ">late<"));
    CU_ASSERT_PTR_NULL(strstr(text, "others"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "shorter"));
    free(text);
    tl_vec_push(&p.outlines, (tl_outline){ .row = 0, .weak = true });
    tl_vec_push(&p.outlines, (tl_outline){ .row = 1 });
    p.shades = tl_shades_of_parts();
    text = drawn_text(&p);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "late</span>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "perhaps</span>"));
    CU_ASSERT_PTR_NULL(strstr(text, "shorter"));
    free(text);
    free(p.outlines.v);
    free_heat(j);
    j = drawn_heat(2, (const char *const[]){ "0.", "05" });
    p = picture_of(j);
    text = drawn_text(&p);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "nothing recorded"));
    free(text);
    free_heat(j);
}

static void hosts_are_named_where_they_differ(void)
{
    heat_job *j = drawn_heat(4, (const char *const[]){ "0", "0", "0", "0" });
    tl_rank rows[4] = { { .rank = 0 }, { .rank = 1 }, { .rank = 2 }, { .rank = 3 } };
    const tl_table table = { .schema = &tl_rank_schema, .rows = (unsigned char *)rows, .n = 4 };
    for (size_t r = 0; r < 4; r++)
        snprintf(rows[r].host, sizeof rows[r].host, "n<%zu.cluster", r / 2);
    tl_picture p = picture_of(j);
    p.rows.hosts = &table;
    char *text = drawn_text(&p);
    CU_ASSERT_EQUAL(count_of(text, "n&lt;0</text>"), 1);
    CU_ASSERT_EQUAL(count_of(text, "n&lt;1</text>"), 1);
    free(text);
    memcpy(rows[2].host, rows[0].host, sizeof rows[0].host);
    memcpy(rows[3].host, rows[0].host, sizeof rows[0].host);
    text = drawn_text(&p);
    CU_ASSERT_PTR_NULL(strstr(text, "n&lt;"));
    free(text);
    free_heat(j);
}

static void shades_begin_where_scatter_ends(void)
{
    tl_shades parts = tl_shades_of_parts();
    CU_ASSERT_EQUAL(tl_shade_of(&parts, 0.0099), 0);
    CU_ASSERT_EQUAL(tl_shade_of(&parts, 0.01), 1);
    CU_ASSERT_EQUAL(tl_shade_of(&parts, 0.5), TL_SHADES);
    CU_ASSERT_EQUAL(tl_shade_of(&parts, -0.5), 0);
    /* Always longer is no scatter; up and down by 10 % is: the first shade then begins as late as it may. */
    heat_job *j = drawn_heat(2, (const char *const[]){ "0000", "3333" });
    tl_shades s = tl_shades_by_scatter(&j->heat);
    CU_ASSERT_DOUBLE_EQUAL(s.limits[0], 0.005, 0);
    CU_ASSERT_EQUAL(tl_shade_of(&s, -0.005), -1);
    free_heat(j);
    j = drawn_heat(2, (const char *const[]){ "1a1a", "a1a1" });
    CU_ASSERT_DOUBLE_EQUAL(tl_shades_by_scatter(&j->heat).limits[0], 0.1, 0);
    free_heat(j);
}

static void shares_are_said_shortly(void)
{
#define P " %"
    CU_ASSERT_STRING_EQUAL(tl_show_share(0.1234, false).text, "12.3" P);
    CU_ASSERT_STRING_EQUAL(tl_show_share(0.1234, true).text, "+12.3" P);
    CU_ASSERT_STRING_EQUAL(tl_show_share(-0.004, true).text, "-0.4" P);
    CU_ASSERT_STRING_EQUAL(tl_show_share(-0.0004, true).text, "0.0" P);
    CU_ASSERT_STRING_EQUAL(tl_show_share(1.5, true).text, "+150" P);
    CU_ASSERT_STRING_EQUAL(tl_show_share(1000, true).text, "+999" P " or more");
}

/* No two neighbours alike: bytes of one of nine pictures that a page may have, which together are less than 5 MB. */
static void the_largest_pictures_are_small(void)
{
    static const size_t sizes[][2] = { { TL_HEAT_ROWS, TL_HEAT_COLUMNS }, { 20, 100 } };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        static char lines[TL_HEAT_ROWS][TL_HEAT_COLUMNS + 1];
        const char *of[TL_HEAT_ROWS] = { NULL };
        uint64_t state = 3;
        for (size_t r = 0; r < sizes[i][0]; r++) {
            for (size_t s = 0; s < sizes[i][1]; s++)
                lines[r][s] = "15ae."[(s + unit_below(&state, 2) * 2 + r) % 5];
            lines[r][sizes[i][1]] = '\0';
            of[r] = lines[r];
        }
        heat_job *j = drawn_heat(sizes[i][0], of);
        tl_picture p = picture_of(j);
        p.shades = tl_shades_of_parts();
        p.shades.both = true;
        char *text = drawn_text(&p);
        CU_ASSERT_TRUE(strlen(text) < 500000);
        CU_ASSERT_EQUAL(count_of(text, "</title></rect>"), i == 0 ? 0 : 2000);
        free(text);
        free_heat(j);
    }
}

static const unit_test tests[] = {
    TEST(a_small_one_is_drawn_cell_by_cell), TEST(neighbours_of_one_shade_are_one_piece),
    TEST(as_many_cells_are_drawn_as_given),  TEST(the_legend_has_what_the_picture_has),
    TEST(hosts_are_named_where_they_differ), TEST(shades_begin_where_scatter_ends),
    TEST(shares_are_said_shortly),           TEST(the_largest_pictures_are_small),
};

int main(void)
{
    return unit_main("heat_draw", tests, COUNT(tests));
}
