/* names.c - which phases, steps and ranks there are: listed on proc 0, known to all; and what Kineto traces have measured
 * of waiting in these steps. */
#include "internal.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

static bool put(tl_bytes *list, tl_text text)
{
    return tl_bytes_put_list(list, text.p, text.n, 1);
}

/* Takes the next into `out`; TL_NO_NAME when memory is out. */
static uint32_t take(tl_bytes *list, tl_names *out)
{
    size_t length = 0;
    if (!tl_bytes_get(list, &length, sizeof length))
        return TL_NO_NAME;
    const char *text = list->v + list->at;
    list->at += length;
    return tl_names_intern(out, text, length);
}

/* A name, and what it takes. */
static bool put_mine(const tl_phasing *p, tl_bytes *out)
{
    int64_t *ns = tl_calloc(p->names.n + 1, sizeof *ns);
    bool ok = ns != NULL;

    for (size_t i = 0; ok && i < p->cells.n; i++)
        ns[p->cells.v[i].phase] = tl_ns_sum(ns[p->cells.v[i].phase], p->cells.v[i].duration_ns);
    for (uint32_t i = 0; ok && i < p->names.n; i++)
        ok = put(out, tl_names_text(&p->names, i)) && tl_bytes_put(out, &ns[i], sizeof *ns);
    free(ns);
    return ok;
}

/* Of all procs, by id. */
typedef struct naming {
    tl_names names;
    TL_VEC(int64_t) ns;
} naming;

static bool take_all(tl_bytes all, naming *out)
{
    while (all.at < all.n) {
        int64_t ns = 0;
        uint32_t id = take(&all, &out->names);
        if (id == TL_NO_NAME || !tl_bytes_get(&all, &ns, sizeof ns) || !tl_vec_room(&out->ns))
            return false;
        if (id == out->ns.n)
            out->ns.v[out->ns.n++] = 0;
        out->ns.v[id] = tl_ns_sum(out->ns.v[id], ns);
    }
    return true;
}

static int by_text(const void *names, uint32_t a, uint32_t b)
{
    return tl_text_compare(tl_names_text(names, a), tl_names_text(names, b));
}

static int by_time(const void *arg, uint32_t a, uint32_t b)
{
    const naming *n = arg;
    return n->ns.v[a] != n->ns.v[b] ? TL_COMPARE(n->ns.v[b], n->ns.v[a]) : by_text(&n->names, a, b);
}

/* Proc 0: the texts of all procs, each once and in order, into *out; of too many those that take most time. */
static bool order_names(tl_bytes all, size_t *left_out, tl_bytes *out)
{
    naming n = { 0 };
    uint32_t *order = NULL;
    bool ok = take_all(all, &n) && (order = tl_calloc(n.names.n + 1, sizeof *order)) != NULL;
    size_t kept = n.names.n < TL_PHASES_MOST ? n.names.n : TL_PHASES_MOST;

    for (uint32_t i = 0; ok && i < n.names.n; i++)
        order[i] = i;
    ok = ok && tl_sort_index(order, n.names.n, by_time, &n) && tl_sort_index(order, kept, by_text, &n.names);
    for (size_t i = 0; ok && i < kept; i++)
        ok = put(out, tl_names_text(&n.names, order[i]));
    *left_out = n.names.n - kept;
    free(order);
    free(n.ns.v);
    tl_names_free(&n.names);
    return ok;
}

/* Each proc: its own cells by the numbers that all have; what is left out goes. */
static bool renumber(tl_phasing *p, tl_names *common)
{
    size_t kept = 0;
    uint32_t *number = tl_calloc(p->names.n + 1, sizeof *number);
    p->holds = tl_calloc(common->n + 1, sizeof *p->holds);
    p->titles = tl_calloc(common->n + 1, sizeof *p->titles);
    p->name_rows = tl_calloc(common->n + 1, sizeof *p->name_rows);
    if (number == NULL || p->holds == NULL || p->titles == NULL || p->name_rows == NULL) {
        free(number);
        return false;
    }
    for (uint32_t i = 0; i < p->names.n; i++) {
        tl_text text = tl_names_text(&p->names, i);
        number[i] = tl_names_find(common, text.p, text.n);
    }
    for (size_t i = 0; i < p->cells.n; i++) {
        const tl_phase_cell *c = &p->cells.v[i];
        if (number[c->phase] == TL_NO_NAME) {
            p->left_out_of[c->file] += c->records;
            continue;
        }
        p->cells.v[kept] = *c;
        p->cells.v[kept++].phase = number[c->phase];
    }
    p->cells.n = kept;
    p->nphases = common->n;
    tl_phase_titles(common, common->n, p->titles);
    for (uint32_t i = 0; i < common->n; i++)
        p->holds[i] = tl_phase_holds_of(tl_names_text(common, i));
    tl_names_free(&p->names);
    p->names = *common;
    *common = (tl_names){ 0 };
    free(number);
    return true;
}

