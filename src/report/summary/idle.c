/* idle.c - the largest causes of idle time, a line or two each:
 *
 *     Idle: 3546.8 ms in 319 gaps longer than noise, 26.9 % of the devices' time; ...
 *       84.9 % the host launched late and was hardly traced (most in aten::empty) inside
 *              "# running sparse arch" - rank 2 most
 *       10.8 % the host was in the call cudaFree after it had waited for the device - 4 ranks alike
 *       Of the idle time 12.0 % was waiting for other ranks ...
 *     Waiting: 9110.2 ms in nothing but communication that waited for late ranks, 69.0 % of the devices' time; ...
 */
#include "idle.h"
#include "tlmpi/report/format/wrap.h"
#include <inttypes.h>
#include <string.h>

/* How many causes have a line, and from which share on the second and third; the share of idle time that is worth one.
 */
enum { CAUSES_SHOWN = 3, LEAST_PCT = 5, LEAST_IDLE_PCT = 1, NAME_AT = 10 };

#define MOSTLY_PEERS ", mostly waiting for other ranks"

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

/* The name after "CLASS: ". */
static const char *call_of(const char *key)
{
    const char *colon = strstr(key, ": ");
    return colon != NULL ? colon + 2 : key;
}

/* What kept the device waiting, in words. */
static void say_doing(char *out, size_t n, const tl_idle_job *c)
{
    cell_text key = text_of(c->dominant_op, sizeof c->dominant_op);

    switch (c->cpu_during_gap) {
    case TL_DOING_CPU:
        snprintf(out, n, "the host was in %s", key.text);
        break;
    case TL_DOING_RUNTIME:
        snprintf(out, n, "the host was in the call %s", call_of(key.text));
        break;
    case TL_DOING_UNTRACED:
        if (strcmp(key.text, "(no_cpu_op_overlap)") == 0)
            snprintf(out, n, "the host launched late and was not traced");
        else
            snprintf(out, n, "the host launched late and was hardly traced (most in %s)", key.text);
        break;
    case TL_DOING_NO_TRACE:
        snprintf(out, n, "the host launched late; its trace has no operators");
        break;
    case TL_DOING_LAUNCH_ANOMALY:
        snprintf(out, n,
                 strcmp(key.text, "prequeued") == 0 ? "work queued in time began late"
                                                    : "work began late after its launch");
        break;
    case TL_DOING_LAUNCH_OVERHEAD:
        snprintf(out, n, "latency of launches");
        break;
    case TL_DOING_GRAPH:
        snprintf(out, n, "between the nodes of graphs");
        break;
    case TL_DOING_DEPENDENCY:
        snprintf(out, n, "work waited for an event of another stream: %s", key.text);
        break;
    default:
        snprintf(out, n, "other causes");
    }
}

/* Where the host was late: in which annotation, and whether it had just waited for the device. */
static void say_place(tl_wrap *w, const tl_idle_job *c)
{
    cell_text inside = text_of(c->annotation, sizeof c->annotation);
    bool host = c->cpu_during_gap == TL_DOING_CPU || c->cpu_during_gap == TL_DOING_RUNTIME ||
                c->cpu_during_gap == TL_DOING_UNTRACED;

    if (c->drain_type == TL_DRAIN_SYNC)
        tl_wrap_words(w, "after it had waited for the device");
    if (host && inside.text[0] != '\0') {
        char quoted[sizeof inside.text + 16];
        snprintf(quoted, sizeof quoted, "inside \"%s\"", inside.text);
        tl_wrap_words(w, quoted);
    }
}

/* Which ranks: where the median of all has nearly as much as the worst, all; else those with at least half of it. */
static void say_ranks(tl_wrap *w, const tl_idle_job *c)
{
    bool second = c->second_rank >= 0 && c->second_ns >= c->worst_ns / 2;
    bool third = second && c->third_rank >= 0 && c->third_ns >= c->worst_ns / 2;
    char ranks[64];

    if (c->ranks > 1 && c->median_rank_ns >= c->worst_ns - c->worst_ns / 5)
        snprintf(ranks, sizeof ranks, "%" PRId32 " ranks alike", c->ranks);
    else if (third)
        snprintf(ranks, sizeof ranks, "ranks %" PRId32 ", %" PRId32 ", %" PRId32 "%s", c->worst_rank, c->second_rank,
                 c->third_rank, c->ranks > 3 ? " most" : "");
    else if (second)
        snprintf(ranks, sizeof ranks, "ranks %" PRId32 ", %" PRId32 "%s", c->worst_rank, c->second_rank,
                 c->ranks > 2 ? " most" : "");
    else
        snprintf(ranks, sizeof ranks, "rank %" PRId32 "%s", c->worst_rank, c->ranks > 1 ? " most" : "");
    tl_wrap_printf(w, "- %s", ranks);
}

