/* h5_read.c - reads a result file.
 *
 * A truncated or damaged file is rejected by its seal.  A sealed file of another program may pass: every size that the
 * file claims is checked before it is used, and the first invalid one ends the opening with a message that names it.
 */
#include "h5.h"
#include "seal.h"
#include "tlmpi/store/result.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_TABLES 1024

/* What the library takes for an open table, with its attributes. */
#define OPEN_TABLE_BYTES ((size_t)48 << 10)

typedef struct read_table {
    tl_h5_schema schema;
    hid_t dataset;
    hid_t row_type; /* created for the first row that is read */
    uint64_t nrows;
} read_table;

struct tl_result {
    hid_t file;
    read_table *tables;
    size_t ntables;
    tl_h5_name_list names;
};

/* Opens a file with a valid seal for reading; the caller closes *out. */
static tl_status open_sealed(const char *path, hid_t *out, tl_error *err)
{
    struct stat there;
    if (stat(path, &there) != 0)
        return tl_fail(err, TL_EINPUT, "%s: %s", path, strerror(errno));
    if (!S_ISREG(there.st_mode))
        return tl_fail(err, TL_EINPUT,
                       S_ISDIR(there.st_mode)
                           ? "%s is a folder: expected a result (.h5), as tlmpi makes of the traces in one"
                           : "%s is no regular file",
                       path);
    tl_status st = tl_seal_check(path, err);
    if (st != TL_OK)
        return st;

    hid_t access = tl_h5_file_access();
    *out = access >= 0 ? H5Fopen(path, H5F_ACC_RDONLY, access) : -1;
    if (*out < 0)
        st = tl_h5_fail(err, TL_EINPUT, -1, "%s: cannot be read as an HDF5 file", path);
    tl_h5_close(access);
    return st;
}

static tl_status check_version(hid_t file, tl_error *err)
{
    char *conventions = NULL;
    int64_t version = 0;
    tl_status st = tl_h5_get_text(file, "Conventions", &conventions, err);
    bool ours = st == TL_OK && strcmp(conventions, TL_H5_CONVENTIONS) == 0;
    free(conventions);
    if (!ours)
        return tl_h5_fail(err, TL_EINPUT, file, "is no result file of tlmpi (Conventions is not \"%s\")",
                          TL_H5_CONVENTIONS);
    st = tl_h5_get_int(file, "schema_version", &version, err);
    if (st == TL_OK && version != TL_H5_SCHEMA_VERSION)
        st = tl_h5_fail(err, TL_EINPUT, file,
                        "has schema version %lld, and this program reads version %d: analyse the traces again",
                        (long long)version, TL_H5_SCHEMA_VERSION);
    return st;
}

