/* text.c - the verdict of a comparison in sentences. */
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/report/diff.h"
#include "tlmpi/report/format/words.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Findings and operators that are said; the tables hold all. */
enum { FOUND_SAID = 8, NEW_OPERATORS = 3 };

/* Returns for how many bytes a name begins like another name that is said. */
static size_t alike(const tl_diff_words *d, uint32_t id)
{
    tl_text t = d->name(d->name_arg, id);
    size_t most = 0;
    TL_ROWS (const tl_diff_found, row, d->found) {
        const uint32_t others[] = { row->name, row->b_name, row->why };
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            if (others[i] == TL_NO_NAME || others[i] == id)
                continue;
            tl_text other = d->name(d->name_arg, others[i]);
            size_t n = 0;
            while (n < t.n && n < other.n && t.p[n] == other.p[n])
                n++;
            most = n > most ? n : most;
        }
    }
    return most;
}

/* Returns the name; of a long one the beginning, or where another name that is said begins alike, the beginning and the
 * place from which both differ. */
static tl_phrase name_of(const tl_diff_words *d, uint32_t id)
{
    enum { SHOWN = 72, CUT = SHOWN - 3, BEFORE = 32 };
    tl_text t = id != TL_NO_NAME ? d->name(d->name_arg, id) : TL_TEXT("");
    if (t.n <= SHOWN)
        return tl_phrase_of("%.*s", (int)t.n, t.p != NULL ? t.p : "");
    size_t from = alike(d, id);
    if (from < CUT)
        return tl_phrase_of("%.*s...", (int)tl_text_utf8((tl_text){ t.p, CUT }), t.p);
    const char *rest = t.p + (from < t.n - (CUT - BEFORE) ? from : t.n - (CUT - BEFORE));
    while (((unsigned char)*rest & 0xC0) == 0x80) /* no byte within a character */
        rest--;
    size_t left = t.n - (size_t)(rest - t.p);
    return tl_phrase_of("%.*s...%.*s%s", (int)tl_text_utf8((tl_text){ t.p, BEFORE }), t.p,
                        (int)tl_text_utf8((tl_text){ rest, left < CUT - BEFORE ? left : CUT - BEFORE - 3 }), rest,
                        left < CUT - BEFORE ? "" : "...");
}

/* Returns "12.3 % more time", "2.5 times as long". */
static tl_phrase how_long(double share)
{
    return share > 1 ? tl_phrase_of(share < 100 ? "%.3g times as long" : "%.0f times as long", 1 + share)
                     : tl_phrase_of("%s %s time", tl_share_in_words(fabs(share)).text, share > 0 ? "more" : "less");
}

static tl_phrase p_in_words(double p)
{
    return p < 0.001 ? tl_phrase_of("p" TL_KEPT "<" TL_KEPT "0.001") : tl_phrase_of("p" TL_KEPT "=" TL_KEPT "%.2g", p);
}

/* Prints one sentence. */
__attribute__((format(printf, 3, 4))) static void say(FILE *out, const tl_diff_words *d, const char *format, ...)
{
    tl_wrap w = { .out = out, .indent = 2, .columns = d->columns };
    va_list args;
    va_start(args, format);
    tl_vsay(&w, format, args);
    va_end(args);
    tl_wrap_end(&w);
}

static void say_differences(FILE *out, const tl_diff_words *d)
{
    TL_ROWS (const tl_diff_run, row, d->run) {
        const tl_phrase a = tl_cell_in_words(row->a, sizeof row->a), b = tl_cell_in_words(row->b, sizeof row->b);
        const tl_phrase what = tl_cell_in_words(row->what, sizeof row->what);
        const bool common = strcmp(what.text, "kernel time in common") == 0;
        bool alike = strstr(a.text, " compared)") != NULL || strstr(b.text, " compared)") != NULL; /* equal ranks */
        if (common && row->differs)
            say(out, d,
                "A and B do different work: kernels that both have take %s of the kernel time of A, and %s of "
                "that of B. Parts of the step are compared here, kernels in table diff_kernel.",
                a.text, b.text);
        else if (row->differs)
            say(out, d, "%s: %s in A, %s in B%s.", what.text, a.text, b.text,
                alike ? "" : "; times may differ for that alone");
    }
}

static const char *per_step(const tl_diff_words *d)
{
    return d->basis.whole ? "per recording" : "per step";
}

