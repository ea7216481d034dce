/* ask_json.c - the answers as one JSON object; ask.h has its keys. */
#include "answer_words.h"
#include "cell.h"
#include "tlmpi/model/participant.h"
#include "tlmpi/report/ask.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A key a line; objects and arrays in brackets of their own, but for arrays of numbers and words. */
typedef struct writer {
    FILE *out;
    int depth;
    bool first; /* nothing stands in this object or array yet */
    bool flat;  /* all on one line */
} writer;

/* Goes to where the next value stands; `name` NULL in an array. */
static void next(writer *j, const char *name)
{
    if (!j->first)
        fputc(',', j->out);
    if (!j->flat)
        fprintf(j->out, "\n%*s", 2 * j->depth, "");
    else if (!j->first)
        fputc(' ', j->out);
    j->first = false;
    if (name != NULL)
        fprintf(j->out, "\"%s\": ", name);
}

static void begin(writer *j, const char *name, char bracket)
{
    if (j->depth > 0)
        next(j, name);
    fputc(bracket, j->out);
    j->depth++;
    j->first = true;
}

static void end(writer *j, char bracket)
{
    j->depth--;
    if (!j->first && !j->flat)
        fprintf(j->out, "\n%*s", 2 * j->depth, "");
    fputc(bracket, j->out);
    j->first = false;
}

static void put_int(writer *j, const char *name, int64_t value)
{
    next(j, name);
    fprintf(j->out, "%" PRId64, value);
}

/* Where a number below 0 stands for none. */
static void put_known(writer *j, const char *name, int64_t value)
{
    next(j, name);
    if (value >= 0)
        fprintf(j->out, "%" PRId64, value);
    else
        fputs("null", j->out);
}

static void put_double(writer *j, const char *name, double value)
{
    char digits[32];
    next(j, name);
    tl_double_format(digits, sizeof digits, value);
    fputs(isfinite(value) ? digits : "null", j->out);
}

static void put_share(writer *j, const char *name, int64_t ns, int64_t of_ns)
{
    put_double(j, name, ns >= 0 && of_ns > 0 ? (double)ns / (double)of_ns : NAN);
}

static void put_bool(writer *j, const char *name, bool value)
{
    next(j, name);
    fputs(value ? "true" : "false", j->out);
}

static void put_null(writer *j, const char *name)
{
    next(j, name);
    fputs("null", j->out);
}

/* A cell of `size` bytes, which may fill it; an empty one is null. */
static void put_cell(writer *j, const char *name, const char *cell, size_t size)
{
    const char *stop = memchr(cell, 0, size);
    const tl_text text = { cell, stop != NULL ? (size_t)(stop - cell) : size };
    next(j, name);
    if (text.n > 0)
        tl_json_text(j->out, text);
    else
        fputs("null", j->out);
}

static void put_word(writer *j, const char *name, const char *word)
{
    put_cell(j, name, word, strlen(word));
}

static void put_words(writer *j, const char *name, const char *const *words)
{
    begin(j, name, '[');
    j->flat = true;
    for (; *words != NULL; words++)
        put_word(j, NULL, *words);
    end(j, ']');
    j->flat = false;
}

/* --------------------------------------------------------------------------------------------------------- answers */

static void put_confidence(writer *j, const tl_answer *answer)
{
    const char *words[TL_NDOUBTS + 1];
    size_t n = 0;
    for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++)
        if ((answer->doubts & 1u << doubt) != 0)
            words[n++] = tl_doubt_labels[doubt];
    words[n] = NULL;
    put_word(j, "confidence", tl_confidence_labels[answer->confidence]);
    put_words(j, "doubts", words);
}

static const tl_culprit *worst_of(const tl_answers *a)
{
    return a->finding > TL_FOUND_NOBODY ? &a->culprits[0] : NULL;
}

static const char *const *tables_of(const tl_culprit *c, const char *rank_table)
{
    static const char *words[3];
    words[0] = c != NULL && c->rank == NULL ? "link" : rank_table;
    words[1] = NULL;
    return words;
}

