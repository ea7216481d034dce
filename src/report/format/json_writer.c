/* json_writer.c - a JSON object, a value at a time. */
#include "tlmpi/report/format/json_writer.h"
#include "cell.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

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

void tl_put_int(tl_json_writer *j, const char *name, int64_t value)
{
    begin_value(j, name);
    fprintf(j->out, "%" PRId64, value);
}

void tl_put_known(tl_json_writer *j, const char *name, int64_t value)
{
    if (value >= 0)
        tl_put_int(j, name, value);
    else
        tl_put_null(j, name);
}

void tl_put_double(tl_json_writer *j, const char *name, double value)
{
    char digits[32];
    begin_value(j, name);
    tl_double_format(digits, sizeof digits, value);
    fputs(isfinite(value) ? digits : "null", j->out);
}

void tl_put_share(tl_json_writer *j, const char *name, int64_t ns, int64_t of_ns)
{
    tl_put_double(j, name, ns >= 0 && of_ns > 0 ? (double)ns / (double)of_ns : NAN);
}

void tl_put_bool(tl_json_writer *j, const char *name, bool value)
{
    begin_value(j, name);
    fputs(value ? "true" : "false", j->out);
}

void tl_put_null(tl_json_writer *j, const char *name)
{
    begin_value(j, name);
    fputs("null", j->out);
}

void tl_put_cell(tl_json_writer *j, const char *name, const char *cell, size_t size)
{
    const char *stop = memchr(cell, 0, size);
    const tl_text text = { cell, stop != NULL ? (size_t)(stop - cell) : size };
    begin_value(j, name);
    if (text.n > 0)
        tl_json_text(j->out, text);
    else
        fputs("null", j->out);
}

void tl_put_word(tl_json_writer *j, const char *name, const char *word)
{
    tl_put_cell(j, name, word, strlen(word));
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
        if (field->type == TL_TYPE_F64)
            tl_put_double(j, name, cell.d);
        else if (field->type == TL_TYPE_TEXT || field->type == TL_TYPE_ENUM)
            tl_put_cell(j, name, cell.text.p, cell.text.n);
        else if (known && cell.i < 0)
            tl_put_null(j, name);
        else
            tl_put_int(j, name, cell.i);
        columns += n + known;
    }
}

void tl_put_words(tl_json_writer *j, const char *name, const char *const *words)
{
    tl_put_begin_line(j, name);
    for (; *words != NULL; words++)
        tl_put_word(j, NULL, *words);
    tl_put_end(j, ']');
}