static const tl_idle_job *cause_at(const tl_summary *s, int32_t place)
{
    for (size_t i = 0; i < s->ncauses; i++)
        if (s->causes[i].place == place)
            return &s->causes[i];
    return NULL;
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

static void say_doubts(FILE *out, const tl_idle *job)
{
    if (job->graph_under_recorded == 0)
        return;
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_printf(&w, "%" PRId64 " of %" PRId64, job->graph_under_recorded, job->graph_launches);
    tl_wrap_words(&w, "graph launches were not recorded, or not whole:");
    tl_wrap_printf(&w, "%.1f %%", tl_percent(job->under_recorded_ns, job->macro_ns));
    tl_wrap_words(&w, "of the idle time may be work.");
    tl_wrap_end(&w);
}

/* How much of the idle time is no rank's own. */
static void say_peers(FILE *out, const tl_idle *job)
{
    double pct = tl_percent(job->peer_ns, job->macro_ns);
    if (pct < LEAST_IDLE_PCT)
        return;
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_words(&w, "Of the idle time");
    tl_wrap_printf(&w, "%.1f %%", pct);
    tl_wrap_words(&w, "was waiting for other ranks (table gap_peer); the rest is the ranks' own.");
    tl_wrap_end(&w);
}

/* Whom waits are for: table blame has for whom but for those that nobody is charged with, if they are more than next to
 * nothing. */
static void say_for_whom(tl_wrap *w, const tl_summary *s)
{
    static const struct {
        tl_quality_check check;
        const char *words;
    } of[] = {
        { TL_CHECK_LATE_SENDER, "are for late senders," },
        { TL_CHECK_LATE_RECEIVER, "for late receivers," },
        { TL_CHECK_LATE_PARTNER, "for one of two that send to each other," },
        { TL_CHECK_UNCHARGED, "clocks cannot tell," },
        { TL_CHECK_WAIT_SUSPECT, "are suspect," },
    };
    double charged = 0, others[sizeof of / sizeof of[0]] = { 0 }, most = 0;
    for (size_t i = 0; i < s->nquality; i++) {
        const tl_quality *row = &s->quality[i];
        double pct = tl_percent(row->count, row->of);
        charged = row->check == TL_CHECK_CHARGED ? pct : charged;
        for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
            others[k] = row->check == of[k].check ? pct : others[k];
    }
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
        most = others[k] > most ? others[k] : most;
    if (most < LEAST_IDLE_PCT) {
        tl_wrap_words(w, "of the devices' time; table blame has for whom.");
        return;
    }
    tl_wrap_words(w, "of the devices' time. Of all waits table blame charges");
    tl_wrap_printf(w, "%.1f %%;", charged);
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        if (others[k] < 0.05)
            continue;
        tl_wrap_printf(w, "%.1f %%", others[k]);
        tl_wrap_words(w, of[k].words);
    }
    tl_wrap_words(w, "see table quality.");
}

/* What devices waited while they seemed busy. */
static void say_waiting(FILE *out, const tl_summary *s, const tl_idle *job, const tl_look *look)
{
    double pct = tl_percent(job->waiting_ns, job->busy_ns + job->macro_ns);
    if (pct < LEAST_IDLE_PCT)
        return;
    fprintf(out, "%sWaiting:%s", look->bold, look->off);
    tl_wrap w = { .out = out, .indent = 2, .column = strlen("Waiting:"), .begun = true };
    tl_wrap_printf(&w, "%.1f ms", (double)job->waiting_ns / 1e6);
    tl_wrap_words(&w, "in nothing but communication that waited for late ranks,");
    tl_wrap_printf(&w, "%.1f %%", pct);
    say_for_whom(&w, s);
    tl_wrap_end(&w);
}

static void say_idle(FILE *out, const tl_summary *s, const tl_idle *job, const tl_look *look)
{

    fprintf(out, "%sIdle:%s", look->bold, look->off);
    tl_wrap head = { .out = out, .indent = 2, .column = strlen("Idle:"), .begun = true };
    tl_wrap_printf(&head, "%.1f ms", (double)job->macro_ns / 1e6);
    tl_wrap_printf(&head, "in %" PRId64 " gap%s", job->macro_gaps, job->macro_gaps == 1 ? "" : "s");
    tl_wrap_words(&head, "longer than noise,");
    tl_wrap_printf(&head, "%.1f %%", tl_percent(job->macro_ns, job->busy_ns + job->macro_ns));
    tl_wrap_words(&head, "of the devices' time;");
    tl_wrap_printf(&head, "tlmpi show FILE idle_job --sort total_ns");
    tl_wrap_words(&head, "has all causes.");
    tl_wrap_end(&head);
    for (int32_t place = 1; place <= CAUSES_SHOWN; place++) {
        const tl_idle_job *c = cause_at(s, place);
        if (c == NULL || (place > 1 && c->idle_pct < LEAST_PCT))
            break;
        tl_wrap w = {
            .out = out, .indent = NAME_AT, .column = (size_t)fprintf(out, "%6.1f %%", c->idle_pct), .begun = true
        };
        bool peers = c->peer_ns > 0 && c->peer_ns >= c->total_ns - c->peer_ns;
        char doing[256], text[sizeof doing + sizeof MOSTLY_PEERS];
        say_doing(doing, sizeof doing, c);
        snprintf(text, sizeof text, "%s%s", doing, peers ? MOSTLY_PEERS : "");
        tl_wrap_words(&w, text);
        say_place(&w, c);
        if (working_ranks(s) > 1)
            say_ranks(&w, c);
        tl_wrap_end(&w);
    }
    say_peers(out, job);
    say_doubts(out, job);
}

void tl_print_summary_idle(FILE *out, const tl_summary *s, const tl_look *look)
{
    const tl_idle *job = job_row(s);
    if (job == NULL)
        return;
    if (job->macro_ns > 0 && tl_percent(job->macro_ns, job->busy_ns + job->macro_ns) >= LEAST_IDLE_PCT)
        say_idle(out, s, job, look);
    say_waiting(out, s, job, look);
}
