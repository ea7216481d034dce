/* h5.h - shared by the files that use HDF5: library calls, schemas, names, and rows to be written.
 *
 *     h5.c          initialisation, error messages, closing, attributes, sizes
 *     h5_schema.c   schemas to HDF5 and back
 *     h5_names.c    the texts of all names, to HDF5 and back
 *     h5_rows.c     writes one table
 *     h5_write.c    writes a result file
 *     h5_read.c     reads a result file
 */
#ifndef TLMPI_STORE_H5_H
#define TLMPI_STORE_H5_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/schema.h"
#include "tlmpi/store/pack.h"
#include <hdf5.h>
#include <stdint.h>

#define TL_H5_CONVENTIONS    "tlmpi-1"
#define TL_H5_SCHEMA_VERSION 6

/* Initialises the library so that it prints nothing, not even at the program's end.  Called before other calls of the
 * library, any number of times. */
void tl_h5_start(void);

/* Ends the run unless there is memory for calls of the library that take about n bytes: it can crash where it has none.
 * Called before calls that open, read or write. */
void tl_h5_need(size_t n);

/* Returns an access list for our files, locked if the file system has locks.  Negative on failure. */
hid_t tl_h5_file_access(void);

/* Returns a transfer list for rows that are converted; the caller closes it.  Negative on failure. */
hid_t tl_h5_transfer(void);

/* Writes "<file of `in`>: <message>: <cause>" and returns `status`.  The cause is the library's last error: the
 * system's message if the system failed ("No space left on device"), empty if the library did not fail.  So call it
 * before any other call of the library.  If the cause is lack of memory, the run ends. */
