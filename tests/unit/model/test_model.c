/* test_model.c - names, tables and schemas. */
#include "unit.h"

#include "tlmpi/model/coll.h"
#include "tlmpi/model/facts.h"
#include "tlmpi/model/names.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void ids_count_up_in_order_of_first_sight(void)
{
    tl_names names = { 0 };
    CU_ASSERT_EQUAL(tl_names_find(&names, "a", 1), TL_NO_NAME);
    CU_ASSERT_EQUAL(tl_names_intern(&names, "gemm", 4), 0);
    CU_ASSERT_EQUAL(tl_names_intern(&names, "", 0), 1);
    CU_ASSERT_EQUAL(tl_names_intern(&names, "gemm", 3), 2);
    CU_ASSERT_EQUAL(tl_names_intern(&names, "a\0b", 3), 3);
    CU_ASSERT_EQUAL(tl_names_intern(&names, "gemm", 4), 0);
    CU_ASSERT_EQUAL(tl_names_intern(&names, NULL, 0), 1);
    CU_ASSERT_EQUAL(tl_names_find(&names, "a\0b", 3), 3);
    CU_ASSERT_EQUAL(tl_names_find(&names, "a", 1), TL_NO_NAME);
    CU_ASSERT_EQUAL(names.n, 4);

    tl_text t = tl_names_text(&names, 2);
    CU_ASSERT_EQUAL(t.n, 3);
    CU_ASSERT_STRING_EQUAL(t.p, "gem");
    CU_ASSERT_EQUAL(tl_names_text(&names, 3).n, 3);
    CU_ASSERT_EQUAL(tl_names_text(&names, 1).n, 0);
    CU_ASSERT_STRING_EQUAL(tl_names_text(&names, TL_NO_NAME).p, "");
    CU_ASSERT_EQUAL(names.v[0].key, tl_hash_bytes("gemm", 4));
    tl_names_free(&names);
    CU_ASSERT_EQUAL(names.n, 0);
}

static void many_names_keep_their_ids(void)
{
    tl_names names = { 0 };
    char text[64];
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 50000; i++) {
            int n = snprintf(text, sizeof text, "void kernel<%u, float>(int)", i);
            CU_ASSERT_EQUAL_FATAL(tl_names_intern(&names, text, (size_t)n), i);
        }
    CU_ASSERT_EQUAL(names.n, 50000);
    tl_names_free(&names);
}

/* No two texts with one key are known, so the map is told that the keys of "b" and "c" lead to "a". */
static void texts_under_one_key_are_told_apart(void)
{
    tl_names names = { 0 };
    CU_ASSERT_EQUAL(tl_names_intern(&names, "a", 1), 0);
    tl_map_put(&names.map, tl_hash_bytes("b", 1), 0);
    tl_map_put(&names.map, tl_hash_bytes("c", 1), 0);

    CU_ASSERT_EQUAL(tl_names_find(&names, "b", 1), TL_NO_NAME);
    CU_ASSERT_EQUAL(tl_names_intern(&names, "b", 1), 1);
    CU_ASSERT_EQUAL(tl_names_intern(&names, "c", 1), 2);
    CU_ASSERT_EQUAL(tl_names_intern(&names, "a", 1), 0);
    CU_ASSERT_EQUAL(tl_names_intern(&names, "b", 1), 1);
    CU_ASSERT_EQUAL(tl_names_intern(&names, "c", 1), 2);
    CU_ASSERT_EQUAL(tl_names_find(&names, "c", 1), 2);
    CU_ASSERT_EQUAL(tl_names_text(&names, 1).p[0], 'b');
    CU_ASSERT_EQUAL(names.n, 3);
    tl_names_free(&names);
}

/* A table with a key of every type. */
#define TL_SAMPLE_FIELDS(F, T)                    \
    F(T, ENUM(kind), kind, KEY, "", "an enum")                                                                         \
    F(T, TEXT16, host, KEY, "", "a text")         \
    F(T, F64, share, KEY, "", "a ratio")          \
    F(T, NAME, name, KEY, "", "a name")           \
    F(T, TIME, start_ns, KEY, "ns", "a time")     \
    F(T, I32, rank, KEY, "", "small")             \
    F(T, I64, bytes, KEY, "byte", "large")        \
    F(T, I32, serial, MEASURE, "", "not a key")
