/* losses.c - where most time is lost:
 *
 *     lost    69.0 % of GPU time: exposed waiting for other ranks (9.11 s)
 *             22.9 %: idle, the CPU did hardly anything that is recorded (longest: aten::empty) inside "# running
 *             sparse arch" - rank 2 most
 *              3.2 %: exposed transfers (420 ms)
 *
 * Losses are the parts of exposed communication, exposed copies, gaps too short to be classified, and each class of
 * idle time (table idle_summary).  GPU time is the wall time of all ranks.
 */
#include "parts.h"

#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <string.h>

/* In percent: the smallest share of all GPU time for which a loss gets a line; the share of a loss from which its place
 * is named; the share above which the rest is not mentioned. */
enum { LEAST_PCT = 1, LEAST_PLACE_PCT = 10, NEARLY_ALL_PCT = 80, NAME_BYTES = 64 };

/* ------------------------------------------------------------------------------------------------ a class of idle time
 */

/* Returns the name after "CLASS: "; if there is none, `without`. */
static const char *call_of(const char *key, const char *without)
{
    const char *colon = strstr(key, ": ");
    return colon != NULL ? colon + 2 : without;
}

/* Returns what kept the device waiting, in words. */
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

/* Says which annotation contained most of a late host's time, and whether the host had just waited for the device. */
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

static void say_class(tl_wrap *w, const tl_summary *s, const tl_idle_summary *c)
{
    size_t working = 0; /* ranks with device work */
    TL_ROWS (const tl_idle, row, s->idle)
        working += row->rank >= 0 && row->device == -1 && row->busy_ns > 0;
    tl_say(w, "idle, %s", doing_in_words(c).text);
    say_place(w, s, c);
    if (working <= 1)
        return;
    if (c->peer_ns > 0 && c->peer_ns >= c->total_ns - c->peer_ns)
        tl_say(w, "(mostly waiting for other ranks)");
    if (c->ranks > 1 && c->median_rank_ns >= c->worst_ns - c->worst_ns / 5)
        tl_say(w, "-~%" PRId32 "~ranks~alike", c->ranks);
    else
        tl_say(w, c->ranks > 1 ? "-~rank~%" PRId32 "~most" : "-~rank~%" PRId32, c->worst_rank);
}

/* ---------------------------------------------------------------------------------------------------------- losses */

typedef struct loss {
    int64_t ns;
    const char *words;           /* NULL: the loss is ... */
    const tl_idle_summary *idle; /* ... a class of gaps */
    int64_t gaps;                /* gaps too short to be classified; 0: another loss */
    bool unknown;                /* waiting or transfer */
} loss;

TL_SORT_BY(by_ns, loss, DOWN(ns))

static void add_loss(loss *of, size_t *n, loss new)
{
    if (new.ns > 0)
        *n = tl_insert(of, *n, TL_LOSSES_MOST, &new, sizeof new, by_ns);
}

static size_t find_losses(const tl_summary *s, const tl_breakdown *all, const tl_idle *job, loss of[TL_LOSSES_MOST])
{
    size_t n = 0;
    add_loss(of, &n, (loss){ .ns = all->comm_waiting_ns, .words = "exposed waiting for other ranks" });
    add_loss(of, &n, (loss){ .ns = all->comm_transfer_ns, .words = "exposed transfers" });
    add_loss(of, &n, (loss){ .ns = all->comm_unknown_ns, .words = "exposed communication,", .unknown = true });
    add_loss(of, &n, (loss){ .ns = all->copy_exposed_ns, .words = "exposed copies" });
    if (all->step == TL_WHOLE_STEPS) { /* gaps are classified over the whole recording only */
        add_loss(of, &n, (loss){ .ns = all->idle_ns, .words = "idle, in these steps" });
        return n;
    }
    add_loss(of, &n, (loss){ .ns = job->noise_ns, .gaps = job->noise_gaps });
    TL_ROWS (const tl_idle_summary, row, s->classes)
        if (row->rank == -1 && row->place > 0)
            add_loss(of, &n, (loss){ .ns = row->total_ns, .idle = row });
    return n;
}

void tl_tell_losses(tl_telling *t, const tl_summary *s, size_t most)
{
    const tl_idle *job = s->idle->n > 0 ? tl_table_row(s->idle, 0) : NULL; /* row 0 is rank -1 */
    const tl_breakdown *all = tl_whole_row(s, -1);
    loss found[TL_LOSSES_MOST];
    if (job == NULL || job->rank != -1 || all == NULL)
        return;
    size_t n = find_losses(s, all, job, found);
    for (size_t i = 0; i < n && i < most && tl_percent(found[i].ns, all->wall_ns) >= LEAST_PCT; i++) {
        const loss *of = &found[i];
        tl_wrap *w = tl_tell(t, "lost", NULL);
        tl_wrap_printf(w, "%4.1f %%%s", tl_percent(of->ns, all->wall_ns), i == 0 ? " of GPU time:" : ":");
        if (of->idle != NULL)
            say_class(w, s, of->idle);
        else if (of->gaps > 0)
            tl_say(w, "idle, in %s gaps below %g us: many small kernels, bound by their launches",
                   tl_grouped(of->gaps).text, (double)s->noise_ns / 1e3);
        else
            tl_say(w, "%s", of->words);
        if (of->unknown)
            tl_say_comm_doubt(w, s->answers);
        tl_say(w, "(%s)", tl_duration(of->ns).text);
    }
}