tl_status tl_h5_fail(tl_error *err, tl_status status, hid_t in, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Closes an object of any kind; a negative id is fine.  Negative on failure. */
herr_t tl_h5_close(hid_t id);

/* Returns the type of a fixed UTF-8 text of `size` bytes, padded with 0. */
hid_t tl_h5_text_type(size_t size);

/* Sets a new attribute.  Negative on failure.  A text longer than an attribute may be is truncated and ends in "...";
 * invalid UTF-8 is replaced. */
herr_t tl_h5_put_text(hid_t object, const char *name, const char *text);
herr_t tl_h5_put_int(hid_t object, const char *name, int64_t value);

/* Returns the number of bytes that an attribute of that name with `text` bytes of text takes in the header of its
 * object. */
size_t tl_h5_attr_bytes(const char *name, size_t text);

/* Makes datasets that are created with that list keep all attributes in their headers.  Negative on failure. */
herr_t tl_h5_attrs_in_header(hid_t plist);

/* Reserves nbytes bytes for attributes in the header of a new object: by itself the library extends the header for each
 * attribute, and copies it.  Negative on failure. */
herr_t tl_h5_reserve(hid_t object, size_t nbytes);

/* Writes n > 0 texts as one attribute; fails above the size limit of an attribute. */
herr_t tl_h5_put_texts(hid_t object, const char *name, const char *const *texts, size_t n);

/* Returns the number of rows of a dataset that is stored like ours and has space for as many rows as it claims;
 * TL_EINPUT: it is not, or has not. */
tl_status tl_h5_count_rows(hid_t dataset, size_t row_size, uint64_t *out, tl_error *err);

/* Reads n > 0 rows of the table of that name, from row `first` on, as cells of that type. */
tl_status tl_h5_read_rows(hid_t dataset, const char *name, hid_t type, uint64_t first, size_t n, void *out,
                          tl_error *err);

/* Reads an attribute.  TL_EINPUT: absent, or of another kind.  *out is 0-terminated; the caller frees it. */
tl_status tl_h5_get_text(hid_t object, const char *name, char **out, tl_error *err);

/* Reads an attribute of n texts.  The caller frees *out; text i is 0-terminated and begins at *out + i * *stride. */
tl_status tl_h5_get_texts(hid_t object, const char *name, size_t n, char **out, size_t *stride, tl_error *err);
tl_status tl_h5_get_int(hid_t object, const char *name, int64_t *out, tl_error *err);

/* Appends the n bytes of text and a 0 to *out.  Each byte that is not part of valid UTF-8, and each 0, becomes U+FFFD
 * (replacement character): strings of the file end at a 0, and h5py rejects a text that is not UTF-8. */
void tl_clean_append(tl_bytes *out, const char *text, size_t n);

/* ----------------------------------------------------------------------------------------------------------- schemas
 *
 *     CLASS, VERSION, TITLE                    mark a table, or a view of one, for PyTables and pandas
 *     description, scope                       the question that it answers; where its rows come from
 *     column_types, _units, _roles             a text per column; a time is ns since epoch_ns, a name a row of /names
 *     column_docs                              a line per column, which differ in length
 *     FIELD_i_NAME                             the name of a column, which its type has as well: so says the table
 *                                              specification of HDF5, and its readers take the type's */

/* Returns the compound type of a packed row; negative on failure. */
hid_t tl_h5_row_type(const tl_schema *schema);

/* Sets the attributes that mark a table, or a view of one, for other programs.  Negative on failure. */
herr_t tl_h5_mark_table(hid_t dataset, const tl_schema *schema);

/* Sets on a new table the attributes of tl_h5_mark_table, and those that describe its content.  Negative on failure. */
herr_t tl_h5_describe(hid_t dataset, const tl_schema *schema);

/* A schema read from a file, with everything that it points to.  Zero-initialise; tl_h5_free_schema ends it. */
typedef struct tl_h5_schema {
    tl_schema schema; /* of packed rows */
    tl_field *fields;
    TL_VEC(void *) owned; /* texts and lists of labels */
} tl_h5_schema;

/* Reads the schema of the table called `name`.  TL_EINPUT: a type or an attribute that we do not write.  After a
 * failure *out must be freed as well. */
tl_status tl_h5_read_schema(hid_t dataset, const char *name, tl_h5_schema *out, tl_error *err);

void tl_h5_free_schema(tl_h5_schema *schema);

/* ------------------------------------------------------------------------------------------------------------- names
 *
 *     /names         one text a row, variable-length UTF-8, for other programs
 *     /name_bytes    the same texts in one array of bytes, each with a 0 after it, for this one
 *
 * HDF5 keeps texts of variable length in a heap that it neither validates nor checksums.  They also take many times
 * longer to write than other cells, so they are written some thousand at a time.  The datasets are created with the
 * first of them, in chunks no larger than these. */

/* Names to be written to a file.  Start from TL_H5_NAMES_INIT; tl_h5_names_free ends it. */
typedef struct tl_h5_names {
    hid_t file;                /* borrowed */
    hid_t texts, flat, type;   /* the datasets, and the type of a row of /names */
    uint64_t nwritten, nbytes; /* number of written rows and bytes */
    tl_bytes bytes;            /* waiting texts, in the layout of /name_bytes */
    TL_VEC(size_t) starts;     /* offset of each in bytes */
} tl_h5_names;

#define TL_H5_NAMES_INIT                                                                                               \
    {                                                                                                                  \
        .file = -1, .texts = -1, .flat = -1, .type = -1                                                                \
    }

/* Adds a row; invalid UTF-8 is replaced. */
tl_status tl_h5_names_add(tl_h5_names *names, const char *text, size_t n, tl_error *err);

/* Writes the waiting rows, if any, into names->file. */
tl_status tl_h5_names_flush(tl_h5_names *names, tl_error *err);

/* Closes the datasets and frees everything.  Negative if closing failed. */
herr_t tl_h5_names_free(tl_h5_names *names);

/* All names of a file.  Zero-initialise; free(bytes.v) and free(starts.v) end it. */
typedef struct tl_h5_name_list {
    tl_bytes bytes;        /* each text, followed by a 0 */
    TL_VEC(size_t) starts; /* offset of each in bytes */
} tl_h5_name_list;

/* Reads the names from /name_bytes.  TL_EINPUT: the file lacks them in our layout, or they claim more bytes than it
 * has. */
tl_status tl_h5_names_read(tl_h5_name_list *list, hid_t file, tl_error *err);

/* -------------------------------------------------------------------------------------------------------------- rows
 *
 *     rows of the table    |--------- chunk 0 ---------|--------- chunk 1 ---------|--- 2
 *     from sender A        aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
 *     from sender B                                             bbbbbbbbbbbbbbbbbbbbbbbbb
 *
 * A chunk is written once, whole.  A sender's rows that fill one are written at once, without a copy; chunk 1 waits in
 * memory until both have sent their part of it, and what never gets full (chunk 2) is the table's last.
 *
 * The dataset is made with its first chunk.  Most tables of a small trace never fill one: they come to the file when
 * all their rows are there, as a chunk of just these; and a short one as no chunk at all, in the header of its dataset.
 */

/* A chunk that waits for the rest of its rows. */
typedef struct tl_h5_partial {
    uint64_t chunk;
    size_t filled;       /* number of rows that have come */
    unsigned char *rows; /* zeros for rows that have not come */
    size_t room;         /* number of rows that fit in `rows` */
} tl_h5_partial;

/* Working memory for a chunk, and property lists, for all tables of a file.  Zero-initialise; tl_h5_room_free ends
 * it. */
typedef struct tl_h5_room {
    unsigned char *encoded;
    size_t cap;
    tl_chunk_room work;
    hid_t compact, chunked; /* property lists, created once; 0: not yet */
} tl_h5_room;

void tl_h5_room_free(tl_h5_room *room);

/* Start from TL_H5_ROWS_INIT; tl_h5_rows_free ends it. */
typedef struct tl_h5_rows {
    const tl_schema *schema; /* borrowed */
    hid_t group;             /* /tables, borrowed */
    hid_t dataset, row_type; /* once it is created */
    size_t row_size, chunk_rows;
    uint64_t extent;  /* number of rows of the dataset: up to the end of the last chunk written */
    uint64_t given;   /* number of rows that have come */
    uint64_t end;     /* index after the highest of them; equals `given` once none is missing */
    tl_h5_room *room; /* borrowed */
    TL_VEC(tl_h5_partial) partials;
} tl_h5_rows;

#define TL_H5_ROWS_INIT                                                                                                \
    {                                                                                                                  \
        .group = -1, .dataset = -1, .row_type = -1                                                                     \
    }

/* Starts a table without rows, which will be <name> in the group. */
void tl_h5_rows_begin(tl_h5_rows *table, hid_t group, const tl_schema *schema, tl_h5_room *room);

/* As tl_store_rows and tl_store_chunk. */
tl_status tl_h5_rows_add(tl_h5_rows *table, uint64_t first, const void *packed, size_t n, tl_error *err);
tl_status tl_h5_rows_add_chunk(tl_h5_rows *table, uint64_t chunk, const void *encoded, size_t nbytes, tl_error *err);

/* Writes the last chunk; no more rows may come.  TL_EINTERNAL: earlier rows are missing. */
tl_status tl_h5_rows_flush(tl_h5_rows *table, tl_error *err);

/* Closes the dataset and frees everything.  Negative if closing failed. */
herr_t tl_h5_rows_free(tl_h5_rows *table);

#endif
