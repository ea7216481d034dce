/* group.c - finds the members of process groups.
 *
 * Names of groups repeat, and may count per process, so a group is identified by its members.  Sources of the members,
 * by precedence:
 *
 *     "Process Group Ranks", where the text is whole:     "[0, 1, 2, 3]"
 *     pg_config of distributedInfo, by the group's name:  PyTorch cuts longer texts: "[0, 1, ..., 29, ...]"
 *     start, stride and size, where they agree with what the text shows
 *     all ranks of the job, where the group has as many
 *
 * If none of these applies, the ranks that the text shows stand for the group, with its size and name.
 */
#include "internal.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/hash.h"

/* Limits against malicious traces: members kept, and entries looked at, over all groups. */
#define MEMBERS_MAX ((size_t)4 << 20)
#define WORK_MAX    ((size_t)64 << 20)

typedef TL_VEC(int32_t) rank_list;

static void add_rank(rank_list *list, int64_t rank)
{
    if (rank < 0 || rank > INT32_MAX)
        return;
    tl_vec_push(list, (int32_t)rank);
}

/* Sorts the ranks, ascending, and removes duplicates. */
static void sort_ranks(rank_list *list)
{
    size_t kept = 0;
    tl_int_sort(list->v, list->n);
    for (size_t i = 0; i < list->n; i++)
        if (i == 0 || list->v[i] != list->v[kept - 1])
            list->v[kept++] = list->v[i];
    list->n = kept;
}

/* Returns the ranks of a text "[0, 1, 2]", ascending; *whole: the text leaves nothing out. */
static rank_list read_ranks(tl_text t, bool *whole)
{
    rank_list list = { 0 };
    tl_text item;
    int64_t rank;

    *whole = true;
    while (list.n < MEMBERS_MAX && tl_text_next(&t, &item)) {
        if (tl_decimal_to_int(item.p, item.n, &rank))
            add_rank(&list, rank);
        else
            *whole = false;
    }
    *whole = *whole && list.n > 0;
    sort_ranks(&list);
    return list;
}

/* Whether each rank of `shown` is in the list; both are ascending. */
static bool contains_all(const rank_list *list, const rank_list *shown)
{
    for (size_t i = 0; i < shown->n; i++)
        if (tl_index_of(list->v, list->n, shown->v[i]) == list->n)
            return false;
    return true;
}

/* Fills *out with the members that pg_config lists under the group's name, if their number is right. */
static void fill_from_config(const tl_group_book *book, const tl_group_words *w, const rank_list *shown, rank_list *out)
{
    tl_text name = tl_names_text(book->names, w->name);

    for (size_t g = 0; w->name != TL_NO_NAME && out->n == 0 && g < book->meta->groups.n; g++) {
        const tl_pg_config *config = &book->meta->groups.v[g];
        if (config->name == NULL || !tl_text_is(name, config->name))
            continue;
        for (size_t i = 0; i < config->nranks; i++)
            add_rank(out, config->ranks[i]);
        sort_ranks(out);
        if ((w->size >= 0 && (size_t)w->size != out->n) || !contains_all(out, shown))
            out->n = 0;
    }
}

/* Fills *out with n ranks from `start` on, `stride` apart, if they agree with `shown`. */
static void fill_progression(int64_t start, int64_t stride, int64_t n, const rank_list *shown, rank_list *out)
{
    int64_t last;

    if (start < 0 || stride <= 0 || n <= 0 || (uint64_t)n > MEMBERS_MAX ||
        __builtin_mul_overflow(n - 1, stride, &last) || last > INT32_MAX - start)
        return;
    for (int64_t i = 0; i < n; i++)
        add_rank(out, start + i * stride);
    if (!contains_all(out, shown))
        out->n = 0;
}

