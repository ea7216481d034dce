/* phase.c - what each proc has read goes to proc 0, which judges it. */
#include "internal.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

static void phasing_free(tl_phasing *p)
{
    tl_names_free(&p->names);
    free(p->cells.v);
    free(p->files.v);
}

static void put(const tl_phasing *p, tl_bytes *out)
{
    tl_bytes_put(out, &p->names.n, sizeof p->names.n);
    for (uint32_t i = 0; i < p->names.n; i++) {
        tl_text text = tl_names_text(&p->names, i);
        tl_bytes_put_list(out, text.p, text.n, 1);
    }
    tl_bytes_put_list(out, p->cells.v, p->cells.n, sizeof *p->cells.v);
    tl_bytes_put_list(out, p->files.v, p->files.n, sizeof *p->files.v);
}

/* What one proc has put, behind what is there. */
static void take(tl_bytes *in, tl_phasing *all)
{
    size_t nnames = 0, length, n;
    void *v;
    tl_bytes_get(in, &nnames, sizeof nnames);
    uint32_t *ids = tl_calloc(nnames, sizeof *ids);
    for (size_t i = 0; i < nnames; i++) {
        tl_bytes_get_list(in, &v, &length, 1);
        ids[i] = tl_names_intern(&all->names, v, length);
        free(v);
    }
    tl_bytes_get_list(in, &v, &n, sizeof(tl_phase_cell));
    for (size_t i = 0; i < n; i++) {
        tl_phase_cell cell = ((tl_phase_cell *)v)[i];
        cell.phase = ids[cell.phase];
        tl_vec_push(&all->cells, cell);
    }
    free(v);
    tl_bytes_get_list(in, &v, &n, sizeof(tl_phase_file));
    for (size_t i = 0; i < n; i++)
        tl_vec_push(&all->files, ((tl_phase_file *)v)[i]);
    free(v);
    free(ids);
}

/* ------------------------------------------------------------------------------------------------------------ names */

typedef struct naming {
    const tl_names *names;
    const int64_t *ns; /* what each takes */
} naming;

static int by_text(const void *arg, uint32_t a, uint32_t b)
{
    const naming *n = arg;
    return tl_text_compare(tl_names_text(n->names, a), tl_names_text(n->names, b));
}

static int by_time(const void *arg, uint32_t a, uint32_t b)
{
    const naming *n = arg;
    return n->ns[a] != n->ns[b] ? TL_COMPARE(n->ns[b], n->ns[a]) : by_text(arg, a, b);
}

/* Puts the names in order of their texts, at most TL_PHASES_MOST: the names that take most time.  Cells get the new
 * numbers; a cell of a dropped name goes. */
static void order_names(tl_phasing *p)
{
    int64_t *ns = tl_calloc(p->names.n, sizeof *ns);
    uint32_t *number = tl_calloc(p->names.n, sizeof *number);
    const naming n = { &p->names, ns };
    tl_names ordered = { 0 };
    size_t kept = p->names.n < TL_PHASES_MOST ? p->names.n : TL_PHASES_MOST, ncells = 0;

    for (size_t i = 0; i < p->cells.n; i++)
        ns[p->cells.v[i].phase] = tl_ns_sum(ns[p->cells.v[i].phase], p->cells.v[i].duration_ns);
    uint32_t *order = tl_sorted_index(p->names.n, by_time, &n);
    tl_sort_index(order, kept, by_text, &n);
    for (size_t i = 0; i < p->names.n; i++) {
        tl_text text = tl_names_text(&p->names, order[i]);
        number[order[i]] = i < kept ? tl_names_intern(&ordered, text.p, text.n) : TL_NO_NAME;
    }
    for (size_t i = 0; i < p->cells.n; i++) {
        tl_phase_cell cell = p->cells.v[i];
        if (number[cell.phase] == TL_NO_NAME) {
            p->files.v[cell.file].left_out += cell.records;
            continue;
        }
        cell.phase = number[cell.phase];
        p->cells.v[ncells++] = cell;
    }
    p->cells.n = ncells;
    if (p->names.n > kept)
        tl_warn("%zu names of phases are left out, all but the %d that take most time", p->names.n - kept,
                (int)TL_PHASES_MOST);
    tl_names_free(&p->names);
    p->names = ordered;
    free(ns);
    free(number);
    free(order);
}

static int by_number(const void *a, const void *b)
{
    return TL_COMPARE(((const tl_phase_file *)a)->file, ((const tl_phase_file *)b)->file);
}

/* Proc 0. */
static void judge(tl_phasing *p, bool analyse, tl_tables *tables)
{
    tl_vec_sort(&p->files, by_number);
    order_names(p);
    p->cells.n = tl_phase_merge(p->cells.v, p->cells.n, p->files.v);
    tl_table_append(tl_tables_get(tables, &tl_phase_file_schema), p->files.v, p->files.n);
    if (analyse)
        tl_phases_judge(&p->cells, &p->names, &p->options->judge, tables);
}

void tl_phase_run(const tl_plan *plan, const tl_options *options, bool analyse, tl_tables *tables)
{
    tl_phasing mine = { .options = options }, all = mine;
    tl_bytes out = { 0 }, in = { 0 };
    void *gathered = NULL;

    if (plan->phases_bytes == 0)
        return;
    tl_phase_files_read(plan, &mine);
    put(&mine, &out);
    phasing_free(&mine);
    tl_par_gather(out.v, out.n, &gathered, &in.n, NULL);
    tl_bytes_free(&out);
    in.v = gathered;
    if (tl_par_proc() == 0) {
        while (in.at < in.n)
            take(&in, &all);
        judge(&all, analyse, tables);
    }
    tl_bytes_free(&in);
    phasing_free(&all);
}
