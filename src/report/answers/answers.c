/* answers.c - the four questions, answered: what table culprit says, and the numbers around it. */
#include "tlmpi/report/answers/answers.h"

#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/participant.h"
#include <inttypes.h>
#include <string.h>

const char *const tl_finding_labels[] = {
    [TL_FOUND_NO_WORK] = "no_device_work",
    [TL_FOUND_ONE_RANK] = "one_rank",
    [TL_FOUND_SILENCE] = "no_communication",
    [TL_FOUND_UNMATCHED] = "unmatched",
    [TL_FOUND_NO_VERDICT] = "inconclusive",
    [TL_FOUND_NONE] = "none",
    [TL_FOUND_LINK] = "slow_link",
    [TL_FOUND_STRAGGLER] = "straggler",
    NULL,
};

const tl_schema *const *tl_answer_tables(size_t *required)
{
    static const tl_schema *const tables[] = {
        &tl_rank_schema,
        &tl_breakdown_schema,
        &tl_straggler_schema,
        &tl_quality_schema,
        &tl_culprit_schema,
        &tl_step_schema,
        &tl_blame_schema,
        &tl_blame_step_schema,
        &tl_whatif_row_schema,
        &tl_slow_link_row_schema,
        &tl_clock_schema,
        &tl_path_row_schema,
        &tl_parameter_schema,
        &tl_phase_verdict_schema,
        &tl_exposed_schema,
        &tl_health_schema,
        &tl_excess_row_schema,
        &tl_path_sum_schema,
        NULL,
    };
    *required = 5;
    return tables;
}

double tl_answers_share(const tl_answers *a, int64_t ns)
{
    return a->wall_ns > 0 && ns > 0 ? (double)ns / (double)a->wall_ns : 0;
}

size_t tl_ranks_listed(const char *cell, size_t size, int32_t ranks[TL_RANKS_LISTED])
{
    size_t n = strnlen(cell, size);
    if (n > 4 && memcmp(cell + n - 4, ",...", 4) == 0)
        n -= 4;
    return tl_ranks_of_text(cell, n, ranks, TL_RANKS_LISTED);
}

/* ---------------------------------------------------------------------------------------------------------- losses */

static void find_losses(tl_tables *tables, tl_answers *out)
{
    const tl_table *breakdown = tl_tables_get(tables, &tl_breakdown_schema);
    int32_t base = -1; /* TL_WHOLE_STEPS if the job's first row covers the whole steps */

    TL_ROWS (const tl_breakdown, row, breakdown) {
        base = row->rank == -1 && row->step < base ? row->step : base;
        if (row->device != -1 || row->step != base || row->wall_ns <= 0)
            continue;
        tl_loss loss = { "idle", row->rank, row->idle_ns, row->wall_ns };
        if (row->comm_exposed_ns > loss.ns)
            loss = (tl_loss){ "exposed communication", row->rank, row->comm_exposed_ns, row->wall_ns };
        if (row->copy_exposed_ns > loss.ns)
            loss = (tl_loss){ "exposed copies", row->rank, row->copy_exposed_ns, row->wall_ns };
        if (row->rank == -1) {
            out->job = loss;
            out->all = *row;
            continue;
        }
        if (out->worst.name == NULL || loss.ns > out->worst.ns)
            out->worst = loss;
    }
}

/* Finds the reason why most of the job's unknown exposed communication is unknown. */
static void find_comm_doubt(tl_tables *tables, tl_answers *out)
{
    const tl_table *exposed = tl_tables_get(tables, &tl_exposed_schema);
    int64_t ns[TL_NCOMM_DOUBTS] = { 0 };

    TL_ROWS (const tl_exposed, row, exposed)
        if (row->rank == -1 && row->step == -1 && row->unknown_why < TL_NCOMM_DOUBTS)
            ns[row->unknown_why] = tl_ns_add(ns[row->unknown_why], row->unknown_ns);
    for (int doubt = 0; doubt < TL_NCOMM_DOUBTS; doubt++)
        if (ns[doubt] > ns[out->comm_doubt])
            out->comm_doubt = (tl_comm_doubt)doubt;
}

