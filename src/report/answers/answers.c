/* answers.c - the four questions, answered: what table culprit says, and the numbers around it. */
#include "tlmpi/report/answers/answers.h"

#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/participant.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tl_finding_labels[] = {
    [TL_FOUND_NO_WORK] = "no_device_work",
    [TL_FOUND_ONE_RANK] = "one_rank",
    [TL_FOUND_SILENCE] = "no_communication",
    [TL_FOUND_UNMATCHED] = "unmatched",
    [TL_FOUND_NO_VERDICT] = "inconclusive",
    [TL_FOUND_NOBODY] = "none",
    [TL_FOUND_LINK] = "slow_link",
    [TL_FOUND_STRAGGLER] = "straggler",
    NULL,
};

const tl_schema *const *tl_answer_tables(size_t *required)
{
    static const tl_schema *const tables[] = {
        &tl_rank_schema,          &tl_breakdown_schema,     &tl_straggler_schema,
        &tl_quality_schema,       &tl_culprit_schema,       &tl_step_schema,
        &tl_blame_schema,         &tl_blame_step_schema,    &tl_whatif_row_schema,
        &tl_slow_link_row_schema, &tl_clock_schema,         &tl_path_row_schema,
        &tl_parameter_schema,     &tl_phase_verdict_schema, &tl_exposed_schema,
        &tl_health_schema,        &tl_excess_row_schema,    NULL,
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

static tl_loss loss_of(const tl_breakdown *row)
{
    tl_loss loss = { "idle", row->rank, row->idle_ns, row->wall_ns };
    if (row->comm_exposed_ns > loss.ns)
        loss = (tl_loss){ "exposed communication", row->rank, row->comm_exposed_ns, row->wall_ns };
    if (row->copy_exposed_ns > loss.ns)
        loss = (tl_loss){ "exposed copies", row->rank, row->copy_exposed_ns, row->wall_ns };
    return loss;
}

static void find_losses(tl_tables *tables, tl_answers *out)
{
    const tl_table *breakdown = tl_tables_get(tables, &tl_breakdown_schema);
    int32_t base = -1; /* TL_WHOLE_STEPS where the job's first row is of these */

    for (size_t i = 0; i < breakdown->n; i++) {
        const tl_breakdown *row = tl_table_row(breakdown, i);
        base = row->rank == -1 && row->step < base ? row->step : base;
        if (row->device != -1 || row->step != base || row->wall_ns <= 0)
            continue;
        tl_loss loss = loss_of(row);
        if (row->rank == -1) {
            out->job = loss;
            out->wall_sum_ns = row->wall_ns;
            out->idle_ns = row->idle_ns;
            out->comm_exposed_ns = row->comm_exposed_ns;
            out->comm_waiting_ns = row->comm_waiting_ns;
            out->comm_transfer_ns = row->comm_transfer_ns;
            out->comm_unknown_ns = row->comm_unknown_ns;
            continue;
        }
        if (out->worst.name == NULL || loss.ns > out->worst.ns)
            out->worst = loss;
    }
}

/* Why most of the job's exposed communication is unknown that is. */
static void find_comm_doubt(tl_tables *tables, tl_answers *out)
{
    const tl_table *exposed = tl_tables_get(tables, &tl_exposed_schema);
    int64_t ns[TL_NCOMM_DOUBTS] = { 0 };

    for (size_t i = 0; i < exposed->n; i++) {
        const tl_exposed *row = tl_table_row(exposed, i);
        if (row->rank == -1 && row->step == -1 && row->unknown_why < TL_NCOMM_DOUBTS)
            ns[row->unknown_why] = tl_ns_add(ns[row->unknown_why], row->unknown_ns);
    }
    for (int doubt = 0; doubt < TL_NCOMM_DOUBTS; doubt++)
        if (ns[doubt] > ns[out->comm_doubt])
            out->comm_doubt = (tl_comm_doubt)doubt;
}

/* Rows of one rank lie together; those of all ranks are the first. */
static void find_path(tl_tables *tables, tl_answers *out)
{
    const tl_table *table = tl_tables_get(tables, &tl_path_row_schema);
    tl_path_facts *path = &out->path;
    int64_t rank_ns = 0, most_rank_ns = -1, most_ns = -1, imbalance_ns = 0;

    for (size_t i = 0; i < table->n; i++) {
        const tl_path_row *row = tl_table_row(table, i), *before = i > 0 ? tl_table_row(table, i - 1) : row;
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
        rank_ns = tl_ns_add(row->rank == before->rank ? rank_ns : 0, row->path_ns);
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

/* ---------------------------------------------------------------------------------------------- a missing trace's name */

/* How the trace of a rank would be called, as those of the others are:
 *
 *     rank-0.json.gz, rank-1.json.gz, rank-3.json.gz        2: rank-2.json.gz
 */
typedef struct file_name {
    char text[TL_FAMILY_BYTES];
} file_name;

/* Returns the file's name without its folder; empty where the cell is full, since the name may be cut. */
static file_name name_of(const tl_rank *row)
{
    file_name out = { "" };
    size_t n = strnlen(row->file, sizeof row->file), from = n;
    while (from > 0 && row->file[from - 1] != '/')
        from--;
    if (n < sizeof row->file && n - from < sizeof out.text)
        memcpy(out.text, row->file + from, n - from);
    return out;
}

/* The name with another number in place of the one at `at`, which is as wide if that begins with 0. */
static file_name with_number(const file_name *name, size_t at, int32_t number)
{
    file_name out;
    size_t n = strspn(name->text + at, "0123456789");
    int width = name->text[at] == '0' ? (int)n : 1;
    int used = snprintf(out.text, sizeof out.text, "%.*s%0*" PRId32 "%s", (int)at, name->text, width, number,
                        name->text + at + n);
    if (used < 0 || (size_t)used >= sizeof out.text)
        out.text[0] = '\0';
    return out;
}

/* Whether all others are called like the first, with their own numbers there. */
static bool fits(const tl_table *ranks, const file_name *first, size_t at)
{
    for (size_t i = 1; i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        const file_name expected = with_number(first, at, row->rank), is = name_of(row);
        if (strcmp(expected.text, is.text) != 0)
            return false;
    }
    return true;
}

void tl_file_of_family(const tl_table *ranks, int32_t rank, char out[TL_FAMILY_BYTES])
{
    out[0] = '\0';
    if (ranks->n < 2)
        return;
    const tl_rank *row = tl_table_row(ranks, 0);
    const file_name first = name_of(row);
    for (size_t at = 0, n; out[0] == '\0' && first.text[at] != '\0'; at += n > 0 ? n : 1) {
        n = strspn(first.text + at, "0123456789");
        if (n == 0 || n > 9 || strtol(first.text + at, NULL, 10) != row->rank || !fits(ranks, &first, at))
            continue;
        const file_name found = with_number(&first, at, rank);
        memcpy(out, found.text, sizeof found.text);
    }
}

/* -------------------------------------------------------------------------------------------------------- culprits */

static tl_finding finding_of(const tl_culprit *row)
{
    static const tl_finding findings[] = {
        [TL_CULPRIT_RANK] = TL_FOUND_STRAGGLER,
        [TL_CULPRIT_HOST] = TL_FOUND_STRAGGLER,
        [TL_CULPRIT_SEVERAL] = TL_FOUND_STRAGGLER,
        [TL_CULPRIT_UNTRACED] = TL_FOUND_STRAGGLER,
        [TL_CULPRIT_LINK] = TL_FOUND_LINK,
        [TL_CULPRIT_NOBODY] = TL_FOUND_NOBODY,
        [TL_CULPRIT_INCONCLUSIVE] = TL_FOUND_NO_VERDICT,
        [TL_CULPRIT_UNMATCHED] = TL_FOUND_UNMATCHED,
        [TL_CULPRIT_SILENCE] = TL_FOUND_SILENCE,
        [TL_CULPRIT_ONE_RANK] = TL_FOUND_ONE_RANK,
        [TL_CULPRIT_NO_WORK] = TL_FOUND_NO_WORK,
    };
    return findings[row->kind];
}

static tl_answer answer_of(uint8_t confidence, const char *doubts, size_t size)
{
    return (tl_answer){ (tl_confidence)confidence, tl_doubts_of_text(doubts, size) };
}

static void take_doubts(const tl_culprit *row, tl_answers *out)
{
    out->rank = answer_of(row->confidence, row->doubts, sizeof row->doubts);
    out->phase = answer_of(row->cause_confidence, row->cause_doubts, sizeof row->cause_doubts);
    out->waiting = answer_of(row->waiting_confidence, row->waiting_doubts, sizeof row->waiting_doubts);
    out->persistence = answer_of(row->steps_confidence, row->steps_doubts, sizeof row->steps_doubts);
}

static const tl_straggler *verdict_on(tl_tables *tables, int32_t rank)
{
    const tl_table *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    size_t at = rank >= 0 ? tl_table_from_rank(stragglers, rank) : stragglers->n;
    const tl_straggler *row = at < stragglers->n ? tl_table_row(stragglers, at) : NULL;
    return row != NULL && row->rank == rank ? row : NULL;
}

static const tl_slow_link_row *link_of(tl_tables *tables, const tl_culprit *c)
{
    static const tl_slow_link_row none = { .rank = -1, .peer = -1 };
    const tl_table *links = tl_tables_get(tables, &tl_slow_link_row_schema);
    for (size_t i = 0; i < links->n; i++) {
        const tl_slow_link_row *row = tl_table_row(links, i);
        if (row->link == c->link)
            return row;
    }
    return &none;
}

/* The largest first; of equals the lower rank. */
static void add_awaited(tl_answers *out, tl_awaited new)
{
    size_t at = out->nwaited_for < TL_WAITED_FOR_MOST ? out->nwaited_for : TL_WAITED_FOR_MOST;
    if (new.ns <= 0)
        return;
    out->nwaited_for++;
    for (; at > 0 && out->waited_for[at - 1].ns < new.ns; at--)
        if (at < TL_WAITED_FOR_MOST)
            out->waited_for[at] = out->waited_for[at - 1];
    if (at < TL_WAITED_FOR_MOST)
        out->waited_for[at] = new;
}

/* Sums the waiting for each rank, named as a culprit or not, and how much of all waiting may be exposed.  Rows of blame
 * with one to_rank stand together. */
static void find_waits(tl_tables *tables, tl_answers *out)
{
    const tl_table *blame = tl_tables_get(tables, &tl_blame_schema);
    double least =
        tl_parameter_value(tl_tables_get(tables, &tl_parameter_schema), "verdict_least_cost", TL_VERDICT_LEAST_COST);

    out->wait_exposed_ns = tl_ns_min(out->wait_ns, out->comm_waiting_ns);
    double least_ns = least * (double)out->wall_sum_ns;
    out->waits = out->wait_exposed_ns > 0 && (double)out->wait_exposed_ns >= least_ns;
    out->may_wait =
        !out->waits && out->comm_unknown_ns > 0 && (double)(out->wait_exposed_ns + out->comm_unknown_ns) >= least_ns;
    for (size_t i = 0; i < blame->n;) {
        tl_awaited of = { ((const tl_blame *)tl_table_row(blame, i))->to_rank, 0 };
        for (const tl_blame *row; i < blame->n && (row = tl_table_row(blame, i))->to_rank == of.rank; i++) {
            of.ns = tl_ns_sum(of.ns, row->direct_ns);
            out->passed_on_ns = tl_ns_sum(out->passed_on_ns, row->indirect_ns);
        }
        add_awaited(out, of);
    }
}

/* Forgets the gain of all links where a named link alone already gains 90 % of it. */
static void forget_links(tl_answers *out)
{
    for (size_t i = 0; i < out->nculprits; i++)
        if (tl_is_link(&out->culprits[i]) && out->culprits[i].gain_ns >= out->links_gain_ns - out->links_gain_ns / 10)
            out->links_gain_ns = -1;
}

static void take_culprits(tl_tables *tables, tl_answers *out)
{
    static const tl_culprit nothing = { .kind = TL_CULPRIT_NO_WORK,
                                        .confidence = TL_CONFIDENCE_LOW,
                                        .doubts = "no_verdict",
                                        .cause_confidence = TL_CONFIDENCE_LOW,
                                        .cause_doubts = "no_verdict",
                                        .waiting_confidence = TL_CONFIDENCE_LOW,
                                        .waiting_doubts = "no_verdict",
                                        .steps_confidence = TL_CONFIDENCE_LOW,
                                        .steps_doubts = "no_verdict" };
    const tl_table *table = tl_tables_get(tables, &tl_culprit_schema);
    const tl_culprit *first = table->n > 0 ? tl_table_row(table, 0) : &nothing;

    out->finding = finding_of(first);
    take_doubts(first, out);
    if (tl_is_culprit(first)) {
        out->culprits = first;
        while (out->nculprits < table->n && tl_is_culprit(&first[out->nculprits]))
            out->nculprits++;
        int32_t ranks[TL_RANKS_LISTED];
        if (tl_is_link(first))
            out->link = link_of(tables, first);
        else
            tl_delay_costs_by_activity(tl_tables_get(tables, &tl_blame_schema), ranks,
                                       tl_ranks_listed(first->ranks, sizeof first->ranks, ranks), out->activities);
        forget_links(out);
        const tl_rank *row = first->kind == TL_CULPRIT_RANK ? tl_rank_row(tables, first->rank) : NULL;
        if (tl_is_untraced(first))
            tl_file_of_family(tl_tables_get(tables, &tl_rank_schema), first->rank, out->untraced_file);
        out->by_order = row != NULL && strcmp(tl_rank_from_labels[row->rank_from], "order") == 0 ? row : NULL;
    } else if (out->finding == TL_FOUND_NOBODY) {
        out->most = verdict_on(tables, first->rank);
        out->most_ns = first->excess_ns;
    } else if (out->finding == TL_FOUND_NO_VERDICT) {
        out->why = verdict_on(tables, first->rank);
    }
}

/* Whether one trace at least could be read. */
static bool has_trace(const tl_table *ranks)
{
    for (size_t i = 0; i < ranks->n; i++)
        if (((const tl_rank *)tl_table_row(ranks, i))->status != TL_RANK_UNREADABLE)
            return true;
    return false;
}

static void find_excess(tl_tables *tables, tl_answers *out)
{
    const tl_table *table = tl_tables_get(tables, &tl_excess_row_schema);
    if (out->nculprits == 0 || tl_is_link(&out->culprits[0]))
        return;
    size_t first = tl_table_from_rank(table, out->culprits[0].rank), end = first;
    while (end < table->n && ((const tl_excess_row *)tl_table_row(table, end))->rank == out->culprits[0].rank)
        end++;
    out->excess = end > first ? tl_table_row(table, first) : NULL;
    out->nexcess = end - first;
}

bool tl_is_least(const tl_answers *a, const tl_culprit *c)
{
    bool lost = false;
    for (size_t i = 0; c->kind == TL_CULPRIT_RANK && a->health != NULL && i < a->health->n; i++) {
        const tl_health *row = tl_table_row(a->health, i);
        lost |= row->rank == c->rank && row->defect == TL_DEFECT_LOST;
    }
    return lost || tl_is_untraced(c);
}

void tl_answers_read(tl_tables *tables, tl_answers *out)
{
    tl_facts facts;

    tl_facts_find(tables, &facts);
    *out = (tl_answers){ .trust = facts.trust,
                         .measured_ns = facts.measured_ns,
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
    take_culprits(tables, out);
    find_excess(tables, out);
    const tl_table *phases = tl_tables_get(tables, &tl_phase_verdict_schema);
    if (phases->n > 0) {
        out->phases_alone = !has_trace(tl_tables_get(tables, &tl_rank_schema));
        out->phases = tl_table_row(phases, 0);
        out->nphases = phases->n;
    }
}
