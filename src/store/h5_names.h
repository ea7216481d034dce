/* h5_names.h - the texts of all names, twice: as other programs like them and as this one reads them.
 *
 *     /names         one text a row, variable-length UTF-8
 *     /name_bytes    the same texts in one array of bytes, each with a 0 after it
 *
 * HDF5 keeps texts of any length in a heap, follows what stands in it blindly, and has no checksum over it.  They are
 * many times slower to write than other cells, too, so they are written some thousand at a time.  The datasets are made
 * with the first of them, in chunks no larger than these.
 */
#ifndef TLMPI_STORE_H5_NAMES_H
#define TLMPI_STORE_H5_NAMES_H

#include "clean.h"
#include "h5.h"
#include "tlmpi/base/text.h"

/* Names on their way into a file.  Start from TL_H5_NAMES_INIT; tl_h5_names_free ends it. */
typedef struct tl_h5_names {
    hid_t file;                /* borrowed */
    hid_t texts, flat, type;   /* the datasets, and the type of a row of /names */
    uint64_t nwritten, nbytes; /* rows of them */
    tl_bytes bytes;            /* texts that wait, as they are to stand in /name_bytes */
    TL_VEC(size_t) starts;     /* of each in bytes */
} tl_h5_names;

#define TL_H5_NAMES_INIT                                                                                               \
    {                                                                                                                  \
        .file = -1, .texts = -1, .flat = -1, .type = -1                                                                \
    }

/* Adds a row; bytes that are no UTF-8 are replaced. */
tl_status tl_h5_names_add(tl_h5_names *names, const char *text, size_t n, tl_error *err);

/* Writes the rows that wait, if any, into names->file. */
tl_status tl_h5_names_flush(tl_h5_names *names, tl_error *err);

/* Closes the datasets and frees everything.  Negative when the closing failed. */
herr_t tl_h5_names_free(tl_h5_names *names);

/* All names of a file.  Zero-initialise; tl_h5_name_list_free ends it. */
typedef struct tl_h5_name_list {
    tl_bytes bytes;
    TL_VEC(size_t) starts;
} tl_h5_name_list;

/* Reads the names from /name_bytes.  TL_EINPUT: the file lacks them in our layout, or they claim more bytes than it
 * has. */
tl_status tl_h5_names_read(tl_h5_name_list *list, hid_t file, tl_error *err);

/* Name i, the empty text when there is none. */
tl_text tl_h5_name(const tl_h5_name_list *list, size_t i);

void tl_h5_name_list_free(tl_h5_name_list *list);

#endif
