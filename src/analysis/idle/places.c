/* places.c - in which annotations the time of a class of gaps was.
 *
 *     annotation   [forward       ][     ][backward             ]
 *     gaps           |<- a ->|   |<- a ->|      |<- a ->|           class a: forward 11, backward 9, none 5
 *
 * Each instant of a gap counts for the innermost annotation of the thread that counts, or for none.  A gap may be in
 * several, and the longest gap of a class tells little of the others.
 */
#include "scope.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- of one rank */

void tl_idle_places_find(tl_idle_scope *s)
{
    for (size_t i = 0; i < s->k->places.n; i++) {
        size_t gap = s->k->places.v[i].gap - s->first_row; /* of an earlier device: larger than any */
        if (gap < s->ngaps && s->brief[gap].place == TL_NONE)
            s->brief[gap].place = (uint32_t)i;
    }
}

static void tally_gap(tl_idle_scope *s, uint32_t gap)
{
    for (size_t i = s->brief[gap].place; i < s->k->places.n; i++) {
        const tl_idle_place *p = &s->k->places.v[i];
        if (p->gap != s->first_row + gap)
            break;
        tl_idle_tally_add(&s->tally, p->name, 0, p->ns);
    }
}

/* The most time first; of equals what was met first. */
static int by_time(const void *entries, uint32_t a, uint32_t b)
{
    const tl_idle_tally_entry *x = (const tl_idle_tally_entry *)entries + a,
                              *y = (const tl_idle_tally_entry *)entries + b;
    return TL_COMPARE(y->ns, x->ns);
}

static void add_rows(const tl_idle_scope *s, int32_t place)
{
    const tl_idle_tally *tally = &s->tally;
    size_t most = TL_IDLE_ANNOTATIONS_OF_RANK - s->annotations->n;
    uint32_t *order = tl_malloc((tally->n + 1) * sizeof *order);
    tl_idle_number(order, tally->n);
    tl_sort_index(order, tally->n, by_time, tally->v);
    most = most < TL_IDLE_ANNOTATIONS_OF_CLASS ? most : TL_IDLE_ANNOTATIONS_OF_CLASS;
    for (size_t i = 0; i < tally->n && i < most; i++) {
        tl_idle_annotation *row = tl_table_add(s->annotations);
        *row = (tl_idle_annotation){ s->k->view->rank, place, (int32_t)i + 1, tally->v[order[i]].name,
                                     tally->v[order[i]].ns };
    }
    free(order);
}

void tl_idle_say_places(tl_idle_scope *s, const uint32_t *index, size_t n, tl_idle_summary *row)
{
    for (size_t i = 0; i < n; i++)
        tally_gap(s, index[i]);
    if (s->tally.n > 0) {
        const tl_idle_tally_entry *most = tl_idle_tally_largest(&s->tally);
        row->annotation = most->name;
        row->annotation_ns = most->ns;
        if (s->annotations != NULL && row->place != 0)
            add_rows(s, row->place);
    }
    tl_idle_tally_clear(&s->tally);
}

/* --------------------------------------------------------------------------------------------------- of all ranks */

/* By name, which has one number on all ranks once their rows are together. */
static int by_name(const void *a, const void *b)
{
    const tl_idle_annotation *x = *(const tl_idle_annotation *const *)a, *y = *(const tl_idle_annotation *const *)b;
    return TL_COMPARE(x->annotation, y->annotation);
}

/* The rows of a class of one rank: [*first, returned). */
static size_t rows_of(const tl_table *annotations, const tl_idle_summary *class, size_t *first)
{
    const tl_idle_annotation *v = tl_table_row(annotations, 0);
    size_t low = 0, end;
    TL_BISECT(low, annotations->n, i,
              v[i].rank < class->rank || (v[i].rank == class->rank && v[i].place < class->place));
    for (end = *first = low; end < annotations->n && v[end].rank == class->rank && v[end].place == class->place; end++)
        ;
    return end;
}

void tl_idle_say_places_of_job(tl_tables *job, const uint32_t *index, size_t n, tl_idle_summary *row)
{
    const tl_table *summary = tl_tables_get(job, &tl_idle_summary_schema),
                   *annotations = tl_tables_get(job, &tl_idle_annotation_schema);
    TL_VEC(const tl_idle_annotation *) found = { 0 };

    row->annotation = TL_NO_NAME;
    for (size_t i = 0; i < n; i++) {
        size_t first, end = rows_of(annotations, tl_table_row(summary, index[i]), &first);
        for (; first < end; first++) {
            tl_vec_room(&found);
            found.v[found.n++] = tl_table_row(annotations, first);
        }
    }
    if (found.n > 0)
        qsort(found.v, found.n, sizeof *found.v, by_name);
    for (size_t from = 0, to; from < found.n; from = to) {
        int64_t sum = 0;
        for (to = from; to < found.n && found.v[to]->annotation == found.v[from]->annotation; to++)
            sum = tl_ns_add(sum, found.v[to]->total_ns);
        if (sum > row->annotation_ns) {
            row->annotation = found.v[from]->annotation;
            row->annotation_ns = sum;
        }
    }
    free(found.v);
}
