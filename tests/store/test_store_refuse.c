/* test_store_refuse.c - what is no result file, or lies, is refused. */
#include "store_file.h"

#include <hdf5.h>

static void put_bytes(const char *path, const char *bytes, size_t n)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CU_ASSERT_EQUAL(write(fd, bytes, n), (ssize_t)n);
    close(fd);
}

/* The file is refused as input, with its path and this word. */
static void refused(const char *path, const char *word)
{
    tl_result *r = NULL;
    CU_ASSERT_EQUAL(tl_result_open(path, &r, &err), TL_EINPUT);
    CU_ASSERT_PTR_NULL(r);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, path));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, word));
    if (strstr(err.text, word) == NULL)
        fprintf(stderr, "expected \"%s\" in \"%s\"\n", word, err.text);
    tl_result_close(r);
}

static void what_is_no_result_is_refused(void)
{
    size_t n;
    clean();
    refused(file, "No such file");
    refused(folder, "is a folder");
    refused("/dev/zero", "no regular file");
    put_bytes(file, "", 0);
    refused(file, "HDF5");
    put_bytes(file, "{ \"traceEvents\": [] }", 21);
    refused(file, "HDF5");

    write_sample(30000, 3, 0);
    char *bytes = slurp(file, &n);
    for (size_t cut = 1; cut < n; cut += cut < 3000 ? 97 : 5003) {
        put_bytes(file, bytes, cut);
        refused(file, "");
    }
    free(bytes);
}

/* Opens the sample for a change. */
static hid_t change(void)
{
    write_sample(100, 2, 0);
    return H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
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

static void a_file_that_lies_is_refused(void)
{
    hid_t f = change();
    set_version(f, 7);
    H5Fclose(f);
    refused(file, "has schema version 7, and this program reads version 3");

    f = change();
    H5Adelete(f, "Conventions");
    H5Fclose(f);
    refused(file, "no result file of tlmpi");

    f = change();
    claim_rows(f, "/tables/sample");
    H5Fclose(f);
    refused(file, "/tables/sample claims 1125899906842624 rows");

    f = change();
    claim_rows(f, "/names");
    H5Fclose(f);
    refused(file, "/names claims");

    f = change();
    H5Ldelete(f, "/names", H5P_DEFAULT);
    H5Fclose(f);
    refused(file, "/names");

    f = change();
    H5Ldelete(f, "/tables", H5P_DEFAULT);
    H5Fclose(f);
    refused(file, "/tables");

    f = change();
    H5Lcreate_external("/etc/passwd", "/x", f, "/tables/elsewhere", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(f);
    refused(file, "/tables/elsewhere");

    f = change();
    H5Gclose(H5Gcreate2(f, "/tables/group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(f);
    refused(file, "/tables/group is no table");

    f = change();
    hid_t space = H5Screate(H5S_SCALAR);
    H5Dclose(H5Dcreate2(f, "/tables/number", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(f);
    refused(file, "number is no table");

    f = change();
    hid_t d = H5Dopen2(f, "/tables/sample", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1), a;
    H5Tset_size(type, 4);
    H5Adelete(d, "FIELD_4_TYPE");
    space = H5Screate(H5S_SCALAR);
    a = H5Acreate2(d, "FIELD_4_TYPE", type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, type, "name");
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(d);
    H5Fclose(f);
    refused(file, "column sample.large is not of type name");
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_is_no_result_is_refused),
        TEST(a_file_that_lies_is_refused),
    };
    return store_main("store that refuses", tests, COUNT(tests));
}
