/* cpu.c - what the host did in a gap: the launch, the runtime calls, the operators.
 *
 *     gap          |--------------------|
 *     launch       ..[ call ]<- L ----->|             launch to execution
 *     operators  [ a   [ b ][ b [ c ]]     ]          self times: a less its b's, b less c, c
 *
 * The first line that holds names it; the first three need a launch, `dur` is the length of the gap:
 *
 *     LAUNCH_ANOMALY          not prequeued, L > 10, L > dur / 4:  the device was slow to begin
 *     LAUNCH_ANOMALY          prequeued, dur > 5:                  the device was slow to begin
 *     LAUNCH_OVERHEAD_ONLY    dur - L < 4:                         hardly anything but the launch
 *     RUNTIME_DOMINATED       one class of runtime calls has dur / 4 or more
 *     CPU_UNTRACED            operators have less than dur / 5 in all
 *     CPU_DOMINATED           else
 *
 * Threads are mixed: sums run over all.
 */
#include "self.h"
#include "tlmpi/compat/tracelens/idle.h"
#include <stdlib.h>

#define ANOMALY_US        10.0
#define ANOMALY_SHARE     0.25
#define QUEUED_ANOMALY_US 5.0
#define OVERHEAD_US       4.0
#define RUNTIME_SHARE     0.25
#define TRACED_SHARE      0.20
#define TOLD_NAMES        3
#define MICRO             "\302\265"

struct tl_lens_host {
    const tl_lens *lens;
    tl_names *words;
    tl_lens_sweep calls;
    uint8_t *class; /* of each event that is a call */
    tl_lens_self self;
    tl_lens_shares shares;
    tl_bytes text;
};

static bool is_call(const tl_lens *lens, uint32_t i)
{
    return lens->set[i] == TL_LENS_RUNTIME && tl_lens_is_complete(lens, i);
}

enum { MEMORY_ALLOC, LAUNCH_STALL, SYNC_CALL, OTHER_RUNTIME, NCLASSES };
static const char *const class_words[NCLASSES] = { "MEMORY_ALLOC: ", "LAUNCH_STALL: ", "SYNC_CALL: ",
                                                   "OTHER_RUNTIME: " };

static uint8_t class_of(const tl_lens *lens, uint32_t call)
{
    unsigned says = tl_lens_says(lens, call);
    if (says & TL_LENS_ALLOC)
        return MEMORY_ALLOC;
    if (says & TL_LENS_LAUNCH_CALL)
        return LAUNCH_STALL;
    return tl_lens_sync_of(lens, call, TL_NONE) != TL_LENS_NO_SYNC ? SYNC_CALL : OTHER_RUNTIME;
}

tl_lens_host *tl_lens_host_new(const tl_lens *lens, tl_names *words)
{
    tl_lens_host *host = tl_calloc(1, sizeof *host);

    host->lens = lens;
    host->words = words;
    host->calls.all = tl_lens_pick(lens, is_call, false, &host->calls.n);
    host->class = tl_calloc(lens->e->n, sizeof *host->class);
    host->self = tl_lens_self_of(lens);
    host->shares = tl_lens_shares_of(lens);
    for (size_t i = 0; i < host->calls.n; i++)
        host->class[host->calls.all[i]] = class_of(lens, host->calls.all[i]);
    return host;
}

void tl_lens_host_free(tl_lens_host *host)
{
    free(host->calls.all);
    free(host->calls.now.v);
    tl_lens_self_free(&host->self);
    tl_lens_shares_free(&host->shares);
    free(host->class);
    tl_bytes_free(&host->text);
    free(host);
}

/* ----------------------------------------------------------------------------------------------------------- texts */

static void say(tl_lens_host *host, const char *words)
{
    tl_bytes_put(&host->text, words, strlen(words));
}

static void say_number(tl_lens_host *host, const char *before, int decimals, double value, const char *after)
{
    char number[400]; /* 309 digits, a sign, a point and decimals */
    snprintf(number, sizeof number, "%.*f", decimals, value);
    say(host, before);
    say(host, number);
    say(host, after);
}

static void say_name(tl_lens_host *host, uint32_t name, const char *none)
{
    tl_text text = tl_names_text(&host->lens->e->names, name);
    if (name == TL_NO_NAME)
        say(host, none);
    else
        tl_bytes_put(&host->text, text.p, text.n);
}

/* What has been said since the last call, as a word. */
static uint32_t take_word(tl_lens_host *host)
{
    uint32_t word = tl_names_intern(host->words, host->text.n > 0 ? host->text.v : "", host->text.n);
    host->text.n = 0;
    return word;
}

static uint32_t word_of(tl_lens_host *host, const char *words)
{
    return tl_names_intern(host->words, words, strlen(words));
}

