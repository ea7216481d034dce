/* phase.c - phase files: each is read by one proc, and proc 0 judges the phases of all files. */
#include "tlmpi/analysis/verdict/phase.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/phase.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/par/par.h"
#include "tlmpi/trace/read/phases.h"

/* Most phases that are kept; a program has a few. */
enum { PHASES_MOST = 256 };

/* The current session of a rank in a file, or of one of its phases; the last step seen in it. */
typedef struct session {
    uint32_t number;
    int32_t step;
} session;

typedef struct phasing {
    const tl_options *options;
    tl_names names;
    tl_phase_cells cells;
    TL_VEC(tl_side_file) files;
    TL_VEC(tl_phase_line) lines; /* lines of file `number`, which is being read */
    int32_t number;
    TL_VEC(session) sessions;
    tl_map session_of; /* key: hash of file, rank and, for a phase, its name */
} phasing;

/* ---------------------------------------------------------------------------------------------------------- reading */

static uint32_t session_index(phasing *p, uint64_t key)
{
    uint32_t at = tl_map_number(&p->session_of, key, p->sessions.n);
    if (at == p->sessions.n)
        tl_vec_push(&p->sessions, (session){ .step = -1 });
    return at;
}

/* Returns the session of a line.  When the steps of a phase go back, its rank begins a new session.  Each phase is
 * tracked by itself, since a phase may be ahead of another, as copies for the next step are. */
static uint32_t session_of(phasing *p, const tl_phase_line *line)
{
    uint64_t key = tl_hash_mix(tl_hash_mix(0, (uint64_t)p->number), (uint64_t)line->rank);
    uint32_t of_rank = session_index(p, key), of_phase = session_index(p, tl_hash_mix(key, line->phase));
    session *all = &p->sessions.v[of_rank], *own = &p->sessions.v[of_phase];
    all->number += own->number == all->number && line->step < own->step;
    *own = (session){ .number = all->number, .step = line->step };
    return all->number;
}

static void take_record(void *arg, const tl_phase_record *record)
{
    phasing *p = arg;
    uint32_t name = tl_names_intern(&p->names, record->name.p, record->name.n);
    tl_phase_line line = { .rank = record->rank,
                           .step = record->step,
                           .phase = p->names.v[name].key,
                           .duration_ns = record->duration_ns,
                           .line = record->line,
                           .metadata = record->metadata };
    line.session = session_of(p, &line);
    if (tl_ranges_has(&p->options->ranks, line.rank) && tl_ranges_has(&p->options->steps, line.step))
        tl_vec_push(&p->lines, line);
}

static void read_file(phasing *p, const tl_plan_side *side)
{
    tl_side_file row = { .kind = TL_SIDE_PHASES, .file = side->number, .replaced_by = -1 };
    int64_t named = tl_rank_of_name(side->path);
    p->number = side->number;
    p->lines.n = 0;
    tl_cell_path(row.path, sizeof row.path, side->path);
    tl_phases_read(side->path, named <= INT32_MAX ? (int32_t)named : -1, take_record, p, &row);
    tl_phase_fold(p->lines.v, p->lines.n, (uint32_t)side->number, &p->cells, &row.repeated, &row.superseded);
    tl_vec_push(&p->files, row);
}

/* ------------------------------------------------------------------------------------------------------------ names */

typedef struct timed_name {
    tl_text text;
    int64_t ns;
} timed_name;

static int by_text(const void *a, const void *b)
{
    return tl_text_compare(((const timed_name *)a)->text, ((const timed_name *)b)->text);
}

static int by_time(const void *a, const void *b)
{
    int order = TL_ORDER((const timed_name *)b, (const timed_name *)a, ns);
    return order != 0 ? order : by_text(a, b);
}

/* Sorts the names by text, and keeps at most PHASES_MOST, those with most time.  A cell's phase, so far a key, becomes
 * the index of its name; cells of dropped names are dropped. */
static void order_names(phasing *p)
{
    const size_t n = p->names.n, kept = n < PHASES_MOST ? n : PHASES_MOST;
    timed_name *timed = tl_malloc((n + 1) * sizeof *timed);
    tl_names ordered = { 0 };
    size_t ncells = 0;

    for (uint32_t i = 0; i < n; i++)
        timed[i] = (timed_name){ .text = tl_names_text(&p->names, i) };
    TL_EACH (const tl_phase_cell, cell, p->cells) {
        int64_t *ns = &timed[tl_map_get(&p->names.map, cell->phase)].ns;
        *ns = tl_ns_sum(*ns, cell->duration_ns);
    }
    tl_sort(timed, n, sizeof *timed, by_time);
    tl_sort(timed, kept, sizeof *timed, by_text);
    for (size_t i = 0; i < kept; i++)
        (void)tl_names_intern(&ordered, timed[i].text.p, timed[i].text.n);
    TL_EACH (const tl_phase_cell, cell, p->cells) {
        const uint32_t number = tl_map_get(&ordered.map, cell->phase);
        if (number == TL_MAP_NONE) {
            p->files.v[cell->file].left_out += cell->records;
        } else {
            p->cells.v[ncells] = *cell;
            p->cells.v[ncells++].phase = number;
        }
    }
    p->cells.n = ncells;
    if (n > kept)
        tl_warn("%zu names of phases are left out, all but the %d that take most time", n - kept, (int)PHASES_MOST);
    tl_names_free(&p->names);
    p->names = ordered;
    free(timed);
}

TL_SORT_BY(by_number, tl_side_file, file)

void tl_phase_run(const tl_plan *plan, const tl_options *options, bool analyse, tl_tables *tables)
{
    phasing p = { .options = options };

    if (!tl_plan_has(plan, TL_INPUT_PHASES))
        return;
    for (size_t i = 0; i < plan->nsides; i++)
        if (tl_plan_is_mine(&plan->sides[i], TL_INPUT_PHASES))
            read_file(&p, &plan->sides[i]);
    tl_collect_names(&p.names);
    tl_vec_move(&p.cells, tl_to_first, NULL);
    tl_vec_move(&p.files, tl_to_first, NULL);
    if (tl_par_proc() == 0) {
        tl_vec_sort(&p.files, by_number);
        order_names(&p);
        p.cells.n = tl_phase_merge(p.cells.v, p.cells.n, p.files.v);
        tl_table *files = tl_tables_get(tables, &tl_side_file_schema);
        tl_table_append(files, p.files.v, p.files.n);
        tl_table_sort(files);
        if (analyse)
            tl_phases_judge(&p.cells, &p.names, &options->judge, tables);
    }
    tl_names_free(&p.names);
    free(p.cells.v);
    free(p.files.v);
    free(p.lines.v);
    free(p.sessions.v);
    tl_map_free(&p.session_of);
}
