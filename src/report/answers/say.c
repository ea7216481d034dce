/* say.c - the sentences of the answers. */
#include "tlmpi/report/answers/say.h"

#include "tlmpi/base/stats.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* How much is shown of a word of a trace (what fits a line after its label), and of the ranks among which a link is. */
enum { WORD_BYTES = 64, AMONG_BYTES = 64 };

void tl_say_selection(tl_wrap *w, const tl_answers *a)
{
    if (a->selection != NULL)
        tl_say(w, "Selected: %s - all that follows is of that alone%s%s", a->selection, a->notes != NULL ? "; " : ".",
               a->notes != NULL ? a->notes : "");
}

/* -------------------------------------------------------------------------------------------------------- culprits */

/* The ranks that a cell names, which may be cut: "16-23", "1, 5-6 and 9 more"; *whole: it names all of them. */
static tl_phrase listed_in_words(const char *cell, size_t size, int64_t all, const char *comma, bool *whole)
{
    int32_t ranks[TL_RANKS_LISTED];
    int64_t named[TL_RANKS_LISTED];
    size_t n = tl_ranks_listed(cell, size, ranks);
    for (size_t i = 0; i < n; i++)
        named[i] = ranks[i];
    *whole = n > 0 && (int64_t)n == all;
    return tl_ranks_in_words(named, n, all > (int64_t)n ? (size_t)all : n, comma);
}

/* "rank 2", "ranks 16-23", "the link between ranks 8 and 9", "a link among ranks 8-15". */
static tl_phrase culprit_in_words(const tl_culprit *c)
{
    bool whole;
    if (tl_is_several(c))
        return tl_phrase_of("ranks %.300s", listed_in_words(c->ranks, sizeof c->ranks, c->nranks, "", &whole).text);
    if (!tl_is_link(c))
        return tl_phrase_of("rank %" PRId32, c->rank);
    if (c->rank >= 0 && c->peer >= 0)
        return tl_phrase_of("the link between ranks %" PRId32 " and %" PRId32, c->rank, c->peer);
    return tl_phrase_of("a link among ranks %.*s", AMONG_BYTES, c->ranks);
}

/* " (host node1, device 2)", of several ranks " (all of host node1)", of a link " (hosts node1 and node2)"; empty where
 * nothing is known. */
static tl_phrase place_of_culprit(const tl_culprit *c)
{
    int host = (int)tl_host_length(c->host, sizeof c->host),
        peer = (int)tl_host_length(c->peer_host, sizeof c->peer_host);

    if (tl_is_untraced(c))
        return tl_phrase_of(" (no trace)");
    if (c->kind == TL_CULPRIT_RANK && tl_is_host_of_pids(c->host, sizeof c->host))
        host = 0;
    if (c->kind == TL_CULPRIT_RANK && c->device >= 0)
        return tl_phrase_of(" (%s%.*s%sdevice %" PRId32 ")", host > 0 ? "host " : "", host, c->host,
                            host > 0 ? ", " : "", c->device);
    if (host == 0 || (tl_is_link(c) && c->peer_host[0] == '\0'))
        return tl_phrase_of("%s", "");
    if (tl_is_several(c))
        return tl_phrase_of(" (%s host %.*s)", c->kind == TL_CULPRIT_HOST ? "all of" : "on", host, c->host);
    if (!tl_is_link(c) || memcmp(c->host, c->peer_host, sizeof c->host) == 0)
        return tl_phrase_of(" (host %.*s)", host, c->host);
    return tl_phrase_of(" (hosts %.*s and %.*s)", host, c->host, peer, c->peer_host);
}

