/* digest.c - a hash over the content of a result, independent of its storage.
 *
 *     columns   name, type, labels      of every column, except columns about the source of the data
 *     rows      cell by cell, in order
 *
 * Two files with the same content may differ in the row numbers of their names and in their epoch: a name is hashed as
 * its text, a time as Unix time.
 */
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/table.h"
#include "tlmpi/store/result.h"
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)1 << 20)
#define NO_VALUE    UINT64_C(0x7fffffffffffffff)

static uint64_t hash_text(tl_text text)
{
    return tl_hash_bytes(text.p, text.n);
}

static uint64_t hash_columns(const tl_schema *table)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < table->nfields; i++) {
        const tl_field *f = &table->fields[i];
        if (f->role == TL_ROLE_SOURCE)
            continue;
        hash = tl_hash_mix(hash, tl_hash_bytes(f->name, strlen(f->name)));
        hash = tl_hash_mix(hash, (uint64_t)f->type);
        for (size_t k = 0; f->labels != NULL && f->labels[k] != NULL; k++)
            hash = tl_hash_mix(hash, tl_hash_bytes(f->labels[k], strlen(f->labels[k])));
    }
    return hash;
}

/* Returns the content keys of all names. */
static uint64_t *name_keys(tl_result *result)
{
    size_t n = tl_result_nnames(result);
    uint64_t *keys = tl_calloc(n, sizeof *keys);
    for (size_t i = 0; i < n; i++)
        keys[i] = hash_text(tl_result_name(result, (uint32_t)i));
    return keys;
}

typedef struct context {
    const uint64_t *keys;
    size_t nkeys;
    int64_t epoch_ns;
} context;

/* Returns the content of a cell, as 64 bits. */
static uint64_t cell_value(const tl_field *field, const unsigned char *row, const context *c)
{
    if (field->type == TL_TYPE_ENUM)
        return row[field->offset];
    const tl_content cell = tl_content_of(field, row);
    const double real = cell.d + 0.0; /* all NaNs count as one value, and both zeros */
    uint64_t value = (uint64_t)cell.i;

    if (field->type == TL_TYPE_TIME)
        return cell.none ? value : value + (uint64_t)c->epoch_ns;
    if (field->type == TL_TYPE_TEXT)
        return hash_text(cell.text);
    if (cell.none || (field->type == TL_TYPE_NAME && value >= c->nkeys))
        return NO_VALUE;
    if (field->type == TL_TYPE_F64)
        memcpy(&value, &real, sizeof value);
    return field->type == TL_TYPE_NAME ? c->keys[value] : value;
}

static uint64_t hash_rows(uint64_t hash, const tl_schema *table, const unsigned char *rows, size_t n, const context *c)
{
    for (size_t r = 0; r < n; r++, rows += table->row_size)
        for (size_t i = 0; i < table->nfields; i++)
            if (table->fields[i].role != TL_ROLE_SOURCE)
                hash = tl_hash_mix(hash, cell_value(&table->fields[i], rows, c));
    return hash;
}

tl_status tl_result_digest(tl_result *result, const tl_schema *table, uint64_t *out, tl_error *err)
{
    tl_status st = TL_OK;
    size_t block = BLOCK_BYTES / table->row_size + 1;
    uint64_t nrows = tl_result_nrows(result, table), hash = hash_columns(table);
    uint64_t *keys = name_keys(result);
    unsigned char *rows = tl_malloc(block * table->row_size);
    context c = { .keys = keys, .nkeys = tl_result_nnames(result) };

    /* A file without times needs no epoch. */
    if (tl_result_attr_int(result, "epoch_ns", &c.epoch_ns, NULL) != TL_OK)
        c.epoch_ns = 0;
    for (uint64_t first = 0; first < nrows; first += block) {
        size_t n = nrows - first < block ? (size_t)(nrows - first) : block;
        if ((st = tl_result_read(result, table, first, n, rows, err)) != TL_OK)
            goto done;
        hash = hash_rows(hash, table, rows, n, &c);
    }
    *out = tl_hash_mix(hash, nrows);

done:
    free(rows);
    free(keys);
    return st;
}

void tl_result_digest_names(tl_result *result, uint64_t *out)
{
    uint64_t hash = 0;
    size_t n = tl_result_nnames(result);
    for (size_t i = 0; i < n; i++)
        hash = tl_hash_mix(hash, hash_text(tl_result_name(result, (uint32_t)i)));
    *out = tl_hash_mix(hash, n);
}