/* Rows of one rank are consecutive; rows over all ranks come first. */
static void find_path(tl_tables *tables, tl_answers *out)
{
    const tl_table *table = tl_tables_get(tables, &tl_path_row_schema);
    tl_path_facts *path = &out->path;
    int64_t rank_ns = 0, most_rank_ns = -1, most_ns = -1, imbalance_ns = 0;
    int32_t before = -1;

    TL_ROWS (const tl_path_row, row, table) {
        if (row->activity == TL_PATH_BEFORE)
            continue;
        if (row->rank == -1) {
            imbalance_ns = tl_ns_add(imbalance_ns, row->imbalance_ns);
            if (row->path_ns > most_ns) {
                most_ns = row->path_ns;
                path->activity = tl_path_labels[row->activity];
            }
            continue;
        }
        rank_ns = tl_ns_add(row->rank == before ? rank_ns : 0, row->path_ns);
        before = row->rank;
        if (rank_ns > most_rank_ns) {
            most_rank_ns = rank_ns;
            path->rank = row->rank;
        }
    }
    if (path->ns <= 0)
        return;
    path->rank_share = (double)most_rank_ns / (double)path->ns;
    path->activity_share = (double)most_ns / (double)path->ns;
    path->imbalance_share = (double)imbalance_ns / (double)path->ns;
}

/* A culprit that is a link, or has no trace, has no path of its own. */
static void find_bound(tl_tables *tables, tl_answers *a)
{
    const tl_table *paths = tl_tables_get(tables, &tl_path_sum_schema);
    const bool of_rank = a->first != NULL && !tl_is_link(a->first) && !tl_is_untraced(a->first);
    tl_path_sum *b = &a->bound;
    bool steps = false;
    b->rank = of_rank ? a->first->rank : -1;
    TL_ROWS (const tl_path_sum, row, paths)
        steps = steps || row->step >= 0;
    TL_ROWS (const tl_path_sum, row, paths) {
        if (row->rank < 0 || (of_rank && row->rank != b->rank) || (row->step >= 0) != steps ||
            (steps && tl_step_is_left_out(a->health, row->step)))
            continue;
        tl_row_add(&tl_path_sum_schema, b, row);
    }
}

/* ------------------------------------------------------------------------------------------ a missing trace's name */

/* The name that the trace of a rank would have, by the pattern of the other ranks' names:
 *
 *     rank-0.json.gz, rank-1.json.gz, rank-3.json.gz        2: rank-2.json.gz
 */

/* Returns the file's name without its folder; empty if it fills the cell, since the name may be cut. */
static tl_phrase name_of(const tl_rank *row)
{
    const tl_phrase path = tl_cell_in_words(row->file, sizeof row->file);
    const char *slash = strrchr(path.text, '/');
    return tl_phrase_of("%s", strlen(path.text) == sizeof row->file ? "" : slash != NULL ? slash + 1 : path.text);
}

/* Returns the name with the number at `at` replaced; the new number has the same width if the old number begins with
 * 0. */
static tl_phrase with_number(const char *name, size_t at, int32_t number)
{
    size_t n = strspn(name + at, "0123456789");
    return tl_phrase_of("%.*s%0*" PRId32 "%s", (int)at, name, name[at] == '0' ? (int)n : 1, number, name + at + n);
}

tl_phrase tl_file_of_family(const tl_table *ranks, int32_t rank)
{
    const tl_phrase first = ranks->n > 1 ? name_of(tl_table_row(ranks, 0)) : (tl_phrase){ "" };
    for (size_t at = 0, n; first.text[at] != '\0'; at += n > 0 ? n : 1) {
        n = strspn(first.text + at, "0123456789");
        bool all = n > 0 && n < 10; /* the names of all ranks are the first one with their number here */
        TL_ROWS (const tl_rank, row, ranks)
            all = all && strcmp(with_number(first.text, at, row->rank).text, name_of(row).text) == 0;
        if (all)
            return with_number(first.text, at, rank);
    }
    return (tl_phrase){ "" };
}

tl_names tl_distinct_texts(const tl_table *ranks, const char *column)
{
    const tl_field *field = tl_schema_field(&tl_rank_schema, column);
    const bool hosts = strcmp(column, "host") == 0;
    tl_names texts = { 0 };
    TL_ROWS (const tl_rank, row, ranks) {
        const tl_text cell = tl_content_of(field, row).text;
        if (cell.n > 0)
            tl_names_intern(&texts, cell.p, hosts ? tl_host_length(cell.p, cell.n) : cell.n);
    }
    return texts;
}

/* -------------------------------------------------------------------------------------------------------- culprits */

static const tl_slow_link_row *link_of(tl_tables *tables, const tl_culprit *c)
{
    static const tl_slow_link_row none = { .rank = -1, .peer = -1 };
    const tl_table *links = tl_tables_get(tables, &tl_slow_link_row_schema);
    TL_ROWS (const tl_slow_link_row, row, links)
        if (row->link == c->link)
            return row;
    return &none;
}

TL_SORT_BY(by_waiting, tl_awaited, DOWN(ns))

/* Sums the waiting for each rank, culprit or not, and the part of all waiting that may be exposed.  Rows of blame with
 * one to_rank are consecutive. */
