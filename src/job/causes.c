/* causes.c - see causes.h. */
#include "causes.h"
#include "asking.h"
#include "share.h"
#include "tlmpi/analysis/cause.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

/* All stragglers are asked for; of others that stand out only so many as make up this number. */
enum { SUSPECTS = 8, PEERS_MOST = 64 };

/* Fewer steps than so many tell little of what is usual: then other stages do. */
enum { OTHERS_LEAST = 3 };

/* ---------------------------------------------------------------------------------------------------------- proc 0 */

static bool is_straggler(const tl_straggler *row)
{
    return row->verdict == TL_VERDICT_STRAGGLER;
}

/* Stragglers first. */
static int by_suspicion(const void *rows, uint32_t a, uint32_t b)
{
    const tl_straggler *r = rows;
    if (is_straggler(&r[a]) != is_straggler(&r[b]))
        return is_straggler(&r[a]) ? -1 : 1;
    return (r[a].blame_ns < r[b].blame_ns) - (r[a].blame_ns > r[b].blame_ns);
}

/* Rows of the suspects in the table of stragglers; *suspects is the caller's to free. */
static bool list_suspects(const tl_table *stragglers, uint32_t **suspects, size_t *n)
{
    uint32_t *order = tl_malloc((stragglers->n + 1) * sizeof *order);
    size_t m = 0, named = 0;

    *n = 0;
    *suspects = order;
    if (order == NULL)
        return false;
    for (uint32_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        named += is_straggler(row);
        if (is_straggler(row) || row->pattern != TL_PATTERN_NONE)
            order[m++] = i;
    }
    if (!tl_sort_index(order, m, by_suspicion, stragglers->rows))
        return false;
    size_t most = named > SUSPECTS ? named : SUSPECTS;
    *n = m < most ? m : most;
    return true;
}

static int32_t role_of(const tl_cause_input *in, int32_t rank)
{
    size_t r = tl_index_of(in->ranks, in->nranks, rank);
    return r < in->nranks ? in->roles[r] : -1;
}

/* Ranks of its role, or of any; others that are stragglers themselves only where there is nobody else.  With one that
 * is told by steps only those are compared that are. */
static size_t list_peers(const tl_cause_input *in, const tl_table *stragglers, const tl_straggler *suspect, bool any,
                         int32_t *peers)
{
    int32_t role = role_of(in, suspect->rank);
    size_t n = 0;
    for (int with_stragglers = 0; n == 0 && with_stragglers < 2; with_stragglers++)
        for (size_t i = 0; i < stragglers->n; i++) {
            const tl_straggler *row = tl_table_row(stragglers, i);
            if (suspect->steps_from == TL_STEPS_MARKED && row->steps_from != TL_STEPS_MARKED)
                continue;
            if (row->rank != suspect->rank && (with_stragglers || !is_straggler(row)) &&
                (any || role_of(in, row->rank) == role))
                peers[n++] = row->rank;
        }
    if (n <= PEERS_MOST)
        return n;
    for (size_t i = 0; i < PEERS_MOST; i++)
        peers[i] = peers[i * n / PEERS_MOST];
    return PEERS_MOST;
}

/* The rows of one rank in the table of steps: [first, *end). */
static size_t steps_of(const tl_table *steps, int32_t rank, size_t *end)
{
    size_t first = tl_table_from_rank(steps, rank);
    for (*end = first; *end < steps->n && ((const tl_blame_step *)tl_table_row(steps, *end))->rank == rank; ++*end)
        ;
    return first;
}

/* Where none of its own is flagged, those in which the ranks stand out that it is late with, or all. */
static bool in_window(const tl_straggler *row, const tl_blame_step *step)
{
    return row->pattern == TL_PATTERN_NONE || (step->step >= row->first_step && step->step <= row->last_step);
}

/* Its flagged steps, or its window; without peers the others, or else all ranks.  *lost_ns: the wall time that they
 * lost. */
