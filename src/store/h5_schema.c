/* h5_schema.c - converts a schema to HDF5 and back: the type of a row, and the attributes that describe it.
 *
 *     I32    int32             NAME   uint32, a row of /names
 *     I64    int64             ENUM   HDF5 enum over uint8
 *     TIME   int64             TEXT   fixed string, UTF-8, padded with 0
 *     F64    IEEE double
 *
 * All little-endian, one after the other without padding, as in pack.h. Input is not trusted: anything that is not in
 * this form is rejected, with the column's name.
 */
#include "h5.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words of a schema in the file; word i stands for value i of the enum. */
static const char *const type_words[] = { "int32", "int64", "float64", "time", "name", "enum", "text", NULL };
static const char *const role_words[] = { "key", "label", "measure", "source", NULL };
static const char *const scope_words[] = { "event", "rank", "collective", "job", NULL };

#define DOCS "column_docs" /* one text with a line per column */

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

/* Returns the type of a cell; the caller closes *own, which is negative if the type is the library's. */
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
    char name[40];
    herr_t rc = 0;
    for (size_t i = 0; rc >= 0 && i < schema->nfields; i++) {
        snprintf(name, sizeof name, "FIELD_%zu_NAME", i);
        rc = tl_h5_put_text(dataset, name, schema->fields[i].name);
    }
    return rc;
}

/* Attributes that hold a text for every column: an attribute for each column would take most of the time of writing a
 * small result. */
enum { TYPES, UNITS, ROLES, NPARTS };
static const char *const part_names[NPARTS] = { "column_types", "column_units", "column_roles" };

static const char *text_of_column(const tl_field *field, int part)
{
    return part == TYPES ? type_words[field->type] : part == UNITS ? field->unit : role_words[field->role];
}

static size_t docs_length(const tl_schema *schema)
{
    size_t n = 0;
    for (size_t i = 0; i < schema->nfields; i++)
        n += strlen(schema->fields[i].doc) + 1;
    return n - 1;
}

/* Writes a line per column, since docs differ in length. */
static herr_t put_docs(hid_t dataset, const tl_schema *schema)
{
    char *lines = tl_malloc(docs_length(schema) + 1), *at = lines;
    for (size_t i = 0; i < schema->nfields; i++) {
        size_t n = strlen(schema->fields[i].doc);
        memcpy(at, schema->fields[i].doc, n);
        at[n] = i + 1 < schema->nfields ? '\n' : '\0';
        at += n + 1;
    }
    herr_t rc = tl_h5_put_text(dataset, DOCS, lines);
    free(lines);
    return rc;
}

static herr_t put_meaning(hid_t dataset, const tl_schema *schema)
{
    const char **texts = tl_calloc(schema->nfields, sizeof *texts);
    herr_t rc = tl_h5_put_text(dataset, "description", schema->question);
    if (rc >= 0)
        rc = tl_h5_put_text(dataset, "scope", scope_words[schema->scope]);
    for (int p = 0; rc >= 0 && p < NPARTS; p++) {
        for (size_t i = 0; i < schema->nfields; i++)
            texts[i] = text_of_column(&schema->fields[i], p);
        rc = tl_h5_put_texts(dataset, part_names[p], texts, schema->nfields);
    }
    free(texts);
    return rc >= 0 ? put_docs(dataset, schema) : rc;
}

/* Returns the size of all attributes in the header, bytes. */
static size_t attribute_bytes(const tl_schema *schema)
{
    enum { DIMENSION = 8 };
    size_t sum =
        tl_h5_attr_bytes("CLASS", sizeof "TABLE" - 1) + tl_h5_attr_bytes("VERSION", sizeof "3.0" - 1) +
        tl_h5_attr_bytes("TITLE", strlen(schema->title)) + tl_h5_attr_bytes("description", strlen(schema->question)) +
        tl_h5_attr_bytes("scope", strlen(scope_words[schema->scope])) + tl_h5_attr_bytes(DOCS, docs_length(schema));
    for (int p = 0; p < NPARTS; p++) {
        size_t widest = 1;
        for (size_t i = 0; i < schema->nfields; i++) {
            size_t n = strlen(text_of_column(&schema->fields[i], p));
            widest = n > widest ? n : widest;
        }
        sum += tl_h5_attr_bytes(part_names[p], widest * schema->nfields) + DIMENSION;
    }
    for (size_t i = 0; i < schema->nfields; i++)
        sum += tl_h5_attr_bytes("FIELD_0_NAME", strlen(schema->fields[i].name));
    return sum;
}