/* "B takes 8.2 % more time per step: 5.65 ms in A, 6.11 ms in B (medians of 5 and 5 steps; p = 0.008, rank test)" */
static void say_step(tl_wrap *w, const tl_diff_words *d, const tl_diff_found *step)
{
    const tl_diff_step *row = tl_table_row(d->step, 0);
    bool steps = d->basis.steps[0] > 0;

    if (step->sure)
        tl_say(w, "B takes %s %s:", how_long(step->share).text, per_step(d));
    else if (step->change_ns == 0)
        tl_say(w, "B takes as long as A %s:", per_step(d));
    else if (isnan(step->p_value))
        tl_say(w, "B takes %s %s, and nothing tells whether that is more than chance:", how_long(step->share).text,
               per_step(d));
    else if (step->p_value >= TL_VERDICT_ALPHA && fabs(step->share) >= TL_VERDICT_LEAST_COST)
        tl_say(w, "B takes %s %s, which may be chance:", how_long(step->share).text, per_step(d));
    else
        tl_say(w,
               "No %s difference of the step (B takes %s):", step->p_value < TL_VERDICT_ALPHA ? "large" : "significant",
               how_long(step->share).text);
    tl_say(w, "%s in A, %s in B", tl_duration(row->a_ns).text, tl_duration(row->b_ns).text);
    if (steps && !isnan(step->p_value))
        tl_say(w, "(medians of %zu and %zu steps; %s, %s).", d->basis.steps[0] - d->basis.nlong[0],
               d->basis.steps[1] - d->basis.nlong[1], p_in_words(step->p_value).text,
               d->basis.paired ? "ratios of steps of one number" : "rank test");
    else if (steps)
        tl_say(w, "(%zu and %zu steps: too few for a test).", d->basis.steps[0], d->basis.steps[1]);
    else if (d->basis.whole)
        tl_say(w, "(whole recordings, from the first operator or launch to the last device work: the steps of one are "
                  "not known).");
    else if (!isnan(step->p_value))
        tl_say(w, "(whole recordings by their steps; %s, rank test).", p_in_words(step->p_value).text);
    else
        tl_say(w, "(whole recordings by their steps).");
    const double mean = d->basis.mean_ns[0] > 0 ? (double)d->basis.mean_ns[1] / (double)d->basis.mean_ns[0] - 1 : 0;
    if ((d->basis.nlong[0] + d->basis.nlong[1] > 0 || isnan(step->p_value)) && fabs(mean) >= TL_VERDICT_LEAST_COST &&
        fabs(mean - step->share) >= TL_VERDICT_LEAST_COST)
        tl_say(w, "In the mean a step of B takes %s.", how_long(mean).text);
    tl_wrap_end(w);
}

static const char *part_in_words(uint8_t part)
{
    static const char *const words[TL_NDIFF_PARTS] = {
        [TL_DIFF_COMPUTE] = "compute",
        [TL_DIFF_WAITING] = "waiting in",
        [TL_DIFF_TRANSFER] = "transfer of",
        [TL_DIFF_UNKNOWN] = "waiting or transfer, which is not known, in",
        [TL_DIFF_COPY] = "copies",
        [TL_DIFF_IDLE] = "idle devices",
        [TL_DIFF_OUTSIDE] = "before the first and after the last device work of the step",
        [TL_DIFF_REST] = "not attributed: the parts are those of several steps, and the median is of one",
        [TL_DIFF_LONG] = "steps far above the median:",
    };
    return words[part];
}

/* "in `flash_bwd` (autograd::FlashBackward): 1.10 times as long each" */
static void say_kernel(tl_wrap *w, const tl_diff_words *d, const tl_diff_found *row)
{
    const bool comm = row->part == TL_DIFF_TRANSFER; /* its time is told by waiting and transfer */
    tl_say(w, "%s%s", comm ? "Communication: " : "",
           row->change == TL_DIFF_ADDED     ? "new:"
           : row->change == TL_DIFF_REMOVED ? "gone:"
           : comm                           ? ""
                                            : "in");
    if (row->change == TL_DIFF_ADDED || row->change == TL_DIFF_REMOVED)
        tl_say(w, "%.4g", row->change == TL_DIFF_ADDED ? row->b_count : row->a_count);
    tl_say(w, "`%s`", name_of(d, row->name).text);
    if (row->change == TL_DIFF_REPLACED)
        tl_say(w, "replaced by `%s`", name_of(d, row->b_name).text);
    if (row->operator!= TL_NO_NAME)
        tl_say(w, "of %s", name_of(d, row->operator).text);
    if (row->ranks[0] != '\0')
        tl_say(w, "on rank%s~%s%s", row->rank < 0 ? "s" : "", tl_cell_in_words(row->ranks, sizeof row->ranks).text,
               d->basis.by_role ? " of B" : "");
    if (row->change == TL_DIFF_ADDED || row->change == TL_DIFF_REMOVED)
        tl_say(w, "%s", per_step(d));
    if (row->change == TL_DIFF_COUNT || row->change == TL_DIFF_BOTH || row->change == TL_DIFF_REPLACED)
        tl_say(w, "(%.4g %s in A, %.4g in B)", row->a_count, per_step(d), row->b_count);
    if (row->ranks[0] != '\0')
        tl_say(w,
               isinf(row->times) ? "(new there)"
               : row->times > 0  ? "(takes %.3g times as long there)"
                                 : "(gone there)",
               row->times);
    else if (isnan(row->times))
        return;
    else if (row->change == TL_DIFF_TIME || row->change == TL_DIFF_BOTH || row->change == TL_DIFF_REPLACED ||
             (row->change == TL_DIFF_COUNT && fabs(row->times - 1) >= TL_DIFF_LEAST))
        tl_say(w, "(each takes %.3g times as long)", row->times);
}

