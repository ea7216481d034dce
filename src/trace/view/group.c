/* group.c - who the members of process groups are.
 *
 * Names of groups repeat and may count per process, so a group is known by its members.  These are, in this order:
 *
 *     "Process Group Ranks", where the text is whole:     "[0, 1, 2, 3]"
 *     pg_config of distributedInfo, by the group's name:  PyTorch cuts longer texts: "[0, 1, ..., 29, ...]"
 *     start, stride and size, where they agree with what the text shows
 *     all ranks of the job, where the group has as many
 *
 * Where none of these holds, what is shown stands for the whole, with the size and the name.
 */
#include "group.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/view.h"
#include <stdlib.h>
#include <string.h>

/* What a hostile trace may make us keep, and look at, for all groups together. */
#define MEMBERS_MAX ((size_t)4 << 20)
#define WORK_MAX    ((size_t)64 << 20)

typedef TL_VEC(int32_t) rank_list;

static void add_rank(rank_list *list, int64_t rank)
{
    if (rank < 0 || rank > INT32_MAX)
        return;
    tl_vec_room(list);
    list->v[list->n++] = (int32_t)rank;
}

/* "[0, 1, 2]"; *whole: nothing in it is left out. */
static bool read_ranks(tl_text t, rank_list *list, bool *whole)
{
    tl_text item;

    *whole = true;
    while (tl_text_next(&t, &item)) {
        int64_t rank;
        if (!tl_decimal_to_int(item.p, item.n, &rank)) {
            *whole = false;
        } else {
            if (list->n >= MEMBERS_MAX)
                return list->n >= MEMBERS_MAX;
            add_rank(list, rank);
        }
    }
    *whole = *whole && list->n > 0;
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return TL_COMPARE(*x, *y);
}

/* Ascending, each rank once. */
static void sort_ranks(rank_list *list)
{
    size_t kept = 0;
    if (list->n == 0)
        return;
    qsort(list->v, list->n, sizeof *list->v, by_rank);
    for (size_t i = 1; i < list->n; i++)
        if (list->v[i] != list->v[kept])
            list->v[++kept] = list->v[i];
    list->n = kept + 1;
}

static bool has_rank(const rank_list *list, int32_t rank)
{
    return list->n > 0 && bsearch(&rank, list->v, list->n, sizeof rank, by_rank) != NULL;
}

/* Whether each of the sorted `shown` is in the sorted list. */
static bool agrees(const rank_list *list, const rank_list *shown)
{
    for (size_t i = 0; i < shown->n; i++)
        if (!has_rank(list, shown->v[i]))
            return false;
    return true;
}

/* The members that pg_config lists under the name, if it is as many as there should be. */
static void configured(const tl_group_book *book, const tl_group_words *w, const rank_list *shown, rank_list *out)
{
    tl_text name = tl_names_text(book->names, w->name);

    out->n = 0;
    for (size_t g = 0; w->name != TL_NO_NAME && g < book->meta->groups.n; g++) {
        const tl_pg_config *config = &book->meta->groups.v[g];
        if (config->name == NULL || !tl_text_is(name, config->name) || config->nranks == 0)
            continue;
        out->n = 0;
        for (size_t i = 0; i < config->nranks; i++)
            add_rank(out, config->ranks[i]);
        sort_ranks(out);
        if ((w->size < 0 || (size_t)w->size == out->n) && agrees(out, shown))
            return;
        out->n = 0;
    }
}

/* n ranks from `start` on. */
static void progression(int64_t start, int64_t stride, int64_t n, const rank_list *shown, rank_list *out)
{
    int64_t last;

    out->n = 0;
    if (start < 0 || stride <= 0 || n <= 0 || (uint64_t)n > MEMBERS_MAX ||
        __builtin_mul_overflow(n - 1, stride, &last) || last > INT32_MAX - start)
        return;
    for (int64_t i = 0; i < n; i++)
        add_rank(out, start + i * stride);
    if (!agrees(out, shown))
        out->n = 0;
}

/* Whether the book may look at the entries that one more group needs (WORK_MAX in all); counts them. */
static bool may_work(tl_group_book *book, const tl_group_words *w)
{
    size_t n = w->size > 0 && (uint64_t)w->size <= MEMBERS_MAX ? (size_t)w->size : 0;
    book->work += book->meta->groups.n + n;
    return book->work <= WORK_MAX;
}

