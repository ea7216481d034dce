/* top.c - of which work does the job gain most if it takes less time?
 *
 * Names are tried in the order of their time on the rank that has most of it: what the job gains by one is rarely more
 * than that rank would.  The search ends where even that would not be among the first.
 */
#include "internal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const tl_whatif_of_labels[] = { TL_WHATIF_OF_VALUES(TL_VALUE_LABEL) NULL };
TL_TABLE_DEFINE(whatif_top, TL_WHATIF_TOP_FIELDS, TL_SCOPE_JOB, "what the job gains by work that takes less time",
                "Which kernel or operator should be made faster?");

/* Names that are tried at once: each takes two times of memory for each node of a rank. */
enum { AT_ONCE = 8 };

/* Work of one name. */
typedef struct candidate {
    char *name;
    tl_faster what;
    int64_t pieces, total_ns, most_ns; /* most_ns: on the rank that has most */
    int64_t rank_ns;                   /* on the rank in hand */
    int64_t gain_ns;
} candidate;

typedef struct searching {
    const tl_whatif_input *in;
    TL_VEC(candidate) candidates;
    tl_map number_of; /* by name and tl_whatif_of */
} searching;

/* ----------------------------------------------------------------------------------------------------------- names */

/* Adds work of a rank to that of its name, which is used up. */
static void add_work(searching *s, tl_whatif_of of, char *name, const tl_labelled_work *work)
{
    uint64_t key = tl_hash_bytes(name, strlen(name)), by = tl_hash_mix(key, of);
    uint32_t number = tl_map_get(&s->number_of, by);
    if (number == TL_MAP_NONE && *name != '\0') {
        number = (uint32_t)s->candidates.n;
        tl_map_put(&s->number_of, by, number);
        tl_vec_push(&s->candidates, (candidate){ .name = tl_strndup(name, strlen(name)), .what = { key, of } });
    }
    free(name);
    if (number >= s->candidates.n || s->candidates.v == NULL)
        return;
    candidate *c = &s->candidates.v[number];
    c->pieces += work->pieces;
    c->total_ns = tl_ns_add(c->total_ns, work->total_ns);
    c->rank_ns = tl_ns_add(c->rank_ns, work->total_ns);
}

static void list_work(searching *s)
{
    const uint32_t question = TL_WHATIF_WORK;
    const tl_job_graph *g = s->in->graph;
    tl_asked asked;
    tl_asked_new(g->nranks, &asked);
    for (size_t r = 0; r < asked.n; r++)
        if (tl_job_graph_has(g, r))
            tl_bytes_put(&asked.in[r], &question, sizeof question);
    tl_ask_ranks(s->in->baseline->asker, TL_ASK_WHATIF, &asked);
    for (size_t r = 0; r < asked.n; r++) {
        while (asked.out[r].at < asked.out[r].n) {
            tl_labelled_work work = { 0 };
            char *kernel = NULL, *operator_name = NULL;
            size_t n;
            tl_bytes_get(&asked.out[r], &work, sizeof work);
            tl_bytes_get_list(&asked.out[r], (void **)&kernel, &n, 1);
            tl_bytes_get_list(&asked.out[r], (void **)&operator_name, &n, 1);
            add_work(s, TL_WHATIF_OF_KERNEL, kernel, &work);
            add_work(s, TL_WHATIF_OF_OPERATOR, operator_name, &work);
        }
        TL_EACH (candidate, c, s->candidates) {
            c->most_ns = tl_ns_max(c->most_ns, c->rank_ns);
            c->rank_ns = 0;
        }
    }
    tl_asked_free(&asked);
}

/* ----------------------------------------------------------------------------------------------------------- gains */

/* Finds the gains of n candidates, AT_ONCE at most. */
static void try_candidates(const searching *s, candidate *candidates, size_t n)
{
    const uint32_t question = TL_WHATIF_FASTER;
    const tl_job_graph *g = s->in->graph;
    tl_folded *changed = tl_calloc(g->nranks + 1, sizeof *changed);
    uint8_t *lanes = tl_calloc(g->nranks * n + 1, 1);
    tl_faster which[AT_ONCE];
    tl_job_net net = { 0 };
    tl_asked asked;
    for (size_t i = 0; i < n; i++)
        which[i] = candidates[i].what;
    tl_asked_new(g->nranks, &asked);
    for (size_t r = 0; r < asked.n; r++)
        if (tl_job_graph_has(g, r)) {
            tl_bytes_put(&asked.in[r], &question, sizeof question);
            tl_bytes_put_list(&asked.in[r], which, n, sizeof *which);
        }
    tl_ask_ranks(s->in->baseline->asker, TL_ASK_WHATIF, &asked);
    for (size_t r = 0; r < asked.n; r++)
        if (tl_job_graph_has(g, r)) {
            tl_bytes_get(&asked.out[r], lanes + r * n, n);
            tl_changed_get(&changed[r], &asked.out[r]);
        }
    tl_asked_free(&asked);
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < g->nranks; r++)
            changed[r].lane = lanes[r * n + i];
        tl_job_net_make(s->in->baseline, s->in->folded, changed, &net);
        candidates[i].gain_ns = s->in->end_ns - tl_net_replay(&net.net, net.done_ns);
    }
    for (size_t r = 0; r < g->nranks; r++)
        tl_folded_free(&changed[r]);
    tl_job_net_free(&net);
    free(changed);
    free(lanes);
}

