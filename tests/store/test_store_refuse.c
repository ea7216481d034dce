/* test_store_refuse.c - what is no result file, or lies, is refused. */
#include "store_file.h"

#include "src/store/seal.h"

#include <hdf5.h>

static void what_is_no_result_is_refused(void)
{
    size_t n;
    clean();
    refused(file, "No such file");
    refused(folder, "is a folder");
    refused("/dev/zero", "no regular file");
    put_bytes(file, "", 0);
    refused(file, "is no result file of");
    put_bytes(file, "{ \"traceEvents\": [] }", 21);
    refused(file, "is no result file of");
    hid_t other = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(other);
    refused(file, "is no result file of");

    write_sample(30000, 3, 0);
    char *bytes = slurp(file, &n);
    for (size_t cut = 1; cut < n; cut += cut < 3000 ? 97 : 5003) {
        put_bytes(file, bytes, cut);
        refused(file, "damaged");
    }
    free(bytes);
}

/* Opens the sample for a change. */
static hid_t change(void)
{
    write_sample(100, 2, 0);
    return H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
}

/* Ends it, as if nothing had been changed. */
static void seal(hid_t f)
{
    CU_ASSERT(H5Fclose(f) >= 0);
    CU_ASSERT_EQUAL(tl_seal_write(file, &err), TL_OK);
}

static void set_version(hid_t f, int64_t version)
{
    hid_t a = H5Aopen(f, "schema_version", H5P_DEFAULT);
    CU_ASSERT(H5Awrite(a, H5T_NATIVE_INT64, &version) >= 0);
    H5Aclose(a);
}

/* Makes a table that claims more rows than it has bytes. */
static void claim_rows(hid_t f, const char *name)
{
    hsize_t rows = (hsize_t)1 << 50;
    hid_t d = H5Dopen2(f, name, H5P_DEFAULT);
    CU_ASSERT(H5Dset_extent(d, &rows) >= 0);
    H5Dclose(d);
}

/* Takes the 0 after the last name away. */
static void unend_names(hid_t f)
{
    hsize_t n;
    hid_t d = H5Dopen2(f, "/name_bytes", H5P_DEFAULT), space = H5Dget_space(d);
    H5Sget_simple_extent_dims(space, &n, NULL);
    n--;
    CU_ASSERT(H5Dset_extent(d, &n) >= 0);
    H5Sclose(space);
    H5Dclose(d);
}

/* Writes another text for a column; what an attribute says of the others stays. */
static void say_of_column(hid_t f, const char *attribute, size_t column, const char *text)
{
    hid_t d = H5Dopen2(f, "/tables/sample", H5P_DEFAULT), a = H5Aopen(d, attribute, H5P_DEFAULT), type = H5Aget_type(a);
    char cells[4096] = "";
    size_t size = H5Tget_size(type);
    CU_ASSERT_FATAL((size_t)H5Aget_storage_size(a) <= sizeof cells && strlen(text) <= size);
    CU_ASSERT(H5Aread(a, type, cells) >= 0);
    memset(cells + column * size, 0, size);
    memcpy(cells + column * size, text, strlen(text));
    CU_ASSERT(H5Awrite(a, type, cells) >= 0);
    H5Tclose(type);
    H5Aclose(a);
    H5Dclose(d);
}

/* Units for two columns alone. */
static void put_two_units(hid_t f)
{
    static const char units[2][2] = { { 'n', 's' }, { 'n', 's' } };
    hsize_t two = 2;
    hid_t d = H5Dopen2(f, "/tables/sample", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1), space, a;
    H5Tset_size(type, 2);
    H5Adelete(d, "column_units");
    space = H5Screate_simple(1, &two, NULL);
    a = H5Acreate2(d, "column_units", type, space, H5P_DEFAULT, H5P_DEFAULT);
    CU_ASSERT(H5Awrite(a, type, units) >= 0);
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(d);
}

/* A line for one column alone. */
static void put_one_doc(hid_t f)
{
    hid_t d = H5Dopen2(f, "/tables/sample", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), a;
    H5Tset_size(type, 4);
    H5Adelete(d, "column_docs");
    a = H5Acreate2(d, "column_docs", type, space, H5P_DEFAULT, H5P_DEFAULT);
    CU_ASSERT(H5Awrite(a, type, "rank") >= 0);
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(d);
}

static void a_file_that_lies_is_refused(void)
{
    hid_t f = change();
    set_version(f, 7);
    seal(f);
    refused(file, "has schema version 7, and this program reads version 6: analyse the traces again");

    f = change();
    H5Adelete(f, "Conventions");
    seal(f);
    refused(file, "no result file of tlmpi");

    f = change();
    claim_rows(f, "/tables/sample");
    seal(f);
    refused(file, "/tables/sample claims 1125899906842624 rows");

    f = change();
    claim_rows(f, "/name_bytes");
    seal(f);
    refused(file, "/name_bytes claims");

    f = change();
    H5Ldelete(f, "/name_bytes", H5P_DEFAULT);
    seal(f);
    refused(file, "/name_bytes");

    f = change();
    H5Ldelete(f, "/name_bytes", H5P_DEFAULT);
    H5Lmove(f, "/names", f, "/name_bytes", H5P_DEFAULT, H5P_DEFAULT);
    seal(f);
    refused(file, "/name_bytes are no bytes");

    f = change();
    unend_names(f);
    seal(f);
    refused(file, "/name_bytes has no end");

    f = change();
    H5Ldelete(f, "/tables", H5P_DEFAULT);
    seal(f);
    refused(file, "/tables");

    f = change();
    H5Lcreate_external("/etc/passwd", "/x", f, "/tables/elsewhere", H5P_DEFAULT, H5P_DEFAULT);
    seal(f);
    refused(file, "/tables/elsewhere");

    f = change();
    H5Gclose(H5Gcreate2(f, "/tables/group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    seal(f);
    refused(file, "/tables/group is no table");

    f = change();
    hid_t space = H5Screate(H5S_SCALAR);
    H5Dclose(H5Dcreate2(f, "/tables/number", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    seal(f);
    refused(file, "number is no table");

    f = change();
    say_of_column(f, "column_types", 4, "name");
    seal(f);
    refused(file, "column sample.large is not of type name");

    f = change();
    say_of_column(f, "column_types", 4, "nome");
    seal(f);
    refused(file, "attribute column_types is \"nome\", which this program does not know");

    f = change();
    say_of_column(f, "column_roles", 0, "k");
    seal(f);
    refused(file, "attribute column_roles is \"k\"");

    f = change();
    H5Adelete_by_name(f, "/tables/sample", "column_docs", H5P_DEFAULT);
    seal(f);
    refused(file, "no attribute column_docs");

    f = change();
    put_one_doc(f);
    seal(f);
    refused(file, "attribute column_docs has not a line a column");

    f = change();
    put_two_units(f);
    seal(f);
    refused(file, "attribute column_units is not of the expected kind");
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_is_no_result_is_refused),
        TEST(a_file_that_lies_is_refused),
    };
    return store_main("store that refuses", tests, COUNT(tests));
}