TL_TABLE(sample, TL_SAMPLE_FIELDS);
TL_TABLE_DEFINE(sample, TL_SAMPLE_FIELDS, TL_SCOPE_JOB, "a sample", "Does it sort?");

static tl_sample *add(tl_table *table)
{
    tl_sample *row = tl_table_add(table);
    row->serial = (int32_t)table->n - 1;
    return row;
}

static void rows_are_sorted_by_every_kind_of_key(void)
{
    tl_table table = { .schema = &tl_sample_schema };
    /* In the wrong order: each row comes before the one above it by one key, the last key first. */
    tl_sample *row = add(&table);
    *row = (tl_sample){ TL_SYNC, "b", NAN, 9, 5, -1, INT64_MAX, 0 };
    for (int i = 1; i < 9; i++) {
        tl_sample above = *(tl_sample *)tl_table_row(&table, (size_t)i - 1);
        row = add(&table);
        above.serial = row->serial;
        *row = above;
        switch (i) {
        case 1: row->bytes = INT64_MIN; break;
        case 2: row->rank = INT32_MIN; break;
        case 3: row->start_ns = TL_TIME_UNKNOWN; break;
        case 4: row->name = 1; break;
        case 5: row->share = INFINITY; break;
        case 6: row->share = -1.5; break;
        case 7: memcpy(row->host, "a", 2); break;
        default: row->kind = TL_COMPUTE; break;
        }
    }
    tl_table_sort(&table);
    for (size_t i = 0; i < 9; i++)
        CU_ASSERT_EQUAL(((tl_sample *)tl_table_row(&table, i))->serial, (int32_t)(8 - i));
    tl_table_free(&table);
    CU_ASSERT_PTR_EQUAL(table.schema, &tl_sample_schema);
}

/* Rows with equal keys stay in their order, whatever the number of rows. */
static void sorting_is_stable(void)
{
    uint64_t seed = 99;
    for (size_t n = 0; n < 70; n++) {
        tl_table table = { .schema = &tl_sample_schema };
        for (size_t i = 0; i < n; i++)
            add(&table)->rank = (int32_t)unit_below(&seed, 5);
        tl_table_sort(&table);
        CU_ASSERT_EQUAL(table.n, n);
        for (size_t i = 1; i < n; i++) {
            const tl_sample *a = tl_table_row(&table, i - 1), *b = tl_table_row(&table, i);
            CU_ASSERT(a->rank < b->rank || (a->rank == b->rank && a->serial < b->serial));
        }
        tl_table_free(&table);
    }
}

static void names_get_their_place(void)
{
    static const uint32_t row_of[] = { 40, 7, TL_NO_NAME };
    tl_table table = { .schema = &tl_sample_schema };
    for (uint32_t i = 0; i < 3; i++)
        *add(&table) = (tl_sample){ .name = i < 2 ? 1 - i : TL_NO_NAME, .rank = 1, .bytes = 1 };
    tl_table_set_name_rows(&table, row_of);
    for (size_t i = 0; i < 3; i++) {
        const tl_sample *row = tl_table_row(&table, i);
        CU_ASSERT_EQUAL(row->name, i == 0 ? 7 : i == 1 ? 40 : TL_NO_NAME);
        CU_ASSERT(row->rank == 1 && row->bytes == 1);
    }
    tl_table_free(&table);
    tl_table_set_name_rows(&table, row_of);
}

static void a_new_row_is_zero_to_its_padding(void)
{
    tl_table table = { .schema = &tl_sample_schema };
    for (int i = 0; i < 20; i++) {
        unsigned char *row = tl_table_add(&table);
        for (size_t k = 0; k < sizeof(tl_sample); k++)
            CU_ASSERT_EQUAL(row[k], 0);
        memset(row, 0xee, sizeof(tl_sample));
        table.n -= i % 2 != 0; /* a row that was dropped leaves its bytes after */
    }
    tl_table_free(&table);
}