/* "it costs 7.28 ms (3.0 %) of each step of 244 ms": of several in the mean. */
static void say_step_cost(tl_wrap *w, const tl_answers *a, const tl_culprit *c)
{
    if (c->step_cost_ns == 0) { /* judged by the waits alone */
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

void tl_say_culprit(tl_wrap *w, const tl_answers *a, const tl_culprit *c)
{
    tl_phrase who = culprit_in_words(c);
    bool told = tl_is_link(c) || c->steps_flagged > 0;

    who.text[0] = (char)toupper((unsigned char)who.text[0]);
    tl_say(w, "%s%s %s %s%s", who.text, place_of_culprit(c).text,
           tl_is_several(c)    ? "hold the job up together"
           : tl_is_untraced(c) ? "is the suspect: it seems to hold the job up"
                               : "holds the job up",
           tl_pattern_in_words(c, &a->trust).text, told ? ":" : "");
    if (tl_is_link(c))
        tl_say(w, "its %s", tl_link_in_words(a->link).text);
    else if (told)
        say_step_cost(w, a, c);
}

/* A cell of a table, in quotes, and a mark of at most one byte after them. */
static void say_quoted(tl_wrap *w, const char *cell, size_t size, const char *mark)
{
    char quoted[sizeof(((tl_rank *)NULL)->file) + 4];
    int most = size < sizeof quoted - 4 ? (int)size : (int)sizeof quoted - 4;

    snprintf(quoted, sizeof quoted, "\"%.*s\"%.1s", most, cell, mark);
    for (const char *p = quoted; *(p += strspn(p, " ")) != '\0';) {
        size_t n = strcspn(p, " ");
        tl_wrap_printf(w, "%.*s%s", n > WORD_BYTES ? WORD_BYTES : (int)n, p, n > WORD_BYTES ? "..." : "");
        p += n;
    }
}

void tl_say_place(tl_wrap *w, const tl_culprit *c)
{
    say_quoted(w, c->place, sizeof c->place, "");
}

void tl_say_excess(tl_wrap *w, const tl_answers *a, size_t most)
{
    size_t n = a->nexcess < most ? a->nexcess : most;
    for (size_t i = 0; i < n; i++) {
        const tl_excess_row *row = &a->excess[i];
        tl_say(w, "%s %s", tl_duration(row->own_ns).text, i == 0 ? "of a step in" : "in");
        say_quoted(w, row->place, sizeof row->place, ",");
        tl_say(w, "%s %s%s", tl_duration(row->peers_ns).text,
               row->against == TL_AGAINST_PEERS    ? "on its peers"
               : row->against == TL_AGAINST_STAGES ? "on other ranks"
                                                   : "in its other steps",
               i + 1 < n ? ";" : "");
    }
}

void tl_say_file(tl_wrap *w, const tl_rank *row)
{
    size_t n = strnlen(row->file, sizeof row->file), from = n;
    while (from > 0 && row->file[from - 1] != '/')
        from--;
    say_quoted(w, row->file + from, n - from, "");
    tl_say(w, "does not say that it is this rank: numbered by the order of the names");
}

void tl_say_next_culprit(tl_wrap *w, const tl_answers *a, const tl_culprit *c)
{
    tl_say(w, "%s%s %s", culprit_in_words(c).text, place_of_culprit(c).text, tl_pattern_in_words(c, &a->trust).text);
    if (tl_is_link(c))
        tl_say(w, "-");
    else
        tl_say(w, "-~%s,", tl_is_untraced(c) ? "untraced" : tl_cause_labels[c->cause]);
    if (c->gain_ns == 0)
        tl_say(w, "no gain in the simulation");
    else if (c->gain_ns > 0)
        tl_wrap_printf(w, "gain %s%s (%s)", tl_gain_is_least(a, c) ? "at least " : "", tl_duration(c->gain_ns).text,
                       tl_share_in_words(tl_answers_share(a, c->gain_ns)).text);
    else
        tl_say(w, "cost~%s", tl_duration(c->excess_ns).text);
}

/* ------------------------------------------------------------------------------------------------------ no culprit */

/* A sentence that is finished with a full stop where it has none. */
static void say_reason(tl_wrap *w, const char *cell, size_t size)
{
    const tl_phrase reason = tl_cell_in_words(cell, size);
    size_t n = strlen(reason.text);
    tl_say(w, "%s%s", reason.text, n > 0 && reason.text[n - 1] != '.' ? "." : "");
}

static void say_waits(tl_wrap *w, const tl_answers *a)
{
    if (!a->waits || a->nwaited_for == 0)
        return;
    tl_say(w, "Others wait");
    tl_say_waited_for(w, a);
}

void tl_say_nobody_holds(tl_wrap *w, const tl_answers *a, const char *end)
{
    tl_say(w, "%s holds the job up%s",
           a->trust.workless > 0  ? "No rank whose trace shows device work"
           : a->trust.missing > 0 ? "No rank that has a trace"
                                  : "No rank",
           end);
}

static void say_nobody(tl_wrap *w, const tl_answers *a)
{
    const tl_straggler *most = a->most;

    tl_say_nobody_holds(w, a, ".");
    if (most == NULL) {
        tl_say(w, "No rank has more work than its peers.");
        return;
    }
    bool undecided = a->trust.nranks == 2 && !(most->share_steps > 0);
    const char *end = undecided ? ";" : ":";
    tl_say(w, "Rank~%" PRId32 " works longest beyond %s, %s of~the~time%s", most->rank,
           most->against == TL_AGAINST_PEERS    ? "its peers"
           : most->against == TL_AGAINST_STAGES ? "other stages"
                                                : "its other steps",
           tl_share_in_words(tl_answers_share(a, a->most_ns)).text, isnan(most->p_value) ? end : "");
    if (!isnan(most->p_value))
        tl_say(w, "(p~=~%.2f)%s", most->p_value, end);
    if (undecided)
        tl_say(w, "with two ranks there is no third to tell which one is unusual.");
    else
        say_reason(w, most->reason, sizeof most->reason);
    if (a->trust.nranks == 2)
        say_waits(w, a);
}

/* Why there is no verdict: what is said of a rank, whose "it" is that rank; or the clocks. */
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
        tl_say(w, "nothing compares the clocks of the hosts, whose recordings are of different times (table clock): ask "
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
    switch (a->finding) {
    case TL_FOUND_NO_WORK:
        tl_say(w, "No verdict: nothing ran on a device.");
        break;
    case TL_FOUND_ONE_RANK:
        tl_say(w, "No verdict: %s none to compare it with.",
               a->trust.missing > 0 ? "a single rank has a trace, and there is" : "there is a single rank, and");
        break;
    case TL_FOUND_SILENCE:
        tl_say(w, "No verdict: the traces show no communication between ranks.");
        break;
    case TL_FOUND_UNMATCHED:
        tl_say(w, "No verdict: none of the %s collectives could be matched across ranks (table quality).",
               tl_grouped(a->trust.collectives).text);
        break;
    case TL_FOUND_NO_VERDICT:
        tl_say(w, "No verdict:");
        say_why(w, a);
        say_waits(w, a);
        break;
    default:
        say_nobody(w, a);
    }
}

/* --------------------------------------------------------------------------------------------------------- waiting */

void tl_say_waiters(tl_wrap *w, const tl_answers *a)
{
    const tl_culprit *worst = a->first;
    int64_t n = worst->nwaiters;
    bool all;
    const tl_phrase named = listed_in_words(worst->waiters, sizeof worst->waiters, n, ",", &all);

    tl_say(w, "%s~rank%s", tl_grouped(n).text, tl_plural(n));
    if (all)
        tl_say(w, "(%s)", named.text);
    tl_say(w, "%s for %s: %s of GPU time", n == 1 ? "waits" : "wait", tl_is_several(worst) ? "them" : "it",
           tl_duration(tl_ns_between(worst->blame_ns, worst->indirect_ns)).text);
    if (worst->indirect_ns > worst->blame_ns / 100)
        tl_say(w, "- ranks that wait for these wait %s more", tl_duration(worst->indirect_ns).text);
}

void tl_say_waited_for(tl_wrap *w, const tl_answers *a)
{
    size_t n = a->nwaited_for < TL_WAITED_FOR_MOST ? a->nwaited_for : TL_WAITED_FOR_MOST;

    tl_say(w, "%s", n > 1 ? "for several in turn:" : n == 1 ? "for one:" : "in turn");
    for (size_t i = 0; i < n; i++) {
        const tl_awaited *of = &a->waited_for[i];
        tl_say(w, "%s %s rank~%" PRId32 " (%s%s)%s", tl_duration(of->ns).text, i == 0 ? "of GPU time for" : "for",
               of->rank, tl_part_in_words(of->ns, a->wait_ns).text, i == 0 ? " of" TL_KEPT "all" TL_KEPT "waiting" : "",
               i + 1 < n || a->nwaited_for > n ? "," : "");
    }
    if (a->nwaited_for > n)
        tl_say(w, "and~%zu~more", a->nwaited_for - n);
    if (a->passed_on_ns > a->wait_ns / 100)
        tl_say(w, "-~%s (%s) for ranks that had waited themselves", tl_duration(a->passed_on_ns).text,
               tl_part_in_words(a->passed_on_ns, a->wait_ns).text);
}

/* ------------------------------------------------------------------------------------------------------------ loss */

/* The reason for most of the unknown part. */
static const char *because(const tl_answers *a)
{
    static const char *const meanings[] = { TL_COMM_DOUBT_VALUES(TL_VALUE_MEANING) };
    return a->comm_doubt != TL_COMM_DOUBT_NONE ? meanings[a->comm_doubt] : "the result does not tell why";
}

void tl_say_comm_doubt(tl_wrap *w, const tl_answers *a)
{
    tl_say(w, "waiting or transfer is unknown: %s", because(a));
}

void tl_say_shares(tl_wrap *w, const tl_answers *a)
{
    const int64_t all_ns = a->wall_sum_ns;
    tl_say(w, "idle %s, exposed communication %s of %s~time%s", tl_part_in_words(a->idle_ns, all_ns).text,
           tl_part_in_words(a->comm_exposed_ns, all_ns).text, a->trust.nranks > 1 ? "all ranks'" : "its",
           a->comm_exposed_ns > 0 ? ":" : "");
    if (a->comm_exposed_ns <= 0)
        return;
    if (a->comm_unknown_ns == a->comm_exposed_ns) {
        tl_say_comm_doubt(w, a);
        return;
    }
    tl_say(w, "waiting %s, transfer %s%s", tl_part_in_words(a->comm_waiting_ns, all_ns).text,
           tl_part_in_words(a->comm_transfer_ns, all_ns).text, a->comm_unknown_ns > 0 ? "," : "");
    if (a->comm_unknown_ns > 0)
        tl_say(w, "unknown %s: %s", tl_part_in_words(a->comm_unknown_ns, all_ns).text, because(a));
}

void tl_say_bound(tl_wrap *w, const tl_answers *a)
{
    const tl_path_sum *b = &a->bound;
    struct part {
        int64_t ns;
        const char *words;
    } parts[] = { { b->compute_ns, "computing" },
                  { b->comm_ns, "communication" },
                  { b->peer_ns, "waiting for other ranks" },
                  { b->cpu_ns, "the host, which works towards its next launch," },
                  { b->input_ns, "waiting for input" },
                  { b->sync_ns, "what synchronisation adds" },
                  { b->launch_ns, "the start of launched kernels" },
                  { b->kernel_kernel_ns, "the gaps between queued kernels" },
                  { b->copy_ns, "copies" },
                  { b->unexplained_ns, "nothing that is known" } };
    enum { NPARTS = sizeof parts / sizeof parts[0], SAID = 3 };
    const bool several = b->rank < 0 && a->trust.nranks > 1;
    if (b->rank >= 0)
        tl_say(w, "rank~%" PRId32 " is bound", b->rank);
    else
        tl_say(w, several ? "ranks are bound" : "the rank is bound");
    for (int said = 0; said < SAID; said++) {
        struct part *most = &parts[0];
        for (int i = 1; i < NPARTS; i++)
            most = parts[i].ns > most->ns ? &parts[i] : most;
        if (said > 0 && most->ns < b->wall_ns / 100)
            break;
        tl_say(w, "%sby %s for %s%s", said > 0 ? "-" TL_KEPT : "", most->words,
               tl_part_in_words(most->ns, b->wall_ns).text,
               said > 0  ? ""
               : several ? " of their time"
                         : " of its time");
        most->ns = 0;
    }
}

void tl_say_losses(tl_wrap *w, const tl_answers *a)
{
    if (a->worst.name == NULL || a->worst.ns == 0) {
        tl_say(w, "No rank is idle, or has exposed communication or copies.");
        return;
    }
    if (a->trust.nranks > 1 && a->job.name != NULL)
        tl_say(w, "All ranks: %s %s of their time. Most:", a->job.name,
               tl_part_in_words(a->job.ns, a->job.wall_ns).text);
    else
        tl_say(w, "Largest loss:");
    tl_say(w, "rank~%" PRId32 ", %s %s of its time.", a->worst.rank, a->worst.name,
           tl_part_in_words(a->worst.ns, a->worst.wall_ns).text);
}

/* ------------------------------------------------------------------------------------------------------- imbalance */

/* Keeps the gains that are at least what the critical path leaves unexplained; the gain of chance needs two steps or
 * more, too. */
static tl_imbalance told_of(const tl_answers *a)
{
    tl_imbalance told = a->imbalance;
    int64_t least_ns = a->path.unexplained_ns;
    told.roles_ns = told.roles_ns >= least_ns ? told.roles_ns : 0;
    told.chance_ns = told.chance_ns >= least_ns && a->trust.nsteps > 1 ? told.chance_ns : 0;
    told.hosts_ns = told.hosts_ns >= least_ns ? told.hosts_ns : 0;
    return told;
}

int64_t tl_largest_imbalance(const tl_answers *a)
{
    const tl_imbalance told = told_of(a);
    return tl_ns_max(told.roles_ns, tl_ns_max(told.chance_ns, told.hosts_ns));
}

void tl_say_imbalance(tl_wrap *w, const tl_answers *a, size_t most)
{
    enum { ROLES, CHANCE, HOSTS, NCAUSES };
    const tl_imbalance told = told_of(a);
    int64_t ns[NCAUSES] = { told.roles_ns, told.chance_ns, told.hosts_ns };
    /* Whether it comes on top of what those gain who are named, or is in part the same. */
    const bool beyond[NCAUSES] = { false, true, a->imbalance.named_hosts_ns > 0 };
    const tl_phrase words[NCAUSES] = {
        tl_phrase_of("ranks that do the same as rank" TL_KEPT "%" PRId32
                     " compute %.2f times as long as the others in the median: balanced",
                     a->imbalance.rank, a->imbalance.times),
        tl_phrase_of("work differs between ranks and steps at random: without that"),
        a->trust.nranks > 1 && a->imbalance.hosts_rank >= 0
            ? tl_phrase_of("the GPU of rank" TL_KEPT "%" PRId32 " waits for its CPU; at best", a->imbalance.hosts_rank)
            : tl_phrase_of(a->trust.nranks > 1 ? "all ranks: GPUs wait for the CPU; at best"
                                               : "the GPU waits for the CPU; at best"),
    };
    size_t said = 0;
    for (; said < most; said++) {
        size_t next = ns[CHANCE] > ns[ROLES] ? CHANCE : ROLES;
        next = ns[HOSTS] > ns[next] ? HOSTS : next;
        if (ns[next] <= 0)
            break;
        tl_say(w, "%s%s %s" TL_KEPT "less (%s)", said > 0 ? "- " : "", words[next].text, tl_duration(ns[next]).text,
               tl_share_in_words(tl_answers_share(a, ns[next])).text);
        if (a->nculprits > 0)
            tl_say(w, "%s", beyond[next] ? "beyond the gain above" : "- overlaps with the gain above");
        ns[next] = 0;
    }
    if (said > 1)
        tl_say(w, "- these overlap");
}

/* ----------------------------------------------------------------------------------------------------------- trust */

void tl_say_confidence(tl_wrap *w, const tl_answers *a, const tl_answer *answer, int most)
{
    int said = 0;
    tl_say(w, "%s%s", tl_confidence_labels[answer->confidence], answer->doubts != 0 ? ":" : "");
    for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++) {
        if ((answer->doubts & 1u << doubt) == 0)
            continue;
        if (++said > most) {
            tl_say(w, "and~%d~more", __builtin_popcount(answer->doubts) - most);
            return;
        }
        tl_say(w, "%s%s", tl_doubt_in_words(a, (tl_doubt)doubt).text, answer->doubts >> doubt > 1 ? ";" : "");
    }
}
