/* attribute.c - delay costs and verdicts on proc 0, from the rows of all procs.  Then, for each suspect, proc 0 asks
 * the procs that have read the suspect and its peers for the work in the steps in which the suspect stands out: work
 * that takes longer than at the peers is the cause. */
#include "tlmpi/analysis/verdict/cause.h"
#include "tlmpi/analysis/verdict/stragglers.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/job/attribute.h"
#include "tlmpi/job/transport/ask.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

/* Packs the three lists into one message: their lengths, then their members. */
static void pack(const tl_asking *a, int32_t **message, size_t *n)
{
    const struct {
        const int32_t *v;
        size_t n;
    } lists[] = { { a->ranks, a->nranks }, { a->steps, a->nsteps }, { a->others, a->nothers } };

    *n = 3;
    *message = tl_malloc((3 + a->nranks + a->nsteps + a->nothers) * sizeof **message);
    for (size_t i = 0; i < 3; i++) {
        (*message)[i] = (int32_t)lists[i].n;
        if (lists[i].n > 0)
            memcpy(*message + *n, lists[i].v, lists[i].n * sizeof **message);
        *n += lists[i].n;
    }
}

/* Collective: sends what proc 0 asks to all procs, if its status is TL_OK. */
static tl_status share(tl_asking *a, tl_status st, tl_error *err)
{
    int32_t *message = NULL;
    size_t n = 0;

    if (st == TL_OK && tl_par_proc() == 0)
        pack(a, &message, &n);
    st = tl_par_agree(st, err);
    if (st != TL_OK) {
        free(message);
        return st;
    }
    tl_par_share((void **)&message, &n, sizeof *message);
    int64_t least_ns = a->least_ns;
    tl_against against = a->against;
    tl_asking_free(a);
    a->least_ns = least_ns;
    a->against = against;
    a->told = message;
    a->nranks = (size_t)message[0];
    a->nsteps = (size_t)message[1];
    a->nothers = (size_t)message[2];
    a->ranks = message + 3;
    a->steps = a->ranks + a->nranks;
    a->others = a->steps + a->nsteps;
    return TL_OK;
}

/* Collective: finds the cause of one suspect, on proc 0, which alone has its row. */
static void find_one(const tl_work_by_name *work_by_name, const tl_rank_runs *runs, const tl_asking *a,
                     const tl_straggler *row, tl_cause_found *found)
{
    tl_cause_row *rows = NULL, *all = NULL;
    size_t n = 0, nall = 0;
    tl_asking_answer(work_by_name, runs, a, &rows, &n);

    tl_collect_rows(rows, n, sizeof *rows, (void **)&all, &nall);
    if (row != NULL) {
        const tl_cause_question q = { a->ranks[0], a->nranks - 1 + a->nothers, (tl_cause)row->cause, a->least_ns };
        tl_cause_find(all, nall, &q, found);
        found->against = a->against;
        for (size_t i = 0; i < found->ndominant; i++) { /* per step */
            found->dominant[i].own_ns /= (int64_t)a->nsteps;
            found->dominant[i].peers_ns /= (int64_t)a->nsteps;
        }
    }
    free(rows);
    free(all);
}

/* A name's key and text; the text may come from any proc that has the name. */
typedef struct name_text {
    uint64_t key;
    char text[sizeof((tl_straggler *)0)->place];
} name_text;

typedef TL_VEC(name_text) name_list;

