/* select.c - which rows and columns of a table were asked for. */
#include "select.h"

#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/log.h"
#include "tlmpi/model/table.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)1 << 20)

/* ---- names that must be there ---- */

static tl_status find_table(tl_result *result, const char *name, const char *file, const tl_schema **out, tl_error *err)
{
    const tl_schema *found = tl_result_find(result, name);
    *out = found != NULL ? found : tl_rare_schema(name); /* known to tlmpi, without rows in this file */
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

/* "a,b,c" */
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

/* "wall_ns", "wall_ns:asc", "wall_ns:desc" */
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

/* Rows may be nested: where they are, what each has by itself counts once. */
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

/* Finds the column of that name; else the first key that ends in it (to_rank, the rank charged, for rank). */
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

/* "kind=comm" */
static tl_status add_condition(tl_select *select, const char *text, tl_error *err)
{
    const tl_field *field;
    size_t n = tl_where_column(text);
    char *name = tl_strndup(text, n);
    tl_vec_room(&select->where);
    tl_status st = find_column(select->table, name, &field, err);
    free(name);
    if (st == TL_OK) /* it is freed with the others also where it fails */
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

static bool is_asked_for(tl_select *s, const unsigned char *row)
{
    bool asked = (s->rank == NULL || tl_ranges_has(s->ranks, tl_content_of(s->rank, row).i)) &&
                 (s->step == NULL || tl_ranges_has(s->steps, tl_content_of(s->step, row).i));
    for (size_t i = 0; asked && i < s->where.n; i++)
        asked = tl_where_holds(&s->where.v[i], row);
    return asked;
}

/* A buffer for a block of rows of the table; *n is how many it holds. */
static unsigned char *new_block(const tl_schema *table, size_t *n)
{
    *n = table->row_size < BLOCK_BYTES ? BLOCK_BYTES / table->row_size : 1;
    return tl_malloc(*n * table->row_size);
}

typedef struct walk {
    tl_select *select;
    tl_take_rows *take;
    void *arg;
    unsigned char *block;
    size_t block_rows;
    bool enough;
} walk;

/* Rows [first, first + n): those asked for are moved together and handed on. */
static tl_status walk_rows(walk *w, uint64_t first, uint64_t n, tl_error *err)
{
    tl_select *s = w->select;
    size_t size = s->table->row_size;
    tl_status st = TL_OK;
    while (n > 0 && st == TL_OK && !w->enough) {
        size_t now = n < w->block_rows ? (size_t)n : w->block_rows, kept = 0;
        st = tl_result_read(s->result, s->table, first, now, w->block, err);
        for (size_t i = 0; i < now && st == TL_OK; i++)
            if (is_asked_for(s, w->block + i * size)) {
                if (kept != i)
                    memcpy(w->block + kept * size, w->block + i * size, size);
                kept++;
            }
        if (st == TL_OK && kept > 0)
            st = w->take(w->arg, w->block, kept, &w->enough, err);
        first += now;
        n -= now;
    }
    return st;
}

/* The index of an event table says where a rank's rows stand; NULL where there is none, or none of that shape. */
static const tl_schema *find_index(const tl_select *s, const tl_field *fields[3])
{
    static const char *const names[] = { "rank", "first_row", "nrows" };
    char name[256];
    if (snprintf(name, sizeof name, "%s_index", s->table->name) >= (int)sizeof name)
        return NULL;
    const tl_schema *index = tl_result_find(s->result, name);
    for (size_t i = 0; i < 3 && index != NULL; i++) {
        fields[i] = tl_schema_field(index, names[i]);
        if (fields[i] == NULL || (fields[i]->type != TL_TYPE_I32 && fields[i]->type != TL_TYPE_I64))
            index = NULL;
    }
    return index;
}

/* The rows of the ranks asked for, by the index. */
static tl_status walk_ranks(walk *w, const tl_schema *index, const tl_field *const fields[3], tl_error *err)
{
    const tl_select *s = w->select;
    uint64_t all = tl_result_nrows(s->result, s->table), n = tl_result_nrows(s->result, index);
    size_t block_rows;
    unsigned char *block = new_block(index, &block_rows);
    tl_status st = TL_OK;

    for (uint64_t at = 0; at < n && st == TL_OK && !w->enough; at += block_rows) {
        size_t now = n - at < block_rows ? (size_t)(n - at) : block_rows;
        st = tl_result_read(s->result, index, at, now, block, err);
        for (size_t i = 0; i < now && st == TL_OK && !w->enough; i++) {
            const unsigned char *row = block + i * index->row_size;
            int64_t first = tl_content_of(fields[1], row).i, nrows = tl_content_of(fields[2], row).i;
            if (!tl_ranges_has(s->ranks, tl_content_of(fields[0], row).i))
                continue;
            if (first < 0 || nrows < 0 || (uint64_t)first > all || (uint64_t)nrows > all - (uint64_t)first)
                st = tl_fail(err, TL_EINPUT, "table %s: row %" PRIu64 " names rows that %s does not have", index->name,
                             at + i, s->table->name);
            else
                st = walk_rows(w, (uint64_t)first, (uint64_t)nrows, err);
        }
    }
    free(block);
    return st;
}

tl_status tl_select_walk(tl_select *select, tl_take_rows *take, void *arg, tl_error *err)
{
    const tl_field *fields[3] = { NULL };
    walk w = { .select = select, .take = take, .arg = arg };
    w.block = new_block(select->table, &w.block_rows);

    const tl_schema *index = select->rank != NULL ? find_index(select, fields) : NULL;
    tl_status st = index != NULL ? walk_ranks(&w, index, fields, err)
                                 : walk_rows(&w, 0, tl_result_nrows(select->result, select->table), err);
    free(w.block);
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
