/* json.c - the answers as one JSON object; page json of the manual has its keys. */
#include "tlmpi/model/health_table.h"
#include "tlmpi/report/answers/tell.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/report/format/json_writer.h"

/* Writes one or more columns of the culprit. */
static void put_culprit_columns(tl_json_writer *j, const tl_culprit *c, const char *columns)
{
    tl_put_columns(j, &tl_culprit_schema, c, columns);
}

/* Ends an answer's evidence with its table, and the answer. */
static void end_answer(tl_json_writer *j, const char *table)
{
    const char *const words[] = { table, NULL };
    tl_put_end(j, '}');
    tl_put_words(j, "tables", words);
    tl_put_end(j, '}');
}

static void put_doubts(tl_json_writer *j, const tl_answer *answer)
{
    const char *words[TL_NDOUBTS + 1];
    size_t n = 0;
    for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++)
        if ((answer->doubts & 1u << doubt) != 0)
            words[n++] = tl_doubt_labels[doubt];
    words[n] = NULL;
    tl_put_value(j, tl_json_word("confidence", tl_confidence_labels[answer->confidence]));
    tl_put_words(j, "doubts", words);
    tl_put_begin(j, "evidence", '{');
}

static void put_ranks(tl_json_writer *j, const char *cell, size_t size)
{
    int32_t ranks[TL_RANKS_LISTED];
    size_t n = tl_ranks_listed(cell, size, ranks);

    tl_put_begin_line(j, "ranks");
    for (size_t i = 0; i < n; i++)
        tl_put_value(j, tl_json_int(NULL, ranks[i]));
    tl_put_end(j, ']');
}

/* --------------------------------------------------------------------------------------------------- four questions */

static void put_which_rank(tl_json_writer *j, const tl_answers *a)
{
    const tl_culprit *c = a->first;
    bool link = c != NULL && tl_is_link(c);

    tl_put_begin(j, "which_rank", '{');
    tl_put_value(j, tl_json_known("answer", c != NULL && !link ? c->rank : -1));
    put_doubts(j, &a->rank);
    if (c != NULL) {
        put_ranks(j, c->ranks, sizeof c->ranks);
        put_culprit_columns(j, c, "gain_ns?");
        const bool together = a->nculprits > 1 || tl_is_several(c);
        tl_put_all(j, tl_json_share("gain_share", c->gain_ns, a->wall_ns),
                   tl_json_known("together_gain_ns", together ? a->together_gain_ns : -1),
                   tl_json_known("links_gain_ns", a->links_gain_ns));
        if (!link) {
            put_culprit_columns(j, c, "step_cost_ns step_ns");
            tl_put_all(j, tl_json_int("collectives_last", c->late_count),
                       tl_json_int("collectives_judged", a->trust.judged));
        }
        put_culprit_columns(j, c, "z p_value path_share");
    } else if (a->most != NULL) {
        tl_put_all(j, tl_json_int("most_excess", a->most->rank), tl_json_int("most_excess_ns", a->most_ns),
                   tl_json_share("most_excess_share", a->most_ns, a->wall_ns),
                   tl_json_real("p_value", a->most->p_value));
    }
    end_answer(j, link ? "link" : "straggler");
}

static void put_phase_of_rank(tl_json_writer *j, const tl_answers *a, const tl_culprit *c)
{
    put_culprit_columns(j, c, "place largest_cause cause_share");
    tl_put_begin(j, "excess", '[');
    for (size_t i = 0; i < a->nexcess; i++) {
        tl_put_begin(j, NULL, '{');
        tl_put_value(j, tl_json_word("of", tl_excess_labels[a->excess[i].of == TL_EXCESS_HOST]));
        tl_put_columns(j, &tl_excess_row_schema, &a->excess[i], "place own_ns peers_ns");
        tl_put_end(j, '}');
    }
    tl_put_end(j, ']');
    tl_put_begin(j, "waited_ns", '{');
    for (int p = 0; p <= TL_NACTIVITIES; p++)
        if (a->activities[p] > 0)
            tl_put_value(j, tl_json_int(tl_activity_labels[p], a->activities[p]));
    tl_put_end(j, '}');
}

