/* json.c - the answers as one JSON object; ask.h has its keys. */
#include "phases.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/report/answers/words.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/report/format/json_writer.h"
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- answers */

static void put_confidence(tl_json_writer *j, const tl_answer *answer)
{
    const char *words[TL_NDOUBTS + 1];
    size_t n = 0;
    for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++)
        if ((answer->doubts & 1u << doubt) != 0)
            words[n++] = tl_doubt_labels[doubt];
    words[n] = NULL;
    tl_put_word(j, "confidence", tl_confidence_labels[answer->confidence]);
    tl_put_words(j, "doubts", words);
}

static const tl_culprit *worst_of(const tl_answers *a)
{
    return a->finding > TL_FOUND_NOBODY ? &a->culprits[0] : NULL;
}

/* Puts the name of the table with the evidence: "link" for a link, else rank_table. */
static void put_table(tl_json_writer *j, const tl_culprit *c, const char *rank_table)
{
    const char *const words[] = { c != NULL && tl_is_link(c) ? "link" : rank_table, NULL };
    tl_put_words(j, "tables", words);
}

static void put_ranks(tl_json_writer *j, const char *name, const char *cell, size_t size)
{
    int32_t ranks[TL_RANKS_LISTED];
    size_t n = tl_ranks_listed(cell, size, ranks);

    tl_put_begin_line(j, name);
    for (size_t i = 0; i < n; i++)
        tl_put_int(j, NULL, ranks[i]);
    tl_put_end(j, ']');
}

static void put_which_rank(tl_json_writer *j, const tl_answers *a)
{
    const tl_culprit *c = worst_of(a);

    tl_put_begin(j, "which_rank", '{');
    tl_put_known(j, "answer", c != NULL && !tl_is_link(c) ? c->rank : -1);
    put_confidence(j, &a->rank);
    tl_put_begin(j, "evidence", '{');
    if (c != NULL) {
        put_ranks(j, "ranks", c->ranks, sizeof c->ranks);
        tl_put_known(j, "gain_ns", c->gain_ns);
        tl_put_share(j, "gain_share", c->gain_ns, a->wall_ns);
        tl_put_known(j, "together_gain_ns", a->nculprits > 1 || tl_is_several(c) ? a->together_gain_ns : -1);
        tl_put_known(j, "links_gain_ns", a->links_gain_ns);
        if (!tl_is_link(c)) {
            tl_put_int(j, "step_cost_ns", c->step_cost_ns);
            tl_put_int(j, "step_ns", c->step_ns);
            tl_put_int(j, "collectives_last", c->late_count);
            tl_put_int(j, "collectives_judged", a->trust.judged);
        }
        tl_put_double(j, "z", c->z);
        tl_put_double(j, "p_value", c->p_value);
        tl_put_double(j, "path_share", c->path_share);
    } else if (a->most != NULL) {
        tl_put_int(j, "most_excess", a->most->rank);
        tl_put_int(j, "most_excess_ns", a->most_ns);
        tl_put_share(j, "most_excess_share", a->most_ns, a->wall_ns);
        tl_put_double(j, "p_value", a->most->p_value);
    }
    tl_put_end(j, '}');
    put_table(j, c, "straggler");
    tl_put_end(j, '}');
}

