/* causes.c - see causes.h. */
#include "causes.h"
#include "share.h"
#include "tlmpi/analysis/cause.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

enum { SUSPECTS_MOST = 8, PEERS_MOST = 64 };

/* Fewer steps than so many tell little of what is usual: then other stages do. */
enum { OTHERS_LEAST = 3 };

/* In place of the steps that are asked for: all there are, and what is in none. */
enum { ALL_STEPS = INT32_MIN };

/* One suspect, as proc 0 asks for it. */
typedef struct asking {
    int32_t *ranks; /* the suspect, and its peers */
    int32_t *steps;
    int32_t *others; /* of a suspect that has no peers: its other steps, each of which stands for one */
    size_t nranks, nsteps, nothers;
} asking;

static void asking_free(asking *a)
{
    free(a->ranks);
    free(a->steps);
    free(a->others);
}

/* ---------------------------------------------------------------------------------------------------------- proc 0 */

static bool is_straggler(const tl_straggler *row)
{
    return row->verdict == TL_VERDICT_STRAGGLER;
}

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
    size_t m = 0;

    *n = 0;
    *suspects = order;
    if (order == NULL)
        return false;
    for (uint32_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        if (is_straggler(row) || row->pattern != TL_PATTERN_NONE)
            order[m++] = i;
    }
    if (!tl_sort_index(order, m, by_suspicion, stragglers->rows))
        return false;
    *n = m < SUSPECTS_MOST ? m : SUSPECTS_MOST;
    return true;
}

static int32_t role_of(const tl_cause_input *in, int32_t rank)
{
    for (size_t i = 0; i < in->nranks; i++)
        if (in->ranks[i] == rank)
            return in->roles[i];
    return -1;
}

/* Ranks of its role, or of any; others that are stragglers themselves only where there is nobody else.  With one that is
 * told by steps only those are compared that are. */
static size_t list_peers(const tl_cause_input *in, const tl_table *stragglers, const tl_straggler *suspect, bool any,
                         int32_t *peers)
{
    size_t n = 0;
    for (int with_stragglers = 0; n == 0 && with_stragglers < 2; with_stragglers++)
        for (size_t i = 0; i < stragglers->n; i++) {
            const tl_straggler *row = tl_table_row(stragglers, i);
            if (suspect->steps_from == TL_STEPS_MARKED && row->steps_from != TL_STEPS_MARKED)
                continue;
            if (row->rank != suspect->rank && (with_stragglers || !is_straggler(row)) &&
                (any || role_of(in, row->rank) == role_of(in, suspect->rank)))
                peers[n++] = row->rank;
        }
    if (n <= PEERS_MOST)
        return n;
    for (size_t i = 0; i < PEERS_MOST; i++)
        peers[i] = peers[i * n / PEERS_MOST];
    return PEERS_MOST;
}

/* Its flagged steps; all where none is; without peers the others, or else all ranks.  *lost_ns: the wall time that they
 * lost. */
