/* match.c - the lines of the summary about collectives and clocks.
 *
 *     Collectives: 27 of 30 matched, by launch and endtime; ends agree within 137 us; 2 clocks, 7 us apart.
 *     Not matched: 2 with a rank missing, 1 alone, 1 suspect (kind); see table quality.
 *     Clocks: the times of 2 ranks were shifted, by up to 3000 us; see table clock.
 */
#include "match.h"

#include "tlmpi/report/answers/words.h"
#include "tlmpi/report/format/wrap.h"
#include <inttypes.h>
#include <string.h>

static const tl_quality *check_of(const tl_summary *s, tl_quality_check check)
{
    static const tl_quality none;
    for (size_t i = 0; i < s->nquality; i++)
        if (s->quality[i].check == check)
            return &s->quality[i];
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
static void say_rules(tl_wrap *w, const tl_summary *s)
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
        if (check_of(s, rules[i].check)->count > 0)
            words[n++] = rules[i].word;
    for (size_t i = 0; i < n; i++) {
        const char *before = i == 0 ? "by " : i + 1 == n ? "and " : "";
        tl_wrap_printf(w, "%s%s%s", before, words[i], i + 1 == n ? ";" : i + 2 < n ? "," : "");
    }
}

static void say_matched(FILE *out, const tl_summary *s, const tl_quality *matched)
{
    const tl_quality *ends = check_of(s, TL_CHECK_END_TOGETHER), *clocks = check_of(s, TL_CHECK_CLOCKS);
    tl_wrap w = { .out = out, .indent = 2 };

    tl_wrap_printf(&w, "Collectives:");
    if (check_of(s, TL_CHECK_ALONE)->count == check_of(s, TL_CHECK_ALONE)->of) {
        tl_wrap_printf(&w, "%" PRId64 ",", matched->of);
        tl_wrap_words(&w, "of one rank each: there is nobody to compare with.");
        tl_wrap_end(&w);
        return;
    }
    tl_wrap_printf(&w, "%" PRId64 " of %" PRId64, matched->count, matched->of);
    tl_wrap_printf(&w, "matched,");
    say_rules(&w, s);
    if (ends->of > 0) {
        tl_wrap_words(&w, "ends agree within");
        tl_wrap_printf(&w, "%.0f us;", us(ends->worst_ns));
    }
    if (clocks->count == 1) {
        tl_wrap_words(&w, "1 clock.");
    } else {
        tl_wrap_printf(&w, "%" PRId64 " clocks,", clocks->count);
        if (s->answers != NULL && s->answers->trust.untied)
            tl_wrap_words(&w, "not all of which anything compares (table clock).");
        else if (clocks->worst_ns < 500)
            tl_wrap_words(&w, "less than 1 us apart.");
        else
            tl_wrap_printf(&w, "%s apart.", apart(clocks->worst_ns).text);
    }
    tl_wrap_end(&w);
}

/* "3 suspect (kind, size)" */
static void say_suspects(tl_wrap *w, const tl_summary *s, int64_t n)
{
    char words[64] = "";
    for (int c = TL_CHECK_KIND; c <= TL_CHECK_ENDS; c++) {
        size_t used = strlen(words);
        if (check_of(s, (tl_quality_check)c)->count > 0)
            snprintf(words + used, sizeof words - used, "%s%s", used > 0 ? ", " : "",
                     tl_suspicion_labels[TL_SUSPECT_KIND + c - TL_CHECK_KIND]);
    }
    tl_wrap_printf(w, "%" PRId64 " suspect (%s);", n, words);
}

static void say_unmatched(FILE *out, const tl_summary *s)
{
    int64_t missing = check_of(s, TL_CHECK_MISSING)->count, alone = check_of(s, TL_CHECK_UNMATCHED)->count, suspect = 0;
    tl_wrap w = { .out = out, .indent = 2 };

    for (int c = TL_CHECK_KIND; c <= TL_CHECK_ENDS; c++)
        suspect += check_of(s, (tl_quality_check)c)->count;
    if (missing + alone + suspect == 0)
        return;
    tl_wrap_words(&w, "Not matched:");
    if (missing > 0)
        tl_wrap_printf(&w, "%" PRId64 " with a rank missing%s", missing, alone + suspect > 0 ? "," : ";");
    if (alone > 0)
        tl_wrap_printf(&w, "%" PRId64 " alone%s", alone, suspect > 0 ? "," : ";");
    if (suspect > 0)
        say_suspects(&w, s, suspect);
    tl_wrap_words(&w, "see table quality.");
    tl_wrap_end(&w);
}

static void say_clocks(FILE *out, const tl_summary *s)
{
    const tl_quality *shifted = check_of(s, TL_CHECK_SHIFTED);
    tl_wrap w = { .out = out, .indent = 2 };

    if (shifted->count == 0)
        return;
    tl_wrap_words(&w, "Clocks: the times of");
    tl_wrap_printf(&w, "%" PRId64 " rank%s", shifted->count, shifted->count == 1 ? "" : "s");
    tl_wrap_words(&w, "were shifted,");
    tl_wrap_printf(&w, "by up to %s;", apart(shifted->worst_ns).text);
    tl_wrap_words(&w, "see table clock.");
    tl_wrap_end(&w);
}

void tl_say_matching(FILE *out, const tl_summary *s)
{
    const tl_quality *matched = check_of(s, TL_CHECK_MATCHED);
    if (matched->of == 0)
        return;
    say_matched(out, s, matched);
    say_unmatched(out, s);
    say_clocks(out, s);
}