static void put_which_phase(tl_json_writer *j, const tl_answers *a)
{
    const tl_culprit *c = a->first;
    bool link = c != NULL && tl_is_link(c);

    tl_put_begin(j, "which_phase", '{');
    tl_put_value(j, tl_json_word("answer", c == NULL           ? (a->job.name != NULL ? a->job.name : "")
                                           : tl_is_untraced(c) ? "untraced"
                                                               : tl_cause_labels[c->cause]));
    put_doubts(j, &a->phase);
    if (link) {
        const tl_slow_link_row *l = a->link;
        tl_put_all(j, tl_json_word("kind", l->kind < TL_NCOLLECTIVES ? tl_collective_labels[l->kind] : "unknown"),
                   tl_json_known("bytes", l->bytes), tl_json_int("transfer_ns", l->transfer_ns),
                   tl_json_int("should_take_ns", l->elsewhere_ns), tl_json_real("ratio", l->ratio));
    } else if (c != NULL) {
        put_phase_of_rank(j, a, c);
    } else if (a->job.name != NULL) {
        tl_put_all(j, tl_json_int("loss_ns", a->job.ns), tl_json_share("loss_share", a->job.ns, a->job.wall_ns));
    }
    end_answer(j, link ? "link" : c != NULL ? "blame" : "breakdown");
}

static void put_others_waiting(tl_json_writer *j, const tl_answers *a)
{
    const tl_culprit *c = a->first;
    bool waits = (c != NULL && (c->nwaiters > 0 || tl_is_untraced(c))) || a->waits || a->pairs_wait;

    tl_put_begin(j, "others_waiting", '{');
    const bool known = (a->finding >= TL_FOUND_NONE && (waits || !a->may_wait)) || (a->why != NULL && waits);
    tl_put_value(j, known ? tl_json_bool("answer", waits) : (tl_json_item){ .name = "answer" });
    put_doubts(j, &a->waiting);
    tl_put_all(j, tl_json_int("all_waiting_ns", a->wait_ns),
               tl_json_share("all_waiting_share", a->wait_ns, a->all.wall_ns),
               tl_json_int("exposed_ns", a->wait_exposed_ns), tl_json_int("uncharged_ns", a->uncharged_ns),
               tl_json_int("passed_on_ns", a->passed_on_ns));
    tl_put_begin(j, "waited_for", '[');
    for (size_t i = 0; i < a->nwaited_for && i < TL_WAITED_FOR_MOST; i++) {
        const tl_awaited *of = &a->waited_for[i];
        tl_put_object(j, NULL, tl_json_int("rank", of->rank), tl_json_int("ns", of->ns),
                      tl_json_share("share", of->ns, a->wait_ns));
    }
    tl_put_end(j, ']');
    tl_put_value(j, tl_json_int("ranks_waited_for", (int64_t)a->nwaited_for));
    if (c != NULL) {
        put_culprit_columns(j, c, "blame_ns indirect_ns");
        tl_put_all(j, tl_json_share("share_of_all_waiting", c->blame_ns, a->wait_ns),
                   tl_json_int("ranks_waiting", c->nwaiters));
        put_ranks(j, c->waiters, sizeof c->waiters);
    }
    end_answer(j, "blame");
}

static void put_persistent(tl_json_writer *j, const tl_answers *a)
{
    const tl_culprit *c = a->first;
    bool link = c != NULL && tl_is_link(c);

    tl_put_begin(j, "persistent", '{');
    tl_put_value(j, tl_json_word("answer", c != NULL ? tl_pattern_labels[c->pattern] : ""));
    put_doubts(j, &a->persistence);
    tl_put_value(j, tl_json_int("steps", (int64_t)a->trust.nsteps));
    if (c != NULL)
        put_culprit_columns(j, c,
                            link ? "first_step? last_step? p_value"
                                 : "steps_flagged steps_not_counted share_steps first_step? last_step? p_value");
    end_answer(j, link ? "link" : "blame_step");
}

/* -------------------------------------------------------------------------------------------------- what is after */

static void put_culprit(tl_json_writer *j, const tl_answers *a, const tl_culprit *c)
{
    tl_put_begin(j, NULL, '{');
    tl_put_value(j, tl_json_word("kind", tl_is_link(c)       ? "link"
                                         : tl_is_several(c)  ? "ranks"
                                         : tl_is_untraced(c) ? "untraced"
                                                             : "rank"));
    put_ranks(j, c->ranks, sizeof c->ranks);
    put_culprit_columns(j, c, "rank? peer? host device?");
    if (c == a->culprits && a->by_order != NULL)
        tl_put_value(j, tl_json_cell("file", a->by_order->file, sizeof a->by_order->file));
    if (c == a->culprits && a->untraced_file.text[0] != '\0')
        tl_put_value(j, tl_json_word("file", a->untraced_file.text));
    put_culprit_columns(j, c, "cause largest_cause cause_share place pattern first_step? last_step?");
    tl_put_value(j, tl_json_known("steps_flagged", tl_is_link(c) ? -1 : c->steps_flagged));
    put_culprit_columns(j, c, "p_value gain_ns?");
    tl_put_value(j, tl_json_share("gain_share", c->gain_ns, a->wall_ns));
    put_culprit_columns(j, c, "path_share excess_ns blame_ns");
    tl_put_value(j, tl_json_int("ranks_waiting", c->nwaiters));
    tl_put_end(j, '}');
}

