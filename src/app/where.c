/* where.c - a condition on a column. */
#include "select.h"

#include "tlmpi/base/sort.h"
#include "tlmpi/base/pattern.h"
#include "tlmpi/model/table.h"
#include "tlmpi/report/format/print.h"
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer signs come before the signs that they begin with. */
static const struct {
    const char *sign;
    unsigned orders; /* as in select.h; 0: a pattern */
} signs[] = { { "!=", 1 | 4 }, { "!~", 0 }, { "<=", 1 | 2 }, { ">=", 2 | 4 },
              { "=", 2 },      { "~", 0 },  { "<", 1 },      { ">", 4 } };

static const char form[] = "expected COLUMN, one of = != < <= > >= ~ !~, and a value, as duration_ns>1ms";

size_t tl_where_column(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n;
}

/* ---- values ---- */

static bool is_words(const tl_field *field)
{
    return field->type == TL_TYPE_NAME || field->type == TL_TYPE_TEXT || field->type == TL_TYPE_ENUM;
}

/* Returns whether the condition is = or !=. */
static bool is_equality(const tl_where *w)
{
    return w->orders == 2 || w->orders == (1 | 4);
}

/* Reads the unit after a number.  The value is the number * *times / *by. */
static bool read_unit(const tl_field *field, const char *text, double *times, double *by)
{
    *times = *by = 1;
    if (*text == '\0')
        return true;
    if (strcmp(text, "%") == 0 && field->type == TL_TYPE_F64 && (field->unit[0] == '\0' || field->unit[0] == '%')) {
        *by = field->unit[0] == '%' ? 1 : 100;
        return true;
    }
    *times = strcmp(field->unit, "ns") == 0 ? tl_unit_named(text, strlen(text)) : 0;
    return *times > 0;
}

static bool read_number(tl_where *w, const char *text)
{
    char *end;
    double times, by;

    errno = 0;
    w->number = strtoll(text, &end, 10);
    if (end != text && errno == 0 && *end == '\0') {
        w->real = (double)w->number;
        return true;
    }
    w->real = strtod(text, &end);
    if (end == text || !isfinite(w->real) || !read_unit(w->field, end, &times, &by))
        return false;
    w->real = w->real * times / by;
    if (w->field->type == TL_TYPE_F64)
        return true;
    /* Integers are compared with integers: below 1.5 is at most 1; but 0.527511252s is an integer of ns, in spite of
     * rounding. */
    if (fabs(w->real) >= 9e18)
        return false;
    double whole = round(w->real);
    if (fabs(whole - w->real) > 2 * DBL_EPSILON * fabs(whole)) {
        if (is_equality(w))
            return false;
        whole = w->orders == 1 || w->orders == (2 | 4) ? ceil(w->real) : floor(w->real); /* < and >= */
    }
    w->number = (int64_t)whole;
    return true;
}

static tl_status read_label(tl_where *w, const char *text, tl_error *err)
{
    char place[80];
    size_t n = 0;
    for (; w->field->labels[n] != NULL; n++)
        if (strcmp(w->field->labels[n], text) == 0) {
            w->number = (int64_t)n;
            return TL_OK;
        }
    snprintf(place, sizeof place, "column %.60s", w->field->name);
    return tl_fail_unknown(err, "word", text, place, w->field->labels, n);
}

static tl_status read_value(tl_where *w, const char *text, tl_error *err)
{
    bool equals = is_equality(w);
    const char *column = w->field->name;

    w->text = text;
    w->none = equals && *text == '\0';
    if (w->none)
        return TL_OK;
    if (w->finds && !is_words(w->field))
        return tl_fail(err, TL_EUSAGE, "--where: %s has numbers: = != < <= > >= go with it", column);
    if (!w->finds && !equals && is_words(w->field))
        return tl_fail(err, TL_EUSAGE, "--where: %s has words: = != ~ !~ go with it", column);
    if (w->finds) {
        tl_status st = tl_pattern_compile(&w->pattern, "--where", text, err);
        w->has_pattern = st == TL_OK;
        return st;
    }
    if (w->field->type == TL_TYPE_ENUM)
        return read_label(w, text, err);
    if (is_words(w->field) || read_number(w, text))
        return TL_OK;
    return tl_fail(err, TL_EUSAGE, "--where: '%s' is no value of %s%s%s", text, column,
                   w->field->unit[0] != '\0' ? " in " : "", w->field->unit);
}

tl_status tl_where_init(tl_where *w, tl_result *result, const tl_field *field, const char *rest, tl_error *err)
{
    *w = (tl_where){ .field = field, .result = result };
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        size_t n = strlen(signs[i].sign);
        if (strncmp(rest, signs[i].sign, n) != 0)
            continue;
        w->orders = signs[i].orders;
        w->finds = w->orders == 0;
        w->wanted = rest[0] != '!';
        tl_status st = read_value(w, rest + n, err);
        if (st == TL_OK && field->type == TL_TYPE_NAME && tl_result_nnames(result) > 0)
            w->known = tl_calloc(tl_result_nnames(result), 1);
        return st;
    }
    return tl_fail(err, TL_EUSAGE, "--where: after '%s' stands '%s'; %s", field->name, rest, form);
}

void tl_where_free(tl_where *w)
{
    if (w->has_pattern)
        regfree(&w->pattern);
    free(w->known);
    tl_bytes_free(&w->copy);
}

/* ---- cells ---- */

static bool text_holds(tl_where *w, tl_text text)
{
    if (!w->has_pattern)
        return w->wanted == tl_text_is(text, w->text);
    w->copy.n = 0;
    tl_bytes_put(&w->copy, text.p, text.n);
    tl_bytes_put(&w->copy, "", 1);
    return w->wanted == (regexec(&w->pattern, w->copy.v, 0, NULL, 0) == 0);
}

/* Returns whether a name fulfils the condition, which is evaluated once per name. */
static bool name_holds(tl_where *w, uint32_t id)
{
    if (w->known[id] == 0)
        w->known[id] = text_holds(w, tl_result_name(w->result, id)) ? 1 : -1;
    return w->known[id] > 0;
}

bool tl_where_holds(tl_where *w, const unsigned char *row)
{
    const tl_content cell = tl_content_of(w->field, row);
    const tl_type type = w->field->type;
    bool none = cell.none || (type == TL_TYPE_TEXT && cell.text.n == 0) ||
                (type == TL_TYPE_NAME && (uint64_t)cell.i >= tl_result_nnames(w->result));

    if (w->none || none)
        return w->none && w->wanted == none;
    if (type == TL_TYPE_NAME)
        return name_holds(w, (uint32_t)cell.i);
    if (type == TL_TYPE_TEXT || (type == TL_TYPE_ENUM && w->has_pattern))
        return text_holds(w, cell.text);
    int order = type == TL_TYPE_F64 ? TL_COMPARE(cell.d, w->real) : TL_COMPARE(cell.i, w->number);
    return (w->orders >> (order + 1) & 1U) != 0;
}
