/* verdict.c - the top of the page: which job this is, what holds it up in a sentence, four numbers, and what to do
 * next.
 *
 *     traces                                               the folder of the traces
 *     16 ranks on 2 hosts, 8 of a kind of device, ...
 *     | Rank 15 holds the job up in all 12 steps ...       tl_say_culprit, as the terminal says it
 *     | Step time    Lost to waiting    Gain    Trust
 *     | Next: ...
 *     > The answers in words                               all that `tlmpi ask` says, folded
 */
#include "page.h"

#include "tlmpi/model/phase_tables.h"
#include "tlmpi/report/answers/tell.h"
#include "tlmpi/report/ask.h"
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* -------------------------------------------------------------------------------------------------------- which job */

#define DOT " \xC2\xB7 "

/* Writes "2026-03-01 12:30 UTC" if the time is a date: some traces count from their own beginning. */
static void put_day(tl_page *page, const char *before, int64_t unix_ns)
{
    const int64_t year_2000_s = 946684800;
    time_t seconds = (time_t)(unix_ns / 1000000000);
    struct tm day;
    char text[32];
    if (seconds > year_2000_s && gmtime_r(&seconds, &day) != NULL &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &day) > 0)
        tl_put(page->out, "%s%s", before, text);
}

static void put_job(tl_page *page)
{
    const tl_table *ranks = tl_page_table(page, &tl_rank_schema), *phases = tl_page_table(page, &tl_phase_schema);
    const tl_answers *a = page->answers;
    FILE *out = page->out;

    fputs("<p class=\"meta\">", out);
    if (ranks != NULL) {
        const tl_table *steps = tl_tables_get(page->in->tables, &tl_step_schema);
        const tl_rank *first = tl_table_row(ranks, 0);
        tl_names hosts = tl_distinct_texts(ranks, "host"), devices = tl_distinct_texts(ranks, "device_name");
        const tl_text host = tl_names_text(&hosts, 0), device = tl_names_text(&devices, 0);
        tl_put(out, "%zu rank%s", ranks->n, tl_plural((int64_t)ranks->n));
        if (first->world_size > (int64_t)ranks->n)
            tl_put(out, " of %" PRId32, first->world_size);
        if (hosts.n > 1 || (hosts.n == 1 && tl_is_host_of_pids(host.p, host.n)))
            tl_put(out, " on %zu host%s", hosts.n, tl_plural((int64_t)hosts.n));
        else if (hosts.n == 1)
            tl_put(out, " on host %.*s", (int)host.n, host.p);
        if (devices.n > 0)
            tl_put(out, DOT "%.*s", (int)device.n, device.p);
        if (devices.n > 1)
            tl_put(out, " and %zu other", devices.n - 1);
        tl_names_free(&hosts);
        tl_names_free(&devices);
        if (steps->n > 0 && a->trust.nsteps > 0) {
            const int32_t from = ((const tl_step *)tl_table_row(steps, 0))->step,
                          to = ((const tl_step *)tl_table_row(steps, a->trust.nsteps - 1))->step;
            if (from == to)
                tl_put(out, DOT "step %" PRId32, from);
            else
                tl_put(out, DOT "%zu steps (%" PRId32 "\xE2\x80\x93%" PRId32 ")", a->trust.nsteps, from, to);
        }
        put_day(page, DOT "recorded ", first->first_ns);
    } else if (phases != NULL && a->nphases > 0) {
        size_t n = 0;
        for (size_t i = 0; i < phases->n; i++) /* in order of ranks */
            n += i == 0 || ((const tl_phase *)tl_table_row(phases, i))->rank !=
                               ((const tl_phase *)tl_table_row(phases, i - 1))->rank;
        tl_put(out, "%zu ranks" DOT "%" PRId64 " steps, by the durations of their phases", n, a->phases->steps);
    }
    fputs("</p>\n", out);
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

/* Begin and end a tile of the strip: title and number, then a remark, which the caller says. */
static tl_wrap *begin_tile(tl_page *page, const char *what, const char *number)
{
    tl_put(page->out, "<div><dt>%s</dt><dd class=\"big\">%s</dd>", what, number);
    return tl_page_say(page, "<dd>");
}

static void end_tile(tl_page *page)
{
    tl_page_said(page, "</dd></div>\n");
}

__attribute__((format(printf, 4, 5))) static void put_tile(tl_page *page, const char *what, const char *number,
                                                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tl_vsay(begin_tile(page, what, number), format, args);
    end_tile(page);
    va_end(args);
}

static void put_step_time(tl_page *page, const tl_culprit *c)
{
    const tl_answers *a = page->answers;
    const int64_t nsteps = (int64_t)a->trust.nsteps;
    const bool of_late = c != NULL && c->step_ns > 0;
    const int64_t step_ns = of_late ? c->step_ns : a->wall_ns / (nsteps > 0 ? nsteps : 1);
    if (step_ns <= 0)
        return;
    tl_phrase late = tl_phrase_of("on average;");
    if (of_late && c->steps_flagged < nsteps)
        late =
            tl_phrase_of("on average in the %" PRId64 " late step%s of", c->steps_flagged, tl_plural(c->steps_flagged));
    if (nsteps > 0)
        put_tile(page, "Step time", tl_duration(step_ns).text, "%s %" PRId64 " step%s, %s in all", late.text, nsteps,
                 tl_plural(nsteps), tl_duration(a->wall_ns).text);
    else
        put_tile(page, "Recorded", tl_duration(step_ns).text, "%s", "");
}

/* Writes the device time that is not work, and its largest part. */
static void put_lost(tl_page *page)
{
    const tl_answers *a = page->answers;
    const struct {
        int64_t ns;
        const char *words;
    } losses[] = { { a->all.comm_waiting_ns, "exposed waiting for other ranks" },
                   { a->all.comm_transfer_ns, "exposed transfers" },
                   { a->all.comm_unknown_ns, "exposed communication, waiting or transfer" },
                   { a->all.idle_ns, "idle devices" } };
    size_t most = 0;
    for (size_t i = 1; i < sizeof losses / sizeof losses[0]; i++)
        most = losses[i].ns > losses[most].ns ? i : most;
    if (a->all.wall_ns <= 0 || losses[most].ns <= 0)
        return;
    put_tile(page, "Lost most", tl_part_in_words(losses[most].ns, a->all.wall_ns).text, "of GPU time: %s, %s in all",
             losses[most].words, tl_duration(losses[most].ns).text);
}

static void put_gain_and_trust(tl_page *page, const tl_culprit *c)
{
    const tl_answers *a = page->answers;
    const unsigned doubts = a->rank.doubts;
    const char *trust = tl_confidence_labels[a->rank.confidence];
    if (c != NULL && c->gain_ns > 0) {
        put_tile(page, "Gain without it", tl_share_in_words(tl_answers_share(a, c->gain_ns)).text, "%s",
                 tl_gain_in_words(a, c).text);
    } else if (c == NULL && tl_largest_imbalance(a) > 0) {
        const tl_phrase share = tl_share_in_words(tl_answers_share(a, tl_largest_imbalance(a)));
        tl_say_imbalance(begin_tile(page, "Most to gain", share.text), a, 1);
        end_tile(page);
    }
    if (doubts != 0)
        put_tile(page, "Trust", trust, "%s%s", tl_doubt_in_words(a, (tl_doubt)__builtin_ctz(doubts)).text,
                 (doubts & (doubts - 1)) != 0 ? ", and more below" : "");
    else if (a->trust.collectives > 0)
        put_tile(page, "Trust", trust, "%s of %s collectives matched", tl_grouped(a->trust.matched).text,
                 tl_grouped(a->trust.collectives).text);
    else
        put_tile(page, "Trust", trust, "%s", "");
}

static void put_numbers_of_phases(tl_page *page)
{
    const tl_phase_verdict *row = page->answers->phases;
    if (row->steps > 0 && row->time_ns > 0)
        put_tile(page, "Step time", tl_duration(row->time_ns / row->steps).text,
                 "on average, the sum of its phases; %" PRId64 " steps", row->steps);
    if (row->verdict == TL_PHASE_STRAGGLER) {
        tl_say_phase_cost(begin_tile(page, "Gain without it", tl_part_in_words(row->cost_ns, row->time_ns).text),
                          page->answers);
        end_tile(page);
    }
    put_tile(page, "Trust", tl_confidence_labels[row->confidence], "%s",
             row->nwaiters > 0 ? "others take longer meanwhile" : "durations alone do not show who waits");
}

/* ---------------------------------------------------------------------------------------------------------- verdict */

/* Writes which ranks hold the job up, why, and further culprits, in the same lines as the terminal and `tlmpi ask`. */
static void put_finding(tl_page *page, const tl_culprit *c)
{
    enum { PLACES = 2, ALSO = 3 };
    char *text = NULL;
    size_t n = 0;
    tl_telling t = { .w = { .out = tl_memory_file(&text, &n), .columns = TL_ONE_LINE },
                     .a = page->answers,
                     .file = page->file };
    if (page->answers->phases_alone) {
        tl_tell_phase_rank(&t);
        tl_tell_phase_reason(&t);
    } else {
        tl_tell_verdict(&t);
        if (c != NULL && !tl_is_link(c))
            tl_tell_cause(&t, PLACES);
        if (c != NULL)
            tl_tell_also(&t, ALSO);
    }
    tl_tell_end(&t);
    fputs("<div class=\"says\">\n", page->out); /* the first line is large */
    tl_put_lines(page->out, t.w.out, &text, "p", "p");
    fputs("</div>\n", page->out);
}

/* Writes the four questions and their answers, word for word as `tlmpi ask` prints them. */
static void put_answers(tl_page *page)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = tl_memory_file(&text, &n);
    tl_print_answers(memory, page->answers, page->in->file, TL_ONE_LINE);
    fputs("<details id=\"answers\"><summary>The answers in words</summary>\n", page->out);
    tl_put_lines(page->out, memory, &text, "h3", "p");
    fputs("</details>\n", page->out);
}

void tl_draw_verdict(tl_page *page)
{
    const tl_answers *a = page->answers;
    const tl_culprit *c = a->first;
    const bool late = a->phases_alone ? a->phases->verdict == TL_PHASE_STRAGGLER : c != NULL;

    put_job(page);
    tl_put(page->out, "<div class=\"strip%s\">\n", late ? "" : " well");
    put_finding(page, c);
    fputs("<dl class=\"tiles\">\n", page->out);
    if (a->phases_alone) {
        put_numbers_of_phases(page);
    } else {
        put_step_time(page, c);
        put_lost(page);
        put_gain_and_trust(page, c);
    }
    fputs("</dl>\n", page->out);
    const char *table;
    const tl_phrase next = tl_next_in_words(a, &table),
                    more = table != NULL ? tl_phrase_of(" (tlmpi show %s %s)", page->file, table) : (tl_phrase){ "" };
    if (next.text[0] != '\0')
        tl_page_sentence(page, "<p><b>Next:</b> ", "</p>\n", "%s%s", next.text, more.text);
    if (a->selection != NULL) {
        tl_say_selection(tl_page_say(page, "<p>"), a);
        tl_page_said(page, "</p>\n");
    }
    fputs("</div>\n", page->out);
    put_answers(page);
}