/* ---------------------------------------------------------------------------------------------------------- launch */

/* Whether the launch explains the gap, which then has its labels. */
static bool label_launch(tl_lens_host *host, tl_lens_gap *gap)
{
    double dur = gap->hi - gap->lo, l = gap->launch_to_exec;

    gap->cpu = TL_LENS_LAUNCH_ANOMALY;
    if (!gap->prequeued && l > ANOMALY_US && l > ANOMALY_SHARE * dur) {
        say_number(host, "launch_to_exec=", 1, l, MICRO "s (launched_during_gap)");
    } else if (gap->prequeued && dur > QUEUED_ANOMALY_US) {
        say_number(host, "gap=", 1, dur, MICRO "s, ");
        say_number(host, "launch_to_exec=", 1, l, MICRO "s (prequeued)");
    } else if (dur - l < OVERHEAD_US) {
        gap->cpu = TL_LENS_LAUNCH_OVERHEAD_ONLY;
        say_number(host, "app_overhead=", 1, dur - l, MICRO "s, ");
        say_number(host, "launch_to_exec=", 1, l, MICRO "s");
    } else {
        return false;
    }
    gap->detail = take_word(host);
    gap->key = word_of(host, gap->prequeued ? "prequeued" : "launched_during_gap");
    return true;
}

/* --------------------------------------------------------------------------------------------------------- runtime */

/* Whether a class of runtime calls explains the gap: the one with the largest sum, of equal ones the one that is met
 * first.  The name is the one with the largest sum of all classes: it need not belong to the class. */
static bool label_runtime(tl_lens_host *host, tl_lens_gap *gap)
{
    const tl_lens *lens = host->lens;
    double sum[NCLASSES] = { 0 };
    int met[NCLASSES], nmet = 0, best = -1;
    bool seen[NCLASSES] = { false };

    tl_lens_shares_clear(&host->shares);
    tl_lens_sweep_to(&host->calls, lens, gap);
    for (size_t i = 0; i < host->calls.now.n; i++) {
        uint32_t call = host->calls.now.v[i];
        double us = fmin(tl_lens_end(lens, call), gap->hi) - fmax(tl_lens_ts(lens, call), gap->lo);
        uint8_t class = host->class[call];
        us = us > 0 ? us : 0;
        if (!seen[class])
            met[nmet++] = class;
        seen[class] = true;
        sum[class] += us;
        tl_lens_shares_add(&host->shares, lens->e->name[call], us);
    }
    for (int i = 0; i < nmet; i++)
        if (best < 0 || sum[met[i]] > sum[best])
            best = met[i];
    if (best < 0 || !(sum[best] >= (gap->hi - gap->lo) * RUNTIME_SHARE))
        return false;

    gap->cpu = TL_LENS_RUNTIME_DOMINATED;
    say(host, class_words[best]);
    say_name(host, tl_lens_shares_largest(&host->shares, NULL, 0)->name, "unknown");
    gap->key = gap->detail = take_word(host);
    return true;
}

/* ------------------------------------------------------------------------------------------------------- operators */

static void label_operators(tl_lens_host *host, tl_lens_gap *gap)
{
    double dur = gap->hi - gap->lo, all = 0;
    const tl_lens_share *told[TOLD_NAMES] = { NULL };

    tl_lens_self_times(&host->self, gap, &host->shares);
    gap->cpu = TL_LENS_CPU_UNTRACED;
    if (host->shares.rows.n == 0) {
        gap->op = gap->key = word_of(host, "(no_cpu_op_overlap)");
        gap->detail = word_of(host, "no cpu_op/python_function events overlap this gap");
        return;
    }
    for (size_t i = 0; i < host->shares.rows.n; i++)
        all += host->shares.rows.v[i].us;
    told[0] = tl_lens_shares_largest(&host->shares, NULL, 0);
    say_name(host, told[0]->name, "?");
    gap->key = gap->op = take_word(host);
    if (all / dur < TRACED_SHARE) {
        say_number(host, "self_time_coverage=", 0, all / dur * 100, "% of gap");
    } else {
        gap->cpu = TL_LENS_CPU_DOMINATED;
        for (size_t n = 0; n < TOLD_NAMES && (told[n] = tl_lens_shares_largest(&host->shares, told, n)) != NULL; n++) {
            say(host, n > 0 ? ", " : "");
            say_name(host, told[n]->name, "?");
            say_number(host, ": ", 0, told[n]->us / dur * 100, "%");
        }
    }
    gap->detail = take_word(host);
}

void tl_lens_host_label(tl_lens_host *host, tl_lens_gap *gap)
{
    if ((gap->launch == TL_NONE || !label_launch(host, gap)) && !label_runtime(host, gap))
        label_operators(host, gap);
}
