/* select.c - which rows and columns of a table are selected. */
#include "select.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/pattern.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/store/load.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- conditions */

/* A condition on a column. */

/* Longer signs come before the signs that they begin with. */
static const struct {
    const char *sign;
    unsigned orders; /* as in select.h; 0: a pattern */
} signs[] = { { "!=", 1 | 4 }, { "!~", 0 }, { "<=", 1 | 2 }, { ">=", 2 | 4 },
              { "=", 2 },      { "~", 0 },  { "<", 1 },      { ">", 4 } };

static const char form[] = "expected COLUMN, one of = != < <= > >= ~ !~, and a value, as duration_ns>1ms";

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

static bool read_number(tl_where *w, const char *text)
{
    const char *unit = w->field->unit;
    char *end;
    errno = 0;
    w->number = strtoll(text, &end, 10);
    if (end != text && errno == 0 && *end == '\0') {
        w->real = (double)w->number;
        return true;
    }
    w->real = strtod(text, &end);
    const bool real = w->field->type == TL_TYPE_F64,
               share = real && strcmp(end, "%") == 0 && (unit[0] == '\0' || unit[0] == '%');
    const double times = *end == '\0' || share ? 1 : strcmp(unit, "ns") == 0 ? tl_unit_named(end, strlen(end)) : 0;
    if (end == text || !isfinite(w->real) || !(times > 0))
        return false;
    w->real = w->real * times / (share && unit[0] != '%' ? 100 : 1);
    if (real)
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
    return tl_fail_unknown(err, "word", text, place, w->field->labels, sizeof *w->field->labels, n);
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

/* Reads a condition; `rest` is the text after the column's name, borrowed.  TL_EUSAGE: not a condition for such a
 * column. */
static tl_status where_init(tl_where *w, tl_result *result, const tl_field *field, const char *rest, tl_error *err)
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

/* Returns whether the row fulfils the condition. */
static bool where_holds(tl_where *w, const unsigned char *row)
{
    const tl_content cell = tl_content_of(w->field, row);
    const tl_type type = w->field->type;
    bool none = cell.none || (type == TL_TYPE_TEXT && cell.text.n == 0) ||
                (type == TL_TYPE_NAME && (uint64_t)cell.i >= tl_result_nnames(w->result));

    if (w->none || none)
        return w->none && w->wanted == none;
    if (type == TL_TYPE_NAME) { /* evaluated once per name */
        signed char *known = &w->known[cell.i];
        if (*known == 0)
            *known = text_holds(w, tl_result_name(w->result, (uint32_t)cell.i)) ? 1 : -1;
        return *known > 0;
    }
    if (type == TL_TYPE_TEXT || (type == TL_TYPE_ENUM && w->has_pattern))
        return text_holds(w, cell.text);
    int order = type == TL_TYPE_F64 ? TL_COMPARE(cell.d, w->real) : TL_COMPARE(cell.i, w->number);
    return (w->orders >> (order + 1) & 1U) != 0;
}

#define BLOCK_BYTES ((size_t)1 << 20)

/* ---- names that must be there ---- */

static tl_status find_table(tl_result *result, const char *name, const char *file, const tl_schema **out, tl_error *err)
{
    const tl_schema *found = tl_result_find(result, name);
    *out = found != NULL ? found : tl_rare_schema(name); /* a table known to tlmpi, without rows in this file */
    if (*out != NULL)
        return TL_OK;

    size_t n = tl_result_ntables(result);
    const char **names = tl_calloc(n + 1, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = tl_result_table(result, i)->name;
    tl_status st = tl_fail_unknown(err, "table", name, file, names, sizeof *names, n);
    free(names);
    return st;
}

/* Finds the column whose name is the first n bytes of the text. */
static tl_status find_column(const tl_schema *table, const char *text, size_t n, const tl_field **out, tl_error *err)
{
    char place[80], name[64];
    for (const tl_field *f = table->fields; f < table->fields + table->nfields; f++)
        if (tl_text_is((tl_text){ text, n }, f->name)) {
            *out = f;
            return TL_OK;
        }
    snprintf(place, sizeof place, "table %.60s", table->name);
    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : (int)sizeof name - 1, text);
    (void)tl_fail_unknown(err, "column", name, place, &table->fields->name, sizeof *table->fields, table->nfields);
    return TL_EUSAGE;
}

/* ---- the command line, resolved ---- */

/* Adds the columns of a list "a,b,c". */
static tl_status add_columns(tl_select *select, const char *list, tl_error *err)
{
    tl_status st = TL_OK;
    for (bool more = true; more && st == TL_OK;) {
        const tl_field *field;
        size_t n = strcspn(list, ",");
        st = find_column(select->table, list, n, &field, err);
        if (st == TL_OK)
            tl_vec_push(&select->columns, (uint32_t)(field - select->table->fields));
        more = list[n] == ',';
        list += n + 1;
    }
    return st;
}

/* Sets the order of rows: "wall_ns", "wall_ns:asc", "wall_ns:desc". */
static tl_status set_sort(tl_select *select, const char *text, tl_error *err)
{
    const char *way = strchr(text, ':');
    tl_status st = find_column(select->table, text, strcspn(text, ":"), &select->sort, err);
    if (st != TL_OK)
        return st;
    if (way == NULL)
        select->descending = select->sort->role == TL_ROLE_MEASURE;
    else if (strcmp(way, ":desc") == 0)
        select->descending = true;
    else if (strcmp(way, ":asc") != 0)
        return tl_fail(err, TL_EUSAGE, "--sort: '%s' is neither :asc nor :desc", way);
    return TL_OK;
}

/* Sets the time column of the table for --top P%.  In tables with nested rows it is the rows' own time, which counts
 * once. */
static tl_status set_time(tl_select *select, tl_error *err)
{
    static const char *const names[] = { "total_ns", "device_self_ns", "device_ns" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const tl_field *field = tl_schema_field(select->table, names[i]);
        if (field == NULL || field->type != TL_TYPE_I64)
            continue;
        select->time = select->sort = field;
        select->descending = true;
        return TL_OK;
    }
    return tl_fail(err, TL_EUSAGE, "--top P%%: table %s has none of the columns total_ns, device_self_ns and device_ns",
                   select->table->name);
}

/* Finds the column by which --rank or --step filters: that of the name, else the first key that ends with it (to_rank,
 * the rank charged, for rank). */
static tl_status set_filter(const tl_schema *table, const char *name, const tl_ranges *ranks, const tl_field **out,
                            tl_error *err)
{
    const size_t most = strlen(name);
    if (ranks->n == 0)
        return TL_OK;
    *out = tl_schema_field(table, name);
    for (size_t i = 0; *out == NULL && i < table->nfields; i++) {
        const tl_field *field = &table->fields[i];
        const size_t n = strlen(field->name);
        if (field->role == TL_ROLE_KEY && n > most && field->name[n - most - 1] == '_' &&
            strcmp(field->name + n - most, name) == 0)
            *out = field;
    }
    if (*out == NULL)
        return find_column(table, name, most, out, err);
    return (*out)->type == TL_TYPE_I32 || (*out)->type == TL_TYPE_I64
               ? TL_OK
               : tl_fail(err, TL_EINPUT, "column %s of table %s is no integer", name, table->name);
}

/* Adds a condition, as "kind=comm". */
static tl_status add_condition(tl_select *select, const char *text, tl_error *err)
{
    const tl_field *field;
    const size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    tl_vec_room(&select->where);
    tl_status st = find_column(select->table, text, n, &field, err);
    if (st == TL_OK) /* added also after a failure, to be freed with the others */
        st = where_init(&select->where.v[select->where.n++], select->result, field, text + n, err);
    return st;
}

tl_status tl_select_init(tl_select *select, tl_result *result, const char *table, const tl_cli *cli, tl_error *err)
{
    *select = (tl_select){ .result = result, .ranks = &cli->ranks, .steps = &cli->steps };
    tl_status st = find_table(result, table, cli->words[0], &select->table, err);
    if (st == TL_OK)
        st = set_filter(select->table, "rank", &cli->ranks, &select->rank, err);
    if (st == TL_OK)
        st = set_filter(select->table, "step", &cli->steps, &select->step, err);
    for (size_t i = 0; st == TL_OK && i < cli->where.n; i++)
        st = add_condition(select, cli->where.v[i], err);
    if (st == TL_OK && cli->columns != NULL)
        st = add_columns(select, cli->columns, err);
    if (st == TL_OK && cli->top.share > 0)
        st = set_time(select, err);
    if (st == TL_OK && cli->sort != NULL)
        st = set_sort(select, cli->sort, err);
    return st;
}

void tl_select_free(tl_select *select)
{
    TL_EACH (tl_where, w, select->where) {
        if (w->has_pattern)
            regfree(&w->pattern);
        free(w->known);
        tl_bytes_free(&w->copy);
    }
    free(select->where.v);
    free(select->spans.v);
    free(select->columns.v);
}

/* ---- the walk ---- */

static bool is_selected(tl_select *s, const unsigned char *row)
{
    bool asked = (s->rank == NULL || tl_ranges_has(s->ranks, tl_content_of(s->rank, row).i)) &&
                 (s->step == NULL || tl_ranges_has(s->steps, tl_content_of(s->step, row).i));
    for (size_t i = 0; asked && i < s->where.n; i++)
        asked = where_holds(&s->where.v[i], row);
    return asked;
}

/* Takes a row of the table's index, which says where the rows of a rank stand. */
static void take_index(void *arg, const void *of)
{
    tl_select *s = arg;
    const tl_row_index *row = of;
    if (tl_ranges_has(s->ranks, row->rank))
        tl_vec_push(&s->spans, (tl_select_span){ (uint64_t)row->first_row, (uint64_t)row->nrows });
}

/* Finds where rows that are asked for may stand: of an event table the rows of the ranks, else all. */
static tl_status find_spans(tl_select *s, tl_error *err)
{
    const uint64_t all = tl_result_nrows(s->result, s->table);
    tl_schema index = tl_row_index_schema;
    char name[256];
    tl_status st = TL_OK;
    snprintf(name, sizeof name, "%.200s_index", s->table->name);
    index.name = name;
    if (s->rank == NULL || tl_result_find(s->result, name) == NULL)
        tl_vec_push(&s->spans, (tl_select_span){ 0, all });
    else
        st = tl_result_each(s->result, &index, take_index, s, err);
    TL_EACH (const tl_select_span, span, s->spans)
        if (st == TL_OK && (span->first > all || span->n > all - span->first))
            st = tl_fail(err, TL_EINPUT, "table %s names rows that %s does not have", name, s->table->name);
    return st;
}

tl_status tl_select_walk(tl_select *s, tl_take_selected *take, void *arg, tl_error *err)
{
    const size_t size = s->table->row_size, most = size < BLOCK_BYTES ? BLOCK_BYTES / size : 1;
    unsigned char *block = tl_malloc(most * size);
    bool enough = false;
    tl_status st = find_spans(s, err);
    for (size_t k = 0; k < s->spans.n && st == TL_OK; k++) {
        const tl_select_span *of = &s->spans.v[k];
        for (uint64_t at = 0, n; at < of->n && st == TL_OK && !enough; at += n) {
            n = of->n - at < most ? of->n - at : most;
            st = tl_result_read(s->result, s->table, of->first + at, (size_t)n, block, err);
            for (size_t i = 0; i < n && st == TL_OK && !enough; i++)
                if (is_selected(s, block + i * size))
                    st = take(arg, block + i * size, &enough, err);
        }
    }
    free(block);
    return st;
}
