/* executions.c - how many nodes of execution traces ran, and why others did not:
 *
 *     Execution traces: 4,310 of 4,321 nodes linked to operators: 8 have no event and 3 have one of another name - 1 of
 *       another process than the trace's: none of its nodes (table execution_trace)
 */
#include "executions.h"

#include "tlmpi/report/format/words.h"
#include "tlmpi/report/format/wrap.h"

/* What is said of each, by linked_by; NULL: its nodes are counted. */
static const char *const refusals[] = { [TL_EXECUTION_NO_IDS] = "of a trace without ids of operators:",
                                        [TL_EXECUTION_OTHER_PROCESS] = "of another process than the trace's:",
                                        [TL_EXECUTION_NO_TRACE] = "of a rank without a trace:" };

static void say_counts(tl_wrap *w, const tl_execution_trace *sum)
{
    const struct {
        int64_t n;
        const char *one, *many;
    } kinds[] = { { sum->no_event, "has no event", "have no event" },
                  { sum->other_name, "has one of another name", "have one of another name" },
                  { sum->same_id, "shares its rf_id with a later one", "share their rf_id with a later one" },
                  { sum->left_out, "has one that is not analysed", "have one that is not analysed" } };
    int64_t unlinked = 0;
    bool first = true;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        unlinked += kinds[i].n;
    if (sum->linked + unlinked == 0) {
        tl_wrap_words(w, "no node of an operator");
        return;
    }
    tl_wrap_printf(w, "%s of %s node%s", tl_grouped(sum->linked).text, tl_grouped(sum->linked + unlinked).text,
                   tl_plural(sum->linked + unlinked));
    tl_wrap_words(w, unlinked > 0 ? "linked to operators:" : "linked to operators");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].n == 0)
            continue;
        if (!first)
            tl_wrap_words(w, "and");
        tl_wrap_printf(w, "%s", tl_grouped(kinds[i].n).text);
        tl_wrap_words(w, kinds[i].n == 1 ? kinds[i].one : kinds[i].many);
        first = false;
    }
}

void tl_say_executions(FILE *out, const tl_summary *s)
{
    int64_t refused[sizeof refusals / sizeof *refusals] = { 0 };
    tl_execution_trace sum = { 0 };
    int64_t files = 0;
    bool first = true;

    for (size_t i = 0; i < s->nexecutions; i++) {
        const tl_execution_trace *e = &s->executions[i];
        if (refusals[e->linked_by] != NULL) {
            refused[e->linked_by]++;
            continue;
        }
        files++;
        sum.linked += e->linked;
        sum.no_event += e->no_event;
        sum.other_name += e->other_name;
        sum.same_id += e->same_id;
        sum.left_out += e->left_out;
    }
    if (s->nexecutions == 0)
        return;
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_words(&w, "Execution traces:");
    if (files > 0) {
        say_counts(&w, &sum);
        first = false;
    }
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        if (refused[i] == 0)
            continue;
        if (!first)
            tl_wrap_words(&w, "-");
        tl_wrap_printf(&w, "%s", tl_grouped(refused[i]).text);
        tl_wrap_words(&w, refusals[i]);
        tl_wrap_words(&w, refused[i] == 1 ? "none of its nodes" : "none of their nodes");
        first = false;
    }
    tl_wrap_words(&w, "(table execution_trace)");
    tl_wrap_end(&w);
}