static void find_waits(tl_tables *tables, tl_answers *out)
{
    const tl_table *blame = tl_tables_get(tables, &tl_blame_schema);
    double least =
        tl_parameter_value(tl_tables_get(tables, &tl_parameter_schema), "verdict_least_cost", TL_VERDICT_LEAST_COST);

    size_t kept = 0;
    out->wait_exposed_ns = tl_ns_min(out->wait_ns, out->all.comm_waiting_ns);
    double least_ns = least * (double)out->all.wall_ns;
    out->waits = out->wait_exposed_ns > 0 && (double)out->wait_exposed_ns >= least_ns;
    out->uncharged_ns = tl_ns_max(0, tl_ns_between(out->all.comm_waiting_ns, out->wait_ns));
    out->pairs_wait = !out->waits && out->uncharged_ns > 0 && (double)out->uncharged_ns >= least_ns;
    out->may_wait = !out->waits && out->all.comm_unknown_ns > 0 &&
                    (double)(out->wait_exposed_ns + out->all.comm_unknown_ns) >= least_ns;
    for (size_t i = 0; i < blame->n;) {
        const tl_blame *row = tl_table_row(blame, i);
        tl_awaited of = { row->to_rank, 0 };
        for (; i < blame->n && row->to_rank == of.rank; i++, row++) {
            of.ns = tl_ns_sum(of.ns, row->direct_ns);
            out->passed_on_ns = tl_ns_sum(out->passed_on_ns, row->indirect_ns);
        }
        out->nwaited_for += of.ns > 0;
        if (of.ns > 0)
            kept = tl_insert(out->waited_for, kept, TL_WAITED_FOR_MOST, &of, sizeof of, by_waiting);
    }
}

/* Finds whether all ranks beside the culprit's n have devices of another name. */
static void compare_devices(const tl_table *ranks, const int32_t *culprit, size_t n, tl_answers *out)
{
    const tl_rank *own = n > 0 ? tl_row_of_rank(ranks, culprit[0]) : NULL, *other = NULL;
    if (own == NULL || own->device_name[0] == '\0')
        return;
    TL_ROWS (const tl_rank, row, ranks) {
        if (tl_index_of(culprit, n, row->rank) < n)
            continue;
        if (row->device_name[0] == '\0' || memcmp(row->device_name, own->device_name, sizeof row->device_name) == 0)
            return;
        other = row;
    }
    out->device = other != NULL ? own : NULL;
    out->other_device = other;
}

/* Fills the facts about the culprits, whose rows begin the table. */
static void find_culprits(tl_tables *tables, const tl_table *table, tl_answers *out)
{
    const tl_culprit *first = out->first = out->culprits = tl_table_row(table, 0);
    const tl_table *ranks = tl_tables_get(tables, &tl_rank_schema),
                   *excess = tl_tables_get(tables, &tl_excess_row_schema);

    for (const tl_culprit *c = first; out->nculprits < table->n && tl_is_culprit(c); c++, out->nculprits++)
        if (tl_is_link(c) && c->gain_ns >= out->links_gain_ns - out->links_gain_ns / 10)
            out->links_gain_ns = -1; /* that link alone gains 90 % of the gain of all links */
    if (tl_is_link(first)) {
        out->link = link_of(tables, first);
        return;
    }
    int32_t listed[TL_RANKS_LISTED];
    const size_t nlisted = tl_ranks_listed(first->ranks, sizeof first->ranks, listed);
    tl_delay_costs_by_activity(tl_tables_get(tables, &tl_blame_schema), listed, nlisted, out->activities);
    compare_devices(ranks, listed, nlisted, out);
    const tl_rank *row = first->kind == TL_CULPRIT_RANK ? tl_row_of_rank(ranks, first->rank) : NULL;
    out->by_order = row != NULL && strcmp(tl_rank_from_labels[row->rank_from], "order") == 0 ? row : NULL;
    if (tl_is_untraced(first))
        out->untraced_file = tl_file_of_family(ranks, first->rank);
    const tl_straggler *late = tl_row_of_rank(tl_tables_get(tables, &tl_straggler_schema), first->rank);
    out->against = late != NULL ? (tl_against)late->against : TL_AGAINST_PEERS;
    out->excess = tl_row_of_rank(excess, first->rank);
    size_t n =
        out->excess != NULL ? tl_table_from_rank(excess, first->rank + 1) - tl_table_from_rank(excess, first->rank) : 0;
    int64_t longer_ns = 0;
    for (size_t i = 0; i < n; i++)
        longer_ns = tl_ns_add(longer_ns, out->excess[i].own_ns - out->excess[i].peers_ns);
    out->excess_in_all = late != NULL && late->steps_from != TL_STEPS_MARKED;
    double cost_ns = (double)first->step_cost_ns * (out->excess_in_all ? (double)first->steps_flagged : 1);
    /* Places that explain less than half of the culprit's cost say nothing about the cause. */
    out->nexcess = (double)longer_ns >= cost_ns / 2 || first->place[0] == '\0' ? n : 0;
}