/* Where the ends of a link are not known, all ranks among which it is. */
static void put_members(writer *j, const char *name, const tl_culprit *c)
{
    enum { LISTED_MOST = 1024 };
    int32_t among[LISTED_MOST];
    const int32_t *members = c->members;
    size_t n = c->nmembers;

    if (n == 0 && c->link != NULL) {
        n = tl_ranks_of_text(c->link->ranks, sizeof c->link->ranks, among, LISTED_MOST);
        members = among;
    }
    begin(j, name, '[');
    j->flat = true;
    for (size_t i = 0; i < n; i++)
        put_int(j, NULL, members[i]);
    end(j, ']');
    j->flat = false;
}

static void put_which_rank(writer *j, const tl_answers *a)
{
    const tl_culprit *c = worst_of(a);

    begin(j, "which_rank", '{');
    put_known(j, "answer", c != NULL && c->rank != NULL ? c->rank->rank : -1);
    put_confidence(j, &a->rank);
    begin(j, "evidence", '{');
    if (c != NULL) {
        put_members(j, "ranks", c);
        put_known(j, "gain_ns", c->gain_ns);
        put_share(j, "gain_share", c->gain_ns, a->wall_ns);
        put_known(j, "together_gain_ns", a->nculprits > 1 || tl_is_several(c) ? a->together_gain_ns : -1);
        if (c->rank != NULL) {
            put_int(j, "step_cost_ns", c->step_cost_ns);
            put_int(j, "step_ns", c->step_ns);
            put_int(j, "collectives_last", c->late_count);
            put_int(j, "collectives_judged", a->trust.judged);
        }
        put_double(j, "z", c->rank != NULL ? c->rank->z : c->link->z);
        put_double(j, "p_value", c->p_value);
        put_double(j, "path_share", c->path_share);
    } else if (a->most != NULL) {
        put_int(j, "most_waited_for", a->most->rank);
        put_int(j, "most_waited_ns", a->most_ns);
        put_share(j, "most_waited_share", a->most_ns, a->wall_ns);
        put_double(j, "p_value", a->most->p_value);
    }
    end(j, '}');
    put_words(j, "tables", tables_of(c, "straggler"));
    end(j, '}');
}

static void put_which_phase(writer *j, const tl_answers *a)
{
    const tl_culprit *c = worst_of(a);

    begin(j, "which_phase", '{');
    if (c != NULL)
        put_word(j, "answer", tl_cause_labels[c->rank != NULL ? c->rank->cause : TL_CAUSE_SLOW_LINK]);
    else if (a->job.name != NULL)
        put_word(j, "answer", a->job.name);
    else
        put_null(j, "answer");
    put_confidence(j, &a->phase);
    begin(j, "evidence", '{');
    if (c != NULL && c->rank != NULL) {
        put_cell(j, "place", c->rank->place, sizeof c->rank->place);
        put_double(j, "cause_share", c->rank->cause_share);
        put_word(j, "cause_from",
                 tl_cause_from_labels[c->rank->cause_from == TL_CAUSE_FROM_PEERS ? TL_CAUSE_FROM_PEERS : TL_CAUSE_FROM_CHARGES]);
        begin(j, "waited_ns", '{');
        for (int p = 0; p <= TL_NPARTS; p++)
            if (c->parts[p] > 0)
                put_int(j, tl_part_labels[p], c->parts[p]);
        end(j, '}');
    } else if (c != NULL) {
        put_word(j, "kind", c->link->kind < TL_NCOLLECTIVES ? tl_collective_labels[c->link->kind] : "unknown");
        put_known(j, "bytes", c->link->bytes);
        put_int(j, "transfer_ns", c->link->transfer_ns);
        put_int(j, "should_take_ns", c->link->elsewhere_ns);
        put_double(j, "ratio", c->link->ratio);
    } else if (a->job.name != NULL) {
        put_int(j, "loss_ns", a->job.ns);
        put_share(j, "loss_share", a->job.ns, a->job.wall_ns);
    }
    end(j, '}');
    put_words(j, "tables", tables_of(c, c != NULL ? "blame" : "breakdown"));
    end(j, '}');
}