/* Opens the link as a dataset in this very file. */
static tl_status open_dataset(hid_t group, const char *name, hid_t *out, tl_error *err)
{
    H5L_info_t link;
    hid_t id = -1;
    if (H5Lget_info(group, name, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD ||
        (id = H5Oopen(group, name, H5P_DEFAULT)) < 0)
        return tl_h5_fail(err, TL_EINPUT, group, "/tables/%.200s cannot be opened", name);
    if (H5Iget_type(id) != H5I_DATASET) {
        tl_h5_close(id);
        return tl_h5_fail(err, TL_EINPUT, group, "/tables/%.200s is no table", name);
    }
    *out = id;
    return TL_OK;
}

static tl_status open_table(hid_t group, const char *name, read_table *table, tl_error *err)
{
    tl_status st = open_dataset(group, name, &table->dataset, err);
    if (st == TL_OK)
        st = tl_h5_read_schema(table->dataset, name, &table->schema, err);
    if (st != TL_OK)
        return st;
    return tl_h5_count_rows(table->dataset, table->schema.schema.row_size, &table->nrows, err);
}

static tl_status open_tables(tl_result *result, tl_error *err)
{
    tl_status st = TL_OK;
    H5G_info_t info;
    hid_t group = H5Gopen2(result->file, "/tables", H5P_DEFAULT);
    if (group < 0 || H5Gget_info(group, &info) < 0 || info.nlinks > MAX_TABLES) {
        st = tl_h5_fail(err, TL_EINPUT, result->file, "/tables is no group of tables");
        goto done;
    }
    tl_h5_need((size_t)info.nlinks * OPEN_TABLE_BYTES);
    result->tables = tl_calloc((size_t)info.nlinks, sizeof *result->tables);
    for (hsize_t i = 0; st == TL_OK && i < info.nlinks; i++) {
        char name[256];
        ssize_t n = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
        if (n < 0 || (size_t)n >= sizeof name) {
            st = tl_h5_fail(err, TL_EINPUT, result->file, "/tables: the name of table %llu", (unsigned long long)i);
            break;
        }
        read_table *table = &result->tables[result->ntables++];
        table->dataset = table->row_type = -1;
        st = open_table(group, name, table, err);
    }

done:
    tl_h5_close(group);
    return st;
}

tl_status tl_result_open(const char *path, tl_result **out, tl_error *err)
{
    tl_status st;
    tl_h5_start();
    tl_result *result = tl_calloc(1, sizeof *result);
    result->file = -1;

    if ((st = open_sealed(path, &result->file, err)) != TL_OK || (st = check_version(result->file, err)) != TL_OK ||
        (st = open_tables(result, err)) != TL_OK ||
        (st = tl_h5_names_read(&result->names, result->file, err)) != TL_OK) {
        tl_result_close(result);
        return st;
    }
    *out = result;
    return TL_OK;
}

void tl_result_close(tl_result *result)
{
    if (result == NULL)
        return;
    for (size_t i = 0; i < result->ntables; i++) {
        tl_h5_free_schema(&result->tables[i].schema);
        tl_h5_close(result->tables[i].row_type);
        tl_h5_close(result->tables[i].dataset);
    }
    free(result->tables);
    free(result->names.bytes.v);
    free(result->names.starts.v);
    if (result->file >= 0)
        H5Fclose(result->file);
    free(result);
}

size_t tl_result_ntables(const tl_result *result)
{
    return result->ntables;
}

const tl_schema *tl_result_table(const tl_result *result, size_t i)
{
    return &result->tables[i].schema.schema;
}

const tl_schema *tl_result_find(const tl_result *result, const char *name)
{
    for (size_t i = 0; i < result->ntables; i++)
        if (strcmp(result->tables[i].schema.schema.name, name) == 0)
            return &result->tables[i].schema.schema;
    return NULL;
}

static read_table *table_of(const tl_result *result, const tl_schema *schema)
{
    for (size_t i = 0; i < result->ntables; i++)
        if (&result->tables[i].schema.schema == schema)
            return &result->tables[i];
    return NULL;
}

uint64_t tl_result_nrows(const tl_result *result, const tl_schema *schema)
{
    const read_table *table = table_of(result, schema);
    return table != NULL ? table->nrows : 0;
}

tl_status tl_result_read(tl_result *result, const tl_schema *schema, uint64_t first, size_t n, void *out, tl_error *err)
{
    read_table *table = table_of(result, schema);
    if (table == NULL || first > table->nrows || n > table->nrows - first)
        return tl_fail(err, TL_EINTERNAL, "rows %llu to %llu of table %s are not in the file",
                       (unsigned long long)first, (unsigned long long)(first + n), schema->name);
    if (n == 0)
        return TL_OK;

    if (table->row_type < 0 && (table->row_type = tl_h5_row_type(schema)) < 0)
        return tl_h5_fail(err, TL_EINPUT, table->dataset, "table %s", schema->name);
    return tl_h5_read_rows(table->dataset, schema->name, table->row_type, first, n, out, err);
}

tl_text tl_result_name(tl_result *result, uint32_t id)
{
    const tl_h5_name_list *names = &result->names;
    if (id >= names->starts.n)
        return TL_TEXT("");
    const size_t at = names->starts.v[id], end = id + 1 < names->starts.n ? names->starts.v[id + 1] : names->bytes.n;
    return (tl_text){ names->bytes.v + at, end - 1 - at };
}

size_t tl_result_nnames(const tl_result *result)
{
    return result->names.starts.n;
}

tl_status tl_result_attr_text(const tl_result *result, const char *name, char **out, tl_error *err)
{
    *out = NULL;
    htri_t there = H5Aexists(result->file, name);
    if (there < 0)
        return tl_h5_fail(err, TL_EINPUT, result->file, "attribute %s", name);
    return there > 0 ? tl_h5_get_text(result->file, name, out, err) : TL_OK;
}

tl_status tl_result_attr_int(const tl_result *result, const char *name, int64_t *out, tl_error *err)
{
    return tl_h5_get_int(result->file, name, out, err);
}
