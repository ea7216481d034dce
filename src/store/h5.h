/* h5.h - what every file that speaks HDF5 needs: a start, a word on failure, an end, attributes, sizes. */
#ifndef TLMPI_STORE_H5_H
#define TLMPI_STORE_H5_H

#include "tlmpi/base/status.h"
#include <hdf5.h>
#include <stdint.h>

#define TL_H5_CONVENTIONS    "tlmpi-1"
#define TL_H5_SCHEMA_VERSION 5

/* Before the first call of the library, any number of times: it prints nothing then, not even at the program's end. */
void tl_h5_start(void);

/* An access list for our files: locked where the file system can lock.  Negative on failure. */
hid_t tl_h5_file_access(void);

/* How rows are read and written where they are converted; the caller closes it, negative on failure. */
hid_t tl_h5_transfer(void);

/* Writes "<file of `in`>: <message>: <cause>" and returns `status`.  The cause is what the library said last: the
 * system's own words where the system failed ("No space left on device"), nothing where the library did not fail.  So
 * it must come before any other call of the library.  Where the cause is memory, the status is TL_ENOMEM whatever was
 * asked. */
tl_status tl_h5_fail(tl_error *err, tl_status status, hid_t in, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Memory of ours is out: for tl_h5_fail to find.  Negative. */
herr_t tl_h5_no_memory(void);

/* Closes an object of any kind; a negative id is fine.  Negative on failure. */
herr_t tl_h5_close(hid_t id);

/* The type of a fixed UTF-8 text of `size` bytes, padded with 0. */
hid_t tl_h5_text_type(size_t size);

/* Sets a new attribute.  Negative on failure.  A text longer than an attribute may be is cut and ends in "..."; what is
 * no UTF-8 in it is replaced. */
herr_t tl_h5_put_text(hid_t object, const char *name, const char *text);
herr_t tl_h5_put_int(hid_t object, const char *name, int64_t value);

/* Bytes that an attribute of that name with `text` bytes of text takes in the header of its object. */
size_t tl_h5_attr_bytes(const char *name, size_t text);

/* Makes room for nbytes bytes of attributes in the header of a new object: left to itself the library lengthens the
 * header for each attribute, and copies it.  Negative on failure. */
herr_t tl_h5_reserve(hid_t object, size_t nbytes);

/* Writes n > 0 texts as one attribute, whose size limit they must not exceed. */
herr_t tl_h5_put_texts(hid_t object, const char *name, const char *const *texts, size_t n);

/* The number of rows of a dataset, when it is stored as ours are and has room for as many as it claims.  Else
 * TL_EINPUT. */
tl_status tl_h5_count_rows(hid_t dataset, size_t row_size, uint64_t *out, tl_error *err);

/* Reads n > 0 rows of the table of that name, from row `first` on, as cells of that type. */
tl_status tl_h5_read_rows(hid_t dataset, const char *name, hid_t type, uint64_t first, size_t n, void *out,
                          tl_error *err);

/* Opens a file whose seal is whole, to read it; *out is the caller's to close. */
tl_status tl_h5_open_sealed(const char *path, hid_t *out, tl_error *err);

/* Reads an attribute.  TL_EINPUT: absent, or of another kind.  *out is 0-terminated and the caller's to free. */
tl_status tl_h5_get_text(hid_t object, const char *name, char **out, tl_error *err);

/* Reads an attribute of n texts: *out is the caller's to free, text i is 0-terminated and begins at *out + i * *stride.
 */
tl_status tl_h5_get_texts(hid_t object, const char *name, size_t n, char **out, size_t *stride, tl_error *err);
tl_status tl_h5_get_int(hid_t object, const char *name, int64_t *out, tl_error *err);

#endif
