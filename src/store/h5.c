/* h5.c - HDF5 helpers: initialisation, error messages, closing, attributes, sizes. */
#include "h5.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the format that old readers support, an attribute and its name share 64 KiB of an object header. */
#define ATTR_TEXT_MAX ((size_t)60000)

#define MAX_CHUNK_BYTES ((hsize_t)64 << 20)
/* Largest ratio of text to deflated bytes: 1,032, rounded up. */
#define MAX_DEFLATE 1040

/* Buffer sizes; the library's defaults are megabytes. */
enum { CACHE_BYTES = 256 << 10, FREE_BYTES = 64 << 10, CONVERSION_BYTES = 64 << 10 };

/* What a few calls of the library take beside their data; the first call takes some 800 kB. */
enum { OWN_BYTES = 2 << 20 };

void tl_h5_start(void)
{
    static bool started;
    if (started)
        return;
    started = true;
    tl_h5_need(0);
    /* A file that could not be closed, because the disk is full, would be closed again at exit, and the library would
     * then complain about a loop.  Every file is closed, or given up, by its owner. */
    H5dont_atexit();
    H5open();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5set_free_list_limits(FREE_BYTES, FREE_BYTES, FREE_BYTES, FREE_BYTES, FREE_BYTES, FREE_BYTES);
}

void tl_h5_need(size_t n)
{
    free(tl_malloc(OWN_BYTES + n)); /* mapped and not touched: some microseconds */
}

/* Limits the memory that the library keeps for closed objects: headers of thousands of views, each written once. */
static bool keep_little(hid_t access)
{
    H5AC_cache_config_t cache = { .version = H5AC__CURR_CACHE_CONFIG_VERSION };
    if (H5Pget_mdc_config(access, &cache) < 0)
        return false;
    cache.set_initial_size = true;
    cache.initial_size = cache.min_size = cache.max_size = CACHE_BYTES;
    return H5Pset_mdc_config(access, &cache) >= 0;
}

hid_t tl_h5_file_access(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && !keep_little(access)) {
        H5Pclose(access);
        return -1;
    }
#if H5_VERSION_GE(1, 10, 7) && !(H5_VERS_MAJOR == 1 && H5_VERS_MINOR == 11)
    /* On a file system without locks, a file without a lock is better than none. */
    if (access >= 0 && H5Pset_file_locking(access, true, true) < 0) {
        H5Pclose(access);
        return -1;
    }
#endif
    return access;
}

hid_t tl_h5_transfer(void)
{
    hid_t plist = H5Pcreate(H5P_DATASET_XFER);
    if (plist >= 0 && H5Pset_buffer(plist, CONVERSION_BYTES, NULL, NULL) < 0) {
        H5Pclose(plist);
        return -1;
    }
    return plist;
}

typedef struct cause {
    char text[256];
    bool no_memory;
} cause;

/* Copies the innermost entry of the error stack; H5E_WALK_UPWARD begins there. */
static herr_t take_cause(unsigned n, const H5E_error2_t *entry, void *arg)
{
    static const char quote[] = "error message = '";
    cause *c = arg;
    if (n > 0 || entry->desc == NULL)
        return 0;
    c->no_memory = entry->maj_num == H5E_RESOURCE && (entry->min_num == H5E_NOSPACE || entry->min_num == H5E_CANTALLOC);
    const char *from = strstr(entry->desc, quote);
    from = from != NULL ? from + sizeof quote - 1 : entry->desc;
    snprintf(c->text, sizeof c->text, ": %.*s", (int)strcspn(from, from != entry->desc ? "'" : "\n"), from);
    return 0;
}

tl_status tl_h5_fail(tl_error *err, tl_status status, hid_t in, const char *format, ...)
{
    char file[512] = "", message[512];
    cause c = { .no_memory = false };
    va_list args;

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_cause, &c);
    if (H5Fget_name(in, file, sizeof file) < 0)
        file[0] = 0;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (c.no_memory)
        tl_mem_out(0);
    return tl_fail(err, status, "%s%s%s%s", file, file[0] ? ": " : "", message, c.text);
}

herr_t tl_h5_close(hid_t id)
{
    return id < 0 || H5Idec_ref(id) >= 0 ? 0 : -1;
}

hid_t tl_h5_text_type(size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, size) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
                      H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

/* Returns the length of the longest prefix that needs no change. */
static size_t clean_prefix(tl_text t)
{
    size_t n = tl_text_utf8(t);
    const char *zero = n > 0 ? memchr(t.p, 0, n) : NULL;
    return zero != NULL ? (size_t)(zero - t.p) : n;
}

