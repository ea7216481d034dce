/* h5_schema_read.c - a table of a file to a schema.
 *
 * Nothing in the file is trusted: what is not as h5_schema.c writes it is refused, with the column's name.
 */
#include "h5_schema.h"
#include "h5_words.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* The schema owns p from here on, or p is freed (false). */
static void keep(tl_h5_schema *s, void *p)
{
    tl_vec_room(&s->owned);
    s->owned.v[s->owned.n++] = p;
}

static tl_status read_text(tl_h5_schema *s, hid_t dataset, const char *name, const char **out, tl_error *err)
{
    char *text;
    tl_status st = tl_h5_get_text(dataset, name, &text, err);
    if (st != TL_OK)
        return st;
    keep(s, text);
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

static tl_status read_scope(hid_t dataset, tl_scope *out, tl_error *err)
{
    char *text;
    int scope = 0;
    tl_status st = tl_h5_get_text(dataset, "scope", &text, err);
    if (st != TL_OK)
        return st;
    st = find_word(dataset, "scope", text, tl_h5_scope_words, &scope, err);
    *out = (tl_scope)scope;
    free(text);
    return st;
}

/* An attribute with a text per column. */
typedef struct column_texts {
    const char *attribute;
    char *first; /* the schema owns it */
    size_t stride;
} column_texts;

static const char *text_of(const column_texts *texts, size_t column)
{
    return texts->first + column * texts->stride;
}

static tl_status read_column_texts(tl_h5_schema *s, hid_t dataset, column_texts *texts, tl_error *err)
{
    tl_status st = tl_h5_get_texts(dataset, texts->attribute, s->schema.nfields, &texts->first, &texts->stride, err);
    if (st == TL_OK)
        keep(s, texts->first);
    return st;
}

enum { TYPES, UNITS, ROLES, NPARTS };

/* The lines that say what each column is. */
static tl_status read_docs(tl_h5_schema *s, hid_t dataset, tl_error *err)
{
    char *line;
    size_t n = 0;
    tl_status st = tl_h5_get_text(dataset, TL_H5_DOCS, &line, err);
    if (st != TL_OK)
        return st;
    keep(s, line);
    for (char *next; line != NULL && n < s->schema.nfields; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        s->fields[n++].doc = line;
    }
    return line == NULL && n == s->schema.nfields
               ? TL_OK
               : tl_h5_fail(err, TL_EINPUT, dataset, "attribute %s has not a line a column", TL_H5_DOCS);
}

/* The labels of an enum whose values are 0, 1, 2 ... in any order; *out is NULL-terminated. */
static tl_status read_labels(tl_h5_schema *s, hid_t type, const char *const **out, tl_error *err)
{
    int n = H5Tget_nmembers(type);
    if (n <= 0 || n > UINT8_MAX + 1)
        return tl_fail(err, TL_EINPUT, "an enum of %d labels", n);
    const char **labels = tl_calloc((size_t)n + 1, sizeof *labels);
    keep(s, labels);
    for (unsigned i = 0; i < (unsigned)n; i++) {
        uint8_t value = 0;
        char *name = H5Tget_member_name(type, i);
        if (name == NULL || H5Tget_member_value(type, i, &value) < 0 || value >= n || labels[value] != NULL) {
            H5free_memory(name);
            return tl_fail(err, TL_EINPUT, "an enum whose values are not 0, 1, 2 ...");
        }
        char *copy = tl_strndup(name, strlen(name));
        H5free_memory(name);
        keep(s, copy);
        labels[value] = copy;
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
    char *copy = tl_strndup(member, strlen(member));
    H5free_memory(member);
    keep(s, copy);
    field->name = copy;

    tl_status st = find_word(dataset, TL_H5_TYPES, text_of(&parts[TYPES], i), tl_h5_type_words, &type, err);
    if (st == TL_OK)
        st = find_word(dataset, TL_H5_ROLES, text_of(&parts[ROLES], i), tl_h5_role_words, &role, err);
    if (st != TL_OK)
        return st;

    field->type = (tl_type)type;
    field->role = (tl_role)role;
    field->unit = text_of(&parts[UNITS], i);
    cell = H5Tget_member_type(row, i);
    if (cell < 0 || !cell_fits(cell, field->type)) {
        st = tl_h5_fail(err, TL_EINPUT, dataset, "column %s.%s is not of type %s", s->schema.name, field->name,
                        tl_h5_type_words[type]);
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
    column_texts parts[NPARTS] = { { TL_H5_TYPES, NULL, 0 }, { TL_H5_UNITS, NULL, 0 }, { TL_H5_ROLES, NULL, 0 } };
    int nfields;
    tl_status st = TL_OK;
    hid_t row = H5Dget_type(dataset);

    char *copy = tl_strndup(name, strlen(name));
    keep(out, copy);
    out->schema.name = copy;

    nfields = row >= 0 && H5Tget_class(row) == H5T_COMPOUND ? H5Tget_nmembers(row) : 0;
    if (nfields <= 0 || nfields > MAX_FIELDS) {
        st = tl_h5_fail(err, TL_EINPUT, dataset, "%s is no table", name);
        goto done;
    }
    if ((st = read_text(out, dataset, "TITLE", &out->schema.title, err)) != TL_OK ||
        (st = read_text(out, dataset, "description", &out->schema.question, err)) != TL_OK ||
        (st = read_scope(dataset, &out->schema.scope, err)) != TL_OK)
        goto done;

    out->fields = tl_calloc((size_t)nfields, sizeof *out->fields);
    out->schema.fields = out->fields;
    out->schema.nfields = (size_t)nfields;
    for (int p = 0; st == TL_OK && p < NPARTS; p++)
        st = read_column_texts(out, dataset, &parts[p], err);
    if (st == TL_OK)
        st = read_docs(out, dataset, err);
    for (unsigned i = 0; st == TL_OK && i < (unsigned)nfields; i++)
        st = read_field(out, dataset, row, i, parts, err);

done:
    tl_h5_close(row);
    return st;
}