/* Proc 0: the names as those of the result. */
static bool give_rows(tl_phasing *p)
{
    bool ok = true;
    for (uint32_t i = 0; ok && p->tables->names != NULL && i < p->nphases; i++) {
        tl_text text = tl_names_text(&p->names, i);
        p->name_rows[i] = tl_names_intern(p->tables->names, text.p, text.n);
        ok = p->name_rows[i] != TL_NO_NAME;
    }
    return ok;
}

tl_status tl_phase_names_share(tl_phasing *p, tl_error *err)
{
    tl_bytes mine = { 0 }, all = { 0 }, common = { 0 };
    tl_names names = { 0 };
    bool ok = put_mine(p, &mine);

    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the names of phases"), err);
    if (st == TL_OK)
        st = tl_par_gather(mine.v, mine.n, (void **)&all.v, &all.n, NULL, err);
    if (st == TL_OK) {
        ok = tl_par_proc() != 0 || order_names(all, &p->left_out, &common);
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the names of phases"), err);
    }
    if (st == TL_OK)
        st = tl_par_share((void **)&common.v, &common.n, 1, err);
    if (st == TL_OK) {
        while (ok && common.at < common.n)
            ok = take(&common, &names) != TL_NO_NAME;
        ok = ok && renumber(p, &names) && (tl_par_proc() != 0 || give_rows(p));
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the names of phases"), err);
    }
    if (st == TL_OK && p->nphases > 0)
        tl_par_bcast(p->name_rows, p->nphases * sizeof *p->name_rows);
    if (p->left_out > 0)
        tl_warn("%zu names of phases are left out, all but the %d that take most time", p->left_out,
                (int)TL_PHASES_MOST);
    tl_names_free(&names);
    tl_bytes_free(&mine);
    tl_bytes_free(&all);
    tl_bytes_free(&common);
    return st;
}

/* ------------------------------------------------------------------------------------------------- steps and ranks */

static size_t unique(int32_t *v, size_t n)
{
    size_t kept = 0;
    if (n == 0 || v == NULL)
        return 0;
    tl_int_sort(v, n);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || v[i] != v[kept - 1])
            v[kept++] = v[i];
    return kept;
}

/* Collective.  mine[n], freed here: what this proc has; *out[*nout]: what all have, ascending. */
static tl_status share_numbers(int32_t *mine, size_t n, int32_t **out, size_t *nout, tl_error *err)
{
    tl_status st = tl_par_agree(mine != NULL ? TL_OK : tl_fail_memory(err, "steps and ranks of phases"), err);
    if (st == TL_OK)
        st = tl_collect_rows(mine, unique(mine, n), sizeof *mine, (void **)out, nout, NULL, err);
    free(mine);
    if (st == TL_OK && tl_par_proc() == 0)
        *nout = unique(*out, *nout);
    return st == TL_OK ? tl_par_share((void **)out, nout, sizeof **out, err) : st;
}

/* A phase that one rank alone has is work that the others are spared, as a checkpoint is; but not where most ranks have
 * such phases, as stages of a pipeline do, whose work is called by their names. */
static void keep_alone(tl_phasing *p)
{
    size_t ranks = 0;
    for (size_t i = 0; i < p->nphases; i++)
        if (p->alone[i] >= 0)
            p->has_alone[tl_index_of(p->ranks, p->nranks, p->alone[i])] = true;
    for (size_t r = 0; r < p->nranks; r++)
        ranks += p->has_alone[r];
    for (size_t i = 0; i < p->nphases; i++)
        if (2 * ranks > p->nranks || p->nranks < 2)
            p->alone[i] = -1;
}

