/* h5_schema.c - a schema to HDF5 and back: the type of a row, and the attributes that say what it means.
 *
 *     I32    int32             NAME   uint32, a row of /names
 *     I64    int64             ENUM   HDF5 enum over uint8
 *     TIME   int64             TEXT   fixed string, UTF-8, padded with 0
 *     F64    IEEE double
 *
 * All little-endian, and without padding, as pack.h has them.  Nothing that is read is trusted: what is not as it is
 * written here is refused, with the column's name.
 */
#include "h5.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words of a schema in the file; word i is value i of the enum. */
static const char *const type_words[] = { "int32", "int64", "float64", "time", "name", "enum", "text", NULL };
static const char *const role_words[] = { "key", "label", "measure", "source", NULL };
static const char *const scope_words[] = { "event", "rank", "collective", "job", NULL };

#define DOCS "column_docs" /* one text, a line a column */

static void put_enum_type(tl_bytes *to, const char *const *labels)
{
    unsigned n = 0;
    while (labels[n] != NULL)
        n++;
    tl_h5_put_type_head(to, 0x38, n, 1);
    tl_h5_put_int_type(to, 1, false);
    for (unsigned i = 0; i < n; i++)
        tl_bytes_put(to, labels[i], strlen(labels[i]) + 1);
    for (unsigned i = 0; i < n; i++)
        tl_h5_number(to, i, 1);
}

static void put_cell_type(tl_bytes *to, const tl_field *field)
{
    switch (field->type) {
    case TL_TYPE_I32:
    case TL_TYPE_I64:
    case TL_TYPE_TIME:
        tl_h5_put_int_type(to, field->size, true);
        break;
    case TL_TYPE_NAME:
        tl_h5_put_int_type(to, field->size, false);
        break;
    case TL_TYPE_F64:
        tl_h5_put_double_type(to);
        break;
    case TL_TYPE_ENUM:
        put_enum_type(to, field->labels);
        break;
    case TL_TYPE_TEXT:
        tl_h5_put_text_type(to, field->size);
        break;
    }
}

void tl_h5_put_row_type(tl_bytes *to, const tl_schema *schema)
{
    const size_t size = tl_packed_size(schema);
    size_t offset = 0, offset_bytes = 1;
    while (size >> 8 * offset_bytes > 0)
        offset_bytes++;
    tl_h5_put_type_head(to, 0x36, (unsigned)schema->nfields, size);
    for (size_t i = 0; i < schema->nfields; i++) {
        tl_bytes_put(to, schema->fields[i].name, strlen(schema->fields[i].name) + 1);
        tl_h5_number(to, offset, offset_bytes);
        put_cell_type(to, &schema->fields[i]);
        offset += schema->fields[i].size;
    }
}

void tl_h5_mark_table(tl_bytes *object, const tl_schema *schema)
{
    tl_h5_attr_text(object, "CLASS", "TABLE");
    tl_h5_attr_text(object, "VERSION", "3.0");
    tl_h5_attr_text(object, "TITLE", schema->title);
}

/* Attributes that hold a text for every column. */
enum { TYPES, UNITS, ROLES, NPARTS };
static const char *const part_names[NPARTS] = { "column_types", "column_units", "column_roles" };

static const char *text_of_column(const tl_field *field, int part)
{
    return part == TYPES ? type_words[field->type] : part == UNITS ? field->unit : role_words[field->role];
}

/* What is read with every table comes before the many names: to find an attribute the library unpacks all before it. */
void tl_h5_describe(tl_bytes *object, const tl_schema *schema)
{
    const char **texts = tl_calloc(schema->nfields, sizeof *texts);
    tl_bytes lines = { 0 }; /* a line a column: they differ in length */
    char name[40];

    tl_h5_mark_table(object, schema);
    tl_h5_attr_text(object, "description", schema->question);
    tl_h5_attr_text(object, "scope", scope_words[schema->scope]);
    for (int p = 0; p < NPARTS; p++) {
        for (size_t i = 0; i < schema->nfields; i++)
            texts[i] = text_of_column(&schema->fields[i], p);
        tl_h5_attr_texts(object, part_names[p], texts, schema->nfields);
    }
    for (size_t i = 0; i < schema->nfields; i++) {
        tl_bytes_put(&lines, schema->fields[i].doc, strlen(schema->fields[i].doc));
        tl_bytes_put(&lines, i + 1 < schema->nfields ? "\n" : "\0", 1);
    }
    tl_h5_attr_text(object, DOCS, lines.v);
    for (size_t i = 0; i < schema->nfields; i++) {
        snprintf(name, sizeof name, "FIELD_%zu_NAME", i);
        tl_h5_attr_text(object, name, schema->fields[i].name);
    }
    tl_bytes_free(&lines);
    free(texts);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

/* The type of a fixed UTF-8 text of `size` bytes, padded with 0. */
static hid_t text_type(size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, size) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
                      H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

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
        return *own = text_type(field->size);
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

/* More than any table has, and little enough for any memory. */
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

/* A copy of the text, which the schema owns. */
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

/* The number of the word that the attribute holds. */
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

/* The lines that say what each column is. */
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

/* The labels of an enum whose values are 0, 1, 2 ... in any order; *out is NULL-terminated. */
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

/* Whether cells of `type` are what a field of that type holds; byte order is left to the library. */
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
