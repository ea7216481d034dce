/* peers.c - once ranks are matched: what was waiting for other ranks, and for which. */
#include "tlmpi/analysis/wait.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- answers */

static int compare_answer(const tl_peer_answer *a, int32_t rank, uint32_t uid)
{
    return a->rank != rank ? TL_COMPARE(a->rank, rank) : TL_COMPARE(a->uid, uid);
}

static int by_kernel(const void *a, const void *b)
{
    const tl_peer_answer *y = b;
    return compare_answer(a, y->rank, y->uid);
}

void tl_peer_answers_sort(tl_peer_answer *answers, size_t n)
{
    if (n > 1)
        qsort(answers, n, sizeof *answers, by_kernel);
}

const tl_peer_answer *tl_peer_answer_of(const tl_peer_answer *v, size_t n, int32_t rank, uint32_t uid)
{
    size_t low = 0;
    TL_BISECT(low, n, mid, compare_answer(&v[mid], rank, uid) < 0);
    return low < n && compare_answer(&v[low], rank, uid) == 0 ? &v[low] : NULL;
}

/* Returns the answer for the rank and uid, if it tells of a wait; else NULL. */
static const tl_peer_answer *answer_of(const tl_peer_answer *v, size_t n, int32_t rank, uint32_t uid)
{
    const tl_peer_answer *found = tl_peer_answer_of(v, n, rank, uid);
    return found != NULL && found->waited ? found : NULL;
}

/* --------------------------------------------------------------------------------------------------------- cutting */

/* Whether anything of the row is left. */
static bool cut(tl_gap_peer *row, const tl_peer_answer *answer)
{
    if (answer == NULL)
        return row->evidence == TL_PEER_MEETING || row->evidence == TL_PEER_WAIT;
    int64_t left = tl_ns_between(tl_ns_sum(row->awaited_ns, answer->wait_ns), row->from_ns);
    row->peer_ns = left < row->peer_ns ? left : row->peer_ns;
    row->late_rank = answer->late_rank;
    row->collective = answer->collective;
    return row->peer_ns > 0;
}

void tl_peers_cut(tl_table *rows, const tl_peer_answer *answers, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->n; i++) {
        tl_gap_peer *row = tl_table_row(rows, i);
        if (cut(row, row->awaited_uid >= 0 ? answer_of(answers, n, row->rank, (uint32_t)row->awaited_uid) : NULL))
            memmove(tl_table_row(rows, kept++), row, sizeof *row);
    }
    rows->n = kept;
    tl_table_sort(rows);
}

/* ------------------------------------------------------------------------------------------------------------ sums */

/* What a device waited for one rank. */
typedef struct share {
    int64_t peer_ns;
    int32_t rank, device, late_rank;
} share;

typedef TL_VEC(share) shares;

static void add_share(shares *to, share s)
{
    tl_vec_room(to);
    to->v[to->n++] = s;
}

static int by_late(const void *a, const void *b)
{
    const share *x = a, *y = b;
    if (x->rank != y->rank)
        return TL_COMPARE(x->rank, y->rank);
    return x->device != y->device ? TL_COMPARE(x->device, y->device) : TL_COMPARE(x->late_rank, y->late_rank);
}

/* Merges shares of one device and late rank into one. */
static void unite(shares *s)
{
    size_t kept = 0;
    if (s->n > 1)
        qsort(s->v, s->n, sizeof *s->v, by_late);
    for (size_t i = 0; i < s->n; i++) {
        if (kept > 0 && by_late(&s->v[kept - 1], &s->v[i]) == 0) {
            s->v[kept - 1].peer_ns = tl_ns_sum(s->v[kept - 1].peer_ns, s->v[i].peer_ns);
        } else {
            s->v[kept++] = s->v[i];
        }
    }
    s->n = kept;
}

/* A sum of each device, with the rank that it waited for most; of equals the lowest. */
static void sum_devices(const shares *s, tl_peer_sums *out)
{
    int64_t most = 0;
    for (size_t i = 0; i < s->n; i++) {
        const share *x = &s->v[i];
        if (i == 0 || x->rank != x[-1].rank || x->device != x[-1].device) {
            tl_vec_room(out);
            out->v[out->n++] = (tl_peer_sum){ .rank = x->rank, .device = x->device, .late_rank = -1 };
            most = 0;
        }
        tl_peer_sum *sum = &out->v[out->n - 1];
        sum->peer_ns = tl_ns_sum(sum->peer_ns, x->peer_ns);
        if (x->late_rank >= 0 && x->peer_ns > most) {
            most = x->peer_ns;
            sum->late_rank = x->late_rank;
        }
    }
}