/* Collective.  least[2 * nphases]: of each phase the least rank, and then the largest, below 0. */
static tl_status find_alone(tl_phasing *p, int64_t *least, tl_error *err)
{
    int64_t *less_most = least + p->nphases;
    for (size_t i = 0; i < 2 * p->nphases; i++)
        least[i] = INT64_MAX;
    for (size_t i = 0; i < p->cells.n; i++) {
        const tl_phase_cell *c = &p->cells.v[i];
        least[c->phase] = tl_ns_min(least[c->phase], c->rank);
        less_most[c->phase] = tl_ns_min(less_most[c->phase], -c->rank);
    }
    tl_status st = tl_reduce_least(least, 2 * p->nphases, err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < p->nphases; i++)
        p->alone[i] = least[i] == -less_most[i] ? (int32_t)least[i] : -1;
    keep_alone(p);
    return TL_OK;
}

static tl_status share_alone(tl_phasing *p, tl_error *err)
{
    int64_t *least = tl_malloc((2 * p->nphases + 1) * sizeof *least);
    p->alone = tl_calloc(p->nphases + 1, sizeof *p->alone);
    p->has_alone = tl_calloc(p->nranks + 1, sizeof *p->has_alone);
    bool ok = least != NULL && p->alone != NULL && p->has_alone != NULL;
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "names of phases"), err);
    if (ok && st == TL_OK)
        st = find_alone(p, least, err);
    free(least);
    return st;
}

tl_status tl_phase_numbers_share(tl_phasing *p, tl_error *err)
{
    int32_t *steps = tl_calloc(p->cells.n + 1, sizeof *steps), *ranks;
    for (size_t i = 0; steps != NULL && i < p->cells.n; i++)
        steps[i] = p->cells.v[i].step;
    tl_status st = share_numbers(steps, p->cells.n, &p->steps, &p->nsteps, err);
    if (st != TL_OK)
        return st;
    ranks = tl_calloc(p->cells.n + 1, sizeof *ranks);
    for (size_t i = 0; ranks != NULL && i < p->cells.n; i++)
        ranks[i] = p->cells.v[i].rank;
    st = share_numbers(ranks, p->cells.n, &p->ranks, &p->nranks, err);
    return st == TL_OK ? share_alone(p, err) : st;
}

/* ----------------------------------------------------------------------------------------------------------- waits */

static int by_step(const void *a, const void *b)
{
    const tl_phase_wait *x = a, *y = b;
    return x->step != y->step ? TL_COMPARE(x->step, y->step) : TL_COMPARE(x->rank, y->rank);
}

/* Proc 0: what Kineto traces have measured, in the steps that they mark. */
static bool list_waits(tl_tables *tables, tl_phase_wait **out, size_t *n)
{
    const tl_table *steps = tl_tables_get(tables, &tl_step_schema),
                   *exposed = tl_tables_get(tables, &tl_exposed_schema);
    tl_phase_wait *v = tl_calloc(steps->n + 1, sizeof *v);

    if (v == NULL)
        return false;
    for (size_t i = 0; i < steps->n; i++) {
        const tl_step *row = tl_table_row(steps, i);
        v[i] = (tl_phase_wait){ .step = row->step, .rank = row->rank };
    }
    if (steps->n > 0)
        qsort(v, steps->n, sizeof *v, by_step);
    for (size_t i = 0; i < exposed->n; i++) {
        const tl_exposed *row = tl_table_row(exposed, i);
        const tl_phase_wait key = { .step = row->step, .rank = row->rank };
        tl_phase_wait *wait = bsearch(&key, v, steps->n, sizeof *v, by_step);
        if (wait != NULL)
            wait->wait_ns = tl_ns_sum(wait->wait_ns, row->waiting_ns);
    }
    *out = v;
    *n = steps->n;
    return true;
}

tl_status tl_phase_waits_share(const tl_phasing *p, tl_phase_wait **out, size_t *n, tl_error *err)
{
    bool ok = tl_par_proc() != 0 || list_waits(p->tables, out, n);
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "measured waits"), err);
    return st == TL_OK ? tl_par_share((void **)out, n, sizeof **out, err) : st;
}

int64_t tl_phase_wait_of(const tl_phase_wait *waits, size_t n, int32_t step, int32_t rank)
{
    const tl_phase_wait key = { .step = step, .rank = rank };
    const tl_phase_wait *wait = n > 0 ? bsearch(&key, waits, n, sizeof *waits, by_step) : NULL;
    return wait != NULL ? wait->wait_ns : -1;
}