/* Writes the largest losses; the time lost to imbalance and chance, for which no rank is at fault; the critical path,
 * what bounds the time, and what the answers rest on. */
static void put_facts(tl_json_writer *j, const tl_answers *a)
{
    const tl_path_facts *path = &a->path;
    const tl_imbalance *i = &a->imbalance;
    const tl_trust *t = &a->trust;

    tl_put_begin(j, "loss", '{');
    if (a->job.name != NULL) {
        tl_put_all(j, tl_json_word("what", a->job.name), tl_json_int("ns", a->job.ns),
                   tl_json_share("share", a->job.ns, a->job.wall_ns));
        tl_put_columns(j, &tl_breakdown_schema, &a->all, "comm_waiting_ns comm_transfer_ns comm_unknown_ns");
        tl_put_value(j, tl_json_word("comm_unknown_why", tl_comm_doubt_labels[a->comm_doubt]));
    }
    if (a->worst.name != NULL)
        tl_put_all(j, tl_json_int("rank", a->worst.rank), tl_json_word("rank_what", a->worst.name),
                   tl_json_int("rank_ns", a->worst.ns), tl_json_share("rank_share", a->worst.ns, a->worst.wall_ns));
    tl_put_end(j, '}');

    tl_put_object(j, "imbalance", tl_json_int("rank", i->rank), tl_json_real("times", i->times),
                  tl_json_int("roles_gain_ns", i->roles_ns), tl_json_int("chance_gain_ns", i->chance_ns),
                  tl_json_int("hosts_gain_ns", i->hosts_ns));

    tl_put_begin(j, "critical_path", '{');
    if (path->ns > 0)
        tl_put_all(j, tl_json_int("ns", path->ns), tl_json_int("unexplained_ns", path->unexplained_ns),
                   tl_json_int("rank", path->rank), tl_json_real("rank_share", path->rank_share),
                   tl_json_word("activity", path->activity), tl_json_real("activity_share", path->activity_share),
                   tl_json_real("imbalance_share", path->imbalance_share));
    tl_put_end(j, '}');

    tl_put_begin(j, "bound", '{');
    if (a->bound.wall_ns > 0)
        tl_put_columns(j, &tl_path_sum_schema, &a->bound,
                       "rank? wall_ns cpu_ns launch_ns kernel_kernel_ns compute_ns comm_ns copy_ns input_ns sync_ns "
                       "peer_ns unexplained_ns");
    tl_put_end(j, '}');

    tl_put_object(
        j, "trust", tl_json_int("ranks", (int64_t)t->nranks), tl_json_int("ranks_missing", (int64_t)t->missing),
        tl_json_int("ranks_damaged", (int64_t)t->damaged), tl_json_int("events_without_duration", t->untimed),
        tl_json_int("ranks_without_device_work", (int64_t)t->workless),
        tl_json_int("ranks_without_launches", (int64_t)t->launchless),
        tl_json_int("ranks_duplicate", (int64_t)t->duplicates), tl_json_int("world_size", t->world),
        tl_json_int("world_size_least", t->other_world), tl_json_int("ranks_unmarked", (int64_t)t->unmarked),
        tl_json_int("ranks_with_steps_of_others", (int64_t)t->following), tl_json_int("steps", (int64_t)t->nsteps),
        tl_json_int("collectives", t->collectives), tl_json_int("matched", t->matched),
        tl_json_int("outside_steps", t->outside), tl_json_int("waiting_hidden_ns", t->hidden_wait_ns),
        tl_json_int("clocks", t->clocks), tl_json_int("clock_uncertainty_ns", t->clock_uncertainty_ns),
        tl_json_int("clocks_shifted", t->shifted), tl_json_bool("clocks_compared", !t->untied),
        tl_json_bool("simulated", t->simulated), tl_json_real("model_error", t->model_error),
        tl_json_int("wall_ns", a->wall_ns));
}