static int compare_class(const tl_peer_sum *x, const tl_peer_sum *y)
{
    if (x->rank != y->rank)
        return TL_COMPARE(x->rank, y->rank);
    if (x->device != y->device)
        return TL_COMPARE(x->device, y->device);
    if (x->drain_type != y->drain_type)
        return TL_COMPARE(x->drain_type, y->drain_type);
    if (x->cpu_during_gap != y->cpu_during_gap)
        return TL_COMPARE(x->cpu_during_gap, y->cpu_during_gap);
    return memcmp(x->dominant_op, y->dominant_op, sizeof x->dominant_op);
}

static int by_class(const void *a, const void *b)
{
    return compare_class(a, b);
}

static void sum_classes(const tl_table *rows, tl_peer_sums *out)
{
    size_t first = out->n, kept = first;

    for (size_t i = 0; i < rows->n; i++) {
        const tl_gap_peer *row = tl_table_row(rows, i);
        tl_peer_sum sum = { .peer_ns = row->peer_ns,
                            .rank = row->rank,
                            .device = row->device,
                            .late_rank = -1,
                            .drain_type = row->drain_type,
                            .cpu_during_gap = row->cpu_during_gap,
                            .of_class = 1 };
        memcpy(sum.dominant_op, row->dominant_op, sizeof sum.dominant_op);
        for (int all = row->device == -1; all < 2; all++) { /* once for the device, once for all of the rank */
            tl_vec_room(out);
            out->v[out->n++] = sum;
            sum.device = -1;
        }
    }
    if (out->n > first)
        qsort(out->v + first, out->n - first, sizeof *out->v, by_class);
    for (size_t i = first; i < out->n; i++) {
        if (kept > first && compare_class(&out->v[kept - 1], &out->v[i]) == 0)
            out->v[kept - 1].peer_ns = tl_ns_sum(out->v[kept - 1].peer_ns, out->v[i].peer_ns);
        else
            out->v[kept++] = out->v[i];
    }
    out->n = kept;
}

void tl_peers_sum(const tl_table *rows, tl_peer_sums *out)
{
    shares of_device = { 0 };

    for (size_t i = 0; i < rows->n; i++) {
        const tl_gap_peer *row = tl_table_row(rows, i);
        add_share(&of_device, (share){ row->peer_ns, row->rank, row->device, row->late_rank });
    }
    unite(&of_device);
    sum_devices(&of_device, out);
    for (size_t i = 0; i < of_device.n; i++)
        of_device.v[i].device = -1;
    unite(&of_device);
    sum_devices(&of_device, out);
    free(of_device.v);
    sum_classes(rows, out);
}

/* -------------------------------------------------------------------------------------------------------- entering */

static tl_idle *idle_of(tl_table *idle, int32_t rank, int32_t device)
{
    tl_idle *row = tl_table_row(idle, 0);
    size_t low = 0;
    TL_BISECT(low, idle->n, i, row[i].rank < rank || (row[i].rank == rank && row[i].device < device));
    return low < idle->n && row[low].rank == rank && row[low].device == device ? &row[low] : NULL;
}

/* Sums of steps come after all that is of the whole trace. */
static int compare_row(const tl_idle_summary *row, const tl_peer_sum *class)
{
    if (row->rank == class->rank && row->device == class->device && row->step >= 0)
        return 1;
    tl_peer_sum of = {
        .rank = row->rank, .device = row->device, .drain_type = row->drain_type, .cpu_during_gap = row->cpu_during_gap
    };
    memcpy(of.dominant_op, row->dominant_op, sizeof of.dominant_op);
    return compare_class(&of, class);
}

static tl_idle_summary *summary_of(tl_table *summary, const tl_peer_sum *class)
{
    size_t low = 0;
    TL_BISECT(low, summary->n, mid, compare_row(tl_table_row(summary, mid), class) < 0);
    for (; low < summary->n && compare_row(tl_table_row(summary, low), class) == 0; low++) {
        tl_idle_summary *row = tl_table_row(summary, low);
        if (class->of_class == (row->place > 0)) /* a class may have the word of a sum by axes */
            return row;
    }
    return NULL;
}

/* The row of a class: that of all others where the device has too many. */
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

/* That of all classes of the device. */
static tl_idle_summary *row_of_all(tl_table *summary, const tl_peer_sum *device)
{
    tl_peer_sum all = { .rank = device->rank, .device = device->device };
    tl_cell_text(all.dominant_op, sizeof all.dominant_op, "ALL", 3);
    return summary_of(summary, &all);
}

void tl_peers_enter(const tl_peer_sum *sums, size_t n, tl_table *idle, tl_table *summary)
{
    for (size_t i = 0; i < n; i++) {
        const tl_peer_sum *sum = &sums[i];
        tl_idle_summary *class = sum->of_class ? row_of_class(summary, sum) : row_of_all(summary, sum);
        if (class != NULL)
            class->peer_ns = tl_ns_sum(class->peer_ns, sum->peer_ns);
        tl_idle *row = sum->of_class ? NULL : idle_of(idle, sum->rank, sum->device);
        if (row == NULL)
            continue;
        row->peer_ns = sum->peer_ns;
        row->late_rank = sum->late_rank;
    }
}
