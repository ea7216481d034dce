/* cells.c - what all tables of collectives say of a row: sizes, ids, ranks, nodes. */
#include "tlmpi/compat/tracelens/coll.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdio.h>
#include <stdlib.h>

double tl_coll_mb(const tl_colls *colls, const tl_coll_row *row, int64_t nelems)
{
    static const struct {
        const char *dtype;
        int bytes;
    } known[] = {
        { "Float", 4 }, { "Int", 4 },    { "Long", 8 }, { "BFloat16", 2 }, { "Bool", 1 },
        { "Byte", 1 },  { "Double", 8 }, { "Half", 2 }, { "Short", 2 },
    };

    for (size_t i = 0; row->dtype != TL_NO_NAME && nelems != TL_COLL_NO_NUMBER && i < sizeof known / sizeof known[0];
         i++)
        if (tl_text_is(tl_names_text(&colls->texts, row->dtype), known[i].dtype))
            return (double)nelems * known[i].bytes / (1024 * 1024);
    return NAN;
}

bool tl_coll_ranks_add(tl_coll_ranks *ranks, const tl_colls *colls, size_t collective)
{
    for (size_t k = 0; k < tl_coll_nrows(colls, collective); k++) {
        int64_t rank = tl_coll_nth(colls, collective, k)->rank;
        if (ranks->n > 0 && ranks->v[ranks->n - 1] == rank)
            continue;
        if (!tl_vec_room(ranks))
            return false;
        ranks->v[ranks->n++] = rank;
    }
    return true;
}

void tl_coll_ranks_distinct(tl_coll_ranks *ranks)
{
    size_t n = 0;

    tl_ns_sort(ranks->v, ranks->n);
    for (size_t i = 0; i < ranks->n; i++)
        if (n == 0 || ranks->v[i] != ranks->v[n - 1])
            ranks->v[n++] = ranks->v[i];
    ranks->n = n;
}

const tl_coll_row *tl_coll_row_of(const tl_colls *colls, size_t collective, int64_t rank, size_t *k)
{
    const tl_coll_row *row = *k < tl_coll_nrows(colls, collective) ? tl_coll_nth(colls, collective, *k) : NULL;
    if (row == NULL || row->rank != rank)
        return NULL;
    ++*k;
    return row;
}

void tl_coll_put_id(tl_sheet *sheet, const tl_colls *colls, const tl_coll_row *row)
{
    tl_text group = tl_names_text(&colls->texts, row->group);
    char number[16], *text;

    if (colls->plain) {
        tl_sheet_int(sheet, row->index);
        return;
    }
    int n = snprintf(number, sizeof number, "_%u", row->index);
    text = tl_malloc(group.n + (size_t)n);
    if (text == NULL) {
        tl_sheet_no_memory(sheet);
        return;
    }
    memcpy(text, group.p, group.n);
    memcpy(text + group.n, number, (size_t)n);
    tl_sheet_text(sheet, (tl_text){ text, group.n + (size_t)n });
    free(text);
}

void tl_coll_put_text(tl_sheet *sheet, const tl_colls *colls, uint32_t text)
{
    tl_sheet_text(sheet, tl_names_text(&colls->texts, text));
}

void tl_coll_put_number(tl_sheet *sheet, int64_t x, bool whole)
{
    if (x == TL_COLL_NO_NUMBER)
        tl_sheet_blank(sheet);
    else if (whole)
        tl_sheet_int(sheet, x);
    else
        tl_sheet_real(sheet, (double)x);
}

void tl_coll_head_nodes(tl_sheet *sheet, const tl_colls *colls, const char *names)
{
    if (colls->gpus_per_node > 0)
        tl_sheet_head(sheet, names);
}

void tl_coll_put_node(tl_sheet *sheet, const tl_colls *colls, int64_t rank)
{
    if (colls->gpus_per_node > 0)
        tl_sheet_int(sheet, rank / colls->gpus_per_node);
}

/* "[0, 1, 2]", or "[0, 1, ...]" of a list that was shortened: what is not told may lie on another node. */
static const char *span_of(tl_text ranks, int64_t gpus_per_node)
{
    int64_t node = -1;

    for (size_t i = 0; i < ranks.n; i++) {
        int64_t rank = 0;
        if (ranks.p[i] < '0' || ranks.p[i] > '9')
            continue;
        for (; i < ranks.n && ranks.p[i] >= '0' && ranks.p[i] <= '9'; i++)
            rank = rank < INT32_MAX ? rank * 10 + (ranks.p[i] - '0') : rank;
        if (node >= 0 && rank / gpus_per_node != node)
            return "inter_node";
        node = rank / gpus_per_node;
    }
    return node >= 0 && !tl_text_has(ranks, "...") ? "intra_node" : "unknown";
}

void tl_coll_put_span(tl_sheet *sheet, const tl_colls *colls, uint32_t ranks)
{
    if (colls->gpus_per_node > 0)
        tl_sheet_words(sheet, span_of(tl_names_text(&colls->texts, ranks), colls->gpus_per_node));
}
