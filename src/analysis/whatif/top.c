/* top.c - which work should take less time for the job to gain most?
 *
 * Names are tried in the order of their time on the rank that has most of it: the job rarely gains more by a name than
 * that rank would.  The search ends at the first name whose gain on that rank would not be among the largest.
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tl_whatif_of_labels[] = { TL_WHATIF_OF_VALUES(TL_VALUE_LABEL) NULL };
TL_TABLE_DEFINE(whatif_top, TL_WHATIF_TOP_FIELDS, TL_SCOPE_JOB, "what the job gains by work that takes less time",
                "Which kernel or operator should be made faster?");

/* Work of one name. */
typedef struct candidate {
    char *name;
    uint8_t of;      /* tl_whatif_of */
    int64_t most_ns; /* its time on the rank that has most of it */
    int64_t rank_ns; /* its time on the rank that is being read */
    int64_t gain_ns;
    tl_selected_work selected;
} candidate;

typedef TL_VEC(candidate) candidates;

static candidate *candidate_of(candidates *all, tl_map *number_of, uint8_t of, const char *name)
{
    uint64_t key = tl_hash_mix(tl_hash_bytes(name, strlen(name)), of);
    uint32_t number = tl_map_get(number_of, key);
    if (number == TL_MAP_NONE) {
        number = (uint32_t)all->n;
        tl_map_put(number_of, key, number);
        tl_vec_push(all, (candidate){ .name = tl_strndup(name, strlen(name)), .of = of });
    }
    return &all->v[number];
}

static void list_work(const tl_changed_job *job, candidates *all)
{
    tl_map number_of = { 0 };
    tl_asked asked;
    tl_whatif_ask(job->in, TL_WHATIF_WORK, NULL, 0, &asked);
    for (size_t r = 0; r < asked.n; r++) {
        tl_bytes *in = &asked.out[r];
        while (in->at < in->n) {
            uint8_t of;
            int64_t ns;
            tl_bytes_get(in, &of, sizeof of);
            tl_bytes_get(in, &ns, sizeof ns);
            const char *name = in->v + in->at;
            tl_bytes_skip(in, strlen(name) + 1);
            if (*name == '\0')
                continue;
            candidate *c = candidate_of(all, &number_of, of, name);
            c->rank_ns = tl_ns_add(c->rank_ns, ns);
        }
        TL_EACH (candidate, c, *all) {
            c->most_ns = tl_ns_max(c->most_ns, c->rank_ns);
            c->rank_ns = 0;
        }
    }
    tl_asked_free(&asked);
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

/* gain_ns is 0 until it is known: then by most_ns. */
static int by_gain(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    int order = TL_COMPARE(y->gain_ns, x->gain_ns);
    order = order != 0 ? order : TL_COMPARE(y->most_ns, x->most_ns);
    order = order != 0 ? order : TL_COMPARE(x->of, y->of);
    return order != 0 ? order : strcmp(x->name, y->name);
}

void tl_whatif_find_top(tl_changed_job *job, size_t top, tl_table *out)
{
    const int64_t job_ns = job->in->end_ns - job->in->start_ns;
    candidates all = { 0 };
    list_work(job, &all);
    tl_vec_sort(&all, by_gain);
    for (size_t tried = 0; tried < all.n; tried++) {
        candidate c = all.v[tried];
        if (tried >= top && c.most_ns / 100 * TL_WHATIF_FASTER_PERCENT <= all.v[top - 1].gain_ns)
            break;
        find_gain(job, &c);
        size_t at = tried; /* those before it are in order */
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
    TL_EACH (candidate, c, all)
        free(c->name);
    free(all.v);
}
