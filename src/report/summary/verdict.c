/* verdict.c - the verdict, on the terminal:
 *
 *     Rank 2 (host node0, device 2) holds the job up in all 3 steps (4-6): it costs 1.01 s (95.3 %) of each of these
 *       steps of 1.06 s on average
 *       cause   host_late: its device waits because its CPU thread sleeps or works
 *       where   "# running sparse arch" 1.00 s of a step, on peers 988 us
 *       gain    2.89 s less of 3.30 s (87.7 %) without its delay, simulated
 *       trust   medium: 3 steps are too few for a test of significance
 *
 * What it rests on is for `tlmpi ask`.
 */
#include "verdict.h"

#include "tlmpi/report/answers/say.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Culprits beside the worst that have a line. */
enum { NEXT_SHOWN = 2 };

/* Places of its delay that are shown. */
enum { PLACES_SHOWN = 2 };

static void say_cause(FILE *out, const tl_answers *a)
{
    const tl_culprit *c = &a->culprits[0];
    tl_wrap w = tl_label(out, "cause");

    if (tl_is_untraced(c)) {
        tl_say_phrase(&w, tl_untraced_in_words(a));
        tl_wrap_end(&w);
        return;
    }
    tl_wrap_printf(&w, "%s:", tl_cause_labels[c->cause]);
    tl_wrap_words(&w, tl_cause_in_words(c->cause));
    if (!c->same_cause)
        tl_wrap_printf(&w, "(rank %" PRId32 ")", c->rank);
    if (c->cause_share > 0 && c->cause_share < 0.995)
        tl_say_phrase(&w, tl_cause_share_in_words(c));
    if (c->place[0] != '\0' && a->nexcess == 0) {
        tl_wrap_printf(&w, "in");
        tl_say_place(&w, c);
    }
    tl_wrap_end(&w);
    if (a->nexcess > 0) {
        w = tl_label(out, "where");
        tl_say_excess(&w, a, PLACES_SHOWN);
        tl_wrap_end(&w);
    }
}

static void say_gain(FILE *out, const tl_answers *a)
{
    tl_wrap w = tl_label(out, "gain");

    tl_say_phrase(&w, tl_gain_in_words(a, &a->culprits[0]));
    if (a->nculprits > 1 && a->together_gain_ns > a->culprits[0].gain_ns) {
        tl_wrap_printf(&w, "-");
        tl_wrap_printf(&w, "%s less", tl_duration(a->together_gain_ns).text);
        tl_wrap_words(&w, "without all that are named here");
    }
    tl_wrap_end(&w);
}

static void say_next(FILE *out, const tl_answers *a)
{
    for (size_t i = 1; i < a->nculprits && i <= NEXT_SHOWN; i++) {
        tl_wrap w = tl_label(out, i == 1 ? "also" : "");
        tl_say_next_culprit(&w, a, &a->culprits[i]);
        tl_wrap_end(&w);
    }
    if (a->nculprits > NEXT_SHOWN + 1) {
        tl_wrap w = tl_label(out, "");
        tl_wrap_printf(&w, "and %zu more", a->nculprits - NEXT_SHOWN - 1);
        tl_wrap_words(&w, "(tables straggler, link)");
        tl_wrap_end(&w);
    }
}

static void say_culprits(FILE *out, const tl_answers *a, const tl_look *look)
{
    fputs(look->bold, out);
    tl_wrap w = { .out = out, .indent = 2 };
    tl_say_culprit(&w, a, &a->culprits[0]);
    fputs(look->off, out);
    tl_wrap_end(&w);

    if (a->by_order != NULL) {
        w = tl_label(out, "file");
        tl_say_file(&w, a->by_order);
        tl_wrap_end(&w);
    }
    say_cause(out, a);
    say_gain(out, a);
    say_next(out, a);
}

/* Whether imbalance is told: it costs more than the first culprit, or there is no culprit. */
static bool shows_imbalance(const tl_answers *a)
{
    int64_t most = tl_largest_imbalance(a);
    return most > 0 && (a->nculprits == 0 || most > a->culprits[0].cost_ns);
}

void tl_print_verdict(FILE *out, const tl_answers *a, int doubts, const tl_look *look)
{
    if (a->finding > TL_FOUND_NOBODY) {
        say_culprits(out, a, look);
    } else if (a->finding != TL_FOUND_ONE_RANK) {
        tl_wrap w = { .out = out, .indent = 2 };
        tl_say_no_culprit(&w, a);
        tl_wrap_end(&w);
    }
    if (a->finding >= TL_FOUND_NOBODY) {
        tl_wrap w = tl_label(out, "trust");
        tl_say_confidence(&w, a, &a->rank, doubts);
        tl_wrap_end(&w);
    }
    if (shows_imbalance(a)) {
        tl_wrap w = tl_label(out, "balance");
        tl_say_imbalance(&w, a, 1);
        tl_wrap_end(&w);
    }
    const char *next = tl_next_in_words(a);
    if (next != NULL) {
        tl_wrap w = tl_label(out, "next");
        tl_wrap_words(&w, next);
        tl_wrap_end(&w);
    }
}