/* Fills *members, and *whole where these are all. */
static bool resolve(tl_group_book *book, const tl_group_words *w, rank_list *members, bool *whole)
{
    rank_list shown = { 0 };
    bool fine = read_ranks(tl_names_text(book->names, w->ranks), &shown, whole);

    sort_ranks(&shown);
    *whole = *whole && (w->size < 0 || (size_t)w->size == shown.n);
    if (fine && !*whole && may_work(book, w)) {
        configured(book, w, &shown, members);
        if (members->n == 0)
            progression(w->rank_start, w->rank_stride, w->size, &shown, members);
        if (members->n == 0 && w->size == book->meta->world_size)
            progression(0, 1, w->size, &shown, members);
        *whole = members->n > 0;
    }
    if (!fine || members->n > 0) {
        free(shown.v);
        return fine;
    }
    free(members->v);
    *members = shown;
    return true;
}

static uint64_t key_of_members(const rank_list *members)
{
    uint64_t key = tl_hash_mix(0, members->n);
    for (size_t i = 0; i < members->n; i++)
        key = tl_hash_mix(key, (uint64_t)members->v[i]);
    return key;
}

static uint64_t text_key(const tl_names *names, uint32_t id)
{
    tl_text t = tl_names_text(names, id);
    return tl_hash_bytes(t.p, t.n);
}

/* The group of these members, a new one if it is new; one name each, for two groups of the same ranks count apart. */
static uint32_t enter(tl_group_book *book, const tl_group_words *w, rank_list *members, bool whole)
{
    uint64_t key = key_of_members(members);
    if (!whole)
        key = tl_hash_mix(tl_hash_mix(key, (uint64_t)w->size), text_key(book->names, w->name));
    uint64_t place = tl_hash_mix(key, w->name);
    for (;; place++) {
        uint32_t i = tl_map_get(&book->by_members, place);
        if (i == TL_MAP_NONE)
            break;
        if (book->groups.v[i].members_key == key && book->groups.v[i].name == w->name)
            return i;
    }
    tl_vec_room(&book->groups);
    tl_map_put(&book->by_members, place, (uint32_t)book->groups.n);
    int64_t size = whole ? (int64_t)members->n : w->size;
    bool keep = book->nranks + members->n <= MEMBERS_MAX;
    book->groups.v[book->groups.n] = (tl_group){
        .members_key = key,
        .name = w->name,
        .desc = w->desc,
        .size = size >= 0 && size <= INT32_MAX ? (int32_t)size : -1,
        .complete = whole && keep,
        .members = keep ? members->v : NULL,
        .nmembers = keep ? members->n : 0,
    };
    book->nranks += keep ? members->n : 0;
    if (keep)
        *members = (rank_list){ 0 };
    return (uint32_t)book->groups.n++;
}

uint32_t tl_group_find(tl_group_book *book, const tl_group_words *w, bool *no_memory)
{
    rank_list members = { 0 };
    bool whole = false;

    if (w->ranks == TL_NO_NAME && w->name == TL_NO_NAME)
        return TL_NONE;
    uint64_t key =
        tl_hash_mix(tl_hash_mix(w->name, w->ranks),
                    tl_hash_mix(tl_hash_mix((uint64_t)w->size, (uint64_t)w->rank_start), (uint64_t)w->rank_stride));
    for (;; key++) { /* different words of equal hash: the next key */
        uint32_t i = tl_map_get(&book->by_words, key);
        if (i == TL_MAP_NONE)
            break;
        const tl_group_words *known = &book->known.v[i].words;
        if (known->name == w->name && known->ranks == w->ranks && known->size == w->size &&
            known->rank_start == w->rank_start && known->rank_stride == w->rank_stride)
            return book->known.v[i].group;
    }
    bool fine = resolve(book, w, &members, &whole);
    if (fine) {
        tl_vec_room(&book->known);
        tl_map_put(&book->by_words, key, (uint32_t)book->known.n);
    }
    uint32_t group = fine ? enter(book, w, &members, whole) : TL_NONE;
    if (fine)
        book->known.v[book->known.n++] = (struct tl_known_words){ *w, group };
    else
        *no_memory = true;
    free(members.v);
    return group;
}

uint32_t tl_group_of_ranks(tl_group_book *book, const int32_t *ranks, size_t n, bool *no_memory)
{
    static const tl_group_words nothing = { TL_NO_NAME, TL_NO_NAME, TL_NO_NAME, -1, -1, -1 };
    rank_list members = { 0 };
    uint32_t group = TL_NONE;

    for (size_t i = 0; i < n && !*no_memory; i++) {
        add_rank(&members, ranks[i]);
        *no_memory = false;
    }
    if (!*no_memory)
        group = enter(book, &nothing, &members, true);
    free(members.v);
    return group;
}

void tl_groups_free(tl_group *groups, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((void *)groups[i].members);
    free(groups);
}

void tl_group_book_free(tl_group_book *book)
{
    tl_groups_free(book->groups.v, book->groups.n);
    free(book->known.v);
    tl_map_free(&book->by_words);
    tl_map_free(&book->by_members);
    *book = (tl_group_book){ 0 };
}
