/* links.c - slow links of the job: what slow_link.h finds in the matched collectives, and whom it names. */
#include "tlmpi/analysis/link.h"
#include "slow_link.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/participant.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct linking {
    const tl_link_job *job;
    const tl_late_row *rows;
    size_t nrows;
    int64_t *shift_ns; /* [nranks]: added to a rank's times */
    int64_t *shown_ns; /* [nranks]: added to them they are as its clock showed them */
    int32_t *host;     /* [nranks]: the lowest row of its host in table clock, -1 when unknown */
    tl_link_end *ends;
    tl_link_collective *collectives;
    uint32_t *row_of; /* [ncollectives] its first row */
    size_t ncollectives, nends;
    double *step_ns;
} linking;

/* ---------------------------------------------------------------------------------------------------------- clocks */

static int64_t taken_off(const tl_clock *row)
{
    return row->applied ? row->offset_ns : 0;
}

/* Ranks of one host have one clock.  Where ends made them seem to disagree, by less than a collective takes, it was the
 * ring that kept some longer than others: a slow link does that in every step. */
static bool undo_host_clocks(linking *l, tl_tables *tables)
{
    const tl_table *clocks = tl_tables_get(tables, &tl_clock_schema);
    int64_t *longest = tl_calloc(l->job->nranks + 1, sizeof *longest);
    int64_t *offsets = tl_malloc((clocks->n + 1) * sizeof *offsets);
    bool whole = longest != NULL && offsets != NULL;

    for (size_t i = 0; whole && i < l->nrows; i++) {
        size_t r = tl_index_of(l->job->ranks, l->job->nranks, l->rows[i].rank);
        int64_t ns = tl_ns_between(l->rows[i].end_ns, l->rows[i].start_ns);
        if (r < l->job->nranks && ns > longest[r])
            longest[r] = ns;
    }
    for (size_t r = 0; r < l->job->nranks; r++)
        l->host[r] = -1;
    for (size_t i = 0; whole && i < clocks->n; i++) {
        const tl_clock *row = tl_table_row(clocks, i);
        size_t r = tl_index_of(l->job->ranks, l->job->nranks, row->rank);
        size_t n = 0;
        if (r == l->job->nranks)
            continue;
        l->shown_ns[r] = taken_off(row);
        if (row->host[0] == 0)
            continue;
        for (size_t k = 0; k < clocks->n; k++) {
            const tl_clock *other = tl_table_row(clocks, k);
            if (memcmp(other->host, row->host, sizeof row->host) != 0)
                continue;
            if (l->host[r] < 0)
                l->host[r] = (int32_t)k;
            if (other->component == row->component)
                offsets[n++] = taken_off(other);
        }
        int64_t apart = tl_ns_between(taken_off(row), tl_median(offsets, n));
        if (apart < longest[r] && -apart < longest[r])
            l->shift_ns[r] = apart;
    }
    free(longest);
    free(offsets);
    return whole;
}

/* Nobody is done long before another with what takes next to no time, whatever the links: where all ranks have such
 * collectives, these tell their clocks. */
#define BRIEF_NS INT64_C(50000)
enum { BRIEF_LEAST = 3 };

/* What the one that waited least took, which no clock is asked for: it waited for nobody who came after it. */
static bool is_brief(const linking *l, const tl_link_collective *c)
{
    int64_t least_ns = INT64_MAX;
    for (uint32_t k = 0; k < c->n; k++) {
        const tl_link_end *e = &l->ends[c->first + k];
        int64_t ns = tl_ns_between(e->end_ns, e->start_ns);
        least_ns = ns < least_ns ? ns : least_ns;
    }
    return c->n == l->job->nranks && least_ns <= BRIEF_NS && tl_is_synchronising((tl_collective)c->kind);
}