static void put_others_waiting(writer *j, const tl_answers *a)
{
    const tl_culprit *c = worst_of(a);

    begin(j, "others_waiting", '{');
    if (a->finding >= TL_FOUND_NOBODY)
        put_bool(j, "answer", c != NULL && c->nwaiters > 0);
    else
        put_null(j, "answer");
    put_confidence(j, &a->waiting);
    begin(j, "evidence", '{');
    put_int(j, "all_waiting_ns", a->wait_ns);
    put_share(j, "all_waiting_share", a->wait_ns, a->wall_sum_ns);
    if (c != NULL) {
        put_int(j, "blame_ns", c->blame_ns);
        put_int(j, "indirect_ns", c->indirect_ns);
        put_share(j, "share_of_all_waiting", c->blame_ns, a->wait_ns);
        put_int(j, "ranks_waiting", (int64_t)c->nwaiters);
        begin(j, "ranks", '[');
        j->flat = true;
        for (size_t i = 0; i < a->nwaiters; i++)
            put_int(j, NULL, a->waiters[i]);
        end(j, ']');
        j->flat = false;
    }
    end(j, '}');
    put_words(j, "tables", tables_of(NULL, "blame"));
    end(j, '}');
}

static void put_persistent(writer *j, const tl_answers *a)
{
    const tl_culprit *c = worst_of(a);

    begin(j, "persistent", '{');
    if (c != NULL)
        put_word(j, "answer", tl_pattern_labels[c->pattern]);
    else
        put_null(j, "answer");
    put_confidence(j, &a->persistence);
    begin(j, "evidence", '{');
    put_int(j, "steps", (int64_t)a->trust.nsteps);
    if (c != NULL) {
        if (c->rank != NULL) {
            put_int(j, "steps_flagged", (int64_t)c->nflagged);
            put_int(j, "steps_beside", (int64_t)c->nbeside);
            put_double(j, "share_steps", c->rank->share_steps);
        }
        put_known(j, "first_step", c->first_step);
        put_known(j, "last_step", c->last_step);
        put_double(j, "p_value", c->p_value);
    }
    end(j, '}');
    put_words(j, "tables", tables_of(c, "blame_step"));
    end(j, '}');
}

/* ------------------------------------------------------------------------------------------------------- what is
 * behind */

static void put_culprit(writer *j, const tl_answers *a, const tl_culprit *c)
{
    begin(j, NULL, '{');
    put_word(j, "kind", c->rank == NULL ? "link" : c->nmembers > 1 ? "ranks" : "rank");
    put_members(j, "ranks", c);
    put_known(j, "rank", c->rank != NULL ? c->rank->rank : c->link->rank);
    put_known(j, "peer", c->link != NULL ? c->link->peer : -1);
    if (c->of != NULL)
        put_cell(j, "host", c->of->host, sizeof c->of->host);
    else
        put_null(j, "host");
    put_known(j, "device", c->of != NULL && c->nmembers == 1 ? c->of->device : -1);
    put_word(j, "cause", tl_cause_labels[c->rank != NULL ? c->rank->cause : TL_CAUSE_SLOW_LINK]);
    put_double(j, "cause_share", c->rank != NULL ? c->rank->cause_share : 1);
    put_cell(j, "place", c->rank != NULL ? c->rank->place : "", c->rank != NULL ? sizeof c->rank->place : 1);
    put_word(j, "pattern", tl_pattern_labels[c->pattern]);
    put_known(j, "first_step", c->first_step);
    put_known(j, "last_step", c->last_step);
    put_known(j, "steps_flagged", c->rank != NULL ? (int64_t)c->nflagged : -1);
    put_double(j, "p_value", c->p_value);
    put_known(j, "gain_ns", c->gain_ns);
    put_share(j, "gain_share", c->gain_ns, a->wall_ns);
    put_double(j, "path_share", c->path_share);
    put_int(j, "lost_ns", c->lost_ns);
    put_int(j, "blame_ns", c->blame_ns);
    put_int(j, "ranks_waiting", (int64_t)c->nwaiters);
    end(j, '}');
}

