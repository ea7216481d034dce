/* found.c - the verdict, and where most time is lost:
 *
 *     Rank 2 (host node0, device 2) holds the job up in all 3 steps (4-6): it costs 1.01 s (95.3 %) of each of these
 *       steps of 1.06 s on average
 *       cause   host_late: its device waits because its CPU thread sleeps or works
 *       where   "# running sparse arch" 1.00 s of a step, on peers 988 us
 *       gain    2.89 s less of 3.30 s (87.7 %) without its delay, simulated
 *       trust   medium: 3 steps are too few for a test of significance
 *       lost    69.0 % of GPU time: exposed waiting for other ranks (9.11 s)
 *               22.9 %: idle, the CPU did hardly anything that is recorded (longest: aten::empty) inside "# running
 *               sparse arch" - rank 2 most
 *                3.2 %: exposed transfers (420 ms)
 *
 * What the verdict rests on is for `tlmpi ask`.  Losses are the parts of exposed communication, exposed copies, gaps too
 * short to be classified, and each class of idle time (table idle_summary).  GPU time is the wall time of all ranks.
 */
#include "parts.h"

#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <string.h>

/* Culprits beside the worst that have a line; places of its delay.  In percent: the share of all GPU time from which a
 * loss has a line, the share of a loss from which its place is named, and the share above which the rest is not
 * mentioned. */
enum { NEXT_SHOWN = 2, PLACES_SHOWN = 2, LEAST_PCT = 1, LEAST_PLACE_PCT = 10, NEARLY_ALL_PCT = 80, NAME_BYTES = 64 };

/* --------------------------------------------------------------------------------------------------------- verdict */

static void say_cause(tl_wrap *w, const tl_answers *a)
{
    const tl_culprit *c = a->first;
    tl_label(w, "cause");
    if (tl_is_untraced(c)) {
        tl_say(w, "%s", tl_untraced_in_words(a).text);
        return;
    }
    tl_say(w, "%s: %s", tl_cause_labels[c->cause], tl_cause_in_words(a, c->cause).text);
    if (!c->same_cause)
        tl_say(w, "(rank~%" PRId32 ")", c->rank);
    if (c->cause_share > 0 && c->cause_share < 0.995)
        tl_say(w, "%s", tl_cause_share_in_words(c).text);
    if (c->place[0] != '\0' && a->nexcess == 0) {
        tl_say(w, "in");
        tl_say_place(w, c);
    }
    if (a->nexcess > 0)
        tl_say_excess(tl_label(w, "where"), a, PLACES_SHOWN);
}

static void say_culprits(tl_wrap *w, const tl_answers *a, const tl_look *look)
{
    fputs(look->bold, w->out);
    tl_say_culprit(w, a, a->first);
    fputs(look->off, w->out);
    if (a->by_order != NULL)
        tl_say_file(tl_label(w, "file"), a->by_order);
    say_cause(w, a);
    tl_say(tl_label(w, "gain"), "%s", tl_gain_in_words(a, a->first).text);
    if (a->nculprits > 1 && a->together_gain_ns > a->first->gain_ns)
        tl_say(w, "- %s~less without all that are named here", tl_duration(a->together_gain_ns).text);
    for (size_t i = 1; i < a->nculprits && i <= NEXT_SHOWN; i++)
        tl_say_next_culprit(tl_label(w, i == 1 ? "also" : ""), a, &a->culprits[i]);
    if (a->nculprits > NEXT_SHOWN + 1)
        tl_say(tl_label(w, ""), "and~%zu~more (tables straggler, link)", a->nculprits - NEXT_SHOWN - 1);
}

void tl_print_verdict(FILE *out, const tl_answers *a, int doubts, const tl_look *look)
{
    int64_t imbalance_ns = tl_largest_imbalance(a);
    const char *next = tl_next_in_words(a);
    tl_wrap w = { .out = out, .indent = 2 };

    if (a->finding > TL_FOUND_NOBODY)
        say_culprits(&w, a, look);
    else if (a->finding != TL_FOUND_ONE_RANK)
        tl_say_no_culprit(&w, a);
    if (a->finding >= TL_FOUND_NOBODY)
        tl_say_confidence(tl_label(&w, "trust"), a, &a->rank, doubts);
    if (imbalance_ns > 0 && (a->first == NULL || imbalance_ns > a->first->cost_ns))
        tl_say_imbalance(tl_label(&w, "balance"), a, 1);
    if (next != NULL)
        tl_say(tl_label(&w, "next"), "%s", next);
    tl_label_end(&w);
}

