/* h5_schema.h - a schema as HDF5 says it: a compound type and attributes, both ways.
 *
 *     CLASS, VERSION, TITLE                    mark a table, or a view of one, for PyTables and pandas
 *     description, scope                       the question that it answers; where its rows come from
 *     column_types, _units, _roles             a text per column; a time is ns since epoch_ns, a name a row of /names
 *     column_docs                              a line per column, which differ in length
 *     FIELD_i_NAME                             the name of a column, which its type has as well: so says the table
 *                                              specification of HDF5, and its readers take the type's
 */
#ifndef TLMPI_STORE_H5_SCHEMA_H
#define TLMPI_STORE_H5_SCHEMA_H

#include "h5.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/schema.h"

/* The compound type of a packed row; negative on failure. */
hid_t tl_h5_row_type(const tl_schema *schema);

/* Sets the attributes by which a table, or a view of one, is known for a table.  Negative on failure. */
herr_t tl_h5_mark_table(hid_t dataset, const tl_schema *schema);

/* Sets on a new table the attributes of tl_h5_mark_table, and the attributes that say what it means.  Negative on
 * failure. */
herr_t tl_h5_describe(hid_t dataset, const tl_schema *schema);

/* A schema made from a file, with everything that it points to.  Zero-initialise; tl_h5_free_schema ends it. */
typedef struct tl_h5_schema {
    tl_schema schema; /* of packed rows */
    tl_field *fields;
    TL_VEC(void *) owned; /* texts and lists of labels */
} tl_h5_schema;

/* Reads the schema of the table called `name`.  TL_EINPUT: a type or an attribute that we do not write; TL_ENOMEM.
 * After a failure *out must be freed as well. */
tl_status tl_h5_read_schema(hid_t dataset, const char *name, tl_h5_schema *out, tl_error *err);

void tl_h5_free_schema(tl_h5_schema *schema);

#endif
