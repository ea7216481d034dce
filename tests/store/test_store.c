/* test_store.c - a result file comes back as it was given. */
#include "store_file.h"

#include <hdf5.h>

static void every_cell_comes_back_at_every_size(void)
{
    static const uint64_t sizes[] = { 0, 1, 2, TL_CHUNK_ROWS - 1, TL_CHUNK_ROWS, TL_CHUNK_ROWS + 1, 3 * TL_CHUNK_ROWS };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sample_plan plan = { .nrows = sizes[i], .nranks = 3 };
        write_sample(sizes[i], 3, 0);
        tl_result *r = open_file();
        CU_ASSERT_EQUAL(tl_result_nrows(r, tl_result_find(r, "sample")), sizes[i]);
        CU_ASSERT_EQUAL(count_wrong(r, &plan), 0);
        tl_result_close(r);
    }
}

static void the_schema_comes_back(void)
{
    write_sample(10, 2, 0);
    tl_result *r = open_file();
    CU_ASSERT_EQUAL_FATAL(tl_result_ntables(r), 3);
    CU_ASSERT_STRING_EQUAL(tl_result_table(r, 0)->name, "remark");
    CU_ASSERT_STRING_EQUAL(tl_result_table(r, 1)->name, "sample");
    CU_ASSERT_STRING_EQUAL(tl_result_table(r, 2)->name, "sample_index");
    CU_ASSERT_PTR_NULL(tl_result_find(r, "interval"));

    static const tl_schema *const written[] = { &tl_remark_schema, &tl_sample_schema };
    for (size_t t = 0; t < 2; t++) {
        const tl_schema *w = written[t], *s = tl_result_table(r, t);
        CU_ASSERT_STRING_EQUAL(s->title, w->title);
        CU_ASSERT_STRING_EQUAL(s->question, w->question);
        CU_ASSERT_EQUAL(s->scope, w->scope);
        CU_ASSERT_EQUAL(s->row_size, tl_packed_size(w));
        CU_ASSERT_EQUAL_FATAL(s->nfields, w->nfields);
        for (size_t i = 0; i < w->nfields; i++) {
            CU_ASSERT_STRING_EQUAL(s->fields[i].name, w->fields[i].name);
            CU_ASSERT_STRING_EQUAL(s->fields[i].unit, w->fields[i].unit);
            CU_ASSERT_STRING_EQUAL(s->fields[i].doc, w->fields[i].doc);
            CU_ASSERT_EQUAL(s->fields[i].type, w->fields[i].type);
            CU_ASSERT_EQUAL(s->fields[i].role, w->fields[i].role);
            CU_ASSERT_EQUAL(s->fields[i].size, w->fields[i].size);
        }
    }
    const char *const *labels = tl_result_find(r, "sample")->fields[COLOR].labels;
    CU_ASSERT_STRING_EQUAL(labels[0], "red");
    CU_ASSERT_STRING_EQUAL(labels[2], "blue");
    CU_ASSERT_PTR_NULL(labels[3]);

    int64_t epoch_ns = 0;
    CU_ASSERT_EQUAL(tl_result_attr_int(r, "epoch_ns", &epoch_ns, &err), TL_OK);
    CU_ASSERT_EQUAL(epoch_ns, SAMPLE_EPOCH_NS);
    CU_ASSERT_EQUAL(tl_result_attr_int(r, "no_such", &epoch_ns, &err), TL_EINPUT);
    CU_ASSERT_EQUAL(tl_result_attr_int(r, "command_line", &epoch_ns, &err), TL_EINPUT);
    char row[1000];
    CU_ASSERT_EQUAL(tl_result_read(r, tl_result_table(r, 1), 9, 2, row, &err), TL_EINTERNAL);
    CU_ASSERT_EQUAL(tl_result_read(r, tl_result_table(r, 1), 10, 0, row, &err), TL_OK);
    tl_result_close(r);
}

static void the_order_of_arrival_does_not_matter(void)
{
    sample_plan plan = { .nrows = 200001, .nranks = 4 };
    write_sample(plan.nrows, plan.nranks, 0);
    uint64_t in_order = digest("sample"), index = digest("sample_index");
    for (unsigned seed = 1; seed <= 5; seed++) {
        write_sample(plan.nrows, plan.nranks, seed);
        CU_ASSERT_EQUAL(digest("sample"), in_order);
        CU_ASSERT_EQUAL(digest("sample_index"), index);
        tl_result *r = open_file();
        CU_ASSERT_EQUAL(count_wrong(r, &plan), 0);
        tl_result_close(r);
    }
}

static void equal_content_gives_equal_bytes(void)
{
    size_t n1, n2;
    write_sample(50000, 4, 0);
    char *one = slurp(file, &n1);
    sleep(1); /* a time stamp of a second would show */
    write_sample(50000, 4, 0);
    char *two = slurp(file, &n2);
    CU_ASSERT_EQUAL(n1, n2);
    CU_ASSERT_EQUAL(memcmp(one, two, n1 < n2 ? n1 : n2), 0);
    free(one);
    free(two);
}

