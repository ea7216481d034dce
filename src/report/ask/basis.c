/* basis.c - what all answers rest on: collectives and clocks, waits charged to no rank, the simulation.
 *
 *     What do the answers rest on?
 *       Collectives: 27 of 30 matched across ranks, by launch and endtime; ends up to 137 us apart; 2 clocks, 7 us
 *       apart
 *       Recording: 15 of 16 launches of rank 1 in steps 12-13 were not recorded, ...
 *       Not matched: 2 with a rank missing, 1 alone, 1 suspect (kind)
 *       Clocks: the times of 2 ranks were shifted, by up to 3000 us, to within 25 us (tlmpi show traces.h5 clock)
 *       Waiting: 25.2 % of it is charged to late ranks; 73.3 % is for late senders
 *       Simulation: off by 0.0 % of the measured time
 */
#include "basis.h"

#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/report/answers/health.h"
#include "tlmpi/report/answers/say.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct basis {
    FILE *out;
    const tl_answers *a;
    const char *file; /* as a word for a shell */
    size_t columns;
} basis;

static tl_wrap line(const basis *b, const char *begin)
{
    return (tl_wrap){ .out = b->out,
                      .indent = 2,
                      .column = (size_t)fprintf(b->out, "  %s", begin),
                      .columns = b->columns,
                      .begun = true };
}

static void end_with_table(tl_wrap *w, const basis *b, const char *table)
{
    tl_wrap_printf(w, "(tlmpi show %s %s)", b->file, table);
    tl_wrap_end(w);
}

static const tl_quality *check_of(const basis *b, tl_quality_check check)
{
    static const tl_quality none;
    for (size_t i = 0; b->a->quality != NULL && i < b->a->quality->n; i++) {
        const tl_quality *row = tl_table_row(b->a->quality, i);
        if (row->check == check)
            return row;
    }
    return &none;
}

static double us(int64_t ns)
{
    return (double)ns / 1000;
}

/* Clocks are apart by microseconds, or by hours. */
static tl_phrase apart(int64_t ns)
{
    tl_phrase said = tl_duration(ns);
    if (ns < INT64_C(10000000))
        snprintf(said.text, sizeof said.text, "%.0f us", us(ns));
    return said;
}

/* "by launch and endtime", the rules that matched any. */
static void say_rules(tl_wrap *w, const basis *b)
{
    static const struct {
        tl_quality_check check;
        const char *word;
    } rules[] = { { TL_CHECK_BY_SEQ, "seq" },
                  { TL_CHECK_BY_LAUNCH, "launch" },
                  { TL_CHECK_BY_PAIR, "pair" },
                  { TL_CHECK_BY_ENDTIME, "endtime" } };
    const char *words[4];
    size_t n = 0;

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (check_of(b, rules[i].check)->count > 0)
            words[n++] = rules[i].word;
    for (size_t i = 0; i < n; i++) {
        const char *before = i == 0 ? "by " : i + 1 == n ? "and " : "";
        tl_wrap_printf(w, "%s%s%s", before, words[i], i + 1 == n ? ";" : i + 2 < n ? "," : "");
    }
}

static void say_matched(const basis *b, const tl_quality *matched)
{
    const tl_quality *ends = check_of(b, TL_CHECK_END_TOGETHER), *clocks = check_of(b, TL_CHECK_CLOCKS),
                     *alone = check_of(b, TL_CHECK_ALONE);
    tl_wrap w = line(b, "Collectives:");

    if (alone->of > 0 && alone->count == alone->of) {
        tl_wrap_printf(&w, "%s,", tl_grouped(matched->of).text);
        tl_wrap_words(&w, "of one rank each: there is none to compare with");
        tl_wrap_end(&w);
        return;
    }
    tl_wrap_printf(&w, "%s of %s", tl_grouped(matched->count).text, tl_grouped(matched->of).text);
    tl_wrap_words(&w, "matched across ranks,");
    say_rules(&w, b);
    if (ends->of > 0) {
        tl_wrap_words(&w, "ends up to");
        tl_wrap_printf(&w, "%s apart;", tl_duration(ends->worst_ns).text);
    }
    if (clocks->count == 1) {
        tl_wrap_words(&w, "1 clock");
    } else {
        tl_wrap_printf(&w, "%" PRId64 " clocks,", clocks->count);
        if (b->a->trust.untied)
            tl_wrap_words(&w, "not all of which can be compared");
        else if (clocks->worst_ns == 0)
            tl_wrap_words(&w, "whose times are possible as recorded");
        else if (clocks->worst_ns < 500)
            tl_wrap_words(&w, "less than 1 us apart");
        else
            tl_wrap_printf(&w, "%s apart", apart(clocks->worst_ns).text);
    }
    end_with_table(&w, b, "quality");
}

/* "3 suspect (kind, size)" */
static void say_suspects(tl_wrap *w, const basis *b, int64_t n)
{
    char words[64] = "";
    for (int c = TL_CHECK_KIND; c <= TL_CHECK_ENDS; c++) {
        size_t used = strlen(words);
        if (check_of(b, (tl_quality_check)c)->count > 0)
            snprintf(words + used, sizeof words - used, "%s%s", used > 0 ? ", " : "",
                     tl_suspicion_labels[TL_SUSPECT_KIND + c - TL_CHECK_KIND]);
    }
    tl_wrap_printf(w, "%" PRId64 " suspect (%s)", n, words);
}

