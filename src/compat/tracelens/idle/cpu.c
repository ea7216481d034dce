/* cpu.c - what the host did in a gap: the launch, the runtime calls, the operators.
 *
 *     gap          |--------------------|
 *     launch       ..[ call ]<- L ----->|             launch to execution
 *     operators  [ a   [ b ][ b [ c ]]     ]          self times: a less its b's, b less c, c
 *
 * The first line that holds names it; the first three need a launch, `dur` is the length of the gap:
 *
 *     LAUNCH_ANOMALY          not prequeued, L > 10, L > dur / 4:  the device was slow to begin
 *     LAUNCH_ANOMALY          prequeued, dur > 5:                  likewise
 *     LAUNCH_OVERHEAD_ONLY    dur - L < 4:                         hardly anything but the launch
 *     RUNTIME_DOMINATED       one class of runtime calls has dur / 4 or more
 *     CPU_UNTRACED            operators have less than dur / 5 in all
 *     CPU_DOMINATED           else
 *
 * Threads are mixed: sums run over all.
 */
#include "self.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/compat/tracelens/idle.h"
#include <math.h>
#include <stdio.h>
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
    if (host == NULL)
        return NULL;

    host->lens = lens;
    host->words = words;
    host->calls.all = tl_lens_pick(lens, is_call, false, &host->calls.n);
    host->class = tl_calloc(lens->e->n + 1, sizeof *host->class);
    if (!tl_lens_self_begin(&host->self, lens) || !tl_lens_shares_begin(&host->shares, lens) ||
        host->calls.all == NULL || host->class == NULL) {
        tl_lens_host_free(host);
        return NULL;
    }
    for (size_t i = 0; i < host->calls.n; i++)
        host->class[host->calls.all[i]] = class_of(lens, host->calls.all[i]);
    return host;
}

void tl_lens_host_free(tl_lens_host *host)
{
    if (host == NULL)
        return;
    free(host->calls.all);
    free(host->calls.now.v);
    tl_lens_self_free(&host->self);
    tl_lens_shares_free(&host->shares);
    free(host->class);
    free(host->text.v);
    free(host);
}

/* ----------------------------------------------------------------------------------------------------------- texts */

static bool say(tl_lens_host *host, tl_text text)
{
    return tl_bytes_put(&host->text, text.p, text.n);
}

static bool say_words(tl_lens_host *host, const char *words)
{
    return say(host, (tl_text){ words, strlen(words) });
}

static bool say_number(tl_lens_host *host, const char *before, int decimals, double value, const char *after)
{
    char number[400]; /* 309 digits, a sign, a point and decimals */
    snprintf(number, sizeof number, "%.*f", decimals, value);
    return say_words(host, before) && say_words(host, number) && say_words(host, after);
}

/* What has been said since the last call, as a word.  False: memory is out. */
static bool take_word(tl_lens_host *host, uint32_t *word)
{
    *word = tl_names_intern(host->words, host->text.n > 0 ? host->text.v : "", host->text.n);
    host->text.n = 0;
    return *word != TL_NO_NAME;
}

static bool put_word(tl_lens_host *host, const char *text, uint32_t *word)
{
    return say_words(host, text) && take_word(host, word);
}

static tl_text name_text(const tl_lens_host *host, uint32_t name, const char *none)
{
    return name != TL_NO_NAME ? tl_names_text(&host->lens->e->names, name) : (tl_text){ none, strlen(none) };
}

/* ---------------------------------------------------------------------------------------------------------- launch */

static bool label_launch(tl_lens_host *host, tl_lens_gap *gap, bool *labelled)
{
    double dur = gap->hi - gap->lo, l = gap->launch_to_exec;
    bool ok;

    *labelled = true;
    gap->cpu = TL_LENS_LAUNCH_ANOMALY;
    if (!gap->prequeued && l > ANOMALY_US && l > ANOMALY_SHARE * dur) {
        ok = say_number(host, "launch_to_exec=", 1, l, MICRO "s (launched_during_gap)");
    } else if (gap->prequeued && dur > QUEUED_ANOMALY_US) {
        ok = say_number(host, "gap=", 1, dur, MICRO "s, ") &&
             say_number(host, "launch_to_exec=", 1, l, MICRO "s (prequeued)");
    } else if (dur - l < OVERHEAD_US) {
        gap->cpu = TL_LENS_LAUNCH_OVERHEAD_ONLY;
        ok = say_number(host, "app_overhead=", 1, dur - l, MICRO "s, ") &&
             say_number(host, "launch_to_exec=", 1, l, MICRO "s");
    } else {
        *labelled = false;
        return true;
    }
    return ok && take_word(host, &gap->detail) &&
           put_word(host, gap->prequeued ? "prequeued" : "launched_during_gap", &gap->key);
}

