/* phases.c - the four questions where there are only durations of phases, and what these say beside traces:
 *
 *     Which rank holds the job up?
 *       Rank 3 holds the job up in 90 of 90 steps - in host_to_device it takes 60.1 ms longer than its peers
 *       Cost: 5.2 s of 31.0 s (16.8 %) of the time of recorded steps
 *       Confidence: high (tlmpi show traces.h5 phase_verdict)
 */
#include "asking.h"
#include "phases.h"
#include "tlmpi/report/format/json_writer.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>

/* Rows that are told of besides the first. */
enum { ALSO_NAMED = 4 };

static void ask(const asking *q, const char *question, void (*say)(tl_wrap *, const tl_answers *))
{
    fprintf(q->out, "%s\n ", question);
    tl_wrap w = { .out = q->out, .indent = 2, .column = 1, .columns = q->columns, .begun = true };
    say(&w, q->a);
    tl_wrap_end(&w);
}

static void say_cost(const asking *q)
{
    if (q->a->phases->verdict != TL_PHASE_STRAGGLER)
        return;
    tl_wrap w = paragraph(q, "Cost:");
    tl_say_phase_cost(&w, q->a);
    tl_wrap_end(&w);
}

static void say_confidence(const asking *q, const char *table)
{
    tl_wrap w = paragraph(q, "Confidence:");
    tl_wrap_printf(&w, "%s", tl_confidence_labels[q->a->phases->confidence]);
    tl_wrap_printf(&w, "(tlmpi show %s %s)", q->file, table);
    tl_wrap_end(&w);
}

static void say_also(const asking *q)
{
    const tl_answers *a = q->a;
    size_t n = 0;
    for (size_t i = 1; i < a->nphases && n < ALSO_NAMED; i++) {
        if (&a->phases[i] == tl_phase_told_of(a))
            continue;
        tl_wrap w = paragraph(q, "Also:");
        tl_say_phase_also(&w, &a->phases[i]);
        tl_wrap_end(&w);
        n++;
    }
}

void tl_print_phase_answers(FILE *out, const tl_answers *a, const char *file, size_t columns)
{
    const asking q = { out, a, file, columns };
    ask(&q, "Which rank holds the job up?", tl_say_phase_rank);
    say_cost(&q);
    say_also(&q);
    say_confidence(&q, "phase_verdict");
    ask(&q, "\nIn which phase, and why?", tl_say_phase_reason);
    say_confidence(&q, "phase");
    ask(&q, "\nDo others wait?", tl_say_phase_waiting);
    say_confidence(&q, "phase");
    ask(&q, "\nAlways, or only for a while?", tl_say_phase_pattern);
    say_confidence(&q, "phase_step");
}

void tl_print_phases_beside_traces(FILE *out, const tl_answers *a, const char *file, size_t columns)
{
    const asking q = { out, a, file, columns };
    char question[80];
    snprintf(question, sizeof question, "\nWhat do the phases say that were timed in %" PRId64 " step%s?",
             a->phases->steps, tl_plural(a->phases->steps));
    ask(&q, question, tl_say_phase_rank);
    tl_wrap w = paragraph(&q, "");
    tl_say_phase_reason(&w, a);
    tl_wrap_end(&w);
    say_cost(&q);
    say_also(&q);
    say_confidence(&q, "phase_verdict");
}

/* ------------------------------------------------------------------------------------------------------------ JSON */

static void end_answer(tl_json_writer *j, const tl_answers *a, const char *table)
{
    const tl_phase_verdict *row = a->phases;
    const char *const none[] = { NULL }, *const tables[] = { table, NULL };
    tl_put_word(j, "confidence", tl_confidence_labels[row->confidence]);
    tl_put_words(j, "doubts", none);
    tl_put_begin(j, "evidence", '{');
    tl_put_cell(j, "reason", tl_phase_told_of(a)->reason, sizeof row->reason);
    if (row->verdict == TL_PHASE_STRAGGLER) {
        tl_put_int(j, "excess_ns", row->excess_ns);
        tl_put_double(j, "excess_share", row->share);
        tl_put_int(j, "cost_ns", row->cost_ns);
        tl_put_cell(j, "waits_in", row->waits_in, sizeof row->waits_in);
        tl_put_int(j, "ranks_waiting", row->nwaiters);
        tl_put_int(j, "waited_ns", row->waited_ns);
        tl_put_int(j, "steps_flagged", row->steps_flagged);
        tl_put_int(j, "first_step", row->first_step);
        tl_put_int(j, "last_step", row->last_step);
        tl_put_double(j, "z", row->z);
        tl_put_double(j, "p_value", row->p_value);
    }
    tl_put_int(j, "steps", row->steps);
    tl_put_end(j, '}');
    tl_put_words(j, "tables", tables);
    tl_put_end(j, '}');
}

void tl_put_phases(tl_json_writer *j, const tl_answers *a)
{
    tl_put_word(j, "phases_verdict", tl_finding_labels[tl_phase_finding(a)]);
    tl_put_begin(j, "phases", '[');
    for (size_t i = 1; i < a->nphases; i++) {
        const tl_phase_verdict *row = &a->phases[i];
        tl_put_begin(j, NULL, '{');
        tl_put_int(j, "rank", row->rank);
        tl_put_cell(j, "phase", row->phase, sizeof row->phase);
        tl_put_word(j, "verdict", tl_phase_answer_labels[row->verdict]);
        tl_put_word(j, "pattern", tl_pattern_labels[row->pattern]);
        tl_put_int(j, "excess_ns", row->excess_ns);
        tl_put_int(j, "cost_ns", row->cost_ns);
        tl_put_double(j, "p_value", row->p_value);
        tl_put_cell(j, "reason", row->reason, sizeof row->reason);
        tl_put_end(j, '}');
    }
    tl_put_end(j, ']');
}

void tl_put_phase_answers(tl_json_writer *j, const tl_answers *a)
{
    const tl_phase_verdict *row = a->phases;
    bool named = row->verdict == TL_PHASE_STRAGGLER;

    tl_put_word(j, "verdict", tl_finding_labels[tl_phase_finding(a)]);
    tl_put_begin(j, "which_rank", '{');
    tl_put_known(j, "answer", row->rank);
    end_answer(j, a, "phase_verdict");
    tl_put_begin(j, "which_phase", '{');
    tl_put_cell(j, "answer", row->phase, sizeof row->phase);
    end_answer(j, a, "phase");
    tl_put_begin(j, "others_waiting", '{');
    if (named)
        tl_put_bool(j, "answer", row->nwaiters > 0);
    else
        tl_put_null(j, "answer");
    end_answer(j, a, "phase");
    tl_put_begin(j, "persistent", '{');
    tl_put_word(j, "answer", named ? tl_pattern_labels[row->pattern] : "");
    end_answer(j, a, "phase_step");
    tl_put_phases(j, a);
}