static void put_loss(writer *j, const tl_answers *a)
{
    begin(j, "loss", '{');
    if (a->job.name != NULL) {
        put_word(j, "what", a->job.name);
        put_int(j, "ns", a->job.ns);
        put_share(j, "share", a->job.ns, a->job.wall_ns);
    }
    if (a->worst.name != NULL) {
        put_int(j, "rank", a->worst.rank);
        put_word(j, "rank_what", a->worst.name);
        put_int(j, "rank_ns", a->worst.ns);
        put_share(j, "rank_share", a->worst.ns, a->worst.wall_ns);
    }
    end(j, '}');
}

static void put_path(writer *j, const tl_answers *a)
{
    const tl_path_facts *path = &a->path;

    begin(j, "critical_path", '{');
    if (path->ns > 0) {
        put_int(j, "ns", path->ns);
        put_int(j, "rank", path->rank);
        put_double(j, "rank_share", path->rank_share);
        put_word(j, "activity", path->activity);
        put_double(j, "activity_share", path->activity_share);
        put_double(j, "imbalance_share", path->imbalance_share);
    }
    end(j, '}');
}

static void put_trust(writer *j, const tl_answers *a)
{
    const tl_trust *t = &a->trust;

    begin(j, "trust", '{');
    put_int(j, "ranks", (int64_t)t->nranks);
    put_int(j, "ranks_missing", (int64_t)t->missing);
    put_int(j, "ranks_damaged", (int64_t)t->damaged);
    put_int(j, "events_without_duration", t->untimed);
    put_int(j, "ranks_without_device_work", (int64_t)t->workless);
    put_int(j, "ranks_without_launches", (int64_t)t->launchless);
    put_int(j, "ranks_duplicate", (int64_t)t->duplicates);
    put_int(j, "world_size", t->world);
    put_int(j, "world_size_least", t->other_world);
    put_int(j, "ranks_unmarked", (int64_t)t->unmarked);
    put_int(j, "ranks_with_steps_of_others", (int64_t)t->following);
    put_int(j, "steps", (int64_t)t->nsteps);
    put_int(j, "left_out_ns", a->left_out != NULL ? a->left_out->left_out_ns : 0);
    put_int(j, "collectives", t->collectives);
    put_int(j, "matched", t->matched);
    put_int(j, "outside_steps", t->outside);
    put_int(j, "waiting_hidden_ns", t->hidden_wait_ns);
    put_int(j, "clocks", t->clocks);
    put_int(j, "clock_uncertainty_ns", t->clock_uncertainty_ns);
    put_int(j, "clocks_shifted", t->shifted);
    put_bool(j, "clocks_compared", !t->untied);
    put_bool(j, "simulated", t->simulated);
    put_double(j, "model_error", t->model_error);
    put_int(j, "wall_ns", a->wall_ns);
    end(j, '}');
}

void tl_print_answers_json(FILE *out, const tl_answers *a, const char *file)
{
    writer j = { .out = out };

    begin(&j, NULL, '{');
    put_int(&j, "format", 1);
    put_word(&j, "file", file);
    put_word(&j, "verdict", tl_finding_labels[a->finding]);
    put_which_rank(&j, a);
    put_which_phase(&j, a);
    put_others_waiting(&j, a);
    put_persistent(&j, a);
    begin(&j, "culprits", '[');
    for (size_t i = 0; i < a->nculprits; i++)
        put_culprit(&j, a, &a->culprits[i]);
    end(&j, ']');
    put_loss(&j, a);
    put_path(&j, a);
    put_trust(&j, a);
    end(&j, '}');
    fputc('\n', out);
}
