/* h5_schema.c - a schema to HDF5: the type of a row, and the attributes that say what it means.
 *
 *     I32    int32             NAME   uint32, a row of /names
 *     I64    int64             ENUM   HDF5 enum over uint8
 *     TIME   int64             TEXT   fixed string, UTF-8, padded with 0
 *     F64    IEEE double
 *
 * All little-endian, one after the other without padding, as pack.h has them.
 */
#include "h5_schema.h"
#include "h5_words.h"
#include "tlmpi/store/pack.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hid_t enum_type(const char *const *labels)
{
    hid_t type = H5Tenum_create(H5T_STD_U8LE);
    for (unsigned i = 0; type >= 0 && labels[i] != NULL; i++) {
        uint8_t value = (uint8_t)i;
        if (i > UINT8_MAX || H5Tenum_insert(type, labels[i], &value) < 0) {
            H5Tclose(type);
            return -1;
        }
    }
    return type;
}

/* Its type; *own is the caller's to close, negative where the type is the library's. */
static hid_t cell_type(const tl_field *field, hid_t *own)
{
    *own = -1;
    switch (field->type) {
    case TL_TYPE_I32:
        return H5T_STD_I32LE;
    case TL_TYPE_I64:
    case TL_TYPE_TIME:
        return H5T_STD_I64LE;
    case TL_TYPE_F64:
        return H5T_IEEE_F64LE;
    case TL_TYPE_NAME:
        return H5T_STD_U32LE;
    case TL_TYPE_ENUM:
        return *own = enum_type(field->labels);
    case TL_TYPE_TEXT:
        return *own = tl_h5_text_type(field->size);
    }
    return -1;
}

hid_t tl_h5_row_type(const tl_schema *schema)
{
    hid_t row = H5Tcreate(H5T_COMPOUND, tl_packed_size(schema));
    size_t offset = 0;
    for (size_t i = 0; row >= 0 && i < schema->nfields; i++) {
        const tl_field *field = &schema->fields[i];
        hid_t own, cell = cell_type(field, &own);
        herr_t rc = cell >= 0 ? H5Tinsert(row, field->name, offset, cell) : -1;
        tl_h5_close(own);
        if (rc < 0) {
            H5Tclose(row);
            return -1;
        }
        offset += field->size;
    }
    return row;
}

herr_t tl_h5_mark_table(hid_t dataset, const tl_schema *schema)
{
    if (tl_h5_put_text(dataset, "CLASS", "TABLE") < 0 || tl_h5_put_text(dataset, "VERSION", "3.0") < 0)
        return -1;
    return tl_h5_put_text(dataset, "TITLE", schema->title);
}

static herr_t put_field_names(hid_t dataset, const tl_schema *schema)
{
    char name[TL_H5_FIELD_NAME];
    herr_t rc = 0;
    for (size_t i = 0; rc >= 0 && i < schema->nfields; i++) {
        snprintf(name, sizeof name, "FIELD_%zu_NAME", i);
        rc = tl_h5_put_text(dataset, name, schema->fields[i].name);
    }
    return rc;
}

static const char *type_of(const tl_field *field)
{
    return tl_h5_type_words[field->type];
}

static const char *unit_of(const tl_field *field)
{
    return field->unit;
}

static const char *role_of(const tl_field *field)
{
    return tl_h5_role_words[field->role];
}

/* Attributes that hold a text for every column: an attribute for each column would take most of the time to write a
 * small result. */
static const struct {
    const char *attribute;
    const char *(*text_of)(const tl_field *);
} parts[] = {
    { TL_H5_TYPES, type_of },
    { TL_H5_UNITS, unit_of },
    { TL_H5_ROLES, role_of },
};
enum { NPARTS = sizeof parts / sizeof parts[0] };

static size_t docs_length(const tl_schema *schema)
{
    size_t n = 0;
    for (size_t i = 0; i < schema->nfields; i++)
        n += strlen(schema->fields[i].doc) + 1;
    return n - 1;
}

/* A line a column: they differ in length. */
static herr_t put_docs(hid_t dataset, const tl_schema *schema)
{
    char *lines = tl_malloc(docs_length(schema) + 1), *at = lines;
    for (size_t i = 0; i < schema->nfields; i++) {
        size_t n = strlen(schema->fields[i].doc);
        memcpy(at, schema->fields[i].doc, n);
        at[n] = i + 1 < schema->nfields ? '\n' : '\0';
        at += n + 1;
    }
    herr_t rc = tl_h5_put_text(dataset, TL_H5_DOCS, lines);
    free(lines);
    return rc;
}

static herr_t put_meaning(hid_t dataset, const tl_schema *schema)
{
    const char **texts = tl_calloc(schema->nfields, sizeof *texts);
    herr_t rc = tl_h5_put_text(dataset, "description", schema->question);
    if (rc >= 0)
        rc = tl_h5_put_text(dataset, "scope", tl_h5_scope_words[schema->scope]);
    for (size_t p = 0; rc >= 0 && p < NPARTS; p++) {
        for (size_t i = 0; i < schema->nfields; i++)
            texts[i] = parts[p].text_of(&schema->fields[i]);
        rc = tl_h5_put_texts(dataset, parts[p].attribute, texts, schema->nfields);
    }
    free(texts);
    return rc >= 0 ? put_docs(dataset, schema) : rc;
}

/* What all attributes take in the header. */
static size_t attribute_bytes(const tl_schema *schema)
{
    enum { DIMENSION = 16 };
    size_t sum = tl_h5_attr_bytes("CLASS", sizeof "TABLE" - 1) + tl_h5_attr_bytes("VERSION", sizeof "3.0" - 1) +
                 tl_h5_attr_bytes("TITLE", strlen(schema->title)) +
                 tl_h5_attr_bytes("description", strlen(schema->question)) +
                 tl_h5_attr_bytes("scope", strlen(tl_h5_scope_words[schema->scope])) +
                 tl_h5_attr_bytes(TL_H5_DOCS, docs_length(schema));
    for (size_t p = 0; p < NPARTS; p++) {
        size_t widest = 1;
        for (size_t i = 0; i < schema->nfields; i++) {
            size_t n = strlen(parts[p].text_of(&schema->fields[i]));
            widest = n > widest ? n : widest;
        }
        sum += tl_h5_attr_bytes(parts[p].attribute, widest * schema->nfields) + DIMENSION;
    }
    for (size_t i = 0; i < schema->nfields; i++)
        sum += tl_h5_attr_bytes("FIELD_0_NAME", strlen(schema->fields[i].name));
    return sum;
}

/* What is read with every table comes before the many names: to find an attribute the library unpacks all before it. */
herr_t tl_h5_describe(hid_t dataset, const tl_schema *schema)
{
    if (tl_h5_reserve(dataset, attribute_bytes(schema)) < 0 || tl_h5_mark_table(dataset, schema) < 0 ||
        put_meaning(dataset, schema) < 0)
        return -1;
    return put_field_names(dataset, schema);
}
