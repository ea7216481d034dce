/* phase.c - files of phases, one after the other, each proc at every nprocs-th; what each proc has read goes to proc 0,
 * which judges it. */
#include "tlmpi/analysis/phase.h"
#include "tlmpi/job/phase.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/par/par.h"
#include "tlmpi/trace/read/phases.h"
#include <string.h>

/* Phases that are told apart; a program has a few. */
enum { PHASES_MOST = 256 };

typedef struct phasing {
    const tl_options *options;
    tl_names names;
    tl_phase_cells cells;
    TL_VEC(tl_phase_file) files;
} phasing;

/* ---------------------------------------------------------------------------------------------------------- reading */

/* Of a rank in the file, or of one of its phases: the current session, and the last step in it. */
typedef struct session {
    uint32_t number;
    int32_t step;
} session;

typedef struct file_reading {
    phasing *p;
    tl_phase_file *row;
    int32_t named_rank; /* what the file's name tells; -1: nothing */
    bool ranked;        /* a record has told its rank */
    TL_VEC(tl_phase_line) lines;
    TL_VEC(session) sessions;
    tl_map session_of;
} file_reading;

/* The index of what the key has. */
static uint32_t session_index(file_reading *f, uint64_t key)
{
    uint32_t at = tl_map_get(&f->session_of, key);
    if (at == TL_MAP_NONE) {
        at = (uint32_t)f->sessions.n;
        (void)tl_map_put(&f->session_of, key, at);
        tl_vec_push(&f->sessions, (session){ .step = -1 });
    }
    return at;
}

/* The number of the session that a record is of.  A phase that goes back begins another of
 * its rank: also for phases that few steps have.  A phase may be ahead of another, as copies for the next step are. */
static uint32_t session_of(file_reading *f, int32_t rank, uint32_t phase, int32_t step)
{
    uint64_t key = tl_hash_mix(0, (uint64_t)rank);
    uint32_t of_rank = session_index(f, key), of_phase = session_index(f, tl_hash_mix(key, phase));
    session *all = &f->sessions.v[of_rank], *own = &f->sessions.v[of_phase];
    all->number += own->number == all->number && step < own->step;
    *own = (session){ .number = all->number, .step = step };
    return all->number;
}

static void take(void *arg, const tl_phase_record *record)
{
    file_reading *f = arg;
    int32_t rank = record->rank >= 0 ? record->rank : f->named_rank;

    if (rank < 0) {
        f->row->no_key++;
        f->row->records--;
        return;
    }
    uint32_t phase = tl_names_intern(&f->p->names, record->name.p, record->name.n);
    uint32_t number = session_of(f, rank, phase, record->step);
    f->row->rank = !f->ranked || f->row->rank == rank ? rank : -1;
    f->ranked = true;
    if (!tl_ranges_has(&f->p->options->ranks, rank) || !tl_ranges_has(&f->p->options->steps, record->step))
        return;
    tl_vec_push(&f->lines, (tl_phase_line){ .rank = rank,
                                            .step = record->step,
                                            .phase = phase,
                                            .session = number,
                                            .duration_ns = record->duration_ns,
                                            .line = record->line,
                                            .metadata = record->metadata });
}

static void fill_row(tl_phase_file *row, const tl_phases_report *report)
{
    row->lines = report->lines;
    row->records += report->records;
    row->no_json = report->no_json;
    row->no_key += report->no_key;
    row->no_duration = report->no_duration;
    row->first_bad_byte = report->first_bad_byte;
    row->file_bytes = report->file_bytes;
    const char *error = report->first_bad[0] != 0 ? report->first_bad
                        : report->lines == 0      ? "expected records of phases, found none"
                        : row->no_key > 0 ? "expected a rank in each line, or in the file's name; left such lines out"
                                          : "";
    tl_cell_text(row->error, sizeof row->error, error, strlen(error));
    row->status = report->lines == 0 && !report->fault ? TL_PHASE_FILE_EMPTY
                  : report->fault || report->no_json > report->cut || row->no_key + row->no_duration > 0
                      ? TL_PHASE_FILE_DAMAGED
                  : report->cut ? TL_PHASE_FILE_CUT
                                : TL_PHASE_FILE_OK;
}