static void read_verdict(tl_tables *tables, tl_answers *out)
{
    static const tl_finding findings[] = {
        [TL_CULPRIT_RANK] = TL_FOUND_STRAGGLER,
        [TL_CULPRIT_HOST] = TL_FOUND_STRAGGLER,
        [TL_CULPRIT_SEVERAL] = TL_FOUND_STRAGGLER,
        [TL_CULPRIT_UNTRACED] = TL_FOUND_STRAGGLER,
        [TL_CULPRIT_LINK] = TL_FOUND_LINK,
        [TL_CULPRIT_NONE] = TL_FOUND_NONE,
        [TL_CULPRIT_INCONCLUSIVE] = TL_FOUND_NO_VERDICT,
        [TL_CULPRIT_UNMATCHED] = TL_FOUND_UNMATCHED,
        [TL_CULPRIT_SILENCE] = TL_FOUND_SILENCE,
        [TL_CULPRIT_ONE_RANK] = TL_FOUND_ONE_RANK,
        [TL_CULPRIT_NO_WORK] = TL_FOUND_NO_WORK,
    };
    const tl_answer none = { TL_CONFIDENCE_LOW, 1u << TL_DOUBT_NO_VERDICT };
    const tl_table *table = tl_tables_get(tables, &tl_culprit_schema),
                   *stragglers = tl_tables_get(tables, &tl_straggler_schema);

    out->rank = out->phase = out->waiting = out->persistence = none;
    if (table->n == 0) /* the file's rows are lost */
        return;
    const tl_culprit *first = tl_table_row(table, 0);
    out->finding = findings[first->kind];
    out->rank = (tl_answer){ (tl_confidence)first->confidence, tl_doubts_of_text(first->doubts, sizeof first->doubts) };
    out->phase = (tl_answer){ (tl_confidence)first->cause_confidence,
                              tl_doubts_of_text(first->cause_doubts, sizeof first->cause_doubts) };
    out->waiting = (tl_answer){ (tl_confidence)first->waiting_confidence,
                                tl_doubts_of_text(first->waiting_doubts, sizeof first->waiting_doubts) };
    out->persistence = (tl_answer){ (tl_confidence)first->steps_confidence,
                                    tl_doubts_of_text(first->steps_doubts, sizeof first->steps_doubts) };
    if (tl_is_culprit(first)) {
        find_culprits(tables, table, out);
    } else if (out->finding == TL_FOUND_NONE) {
        out->most = tl_row_of_rank(stragglers, first->rank);
        out->most_ns = first->excess_ns;
    } else if (out->finding == TL_FOUND_NO_VERDICT) {
        out->why = tl_row_of_rank(stragglers, first->rank);
    }
}

bool tl_is_least(const tl_answers *a, const tl_culprit *c)
{
    bool lost = false;
    if (c->kind == TL_CULPRIT_RANK && a->health != NULL)
        TL_ROWS (const tl_health, row, a->health)
            lost |= row->rank == c->rank && row->defect == TL_DEFECT_LOST;
    return lost || tl_is_untraced(c);
}

bool tl_gain_is_least(const tl_answers *a, const tl_culprit *c)
{
    return tl_is_least(a, c) || (tl_doubts_of_text(c->doubts, sizeof c->doubts) & 1u << TL_DOUBT_OUTSIDE) != 0;
}

void tl_answers_read(tl_tables *tables, tl_answers *out)
{
    tl_facts facts;

    tl_facts_find(tables, &facts);
    *out = (tl_answers){ .trust = facts.trust,
                         .wall_ns = facts.wall_ns,
                         .wait_ns = facts.wait_ns,
                         .together_gain_ns = facts.together_gain_ns,
                         .quality = tl_tables_get(tables, &tl_quality_schema),
                         .health = tl_tables_get(tables, &tl_health_schema),
                         .links_gain_ns = facts.links_gain_ns,
                         .path = { .ns = facts.path_ns, .unexplained_ns = facts.unexplained_ns } };
    out->imbalance = tl_imbalance_of(tables, out->wall_ns);
    find_losses(tables, out);
    find_comm_doubt(tables, out);
    find_waits(tables, out);
    find_path(tables, out);
    read_verdict(tables, out);
    find_bound(tables, out);
    const tl_table *phases = tl_tables_get(tables, &tl_phase_verdict_schema);
    if (phases->n == 0)
        return;
    out->phases = tl_table_row(phases, 0);
    out->nphases = phases->n;
    out->phases_alone = true;
    TL_ROWS (const tl_rank, row, tl_tables_get(tables, &tl_rank_schema))
        out->phases_alone &= row->status == TL_RANK_UNREADABLE;
}
