/* top.c - which work should take less time for the job to gain most?
 *
 * With some work shorter, the job is still at least as long as its recorded critical path with that work shorter: a
 * name gains at most its gain on the path.  Names are tried by time on the path, until the next cannot gain enough.
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/model/parameters.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TL_LABELS_DEFINE(whatif_of, TL_WHATIF_OF_VALUES);
TL_TABLE_DEFINE(whatif_top, TL_WHATIF_TOP_FIELDS, TL_SCOPE_JOB, "what the job gains by work that takes less time",
                "Which kernel or operator should be made faster?");

/* Work of one name. */
typedef struct candidate {
    const char *name; /* of tl_whatif_input.names */
    uint8_t of;       /* tl_whatif_of */
    int64_t path_ns;  /* its time on the job's critical path; rounded up for each piece */
    int64_t gain_ns;
    tl_selected_work selected;
} candidate;

typedef TL_VEC(candidate) candidates;

static candidate *candidate_of(candidates *all, tl_map *number_of, uint8_t of, uint32_t id, const char *name)
{
    uint32_t number = tl_map_number(number_of, (uint64_t)id << 1 | of, all->n);
    if (number == all->n)
        tl_vec_push(all, (candidate){ .name = name, .of = of });
    return &all->v[number];
}

/* Lists the kernels and operators on the path, except work without time on the path: with time stamps of whole
 * microseconds, the next work may begin before it ends. */
static void list_candidates(const tl_rank_path *path, const tl_names *names, candidates *all)
{
    tl_map number_of = { 0 };
    for (size_t i = 0; i < path->nnames; i++) {
        const tl_path_piece *piece = &path->pieces[i];
        const uint64_t keys[] = { path->names[i].name, path->names[i].operator};
        bool is_work =
            piece->bound == TL_BOUND_COMPUTE || piece->bound == TL_BOUND_COMM || piece->bound == TL_BOUND_COPY;
        for (uint8_t of = TL_WHATIF_OF_KERNEL; of <= TL_WHATIF_OF_OPERATOR && is_work; of++) {
            uint32_t id = tl_map_get(&names->map, keys[of]);
            if (keys[of] != 0 && id != TL_MAP_NONE)
                candidate_of(all, &number_of, of, id, tl_names_text(names, id).p)->path_ns +=
                    piece->end_ns - piece->start_ns + TL_ROUNDING_NS;
        }
    }
    tl_map_free(&number_of);
}

static void find_gain(tl_changed_job *job, candidate *c)
{
    static const char *const keys[] = { "name", "operator" };
    size_t n = strlen(c->name) + sizeof "operator=";
    char *text = tl_malloc(n);
    snprintf(text, n, "%s=%s", keys[c->of], c->name);
    const tl_whatif_change change = { .text = text, .sort = TL_WHATIF_FASTER };
    c->gain_ns = job->in->end_ns - job->in->start_ns - tl_whatif_replay(job, &change, 1, &c->selected);
    free(text);
}

/* By gain_ns, 0 until it is known, then by path_ns; both descending. */
static int by_gain(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    int order = TL_ORDER(x, y, DOWN(gain_ns), DOWN(path_ns), of);
    return order != 0 ? order : strcmp(x->name, y->name);
}

void tl_whatif_find_top(tl_changed_job *job, size_t top, const tl_rank_path *path, tl_table *out)
{
    const int64_t job_ns = job->in->end_ns - job->in->start_ns;
    candidates all = { 0 };
    list_candidates(path, job->in->names, &all);
    tl_vec_sort(&all, by_gain);
    for (size_t tried = 0; tried < all.n; tried++) {
        candidate c = all.v[tried];
        if (tried >= top && c.path_ns / 100 * TL_WHATIF_FASTER_PERCENT <= all.v[top - 1].gain_ns)
            break;
        find_gain(job, &c);
        size_t at = tried; /* candidates before `tried` are sorted */
        for (; at > 0 && by_gain(&c, &all.v[at - 1]) < 0; at--)
            all.v[at] = all.v[at - 1];
        all.v[at] = c;
    }
    for (size_t i = 0; i < all.n && i < top && all.v[i].gain_ns > 0; i++) {
        const candidate *c = &all.v[i];
        tl_whatif_top *row = tl_table_add(out);
        *row = (tl_whatif_top){ .place = (int32_t)i + 1,
                                .of = c->of,
                                .pieces = c->selected.pieces,
                                .total_ns = c->selected.own_ns,
                                .gain_ns = c->gain_ns,
                                .percent_ns = (double)c->gain_ns / TL_WHATIF_FASTER_PERCENT,
                                .share = job_ns > 0 ? (double)c->gain_ns / (double)job_ns : NAN };
        tl_cell_text(row->name, sizeof row->name, c->name, strlen(c->name));
    }
    free(all.v);
}
