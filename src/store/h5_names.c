/* h5_names.c - the texts of all names, in two datasets: for other programs, and for this one. */
#include "h5.h"
#include <stdlib.h>
#include <string.h>

#define BLOCK_ROWS  4096u
#define BLOCK_BYTES ((size_t)1 << 20)
#define CHUNK_ROWS  1024u
#define CHUNK_BYTES 65536u

enum { FASTEST = 1 };

/* Creates an empty dataset of rows of `type`, with property list `plist`. */
static tl_status create(hid_t file, const char *name, hid_t type, hid_t plist, const char *description, hid_t *out,
                        tl_error *err)
{
    hsize_t none = 0, any = H5S_UNLIMITED;
    hid_t space = H5Screate_simple(1, &none, &any);
    tl_status st = TL_OK;
    if (type < 0 || space < 0 || plist < 0 || H5Pset_obj_track_times(plist, false) < 0 ||
        (*out = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT)) < 0 ||
        tl_h5_put_text(*out, "description", description) < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, file, "%s", name);
    tl_h5_close(space);
    return st;
}

/* Creates the empty datasets, with chunks for the waiting rows or more. */
static tl_status create_both(tl_h5_names *names, tl_error *err)
{
    hsize_t rows = names->starts.n < CHUNK_ROWS ? names->starts.n : CHUNK_ROWS;
    hsize_t bytes = names->bytes.n < CHUNK_BYTES ? names->bytes.n : CHUNK_BYTES;
    hid_t file = names->file, plist = H5Pcreate(H5P_DATASET_CREATE), flat = H5Pcreate(H5P_DATASET_CREATE);
    tl_status st = TL_OK;

    rows += rows == 0;
    bytes += bytes == 0;
    names->type = tl_h5_text_type(H5T_VARIABLE);
    /* The library has no checksum for texts of variable length. */
    if (H5Pset_chunk(plist, 1, &rows) < 0 || H5Pset_chunk(flat, 1, &bytes) < 0 || H5Pset_deflate(flat, FASTEST) < 0 ||
        H5Pset_fletcher32(flat) < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, file, "names");
    if (st == TL_OK)
        st = create(file, "/names", names->type, plist, "text of each name; name columns hold its row number",
                    &names->texts, err);
    if (st == TL_OK)
        st = create(file, "/name_bytes", H5T_STD_U8LE, flat,
                    "the texts of /names in their order, each with a 0 after it", &names->flat, err);
    tl_h5_close(flat);
    tl_h5_close(plist);
    return st;
}

tl_status tl_h5_names_add(tl_h5_names *names, const char *text, size_t n, tl_error *err)
{
    tl_vec_push(&names->starts, names->bytes.n);
    tl_clean_append(&names->bytes, text, n);
    return names->starts.n < BLOCK_ROWS && names->bytes.n < BLOCK_BYTES ? TL_OK : tl_h5_names_flush(names, err);
}

/* Appends n rows of `type` to a dataset that has *end of them. */
static tl_status append_rows(hid_t dataset, hid_t type, const void *rows, size_t n, uint64_t *end, tl_error *err)
{
    tl_status st = TL_OK;
    hsize_t first = *end, count = n, extent = first + count;
    hid_t space = -1, memory = -1, transfer = -1;
    if (H5Dset_extent(dataset, &extent) < 0 || (space = H5Dget_space(dataset)) < 0 ||
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL) < 0 ||
        (memory = H5Screate_simple(1, &count, NULL)) < 0 || (transfer = tl_h5_transfer()) < 0 ||
        H5Dwrite(dataset, type, memory, space, transfer, rows) < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, dataset, "names");
    *end = extent;
    tl_h5_close(transfer);
    tl_h5_close(memory);
    tl_h5_close(space);
    return st;
}

tl_status tl_h5_names_flush(tl_h5_names *names, tl_error *err)
{
    size_t n = names->starts.n;
    tl_status st = names->texts >= 0 ? TL_OK : create_both(names, err);
    if (st != TL_OK || n == 0)
        return st;
    const char **texts = tl_calloc(n, sizeof *texts);
    for (size_t i = 0; i < n; i++)
        texts[i] = names->bytes.v + names->starts.v[i];
    st = append_rows(names->texts, names->type, texts, n, &names->nwritten, err);
    if (st == TL_OK)
        st = append_rows(names->flat, H5T_STD_U8LE, names->bytes.v, names->bytes.n, &names->nbytes, err);
    names->starts.n = names->bytes.n = 0;
    free(texts);
    return st;
}

herr_t tl_h5_names_free(tl_h5_names *names)
{
    const herr_t texts = tl_h5_close(names->texts), flat = tl_h5_close(names->flat), type = tl_h5_close(names->type);
    free(names->bytes.v);
    free(names->starts.v);
    *names = (tl_h5_names)TL_H5_NAMES_INIT;
    return texts < 0 || flat < 0 || type < 0 ? -1 : 0;
}

static tl_status read_bytes(tl_bytes *bytes, hid_t dataset, tl_error *err)
{
    uint64_t n = 0;
    hid_t type = H5Dget_type(dataset);
    bool fits = type >= 0 && H5Tequal(type, H5T_STD_U8LE) > 0;
    tl_h5_close(type);
    if (!fits)
        return tl_h5_fail(err, TL_EINPUT, dataset, "/name_bytes are no bytes");
    tl_status st = tl_h5_count_rows(dataset, 1, &n, err);
    if (st != TL_OK)
        return st;
    tl_grow((void **)&bytes->v, &bytes->cap, (size_t)n, 1);
    if (n > 0 && H5Dread(dataset, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes->v) < 0)
        return tl_h5_fail(err, TL_EINPUT, dataset, "/name_bytes");
    bytes->n = (size_t)n;
    return n == 0 || bytes->v[n - 1] == 0 ? TL_OK : tl_h5_fail(err, TL_EINPUT, dataset, "/name_bytes has no end");
}

tl_status tl_h5_names_read(tl_h5_name_list *list, hid_t file, tl_error *err)
{
    hid_t dataset = H5Dopen2(file, "/name_bytes", H5P_DEFAULT);
    tl_status st =
        dataset >= 0 ? read_bytes(&list->bytes, dataset, err) : tl_h5_fail(err, TL_EINPUT, file, "/name_bytes");
    for (size_t at = 0; st == TL_OK && at < list->bytes.n; at += strlen(list->bytes.v + at) + 1)
        tl_vec_push(&list->starts, at);
    tl_h5_close(dataset);
    return st;
}
