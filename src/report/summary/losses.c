/* losses.c - where most time is lost over all ranks, up to three lines:
 *
 *     lost    69.0 % of GPU time: exposed waiting for other ranks (9.11 s)
 *             22.9 %: idle, the CPU did hardly anything that is recorded (longest: aten::empty) inside "# running
 *             sparse arch" - rank 2 most
 *              3.2 %: exposed transfers (420 ms)
 *
 * Candidates are the parts of exposed communication, exposed copies, gaps too short to be classified, and each class of
 * idle time (table idle_summary).  GPU time is the wall time of all ranks.
 */
#include "losses.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/answers/say.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <string.h>

/* In percent.  LEAST_PCT: share of all GPU time from which a loss has a line.  LEAST_PLACE_PCT: share of a loss from
 * which its place is named.  NEARLY_ALL_PCT: share above which the rest is not mentioned. */
enum { LEAST_PCT = 1, LEAST_PLACE_PCT = 10, NEARLY_ALL_PCT = 80, NAME_BYTES = 64 };

/* A cell may have no 0 after it. */
typedef struct cell_text {
    char text[129];
} cell_text;

static cell_text text_of(const char *cell, size_t size)
{
    cell_text out = { "" };
    memcpy(out.text, cell, size < sizeof out.text ? size : sizeof out.text - 1);
    return out;
}

/* The name after "CLASS: "; where there is none, `without`. */
static const char *call_of(const char *key, const char *without)
{
    const char *colon = strstr(key, ": ");
    return colon != NULL ? colon + 2 : without;
}

/* What kept the device waiting, in words. */
static void say_doing(char *out, size_t n, const tl_idle_summary *c)
{
    cell_text key = text_of(c->dominant_op, sizeof c->dominant_op);

    switch (c->cpu_during_gap) {
    case TL_DOING_CPU:
        snprintf(out, n, "host in %.*s", NAME_BYTES, key.text);
        break;
    case TL_DOING_RUNTIME:
        snprintf(out, n, "host in the call %s", call_of(key.text, key.text));
        break;
    case TL_DOING_UNTRACED:
        if (strcmp(key.text, "(no_cpu_op_overlap)") == 0)
            snprintf(out, n, "the CPU did nothing that is recorded");
        else
            snprintf(out, n, "the CPU did hardly anything that is recorded (longest: %.*s)", NAME_BYTES,
                     key.text);
        break;
    case TL_DOING_NO_TRACE:
        snprintf(out, n, "the CPU launched late; its trace has no operators");
        break;
    case TL_DOING_LAUNCH_ANOMALY:
        snprintf(out, n, "%s%s%s",
                 strncmp(key.text, "prequeued", 9) == 0 ? "a kernel queued before the gap started late"
                                                        : "a kernel launched during the gap started late",
                 call_of(key.text, "")[0] != '\0' ? ", host in the call " : "", call_of(key.text, ""));
        break;
    case TL_DOING_LAUNCH_OVERHEAD:
        snprintf(out, n, "the latency of launches");
        break;
    case TL_DOING_GRAPH:
        snprintf(out, n, "between the nodes of CUDA graphs");
        break;
    case TL_DOING_UNRECORDED:
        snprintf(out, n, "or at work that is not recorded: launches without work");
        break;
    case TL_DOING_DEPENDENCY:
        snprintf(out, n, "work waited for an event of another stream: %s", key.text);
        break;
    default:
        snprintf(out, n, "other causes");
    }
}

/* Says in which annotation most of a late host's time was, and whether the host had just waited for the device. */
static void say_place(tl_wrap *w, const tl_summary *s, const tl_idle_summary *c)
{
    double pct = tl_percent(c->annotation_ns, c->total_ns);
    bool host = c->cpu_during_gap == TL_DOING_CPU || c->cpu_during_gap == TL_DOING_RUNTIME ||
                c->cpu_during_gap == TL_DOING_UNTRACED;

    if (c->drain_type == TL_DRAIN_SYNC)
        tl_wrap_words(w, "after a device sync");
    if (host && c->annotation != TL_NO_NAME && pct >= LEAST_PLACE_PCT) {
        tl_text name = tl_names_text(s->names, c->annotation);
        char cell[NAME_BYTES + 1] = "", quoted[sizeof cell + 16];
        tl_cell_text(cell, NAME_BYTES, name.p, name.n);
        bool part = pct <= NEARLY_ALL_PCT;
        if (part)
            tl_wrap_printf(w, "(%.1f %% of it", pct);
        snprintf(quoted, sizeof quoted, "inside \"%s\"%s", cell, part ? ")" : "");
        tl_wrap_words(w, quoted);
    }
}

/* The two ranks that have most of the class after its worst, and its words; of equals the lower. */
static void find_next(const tl_summary *s, const tl_idle_summary *c, const tl_idle_summary *next[2])
{
    next[0] = next[1] = NULL;
    for (size_t i = 0; i < s->nclasses; i++) {
        const tl_idle_summary *r = &s->classes[i];
        if (r->rank == -1 || r->rank == c->worst_rank || r->device != -1 || r->step != -1 || r->place == 0 ||
            r->drain_type != c->drain_type || r->cpu_during_gap != c->cpu_during_gap ||
            memcmp(r->dominant_op, c->dominant_op, sizeof c->dominant_op) != 0)
            continue;
        if (next[0] == NULL || r->total_ns > next[0]->total_ns) {
            next[1] = next[0];
            next[0] = r;
        } else if (next[1] == NULL || r->total_ns > next[1]->total_ns) {
            next[1] = r;
        }
    }
}