static void put_which_phase(tl_json_writer *j, const tl_answers *a)
{
    const tl_culprit *c = worst_of(a);

    tl_put_begin(j, "which_phase", '{');
    if (c != NULL)
        tl_put_word(j, "answer", tl_is_untraced(c) ? "untraced" : tl_cause_labels[c->cause]);
    else if (a->job.name != NULL)
        tl_put_word(j, "answer", a->job.name);
    else
        tl_put_null(j, "answer");
    put_confidence(j, &a->phase);
    tl_put_begin(j, "evidence", '{');
    if (c != NULL && !tl_is_link(c)) {
        tl_put_cell(j, "place", c->place, sizeof c->place);
        tl_put_word(j, "largest_cause", tl_cause_labels[c->largest_cause]);
        tl_put_double(j, "cause_share", c->cause_share);
        tl_put_word(
            j, "cause_from",
            tl_cause_from_labels[c->cause_from == TL_CAUSE_FROM_GAIN ? TL_CAUSE_FROM_GAIN : TL_CAUSE_FROM_NOTHING]);
        tl_put_begin(j, "excess", '[');
        for (size_t i = 0; i < a->nexcess; i++) {
            tl_put_begin(j, NULL, '{');
            tl_put_word(j, "of", tl_excess_labels[a->excess[i].of == TL_EXCESS_HOST]);
            tl_put_cell(j, "place", a->excess[i].place, sizeof a->excess[i].place);
            tl_put_int(j, "own_ns", a->excess[i].own_ns);
            tl_put_int(j, "peers_ns", a->excess[i].peers_ns);
            tl_put_end(j, '}');
        }
        tl_put_end(j, ']');
        tl_put_begin(j, "waited_ns", '{');
        for (int p = 0; p <= TL_NACTIVITIES; p++)
            if (a->activities[p] > 0)
                tl_put_int(j, tl_activity_labels[p], a->activities[p]);
        tl_put_end(j, '}');
    } else if (c != NULL) {
        tl_put_word(j, "kind", a->link->kind < TL_NCOLLECTIVES ? tl_collective_labels[a->link->kind] : "unknown");
        tl_put_known(j, "bytes", a->link->bytes);
        tl_put_int(j, "transfer_ns", a->link->transfer_ns);
        tl_put_int(j, "should_take_ns", a->link->elsewhere_ns);
        tl_put_double(j, "ratio", a->link->ratio);
    } else if (a->job.name != NULL) {
        tl_put_int(j, "loss_ns", a->job.ns);
        tl_put_share(j, "loss_share", a->job.ns, a->job.wall_ns);
    }
    tl_put_end(j, '}');
    put_table(j, c, c != NULL ? "blame" : "breakdown");
    tl_put_end(j, '}');
}

static void put_others_waiting(tl_json_writer *j, const tl_answers *a)
{
    const tl_culprit *c = worst_of(a);

    tl_put_begin(j, "others_waiting", '{');
    bool waits = (c != NULL && (c->nwaiters > 0 || tl_is_untraced(c))) || a->waits;
    if ((a->finding >= TL_FOUND_NOBODY && (waits || !a->may_wait)) || (a->why != NULL && a->waits))
        tl_put_bool(j, "answer", waits);
    else
        tl_put_null(j, "answer");
    put_confidence(j, &a->waiting);
    tl_put_begin(j, "evidence", '{');
    tl_put_int(j, "all_waiting_ns", a->wait_ns);
    tl_put_share(j, "all_waiting_share", a->wait_ns, a->wall_sum_ns);
    tl_put_int(j, "exposed_ns", a->wait_exposed_ns);
    tl_put_int(j, "passed_on_ns", a->passed_on_ns);
    tl_put_begin(j, "waited_for", '[');
    for (size_t i = 0; i < a->nwaited_for && i < TL_WAITED_FOR_MOST; i++) {
        tl_put_begin(j, NULL, '{');
        tl_put_int(j, "rank", a->waited_for[i].rank);
        tl_put_int(j, "ns", a->waited_for[i].ns);
        tl_put_share(j, "share", a->waited_for[i].ns, a->wait_ns);
        tl_put_end(j, '}');
    }
    tl_put_end(j, ']');
    tl_put_int(j, "ranks_waited_for", (int64_t)a->nwaited_for);
    if (c != NULL) {
        tl_put_int(j, "blame_ns", c->blame_ns);
        tl_put_int(j, "indirect_ns", c->indirect_ns);
        tl_put_share(j, "share_of_all_waiting", c->blame_ns, a->wait_ns);
        tl_put_int(j, "ranks_waiting", c->nwaiters);
        put_ranks(j, "ranks", c->waiters, sizeof c->waiters);
    }
    tl_put_end(j, '}');
    put_table(j, NULL, "blame");
    tl_put_end(j, '}');
}

static void put_persistent(tl_json_writer *j, const tl_answers *a)
{
    const tl_culprit *c = worst_of(a);

    tl_put_begin(j, "persistent", '{');
    if (c != NULL)
        tl_put_word(j, "answer", tl_pattern_labels[c->pattern]);
    else
        tl_put_null(j, "answer");
    put_confidence(j, &a->persistence);
    tl_put_begin(j, "evidence", '{');
    tl_put_int(j, "steps", (int64_t)a->trust.nsteps);
    if (c != NULL) {
        if (!tl_is_link(c)) {
            tl_put_int(j, "steps_flagged", c->steps_flagged);
            tl_put_int(j, "steps_not_counted", c->steps_not_counted);
            tl_put_double(j, "share_steps", c->share_steps);
        }
        tl_put_known(j, "first_step", c->first_step);
        tl_put_known(j, "last_step", c->last_step);
        tl_put_double(j, "p_value", c->p_value);
    }
    tl_put_end(j, '}');
    put_table(j, c, "blame_step");
    tl_put_end(j, '}');
}

