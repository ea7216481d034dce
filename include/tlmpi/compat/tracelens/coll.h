/* coll.h - collective kernels of all ranks, matched by group and order.
 *
 *     rank 0    [ A ]   [ B ]      [ C ]
 *     rank 1     [ A ]  [ B ]       [ C ]
 *                 0_0    0_1         0_2       group "0", position among the rank's kernels of that group
 *
 * Answers what TraceLens' tables of collectives ask: how long each took, which rank was waited for, what was
 * exchanged.  From the kernels that each rank packs into bytes.  May use: rank.h, the columns of a trace, and the
 * common files of compat.
 *
 * Kernels with one id are taken for one collective, whatever they are.
 */
#ifndef TLMPI_COMPAT_TRACELENS_COLL_H
#define TLMPI_COMPAT_TRACELENS_COLL_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/compat/csv.h"
#include "tlmpi/compat/tracelens/rank.h"

/* What is absent. */
#define TL_COLL_NO_NUMBER INT64_MIN

/* A collective kernel.  Times in us, sizes in 2^20 bytes. */
typedef struct tl_coll_row {
    int64_t rank;
    double ts, dur;
    int64_t group_size, in_nelems, out_nelems, stream; /* TL_COLL_NO_NUMBER where absent */
    uint32_t group, ranks, name, dtype;                /* ids of texts; TL_NO_NAME where absent */
    uint32_t in_split, out_split;
    uint32_t whole_ts, whole_dur; /* written as integers */
    uint32_t index;               /* in the group, of the rank's kernels */
    uint32_t collective;          /* in order of first appearance; its id is group and index */
} tl_coll_row;

/* Zero-initialise; tl_colls_free ends it. */
typedef struct tl_colls {
    TL_VEC(tl_coll_row) rows; /* ascending rank, of one rank in file order */
    tl_names texts;
    int64_t gpus_per_node; /* 0: nothing is said of nodes */
    bool plain;            /* no groups, one stream a rank: ids are positions alone */

    /* Rows of collective c, ascending rank: by_collective[first[c]] up to that of c + 1. */
    uint32_t *by_collective, *first;
    size_t ncollectives;

    /* Whether columns of all rows are integers to pandas. */
    bool whole_ts, whole_dur, whole_group_size, whole_in, whole_out, whole_stream;
} tl_colls;

void tl_colls_free(tl_colls *colls);

/* Adds the collective kernels of a rank as bytes: the number of rows, rows, the number of texts, texts. */
void tl_colls_pack(const tl_lens *lens, int64_t rank, tl_bytes *out);

/* Takes such bytes, the next of a share, adding the rows.  Ranks may come in any order. */
void tl_colls_unpack(tl_colls *colls, tl_bytes *share);

/* When all rows are in: sorts and matches them. */
void tl_colls_match(tl_colls *colls);

/* Sizes of what a rank sent and received, in 2^20 bytes; NaN where the type or the number is unknown.  The size received
 * is unknown where the size sent is. */
double tl_coll_mb(const tl_colls *colls, const tl_coll_row *row, int64_t nelems);
static inline double tl_coll_in_mb(const tl_colls *colls, const tl_coll_row *row)
{
    return tl_coll_mb(colls, row, row->in_nelems);
}

static inline double tl_coll_out_mb(const tl_colls *colls, const tl_coll_row *row)
{
    return row->in_nelems == TL_COLL_NO_NUMBER ? NAN : tl_coll_mb(colls, row, row->out_nelems);
}

static inline const tl_coll_row *tl_coll_nth(const tl_colls *colls, size_t collective, size_t k)
{
    return &colls->rows.v[colls->by_collective[colls->first[collective] + k]];
}

static inline size_t tl_coll_nrows(const tl_colls *colls, size_t collective)
{
    return colls->first[collective + 1] - colls->first[collective];
}

static inline tl_text tl_coll_name(const tl_colls *colls, size_t collective)
{
    return tl_names_text(&colls->texts, tl_coll_nth(colls, collective, 0)->name);
}

/* The ranks of some collectives, ascending: add the ranks of each collective, then keep each rank once (tl_ns_distinct).
 * Zero-initialise; free(ranks.v) ends it. */
typedef TL_VEC(int64_t) tl_coll_ranks;
void tl_coll_ranks_add(tl_coll_ranks *ranks, const tl_colls *colls, size_t collective);

/* Returns the row of a rank in a collective; NULL: the rank takes no part.  Ask for ranks in ascending order; *k, 0
 * at first, counts the ranks found. */
const tl_coll_row *tl_coll_row_of(const tl_colls *colls, size_t collective, int64_t rank, size_t *k);

/* Cells: the id of a collective, where it stands first in a table; what the collective is: group, ranks, name, group size and
 * dtype; a text; a number that may be absent, of a column that is whole or not. */
void tl_coll_put_id(tl_csv *csv, const tl_colls *colls, const tl_coll_row *row);
void tl_coll_put_kind(tl_csv *csv, const tl_colls *colls, const tl_coll_row *row);
static inline tl_cell tl_coll_text(const tl_colls *colls, uint32_t text)
{
    return tl_string(tl_names_text(&colls->texts, text));
}

static inline tl_cell tl_coll_number(int64_t number, bool whole)
{
    return number == TL_COLL_NO_NUMBER ? tl_blank() : tl_number((double)number, whole);
}

/* Names of columns of each rank: rank_3_ts, rank_3_dur of "ts,dur". */
void tl_coll_head_ranks(tl_csv *csv, const tl_coll_ranks *ranks, const char *words);

/* Ends a header, and a row, with the columns of nodes, which are there where gpus_per_node is known: the node of a rank;
 * whether the ranks of a group share one. */
typedef enum tl_coll_nodes { TL_COLL_NODE = 1, TL_COLL_SPAN = 2 } tl_coll_nodes;
void tl_coll_end_head(tl_csv *csv, const tl_colls *colls, unsigned nodes);
void tl_coll_end_row(tl_csv *csv, const tl_colls *colls, unsigned nodes, int64_t rank, uint32_t ranks);

/* nccl_long; a table without a row is not written. */
void tl_coll_write_long(const tl_colls *colls, tl_csv_folder *folder);

/* nccl_summary_long, or the same as coll_analysis of one rank. */
void tl_coll_write_summary_long(const tl_colls *colls, tl_csv_folder *folder, const char *name);

/* nccl_implicit_sync, nccl_summary_implicit_sync, nccl_straggler_summary.  Where ranks do not agree on what a
 * collective is, none of them is written and the collective is returned; else TL_NONE. */
uint32_t tl_coll_write_sync(const tl_colls *colls, tl_csv_folder *folder);

/* nccl_all2allv, nccl_summary_all2allv, nccl_all2allv_heatmap. */
void tl_coll_write_all_to_all(const tl_colls *colls, tl_csv_folder *folder);

#endif