/* Returns what devices wait for in a class of idle time (table idle_summary): "while the host is in `aten::mm`". */
static tl_phrase idle_in_words(const tl_diff_words *d, uint32_t id)
{
    static const struct {
        const char *class, *words;
    } classes[] = {
        { "prequeued", "until queued work starts" },
        { "launched_during_gap", "until launched work starts" },
        { "(no_cpu_trace)", "while the trace has nothing of the host" },
        { "(no_cpu_op_overlap)", "while the host is in no operator" },
        { "(launches_without_work)", "while work runs that the trace lacks" },
        { TL_IDLE_OTHERS, "in gaps of many other classes" },
        { "noise", "in gaps too short to explain" },
    };
    const tl_phrase name = name_of(d, id);
    const char *shown = name.text, *colon = strstr(shown, ": ");
    const size_t n = colon != NULL ? (size_t)(colon - shown) : strlen(shown);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (n == strlen(classes[i].class) && strncmp(shown, classes[i].class, n) == 0)
            return tl_phrase_of(colon != NULL ? "%s, the host in `%s`" : "%s", classes[i].words,
                                colon != NULL ? colon + 2 : "");
    for (size_t i = 0; colon != NULL && i < TL_NCALLS; i++)
        if (n == strlen(tl_call_labels[i]) && strncmp(shown, tl_call_labels[i], n) == 0)
            shown = colon + 2;
    return tl_phrase_of("while the host is in `%s`", shown);
}

/* "in `cudaDeviceSynchronize` (new: 1 per step)", "waiting for input" */
static tl_phrase host_in_words(const tl_diff_words *d, const tl_diff_found *row)
{
    const tl_phrase name = name_of(d, row->why);
    if (row->why_part != TL_DIFF_IDLE)
        return name;
    if (row->why_a_count == 0 || row->why_b_count == 0)
        return tl_phrase_of("in `%s` (%s: %.3g %s)", name.text, row->why_a_count == 0 ? "new" : "gone",
                            row->why_a_count + row->why_b_count, per_step(d));
    return tl_phrase_of("in `%s` (%.3g %s in A, %.3g in B)", name.text, row->why_a_count, per_step(d),
                        row->why_b_count);
}