/* -------------------------------------------------------------------------------------------------- what is after */

static void put_culprit(tl_json_writer *j, const tl_answers *a, const tl_culprit *c)
{
    tl_put_begin(j, NULL, '{');
    tl_put_word(j, "kind",
                tl_is_link(c)       ? "link"
                : tl_is_several(c)  ? "ranks"
                : tl_is_untraced(c) ? "untraced"
                                    : "rank");
    put_ranks(j, "ranks", c->ranks, sizeof c->ranks);
    tl_put_known(j, "rank", c->rank);
    tl_put_known(j, "peer", c->peer);
    if (c->host[0] != '\0' || c->kind == TL_CULPRIT_RANK || (tl_is_link(c) && c->nranks > 0))
        tl_put_cell(j, "host", c->host, sizeof c->host);
    else
        tl_put_null(j, "host");
    tl_put_known(j, "device", c->device);
    if (c == a->culprits && a->by_order != NULL)
        tl_put_cell(j, "file", a->by_order->file, sizeof a->by_order->file);
    if (c == a->culprits && a->untraced_file[0] != '\0')
        tl_put_word(j, "file", a->untraced_file);
    tl_put_word(j, "cause", tl_cause_labels[c->cause]);
    tl_put_word(j, "largest_cause", tl_cause_labels[c->largest_cause]);
    tl_put_double(j, "cause_share", c->cause_share);
    tl_put_cell(j, "place", c->place, sizeof c->place);
    tl_put_word(j, "pattern", tl_pattern_labels[c->pattern]);
    tl_put_known(j, "first_step", c->first_step);
    tl_put_known(j, "last_step", c->last_step);
    tl_put_known(j, "steps_flagged", tl_is_link(c) ? -1 : c->steps_flagged);
    tl_put_double(j, "p_value", c->p_value);
    tl_put_known(j, "gain_ns", c->gain_ns);
    tl_put_share(j, "gain_share", c->gain_ns, a->wall_ns);
    tl_put_double(j, "path_share", c->path_share);
    tl_put_int(j, "excess_ns", c->excess_ns);
    tl_put_int(j, "blame_ns", c->blame_ns);
    tl_put_int(j, "ranks_waiting", c->nwaiters);
    tl_put_end(j, '}');
}

static void put_loss(tl_json_writer *j, const tl_answers *a)
{
    tl_put_begin(j, "loss", '{');
    if (a->job.name != NULL) {
        tl_put_word(j, "what", a->job.name);
        tl_put_int(j, "ns", a->job.ns);
        tl_put_share(j, "share", a->job.ns, a->job.wall_ns);
        tl_put_int(j, "comm_waiting_ns", a->comm_waiting_ns);
        tl_put_int(j, "comm_transfer_ns", a->comm_transfer_ns);
        tl_put_int(j, "comm_unknown_ns", a->comm_unknown_ns);
        tl_put_word(j, "comm_unknown_why", tl_comm_doubt_labels[a->comm_doubt]);
    }
    if (a->worst.name != NULL) {
        tl_put_int(j, "rank", a->worst.rank);
        tl_put_word(j, "rank_what", a->worst.name);
        tl_put_int(j, "rank_ns", a->worst.ns);
        tl_put_share(j, "rank_share", a->worst.ns, a->worst.wall_ns);
    }
    tl_put_end(j, '}');
}

static void put_path(tl_json_writer *j, const tl_answers *a)
{
    const tl_path_facts *path = &a->path;

    tl_put_begin(j, "critical_path", '{');
    if (path->ns > 0) {
        tl_put_int(j, "ns", path->ns);
        tl_put_int(j, "unexplained_ns", path->unexplained_ns);
        tl_put_int(j, "rank", path->rank);
        tl_put_double(j, "rank_share", path->rank_share);
        tl_put_word(j, "activity", path->activity);
        tl_put_double(j, "activity_share", path->activity_share);
        tl_put_double(j, "imbalance_share", path->imbalance_share);
    }
    tl_put_end(j, '}');
}

