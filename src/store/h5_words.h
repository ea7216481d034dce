/* h5_words.h - the words of a schema in the file; word i is value i of the enum. */
#ifndef TLMPI_STORE_H5_WORDS_H
#define TLMPI_STORE_H5_WORDS_H

#include <stddef.h>

static const char *const tl_h5_type_words[] = { "int32", "int64", "float64", "time", "name", "enum", "text", NULL };
static const char *const tl_h5_role_words[] = { "key", "label", "measure", "source", NULL };
static const char *const tl_h5_scope_words[] = { "event", "rank", "collective", "job", NULL };

/* The attributes with a text per column. */
#define TL_H5_TYPES "column_types"
#define TL_H5_UNITS "column_units"
#define TL_H5_ROLES "column_roles"
#define TL_H5_DOCS  "column_docs" /* one text, a line a column */

#define TL_H5_FIELD_NAME 40 /* room for the name of a column's attribute */

#endif
