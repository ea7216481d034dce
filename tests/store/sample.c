/* sample.c - a result file with every type of cell, as large as wanted; each cell follows from its row's number. */
#include "sample.h"
#include "tlmpi/model/table.h"
#include "tlmpi/store/store.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sample_colors[] = { "red", "green", "blue", NULL };
TL_TABLE_DEFINE(sample, SAMPLE_FIELDS, TL_SCOPE_EVENT, "a sample", "does every cell come back?");
TL_TABLE_DEFINE(remark, REMARK_FIELDS, TL_SCOPE_JOB, "remarks", "do small tables work as well?");

uint64_t sample_bound(const sample_plan *plan, int rank)
{
    uint64_t shares = (uint64_t)(plan->nranks > 1 ? plan->nranks - 1 : 1);
    return plan->nrows * (uint64_t)(rank > 1 ? rank - 1 : rank) / shares;
}

static int32_t rank_of(const sample_plan *plan, uint64_t row)
{
    int rank = 0;
    while (sample_bound(plan, rank + 1) <= row)
        rank++;
    return rank;
}

void sample_fill(const sample_plan *plan, uint64_t first, size_t n, tl_sample *rows)
{
    char text[64];
    for (size_t i = 0; i < n; i++) {
        uint64_t r = first + i;
        uint64_t scattered = r * UINT64_C(0x9e3779b97f4a7c15) >> 44;
        memset(&rows[i], 0, sizeof rows[i]);
        rows[i].rank = rank_of(plan, r);
        rows[i].start_ns = r % 7 == 3 ? TL_TIME_UNKNOWN : SAMPLE_EPOCH_NS + (int64_t)(r * 1000 + scattered % 997);
        rows[i].color = (uint8_t)(r % 3);
        rows[i].name = r % 11 == 5 ? TL_NO_NAME : (uint32_t)(scattered % SAMPLE_NAMES);
        rows[i].large = INT64_C(9007199254740993) + (int64_t)r;
        rows[i].share = r % 5 == 4 ? NAN : (double)scattered / 3.0;
        rows[i].row = (int32_t)r;
        /* 7 bytes and two to eight umlauts of two bytes each: some fit into 16 bytes, some must be cut. */
        int length = snprintf(text, sizeof text, "%07u%.*s", (unsigned)(r % 10000000), (int)(4 + 2 * (r % 7)),
                              "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6");
        tl_cell_text(rows[i].text, sizeof rows[i].text, text, (size_t)length);
    }
}

/* A run of rows that one sender has. */
typedef struct piece {
    uint64_t first;
    size_t n;
    bool whole_chunks; /* what fills a chunk goes encoded */
} piece;

