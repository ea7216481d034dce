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

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
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

/* Bytes shown of a word from a trace (so that it fits a line after its label), and of a list of ranks. */
enum { WORD_BYTES = 64, LIST_BYTES = 64 };

/* -------------------------------------------------------------------------------------------------------- culprits */

tl_phrase tl_list_in_words(const char *cell, size_t size)
{
    tl_phrase out = { "" };
    size_t n = strnlen(cell, size), used = 0;
    for (size_t i = 0, part; i < n; i += part + 1) {
        const char *comma = memchr(cell + i, ',', n - i);
        part = comma != NULL ? (size_t)(comma - cell) - i : n - i;
        if (i + part > LIST_BYTES)
            return tl_phrase_of("%s, ...", out.text);
        used +=
            (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%.*s", i > 0 ? ", " : "", (int)part, cell + i);
    }
    return out;
}

/* Returns "host node1"; empty if the traces do not name the host. */
static tl_phrase host_in_words(const char *cell, size_t size)
{
    const bool named = cell[0] != '\0' && !tl_is_host_of_pids(cell, size);
    return tl_phrase_of("%s%.*s", named ? "host " : "", named ? (int)tl_host_length(cell, size) : 0, cell);
}

/* Returns "rank 2", "ranks 16-23", "the link between ranks 8 and 9", "a link among ranks 8-15". */
static tl_phrase culprit_in_words(const tl_culprit *c)
{
    if (!tl_is_link(c) && !tl_is_several(c))
        return tl_phrase_of("rank %" PRId32, c->rank);
    if (tl_is_link(c) && c->rank >= 0 && c->peer >= 0)
        return tl_phrase_of("the link between ranks %" PRId32 " and %" PRId32, c->rank, c->peer);
    return tl_phrase_of("%s %.300s", tl_is_link(c) ? "a link among ranks" : "ranks",
                        tl_list_in_words(c->ranks, sizeof c->ranks).text);
}

/* Returns " (host node1, device 2)", for several ranks " (all of host node1)", for a link " (host node1 and host
 * node2)"; empty if unknown. */
static tl_phrase place_of_culprit(const tl_culprit *c)
{
    const tl_phrase host = host_in_words(c->host, sizeof c->host),
                    peer = host_in_words(c->peer_host, sizeof c->peer_host);
    const bool device = c->kind == TL_CULPRIT_RANK && c->device >= 0;
    if (tl_is_untraced(c))
        return tl_phrase_of(" (no trace)");
    if (device)
        return tl_phrase_of(" (%.100s%sdevice %" PRId32 ")", host.text, host.text[0] != '\0' ? ", " : "", c->device);
    if (host.text[0] == '\0' || (tl_is_link(c) && peer.text[0] == '\0'))
        return tl_phrase_of("%s", "");
    if (tl_is_link(c) && strcmp(host.text, peer.text) != 0)
        return tl_phrase_of(" (%.100s and %.100s)", host.text, peer.text);
    return tl_phrase_of(" (%s%.100s)",
                        c->kind == TL_CULPRIT_HOST ? "all of "
                        : tl_is_several(c)         ? "on "
                                                   : "",
                        host.text);
}

tl_phrase tl_pattern_of_culprit(const tl_answers *a, const tl_culprit *c)
{
    return tl_pattern_in_words((tl_pattern)c->pattern, c->first_step, c->last_step, c->steps_flagged, a->trust.nsteps,
                               a->trust.left_out);
}

/* Says "it costs 7.28 ms (3.0 %) of each step of 244 ms"; for several steps the mean. */
static void say_step_cost(tl_wrap *w, const tl_answers *a, const tl_culprit *c)
{
    if (c->step_cost_ns == 0) { /* judged by waits only */
        tl_say(w, "others wait for %s - the simulation gains nothing", tl_is_several(c) ? "them" : "it");
        return;
    }
    tl_say(w, "%s %s",
           tl_is_several(c)    ? "they cost"
           : tl_is_least(a, c) ? "it costs at least"
                               : "it costs",
           tl_duration(c->step_cost_ns).text);
    if (c->step_ns > 0)
        tl_say(w, "(%s)", tl_part_in_words(c->step_cost_ns, c->step_ns).text);
    tl_say(w, "%s %s%s",
           a->trust.nsteps == 0    ? "of"
           : c->steps_flagged == 1 ? "of that step of"
                                   : "of each of these steps of",
           tl_duration(c->step_ns).text, c->steps_flagged > 1 ? " on average" : "");
}

/* Says a cell of a table in quotes, followed by a mark of at most one byte. */
static void say_quoted(tl_wrap *w, const char *cell, size_t size, const char *mark)
{
    const tl_phrase quoted = tl_phrase_of("\"%.*s\"%.1s", (int)size, cell, mark);
    for (const char *p = quoted.text; *(p += strspn(p, " ")) != '\0';) {
        size_t n = strcspn(p, " ");
        tl_wrap_printf(w, "%.*s%s", n > WORD_BYTES ? WORD_BYTES : (int)n, p, n > WORD_BYTES ? "..." : "");
        p += n;
    }
}

/* "host_late: its device waits for launches, because ... (76.6 % of the gain) in "forward"": of the first culprit. */
static void say_cause(tl_wrap *w, const tl_answers *a)
{
    /* by tl_against */
    static const char *const against[] = { "", ", compared with other stages", ", compared with its other steps" };
    const tl_culprit *c = a->first;
    if (tl_is_untraced(c)) {
        tl_say(
            w,
            "untraced: its peers have all come and leave together long after, so it comes late, or its link is slow");
        return;
    }
    tl_say(w, "%s: %s%s", tl_cause_labels[c->cause], tl_cause_meanings[c->cause], against[a->against]);
    if (tl_is_link(c))
        return;
    if (a->device != NULL && (c->cause == TL_CAUSE_COMPUTE_SLOW || c->cause == TL_CAUSE_THROTTLED))
        tl_say(w, "(device %.*s, others have %.*s)", (int)sizeof a->device->device_name, a->device->device_name,
               (int)sizeof a->other_device->device_name, a->other_device->device_name);
    if (!c->same_cause)
        tl_say(w, "(rank~%" PRId32 ")", c->rank);
    const tl_phrase share = tl_share_in_words(c->cause_share);
    if (c->cause == TL_CAUSE_MIXED && c->cause_share > 0)
        tl_say(w, "(the largest is %s, %s of the gain)", tl_cause_labels[c->largest_cause], share.text);
    else if (c->cause_share > 0 && c->cause_share < 0.995)
        tl_say(w, "(%s of the gain)", share.text);
    if (c->place[0] != '\0' && a->nexcess == 0) {
        tl_say(w, "in");
        say_quoted(w, c->place, sizeof c->place, "");
    }
}

/* ------------------------------------------------------------------------------------------------------ no culprit */

/* Says a sentence; adds a full stop if it has none. */
static void say_reason(tl_wrap *w, const char *cell, size_t size)
{
    const tl_phrase reason = tl_cell_in_words(cell, size);
    size_t n = strlen(reason.text);
    tl_say(w, "%s%s", reason.text, n > 0 && reason.text[n - 1] != '.' ? "." : "");
}

void tl_say_no_rank_holds(tl_wrap *w, const tl_answers *a, const char *end)
{
    tl_say(w, "%s holds the job up%s",
           a->trust.workless > 0  ? "No rank whose trace shows device work"
           : a->trust.missing > 0 ? "No rank that has a trace"
                                  : "No rank",
           end);
}

static void say_none_stands_out(tl_wrap *w, const tl_answers *a)
{
    static const char *const beyond[] = { "its peers", "other stages", "its other steps" }; /* by tl_against */
    const tl_straggler *most = a->most;

    tl_say_no_rank_holds(w, a, ".");
    if (most == NULL) {
        tl_say(w, "No rank has more work than its peers.");
        return;
    }
    const bool undecided = a->trust.nranks == 2 && !(most->share_steps > 0);
    const tl_phrase chance =
        isnan(most->p_value) ? (tl_phrase){ "" } : tl_phrase_of(" (p" TL_KEPT "=" TL_KEPT "%.2f)", most->p_value);
    tl_say(w, "Rank~%" PRId32 " works longest beyond %s, %s of~the~time%s%s", most->rank, beyond[most->against],
           tl_share_in_words(tl_answers_share(a, a->most_ns)).text, chance.text, undecided ? ";" : ":");
    if (undecided)
        tl_say(w, "with two ranks there is no third to tell which one is unusual.");
    else
        say_reason(w, most->reason, sizeof most->reason);
}

/* Says why there is no verdict: the reason of a rank (its "it" is replaced by the rank), or the clocks. */
static void say_why(tl_wrap *w, const tl_answers *a)
{
    if (a->why != NULL) {
        const char *words = a->why->reason;
        size_t n = strncmp(words, "it ", 3) == 0 ? 3 : strncmp(words, "its ", 4) == 0 ? 4 : 0;
        if (n > 0)
            tl_say(w, "rank~%" PRId32 "%s", a->why->rank, n == 4 ? "'s" : "");
        say_reason(w, words + n, sizeof a->why->reason - n);
        return;
    }
    if (a->trust.apart) {
        tl_say(w,
               "nothing compares the clocks of the hosts, whose recordings are of different times (table clock): ask "
               "about the ranks of one host (--ranks).");
        return;
    }
    if (a->trust.untied)
        tl_say(w, "nothing compares the clocks of the hosts;");
    else
        tl_say(w, "clocks are uncertain by %s;", tl_duration(a->trust.clock_uncertainty_ns).text);
    tl_say(w, "who came last is unknown in %s~of~%s collectives (table clock).", tl_grouped(a->trust.blurred).text,
           tl_grouped(a->trust.matched).text);
}

void tl_say_no_culprit(tl_wrap *w, const tl_answers *a)
{
    if (a->finding == TL_FOUND_NONE) {
        say_none_stands_out(w, a);
        return;
    }
    tl_say(w, "No verdict:");
    if (a->finding == TL_FOUND_NO_WORK)
        tl_say(w, "nothing ran on a device.");
    else if (a->finding == TL_FOUND_ONE_RANK)
        tl_say(w, "%s none to compare it with.",
               a->trust.missing > 0 ? "a single rank has a trace, and there is" : "there is a single rank, and");
    else if (a->finding == TL_FOUND_SILENCE)
        tl_say(w, "the traces show no communication between ranks.");
    else if (a->finding == TL_FOUND_UNMATCHED)
        tl_say(w, "none of the %s collectives could be matched across ranks (table quality).",
               tl_grouped(a->trust.collectives).text);
    else
        say_why(w, a);
}

/* ------------------------------------------------------------------------------------------------------------ loss */

void tl_say_comm_doubt(tl_wrap *w, const tl_answers *a)
{
    tl_say(w, "waiting or transfer is unknown: %s",
           a->comm_doubt != TL_COMM_DOUBT_NONE ? tl_comm_doubt_meanings[a->comm_doubt]
                                               : "the result does not tell why");
}

/* --------------------------------------------------------------------------------------------------------- balance */

enum { ROLES, CHANCE, HOSTS, NBALANCES };

/* Fills the gains that reach the unexplained part of the critical path, else 0; the gain of chance also needs two or
 * more steps.  Returns the index of the largest. */
static int largest_balance(const tl_answers *a, int64_t ns[NBALANCES])
{
    int largest = ROLES;
    ns[ROLES] = a->imbalance.roles_ns;
    ns[CHANCE] = a->trust.nsteps > 1 ? a->imbalance.chance_ns : 0;
    ns[HOSTS] = a->imbalance.hosts_ns;
    for (int i = ROLES; i < NBALANCES; i++) {
        ns[i] = ns[i] >= a->path.unexplained_ns ? ns[i] : 0;
        largest = ns[i] > ns[largest] ? i : largest;
    }
    return largest;
}

int64_t tl_largest_imbalance(const tl_answers *a)
{
    int64_t ns[NBALANCES];
    return ns[largest_balance(a, ns)];
}

static tl_phrase balance_in_words(const tl_answers *a, int which)
{
    const tl_imbalance *i = &a->imbalance;
    const bool several = a->trust.nranks > 1;
    if (which == ROLES)
        return tl_phrase_of("%srank %" PRId32 " compute%s %.2f times as long as the others in the median: balanced%s",
                            i->alone ? "" : "ranks that do the same as ", i->rank, i->alone ? "s" : "", i->times,
                            i->at_most ? ", at most" : "");
    if (which == CHANCE)
        return tl_phrase_of("work differs between ranks and steps at random: without that");
    if (several && i->hosts_rank >= 0)
        return tl_phrase_of("the GPU of rank %" PRId32 " waits for its CPU; at best", i->hosts_rank);
    return tl_phrase_of(several ? "all ranks: GPUs wait for the CPU; at best" : "the GPU waits for the CPU; at best");
}

void tl_say_imbalance(tl_wrap *w, const tl_answers *a, size_t most)
{
    int64_t ns[NBALANCES];
    int next = largest_balance(a, ns);
    size_t said = 0;
    for (; said < most && ns[next] > 0; said++) {
        /* Whether the gain comes on top of the named ranks' gain, or partly overlaps with it. */
        const bool beyond = next == CHANCE || (next == HOSTS && a->imbalance.named_hosts_ns > 0);
        const tl_phrase whole = tl_phrase_of(" of %s", tl_duration(a->wall_ns).text); /* else the line Gain says it */
        tl_say(w, "%s%s %s~less%s (%s)%s", said > 0 ? "- " : "", balance_in_words(a, next).text,
               tl_duration(ns[next]).text, said == 0 && a->nculprits == 0 ? whole.text : "",
               tl_share_in_words(tl_answers_share(a, ns[next])).text,
               a->nculprits == 0 ? ""
               : beyond          ? " beyond the gain above"
                                 : " - overlaps with the gain above");
        ns[next] = 0;
        for (int i = ROLES; i < NBALANCES; i++)
            next = ns[i] > ns[next] ? i : next;
    }
    if (said > 1)
        tl_say(w, "- these overlap");
}

/* ---------------------------------------------------------------------------------------------------- shared lines */

void tl_tell_verdict(tl_telling *t)
{
    const tl_answers *a = t->a;
    const tl_culprit *c = a->first;
    tl_wrap *w = tl_tell_found(t, c != NULL);
    if (c == NULL) {
        tl_say_no_culprit(w, a);
        return;
    }
    tl_phrase who = culprit_in_words(c);
    bool told = tl_is_link(c) || c->steps_flagged > 0;
    who.text[0] = (char)toupper((unsigned char)who.text[0]);
    tl_say(w, "%s%s %s %s%s", who.text, place_of_culprit(c).text,
           tl_is_several(c)    ? "hold the job up together"
           : tl_is_untraced(c) ? "is the suspect: it seems to hold the job up"
                               : "holds the job up",
           tl_pattern_of_culprit(a, c).text, told ? ":" : "");
    if (!tl_is_link(c)) {
        if (told)
            say_step_cost(w, a, c);
        return;
    }
    const tl_slow_link_row *l = a->link; /* "its all_reduce of 16.8 MB takes 393 us, where other ranks take 131 us" */
    tl_say(w, "its %s%s%s takes %s, where other %s take %s",
           l->kind < TL_NCOLLECTIVES ? tl_collective_labels[l->kind] : "transfer", l->bytes > 0 ? " of " : "",
           l->bytes > 0 ? tl_bytes_in_words(l->bytes).text : "", tl_duration(l->transfer_ns).text,
           l->evidence == TL_LINK_BY_GROUPS ? "ranks" : "steps", tl_duration(l->elsewhere_ns).text);
}

void tl_tell_file(tl_telling *t)
{
    const tl_rank *row = t->a->by_order;
    if (row == NULL)
        return;
    const tl_phrase path = tl_cell_in_words(row->file, sizeof row->file);
    const char *slash = strrchr(path.text, '/');
    tl_wrap *w = tl_tell(t, "file", NULL);
    say_quoted(w, slash != NULL ? slash + 1 : path.text, sizeof path.text, "");
    tl_say(w, "does not say that it is this rank: numbered by the order of the names");
}

void tl_tell_cause(tl_telling *t, size_t most)
{
    static const char *const elsewhere[] = { "on its peers", "on other ranks",
                                             "in its other steps" }; /* by tl_against */
    const tl_answers *a = t->a;
    const size_t n = a->nexcess < most ? a->nexcess : most;
    say_cause(tl_tell(t, "cause", NULL), a);
    tl_wrap *w = n > 0 ? tl_tell(t, "where", "excess") : NULL;
    for (size_t i = 0; i < n; i++) {
        const tl_excess_row *row = &a->excess[i];
        tl_say(w, "%s %s", tl_duration(row->own_ns).text,
               i > 0              ? "in"
               : a->excess_in_all ? "in all in"
                                  : "of a step in");
        say_quoted(w, row->place, sizeof row->place, ",");
        tl_say(w, "%s %s%s", tl_duration(row->peers_ns).text, elsewhere[row->against], i + 1 < n ? ";" : "");
    }
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
    const tl_answers *a = t->a;
    for (size_t i = 1; i < a->nculprits && i <= most; i++) {
        const tl_culprit *c = &a->culprits[i];
        tl_wrap *w = tl_tell(t, "also", NULL);
        tl_say(w, "%s%s %s -", culprit_in_words(c).text, place_of_culprit(c).text, tl_pattern_of_culprit(a, c).text);
        if (!tl_is_link(c))
            tl_say(w, "%s,", tl_is_untraced(c) ? "untraced" : tl_cause_labels[c->cause]);
        if (c->gain_ns > 0)
            tl_wrap_printf(w, "gain %s%s (%s)", tl_gain_is_least(a, c) ? "at least " : "", tl_duration(c->gain_ns).text,
                           tl_share_in_words(tl_answers_share(a, c->gain_ns)).text);
        else if (c->gain_ns == 0)
            tl_say(w, "no gain in the simulation");
        else
            tl_say(w, "cost~%s", tl_duration(c->excess_ns).text);
    }
    if (a->nculprits > most + 1)
        tl_say(tl_tell(t, "also", NULL), "and~%zu~more (tables straggler, link)", a->nculprits - most - 1);
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
    const char *table;
    const tl_phrase next = tl_next_in_words(t->a, &table);
    if (next.text[0] != '\0')
        tl_say(tl_tell(t, "next", table), "%s", next.text);
}