/* Ends as they would be shown, had all clocks shown one time at the ends of brief collectives. */
static bool show_by_brief(linking *l)
{
    size_t nranks = l->job->nranks, n = 0;
    uint32_t *brief = tl_malloc((l->ncollectives + 1) * sizeof *brief);
    int64_t *apart = tl_malloc((l->ncollectives + 1) * sizeof *apart), *ends = tl_malloc((nranks + 1) * sizeof *ends);
    int64_t *middle = tl_malloc((l->ncollectives + 1) * sizeof *middle), *off = tl_calloc(nranks + 1, sizeof *off);
    bool whole = brief != NULL && apart != NULL && ends != NULL && middle != NULL && off != NULL;

    for (uint32_t i = 0; whole && i < l->ncollectives; i++)
        if (is_brief(l, &l->collectives[i]))
            brief[n++] = l->collectives[i].first;
    for (size_t i = 0; whole && n >= BRIEF_LEAST && i < n; i++) {
        for (size_t k = 0; k < nranks; k++)
            ends[k] = l->ends[brief[i] + k].shown_end_ns;
        middle[i] = tl_median(ends, nranks);
    }
    for (size_t r = 0; whole && n >= BRIEF_LEAST && r < nranks; r++) {
        for (size_t i = 0; i < n; i++)
            apart[i] = tl_ns_between(l->ends[brief[i] + r].shown_end_ns, middle[i]);
        off[l->ends[brief[0] + r].rank] = tl_median(apart, n);
    }
    for (size_t i = 0; whole && i < l->nends; i++)
        l->ends[i].shown_end_ns = tl_ns_between(l->ends[i].shown_end_ns, off[l->ends[i].rank]);
    free(brief);
    free(apart);
    free(ends);
    free(middle);
    free(off);
    return whole;
}

/* ------------------------------------------------------------------------------------------------------- the input */

/* Of these ranks alone: a pair of a large group may lie on one host. */
static tl_node_span span_of(const linking *l, const tl_link_collective *c)
{
    int32_t host = l->host[l->ends[c->first].rank];
    tl_node_span span = TL_SPAN_INTRA_NODE;
    for (uint32_t k = 0; k < c->n; k++) {
        int32_t other = l->host[l->ends[c->first + k].rank];
        if (other < 0)
            return TL_SPAN_UNKNOWN;
        span = other == host ? span : TL_SPAN_INTER_NODE;
    }
    return span;
}

/* What pairs of ranks send each other is compared with what others of the same two stages do: every stage may have a
 * wire of its own sort to the next. */
static uint64_t stages_of(const linking *l, const tl_link_collective *c, bool pair)
{
    if (!pair || c->n != 2)
        return 0;
    uint64_t a = (uint64_t)l->job->roles[l->ends[c->first].rank],
             b = (uint64_t)l->job->roles[l->ends[c->first + 1].rank];
    return a == b ? 0 : tl_hash_mix(a < b ? a : b, a < b ? b : a) | 1;
}

/* Whether stages would show: where nobody sends, there are none, and where nobody knows to whom, they do not. */
static bool roles_known(const linking *l)
{
    bool sends = false;
    for (size_t i = 0; i < l->nrows; i++) {
        if (l->rows[i].pair)
            return true;
        sends = sends || tl_is_point_to_point((tl_collective)l->rows[i].kind);
    }
    return !sends;
}

static bool set_likes(const linking *l)
{
    int32_t *group = tl_malloc((l->ncollectives + 1) * sizeof *group);
    bool *pair = tl_malloc(l->ncollectives + 1), whole = group != NULL && pair != NULL;
    for (size_t c = 0; whole && c < l->ncollectives; c++) {
        group[c] = l->rows[l->row_of[c]].group;
        pair[c] = l->rows[l->row_of[c]].pair;
    }
    const tl_link_like_input input = { l->ends,         l->collectives, group,         pair,
                                       l->ncollectives, l->job->roles,  roles_known(l) };
    whole = whole && tl_link_likes_set(&input);
    free(group);
    free(pair);
    return whole;
}