static void say_unmatched(const basis *b)
{
    int64_t missing = check_of(b, TL_CHECK_MISSING)->count, alone = check_of(b, TL_CHECK_UNMATCHED)->count, suspect = 0;

    for (int c = TL_CHECK_KIND; c <= TL_CHECK_ENDS; c++)
        suspect = tl_ns_sum(suspect, check_of(b, (tl_quality_check)c)->count);
    if (missing == 0 && alone == 0 && suspect == 0)
        return;
    tl_wrap w = line(b, "Not matched:");
    if (missing > 0)
        tl_wrap_printf(&w, "%" PRId64 " with a rank missing%s", missing, alone > 0 || suspect > 0 ? "," : "");
    if (alone > 0)
        tl_wrap_printf(&w, "%" PRId64 " of one rank alone%s", alone, suspect > 0 ? "," : "");
    if (suspect > 0)
        say_suspects(&w, b, suspect);
    tl_wrap_end(&w);
}

static void say_clocks(const basis *b)
{
    const tl_quality *shifted = check_of(b, TL_CHECK_SHIFTED);
    if (shifted->count == 0)
        return;
    tl_wrap w = line(b, "Clocks: the times of");
    tl_wrap_printf(&w, "%" PRId64 " rank%s", shifted->count, tl_plural(shifted->count));
    tl_wrap_words(&w, "were shifted,");
    int64_t sure_ns = b->a->trust.clock_uncertainty_ns;
    tl_wrap_printf(&w, "by up to %s%s", apart(shifted->worst_ns).text, sure_ns > 0 ? "," : "");
    if (sure_ns > 0) {
        tl_wrap_words(&w, "to within");
        tl_wrap_printf(&w, "%s", apart(sure_ns).text);
    }
    if (b->a->trust.clock_step_ns > 0)
        tl_wrap_printf(&w, "- one clock steps by %s", apart(b->a->trust.clock_step_ns).text);
    end_with_table(&w, b, "clock");
}

static double percent_of(const tl_quality *row)
{
    return row->of > 0 ? 100 * (double)row->count / (double)row->of : 0;
}

/* Says which waiting is charged to no rank, and why, where one reason takes 1 % of all waiting or more. */
static void say_uncharged(const basis *b)
{
    static const struct {
        tl_quality_check check;
        const char *words;
    } of[] = {
        { TL_CHECK_LATE_SENDER, "is for late senders" },
        { TL_CHECK_LATE_RECEIVER, "is for late receivers" },
        { TL_CHECK_LATE_PARTNER, "is for one of two that send to each other" },
        { TL_CHECK_UNCHARGED, "cannot be charged because of clocks" },
        { TL_CHECK_WAIT_SUSPECT, "is in suspect collectives" },
    };
    double most = 0;
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
        most = fmax(most, percent_of(check_of(b, of[k].check)));
    if (most < 1)
        return;
    tl_wrap w = line(b, "Waiting:");
    tl_wrap_printf(&w, "%.1f %%", percent_of(check_of(b, TL_CHECK_CHARGED)));
    tl_wrap_printf(&w, "of it");
    tl_wrap_words(&w, "is charged to late ranks");
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        double pct = percent_of(check_of(b, of[k].check));
        if (pct < 0.05)
            continue;
        tl_wrap_printf(&w, "- %.1f %%", pct);
        tl_wrap_words(&w, of[k].words);
    }
    end_with_table(&w, b, "blame");
}

static void say_simulation(const basis *b)
{
    const tl_trust *t = &b->a->trust;
    if (isnan(t->model_error))
        return;
    tl_wrap w = line(b, "Simulation: off by");
    tl_wrap_printf(&w, "%.1f %%", 100 * fabs(t->model_error));
    tl_wrap_words(&w, "of the measured time");
    end_with_table(&w, b, "whatif");
}

static void say_health(const basis *b)
{
    tl_phrase words;
    for (int defect = 0; b->a->health != NULL && defect < TL_NDEFECTS; defect++) {
        if (!tl_health_in_words(b->a->health, (tl_defect)defect, &words))
            continue;
        tl_wrap w = line(b, "Recording:");
        tl_say_phrase(&w, words);
        end_with_table(&w, b, "health");
    }
}

void tl_print_basis(FILE *out, const tl_answers *answers, const char *file, size_t columns)
{
    const basis b = { out, answers, file, columns };
    const tl_quality *matched = check_of(&b, TL_CHECK_MATCHED);
    if (matched->of == 0 && (answers->health == NULL || answers->health->n == 0))
        return;
    fputs("\nWhat do the answers rest on?\n", out);
    say_health(&b);
    if (matched->of > 0)
        say_matched(&b, matched);
    say_unmatched(&b);
    say_clocks(&b);
    say_uncharged(&b);
    say_simulation(&b);
}