static bool ask(const tl_cause_input *in, tl_tables *tables, const tl_straggler *row, tl_asking *a, int64_t *lost_ns)
{
    const tl_table *steps = tl_tables_get(tables, &tl_blame_step_schema),
                   *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    size_t end, first = steps_of(steps, row->rank, &end);
    a->ranks = tl_malloc((stragglers->n + 1) * sizeof *a->ranks);
    a->steps = tl_malloc((end - first + 1) * sizeof *a->steps);
    a->others = tl_malloc((end - first + 1) * sizeof *a->others);
    if (a->ranks == NULL || a->steps == NULL || a->others == NULL)
        return false;
    a->ranks[0] = row->rank;
    a->nranks = 1 + list_peers(in, stragglers, row, false, a->ranks + 1);
    *lost_ns = 0;
    for (int flagged = 1; a->nsteps == 0 && flagged >= 0; flagged--)
        for (size_t i = first; i < end; i++) {
            const tl_blame_step *step = tl_table_row(steps, i);
            if (!(flagged ? step->flagged : in_window(row, step)))
                continue;
            a->steps[a->nsteps++] = step->step;
            *lost_ns += step->wall_ns;
        }
    for (size_t i = first; a->nranks == 1 && i < end && a->nothers < PEERS_MOST; i++) {
        const tl_blame_step *step = tl_table_row(steps, i);
        if (!step->flagged && row->pattern != TL_PATTERN_NONE)
            a->others[a->nothers++] = step->step;
    }
    if (row->steps_from != TL_STEPS_MARKED) { /* what it did is told by marks alone: all of it together */
        a->steps[0] = TL_ALL_STEPS;
        a->nsteps = 1;
        a->nothers = 0;
    }
    if (a->nranks == 1 && a->nothers < OTHERS_LEAST) {
        a->nothers = 0;
        a->nranks = 1 + list_peers(in, stragglers, row, true, a->ranks + 1);
    }
    return true;
}

/* Charges may count one delay several times, in collectives that follow upon one another; but not that often. */
static const int64_t charged_most = 20;

/* What its repair gains; 0, not known, where others hide that: the suspects together, or all hosts if none were late,
 * gain twice as much. */
static int64_t gain_of(tl_tables *tables, const tl_straggler *row)
{
    if (row->gain_ns < 0)
        return 0;
    const tl_table *whatif = tl_tables_get(tables, &tl_whatif_row_schema);
    for (size_t i = 0; i < whatif->n; i++) {
        const tl_whatif_row *of = tl_table_row(whatif, i);
        bool others =
            of->scenario == TL_SCENARIO_SUSPECTS || (of->scenario == TL_SCENARIO_CAUSE && of->cause == TL_PART_HOST);
        if (others && of->gain_ns / 2 >= row->gain_ns)
            return 0;
    }
    return row->gain_ns;
}

/* What it has more than its peers is the cause, if that is most of what they waited for it. */
static void take(const tl_cause_found *found, int64_t lost_ns, tl_straggler *row)
{
    int64_t cost_ns = found->awaited_ns > 0 && found->awaited_ns < lost_ns ? found->awaited_ns : lost_ns;
    if (!found->found || row->cause == TL_CAUSE_SLOW_LINK || found->ns < cost_ns / 2 ||
        found->ns < lost_ns / charged_most)
        return;
    row->cause = (uint8_t)found->cause;
    row->cause_share = found->share;
    row->cause_from = TL_CAUSE_FROM_PEERS;
}

/* ------------------------------------------------------------------------------------------------------------- all */

/* Collective: the cause of one suspect, on proc 0, which alone knows what its repair gains. */
static tl_status find_one(const tl_details *details, const tl_rank_runs *runs, const tl_asking *a, int64_t gain_ns,
                          tl_cause_found *found, tl_error *err)
{
    tl_cause_row *rows = NULL, *all = NULL;
    size_t n = 0, nall = 0;
    bool whole = tl_asking_answer(details, runs, a, &rows, &n);
    tl_status st = tl_par_agree(whole ? TL_OK : tl_fail_memory(err, "what the suspects did"), err);

    if (st == TL_OK)
        st = tl_collect_rows(rows, n, sizeof *rows, (void **)&all, &nall, NULL, err);
    if (st == TL_OK && tl_par_proc() == 0 &&
        !tl_cause_find(all, nall, a->ranks[0], a->nranks - 1 + a->nothers, gain_ns, found))
        st = tl_fail_memory(err, "what the suspects did");
    free(rows);
    free(all);
    return tl_par_agree(st, err);
}

/* The text of a place, from any proc that knows it. */
typedef struct place_text {
    uint64_t key;
    char text[sizeof((tl_straggler *)0)->place];
} place_text;

typedef TL_VEC(place_text) place_list;