/* Whether the job has ranks without a trace, as traces tell how many it has. */
static bool some_untraced(const tl_table *ranks)
{
    int32_t most = -1;
    for (size_t i = 0; ranks != NULL && i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        most = row->world_size > most ? row->world_size : most;
    }
    return ranks != NULL && most >= 0 && (size_t)most > ranks->n;
}

/* By number: groups some of whose ranks have no trace, or may have none: of an inferred one only those are known that have.
 * The caller frees them. */
static bool *list_partial(const tl_table *groups, bool untraced, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        *n = row->group >= 0 && (size_t)row->group >= *n ? (size_t)row->group + 1 : *n;
    }
    bool *partial = tl_calloc(*n + 1, sizeof *partial);
    for (size_t i = 0; partial != NULL && i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        if (row->group >= 0)
            partial[row->group] |= (row->size > 0 && row->seen < row->size) || /* rows of counts alone have neither */
                                   (row->inferred != 0 && untraced);
    }
    return partial;
}

static bool list_collectives(linking *l, tl_tables *tables)
{
    size_t ngroups;
    bool untraced = some_untraced(tl_tables_get(tables, &tl_rank_schema));
    bool *partial = list_partial(tl_tables_get(tables, &tl_group_row_schema), untraced, &ngroups);
    bool whole = partial != NULL;

    for (size_t i = 0, to; whole && i < l->nrows; i = to) {
        const tl_late_row *row = &l->rows[i];
        tl_link_collective c = { .first = (uint32_t)l->nends,
                                 .step = (uint32_t)tl_job_step_index(l->job->steps, l->job->nsteps, row->step),
                                 .bytes = row->bytes,
                                 .uncertainty_ns = row->uncertainty_ns,
                                 .kind = row->kind };
        for (to = i; to < l->nrows && l->rows[to].collective == row->collective; to++) {
            size_t r = tl_index_of(l->job->ranks, l->job->nranks, l->rows[to].rank);
            if (l->rows[to].fits && r < l->job->nranks)
                l->ends[l->nends++] = (tl_link_end){ tl_ns_sum(l->rows[to].start_ns, l->shift_ns[r]),
                                                     tl_ns_sum(l->rows[to].end_ns, l->shift_ns[r]),
                                                     tl_ns_sum(l->rows[to].end_ns, l->shown_ns[r]), (uint32_t)r };
        }
        c.n = (uint32_t)l->nends - c.first;
        if (c.n < 2) {
            l->nends = c.first;
            continue;
        }
        c.span = (uint8_t)span_of(l, &c);
        c.partial = !row->pair && row->group >= 0 && (size_t)row->group < ngroups && partial[row->group];
        c.stages = stages_of(l, &c, row->pair);
        l->row_of[l->ncollectives] = (uint32_t)i;
        l->collectives[l->ncollectives++] = c;
    }
    free(partial);
    return whole && set_likes(l);
}

static bool prepare(linking *l, tl_tables *tables)
{
    size_t n = l->nrows + 1;
    l->shift_ns = tl_calloc(l->job->nranks + 1, sizeof *l->shift_ns);
    l->shown_ns = tl_calloc(l->job->nranks + 1, sizeof *l->shown_ns);
    l->host = tl_malloc((l->job->nranks + 1) * sizeof *l->host);
    l->ends = tl_malloc(n * sizeof *l->ends);
    l->collectives = tl_malloc(n * sizeof *l->collectives);
    l->row_of = tl_malloc(n * sizeof *l->row_of);
    l->step_ns = tl_malloc((l->job->nsteps + 1) * sizeof *l->step_ns);
    if (l->shift_ns == NULL || l->shown_ns == NULL || l->host == NULL || l->ends == NULL || l->collectives == NULL ||
        l->row_of == NULL || l->step_ns == NULL)
        return false;
    for (size_t s = 0; s < l->job->nsteps; s++)
        l->step_ns[s] = (double)l->job->steps[s].ns;
    if (!undo_host_clocks(l, tables))
        return false;
    return list_collectives(l, tables) && show_by_brief(l);
}

