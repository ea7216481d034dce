/* verdict.c - the verdict, on the terminal:
 *
 *     Rank 2 (host node0, device 2) holds the job up in every step (3 of 3, 4-6):
 *       it costs 1.01 s of a step of 1.06 s
 *       cause   host_late: the host launches late, and the device is idle meanwhile
 *       where   "# running sparse arch"
 *       others  3 ranks wait for it, 9.11 s of their time together (ranks 0-1, 3)
 *       gain    without its delay the job takes 2.89 s less (87.7 % of 3.30 s), as simulated
 *       path    it holds 99.6 % of the critical path
 *       trust   medium - only 3 steps, too few for a test of significance; 12 of 13 collectives matched, 1 clock,
 *               simulation off by 0.0 %
 *     Imbalance: that rank 6 and those that do the same compute 1.6 times as long as the others costs 13.0 %; ...
 *     Largest loss: rank 2, idle 95.3 % of its wall time (...) - over all ranks it is exposed comm, 69.4 %
 */
#include "verdict.h"

#include "tlmpi/report/answers/say.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Culprits beside the worst that have a line. */
enum { NEXT_SHOWN = 2, LABEL_AT = 10 };

static tl_wrap label(FILE *out, const char *name)
{
    return (tl_wrap){ .out = out, .indent = LABEL_AT, .column = (size_t)fprintf(out, "  %-7s", name), .begun = true };
}

static void say_cause(FILE *out, const tl_culprit *c)
{
    tl_wrap w = label(out, "cause");

    tl_wrap_printf(&w, "%s:", tl_cause_labels[c->cause]);
    tl_wrap_words(&w, tl_cause_in_words(c->cause));
    if (!c->same_cause)
        tl_wrap_printf(&w, "(rank %" PRId32 ")", c->rank);
    if (c->cause_share > 0 && c->cause_share < 0.995)
        tl_say_phrase(&w, tl_cause_share_in_words(c));
    tl_wrap_end(&w);
    if (c->place[0] != '\0') {
        w = label(out, "where");
        tl_say_place(&w, c);
        tl_wrap_end(&w);
    }
}

static void say_gain(FILE *out, const tl_answers *a)
{
    tl_wrap w = label(out, "gain");

    tl_say_phrase(&w, tl_gain_in_words(a, &a->culprits[0]));
    if (a->nculprits > 1 && a->together_gain_ns > a->culprits[0].gain_ns) {
        tl_wrap_printf(&w, "-");
        tl_wrap_words(&w, "all that stand out together");
        tl_wrap_printf(&w, "%s", tl_duration(a->together_gain_ns).text);
    }
    tl_wrap_end(&w);
}

static void say_next(FILE *out, const tl_answers *a)
{
    for (size_t i = 1; i < a->nculprits && i <= NEXT_SHOWN; i++) {
        tl_wrap w = label(out, i == 1 ? "also" : "");
        tl_say_next_culprit(&w, a, &a->culprits[i]);
        tl_wrap_end(&w);
    }
    if (a->nculprits > NEXT_SHOWN + 1) {
        tl_wrap w = label(out, "");
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

    say_cause(out, &a->culprits[0]);
    if (a->culprits[0].nwaiters > 0 || !tl_is_link(&a->culprits[0])) {
        w = label(out, "others");
        if (a->culprits[0].nwaiters > 0)
            tl_say_waiters(&w, a);
        else
            tl_wrap_words(&w, "nobody is seen to wait");
        tl_wrap_end(&w);
    }
    say_gain(out, a);
    if (!isnan(a->culprits[0].path_share)) {
        w = label(out, "path");
        tl_say_path(&w, a, &a->culprits[0]);
        tl_wrap_end(&w);
    }
    say_next(out, a);
}

void tl_print_verdict(FILE *out, const tl_answers *a, const tl_look *look)
{
    if (a->finding > TL_FOUND_NOBODY) {
        say_culprits(out, a, look);
    } else if (a->finding != TL_FOUND_ONE_RANK) {
        tl_wrap w = { .out = out, .indent = 2 };
        tl_say_no_culprit(&w, a);
        tl_wrap_end(&w);
    }
    if (a->finding >= TL_FOUND_NOBODY) {
        tl_wrap w = label(out, "trust");
        tl_say_confidence(&w, a, &a->rank);
        tl_wrap_end(&w);
    }
    if (tl_has_imbalance(a)) {
        fprintf(out, "%sImbalance:%s", look->bold, look->off);
        tl_wrap w = { .out = out, .indent = 2, .column = strlen("Imbalance:"), .begun = true };
        tl_say_imbalance(&w, a);
        tl_wrap_end(&w);
    }
    if (a->worst.name == NULL)
        return;
    if (a->worst.ns == 0) {
        fprintf(out, "No rank is ever idle, nor has it exposed comm or exposed copies.\n");
        return;
    }
    fprintf(out, "%sLargest loss:%s", look->bold, look->off);
    tl_wrap w = { .out = out, .indent = 2, .column = strlen("Largest loss:"), .begun = true };
    tl_say_loss(&w, a);
    tl_wrap_end(&w);
}
