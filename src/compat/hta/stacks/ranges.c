/* ranges.c - entries found again by their places in traceEvents, and their args made columns. */
#include "ranges.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/trace/text/json.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/trace/text/source.h"
#include "tlmpi/trace/text/split.h"
#include <stdlib.h>

/* Which columns every row has from its args, and what stands there without them. */
static const struct {
    const char *column, *key, *absent;
} columns[] = {
    { "bytes", "bytes", "-1" },
    { "memory_bw_gbps", "memory bandwidth (GB/s)", "0.0" },
    { "wait_on_stream", "wait_on_stream", "-1" },
    { "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_record_corr_id", "-1" },
    { "input_dims", "Input Dims", "\"-1\"" },
    { "input_type", "Input type", "\"-1\"" },
    { "input_strides", "Input Strides", "\"-1\"" },
    { "external_id", "External id", "-1" },
    { "python_id", "Python id", "-1" },
    { "python_parent_id", "Python parent id", "-1" },
    { "collective_name", "Collective name", "\"\"" },
    { "in_msg_nelems", "In msg nelems", "0" },
    { "out_msg_nelems", "Out msg nelems", "0" },
    { "msg_dtype", "dtype", "\"\"" },
    { "group_size", "Group size", "0" },
    { "process_rank", "Rank", "-1" },
    { "in_split_size", "In split size", "\"[]\"" },
    { "out_split_size", "Out split size", "\"[]\"" },
};
#define NCOLUMNS (sizeof columns / sizeof columns[0])

/* A profiler takes some tens of counters at once. */
#define MOST_COUNTERS 512

static bool is_column(tl_text key)
{
    for (size_t i = 0; i < NCOLUMNS; i++)
        if (tl_text_is(key, columns[i].key))
            return true;
    return tl_text_is(key, "stream") || tl_text_is(key, "correlation");
}

/* ------------------------------------------------------------------------------------------------------ the file */

/* Notes the keys of a range that are not known yet. */
static void take_keys(tl_hta_ranges *r, tl_text args)
{
    tl_text rest = tl_json_inside(args), key, value;

    while (!r->too_many && tl_json_member(&rest, &key, &value)) {
        if (!is_column(key))
            tl_names_intern(&r->keys, key.p, key.n);
        r->too_many = r->keys.n > MOST_COUNTERS;
    }
}

typedef struct look {
    tl_hta_ranges *ranges;
    const tl_hta_row *rows;
    const uint32_t *at;
    size_t n, next; /* the range looked for */
} look;

static void take_entry(look *l, const tl_split_item *item)
{
    while (l->next < l->n && l->rows[l->at[l->next]].index < item->uid)
        l->next++;
    if (l->next == l->n || l->rows[l->at[l->next]].index != item->uid ||
        !tl_text_is(tl_json_string(tl_json_value(item->text, "cat")), "cuda_profiler_range"))
        return;
    tl_text args = tl_json_value(item->text, "args");
    l->ranges->args[l->next] = tl_names_intern(&l->ranges->texts, args.p, args.n);
    take_keys(l->ranges, args);
}

static void forget(look *l)
{
    l->next = 0;
    tl_names_free(&l->ranges->keys);
    for (size_t i = 0; i < l->n; i++)
        l->ranges->args[i] = TL_NO_NAME;
}

static void read_more(tl_split *split, tl_source *source)
{
    size_t cap, n = 0;
    tl_error err;
    char *space = tl_split_space(split, &cap);

    if (tl_source_read(source, space, cap, &n, &err) != TL_OK)
        n = 0;
    tl_split_fill(split, n);
    if (n == 0)
        tl_split_eof(split);
}

void tl_hta_ranges_read(tl_hta_ranges *ranges, const tl_hta_frame *frame, const uint32_t *at, size_t n)
{
    look l = { .ranges = ranges, .rows = frame->rows.v, .at = at, .n = n };
    bool over = false;
    tl_source *source;
    tl_split split;
    tl_split_item item;
    tl_error err;

    ranges->args = tl_malloc((n + 1) * sizeof *ranges->args);
    forget(&l);
    if (tl_source_open(frame->path, &source, &err) != TL_OK)
        return;
    tl_split_init(&split);
    while (!over && !ranges->too_many) {
        switch (tl_split_next(&split, &item)) {
        case TL_SPLIT_MORE:
            read_more(&split, source);
            break;
        case TL_SPLIT_ENTRY:
            take_entry(&l, &item);
            break;
        case TL_SPLIT_RESTART:
            forget(&l);
            break;
        case TL_SPLIT_END:
        case TL_SPLIT_NO_MEMORY:
            over = true;
            break;
        default:
            break;
        }
    }
    tl_split_free(&split);
    tl_source_close(source);
}

void tl_hta_ranges_free(tl_hta_ranges *ranges)
{
    tl_names_free(&ranges->texts);
    free(ranges->args);
    tl_names_free(&ranges->keys);
    *ranges = (tl_hta_ranges){ 0 };
}

/* ------------------------------------------------------------------------------------------------------- the cells */

void tl_hta_ranges_head(const tl_hta_ranges *ranges, tl_csv *csv)
{
    for (size_t i = 0; i < NCOLUMNS; i++)
        TL_CELLS(csv, tl_words(columns[i].column));
    for (uint32_t i = 0; i < ranges->keys.n; i++)
        TL_CELLS(csv, tl_string(tl_names_text(&ranges->keys, i)));
}

static void put_value(tl_csv *csv, tl_text value)
{
    tl_bytes words = { 0 };
    int64_t whole;
    double real;
    bool fraction = memchr(value.p, '.', value.n) != NULL || memchr(value.p, 'e', value.n) != NULL ||
                    memchr(value.p, 'E', value.n) != NULL;

    if (value.p[0] == '"' || value.p[0] == '[') {
        if (value.p[0] == '"')
            tl_python_string(tl_json_string(value), &words);
        else
            tl_python_list(value, &words);
        TL_CELLS(csv, tl_bytes_cell(&words));
        tl_bytes_free(&words);
    } else if (!fraction && tl_decimal_to_int(value.p, value.n, &whole)) {
        TL_CELLS(csv, tl_int(whole));
    } else if (tl_decimal_to_double(value.p, value.n, &real)) {
        TL_CELLS(csv, tl_real(real));
    } else {
        TL_CELLS(csv, tl_string(value));
    }
}

void tl_hta_ranges_cells(const tl_hta_ranges *ranges, size_t range, tl_csv *csv)
{
    tl_text args = tl_names_text(&ranges->texts, ranges->args[range]), rest = tl_json_inside(args), key, value;
    tl_text counters[MOST_COUNTERS];

    for (size_t i = 0; i < NCOLUMNS; i++) {
        value = tl_json_value(args, columns[i].key);
        put_value(csv, value.n > 0 ? value : (tl_text){ columns[i].absent, strlen(columns[i].absent) });
    }
    for (size_t i = 0; i < ranges->keys.n; i++)
        counters[i] = TL_TEXT("-1");
    while (tl_json_member(&rest, &key, &value)) {
        uint32_t id = tl_names_find(&ranges->keys, key.p, key.n);
        if (id != TL_NO_NAME)
            counters[id] = value;
    }
    for (size_t i = 0; i < ranges->keys.n; i++)
        put_value(csv, counters[i]);
}