static void say_found(FILE *out, const tl_diff_words *d, const tl_diff_found *row)
{
    tl_wrap w = { .out = out, .indent = 4, .column = 2, .columns = d->columns };
    fputs("  ", out);
    if (isnan(row->a_count) || row->part != TL_DIFF_TRANSFER)
        tl_say(&w, "%s,~%s",
               tl_phrase_of("%s%s", row->share < 0 ? "-" : "+", tl_share_in_words(fabs(row->share)).text).text,
               tl_duration(llabs(row->change_ns)).text);
    if (!isnan(row->a_count)) {
        say_kernel(&w, d, row);
    } else {
        const bool input = row->why != TL_NO_NAME && row->why_part == TL_DIFF_OUTSIDE,
                   host = input || (row->why != TL_NO_NAME && row->why_a_count + row->why_b_count > 0),
                   own_host = host && row->part != TL_DIFF_WAITING;
        const tl_text class = row->name != TL_NO_NAME ? d->name(d->name_arg, row->name) : TL_TEXT("");
        /* input, and a call, say more than a class of idle time */
        const bool named =
            row->name != TL_NO_NAME && !(own_host && (input || tl_text_has(class, name_of(d, row->why).text)));
        tl_say(&w, "%s%s%s", row->part == TL_DIFF_OUTSIDE || row->part == TL_DIFF_REST ? "" : "in ",
               part_in_words(row->part),
               own_host ? (input || row->part == TL_DIFF_OUTSIDE ? ", mostly" : ", with the host")
                        : (row->rank >= 0 && row->name == TL_NO_NAME ? "," : ""));
        if (own_host)
            tl_say(&w, "%s%s", host_in_words(d, row).text, row->rank >= 0 || named ? "," : "");
        if (row->part == TL_DIFF_LONG)
            tl_say(&w, "%zu of %zu in A, %zu of %zu in B; most of it", d->basis.nlong[0], d->basis.steps[0],
                   d->basis.nlong[1], d->basis.steps[1]);
        bool follows = row->part == TL_DIFF_WAITING && row->why_part == TL_DIFF_TRANSFER && row->why != TL_NO_NAME;
        if (named)
            tl_say(&w, "%s%s", (row->part == TL_DIFF_IDLE ? idle_in_words(d, row->name) : name_of(d, row->name)).text,
                   (row->rank >= 0 && row->part != TL_DIFF_LONG) || follows ? "," : "");
        if (row->part == TL_DIFF_TRANSFER && row->change == TL_DIFF_SAME && row->change_ns != 0)
            tl_say(&w, "that nothing overlaps: all of it, overlapped or not, takes about as long as in A%s",
                   row->rank >= 0 ? "," : "");
        if (row->rank >= 0 && row->part != TL_DIFF_LONG)
            tl_say(&w, "most of it %s rank~%d%s", row->part == TL_DIFF_WAITING ? "for" : "on", (int)row->rank,
                   row->why != TL_NO_NAME && !own_host ? "," : "");
        if (host && !own_host)
            tl_say(&w, "whose %s%s %s by %s %s", input ? "" : "time ", host_in_words(d, row).text,
                   row->why_ns > 0 ? "grew" : "shrank", tl_duration(llabs(row->why_ns)).text, per_step(d));
        else if (row->part == TL_DIFF_TRANSFER && row->why != TL_NO_NAME)
            tl_say(&w, "by `%s`, which replaced `%s`", name_of(d, row->b_name).text, name_of(d, row->why).text);
        else if (row->why != TL_NO_NAME && !host)
            tl_say(&w, "%s %s %s by %s %s",
                   follows                         ? "as the transfer of"
                   : row->why_part == TL_DIFF_IDLE ? "whose idle time"
                                                   : "whose",
                   row->why_part == TL_DIFF_IDLE ? idle_in_words(d, row->why).text
                                                 : tl_phrase_of("`%s`", name_of(d, row->why).text).text,
                   row->why_ns > 0 ? "grew" : "shrank", tl_duration(llabs(row->why_ns)).text, per_step(d));
        if (!isnan(row->times) && row->rank < 0)
            tl_say(&w, "(nearly all kernels take %.3g times as long)", row->times);
    }
    if (row->by_verdict)
        tl_say(&w, "(not significant by itself, but the verdict on %s names rank~%d, with trust high)",
               row->change_ns > 0 ? "B" : "A", (int)row->rank);
    else if (!row->sure)
        tl_say(&w, !isnan(row->p_value)        ? "(not significant by itself)"
                   : row->part == TL_DIFF_LONG ? "(too few to tell from chance)"
                                               : "(not tested)");
    else if (!isnan(row->p_value))
        tl_say(&w, "(%s)", p_in_words(row->p_value).text);
    tl_wrap_end(&w);
}

static bool is_said(const tl_diff_words *d, uint32_t name)
{
    TL_ROWS (const tl_diff_found, row, d->found)
        if (row->why == name && row->why_a_count + row->why_b_count > 0)
            return true;
    return false;
}

/* Says which operators, and calls that wait, only one run has: "new: 12 aten::copy_ per step". */
static void say_operators(FILE *out, const tl_diff_words *d)
{
    size_t said = 0;
    TL_ROWS (const tl_diff_kernel, row, d->operator) {
        bool added = row->change == TL_DIFF_ADDED, removed = row->change == TL_DIFF_REMOVED;
        if ((!added && !removed) || is_said(d, row->name) || said++ >= NEW_OPERATORS)
            continue;
        say(out, d, "%s %s: %.4g %s %s.", added ? "New" : "Gone",
            tl_text_is(d->name(d->name_arg, row->kind), TL_DIFF_CALL) ? "call that waits for the device" : "operator",
            added ? row->b_count : row->a_count, name_of(d, row->name).text, per_step(d));
    }
    if (said > NEW_OPERATORS)
        say(out, d, "%zu more operator%s new or gone: table diff_operator.", said - NEW_OPERATORS,
            said - NEW_OPERATORS > 1 ? "s are" : " is");
}

void tl_print_diff(FILE *out, const tl_diff_words *d)
{
    tl_wrap w = { .out = out, .indent = 2, .columns = d->columns };
    say_differences(out, d);
    say_step(&w, d, tl_table_row(d->found, 0));
    for (size_t i = 1; i < d->found->n && i <= FOUND_SAID; i++)
        say_found(out, d, tl_table_row(d->found, i));
    if (d->found->n > FOUND_SAID + 1)
        say(out, d, "  and %zu smaller change%s: table diff.", d->found->n - FOUND_SAID - 1,
            d->found->n - FOUND_SAID > 2 ? "s" : "");
    if (!d->basis.other_work)
        say_operators(out, d);
}