/* Collective: fills in the texts of names[n], which have keys on proc 0. */
static void fill_names(const tl_work_by_name *work_by_name, name_text *names, size_t n)
{
    name_text *asked = NULL, *told = NULL;
    size_t ntold = 0;

    if (tl_par_proc() == 0) {
        asked = tl_malloc((n + 1) * sizeof *asked);
        if (n > 0)
            memcpy(asked, names, n * sizeof *asked);
    }
    tl_par_share((void **)&asked, &n, sizeof *asked);
    for (size_t i = 0; i < n; i++) {
        uint32_t id = asked[i].key != 0 ? tl_map_get(&work_by_name->names.map, asked[i].key) : TL_MAP_NONE;
        if (id == TL_MAP_NONE || tl_is_step_mark(&work_by_name->names, true, id)) /* the mark of a step is no work */
            continue;
        tl_text text = tl_names_text(&work_by_name->names, id);
        text.n = text.n < sizeof asked[i].text ? text.n : sizeof asked[i].text;
        memcpy(asked[i].text, text.p, tl_text_utf8(text));
    }
    tl_collect_rows(asked, n, sizeof *asked, (void **)&told, &ntold);
    /* appended proc by proc, n from each */
    for (size_t i = 0; told != NULL && names != NULL && n > 0 && i < ntold; i++)
        if (names[i % n].text[0] == 0)
            memcpy(names[i % n].text, told[i].text, sizeof told[i].text);
    free(asked);
    free(told);
}

/* Adds the key to the list of names, unless it is known. */
static void add_name(tl_map *known, name_list *names, uint64_t key)
{
    if (key == 0 || tl_map_get(known, key) != TL_MAP_NONE)
        return;
    tl_vec_room(names);
    tl_map_put(known, key, (uint32_t)names->n);
    names->v[names->n++] = (name_text){ .key = key };
}

static void add_names(tl_map *known, name_list *names, const tl_cause_found *found)
{
    add_name(known, names, found->dominant_work);
    for (size_t i = 0; i < found->ndominant; i++)
        add_name(known, names, found->dominant[i].name);
}

/* Returns the text of a key that was added; empty if no proc knows the key, or for key 0. */
static const char *text_of(const tl_map *known, const name_list *names, uint64_t key)
{
    static const char none[sizeof names->v->text] = { 0 };
    uint32_t at = key != 0 ? tl_map_get(known, key) : TL_MAP_NONE;
    return at != TL_MAP_NONE ? names->v[at].text : none;
}

/* Writes what was found of one suspect into its row and the table excess. */
static void put_found(tl_tables *tables, tl_straggler *row, const tl_cause_found *found, const tl_map *known,
                      const name_list *names)
{
    row->cause = (uint8_t)found->cause;
    row->largest_cause = found->cause != TL_CAUSE_MIXED ? row->cause : row->largest_cause;
    memcpy(row->place, text_of(known, names, found->dominant_work), sizeof row->place);
    for (size_t i = 0; i < found->ndominant; i++) {
        const tl_dominant_work *p = &found->dominant[i];
        tl_excess_row excess = { .rank = row->rank,
                                 .order = (int32_t)i,
                                 .of = p->host ? TL_EXCESS_HOST : TL_EXCESS_WORK,
                                 .own_ns = p->own_ns,
                                 .peers_ns = p->peers_ns,
                                 .against = (uint8_t)found->against };
        memcpy(excess.place, text_of(known, names, p->name), sizeof excess.place);
        tl_table_append(tl_tables_get(tables, &tl_excess_row_schema), &excess, 1);
    }
}

/* Collective: finds the cause of each suspect; on proc 0, which alone has `suspects`, found[i] is that of
 * suspects[i]. */
static tl_status find_all(const tl_work_by_name *work_by_name, const tl_cause_input *input, tl_tables *tables,
                          const uint32_t *suspects, size_t n, tl_cause_found *found, tl_error *err)
{
    tl_table *stragglers = suspects != NULL ? tl_tables_get(tables, &tl_straggler_schema) : NULL;
    tl_rank_runs runs = { 0 };
    tl_rank_runs_list(work_by_name, &runs);
    tl_status st = TL_OK;

    for (size_t i = 0; st == TL_OK && i < n; i++) {
        tl_asking a = { 0 };
        const tl_straggler *row = suspects != NULL ? tl_table_row(stragglers, suspects[i]) : NULL;
        if (row != NULL)
            tl_asking_make(input, tables, row, &a);
        st = share(&a, st, err);
        if (st == TL_OK)
            find_one(work_by_name, &runs, &a, row, row != NULL ? &found[i] : NULL);
        tl_asking_free(&a);
    }
    free(runs.v);
    return st;
}