static void a_text_cell_holds_whole_characters(void)
{
    char cell[9] = "########";
    cell[8] = '#';
    tl_cell_text(cell, 8, "host", 4);
    CU_ASSERT_EQUAL(memcmp(cell, "host\0\0\0\0#", 9), 0);
    tl_cell_text(cell, 8, "hostname", 8);
    CU_ASSERT_EQUAL(memcmp(cell, "hostname#", 9), 0);
    tl_cell_text(cell, 8, "caf\xc3\xa9" "cafe", 9);
    CU_ASSERT_EQUAL(memcmp(cell, "caf\xc3\xa9" "caf#", 9), 0);
    tl_cell_text(cell, 8, "1234567\xc3\xa9", 9);                /* the cut would fall into it */
    CU_ASSERT_EQUAL(memcmp(cell, "1234567\0#", 9), 0);
    tl_cell_text(cell, 8, "12345\xf0\x9f\x98\x80", 9);
    CU_ASSERT_EQUAL(memcmp(cell, "12345\0\0\0#", 9), 0);
    tl_cell_text(cell, 8, "1234\xf0\x9f\x98\x80", 8);
    CU_ASSERT_EQUAL(memcmp(cell, "1234\xf0\x9f\x98\x80#", 9), 0);
    tl_cell_text(cell, 8, "\x80\x80\x80\x80\x80\x80\x80\x80\x80", 9);   /* not UTF-8: cut where it must be */
    CU_ASSERT_EQUAL(memcmp(cell, "\x80\x80\x80\x80\x80\x80\x80\x80#", 9), 0);
    tl_cell_text(cell, 8, NULL, 0);
    CU_ASSERT_EQUAL(memcmp(cell, "\0\0\0\0\0\0\0\0#", 9), 0);
}

static void a_long_path_keeps_its_end(void)
{
    char cell[13] = "############";
    cell[12] = '#';
    tl_cell_path(cell, 12, "a/rank-0.jsn");
    CU_ASSERT_EQUAL(memcmp(cell, "a/rank-0.jsn#", 13), 0);
    tl_cell_path(cell, 12, "a/b");
    CU_ASSERT_EQUAL(memcmp(cell, "a/b\0\0\0\0\0\0\0\0\0#", 13), 0);
    tl_cell_path(cell, 12, "traces/deep/r0.js");
    CU_ASSERT_EQUAL(memcmp(cell, ".../r0.js\0\0\0#", 13), 0);
    tl_cell_path(cell, 12, "traces/rank-0.json");                   /* the name alone is too long */
    CU_ASSERT_EQUAL(memcmp(cell, "...nk-0.json#", 13), 0);
    tl_cell_path(cell, 12, "traces/caf\xc3\xa9-0.json");
    CU_ASSERT_EQUAL(memcmp(cell, "...\xc3\xa9-0.json#", 13), 0);
    tl_cell_path(cell, 12, "traces/caf\xc3\xa9-00.json");           /* the cut would fall into a character */
    CU_ASSERT_EQUAL(memcmp(cell, "...-00.json\0#", 13), 0);
}

static void tables_are_found_by_their_schema(void)
{
    const tl_schema *const schemas[] = { &tl_rank_schema, &tl_breakdown_schema };
    tl_tables tables = { 0 };
    tl_tables_init(&tables, schemas, 2);
    tl_table_add(tl_tables_get(&tables, &tl_breakdown_schema));
    CU_ASSERT_EQUAL(tables.v[1].n, 1);
    CU_ASSERT_EQUAL(tables.v[0].n, 0);
    CU_ASSERT_PTR_NULL(tl_tables_get(&tables, &tl_step_schema));
    tl_tables_free(&tables);
    CU_ASSERT_EQUAL(tables.n, 0);
}

static const tl_schema *const all_schemas[] = { &tl_rank_schema, &tl_interval_schema, &tl_step_schema,
                                                &tl_breakdown_schema };