/* ------------------------------------------------------------------------------------------------ a class of idle time */

/* The name after "CLASS: "; where there is none, `without`. */
static const char *call_of(const char *key, const char *without)
{
    const char *colon = strstr(key, ": ");
    return colon != NULL ? colon + 2 : without;
}

/* What kept the device waiting, in words. */
static tl_phrase doing_in_words(const tl_idle_summary *c)
{
    const tl_phrase cell = tl_cell_in_words(c->dominant_op, sizeof c->dominant_op);
    const char *key = cell.text;

    switch (c->cpu_during_gap) {
    case TL_DOING_CPU:
        return tl_phrase_of("host in %.*s", NAME_BYTES, key);
    case TL_DOING_RUNTIME:
        return tl_phrase_of("host in the call %s", call_of(key, key));
    case TL_DOING_UNTRACED:
        if (strcmp(key, "(no_cpu_op_overlap)") == 0)
            return tl_phrase_of("the CPU did nothing that is recorded");
        return tl_phrase_of("the CPU did hardly anything that is recorded (longest: %.*s)", NAME_BYTES, key);
    case TL_DOING_NO_TRACE:
        return tl_phrase_of("the CPU launched late; its trace has no operators");
    case TL_DOING_LAUNCH_ANOMALY:
        return tl_phrase_of("a kernel %s the gap started late%s%s",
                            strncmp(key, "prequeued", 9) == 0 ? "queued before" : "launched during",
                            call_of(key, "")[0] != '\0' ? ", host in the call " : "", call_of(key, ""));
    case TL_DOING_LAUNCH_OVERHEAD:
        return tl_phrase_of("the latency of launches");
    case TL_DOING_GRAPH:
        return tl_phrase_of("between the nodes of CUDA graphs");
    case TL_DOING_UNRECORDED:
        return tl_phrase_of("or at work that is not recorded: launches without work");
    case TL_DOING_DEPENDENCY:
        return tl_phrase_of("work waited for an event of another stream: %s", key);
    default:
        return tl_phrase_of("other causes");
    }
}

/* Says in which annotation most of a late host's time was, and whether the host had just waited for the device. */
static void say_place(tl_wrap *w, const tl_summary *s, const tl_idle_summary *c)
{
    double pct = tl_percent(c->annotation_ns, c->total_ns);
    bool host = c->cpu_during_gap == TL_DOING_CPU || c->cpu_during_gap == TL_DOING_RUNTIME ||
                c->cpu_during_gap == TL_DOING_UNTRACED;
    bool part = pct <= NEARLY_ALL_PCT;

    if (c->drain_type == TL_DRAIN_SYNC)
        tl_say(w, "after a device sync");
    if (host && c->annotation != TL_NO_NAME && pct >= LEAST_PLACE_PCT) {
        tl_text name = tl_names_text(s->names, c->annotation);
        char cell[NAME_BYTES + 1] = "";
        tl_cell_text(cell, NAME_BYTES, name.p, name.n);
        if (part)
            tl_say(w, "(%.1f~%%~of~it", pct);
        tl_say(w, "inside \"%s\"%s", cell, part ? ")" : "");
    }
}

/* Which ranks: where the median of all has nearly as much as the worst, all; else the worst and up to two more that have
 * at least half as much, of equals the lower. */
static void say_ranks(tl_wrap *w, const tl_summary *s, const tl_idle_summary *c)
{
    const tl_idle_summary *next[2] = { NULL, NULL };
    int32_t n = 1;

    if (c->ranks > 1 && c->median_rank_ns >= c->worst_ns - c->worst_ns / 5) {
        tl_say(w, "-~%" PRId32 "~ranks~alike", c->ranks);
        return;
    }
    TL_ROWS (const tl_idle_summary, r, s->classes) {
        if (r->rank == -1 || r->rank == c->worst_rank || r->device != -1 || r->step != -1 || r->place == 0 ||
            r->drain_type != c->drain_type || r->cpu_during_gap != c->cpu_during_gap ||
            memcmp(r->dominant_op, c->dominant_op, sizeof c->dominant_op) != 0 || r->total_ns < c->worst_ns / 2)
            continue;
        if (next[0] == NULL || r->total_ns > next[0]->total_ns) {
            next[1] = next[0];
            next[0] = r;
        } else if (next[1] == NULL || r->total_ns > next[1]->total_ns) {
            next[1] = r;
        }
    }
    tl_phrase ranks = tl_phrase_of("%" PRId32, c->worst_rank);
    for (; n < 3 && next[n - 1] != NULL; n++)
        ranks = tl_phrase_of("%.64s," TL_KEPT "%" PRId32, ranks.text, next[n - 1]->rank);
    tl_say(w, "-~rank%s~%s%s", n > 1 ? "s" : "", ranks.text, c->ranks > n ? TL_KEPT "most" : "");
}