void tl_clean_append(tl_bytes *out, const char *text, size_t n)
{
    static const char unknown[] = "\xef\xbf\xbd";
    tl_text left = { text, n };

    for (;;) {
        size_t good = clean_prefix(left);
        tl_bytes_put(out, left.p, good);
        if (good == left.n)
            break;
        tl_bytes_put(out, unknown, sizeof unknown - 1);
        left.p += good + 1;
        left.n -= good + 1;
    }
    tl_bytes_put(out, "", 1);
}

/* Writes and closes an attribute.  attr below 0 is a failure. */
static herr_t write_attr(hid_t attr, hid_t type, const void *cells)
{
    herr_t rc = attr >= 0 ? H5Awrite(attr, type, cells) : -1;
    if (attr >= 0 && H5Aclose(attr) < 0)
        rc = -1;
    return rc;
}

/* Creates an attribute of one cell. */
static hid_t new_attr(hid_t object, const char *name, hid_t type)
{
    static hid_t scalar = -1; /* kept: a file has a thousand such attributes */
    if (scalar < 0)
        scalar = H5Screate(H5S_SCALAR);
    return scalar >= 0 ? H5Acreate2(object, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT) : -1;
}

/* Returns the type of a text of that size, valid until the next call; the caller does not close it. */
static hid_t text_type_of(size_t size)
{
    static hid_t type = -1; /* kept as well */
    if (type < 0)
        type = tl_h5_text_type(size);
    return type >= 0 && H5Tset_size(type, size) >= 0 ? type : -1;
}

herr_t tl_h5_put_text(hid_t object, const char *name, const char *text)
{
    tl_bytes clean = { 0 };
    tl_clean_append(&clean, text, strlen(text));

    size_t n = clean.n - 1;
    if (n > ATTR_TEXT_MAX) {
        n = tl_text_utf8((tl_text){ clean.v, ATTR_TEXT_MAX });
        memcpy(clean.v + n, "...", 3);
        n += 3;
    }
    /* An empty text has no bytes, but a type has at least one. */
    hid_t type = text_type_of(n > 0 ? n : 1);
    herr_t rc = type >= 0 ? write_attr(new_attr(object, name, type), type, clean.v) : -1;
    free(clean.v);
    return rc;
}

herr_t tl_h5_put_int(hid_t object, const char *name, int64_t value)
{
    return write_attr(new_attr(object, name, H5T_STD_I64LE), H5T_STD_I64LE, &value);
}

/* message head, attribute head, name, type, space and text */
size_t tl_h5_attr_bytes(const char *name, size_t text)
{
    enum { MESSAGE = 4, ATTRIBUTE = 9, TYPE = 8, SPACE = 4 };
    return MESSAGE + ATTRIBUTE + strlen(name) + 1 + TYPE + SPACE + text;
}

/* Keeps any number of attributes in the header of their object. */
herr_t tl_h5_attrs_in_header(hid_t plist)
{
    return H5Pset_attr_phase_change(plist, UINT16_MAX, UINT16_MAX);
}

/* The space of a deleted attribute is reused. */
herr_t tl_h5_reserve(hid_t object, size_t nbytes)
{
    static const char name[] = "room";
    size_t least = tl_h5_attr_bytes(name, 0);
    if (nbytes <= least || nbytes > ATTR_TEXT_MAX)
        return 0;
    hid_t type = text_type_of(nbytes - least), attr = type >= 0 ? new_attr(object, name, type) : -1;
    if (attr < 0 || H5Aclose(attr) < 0)
        return -1;
    return H5Adelete(object, name);
}

herr_t tl_h5_put_texts(hid_t object, const char *name, const char *const *texts, size_t n)
{
    herr_t rc = -1;
    size_t size = 1; /* of a type: at least 1 */
    hsize_t count = n;
    for (size_t i = 0; i < n; i++)
        size = strlen(texts[i]) > size ? strlen(texts[i]) : size;
    if (size * n > ATTR_TEXT_MAX)
        return -1;

    char *cells = tl_calloc(n, size);
    for (size_t i = 0; i < n; i++)
        memcpy(cells + i * size, texts[i], strlen(texts[i]));
    hid_t type = text_type_of(size), space = H5Screate_simple(1, &count, NULL);
    if (type >= 0 && space >= 0)
        rc = write_attr(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), type, cells);
    free(cells);
    tl_h5_close(space);
    return rc;
}

/* Opens the attribute of that name and class with n values; *type: its type. */
static hid_t open_attr(hid_t object, const char *name, H5T_class_t kind, size_t n, hid_t *type, tl_error *err)
{
    hid_t attr = H5Aopen(object, name, H5P_DEFAULT), space = -1;
    *type = -1;
    if (attr < 0 && H5Aexists(object, name) > 0) /* a query before would take as long as to open it */
        attr = H5Aopen(object, name, H5P_DEFAULT);
    if (attr < 0) {
        tl_h5_fail(err, TL_EINPUT, object, "no attribute %s", name);
        return -1;
    }
    *type = H5Aget_type(attr);
    space = H5Aget_space(attr);
    bool fits =
        *type >= 0 && H5Tget_class(*type) == kind && space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)n;
    if (!fits) {
        tl_h5_fail(err, TL_EINPUT, object, "attribute %s is not of the expected kind", name);
        tl_h5_close(*type);
        H5Aclose(attr);
        attr = *type = -1;
    }
    tl_h5_close(space);
    return attr;
}