/* --------------------------------------------------------------------------------------------------------- runtime */

/* The class with the largest sum, and the name with the largest sum of all classes: it need not belong to the class. */
static bool label_runtime(tl_lens_host *host, tl_lens_gap *gap, bool *labelled)
{
    const tl_lens *lens = host->lens;
    double sum[NCLASSES] = { 0 };
    int met[NCLASSES], nmet = 0, best = -1;
    bool seen[NCLASSES] = { false };

    *labelled = false;
    tl_lens_shares_clear(&host->shares);
    if (!tl_lens_sweep_to(&host->calls, lens, gap))
        return false;
    for (size_t i = 0; i < host->calls.now.n; i++) {
        uint32_t call = host->calls.now.v[i];
        double us = fmin(tl_lens_end(lens, call), gap->hi) - fmax(tl_lens_ts(lens, call), gap->lo);
        uint8_t class = host->class[call];
        us = us > 0 ? us : 0;
        if (!seen[class])
            met[nmet++] = class;
        seen[class] = true;
        sum[class] += us;
        if (!tl_lens_shares_add(&host->shares, lens->e->name[call], us))
            return false;
    }
    for (int i = 0; i < nmet; i++)
        if (best < 0 || sum[met[i]] > sum[best])
            best = met[i];
    if (best < 0 || !(sum[best] >= (gap->hi - gap->lo) * RUNTIME_SHARE))
        return true;

    *labelled = true;
    gap->cpu = TL_LENS_RUNTIME_DOMINATED;
    if (!say_words(host, class_words[best]) ||
        !say(host, name_text(host, tl_lens_shares_largest(&host->shares, NULL, 0)->name, "unknown")) ||
        !take_word(host, &gap->detail))
        return false;
    gap->key = gap->detail;
    return true;
}

/* ------------------------------------------------------------------------------------------------------- operators */

static bool label_operators(tl_lens_host *host, tl_lens_gap *gap)
{
    double dur = gap->hi - gap->lo, all = 0;
    const tl_lens_share *told[TOLD_NAMES] = { NULL };

    if (!tl_lens_self_times(&host->self, gap, &host->shares))
        return false;
    gap->cpu = TL_LENS_CPU_UNTRACED;
    if (host->shares.rows.n == 0)
        return put_word(host, "(no_cpu_op_overlap)", &gap->op) && put_word(host, "(no_cpu_op_overlap)", &gap->key) &&
               put_word(host, "no cpu_op/python_function events overlap this gap", &gap->detail);

    for (size_t i = 0; i < host->shares.rows.n; i++)
        all += host->shares.rows.v[i].us;
    told[0] = tl_lens_shares_largest(&host->shares, NULL, 0);
    if (!say(host, name_text(host, told[0]->name, "?")) || !take_word(host, &gap->op))
        return false;
    gap->key = gap->op;
    if (all / dur < TRACED_SHARE)
        return say_number(host, "self_time_coverage=", 0, all / dur * 100, "% of gap") && take_word(host, &gap->detail);

    gap->cpu = TL_LENS_CPU_DOMINATED;
    for (size_t n = 0; n < TOLD_NAMES; n++) {
        told[n] = tl_lens_shares_largest(&host->shares, told, n);
        if (told[n] == NULL)
            break;
        if ((n > 0 && !say_words(host, ", ")) || !say(host, name_text(host, told[n]->name, "?")) ||
            !say_number(host, ": ", 0, told[n]->us / dur * 100, "%"))
            return false;
    }
    return take_word(host, &gap->detail);
}

bool tl_lens_host_label(tl_lens_host *host, tl_lens_gap *gap)
{
    bool labelled = false;

    if (gap->launch != TL_NONE && !label_launch(host, gap, &labelled))
        return false;
    if (!labelled && !label_runtime(host, gap, &labelled))
        return false;
    return labelled || label_operators(host, gap);
}