/* What everyone who walks a schema relies on. */
static void every_schema_is_sound(void)
{
    for (size_t s = 0; s < COUNT(all_schemas); s++) {
        const tl_schema *schema = all_schemas[s];
        uint32_t end = 0;
        bool keys_over = false;

        CU_ASSERT(strlen(schema->title) > 0 && strlen(schema->question) > 0);
        CU_ASSERT_EQUAL(schema->fields[0].role, TL_ROLE_KEY);
        for (size_t i = 0; i < schema->nfields; i++) {
            const tl_field *f = &schema->fields[i];
            CU_ASSERT(f->offset >= end);
            end = f->offset + f->size;
            CU_ASSERT(strlen(f->name) > 0 && strlen(f->doc) > 0);
            CU_ASSERT_PTR_EQUAL(tl_schema_field(schema, f->name), f);
            keys_over |= f->role != TL_ROLE_KEY;
            CU_ASSERT_FALSE(keys_over && f->role == TL_ROLE_KEY);
            CU_ASSERT_EQUAL(f->labels != NULL, f->type == TL_TYPE_ENUM);

            size_t n = strlen(f->name);
            bool ns = n > 3 && strcmp(f->name + n - 3, "_ns") == 0;
            CU_ASSERT_EQUAL(ns, strcmp(f->unit, "ns") == 0);
            CU_ASSERT_FALSE(f->type == TL_TYPE_TIME && !ns);
        }
        CU_ASSERT(end <= schema->row_size);
        CU_ASSERT_PTR_NULL(tl_schema_field(schema, "no such column"));
    }
}

static size_t count(const char *const *labels)
{
    size_t n = 0;
    while (labels[n] != NULL)
        n++;
    return n;
}

static void every_enum_has_its_words(void)
{
    CU_ASSERT_EQUAL(count(tl_kind_labels), TL_NKINDS);
    CU_ASSERT_EQUAL(count(tl_collective_labels), TL_NCOLLECTIVES);
    CU_ASSERT_EQUAL(count(tl_rank_status_labels), TL_RANK_UNREADABLE + 1);
    CU_ASSERT_EQUAL(count(tl_rank_from_labels), 3);
    CU_ASSERT_STRING_EQUAL(tl_kind_labels[TL_SYNC], "sync");
    CU_ASSERT_STRING_EQUAL(tl_collective_labels[TL_REDUCE_SCATTER], "reduce_scatter");
    CU_ASSERT_STRING_EQUAL(tl_collective_labels[TL_BARRIER], "barrier");
    CU_ASSERT_STRING_EQUAL(tl_rank_status_labels[TL_RANK_NO_GPU], "no_gpu_events");
}

static void every_collective_is_of_one_class(void)
{
    for (int k = TL_COLL_UNKNOWN; k < TL_NCOLLECTIVES; k++) {
        tl_collective kind = (tl_collective)k;
        CU_ASSERT_EQUAL(tl_is_synchronising(kind) + tl_is_point_to_point(kind) + tl_is_loose_of_group(kind), 1);
        CU_ASSERT_EQUAL(tl_is_loose(kind), !tl_is_synchronising(kind));
        CU_ASSERT_EQUAL(tl_is_of_one_size(kind) + tl_is_of_sends(kind), kind != TL_COLL_UNKNOWN);
    }
    CU_ASSERT_TRUE(tl_is_loose_of_group(TL_BROADCAST));
    CU_ASSERT_TRUE(tl_is_of_one_size(TL_BROADCAST));
    CU_ASSERT_TRUE(tl_is_of_sends(TL_SCATTER));
}

static void ranks_of_one_host_have_its_key(void)
{
    tl_rank row[] = { { .host = "a" }, { .host = "a" }, { .host = "b" }, { .host = "" } };
    CU_ASSERT_EQUAL(tl_host_key(&row[0]), tl_host_key(&row[1]));
    CU_ASSERT_NOT_EQUAL(tl_host_key(&row[0]), tl_host_key(&row[2]));
    CU_ASSERT_EQUAL(tl_host_key(&row[3]), 0);
}

static const unit_test tests[] = {
    TEST(ids_count_up_in_order_of_first_sight),
    TEST(many_names_keep_their_ids),
    TEST(texts_under_one_key_are_told_apart),
    TEST(rows_are_sorted_by_every_kind_of_key),
    TEST(sorting_is_stable),
    TEST(names_get_their_place),
    TEST(a_new_row_is_zero_to_its_padding),
    TEST(a_text_cell_holds_whole_characters),
    TEST(a_long_path_keeps_its_end),
    TEST(tables_are_found_by_their_schema),
    TEST(every_schema_is_sound),
    TEST(every_enum_has_its_words),
    TEST(every_collective_is_of_one_class),
    TEST(ranks_of_one_host_have_its_key),
};

int main(void)
{
    return unit_main("model", tests, COUNT(tests));
}
