/* cells.c - what all tables of collectives say of a row: sizes, ids, ranks, nodes. */
#include "tlmpi/base/stats.h"
#include "tlmpi/compat/tracelens/coll.h"

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

void tl_coll_ranks_add(tl_coll_ranks *ranks, const tl_colls *colls, size_t collective)
{
    for (size_t k = 0; k < tl_coll_nrows(colls, collective); k++) {
        int64_t rank = tl_coll_nth(colls, collective, k)->rank;
        if (ranks->n == 0 || ranks->v[ranks->n - 1] != rank)
            tl_vec_push(ranks, rank);
    }
}

const tl_coll_row *tl_coll_row_of(const tl_colls *colls, size_t collective, int64_t rank, size_t *k)
{
    const tl_coll_row *row = *k < tl_coll_nrows(colls, collective) ? tl_coll_nth(colls, collective, *k) : NULL;
    if (row == NULL || row->rank != rank)
        return NULL;
    ++*k;
    return row;
}

void tl_coll_put_id(tl_csv *csv, const tl_colls *colls, const tl_coll_row *row)
{
    tl_text group = tl_names_text(&colls->texts, row->group);
    char number[16];
    tl_bytes id = { 0 };

    if (colls->plain) {
        TL_CELLS(csv, row->index);
        return;
    }
    tl_bytes_put(&id, group.p, group.n);
    tl_bytes_put(&id, number, (size_t)snprintf(number, sizeof number, "_%u", row->index));
    TL_CELLS(csv, &id);
    tl_bytes_free(&id);
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

void tl_coll_head_ranks(tl_csv *csv, const tl_coll_ranks *ranks, const char *words)
{
    for (size_t i = 0; i < ranks->n; i++)
        for (const char *at = words, *end; *at != '\0'; at = end + (*end == ',')) {
            char word[64];
            end = at + strcspn(at, ",");
            snprintf(word, sizeof word, "rank_%lld_%.*s", (long long)ranks->v[i], (int)(end - at), at);
            tl_csv_head(csv, word);
        }
}

void tl_coll_end_head(tl_csv *csv, const tl_colls *colls, unsigned nodes)
{
    if (colls->gpus_per_node > 0 && (nodes & TL_COLL_NODE))
        tl_csv_head(csv, "node_id");
    if (colls->gpus_per_node > 0 && (nodes & TL_COLL_SPAN))
        tl_csv_head(csv, "node_span");
    tl_csv_end_head(csv);
}

void tl_coll_end_row(tl_csv *csv, const tl_colls *colls, unsigned nodes, int64_t rank, uint32_t ranks)
{
    if (colls->gpus_per_node > 0 && (nodes & TL_COLL_NODE))
        TL_CELLS(csv, rank / colls->gpus_per_node);
    if (colls->gpus_per_node > 0 && (nodes & TL_COLL_SPAN))
        TL_CELLS(csv, span_of(tl_names_text(&colls->texts, ranks), colls->gpus_per_node));
    tl_csv_end_row(csv);
}