/* Writes one row of the remark table and returns the digest of that table. */
static uint64_t digest_of(const tl_remark *row)
{
    unsigned char packed[sizeof *row];
    tl_store *s;
    tl_pack(&tl_remark_schema, row, 1, 0, packed);
    CU_ASSERT_EQUAL_FATAL(tl_store_create(file, true, &s, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_add_table(s, &tl_remark_schema, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_rows(s, &tl_remark_schema, 0, packed, 1, &err), TL_OK);
    CU_ASSERT_EQUAL_FATAL(tl_store_finish(s, &err), TL_OK);
    return digest("remark");
}

static void the_digest_sees_every_cell_but_the_source(void)
{
    tl_remark row = { "/here", "one", 1.5 };
    uint64_t hash = digest_of(&row);
    row = (tl_remark){ "/there", "one", 1.5 };
    CU_ASSERT_EQUAL(digest_of(&row), hash);
    row = (tl_remark){ "/here", "two", 1.5 };
    CU_ASSERT_NOT_EQUAL(digest_of(&row), hash);
    row = (tl_remark){ "/here", "one", 1.25 };
    CU_ASSERT_NOT_EQUAL(digest_of(&row), hash);
    row = (tl_remark){ "/here", "one", NAN };
    hash = digest_of(&row);
    row.weight = -row.weight;
    CU_ASSERT_EQUAL(digest_of(&row), hash);
}

/* A rare table of one row a rank; of the first rank none. */
static void write_rare(int nranks)
{
    tl_schema rare = tl_sample_schema;
    unsigned char packed[sizeof(tl_sample)];
    const tl_sample row = { .rank = 1, .name = TL_NO_NAME };
    tl_store *s;

    rare.rare = true;
    tl_pack(&rare, &row, 1, 0, packed);
    CU_ASSERT_EQUAL_FATAL(tl_store_create(file, true, &s, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_add_table(s, &tl_remark_schema, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_add_table(s, &rare, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_rank(s, &rare, 0, 0, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_rows(s, &rare, 0, packed, 0, &err), TL_OK);
    for (int r = 1; r < nranks; r++) {
        CU_ASSERT_EQUAL(tl_store_rank(s, &rare, r, (uint64_t)r - 1, 1, &err), TL_OK);
        CU_ASSERT_EQUAL(tl_store_rows(s, &rare, (uint64_t)r - 1, packed, 1, &err), TL_OK);
    }
    CU_ASSERT_EQUAL_FATAL(tl_store_finish(s, &err), TL_OK);
}

static void a_rare_table_is_there_where_it_has_rows(void)
{
    tl_result *r;

    write_rare(1);
    CU_ASSERT_EQUAL_FATAL(tl_result_open(file, &r, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_result_ntables(r), 1);
    CU_ASSERT_PTR_NULL(tl_result_find(r, "sample"));
    CU_ASSERT_PTR_NULL(tl_result_find(r, "sample_index"));
    tl_result_close(r);
    write_rare(3);
    CU_ASSERT_EQUAL_FATAL(tl_result_open(file, &r, &err), TL_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(tl_result_find(r, "sample"));
    CU_ASSERT_EQUAL(tl_result_nrows(r, tl_result_find(r, "sample")), 2);
    CU_ASSERT_EQUAL(tl_result_nrows(r, tl_result_find(r, "sample_index")), 3);
    CU_ASSERT_EQUAL(tl_result_nrows(r, tl_result_find(r, "remark")), 0);
    tl_result_close(r);
}

/* The digest of one row whose name is the last of the n names. */
static uint64_t digest_of_name(const char *const *names, uint32_t n)
{
    tl_sample row = { .name = n - 1 };
    unsigned char packed[sizeof row];
    tl_store *s;
    tl_pack(&tl_sample_schema, &row, 1, 0, packed);
    CU_ASSERT_EQUAL_FATAL(tl_store_create(file, true, &s, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_add_table(s, &tl_sample_schema, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_rows(s, &tl_sample_schema, 0, packed, 1, &err), TL_OK);
    for (uint32_t i = 0; i < n; i++)
        CU_ASSERT_EQUAL(tl_store_name(s, names[i], strlen(names[i]), &err), TL_OK);
    CU_ASSERT_EQUAL_FATAL(tl_store_finish(s, &err), TL_OK);
    return digest("sample");
}

static void the_digest_of_a_name_is_that_of_its_text(void)
{
    static const char *const names[] = { "gemm", "softmax", "gemm" };
    uint64_t hash = digest_of_name(names, 1);
    CU_ASSERT_EQUAL(digest_of_name(names, 3), hash);
    CU_ASSERT_EQUAL(digest_of_name(names + 1, 2), hash);
    CU_ASSERT_NOT_EQUAL(digest_of_name(names, 2), hash);
}

static void names_may_hold_any_byte(void)
{
    static const struct {
        const char *given;
        size_t n;
        const char *kept;
    } names[] = {
        { "plain", 5, "plain" },
        { "", 0, "" },
        { "a\0z", 3, "a\xef\xbf\xbdz" },
        { "\xff\xfe", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
        { "cut \xe2\x82", 6, "cut \xef\xbf\xbd\xef\xbf\xbd" },
        { "\xe2\x82\xac", 3, "\xe2\x82\xac" },
    };
    enum { N = sizeof names / sizeof names[0], MANY = 10000, LONG = 200000 };
    char *text = malloc(LONG);
    tl_store *s;
    memset(text, 'x', LONG);
    CU_ASSERT_EQUAL_FATAL(tl_store_create(file, true, &s, &err), TL_OK);
    for (size_t i = 0; i < N; i++)
        CU_ASSERT_EQUAL(tl_store_name(s, names[i].given, names[i].n, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_name(s, text, LONG, &err), TL_OK);
    for (int i = 0; i < MANY; i++) {
        int n = snprintf(text, LONG, "number %d", i);
        CU_ASSERT_EQUAL(tl_store_name(s, text, (size_t)n, &err), TL_OK);
    }
    CU_ASSERT_EQUAL_FATAL(tl_store_finish(s, &err), TL_OK);

    tl_result *r = open_file();
    CU_ASSERT_EQUAL_FATAL(tl_result_nnames(r), N + 1 + MANY);
    for (uint32_t i = 0; i < N; i++)
        CU_ASSERT(tl_text_is(tl_result_name(r, i), names[i].kept));
    CU_ASSERT_EQUAL(tl_result_name(r, N).n, LONG);
    CU_ASSERT(tl_text_is(tl_result_name(r, N + MANY), "number 9999"));
    CU_ASSERT_EQUAL(tl_result_name(r, N + MANY + 1).n, 0);
    CU_ASSERT_EQUAL(tl_result_name(r, TL_NO_NAME).n, 0);
    tl_result_close(r);
    free(text);
}

static void a_chunk_is_what_hdf5_makes_of_it(void)
{
    /* Rows of 1 to 21 bytes through the library's own filters: below, at and above what the shuffle takes at once. */
    static const uint32_t sizes[] = { 1, 3, 7, 8, 9, 15, 16, 17, 21 };
    write_sample(1, 1, 0);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        tl_field field = { .name = "text", .unit = "", .doc = "bytes", .role = TL_ROLE_KEY, .size = sizes[k], .type = TL_TYPE_TEXT };
        tl_schema schema = { "bytes", "bytes", "which bytes?", TL_SCOPE_EVENT, &field, 1, sizes[k], false };
        size_t n = TL_CHUNK_ROWS - 5, nbytes = n * sizes[k];
        unsigned char *rows = malloc(nbytes), *back = malloc(nbytes), *encoded = malloc(tl_chunk_bound(&schema, TL_CHUNK_ROWS));
        unsigned state = 1;
        for (size_t i = 0; i < nbytes; i++) {
            state = state * 1664525u + 1013904223u;
            rows[i] = (unsigned char)(state >> 24); /* nothing to compress: the longest chunk there is */
        }
        tl_chunk_room room = { 0 };
        size_t used = tl_chunk_encode(&schema, rows, n, TL_CHUNK_ROWS, encoded, &room);
        tl_chunk_room_free(&room);
        CU_ASSERT(used > 0 && used <= tl_chunk_bound(&schema, TL_CHUNK_ROWS));

        hsize_t extent = n, any = H5S_UNLIMITED, chunk = TL_CHUNK_ROWS, zero = 0;
        hid_t f = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcreate(H5T_OPAQUE, sizes[k]);
        hid_t space = H5Screate_simple(1, &extent, &any), plist = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(plist, 1, &chunk);
        H5Pset_shuffle(plist);
        H5Pset_deflate(plist, TL_DEFLATE_LEVEL);
        H5Pset_fletcher32(plist);
        hid_t d = H5Dcreate2(f, "bytes", type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
        CU_ASSERT(H5Dwrite_chunk(d, H5P_DEFAULT, 0, &zero, used, encoded) >= 0);
        CU_ASSERT(H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
        CU_ASSERT_EQUAL(memcmp(rows, back, nbytes), 0);
        H5Dclose(d);
        H5Ldelete(f, "bytes", H5P_DEFAULT);
        H5Pclose(plist);
        H5Sclose(space);
        H5Tclose(type);
        H5Fclose(f);
        free(rows);
        free(back);
        free(encoded);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(every_cell_comes_back_at_every_size),
        TEST(the_schema_comes_back),
        TEST(the_order_of_arrival_does_not_matter),
        TEST(equal_content_gives_equal_bytes),
        TEST(the_digest_sees_every_cell_but_the_source),
        TEST(the_digest_of_a_name_is_that_of_its_text),
        TEST(a_rare_table_is_there_where_it_has_rows),
        TEST(names_may_hold_any_byte),
        TEST(a_chunk_is_what_hdf5_makes_of_it),
    };
    return store_main("store", tests, COUNT(tests));
}
