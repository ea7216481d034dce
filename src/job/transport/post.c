/* post.c - a proc's side of post.h. */
#include "tlmpi/job/transport/post.h"
#include "desk.h"
#include "event_tables.h"
#include "tlmpi/job/transport/letters.h"
#include "parcel.h"
#include "tlmpi/job/call/exit.h"
#include "tlmpi/par/par.h"
#include <stdio.h>
#include <stdlib.h>

void tl_post_give_up(void)
{
    fprintf(stderr, "tlmpi: memory is out, or a message between procs is broken\n");
    tl_par_abort(TL_EXIT_FAULT);
}

void tl_post_open(tl_post *post, tl_desk *desk)
{
    *post = (tl_post){ .desk = desk };
    if (desk != NULL)
        tl_desk_mail(desk, &post->mail);
}

void tl_post_tick(void *post)
{
    tl_post *p = post;
    if (p->desk != NULL)
        tl_desk_serve(p->desk);
}

void tl_post_send(tl_post *post, int to, int tag, const void *bytes, size_t n)
{
    if (to == 0 && post->desk != NULL)
        tl_desk_take(post->desk, 0, tag, bytes, n);
    else
        tl_par_send(to, tag, bytes, n, tl_post_tick, post);
}

/* Takes in what has come, on proc 0 through the desk; whether there was anything. */
static bool collect(tl_post *post)
{
    tl_message m;
    bool any = false;

    if (post->desk != NULL)
        return tl_desk_serve(post->desk);
    while (tl_par_probe(&m)) {
        void *bytes = tl_malloc(m.n + 1);
        if (bytes != NULL)
            tl_par_take(&m, bytes);
        if (bytes == NULL || !tl_mail_put(&post->mail, m.from, m.tag, bytes, m.n))
            tl_post_give_up();
        free(bytes);
        any = true;
    }
    return any;
}

tl_mail_letter tl_post_await(tl_post *post, int from, int tag)
{
    tl_mail_letter letter;
    unsigned spins = 0;

    while (!tl_mail_take(&post->mail, from, tag, &letter)) {
        if (collect(post))
            spins = 0;
        else
            tl_par_nap(&spins);
    }
    return letter;
}

tl_task tl_post_next(tl_post *post)
{
    tl_task task = { .item = -1 };

    tl_post_send(post, 0, TL_LETTER_NEXT, NULL, 0);
    tl_mail_letter answer = tl_post_await(post, 0, TL_LETTER_ITEM);
    if (!tl_letter_get(&answer.letter, &task, sizeof task))
        task.item = -1;
    free(answer.letter.v);
    return task;
}

/* ---------------------------------------------------------------------------------------------------------- counts */

/* The names that the rows use, in order of first use. */
typedef struct used_names {
    uint32_t *place;            /* local id -> place in the letter, TL_NO_NAME when unused; later -> row in /names */
    uint32_t *order;            /* place -> local id */
    uint32_t n;
} used_names;

static bool collect_names(const tl_tables *tables, const tl_names *names, used_names *used)
{
    used->place = tl_malloc((names->n + 1) * sizeof *used->place);
    used->order = tl_malloc((names->n + 1) * sizeof *used->order);
    if (used->place == NULL || used->order == NULL)
        return false;
    for (size_t i = 0; i <= names->n; i++)
        used->place[i] = TL_NO_NAME;
    for (size_t t = 0; t < tables->n; t++) {
        const tl_table *table = &tables->v[t];
        if (table->schema->scope != TL_SCOPE_EVENT)
            continue;
        for (size_t f = 0; f < table->schema->nfields; f++) {
            const tl_field *field = &table->schema->fields[f];
            for (size_t i = 0; field->type == TL_TYPE_NAME && i < table->n; i++) {
                uint32_t id;
                memcpy(&id, (const char *)tl_table_row(table, i) + field->offset, sizeof id);
                if (id != TL_NO_NAME && used->place[id] == TL_NO_NAME) {
                    used->order[used->n] = id;
                    used->place[id] = used->n++;
                }
            }
        }
    }
    return true;
}

static bool write_counts(int64_t item, const tl_rank_result *result, const tl_table *const *tables, size_t ntables,
                         const used_names *used, tl_letter *out)
{
    tl_counts_head head = { item, result->first_ns, result->rank, (uint32_t)ntables, used->n, 0 };
    bool whole = tl_letter_put(out, &head, sizeof head);
    for (size_t t = 0; whole && t < ntables; t++) {
        uint64_t rows = tables[t]->n;
        whole = tl_letter_put(out, &rows, sizeof rows);
    }
    for (uint32_t i = 0; whole && i < used->n; i++) {
        tl_text text = tl_names_text(&result->names, used->order[i]);
        uint32_t n = (uint32_t)text.n;
        whole = tl_letter_put(out, &n, sizeof n) && tl_letter_put(out, text.p, text.n);
    }
    return whole;
}

tl_status tl_post_deliver(tl_post *post, int64_t item, tl_rank_result *result, tl_error *err)
{
    const tl_schema *schemas[TL_EVENT_TABLES_MAX];
    tl_table *tables[TL_EVENT_TABLES_MAX];
    size_t ntables = tl_event_tables(schemas);
    used_names used = { 0 };
    tl_parcel room = { 0 };
    tl_letter counts = { 0 };
    tl_place_head place = { 0 };
    uint64_t first[TL_EVENT_TABLES_MAX] = { 0 };

    for (size_t t = 0; t < ntables; t++)
        tables[t] = tl_tables_get(&result->tables, schemas[t]);
    /* Whatever can fail does so before the rows are announced: the desk counts on them. */
    bool whole = tl_parcel_make(&room, schemas, ntables) && collect_names(&result->tables, &result->names, &used) &&
                 write_counts(item, result, (const tl_table *const *)tables, ntables, &used, &counts);
    if (!whole) {
        /* The desk waits for this trace's turn: it must hear of it, if only that it has no rows. */
        tl_counts_head none = { item, TL_TIME_UNKNOWN, result->rank, (uint32_t)ntables, 0, 0 };
        char letter[sizeof none + sizeof first] = { 0 };
        memcpy(letter, &none, sizeof none);
        tl_post_send(post, 0, TL_LETTER_COUNTS, letter, sizeof none + ntables * sizeof *first);
    } else {
        tl_post_send(post, 0, TL_LETTER_COUNTS, counts.v, counts.n);
    }
    tl_letter answer = tl_post_await(post, 0, TL_LETTER_PLACE).letter;
    bool understood = tl_letter_get(&answer, &place, sizeof place) &&
                      tl_letter_get(&answer, first, ntables * sizeof *first) &&
                      answer.n - answer.at == (whole ? used.n : 0) * sizeof(uint32_t);
    if (whole && understood && place.wanted) {
        for (uint32_t i = 0; i < used.n; i++)
            memcpy(&used.place[used.order[i]], answer.v + answer.at + i * sizeof(uint32_t), sizeof(uint32_t));
        for (size_t t = 0; t < ntables; t++) {
            const tl_parcel_terms terms = { (uint32_t)t, first[t], place.epoch_ns, used.place };
            tl_parcel_send(post, tables[t], &terms, &room);
        }
    }
    for (size_t t = 0; t < ntables; t++)
        tl_table_free(tables[t]);
    free(used.place);
    free(used.order);
    tl_parcel_free(&room);
    free(counts.v);
    free(answer.v);
    return whole && understood ? TL_OK : tl_fail_memory(err, "the rows of a rank");
}