/* Collective: places[n] on proc 0 have keys, and get texts. */
static tl_status name_places(const tl_details *details, place_text *places, size_t n, tl_error *err)
{
    place_text *asked = NULL, *told = NULL;
    size_t ntold = 0;
    tl_status st = TL_OK;

    if (tl_par_proc() == 0) {
        asked = tl_malloc((n + 1) * sizeof *asked);
        if (asked != NULL && n > 0)
            memcpy(asked, places, n * sizeof *asked);
        st = asked != NULL ? TL_OK : tl_fail_memory(err, "the places of causes");
    }
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = tl_share_rows((void **)&asked, &n, sizeof *asked, err);
    for (size_t i = 0; st == TL_OK && i < n; i++) {
        uint32_t id = asked[i].key != 0 ? tl_map_get(&details->names.map, asked[i].key) : TL_MAP_NONE;
        if (id == TL_MAP_NONE)
            continue;
        tl_text text = tl_names_text(&details->names, id);
        text.n = text.n < sizeof asked[i].text ? text.n : sizeof asked[i].text;
        memcpy(asked[i].text, text.p, tl_text_utf8(text));
    }
    if (st == TL_OK)
        st = tl_collect_rows(asked, n, sizeof *asked, (void **)&told, &ntold, NULL, err);
    /* Proc by proc, the n of each. */
    for (size_t i = 0; st == TL_OK && told != NULL && places != NULL && n > 0 && i < ntold; i++)
        if (places[i % n].text[0] == 0)
            memcpy(places[i % n].text, told[i].text, sizeof told[i].text);
    free(asked);
    free(told);
    return st;
}

/* The number of the key among those of the places that have been told. */
static bool number_of(tl_map *known, place_list *places, uint64_t key, uint32_t *number)
{
    *number = tl_map_get(known, key);
    if (*number != TL_MAP_NONE)
        return true;
    if (!tl_vec_room(places) || tl_map_put(known, key, (uint32_t)places->n) != 0)
        return false;
    *number = (uint32_t)places->n;
    places->v[places->n++] = (place_text){ .key = key };
    return true;
}

tl_status tl_causes_find(const tl_details *details, const tl_cause_input *input, tl_tables *tables, tl_error *err)
{
    tl_table *stragglers = tl_par_proc() == 0 ? tl_tables_get(tables, &tl_straggler_schema) : NULL;
    place_list places = { 0 };
    tl_rank_runs runs = { 0 };
    tl_map known = { 0 };
    uint32_t *suspects = NULL, *place_of = NULL;
    size_t n = 0;
    bool whole = tl_rank_runs_list(details, &runs);

    if (whole && stragglers != NULL) {
        whole = list_suspects(stragglers, &suspects, &n);
        place_of = tl_malloc((n + 1) * sizeof *place_of);
    }
    whole = whole && (stragglers == NULL || place_of != NULL);
    tl_status st = tl_par_agree(whole ? TL_OK : tl_fail_memory(err, "the suspects"), err);
    tl_par_bcast(&n, sizeof n);
    for (size_t i = 0; st == TL_OK && i < n; i++) {
        tl_asking a = { 0 };
        tl_cause_found found = { 0 };
        int64_t lost_ns = 0;
        tl_straggler *row = suspects != NULL ? tl_table_row(stragglers, suspects[i]) : NULL;
        if (row != NULL && !ask(input, tables, row, &a, &lost_ns))
            st = tl_fail_memory(err, "the suspects");
        st = tl_asking_share(&a, st, err);
        if (st == TL_OK)
            st = find_one(details, &runs, &a, row != NULL ? gain_of(tables, row) : 0, &found, err);
        if (st == TL_OK && row != NULL && place_of != NULL) {
            take(&found, lost_ns, row);
            whole = whole && number_of(&known, &places, row->cause == found.cause ? found.place : 0, &place_of[i]);
        }
        tl_asking_free(&a);
    }
    if (st == TL_OK)
        st = tl_par_agree(whole ? TL_OK : tl_fail_memory(err, "the places of causes"), err);
    if (st == TL_OK && n > 0)
        st = name_places(details, places.v, places.n, err);
    for (size_t i = 0; st == TL_OK && suspects != NULL && place_of != NULL && i < n; i++) {
        tl_straggler *row = tl_table_row(stragglers, suspects[i]);
        memcpy(row->place, places.v[place_of[i]].text, sizeof row->place);
    }
    tl_map_free(&known);
    free(places.v);
    free(runs.v);
    free(suspects);
    free(place_of);
    return st;
}