/* Attributes that are read with every table precede the many names: to find an attribute the library unpacks all before
 * it. */
herr_t tl_h5_describe(hid_t dataset, const tl_schema *schema)
{
    if (tl_h5_reserve(dataset, attribute_bytes(schema)) < 0 || tl_h5_mark_table(dataset, schema) < 0 ||
        put_meaning(dataset, schema) < 0)
        return -1;
    return put_field_names(dataset, schema);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

/* Limits above any real table, that fit in any memory. */
#define MAX_FIELDS 512
#define MAX_TEXT   65536u

void tl_h5_free_schema(tl_h5_schema *s)
{
    for (size_t i = 0; i < s->owned.n; i++)
        free(s->owned.v[i]);
    free(s->owned.v);
    free(s->fields);
    *s = (tl_h5_schema){ 0 };
}

/* Returns a copy of the text, owned by the schema. */
static const char *keep_copy(tl_h5_schema *s, const char *text)
{
    tl_vec_push(&s->owned, tl_strndup(text, strlen(text)));
    return s->owned.v[s->owned.n - 1];
}

static tl_status read_text(tl_h5_schema *s, hid_t dataset, const char *name, const char **out, tl_error *err)
{
    char *text;
    tl_status st = tl_h5_get_text(dataset, name, &text, err);
    if (st != TL_OK)
        return st;
    tl_vec_push(&s->owned, text);
    *out = text;
    return TL_OK;
}

/* Finds the number of the word in the attribute. */
static tl_status find_word(hid_t dataset, const char *attribute, const char *text, const char *const *words, int *out,
                           tl_error *err)
{
    int i = 0;
    while (words[i] != NULL && strcmp(words[i], text) != 0)
        i++;
    if (words[i] == NULL)
        return tl_h5_fail(err, TL_EINPUT, dataset, "attribute %s is \"%.40s\", which this program does not know",
                          attribute, text);
    *out = i;
    return TL_OK;
}

static tl_status read_scope(tl_h5_schema *s, hid_t dataset, tl_error *err)
{
    const char *text;
    int scope = 0;
    tl_status st = read_text(s, dataset, "scope", &text, err);
    if (st == TL_OK)
        st = find_word(dataset, "scope", text, scope_words, &scope, err);
    s->schema.scope = (tl_scope)scope;
    return st;
}

/* The texts of an attribute with one per column. */
typedef struct column_texts {
    char *first; /* the schema owns it */
    size_t stride;
} column_texts;

static const char *text_of(const column_texts *texts, size_t column)
{
    return texts->first + column * texts->stride;
}

/* Reads the lines of docs, one per column. */
static tl_status read_docs(tl_h5_schema *s, hid_t dataset, tl_error *err)
{
    char *line;
    size_t n = 0;
    tl_status st = tl_h5_get_text(dataset, DOCS, &line, err);
    if (st != TL_OK)
        return st;
    tl_vec_push(&s->owned, line);
    for (char *next; line != NULL && n < s->schema.nfields; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        s->fields[n++].doc = line;
    }
    return line == NULL && n == s->schema.nfields
               ? TL_OK
               : tl_h5_fail(err, TL_EINPUT, dataset, "attribute %s has not a line a column", DOCS);
}

/* Reads the labels of an enum whose values are 0, 1, 2 ... in any order; *out is NULL-terminated. */
static tl_status read_labels(tl_h5_schema *s, hid_t type, const char *const **out, tl_error *err)
{
    int n = H5Tget_nmembers(type);
    if (n <= 0 || n > UINT8_MAX + 1)
        return tl_fail(err, TL_EINPUT, "an enum of %d labels", n);
    const char **labels = tl_calloc((size_t)n + 1, sizeof *labels);
    tl_vec_push(&s->owned, labels);
    for (unsigned i = 0; i < (unsigned)n; i++) {
        uint8_t value = 0;
        char *name = H5Tget_member_name(type, i);
        bool fits = name != NULL && H5Tget_member_value(type, i, &value) >= 0 && value < n && labels[value] == NULL;
        if (fits)
            labels[value] = keep_copy(s, name);
        H5free_memory(name);
        if (!fits)
            return tl_fail(err, TL_EINPUT, "an enum whose values are not 0, 1, 2 ...");
    }
    *out = labels;
    return TL_OK;
}

/* Whether cells of `type` can be stored in a field of type `want`; the library converts byte order. */
static bool cell_fits(hid_t type, tl_type want)
{
    size_t size = H5Tget_size(type);
    H5T_class_t kind = H5Tget_class(type);
    switch (want) {
    case TL_TYPE_I32:
        return kind == H5T_INTEGER && size == 4 && H5Tget_sign(type) == H5T_SGN_2;
    case TL_TYPE_I64:
    case TL_TYPE_TIME:
        return kind == H5T_INTEGER && size == 8 && H5Tget_sign(type) == H5T_SGN_2;
    case TL_TYPE_NAME:
        return kind == H5T_INTEGER && size == 4 && H5Tget_sign(type) == H5T_SGN_NONE;
    case TL_TYPE_F64:
        return kind == H5T_FLOAT && size == 8;
    case TL_TYPE_ENUM:
        return kind == H5T_ENUM && size == 1;
    case TL_TYPE_TEXT:
        return kind == H5T_STRING && H5Tis_variable_str(type) == 0 && size > 0 && size <= MAX_TEXT;
    }
    return false;
}

static tl_status read_field(tl_h5_schema *s, hid_t dataset, hid_t row, unsigned i, const column_texts parts[NPARTS],
                            tl_error *err)
{
    tl_field *field = &s->fields[i];
    hid_t cell = -1;
    int type = 0, role = 0;

    char *member = H5Tget_member_name(row, i);
    if (member == NULL)
        return tl_h5_fail(err, TL_EINPUT, dataset, "column %u of table %s", i, s->schema.name);
    field->name = keep_copy(s, member);
    H5free_memory(member);

    tl_status st = find_word(dataset, part_names[TYPES], text_of(&parts[TYPES], i), type_words, &type, err);
    if (st == TL_OK)
        st = find_word(dataset, part_names[ROLES], text_of(&parts[ROLES], i), role_words, &role, err);
    if (st != TL_OK)
        return st;

    field->type = (tl_type)type;
    field->role = (tl_role)role;
    field->unit = text_of(&parts[UNITS], i);
    cell = H5Tget_member_type(row, i);
    if (cell < 0 || !cell_fits(cell, field->type)) {
        st = tl_h5_fail(err, TL_EINPUT, dataset, "column %s.%s is not of type %s", s->schema.name, field->name,
                        type_words[type]);
        goto done;
    }
    field->size = (uint32_t)H5Tget_size(cell);
    field->offset = (uint32_t)s->schema.row_size;
    s->schema.row_size += field->size;
    if (field->type == TL_TYPE_ENUM) {
        tl_error why;
        st = read_labels(s, cell, &field->labels, &why);
        if (st != TL_OK)
            tl_h5_fail(err, st, dataset, "column %s.%s: %s", s->schema.name, field->name, why.text);
    }

done:
    tl_h5_close(cell);
    return st;
}

tl_status tl_h5_read_schema(hid_t dataset, const char *name, tl_h5_schema *out, tl_error *err)
{
    column_texts parts[NPARTS] = { { 0 } };
    int nfields;
    tl_status st = TL_OK;
    hid_t row = H5Dget_type(dataset);

    out->schema.name = keep_copy(out, name);
    nfields = row >= 0 && H5Tget_class(row) == H5T_COMPOUND ? H5Tget_nmembers(row) : 0;
    if (nfields <= 0 || nfields > MAX_FIELDS) {
        st = tl_h5_fail(err, TL_EINPUT, dataset, "%s is no table", name);
        goto done;
    }
    if ((st = read_text(out, dataset, "TITLE", &out->schema.title, err)) != TL_OK ||
        (st = read_text(out, dataset, "description", &out->schema.question, err)) != TL_OK ||
        (st = read_scope(out, dataset, err)) != TL_OK)
        goto done;

    out->fields = tl_calloc((size_t)nfields, sizeof *out->fields);
    out->schema.fields = out->fields;
    out->schema.nfields = (size_t)nfields;
    for (int p = 0; st == TL_OK && p < NPARTS; p++) {
        st = tl_h5_get_texts(dataset, part_names[p], (size_t)nfields, &parts[p].first, &parts[p].stride, err);
        if (st == TL_OK)
            tl_vec_push(&out->owned, parts[p].first);
    }
    if (st == TL_OK)
        st = read_docs(out, dataset, err);
    for (unsigned i = 0; st == TL_OK && i < (unsigned)nfields; i++)
        st = read_field(out, dataset, row, i, parts, err);

done:
    tl_h5_close(row);
    return st;
}