static bool ask(const tl_cause_input *in, tl_tables *tables, const tl_straggler *row, asking *a, int64_t *lost_ns)
{
    const tl_table *steps = tl_tables_get(tables, &tl_blame_step_schema),
                   *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    a->ranks = tl_malloc((stragglers->n + 1) * sizeof *a->ranks);
    a->steps = tl_malloc((steps->n + 1) * sizeof *a->steps);
    a->others = tl_malloc((steps->n + 1) * sizeof *a->others);
    if (a->ranks == NULL || a->steps == NULL || a->others == NULL)
        return false;
    a->ranks[0] = row->rank;
    a->nranks = 1 + list_peers(in, stragglers, row, false, a->ranks + 1);
    *lost_ns = 0;
    for (int flagged = 1; a->nsteps == 0 && flagged >= 0; flagged--)
        for (size_t i = 0; i < steps->n; i++) {
            const tl_blame_step *step = tl_table_row(steps, i);
            if (step->rank != row->rank || step->flagged < flagged)
                continue;
            a->steps[a->nsteps++] = step->step;
            *lost_ns += step->wall_ns;
        }
    for (size_t i = 0; a->nranks == 1 && i < steps->n && a->nothers < PEERS_MOST; i++) {
        const tl_blame_step *step = tl_table_row(steps, i);
        if (step->rank == row->rank && !step->flagged && row->pattern != TL_PATTERN_NONE)
            a->others[a->nothers++] = step->step;
    }
    if (row->steps_from != TL_STEPS_MARKED) { /* what it did is told by marks alone: all of it together */
        a->steps[0] = ALL_STEPS;
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

static bool put_all(tl_map *map, const int32_t *numbers, size_t n)
{
    bool whole = true;
    for (size_t i = 0; whole && i < n; i++)
        whole = tl_map_put(map, (uint64_t)(int64_t)numbers[i], 1) == 0;
    return whole;
}

/* What stands for a rank's other step: no rank has such a number. */
static int32_t number_of_other(uint32_t place)
{
    return -2 - (int32_t)place;
}

/* The detail's rank among those asked for, or what stands for its step; INT32_MIN where nobody has asked. */
static int32_t asked_as(const tl_detail *d, const tl_map *ranks, const tl_map *steps, const tl_map *others)
{
    uint32_t other = tl_map_get(others, (uint64_t)(int64_t)d->step);
    if (tl_map_get(ranks, (uint64_t)(int64_t)d->rank) == TL_MAP_NONE)
        return INT32_MIN;
    if (tl_map_get(steps, (uint64_t)(int64_t)d->step) != TL_MAP_NONE ||
        tl_map_get(steps, (uint64_t)(int64_t)ALL_STEPS) != TL_MAP_NONE)
        return d->rank;
    return other != TL_MAP_NONE ? number_of_other(other) : INT32_MIN;
}

static int64_t times(int64_t x, size_t n)
{
    int64_t product;
    return __builtin_mul_overflow(x, (int64_t)n, &product) ? x : product;
}

/* This proc's rows of what is asked, all steps together; other steps as many times as there are steps. */
static bool answer(const tl_details *details, const asking *a, tl_cause_row **rows, size_t *n)
{
    tl_map ranks = { 0 }, steps = { 0 }, others = { 0 }, places = { 0 };
    TL_VEC(tl_cause_row) found = { 0 };
    bool whole = put_all(&ranks, a->ranks, a->nranks) && put_all(&steps, a->steps, a->nsteps);

    for (uint32_t i = 0; whole && i < a->nothers; i++)
        whole = tl_map_put(&others, (uint64_t)(int64_t)a->others[i], i) == 0;
    for (size_t i = 0; whole && i < details->rows.n; i++) {
        const tl_detail *d = &details->rows.v[i];
        int32_t rank = asked_as(d, &ranks, &steps, &others);
        if (rank == INT32_MIN)
            continue;
        size_t n_times = rank == d->rank ? 1 : a->nsteps;
        uint64_t name = d->kind == TL_DETAIL_PART ? 0 : details->names.v[d->name].key;
        uint64_t key =
            tl_hash_mix(tl_hash_mix((uint64_t)(int64_t)rank, d->kind), d->kind == TL_DETAIL_PART ? d->part : name);
        uint32_t at = tl_map_get(&places, key);
        if (at == TL_MAP_NONE) {
            at = (uint32_t)found.n;
            whole = tl_vec_room(&found) && tl_map_put(&places, key, at) == 0;
            if (whole)
                found.v[found.n++] =
                    (tl_cause_row){ .name = name, .rank = rank, .kind = d->kind, .part = d->part, .frame = d->frame };
        }
        if (whole && found.v != NULL) {
            tl_cause_row *row = &found.v[at];
            row->ns += times(d->ns, n_times);
            row->size += times(d->size, n_times);
            row->count += d->count * (uint32_t)n_times;
            row->depth = d->depth > row->depth ? d->depth : row->depth;
        }
    }
    tl_map_free(&ranks);
    tl_map_free(&steps);
    tl_map_free(&others);
    tl_map_free(&places);
    *rows = found.v;
    *n = found.n;
    return whole;
}

/* Collective: the cause of one suspect, on proc 0, which alone knows what its repair gains. */
static tl_status find_one(const tl_details *details, asking *a, int64_t gain_ns, tl_cause_found *found, tl_error *err)
{
    tl_cause_row *rows = NULL, *all = NULL;
    size_t n = 0, nall = 0;
    tl_status st = tl_share_rows((void **)&a->ranks, &a->nranks, sizeof *a->ranks, err);

    if (st == TL_OK)
        st = tl_share_rows((void **)&a->steps, &a->nsteps, sizeof *a->steps, err);
    if (st == TL_OK)
        st = tl_share_rows((void **)&a->others, &a->nothers, sizeof *a->others, err);
    if (st == TL_OK)
        st = tl_par_agree(answer(details, a, &rows, &n) ? TL_OK : tl_fail_memory(err, "what the suspects did"), err);
    if (st == TL_OK)
        st = tl_collect_rows(rows, n, sizeof *rows, (void **)&all, &nall, NULL, err);
    if (st == TL_OK && tl_par_proc() == 0 && !tl_cause_find(all, nall, a->ranks[0], a->nranks - 1 + a->nothers, gain_ns, found))
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

/* Collective: places[n] on proc 0 have keys, and get texts. */
static tl_status name_places(const tl_details *details, place_text *places, size_t n, tl_error *err)
{
    place_text *asked = NULL, *told = NULL;
    size_t ntold = 0;
    tl_status st = TL_OK;

    if (tl_par_proc() == 0) {
        asked = tl_malloc((n + 1) * sizeof *asked);
        if (asked != NULL)
            memcpy(asked, places, n * sizeof *asked);
        else
            st = tl_fail_memory(err, "the places of causes");
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
    for (size_t i = 0; st == TL_OK && n > 0 && i < ntold; i++) /* proc by proc, the n of each */
        if (places[i % n].text[0] == 0)
            memcpy(places[i % n].text, told[i].text, sizeof told[i].text);
    free(asked);
    free(told);
    return st;
}

tl_status tl_causes_find(const tl_details *details, const tl_cause_input *input, tl_tables *tables, tl_error *err)
{
    tl_table *stragglers = tl_par_proc() == 0 ? tl_tables_get(tables, &tl_straggler_schema) : NULL;
    place_text places[SUSPECTS_MOST] = { { 0 } };
    uint32_t *suspects = NULL;
    size_t n = 0;
    tl_status st = TL_OK;

    if (stragglers != NULL && !list_suspects(stragglers, &suspects, &n))
        st = tl_fail_memory(err, "the suspects");
    st = tl_par_agree(st, err);
    tl_par_bcast(&n, sizeof n);
    for (size_t i = 0; st == TL_OK && i < n; i++) {
        asking a = { 0 };
        tl_cause_found found = { 0 };
        int64_t lost_ns = 0;
        tl_straggler *row = stragglers != NULL ? tl_table_row(stragglers, suspects[i]) : NULL;
        if (row != NULL && !ask(input, tables, row, &a, &lost_ns))
            st = tl_fail_memory(err, "the suspects");
        st = tl_par_agree(st, err);
        if (st == TL_OK)
            st = find_one(details, &a, row != NULL ? gain_of(tables, row) : 0, &found, err);
        if (st == TL_OK && row != NULL) {
            take(&found, lost_ns, row);
            places[i].key = row->cause == found.cause ? found.place : 0;
        }
        asking_free(&a);
    }
    if (st == TL_OK && n > 0)
        st = name_places(details, places, n, err);
    for (size_t i = 0; st == TL_OK && stragglers != NULL && i < n; i++)
        memcpy(((tl_straggler *)tl_table_row(stragglers, suspects[i]))->place, places[i].text, sizeof places[i].text);
    free(suspects);
    return st;
}