static void say_class(tl_wrap *w, const tl_summary *s, const tl_idle_summary *c)
{
    size_t working = 0; /* ranks with device work */
    TL_ROWS (const tl_idle, row, s->idle)
        working += row->rank >= 0 && row->device == -1 && row->busy_ns > 0;
    tl_say(w, "idle, %s", doing_in_words(c).text);
    say_place(w, s, c);
    if (working > 1 && c->peer_ns > 0 && c->peer_ns >= c->total_ns - c->peer_ns)
        tl_say(w, "(mostly waiting for other ranks)");
    if (working > 1)
        say_ranks(w, s, c);
}

/* ---------------------------------------------------------------------------------------------------------- losses */

typedef struct loss {
    int64_t ns;
    const char *words;           /* NULL: of ... */
    const tl_idle_summary *idle; /* ... a class of gaps */
    int64_t gaps;                /* too short to be classified; 0: the loss is another */
    bool unknown;                /* waiting or transfer */
} loss;

/* Largest first; of equals the one that was there before. */
static void add(loss *of, size_t *n, loss new)
{
    size_t at = *n;
    if (new.ns <= 0)
        return;
    for (; at > 0 && of[at - 1].ns < new.ns; at--)
        if (at < TL_LOSSES_MOST)
            of[at] = of[at - 1];
    if (at == TL_LOSSES_MOST)
        return;
    of[at] = new;
    *n += *n < TL_LOSSES_MOST;
}

static size_t find_losses(const tl_summary *s, const tl_breakdown *all, const tl_idle *job, loss of[TL_LOSSES_MOST])
{
    size_t n = 0;
    add(of, &n, (loss){ .ns = all->comm_waiting_ns, .words = "exposed waiting for other ranks" });
    add(of, &n, (loss){ .ns = all->comm_transfer_ns, .words = "exposed transfers" });
    add(of, &n, (loss){ .ns = all->comm_unknown_ns, .words = "exposed communication,", .unknown = true });
    add(of, &n, (loss){ .ns = all->copy_exposed_ns, .words = "exposed copies" });
    if (all->step == TL_WHOLE_STEPS) { /* gaps are classified over all of the recording */
        add(of, &n, (loss){ .ns = all->idle_ns, .words = "idle, in these steps" });
        return n;
    }
    add(of, &n, (loss){ .ns = job->noise_ns, .gaps = job->noise_gaps });
    TL_ROWS (const tl_idle_summary, row, s->classes)
        if (row->rank == -1 && row->place > 0)
            add(of, &n, (loss){ .ns = row->total_ns, .idle = row });
    return n;
}

static void say_loss(FILE *out, const tl_summary *s, const loss *of, int64_t wall_ns, bool first)
{
    tl_wrap w = { .out = out };
    tl_wrap_printf(tl_label(&w, first ? "lost" : ""), "%4.1f %%%s", tl_percent(of->ns, wall_ns), first ? "" : ":");
    if (first)
        tl_say(&w, "of GPU time:");
    if (of->idle != NULL)
        say_class(&w, s, of->idle);
    else if (of->gaps > 0)
        tl_say(&w, "idle, in %s gaps below %g us: many small kernels, bound by their launches",
               tl_grouped(of->gaps).text, (double)s->noise_ns / 1e3);
    else
        tl_say(&w, "%s", of->words);
    if (of->unknown)
        tl_say_comm_doubt(&w, s->answers);
    tl_say(&w, "(%s)", tl_duration(of->ns).text);
    tl_wrap_end(&w);
}

void tl_print_summary_losses(FILE *out, const tl_summary *s, size_t most)
{
    const tl_idle *job = s->idle->n > 0 ? tl_table_row(s->idle, 0) : NULL; /* rank -1 is the first */
    const tl_breakdown *all = tl_whole_row(s, -1);
    loss of[TL_LOSSES_MOST];
    if (job == NULL || job->rank != -1 || all == NULL)
        return;
    size_t n = find_losses(s, all, job, of);
    for (size_t i = 0; i < n && i < most && tl_percent(of[i].ns, all->wall_ns) >= LEAST_PCT; i++)
        say_loss(out, s, &of[i], all->wall_ns, i == 0);
}
