/* json_writer.c - a JSON object, a value at a time. */
#include "tlmpi/report/format/json_writer.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/model/table.h"
#include <inttypes.h>

void tl_json_text(FILE *out, tl_text text)
{
    fputc('"', out);
    while (text.n > 0) {
        const tl_char c = tl_char_take(&text);
        if (!c.whole)
            fputs("\\ufffd", out);
        else if (c.code == '"' || c.code == '\\')
            fprintf(out, "\\%c", (int)c.code);
        else if (c.code == '\n')
            fputs("\\n", out);
        else if (c.code == '\t')
            fputs("\\t", out);
        else if (!tl_char_shows(c.code))
            fprintf(out, "\\u%04x", (unsigned)c.code);
        else
            fwrite(c.bytes.p, 1, c.bytes.n, out);
    }
    fputc('"', out);
}

/* Writes the separator and the name of the next value; `name` is NULL in an array. */
static void begin_value(tl_json_writer *j, const char *name)
{
    if (!j->first)
        fputc(',', j->out);
    if (!j->flat)
        fprintf(j->out, "\n%*s", 2 * j->depth, "");
    else if (!j->first)
        fputc(' ', j->out);
    j->first = false;
    if (name != NULL)
        fprintf(j->out, "\"%s\": ", name);
}

void tl_put_begin(tl_json_writer *j, const char *name, char bracket)
{
    if (j->depth > 0)
        begin_value(j, name);
    fputc(bracket, j->out);
    j->depth++;
    j->first = true;
}

void tl_put_begin_line(tl_json_writer *j, const char *name)
{
    tl_put_begin(j, name, '[');
    j->flat = true;
}

void tl_put_end(tl_json_writer *j, char bracket)
{
    j->depth--;
    if (!j->first && !j->flat)
        fprintf(j->out, "\n%*s", 2 * j->depth, "");
    fputc(bracket, j->out);
    j->first = false;
    j->flat = false;
}

void tl_put_value(tl_json_writer *j, tl_json_item value)
{
    char digits[32] = "null";
    begin_value(j, value.name);
    if (value.is == TL_JSON_INT)
        snprintf(digits, sizeof digits, "%" PRId64, value.i);
    else if (value.is == TL_JSON_REAL)
        tl_double_format(digits, sizeof digits, value.d);
    else if (value.is == TL_JSON_BOOL)
        snprintf(digits, sizeof digits, "%s", value.i != 0 ? "true" : "false");
    if (value.is == TL_JSON_TEXT)
        tl_json_text(j->out, value.text);
    else
        fputs(digits, j->out);
}

void tl_put_values(tl_json_writer *j, const tl_json_item *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tl_put_value(j, values[i]);
}

void tl_put_columns(tl_json_writer *j, const tl_schema *schema, const void *row, const char *columns)
{
    while (*(columns += strspn(columns, " ")) != '\0') {
        char name[64];
        size_t n = strcspn(columns, " ?");
        snprintf(name, sizeof name, "%.*s", (int)n, columns);
        const tl_field *field = tl_schema_field(schema, name);
        const tl_content cell = tl_content_of(field, row);
        bool known = columns[n] == '?';
        tl_put_value(j, field->type == TL_TYPE_F64                                   ? tl_json_real(name, cell.d)
                        : field->type == TL_TYPE_TEXT || field->type == TL_TYPE_ENUM ? tl_json_text_of(name, cell.text)
                        : known                                                      ? tl_json_known(name, cell.i)
                                                                                     : tl_json_int(name, cell.i));
        columns += n + known;
    }
}

void tl_put_words(tl_json_writer *j, const char *name, const char *const *words)
{
    tl_put_begin_line(j, name);
    for (; *words != NULL; words++)
        tl_put_value(j, tl_json_word(NULL, *words));
    tl_put_end(j, ']');
}