/* Adds a candidate for each kind of collective, with its gain. */
static void add_transfers(searching *s)
{
    const tl_job_graph *g = s->in->graph;
    for (int kind = 0; kind < TL_NCOLLECTIVES; kind++) {
        candidate c = { .what = { .of = TL_WHATIF_OF_TRANSFER } };
        tl_job_net net = { 0 };
        tl_job_net_make(s->in->baseline, s->in->folded, NULL, &net);
        for (uint32_t m = 0; m < g->nmeetings; m++) {
            if (g->meetings[m].kind != kind)
                continue;
            c.pieces++;
            c.total_ns = tl_ns_add(c.total_ns, g->meetings[m].work_ns);
            net.net.own_ns[net.meetings + m] -= g->meetings[m].work_ns * TL_WHATIF_FASTER_PERCENT / 100;
        }
        if (c.pieces > 0) {
            c.name = tl_strndup(tl_collective_labels[kind], strlen(tl_collective_labels[kind]));
            c.gain_ns = s->in->end_ns - tl_net_replay(&net.net, net.done_ns);
            tl_vec_push(&s->candidates, c);
        }
        tl_job_net_free(&net);
    }
}

static int by_most(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    int order = TL_COMPARE(y->most_ns, x->most_ns);
    order = order != 0 ? order : TL_COMPARE(x->what.of, y->what.of);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static int by_gain(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    int order = TL_COMPARE(y->gain_ns, x->gain_ns);
    return order != 0 ? order : by_most(a, b);
}

/* Returns the gain of the last that would be told of the n first candidates; -1: more would be told. */
static int64_t least_told(const searching *s, size_t n, size_t top)
{
    int64_t *gains = tl_malloc((n + 1) * sizeof *gains);
    for (size_t i = 0; i < n; i++)
        gains[i] = s->candidates.v[i].gain_ns;
    if (n > 1)
        tl_ns_sort(gains, n);
    int64_t least = n < top ? -1 : gains[n - top];
    free(gains);
    return least;
}

void tl_whatif_find_top(const tl_whatif_input *input, tl_table *out)
{
    searching s = { .in = input };
    const size_t top = (size_t)input->options->top;
    list_work(&s);
    tl_vec_sort(&s.candidates, by_most);
    size_t tried = 0, n = s.candidates.n;
    for (; tried < n; tried += n - tried < AT_ONCE ? n - tried : AT_ONCE) {
        if (s.candidates.v[tried].most_ns * TL_WHATIF_FASTER_PERCENT / 100 < least_told(&s, tried, top))
            break;
        try_candidates(&s, s.candidates.v + tried, n - tried < AT_ONCE ? n - tried : AT_ONCE);
    }
    for (size_t i = tried; i < n; i++)
        s.candidates.v[i].gain_ns = INT64_MIN;
    add_transfers(&s);
    tl_vec_sort(&s.candidates, by_gain);
    for (size_t i = 0; i < s.candidates.n && i < top && s.candidates.v[i].gain_ns > 0; i++) {
        const candidate *c = &s.candidates.v[i];
        tl_whatif_top *row = tl_table_add(out);
        row->place = (int32_t)i + 1;
        row->of = (uint8_t)c->what.of;
        row->pieces = c->pieces;
        row->total_ns = c->total_ns;
        row->gain_ns = c->gain_ns;
        row->percent_ns = (double)c->gain_ns / TL_WHATIF_FASTER_PERCENT;
        row->share =
            input->end_ns > input->start_ns ? (double)c->gain_ns / (double)(input->end_ns - input->start_ns) : NAN;
        tl_cell_text(row->name, sizeof row->name, c->name, strlen(c->name));
    }
    TL_EACH (candidate, c, s.candidates)
        free(c->name);
    free(s.candidates.v);
    tl_map_free(&s.number_of);
}
