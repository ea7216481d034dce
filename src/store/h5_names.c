/* h5_names.c - /names: the texts of all names, one row each, as variable-length UTF-8. */
#include "h5_names.h"
#include <stdlib.h>
#include <string.h>

#define BLOCK_ROWS  4096u
#define BLOCK_BYTES ((size_t)1 << 20)
#define CHUNK_ROWS  1024u
/* Of a row itself, besides its text: length, and place in the file's heap. */
#define ROW_BYTES 16u

tl_status tl_h5_names_create(tl_h5_names *names, hid_t file, tl_error *err)
{
    tl_status st = TL_OK;
    hsize_t none = 0, any = H5S_UNLIMITED, chunk = CHUNK_ROWS;
    hid_t space = H5Screate_simple(1, &none, &any), plist = H5Pcreate(H5P_DATASET_CREATE);

    names->type = tl_h5_text_type(H5T_VARIABLE);
    if (names->type >= 0 && space >= 0 && plist >= 0 && H5Pset_chunk(plist, 1, &chunk) >= 0 &&
        H5Pset_obj_track_times(plist, false) >= 0)
        names->dataset = H5Dcreate2(file, "/names", names->type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    if (names->dataset < 0 ||
        tl_h5_put_text(names->dataset, "description", "text of each name; name columns hold its row number") < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, file, "names");
    tl_h5_close(plist);
    tl_h5_close(space);
    return st;
}

tl_status tl_h5_names_add(tl_h5_names *names, const char *text, size_t n, tl_error *err)
{
    size_t start = names->bytes.n;
    if (!tl_vec_room(&names->starts) || !tl_clean_append(&names->bytes, text, n))
        return tl_fail_memory(err, "names");
    names->starts.v[names->starts.n++] = start;
    return names->starts.n < BLOCK_ROWS && names->bytes.n < BLOCK_BYTES ? TL_OK : tl_h5_names_flush(names, err);
}

/* Selects rows [first, first + n) of a one-dimensional space.  Negative on failure. */
static herr_t select_rows(hid_t space, uint64_t first, size_t n)
{
    hsize_t start = first, count = n;
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
}

tl_status tl_h5_names_flush(tl_h5_names *names, tl_error *err)
{
    tl_status st = TL_OK;
    size_t n = names->starts.n;
    hid_t rows = -1, memory = -1, transfer = -1;
    if (n == 0)
        return TL_OK;
    const char **texts = tl_calloc(n, sizeof *texts);
    if (texts == NULL)
        return tl_fail_memory(err, "names");
    for (size_t i = 0; i < n; i++)
        texts[i] = names->bytes.v + names->starts.v[i];

    hsize_t extent = names->nwritten + n, count = n;
    if (H5Dset_extent(names->dataset, &extent) < 0 || (rows = H5Dget_space(names->dataset)) < 0 ||
        select_rows(rows, names->nwritten, n) < 0 || (memory = H5Screate_simple(1, &count, NULL)) < 0 ||
        (transfer = tl_h5_transfer()) < 0 || H5Dwrite(names->dataset, names->type, memory, rows, transfer, texts) < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, names->dataset, "names");
    names->nwritten = extent;
    names->starts.n = names->bytes.n = 0;
    tl_h5_close(transfer);
    tl_h5_close(memory);
    tl_h5_close(rows);
    free(texts);
    return st;
}

herr_t tl_h5_names_free(tl_h5_names *names)
{
    herr_t rc = tl_h5_close(names->dataset);
    if (tl_h5_close(names->type) < 0)
        rc = -1;
    free(names->bytes.v);
    free(names->starts.v);
    *names = (tl_h5_names)TL_H5_NAMES_INIT;
    return rc;
}

static tl_status append_block(tl_h5_name_list *list, char *const *texts, size_t n, tl_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = texts[i] != NULL ? texts[i] : "";
        size_t start = list->bytes.n;
        if (!tl_vec_room(&list->starts) || !tl_clean_append(&list->bytes, text, strlen(text)))
            return tl_fail_memory(err, "names");
        list->starts.v[list->starts.n++] = start;
    }
    return TL_OK;
}

static tl_status read_block(tl_h5_name_list *list, hid_t dataset, hid_t type, hid_t rows, uint64_t first, size_t n,
                            tl_error *err)
{
    tl_status st = TL_OK;
    hsize_t count = n;
    hid_t memory = H5Screate_simple(1, &count, NULL), transfer = tl_h5_transfer();
    char **texts = tl_calloc(n, sizeof *texts);
    if (texts == NULL) {
        st = tl_fail_memory(err, "names");
        goto done;
    }
    if (memory < 0 || transfer < 0 || select_rows(rows, first, n) < 0 ||
        H5Dread(dataset, type, memory, rows, transfer, texts) < 0) {
        st = tl_h5_fail(err, TL_EINPUT, dataset, "names");
        goto done;
    }
    st = append_block(list, texts, n, err);
    H5Dvlen_reclaim(type, memory, H5P_DEFAULT, texts);

done:
    free(texts);
    tl_h5_close(transfer);
    tl_h5_close(memory);
    return st;
}

/* The number of rows, when the dataset is as we write it and holds as many as it claims. */
static tl_status count_rows(hid_t dataset, hid_t rows, uint64_t *out, tl_error *err)
{
    hsize_t n = 0;
    hid_t type = H5Dget_type(dataset);
    bool texts = type >= 0 && H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_ndims(rows) == 1 &&
                 H5Sget_simple_extent_dims(rows, &n, NULL) == 1;
    tl_h5_close(type);
    if (!texts)
        return tl_h5_fail(err, TL_EINPUT, dataset, "/names is no list of texts");
    if (n >= UINT32_MAX || H5Dget_storage_size(dataset) < n * ROW_BYTES)
        return tl_h5_fail(err, TL_EINPUT, dataset, "/names claims %llu rows and has no room for them",
                          (unsigned long long)n);
    *out = n;
    return TL_OK;
}

tl_status tl_h5_names_read(tl_h5_name_list *list, hid_t file, tl_error *err)
{
    tl_status st;
    uint64_t n = 0;
    hid_t type = -1, rows = -1, dataset = H5Dopen2(file, "/names", H5P_DEFAULT);
    if (dataset < 0 || (rows = H5Dget_space(dataset)) < 0 || (type = tl_h5_text_type(H5T_VARIABLE)) < 0) {
        st = tl_h5_fail(err, TL_EINPUT, file, "/names");
        goto done;
    }
    st = count_rows(dataset, rows, &n, err);
    for (uint64_t first = 0; st == TL_OK && first < n; first += BLOCK_ROWS)
        st = read_block(list, dataset, type, rows, first, n - first < BLOCK_ROWS ? (size_t)(n - first) : BLOCK_ROWS,
                        err);

done:
    tl_h5_close(type);
    tl_h5_close(rows);
    tl_h5_close(dataset);
    return st;
}

tl_text tl_h5_name(const tl_h5_name_list *list, size_t i)
{
    if (i >= list->starts.n)
        return TL_TEXT("");
    size_t end = i + 1 < list->starts.n ? list->starts.v[i + 1] : list->bytes.n;
    return (tl_text){ list->bytes.v + list->starts.v[i], end - 1 - list->starts.v[i] };
}

void tl_h5_name_list_free(tl_h5_name_list *list)
{
    free(list->bytes.v);
    free(list->starts.v);
    *list = (tl_h5_name_list){ 0 };
}