static tl_status send_piece(tl_store *store, const sample_plan *plan, const piece *p, tl_error *err)
{
    const tl_schema *schema = &tl_sample_schema;
    size_t row_size = tl_packed_size(schema);
    tl_chunk_room room = { 0 };
    tl_status st = TL_OK;
    tl_sample *rows = calloc(p->n + 1, sizeof *rows);
    unsigned char *packed = malloc((p->n + 1) * row_size), *encoded = malloc(tl_chunk_bound(schema, TL_CHUNK_ROWS));
    if (rows == NULL || packed == NULL || encoded == NULL) {
        st = tl_fail_memory(err, "a sample");
        goto done;
    }
    sample_fill(plan, p->first, p->n, rows);
    tl_pack(schema, rows, p->n, SAMPLE_EPOCH_NS, packed);

    for (size_t at = 0; st == TL_OK && at < p->n;) {
        uint64_t row = p->first + at;
        size_t left = p->n - at, to_border = TL_CHUNK_ROWS - (size_t)(row % TL_CHUNK_ROWS);
        if (!p->whole_chunks) {
            st = tl_store_rows(store, schema, row, packed + at * row_size, left, err);
            at += left;
        } else if (to_border == TL_CHUNK_ROWS && left >= TL_CHUNK_ROWS) {
            size_t n = tl_chunk_encode(schema, packed + at * row_size, TL_CHUNK_ROWS, TL_CHUNK_ROWS, encoded, &room);
            st = n == 0 ? tl_fail_memory(err, "a chunk")
                        : tl_store_chunk(store, schema, row / TL_CHUNK_ROWS, encoded, n, err);
            at += TL_CHUNK_ROWS;
        } else {
            size_t n = left < to_border ? left : to_border;
            st = tl_store_rows(store, schema, row, packed + at * row_size, n, err);
            at += n;
        }
    }

done:
    tl_chunk_room_free(&room);
    free(encoded);
    free(packed);
    free(rows);
    return st;
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* The pieces in which the rows come: a rank each, or of random sizes and in random order. */
static size_t cut(const sample_plan *plan, piece *pieces)
{
    size_t n = 0;
    unsigned state = plan->seed;
    if (plan->seed == 0) {
        for (int r = 0; r < plan->nranks; r++) {
            uint64_t first = sample_bound(plan, r);
            pieces[n++] = (piece){ first, (size_t)(sample_bound(plan, r + 1) - first), true };
        }
        return n;
    }
    for (uint64_t first = 0; first < plan->nrows; n++) {
        uint64_t left = plan->nrows - first, size = 1 + next_random(&state) % 50000;
        pieces[n] = (piece){ first, (size_t)(size < left ? size : left), next_random(&state) % 2 };
        first += pieces[n].n;
    }
    for (size_t i = n; i > 1; i--) {
        size_t k = next_random(&state) % i;
        piece other = pieces[k];
        pieces[k] = pieces[i - 1];
        pieces[i - 1] = other;
    }
    return n;
}

static tl_status send_rows(tl_store *store, const sample_plan *plan, tl_error *err)
{
    tl_status st = TL_OK;
    piece *pieces = calloc((size_t)plan->nrows + (size_t)plan->nranks, sizeof *pieces);
    if (pieces == NULL)
        return tl_fail_memory(err, "a sample");
    size_t n = cut(plan, pieces);
    for (size_t i = 0; st == TL_OK && i < n; i++)
        st = send_piece(store, plan, &pieces[i], err);
    for (int r = 0; st == TL_OK && r < plan->nranks; r++) {
        uint64_t first = sample_bound(plan, r);
        st = tl_store_rank(store, &tl_sample_schema, r, first, sample_bound(plan, r + 1) - first, err);
    }
    free(pieces);
    return st;
}

static tl_status send_rest(tl_store *store, tl_error *err)
{
    tl_remark rows[3] = { { "/a/file", "one", 1.5 }, { "", "", NAN }, { "b", "\xe2\x82\xac three", -0.0 } };
    unsigned char packed[3 * sizeof rows[0]];
    char name[64];
    tl_status st;

    tl_pack(&tl_remark_schema, rows, 3, 0, packed);
    st = tl_store_rows(store, &tl_remark_schema, 0, packed, 3, err);
    for (unsigned i = 0; st == TL_OK && i < SAMPLE_NAMES; i++) {
        int n = snprintf(name, sizeof name, "name \xce\xbb<%u>", i);
        st = tl_store_name(store, name, (size_t)n, err);
    }
    return st;
}

tl_status sample_write(const char *path, const sample_plan *plan, tl_error *err)
{
    tl_store *store;
    tl_status st = tl_store_create(path, plan->force, &store, err);
    if (st != TL_OK)
        return st;
    if ((st = tl_store_attr_int(store, "epoch_ns", SAMPLE_EPOCH_NS, err)) != TL_OK ||
        (st = tl_store_attr_text(store, "command_line", "sample .", err)) != TL_OK ||
        (st = tl_store_add_table(store, &tl_sample_schema, err)) != TL_OK ||
        (st = tl_store_add_table(store, &tl_remark_schema, err)) != TL_OK ||
        (st = send_rows(store, plan, err)) != TL_OK || (st = send_rest(store, err)) != TL_OK) {
        tl_store_abandon(store);
        return st;
    }
    return tl_store_finish(store, err);
}