/* Puts the time lost to imbalance and chance, for which no rank is at fault. */
static void put_imbalance(tl_json_writer *j, const tl_answers *a)
{
    tl_put_begin(j, "imbalance", '{');
    tl_put_int(j, "rank", a->imbalance.rank);
    tl_put_double(j, "times", a->imbalance.times);
    tl_put_int(j, "roles_gain_ns", a->imbalance.roles_ns);
    tl_put_int(j, "chance_gain_ns", a->imbalance.chance_ns);
    tl_put_int(j, "hosts_gain_ns", a->imbalance.hosts_ns);
    tl_put_end(j, '}');
}

static void put_trust(tl_json_writer *j, const tl_answers *a)
{
    const tl_trust *t = &a->trust;

    tl_put_begin(j, "trust", '{');
    tl_put_int(j, "ranks", (int64_t)t->nranks);
    tl_put_int(j, "ranks_missing", (int64_t)t->missing);
    tl_put_int(j, "ranks_damaged", (int64_t)t->damaged);
    tl_put_int(j, "events_without_duration", t->untimed);
    tl_put_int(j, "ranks_without_device_work", (int64_t)t->workless);
    tl_put_int(j, "ranks_without_launches", (int64_t)t->launchless);
    tl_put_int(j, "ranks_duplicate", (int64_t)t->duplicates);
    tl_put_int(j, "world_size", t->world);
    tl_put_int(j, "world_size_least", t->other_world);
    tl_put_int(j, "ranks_unmarked", (int64_t)t->unmarked);
    tl_put_int(j, "ranks_with_steps_of_others", (int64_t)t->following);
    tl_put_int(j, "steps", (int64_t)t->nsteps);
    tl_put_int(j, "collectives", t->collectives);
    tl_put_int(j, "matched", t->matched);
    tl_put_int(j, "outside_steps", t->outside);
    tl_put_int(j, "waiting_hidden_ns", t->hidden_wait_ns);
    tl_put_int(j, "clocks", t->clocks);
    tl_put_int(j, "clock_uncertainty_ns", t->clock_uncertainty_ns);
    tl_put_int(j, "clocks_shifted", t->shifted);
    tl_put_bool(j, "clocks_compared", !t->untied);
    tl_put_bool(j, "simulated", t->simulated);
    tl_put_double(j, "model_error", t->model_error);
    tl_put_int(j, "wall_ns", a->wall_ns);
    tl_put_end(j, '}');
}

static void put_health(tl_json_writer *j, const tl_answers *a)
{
    tl_put_begin(j, "health", '[');
    for (size_t i = 0; a->health != NULL && i < a->health->n; i++) {
        const tl_health *row = tl_table_row(a->health, i);
        tl_put_begin(j, NULL, '{');
        tl_put_known(j, "rank", row->rank);
        tl_put_word(j, "defect", tl_defect_labels[row->defect]);
        tl_put_known(j, "step", row->step);
        tl_put_int(j, "count", row->count);
        tl_put_int(j, "of", row->of);
        tl_put_int(j, "time_ns", row->time_ns);
        tl_put_word(j, "done", tl_remedy_labels[row->done]);
        tl_put_end(j, '}');
    }
    tl_put_end(j, ']');
}

static void put_answers(tl_json_writer *j, const tl_answers *a)
{
    tl_put_word(j, "verdict", tl_finding_labels[a->finding]);
    put_which_rank(j, a);
    put_which_phase(j, a);
    put_others_waiting(j, a);
    put_persistent(j, a);
    tl_put_begin(j, "culprits", '[');
    for (size_t i = 0; i < a->nculprits; i++)
        put_culprit(j, a, &a->culprits[i]);
    tl_put_end(j, ']');
    put_loss(j, a);
    put_imbalance(j, a);
    put_path(j, a);
    put_trust(j, a);
    put_health(j, a);
    if (tl_has_phases(a))
        tl_put_phases(j, a);
}

void tl_print_answers_json(FILE *out, const tl_answers *a, const char *file)
{
    tl_json_writer j = { .out = out };

    tl_put_begin(&j, NULL, '{');
    tl_put_int(&j, "format", 1);
    tl_put_word(&j, "file", file);
    if (a->selection != NULL)
        tl_put_word(&j, "selection", a->selection);
    if (a->notes != NULL)
        tl_put_word(&j, "selection_notes", a->notes);
    if (a->phases_alone)
        tl_put_phase_answers(&j, a);
    else
        put_answers(&j, a);
    tl_put_end(&j, '}');
    fputc('\n', out);
}