/* Returns the known members; *whole: these are all members. */
static rank_list members_of(tl_group_book *book, const tl_group_words *w, bool *whole)
{
    rank_list shown = read_ranks(tl_names_text(book->names, w->ranks), whole), members = { 0 };

    *whole = *whole && (w->size < 0 || (size_t)w->size == shown.n);
    if (*whole)
        return shown;
    book->work += book->meta->groups.n + (w->size > 0 && (uint64_t)w->size <= MEMBERS_MAX ? (size_t)w->size : 0);
    if (book->work <= WORK_MAX) {
        fill_from_config(book, w, &shown, &members);
        if (members.n == 0)
            fill_progression(w->rank_start, w->rank_stride, w->size, &shown, &members);
        if (members.n == 0 && w->size == book->meta->world_size)
            fill_progression(0, 1, w->size, &shown, &members);
    }
    *whole = members.n > 0;
    free(*whole ? shown.v : members.v);
    return *whole ? members : shown;
}

/* Returns the group with these members and this name, adding it if it is new: two groups of the same ranks are
 * distinct.  Takes over the members. */
static uint32_t group_number(tl_group_book *book, const tl_group_words *w, rank_list members, bool whole)
{
    uint64_t key = tl_hash_mix(0, members.n);

    for (size_t i = 0; i < members.n; i++)
        key = tl_hash_mix(key, (uint64_t)members.v[i]);
    if (!whole) {
        tl_text name = tl_names_text(book->names, w->name);
        key = tl_hash_mix(tl_hash_mix(key, (uint64_t)w->size), tl_hash_bytes(name.p, name.n));
    }
    uint64_t slot = tl_hash_mix(key, w->name);
    for (uint32_t i; (i = tl_map_get(&book->by_members, slot)) != TL_MAP_NONE; slot++)
        if (book->groups.v[i].members_key == key && book->groups.v[i].name == w->name) {
            free(members.v);
            return i;
        }
    int64_t size = whole ? (int64_t)members.n : w->size;
    bool keep = book->nranks + members.n <= MEMBERS_MAX;
    tl_vec_room(&book->groups);
    tl_map_put(&book->by_members, slot, (uint32_t)book->groups.n);
    book->groups.v[book->groups.n] = (tl_group){
        .members_key = key,
        .name = w->name,
        .desc = w->desc,
        .size = tl_small_int(size),
        .complete = whole && keep,
        .members = keep ? tl_arena_move(book->arena, members.v, members.n, sizeof *members.v) : NULL,
        .nmembers = keep ? members.n : 0,
    };
    book->nranks += keep ? members.n : 0;
    if (!keep)
        free(members.v);
    return (uint32_t)book->groups.n++;
}

uint32_t tl_group_find(tl_group_book *book, const tl_group_words *w)
{
    if (w->ranks == TL_NO_NAME && w->name == TL_NO_NAME)
        return TL_NONE;
    uint64_t key =
        tl_hash_mix(tl_hash_mix(w->name, w->ranks),
                    tl_hash_mix(tl_hash_mix((uint64_t)w->size, (uint64_t)w->rank_start), (uint64_t)w->rank_stride));
    for (uint32_t i; (i = tl_map_get(&book->by_words, key)) != TL_MAP_NONE; key++) {
        const tl_group_words *known = &book->known.v[i].words; /* different words with equal hash have the next key */
        if (TL_ORDER(known, w, name, ranks, size, rank_start, rank_stride) == 0)
            return book->known.v[i].group;
    }
    bool whole;
    rank_list members = members_of(book, w, &whole);
    uint32_t group = group_number(book, w, members, whole);
    tl_vec_room(&book->known);
    tl_map_put(&book->by_words, key, (uint32_t)book->known.n);
    book->known.v[book->known.n++] = (struct tl_known_words){ *w, group };
    return group;
}

uint32_t tl_group_of_two(tl_group_book *book, int32_t a, int32_t b)
{
    static const tl_group_words nothing = { TL_NO_NAME, TL_NO_NAME, TL_NO_NAME, -1, -1, -1 };
    rank_list members = { 0 };

    add_rank(&members, a < b ? a : b);
    add_rank(&members, a < b ? b : a);
    return group_number(book, &nothing, members, true);
}

void tl_group_book_free(tl_group_book *book)
{
    free(book->known.v);
    tl_map_free(&book->by_words);
    tl_map_free(&book->by_members);
    *book = (tl_group_book){ 0 };
}
