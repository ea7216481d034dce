/* top.c - of which work does the job gain most if it takes less time?
 *
 * Names are tried in the order of their time on the rank that has most of it: what the job gains by one is rarely more
 * than that rank would.  The search ends where even that would not be among the first.
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tl_whatif_of_labels[] = { TL_WHATIF_OF_VALUES(TL_VALUE_LABEL) NULL };
TL_TABLE_DEFINE(whatif_top, TL_WHATIF_TOP_FIELDS, TL_SCOPE_JOB, "what the job gains by work that takes less time",
                "Which kernel or operator should be made faster?");

/* Work of one name. */
typedef struct candidate {
    char *name;
    tl_whatif_of of;
    int64_t most_ns; /* on the rank that has most */
    int64_t rank_ns; /* on the rank in hand */
    tl_selected_work selected;
    int64_t gain_ns;
} candidate;

typedef TL_VEC(candidate) candidates;

/* Adds work of the rank in hand to that of its name, which is used up. */
static void add_work(candidates *all, tl_map *number_of, tl_whatif_of of, char *name, int64_t ns)
{
    uint64_t key = tl_hash_mix(tl_hash_bytes(name, strlen(name)), of);
    uint32_t number = tl_map_get(number_of, key);
    if (number == TL_MAP_NONE && *name != '\0') {
        number = (uint32_t)all->n;
        tl_map_put(number_of, key, number);
        tl_vec_push(all, (candidate){ .name = tl_strndup(name, strlen(name)), .of = of });
    }
    free(name);
    if (number < all->n && all->v != NULL)
        all->v[number].rank_ns = tl_ns_add(all->v[number].rank_ns, ns);
}

static void list_work(const tl_changed_job *job, candidates *all)
{
    tl_map number_of = { 0 };
    tl_asked asked;
    tl_whatif_begin(job, TL_WHATIF_WORK, &asked);
    tl_ask_ranks(job->in->baseline->asker, TL_ASK_WHATIF, &asked);
    for (size_t r = 0; r < asked.n; r++) {
        while (asked.out[r].at < asked.out[r].n) {
            int64_t ns;
            char *kernel = NULL, *operator_name = NULL;
            size_t n;
            tl_bytes_get(&asked.out[r], &ns, sizeof ns);
            tl_bytes_get_list(&asked.out[r], (void **)&kernel, &n, 1);
            tl_bytes_get_list(&asked.out[r], (void **)&operator_name, &n, 1);
            add_work(all, &number_of, TL_WHATIF_OF_KERNEL, kernel, ns);
            add_work(all, &number_of, TL_WHATIF_OF_OPERATOR, operator_name, ns);
        }
        TL_EACH (candidate, c, *all) {
            c->most_ns = tl_ns_max(c->most_ns, c->rank_ns);
            c->rank_ns = 0;
        }
    }
    tl_asked_free(&asked);
    tl_map_free(&number_of);
}

/* Finds the candidate's gain. */
static void try(tl_changed_job *job, candidate *c)
{
    static const char *const keys[] = { "name", "operator" };
    size_t n = strlen(c->name) + sizeof "operator=";
    char *text = tl_malloc(n);
    snprintf(text, n, "%s=%s", keys[c->of], c->name);
    int64_t time_ns =
        tl_whatif_replay(job, &(tl_whatif_change){ .text = text, .sort = TL_WHATIF_FASTER }, 1, &c->selected);
    c->gain_ns = job->in->end_ns - job->in->start_ns - time_ns;
    free(text);
}

static int by_most(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    int order = TL_COMPARE(y->most_ns, x->most_ns);
    order = order != 0 ? order : TL_COMPARE(x->of, y->of);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static int by_gain(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    int order = TL_COMPARE(y->gain_ns, x->gain_ns);
    return order != 0 ? order : by_most(a, b);
}

void tl_whatif_find_top(tl_changed_job *job, tl_table *out)
{
    const size_t top = (size_t)job->in->options->top;
    const int64_t job_ns = job->in->end_ns - job->in->start_ns;
    candidates all = { 0 };
    list_work(job, &all);
    tl_vec_sort(&all, by_most);
    int64_t *largest = tl_calloc((all.n < top ? all.n : top) + 1, sizeof *largest); /* gains, in order */
    size_t n = 0, tried = 0;
    for (; tried < all.n; tried++) {
        candidate *c = &all.v[tried];
        if (n == top && c->most_ns / 100 * TL_WHATIF_FASTER_PERCENT <= largest[n - 1])
            break;
        try(job, c);
        size_t at = n < top ? n++ : top - 1;
        for (; at > 0 && largest[at - 1] < c->gain_ns; at--)
            largest[at] = largest[at - 1];
        largest[at] = tl_ns_max(largest[at], c->gain_ns);
    }
    if (tried > 1)
        qsort(all.v, tried, sizeof *all.v, by_gain);
    for (size_t i = 0; i < tried && i < top && all.v[i].gain_ns > 0; i++) {
        const candidate *c = &all.v[i];
        tl_whatif_top *row = tl_table_add(out);
        *row = (tl_whatif_top){ .place = (int32_t)i + 1,
                                .of = (uint8_t)c->of,
                                .pieces = c->selected.pieces,
                                .total_ns = c->selected.own_ns,
                                .gain_ns = c->gain_ns,
                                .percent_ns = (double)c->gain_ns / TL_WHATIF_FASTER_PERCENT,
                                .share = job_ns > 0 ? (double)c->gain_ns / (double)job_ns : NAN };
        tl_cell_text(row->name, sizeof row->name, c->name, strlen(c->name));
    }
    TL_EACH (candidate, c, all)
        free(c->name);
    free(all.v);
    free(largest);
}
