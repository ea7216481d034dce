/* read.c - one file of phases after the other, each proc at every nprocs-th. */
#include "internal.h"
#include "tlmpi/par/par.h"
#include "tlmpi/trace/read/phases.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a rank in the file, or of one of its phases: the current session, and the last step in it. */
typedef struct session {
    uint32_t number;
    int32_t step;
} session;

typedef struct file_reading {
    tl_phasing *p;
    tl_phase_file *row;
    int32_t named_rank; /* what the file's name tells; -1: nothing */
    bool ranked;        /* a record has told its rank */
    TL_VEC(tl_phase_line) lines;
    TL_VEC(session) sessions;
    tl_map session_of;
} file_reading;

/* The index of what the key has. */
static uint32_t place_of(file_reading *f, uint64_t key)
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
    uint32_t of_rank = place_of(f, key), of_phase = place_of(f, tl_hash_mix(key, phase));
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

static void read_file(tl_phasing *p, const char *path, size_t number)
{
    tl_phase_file row = { .file = (int32_t)number, .rank = -1, .first_bad_byte = -1, .replaced_by = -1 };
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

void tl_phase_files_read(const tl_plan *plan, tl_phasing *p)
{
    size_t number = 0;
    for (size_t at = 0; at < plan->phases_bytes; at += strlen(plan->phases + at) + 1, number++)
        if (number % (size_t)tl_par_nprocs() == (size_t)tl_par_proc())
            read_file(p, plan->phases + at, number);
}
