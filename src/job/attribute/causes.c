/* causes.c - the question about the suspects to all procs, and their answers to proc 0. */
#include "causes.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

/* One message for all of it: how many there are of each, and then they. */
static bool pack(const tl_asking *a, int32_t **message, size_t *n)
{
    const struct {
        const int32_t *v;
        size_t n;
    } lists[] = { { a->ranks, a->nranks }, { a->steps, a->nsteps }, { a->others, a->nothers } };

    *n = 3;
    *message = tl_malloc((3 + a->nranks + a->nsteps + a->nothers) * sizeof **message);
    for (size_t i = 0; *message != NULL && i < 3; i++) {
        (*message)[i] = (int32_t)lists[i].n;
        if (lists[i].n > 0)
            memcpy(*message + *n, lists[i].v, lists[i].n * sizeof **message);
        *n += lists[i].n;
    }
    return *message != NULL;
}

/* Collective: what proc 0 asks, if its status is TL_OK, is known to all. */
static tl_status share(tl_asking *a, tl_status st, tl_error *err)
{
    int32_t *message = NULL;
    size_t n = 0;

    if (st == TL_OK && tl_par_proc() == 0 && !pack(a, &message, &n))
        st = tl_fail_memory(err, "the suspects");
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = tl_par_share((void **)&message, &n, sizeof *message, err);
    if (st != TL_OK) {
        free(message);
        return st;
    }
    tl_asking_free(a);
    a->told = message;
    a->nranks = (size_t)message[0];
    a->nsteps = (size_t)message[1];
    a->nothers = (size_t)message[2];
    a->ranks = message + 3;
    a->steps = a->ranks + a->nranks;
    a->others = a->steps + a->nsteps;
    return TL_OK;
}

/* Collective: the cause of one suspect, on proc 0, which alone has its row. */
static tl_status find_one(const tl_details *details, const tl_rank_runs *runs, const tl_asking *a,
                          const tl_straggler *row, tl_cause_found *found, tl_error *err)
{
    tl_cause_row *rows = NULL, *all = NULL;
    size_t n = 0, nall = 0;
    bool ok = tl_asking_answer(details, runs, a, &rows, &n);
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "what the suspects did"), err);

    if (st == TL_OK)
        st = tl_collect_rows(rows, n, sizeof *rows, (void **)&all, &nall, NULL, err);
    if (st == TL_OK && row != NULL &&
        !tl_cause_find(all, nall, a->ranks[0], a->nranks - 1 + a->nothers, (tl_cause)row->cause, found))
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
        st = tl_par_share((void **)&asked, &n, sizeof *asked, err);
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
    uint32_t *suspects = NULL, *number_of_place = NULL;
    size_t n = 0;
    bool ok = tl_rank_runs_list(details, &runs);

    if (ok && stragglers != NULL) {
        ok = tl_suspects_list(stragglers, &suspects, &n);
        number_of_place = tl_malloc((n + 1) * sizeof *number_of_place);
    }
    ok = ok && (stragglers == NULL || number_of_place != NULL);
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the suspects"), err);
    tl_par_bcast(&n, sizeof n);
    for (size_t i = 0; st == TL_OK && i < n; i++) {
        tl_asking a = { 0 };
        tl_cause_found found = { 0 };
        tl_straggler *row = suspects != NULL ? tl_table_row(stragglers, suspects[i]) : NULL;
        if (row != NULL && !tl_asking_make(input, tables, row, &a))
            st = tl_fail_memory(err, "the suspects");
        st = share(&a, st, err);
        if (st == TL_OK)
            st = find_one(details, &runs, &a, row, &found, err);
        if (st == TL_OK && row != NULL && number_of_place != NULL) {
            row->cause = (uint8_t)found.cause;
            row->largest_cause = found.cause != TL_CAUSE_MIXED ? row->cause : row->largest_cause;
            ok = ok && number_of(&known, &places, found.place, &number_of_place[i]);
        }
        tl_asking_free(&a);
    }
    if (st == TL_OK)
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the places of causes"), err);
    if (st == TL_OK && n > 0)
        st = name_places(details, places.v, places.n, err);
    for (size_t i = 0; st == TL_OK && suspects != NULL && number_of_place != NULL && i < n; i++) {
        tl_straggler *row = tl_table_row(stragglers, suspects[i]);
        memcpy(row->place, places.v[number_of_place[i]].text, sizeof row->place);
    }
    tl_map_free(&known);
    free(places.v);
    free(runs.v);
    free(suspects);
    free(number_of_place);
    return st;
}