/* Collective.  work_by_name: of the ranks that this proc has read.  On proc 0 the table straggler receives causes,
 * their shares and dominant work, for all ranks that the verdict names and for others that stand out, until there are
 * 8.  Suspects are examined one after the other, each against 64 peers at most.  The same status and message on every
 * proc. */
static tl_status find_causes(const tl_work_by_name *work_by_name, const tl_cause_input *input, tl_tables *tables,
                             tl_error *err)
{
    tl_table *stragglers = tl_par_proc() == 0 ? tl_tables_get(tables, &tl_straggler_schema) : NULL;
    name_list names = { 0 };
    tl_map known = { 0 };
    uint32_t *suspects = NULL;
    tl_cause_found *found = NULL;
    size_t n = 0;

    if (stragglers != NULL) {
        tl_suspects_list(stragglers, &suspects, &n);
        found = tl_calloc(n + 1, sizeof *found);
    }
    tl_par_bcast(&n, sizeof n);
    tl_status st = find_all(work_by_name, input, tables, suspects, n, found, err);
    for (size_t i = 0; st == TL_OK && found != NULL && i < n; i++)
        add_names(&known, &names, &found[i]);
    if (st == TL_OK && n > 0)
        fill_names(work_by_name, names.v, names.n);
    for (size_t i = 0; st == TL_OK && suspects != NULL && found != NULL && i < n; i++)
        put_found(tables, tl_table_row(stragglers, suspects[i]), &found[i], &known, &names);
    tl_map_free(&known);
    free(names.v);
    free(suspects);
    free(found);
    return st;
}

/* Proc 0 judges, with graphs that it requests from the other procs.  Frees the rows. */
static tl_status judge(const tl_attribution *own, tl_late_row *rows, size_t nrows, const tl_rank_graphs *heads,
                       tl_rank_server *server, tl_tables *tables, tl_judged *judged, tl_error *err)
{
    tl_rank_procs procs = tl_rank_procs_find(server);
    tl_status st = TL_OK;
    if (tl_par_proc() == 0) {
        const tl_job_basis basis = { heads, tl_procs_asker(&procs), own->judge, own->whatif };
        st = tl_job_judge(rows, nrows, &basis, tables, judged, err);
        rows = NULL;
        tl_ask_nothing();
    } else {
        tl_answer_questions(&procs);
    }
    free(rows);
    free(procs.v);
    return tl_par_agree(st, err);
}

tl_status tl_attribute(const tl_attribution *own, tl_tables *tables, tl_error *err)
{
    tl_rank_graphs heads = { 0 };
    tl_rank_server server = { 0 };
    tl_judged judged = { 0 };
    void *all = NULL;
    size_t nall = 0;

    tl_collect_rows(own->rows->v, own->rows->n, sizeof *own->rows->v, &all, &nall);
    free(own->rows->v);
    *own->rows = (tl_late_rows){ 0 };
    tl_graph_heads_collect(own->graphs, &heads);
    tl_rank_server_take(own->graphs, &server);
    tl_status st = judge(own, all, nall, &heads, &server, tables, &judged, err);
    tl_rank_graphs_free(&heads);
    tl_rank_server_free(&server);
    if (st == TL_OK)
        st = find_causes(own->work_by_name,
                         &(tl_cause_input){ judged.ranks, judged.roles, judged.nranks, own->judge.least_cost }, tables,
                         err);
    if (st == TL_OK && tl_par_proc() == 0)
        tl_verdict_finish(tables);
    st = tl_par_agree(st, err);
    tl_judged_free(&judged);
    return st;
}