static void read_file(phasing *p, const char *path, int32_t number)
{
    tl_phase_file row = { .file = number, .rank = -1, .first_bad_byte = -1, .replaced_by = -1 };
    int64_t by_name = tl_rank_of_name(path);
    file_reading f = { .p = p, .row = &row, .named_rank = by_name <= INT32_MAX ? (int32_t)by_name : -1 };
    tl_phases_report report;
    tl_error why = { 0 };

    tl_cell_path(row.path, sizeof row.path, path);
    if (tl_phases_read(path, take, &f, &report, &why) == TL_OK) {
        fill_row(&row, &report);
        tl_phase_fold(f.lines.v, f.lines.n, (uint32_t)number, &p->cells, &row.repeated, &row.superseded);
    } else {
        row.status = TL_PHASE_FILE_UNREADABLE;
        tl_cell_text(row.error, sizeof row.error, why.text, strlen(why.text));
    }
    tl_vec_push(&p->files, row);
    free(f.lines.v);
    free(f.sessions.v);
    tl_map_free(&f.session_of);
}

static void read_mine(const tl_plan *plan, phasing *p)
{
    for (size_t i = 0; i < plan->nsides; i++)
        if (tl_plan_is_mine(&plan->sides[i], TL_INPUT_PHASES))
            read_file(p, plan->sides[i].path, plan->sides[i].number);
}

/* --------------------------------------------------------------------------------------------------------- together */

static void phasing_free(phasing *p)
{
    tl_names_free(&p->names);
    free(p->cells.v);
    free(p->files.v);
}

static void put(const phasing *p, tl_bytes *out)
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
static void take_proc(tl_bytes *in, phasing *all)
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

/* Puts the names in order of their texts, at most PHASES_MOST: the names that take most time.  Cells get the new
 * numbers; a cell of a dropped name goes. */
static void order_names(phasing *p)
{
    int64_t *ns = tl_calloc(p->names.n, sizeof *ns);
    uint32_t *number = tl_calloc(p->names.n, sizeof *number);
    const naming n = { &p->names, ns };
    tl_names ordered = { 0 };
    size_t kept = p->names.n < PHASES_MOST ? p->names.n : PHASES_MOST, ncells = 0;

    TL_EACH (const tl_phase_cell, cell, p->cells)
        ns[cell->phase] = tl_ns_sum(ns[cell->phase], cell->duration_ns);
    uint32_t *order = tl_sorted_index(p->names.n, by_time, &n);
    tl_sort_index(order, kept, by_text, &n);
    for (size_t i = 0; i < p->names.n; i++) {
        tl_text text = tl_names_text(&p->names, order[i]);
        number[order[i]] = i < kept ? tl_names_intern(&ordered, text.p, text.n) : TL_NO_NAME;
    }
    TL_EACH (tl_phase_cell, cell, p->cells) {
        cell->phase = number[cell->phase];
        if (cell->phase == TL_NO_NAME)
            p->files.v[cell->file].left_out += cell->records;
        else
            p->cells.v[ncells++] = *cell;
    }
    p->cells.n = ncells;
    if (p->names.n > kept)
        tl_warn("%zu names of phases are left out, all but the %d that take most time", p->names.n - kept,
                (int)PHASES_MOST);
    tl_names_free(&p->names);
    p->names = ordered;
    free(ns);
    free(number);
    free(order);
}

static int by_number(const void *a, const void *b)
{
    return TL_ORDER((const tl_phase_file *)a, (const tl_phase_file *)b, file);
}

/* Proc 0. */
static void judge(phasing *p, bool analyse, tl_tables *tables)
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
    phasing mine = { .options = options }, all = mine;
    tl_bytes out = { 0 }, in;

    if (!tl_plan_has(plan, TL_INPUT_PHASES))
        return;
    read_mine(plan, &mine);
    put(&mine, &out);
    phasing_free(&mine);
    tl_par_gather(out.v, out.n, &in);
    tl_bytes_free(&out);
    if (tl_par_proc() == 0) {
        while (in.at < in.n)
            take_proc(&in, &all);
        judge(&all, analyse, tables);
    }
    tl_bytes_free(&in);
    phasing_free(&all);
}
