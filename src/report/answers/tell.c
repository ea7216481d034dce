/* tell.c - lines that the summary after a run and `tlmpi ask` share, and the verdict in the summary:
 *
 *     Rank 2 (host node0, device 2) holds the job up in all 3 steps (4-6): it costs 1.01 s (95.3 %) of each of these
 *       steps of 1.06 s on average
 *       cause   host_late: its device waits because its CPU thread sleeps or works
 *       where   "# running sparse arch" 1.00 s of a step, on peers 988 us
 *       gain    2.89 s less of 3.30 s (87.7 %) without its delay, simulated
 *       trust   medium: 3 steps are too few for a test of significance
 */
#include "tlmpi/report/answers/tell.h"

#include "tlmpi/report/answers/say.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- lines */

void tl_tell_end(tl_telling *t)
{
    if (t->w.column == 0)
        return;
    if (t->file != NULL && t->table != NULL) /* in one line, so that the command can be copied */
        tl_wrap_printf(&t->w, "(tlmpi show %s %s)", t->file, t->table);
    fputs(t->bold ? "\033[0m" : "", t->w.out);
    t->bold = false;
    tl_wrap_end(&t->w);
}

tl_wrap *tl_tell(tl_telling *t, const char *label, const char *table)
{
    enum { LABEL_AT = 10 };
    const bool again = t->label != NULL && strcmp(label, t->label) == 0, screen = t->file == NULL,
               any = label[0] != '\0';
    tl_tell_end(t);
    t->label = label;
    t->table = table;
    t->w.indent = screen && any ? LABEL_AT : 2;
    t->w.begun = any;
    if (screen && any)
        t->w.column = (size_t)fprintf(t->w.out, "  %-*s", LABEL_AT - 3, again ? "" : label);
    else if (any)
        t->w.column = (size_t)fprintf(t->w.out, "  %c%s:", toupper((unsigned char)label[0]), label + 1);
    else if (!screen)
        t->w.column = (size_t)fprintf(t->w.out, "  ");
    return &t->w;
}

tl_wrap *tl_tell_found(tl_telling *t, bool named)
{
    tl_wrap *w = tl_tell(t, "", NULL);
    t->bold = t->coloured && named;
    fputs(t->bold ? "\033[1m" : "", w->out);
    return w;
}

/* ---------------------------------------------------------------------------------------------------- shared lines */

void tl_tell_verdict(tl_telling *t)
{
    tl_wrap *w = tl_tell_found(t, t->a->first != NULL);
    if (t->a->first != NULL)
        tl_say_culprit(w, t->a, t->a->first);
    else
        tl_say_no_culprit(w, t->a);
}

void tl_tell_cause(tl_telling *t, size_t most)
{
    tl_say_cause(tl_tell(t, "cause", NULL), t->a);
    if (t->a->nexcess > 0)
        tl_say_excess(tl_tell(t, "where", "excess"), t->a, most);
}

void tl_tell_gain(tl_telling *t)
{
    const tl_answers *a = t->a;
    tl_wrap *w = tl_tell(t, "gain", NULL);
    tl_say(w, "%s", tl_gain_in_words(a, a->first).text);
    if (a->links_gain_ns > 0)
        tl_say(w, "- %s~less (%s) without all slow links", tl_duration(a->links_gain_ns).text,
               tl_share_in_words(tl_answers_share(a, a->links_gain_ns)).text);
    if (a->nculprits > 1 && a->together_gain_ns > a->first->gain_ns)
        tl_say(w, "- %s~less (%s) without all that are named here", tl_duration(a->together_gain_ns).text,
               tl_share_in_words(tl_answers_share(a, a->together_gain_ns)).text);
}

void tl_tell_also(tl_telling *t, size_t most)
{
    for (size_t i = 1; i < t->a->nculprits && i <= most; i++)
        tl_say_next_culprit(tl_tell(t, "also", NULL), t->a, &t->a->culprits[i]);
    if (t->a->nculprits > most + 1)
        tl_say(tl_tell(t, "also", NULL), "and~%zu~more (tables straggler, link)", t->a->nculprits - most - 1);
}

void tl_tell_trust(tl_telling *t, const tl_answer *answer, int most)
{
    int said = 0;
    tl_wrap *w = tl_tell(t, "trust", NULL);
    tl_say(w, "%s%s", tl_confidence_labels[answer->confidence], answer->doubts != 0 ? ":" : "");
    for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++) {
        if ((answer->doubts & 1u << doubt) == 0)
            continue;
        if (++said > most) {
            tl_say(w, "and~%d~more", __builtin_popcount(answer->doubts) - most);
            return;
        }
        tl_say(w, "%s%s", tl_doubt_in_words(t->a, (tl_doubt)doubt).text, answer->doubts >> doubt > 1 ? ";" : "");
    }
}

void tl_tell_next(tl_telling *t)
{
    const tl_phrase next = tl_next_in_words(t->a);
    if (next.text[0] != '\0')
        tl_say(tl_tell(t, "next", NULL), "%s", next.text);
}

/* ------------------------------------------------------------------------------------------------------ the screen */

void tl_tell_screen(tl_telling *t, int doubts)
{
    enum { ALSO = 2, PLACES = 2 };
    const tl_answers *a = t->a;
    const int64_t imbalance_ns = tl_largest_imbalance(a);

    tl_tell_verdict(t);
    if (a->first != NULL) {
        if (a->by_order != NULL)
            tl_say_file(tl_tell(t, "file", NULL), a->by_order);
        tl_tell_cause(t, PLACES);
        tl_tell_gain(t);
        tl_tell_also(t, ALSO);
    }
    if (a->finding >= TL_FOUND_NONE)
        tl_tell_trust(t, &a->rank, doubts);
    if (imbalance_ns > 0 && (a->first == NULL || imbalance_ns > a->first->cost_ns))
        tl_say_imbalance(tl_tell(t, "balance", NULL), a, 1);
    tl_tell_next(t);
}