/* Writes an array of n rows, one object each. */
static void put_rows(tl_json_writer *j, const char *name, const tl_schema *schema, const void *rows, size_t n,
                     const char *columns)
{
    tl_put_begin(j, name, '[');
    for (size_t i = 0; i < n; i++) {
        tl_put_begin(j, NULL, '{');
        tl_put_columns(j, schema, (const char *)rows + i * schema->row_size, columns);
        tl_put_end(j, '}');
    }
    tl_put_end(j, ']');
}

static void put_phases(tl_json_writer *j, const tl_answers *a)
{
    tl_put_value(j, tl_json_word("phases_verdict", tl_finding_labels[tl_phase_finding(a)]));
    put_rows(j, "phases", &tl_phase_verdict_schema, a->phases + 1, a->nphases - 1,
             "rank phase verdict pattern excess_ns cost_ns p_value reason");
}

static void put_answers(tl_json_writer *j, const tl_answers *a)
{
    tl_put_value(j, tl_json_word("verdict", tl_finding_labels[a->finding]));
    put_which_rank(j, a);
    put_which_phase(j, a);
    put_others_waiting(j, a);
    put_persistent(j, a);
    tl_put_begin(j, "culprits", '[');
    for (size_t i = 0; i < a->nculprits; i++)
        put_culprit(j, a, &a->culprits[i]);
    tl_put_end(j, ']');
    put_facts(j, a);
    put_rows(j, "health", &tl_health_schema, a->health != NULL ? a->health->rows : NULL,
             a->health != NULL ? a->health->n : 0, "rank? defect step? count of time_ns done");
    if (tl_has_phases(a))
        put_phases(j, a);
}

/* ---------------------------------------------------------------------------------------------------- phases alone */

static void put_phase_answer(tl_json_writer *j, const tl_answers *a, const char *question, tl_json_item answer,
                             const char *table)
{
    const tl_phase_verdict *row = a->phases;
    tl_put_begin(j, question, '{');
    tl_put_value(j, answer);
    put_doubts(j, &(tl_answer){ .confidence = (tl_confidence)row->confidence });
    tl_put_columns(j, &tl_phase_verdict_schema, tl_phase_told_of(a), "reason");
    if (row->verdict == TL_PHASE_STRAGGLER) {
        tl_put_all(j, tl_json_int("excess_ns", row->excess_ns), tl_json_real("excess_share", row->share));
        tl_put_columns(j, &tl_phase_verdict_schema, row, "cost_ns waits_in");
        tl_put_value(j, tl_json_int("ranks_waiting", row->nwaiters));
        tl_put_columns(j, &tl_phase_verdict_schema, row, "waited_ns steps_flagged first_step last_step z p_value");
    }
    tl_put_value(j, tl_json_int("steps", row->steps));
    end_answer(j, table);
}

static void put_phase_answers(tl_json_writer *j, const tl_answers *a)
{
    const tl_phase_verdict *row = a->phases;
    bool named = row->verdict == TL_PHASE_STRAGGLER;

    tl_put_value(j, tl_json_word("verdict", tl_finding_labels[tl_phase_finding(a)]));
    put_phase_answer(j, a, "which_rank", tl_json_known("answer", row->rank), "phase_verdict");
    put_phase_answer(j, a, "which_phase", tl_json_cell("answer", row->phase, sizeof row->phase), "phase");
    put_phase_answer(j, a, "others_waiting",
                     named ? tl_json_bool("answer", row->nwaiters > 0) : (tl_json_item){ .name = "answer" }, "phase");
    put_phase_answer(j, a, "persistent", tl_json_word("answer", named ? tl_pattern_labels[row->pattern] : ""),
                     "phase_step");
    put_phases(j, a);
}

void tl_print_answers_json(FILE *out, const tl_answers *a, const char *file)
{
    tl_json_writer j = { .out = out };

    tl_put_begin(&j, NULL, '{');
    tl_put_all(&j, tl_json_int("format", 1), tl_json_word("file", file));
    if (a->selection != NULL)
        tl_put_value(&j, tl_json_word("selection", a->selection));
    if (a->notes != NULL)
        tl_put_value(&j, tl_json_word("selection_notes", a->notes));
    if (a->phases_alone)
        put_phase_answers(&j, a);
    else
        put_answers(&j, a);
    tl_put_end(&j, '}');
    fputc('\n', out);
}