/* -------------------------------------------------------------------------------------------------------- the rows */

static bool add_row(const linking *l, const tl_slow_link *link, int32_t number, tl_table *table, int32_t *lowest)
{
    const tl_link_job *job = l->job;
    const tl_link_collective *like = &l->collectives[link->like];
    const tl_persistence *p = &link->found;
    int32_t *ranks = tl_malloc((like->n + 1) * sizeof *ranks);
    tl_slow_link_row *row = tl_table_add(table);
    bool whole = ranks != NULL && row != NULL;

    for (uint32_t k = 0; whole && k < like->n; k++)
        ranks[k] = job->ranks[l->ends[like->first + k].rank];
    if (whole) {
        *row = (tl_slow_link_row){
            .link = number,
            .group = l->rows[l->row_of[link->like]].group,
            .rank = link->nends == 2 ? job->ranks[link->ends[0]] : -1,
            .peer = link->nends == 2 ? job->ranks[link->ends[1]] : -1,
            .evidence = (uint8_t)link->evidence,
            .kind = like->kind,
            .bytes = like->bytes,
            .transfer_ns = link->here_ns,
            .elsewhere_ns = link->elsewhere_ns,
            .ratio = link->elsewhere_ns > 0 ? (double)link->here_ns / (double)link->elsewhere_ns : NAN,
            .surplus_ns = link->surplus_ns,
            .z = p->z,
            .pattern = (uint8_t)p->pattern,
            .first_step = job->steps[p->first].number,
            .last_step = job->steps[p->last].number,
            .p_value = p->p_value,
        };
        tl_ranks_text(ranks, like->n, row->ranks, sizeof row->ranks);
        *lowest = link->nends == 2 ? row->rank : ranks[0];
    }
    free(ranks);
    return whole;
}

static bool keep(const linking *l, const tl_slow_links *found, tl_job_links *links, tl_table *table)
{
    bool whole = true;
    links->lowest = tl_malloc((found->n + 1) * sizeof *links->lowest);
    links->link_of = tl_malloc((l->nrows + 1) * sizeof *links->link_of);
    links->surplus_ns = tl_calloc(l->nrows + 1, sizeof *links->surplus_ns);
    if (links->lowest == NULL || links->link_of == NULL || links->surplus_ns == NULL)
        return false;
    for (size_t i = 0; i < l->nrows; i++)
        links->link_of[i] = TL_NONE;
    for (size_t c = 0; c < l->ncollectives; c++) {
        links->link_of[l->row_of[c]] = found->link_of[c];
        links->surplus_ns[l->row_of[c]] = found->surplus_ns[c];
    }
    for (; whole && links->n < found->n; links->n++)
        whole = add_row(l, &found->of[links->n], (int32_t)links->n, table, &links->lowest[links->n]);
    return whole;
}

tl_status tl_job_links_find(tl_job_links *links, const tl_link_job *job, const tl_late_row *rows, size_t nrows,
                            tl_tables *tables, tl_error *err)
{
    linking l = { .job = job, .rows = rows, .nrows = nrows };
    tl_slow_links found = { 0 };
    tl_status st = prepare(&l, tables) ? TL_OK : tl_fail_memory(err, "slow links");

    if (st == TL_OK) {
        const tl_link_input input = { l.ends, l.collectives, l.ncollectives, l.step_ns, job->nsteps, l.host };
        st = tl_slow_links_find(&input, &found, err);
    }
    if (st == TL_OK && !keep(&l, &found, links, tl_tables_get(tables, &tl_slow_link_row_schema)))
        st = tl_fail_memory(err, "slow links");
    tl_slow_links_free(&found);
    void *all[] = { l.shift_ns, l.shown_ns, l.host, l.ends, l.collectives, l.row_of, l.step_ns };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    return st;
}

void tl_job_links_free(tl_job_links *links)
{
    free(links->lowest);
    free(links->link_of);
    free(links->surplus_ns);
    *links = (tl_job_links){ 0 };
}
