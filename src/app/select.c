/* select.c - which rows and columns of a table are selected. */
#include "select.h"

#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/log.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/report/format/words.h"
#include "tlmpi/store/load.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    tl_status st = tl_fail_unknown(err, "table", name, file, names, n);
    free(names);
    return st;
}

static tl_status find_column(const tl_schema *table, const char *name, const tl_field **out, tl_error *err)
{
    *out = tl_schema_field(table, name);
    if (*out != NULL)
        return TL_OK;

    char place[80];
    snprintf(place, sizeof place, "table %.60s", table->name);
    const char **names = tl_calloc(table->nfields + 1, sizeof *names);
    for (size_t i = 0; i < table->nfields; i++)
        names[i] = table->fields[i].name;
    tl_status st = tl_fail_unknown(err, "column", name, place, names, table->nfields);
    free(names);
    return st;
}

/* ---- the command line, resolved ---- */

/* Adds the columns of a list "a,b,c". */
static tl_status add_columns(tl_select *select, const char *list, tl_error *err)
{
    tl_status st = TL_OK;
    for (bool more = true; more && st == TL_OK;) {
        const tl_field *field;
        size_t n = strcspn(list, ",");
        char *word = tl_strndup(list, n);
        st = find_column(select->table, word, &field, err);
        free(word);
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
    char *name = tl_strndup(text, way != NULL ? (size_t)(way - text) : strlen(text));
    tl_status st = find_column(select->table, name, &select->sort, err);
    free(name);
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

/* Finds the column with that name; else the first key that ends with it (to_rank, the rank charged, for rank). */
static tl_status find_filter(const tl_schema *table, const char *name, const tl_field **out, tl_error *err)
{
    size_t most = strlen(name);
    for (size_t i = 0; tl_schema_field(table, name) == NULL && i < table->nfields; i++) {
        const tl_field *field = &table->fields[i];
        size_t n = strlen(field->name);
        if (field->role == TL_ROLE_KEY && n > most && field->name[n - most - 1] == '_' &&
            strcmp(field->name + n - most, name) == 0) {
            *out = field;
            return TL_OK;
        }
    }
    return find_column(table, name, out, err);
}

static tl_status set_filter(const tl_schema *table, const char *name, const tl_ranges *ranges, const tl_field **out,
                            tl_error *err)
{
    if (ranges->n == 0)
        return TL_OK;
    tl_status st = find_filter(table, name, out, err);
    if (st == TL_OK && *out != NULL && (*out)->type != TL_TYPE_I32 && (*out)->type != TL_TYPE_I64)
        st = tl_fail(err, TL_EINPUT, "column %s of table %s is no integer", name, table->name);
    return st;
}

/* Adds a condition, as "kind=comm". */
static tl_status add_condition(tl_select *select, const char *text, tl_error *err)
{
    const tl_field *field;
    size_t n = tl_where_column(text);
    char *name = tl_strndup(text, n);
    tl_vec_room(&select->where);
    tl_status st = find_column(select->table, name, &field, err);
    free(name);
    if (st == TL_OK) /* added also after a failure, to be freed with the others */
        st = tl_where_init(&select->where.v[select->where.n++], select->result, field, text + n, err);
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
    for (size_t i = 0; i < select->where.n; i++)
        tl_where_free(&select->where.v[i]);
    free(select->where.v);
    free(select->columns.v);
}

/* ---- the walk ---- */

static bool is_selected(tl_select *s, const unsigned char *row)
{
    bool asked = (s->rank == NULL || tl_ranges_has(s->ranks, tl_content_of(s->rank, row).i)) &&
                 (s->step == NULL || tl_ranges_has(s->steps, tl_content_of(s->step, row).i));
    for (size_t i = 0; asked && i < s->where.n; i++)
        asked = tl_where_holds(&s->where.v[i], row);
    return asked;
}

/* Rows [first, first + n) of the table. */
typedef struct span {
    uint64_t first, n;
} span;

typedef struct indexed {
    const tl_select *select;
    TL_VEC(span) spans; /* of the ranks asked for */
} indexed;

/* Takes a row of the table's index, which says where the rows of a rank stand. */
static void take_index(void *arg, const void *of, tl_error *err)
{
    indexed *x = arg;
    const tl_row_index *row = of;
    (void)err;
    if (tl_ranges_has(x->select->ranks, row->rank))
        tl_vec_push(&x->spans, (span){ (uint64_t)row->first_row, (uint64_t)row->nrows });
}

/* Where rows that are asked for may stand: of an event table the rows of the ranks, else all. */
static tl_status find_spans(indexed *x, tl_error *err)
{
    const tl_select *s = x->select;
    const uint64_t all = tl_result_nrows(s->result, s->table);
    tl_schema index = tl_row_index_schema;
    char name[256];
    tl_status st = TL_OK;
    snprintf(name, sizeof name, "%.200s_index", s->table->name);
    index.name = name;
    if (s->rank == NULL || tl_result_find(s->result, name) == NULL)
        tl_vec_push(&x->spans, (span){ 0, all });
    else
        st = tl_result_each(s->result, &index, take_index, x, err);
    for (size_t i = 0; i < x->spans.n && st == TL_OK; i++)
        if (x->spans.v[i].first > all || x->spans.v[i].n > all - x->spans.v[i].first)
            st = tl_fail(err, TL_EINPUT, "table %s names rows that %s does not have", name, s->table->name);
    return st;
}

tl_status tl_select_walk(tl_select *s, tl_take_selected *take, void *arg, tl_error *err)
{
    const size_t size = s->table->row_size, most = size < BLOCK_BYTES ? BLOCK_BYTES / size : 1;
    unsigned char *block = tl_malloc(most * size);
    indexed x = { .select = s };
    bool enough = false;
    tl_status st = find_spans(&x, err);
    for (size_t k = 0; k < x.spans.n && st == TL_OK; k++) {
        const span *of = &x.spans.v[k];
        for (uint64_t at = 0, n; at < of->n && st == TL_OK && !enough; at += n) {
            n = of->n - at < most ? of->n - at : most;
            st = tl_result_read(s->result, s->table, of->first + at, (size_t)n, block, err);
            for (size_t i = 0; i < n && st == TL_OK && !enough; i++)
                if (is_selected(s, block + i * size))
                    st = take(arg, block + i * size, &enough, err);
        }
    }
    free(x.spans.v);
    free(block);
    return st;
}

/* ---- nothing found ---- */

void tl_select_say_none(const tl_select *select)
{
    char ranks[200] = "", steps[200] = "";
    const char *filters = select->where.n > 0 ? " fulfils --where" : "";
    if (select->rank != NULL)
        tl_ranges_text(select->ranks, ranks, sizeof ranks);
    if (select->step != NULL)
        tl_ranges_text(select->steps, steps, sizeof steps);
    tl_warn("no row of table %s%s%s%s%s%s", select->table->name, select->rank != NULL ? " of rank " : "", ranks,
            select->step != NULL ? " of step " : "", steps, filters);
}
