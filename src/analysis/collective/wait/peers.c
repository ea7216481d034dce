/* peers.c - cuts gap_peer to the time that was waiting for other ranks, once ranks are matched; and sums it. */
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- answers */

TL_SORT_BY(by_kernel, tl_peer_answer, rank, uid)

void tl_peer_answers_sort(tl_peer_answer *answers, size_t n)
{
    tl_sort(answers, n, sizeof *answers, by_kernel);
}

const tl_peer_answer *tl_peer_answer_of(const tl_peer_answer *v, size_t n, int32_t rank, uint32_t uid)
{
    const tl_peer_answer key = { .rank = rank, .uid = uid };
    size_t low = 0;
    TL_BISECT(low, n, mid, by_kernel(&v[mid], &key) < 0);
    return low < n && by_kernel(&v[low], &key) == 0 ? &v[low] : NULL;
}

/* Cuts a row to the time that its answer says was waiting; returns whether the row stays. */
static bool cut_row(tl_gap_peer *row, const tl_peer_answer *answers, size_t n)
{
    bool asked = row->awaited_uid >= 0;
    const tl_peer_answer *a = asked ? tl_peer_answer_of(answers, n, row->rank, (uint32_t)row->awaited_uid) : NULL;
    if (a == NULL || !a->waited)
        return row->evidence == TL_PEER_MEETING || row->evidence == TL_PEER_WAIT;
    int64_t left = tl_ns_between(tl_ns_sum(row->awaited_ns, a->wait_ns), row->from_ns);
    row->peer_ns = tl_ns_min(left, row->peer_ns);
    row->late_rank = a->late_rank;
    row->collective = a->collective;
    return row->peer_ns > 0;
}

void tl_peers_cut(tl_table *rows, const tl_peer_answer *answers, size_t n)
{
    size_t kept = 0;
    TL_ROWS (tl_gap_peer, row, rows)
        if (cut_row(row, answers, n))
            memmove(tl_table_row(rows, kept++), row, sizeof *row);
    rows->n = kept;
    tl_table_sort(rows);
}

/* ------------------------------------------------------------------------------------------------------------ sums */

static int by_class(const void *a, const void *b)
{
    const tl_peer_sum *x = a, *y = b;
    int order = TL_ORDER(x, y, rank, device, drain_type, cpu_during_gap);
    return order != 0 ? order : memcmp(x->dominant_op, y->dominant_op, sizeof x->dominant_op);
}

static int by_sum(const void *a, const void *b)
{
    int order = TL_ORDER((const tl_peer_sum *)a, (const tl_peer_sum *)b, of_class);
    return order != 0 ? order : by_class(a, b);
}

static void add_sum(void *to, const void *of)
{
    tl_peer_sum *sum = to;
    sum->peer_ns = tl_ns_sum(sum->peer_ns, ((const tl_peer_sum *)of)->peer_ns);
}

void tl_peers_sum(const tl_table *rows, tl_peer_sums *out)
{
    tl_peer_sums sums = { 0 };
    TL_ROWS (const tl_gap_peer, row, rows) {
        for (uint8_t of_class = 0; of_class <= 1; of_class++) {
            tl_peer_sum sum = {
                .peer_ns = row->peer_ns, .rank = row->rank, .device = row->device, .of_class = of_class
            };
            if (of_class) {
                sum.drain_type = row->drain_type;
                sum.cpu_during_gap = row->cpu_during_gap;
                memcpy(sum.dominant_op, row->dominant_op, sizeof sum.dominant_op);
            }
            tl_vec_push(&sums, sum);
            sum.device = -1; /* the rank's devices together */
            if (row->device != -1)
                tl_vec_push(&sums, sum);
        }
    }
    sums.n = tl_merge_equal(sums.v, sums.n, sizeof *sums.v, by_sum, add_sum);
    TL_EACH (const tl_peer_sum, sum, sums)
        tl_vec_push(out, *sum);
    free(sums.v);
}

/* -------------------------------------------------------------------------------------------------------- entering */

/* Compares a row of idle_summary with a class; rows of steps come after the rows of the whole trace. */
static int compare_row(const tl_idle_summary *row, const tl_peer_sum *class)
{
    if (row->rank == class->rank && row->device == class->device && row->step >= 0)
        return 1;
    tl_peer_sum of = {
        .rank = row->rank, .device = row->device, .drain_type = row->drain_type, .cpu_during_gap = row->cpu_during_gap
    };
    memcpy(of.dominant_op, row->dominant_op, sizeof of.dominant_op);
    return by_class(&of, class);
}

static tl_idle_summary *summary_of(tl_table *summary, const tl_peer_sum *class)
{
    size_t low = 0;
    TL_BISECT(low, summary->n, mid, compare_row(tl_table_row(summary, mid), class) < 0);
    for (; low < summary->n && compare_row(tl_table_row(summary, low), class) == 0; low++) {
        tl_idle_summary *row = tl_table_row(summary, low);
        if (class->of_class == (row->place > 0)) /* a class and a sum over classes may have equal texts */
            return row;
    }
    return NULL;
}

/* Returns the row of a class; of the class of others, if the device has too many classes. */
static tl_idle_summary *row_of_class(tl_table *summary, const tl_peer_sum *class)
{
    tl_idle_summary *row = summary_of(summary, class);
    if (row != NULL)
        return row;
    tl_peer_sum others = *class;
    others.drain_type = TL_DRAIN_ALL;
    others.cpu_during_gap = TL_DOING_ALL;
    tl_cell_text(others.dominant_op, sizeof others.dominant_op, TL_IDLE_OTHERS, strlen(TL_IDLE_OTHERS));
    return summary_of(summary, &others);
}

/* Returns the row of all classes of the device. */
static tl_idle_summary *row_of_all(tl_table *summary, const tl_peer_sum *device)
{
    tl_peer_sum all = { .rank = device->rank, .device = device->device };
    tl_cell_text(all.dominant_op, sizeof all.dominant_op, "ALL", 3);
    return summary_of(summary, &all);
}

void tl_peers_enter(const tl_peer_sum *sums, size_t n, tl_table *summary)
{
    for (size_t i = 0; i < n; i++) {
        tl_idle_summary *row = sums[i].of_class ? row_of_class(summary, &sums[i]) : row_of_all(summary, &sums[i]);
        if (row != NULL)
            row->peer_ns = tl_ns_sum(row->peer_ns, sums[i].peer_ns);
    }
}