/* Which ranks: where the median of all has nearly as much as the worst, all; else those with at least half of it. */
static void say_ranks(tl_wrap *w, const tl_summary *s, const tl_idle_summary *c)
{
    const tl_idle_summary *next[2];
    find_next(s, c, next);
    bool second = next[0] != NULL && next[0]->total_ns >= c->worst_ns / 2;
    bool third = second && next[1] != NULL && next[1]->total_ns >= c->worst_ns / 2;
    char ranks[64];

    if (c->ranks > 1 && c->median_rank_ns >= c->worst_ns - c->worst_ns / 5)
        snprintf(ranks, sizeof ranks, "%" PRId32 " ranks alike", c->ranks);
    else if (third)
        snprintf(ranks, sizeof ranks, "ranks %" PRId32 ", %" PRId32 ", %" PRId32 "%s", c->worst_rank, next[0]->rank,
                 next[1]->rank, c->ranks > 3 ? " most" : "");
    else if (second)
        snprintf(ranks, sizeof ranks, "ranks %" PRId32 ", %" PRId32 "%s", c->worst_rank, next[0]->rank,
                 c->ranks > 2 ? " most" : "");
    else
        snprintf(ranks, sizeof ranks, "rank %" PRId32 "%s", c->worst_rank, c->ranks > 1 ? " most" : "");
    tl_wrap_printf(w, "- %s", ranks);
}

/* The row of the job; rank -1 is the first. */
static const tl_idle *job_row(const tl_summary *s)
{
    return s->nidle > 0 && s->idle[0].rank == -1 ? &s->idle[0] : NULL;
}

/* How many ranks have device work. */
static size_t working_ranks(const tl_summary *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->nidle; i++)
        n += s->idle[i].rank >= 0 && s->idle[i].device == -1 && s->idle[i].busy_ns > 0;
    return n;
}

/* ---------------------------------------------------------------------------------------------------------- losses */

typedef struct loss {
    int64_t ns;
    const char *words;       /* NULL: of ... */
    const tl_idle_summary *idle; /* ... a class of gaps */
    int64_t gaps;            /* too short to be classified; 0: the loss is another */
    bool unknown;            /* waiting or transfer */
} loss;

/* Largest first; of equals the one that was there before. */
static void add(loss *of, size_t *n, loss new)
{
    size_t at = *n;
    if (new.ns <= 0)
        return;
    while (at > 0 && of[at - 1].ns < new.ns) {
        if (at < TL_LOSSES_MOST)
            of[at] = of[at - 1];
        at--;
    }
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
    for (size_t i = 0; i < s->nclasses && s->classes[i].rank == -1; i++)
        if (s->classes[i].place > 0)
            add(of, &n, (loss){ .ns = s->classes[i].total_ns, .idle = &s->classes[i] });
    return n;
}

static void say_class(tl_wrap *w, const tl_summary *s, const tl_idle_summary *c)
{
    bool several = working_ranks(s) > 1;
    char doing[256];

    say_doing(doing, sizeof doing, c);
    tl_wrap_words(w, "idle,");
    tl_wrap_words(w, doing);
    say_place(w, s, c);
    if (several && c->peer_ns > 0 && c->peer_ns >= c->total_ns - c->peer_ns)
        tl_wrap_words(w, "(mostly waiting for other ranks)");
    if (several)
        say_ranks(w, s, c);
}

static void say_loss(FILE *out, const tl_summary *s, const loss *of, int64_t wall_ns, bool first)
{
    tl_wrap w = tl_label(out, first ? "lost" : "");
    tl_wrap_printf(&w, "%4.1f %%%s", tl_percent(of->ns, wall_ns), first ? "" : ":");
    if (first)
        tl_wrap_words(&w, "of GPU time:");
    if (of->idle != NULL) {
        say_class(&w, s, of->idle);
    } else if (of->gaps > 0) {
        tl_wrap_words(&w, "idle, in");
        tl_wrap_printf(&w, "%s", tl_grouped(of->gaps).text);
        tl_wrap_words(&w, "gaps below");
        tl_wrap_printf(&w, "%g us:", (double)s->noise_ns / 1e3);
        tl_wrap_words(&w, "many small kernels, bound by their launches");
    } else {
        tl_wrap_words(&w, of->words);
        if (of->unknown)
            tl_say_comm_doubt(&w, s->answers);
    }
    tl_wrap_printf(&w, "(%s)", tl_duration(of->ns).text);
    tl_wrap_end(&w);
}

void tl_print_summary_losses(FILE *out, const tl_summary *s, size_t most)
{
    const tl_idle *job = job_row(s);
    const tl_breakdown *all = tl_whole_row(s, -1);
    loss of[TL_LOSSES_MOST];
    if (job == NULL || all == NULL)
        return;
    size_t n = find_losses(s, all, job, of);
    for (size_t i = 0; i < n && i < most && tl_percent(of[i].ns, all->wall_ns) >= LEAST_PCT; i++)
        say_loss(out, s, &of[i], all->wall_ns, i == 0);
}