tl_status tl_h5_get_texts(hid_t object, const char *name, size_t n, char **out, size_t *stride, tl_error *err)
{
    tl_status st = TL_OK;
    hid_t type, attr = open_attr(object, name, H5T_STRING, n, &type, err);
    char *text = NULL;
    if (attr < 0)
        return TL_EINPUT;

    size_t size = H5Tget_size(type);
    if (H5Tis_variable_str(type) != 0 || size == 0 || size > UINT16_MAX) {
        st = tl_h5_fail(err, TL_EINPUT, object, "attribute %s is no fixed text", name);
        goto done;
    }
    text = tl_calloc(n, size + 1);
    /* Read as stored: a conversion by the library, which adds a 0 to each, takes longer than the reading. */
    if (H5Aread(attr, type, text) < 0) {
        st = tl_h5_fail(err, TL_EINPUT, object, "attribute %s", name);
        goto done;
    }
    for (size_t i = n; i-- > 0;) {
        memmove(text + i * (size + 1), text + i * size, size);
        text[i * (size + 1) + size] = '\0';
    }
    *out = text;
    *stride = size + 1;
    text = NULL;

done:
    free(text);
    tl_h5_close(type);
    H5Aclose(attr);
    return st;
}

tl_status tl_h5_get_text(hid_t object, const char *name, char **out, tl_error *err)
{
    size_t stride;
    return tl_h5_get_texts(object, name, 1, out, &stride, err);
}

tl_status tl_h5_get_int(hid_t object, const char *name, int64_t *out, tl_error *err)
{
    tl_status st = TL_OK;
    hid_t type, attr = open_attr(object, name, H5T_INTEGER, 1, &type, err);
    if (attr < 0)
        return TL_EINPUT;
    if (H5Aread(attr, H5T_NATIVE_INT64, out) < 0)
        st = tl_h5_fail(err, TL_EINPUT, object, "attribute %s", name);
    H5Tclose(type);
    H5Aclose(attr);
    return st;
}

tl_status tl_h5_count_rows(hid_t dataset, size_t row_size, uint64_t *out, tl_error *err)
{
    char name[300] = "";
    hsize_t nrows = 0, chunk = 0, nchunks = 0;
    hid_t space = H5Dget_space(dataset), plist = H5Dget_create_plist(dataset);
    bool fits = H5Iget_name(dataset, name, sizeof name) >= 0 && space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sget_simple_extent_dims(space, &nrows, NULL) == 1 && plist >= 0 &&
                (H5Pget_layout(plist) == H5D_COMPACT ||
                 (H5Pget_layout(plist) == H5D_CHUNKED && H5Pget_chunk(plist, 1, &chunk) == 1 && chunk > 0 &&
                  chunk <= MAX_CHUNK_BYTES / row_size));
    const bool stored = fits && (chunk == 0 || (H5Dget_num_chunks(dataset, space, &nchunks) >= 0 &&
                                                nchunks == nrows / chunk + (nrows % chunk > 0)));
    tl_h5_close(plist);
    tl_h5_close(space);
    if (!fits)
        return tl_h5_fail(err, TL_EINPUT, dataset, "%s is not stored as tlmpi does it", name);

    if (!stored || nrows / MAX_DEFLATE > H5Dget_storage_size(dataset) / row_size + chunk)
        return tl_h5_fail(err, TL_EINPUT, dataset, "%s claims %llu rows and has no room for them", name,
                          (unsigned long long)nrows);
    *out = nrows;
    return TL_OK;
}

tl_status tl_h5_read_rows(hid_t dataset, const char *name, hid_t type, uint64_t first, size_t n, void *out,
                          tl_error *err)
{
    tl_status st = TL_OK;
    hsize_t start = first, count = n;
    tl_h5_need(n * H5Tget_size(type));
    hid_t memory = -1, rows = H5Dget_space(dataset);
    if (rows < 0 || H5Sselect_hyperslab(rows, H5S_SELECT_SET, &start, NULL, &count, NULL) < 0 ||
        (memory = H5Screate_simple(1, &count, NULL)) < 0 || H5Dread(dataset, type, memory, rows, H5P_DEFAULT, out) < 0)
        st = tl_h5_fail(err, TL_EINPUT, dataset, "table %s, rows %llu to %llu", name, (unsigned long long)first,
                        (unsigned long long)(first + n));
    tl_h5_close(memory);
    tl_h5_close(rows);
    return st;
}
