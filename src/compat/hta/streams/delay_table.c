/* delay_table.c - the rows of operators and their kernels, the most frequent first. */
#include "delays.h"
#include "tlmpi/base/bytes.h"
#include <math.h>
#include <string.h>

/* "a -> b -> c" of the kernels of a run. */
static bool join_kernels(tl_bytes *out, const tl_hta_delays *d, const tl_hta_run *r)
{
    tl_text list = tl_names_text(&d->lists, r->kernels);
    bool ok = true;

    out->n = 0;
    for (size_t at = 0; ok && at < list.n; at += sizeof(uint32_t)) {
        uint32_t kernel;
        memcpy(&kernel, list.p + at, sizeof kernel);
        tl_text name = tl_names_text(&d->symbols->texts, kernel);
        ok = (at == 0 || tl_bytes_put(out, " -> ", 4)) && tl_bytes_put(out, name.p, name.n);
    }
    return ok;
}

/* Goes through the joined text of a list piece by piece: a name, or what stands between two. */
typedef struct joined {
    tl_text list, left; /* left: of the piece */
    bool between;
} joined;

static bool next_piece(joined *j, const tl_names *texts)
{
    while (j->left.n == 0) {
        uint32_t kernel;
        if (j->list.n == 0)
            return false;
        j->between = !j->between;
        if (j->between) {
            j->left = TL_TEXT(" -> ");
            continue;
        }
        memcpy(&kernel, j->list.p, sizeof kernel);
        j->list = (tl_text){ j->list.p + sizeof kernel, j->list.n - sizeof kernel };
        j->left = tl_names_text(texts, kernel);
    }
    return true;
}

/* As the joined texts would be. */
static int compare_lists(const tl_hta_delays *d, uint32_t a, uint32_t b)
{
    joined x = { .list = tl_names_text(&d->lists, a), .between = true };
    joined y = { .list = tl_names_text(&d->lists, b), .between = true };

    for (;;) {
        bool has_x = next_piece(&x, &d->symbols->texts), has_y = next_piece(&y, &d->symbols->texts);
        if (!has_x || !has_y)
            return has_x - has_y;
        size_t n = x.left.n < y.left.n ? x.left.n : y.left.n;
        int order = memcmp(x.left.p, y.left.p, n);
        if (order != 0)
            return order;
        x.left = (tl_text){ x.left.p + n, x.left.n - n };
        y.left = (tl_text){ y.left.p + n, y.left.n - n };
    }
}

/* The most frequent first, then by the texts, descending. */
static int by_count(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_delays *d = context;
    const tl_hta_run_group *x = &d->groups[a], *y = &d->groups[b];
    const tl_hta_run *x_run = &d->runs[d->order[x->from]], *y_run = &d->runs[d->order[y->from]];
    int order = TL_COMPARE(y->n, x->n);

    if (order == 0 && x_run->op != y_run->op)
        order = strcmp(tl_names_text(&d->symbols->texts, y_run->op).p, tl_names_text(&d->symbols->texts, x_run->op).p);
    return order != 0 ? order : compare_lists(d, y_run->kernels, x_run->kernels);
}

/* Half to even at the third decimal, by way of the scaled double. */
static double round3(double value)
{
    return rint(value * 1000) / 1000;
}

bool tl_hta_write_delays(tl_sheet *csv, tl_hta_delays *d)
{
    uint32_t *order = tl_arena_take(&d->arena, d->ngroups, sizeof *order);
    double *op_us = tl_arena_take(&d->arena, d->nruns, sizeof *op_us);
    double *runtime_us = tl_arena_take(&d->arena, d->nruns, sizeof *runtime_us);
    tl_bytes text = { 0 };
    bool ok = !d->arena.failed;

    for (size_t i = 0; ok && i < d->ngroups; i++)
        order[i] = (uint32_t)i;
    ok = ok && tl_sort_index(order, d->ngroups, by_count, d);
    for (size_t i = 0; ok && i < d->ngroups; i++) {
        const tl_hta_run_group *g = &d->groups[order[i]];
        const tl_hta_run *first = &d->runs[d->order[g->from]];
        for (size_t k = 0; k < g->n; k++) {
            op_us[k] = d->runs[d->order[g->from + k]].op_us;
            runtime_us[k] = d->runs[d->order[g->from + k]].runtime_us;
        }
        ok = join_kernels(&text, d, first);
        if (!ok)
            break;
        tl_sheet_int(csv, d->frame->rank);
        tl_sheet_text(csv, tl_names_text(&d->symbols->texts, first->op));
        tl_sheet_text(csv, (tl_text){ text.n > 0 ? text.v : "", text.n });
        tl_sheet_int(csv, (int64_t)g->n);
        tl_sheet_real(csv, round3(tl_pandas_mean(op_us, g->n)));
        tl_sheet_real(csv, round3(tl_pandas_mean(runtime_us, g->n)));
        tl_sheet_end_row(csv);
    }
    tl_bytes_free(&text);
    return ok;
}
