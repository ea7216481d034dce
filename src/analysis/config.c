/* config.c - thresholds and rules as text, and back. */
#include "tlmpi/analysis/config.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/text.h"
#include <inttypes.h>
#include <stdio.h>

const tl_config tl_config_default = { .idle = {
                                          .noise_ns = 5000,
                                          .launch_ns = 8000,
                                          .anomaly_ns = 10000,
                                          .anomaly_pct = 25,
                                          .queued_ns = 5000,
                                          .runtime_pct = 25,
                                          .coverage_pct = 20,
                                          .drain_ns = 5000,
                                          .sync_ns = 2000,
                                          .implicit_ns = 50000,
                                          .own_launch_ns = 10000,
                                          .rules = TL_IDLE_ALL,
                                      } };

const tl_idle_rule tl_idle_rules[] = {
    { "exact", 0,
      "times are integers of nanoseconds, read from the text: gaps of less than a nanosecond, which rounding makes, do "
      "not "
      "exist, and thresholds are exact. Always holds." },
    { "devices", TL_IDLE_DEVICES,
      "each device has a timeline of its own, and a wait for another device explains none of its gaps. Without: all "
      "devices "
      "of a rank are one, and a busy one hides an idle one." },
    { "ended", TL_IDLE_ENDED,
      "the event before a gap is the one that ended last, and a wait for a stream is measured by what ended last on "
      "that "
      "stream. Without: it is the one that started last, and there is none when it ended 2 us or more before the "
      "gap." },
    { "linked", 0,
      "device work belongs to the call with its correlation number, of several the last that began before it; flow "
      "arrows "
      "are not needed. Always holds." },
    { "names", TL_IDLE_NAMES,
      "calls are known by how their names begin and end, not by a list: driver calls and versions (_v2, _ptsz) too; "
      "freeing "
      "memory, and allocating it when that takes long, is IMPLICIT_SYNC. Without: the short list of TraceLens." },
    { "copies", TL_IDLE_COPIES,
      "a copy is a wait when the copy on the device says that it is from or to pageable memory, or when the call "
      "lasted until "
      "the copy had ended. Without: every copy call of HIP between host and device is one, and none of CUDA." },
    { "threads", TL_IDLE_THREADS,
      "what the CPU did is what the thread did that launched the work after the gap, and an instant counts once: for "
      "the "
      "operator that began last, and the call that began first. Without: all threads are added, and an operator of one "
      "thread that lies within that of another is taken for its child." },
    { "calls", TL_IDLE_CALLS,
      "the launch call that ended the gap is no reason for it when it was short; the call named is the largest of its "
      "class. Without: it counts, and the call named may be of another class." },
    { "waits", TL_IDLE_WAITS,
      "work queued in time that had to wait for an event of another stream is DEPENDENCY_WAIT, not LAUNCH_ANOMALY." },
    { "graphs", TL_IDLE_GRAPHS,
      "between two nodes of one graph launch the gap is GRAPH_INTERNAL: only the first node has a launch latency. "
      "Graph "
      "launches without recorded work, or with less than half of what equal ones have, are counted, and gaps where "
      "their "
      "work may have run are marked." },
    { "addresses", TL_IDLE_ADDRESSES,
      "operators whose names differ by an address alone are one: 0x7f3c is 0x\xe2\x80\xa6." },
    { "steps", 0, "a gap carries the profiler step in whose window it begins. Always holds." },
    { "missing", TL_IDLE_MISSING,
      "where the trace has no operators at all an unexplained gap is NO_CPU_TRACE, not CPU_UNTRACED." },
    { "overruns", TL_IDLE_OVERRUNS,
      "work that seems to run on when the next of its stream has begun (other than inside one graph launch) ends "
      "there, and "
      "is counted." },
    { "peers", TL_IDLE_PEERS,
      "the part of a gap in which the device waited for other ranks is told from the rank's own: table gap_peer and "
      "the "
      "columns peer_ns. Without: all of it is the rank's own." },
    { NULL, 0, NULL },
};

/* ------------------------------------------------------------------------------------------------------ thresholds */

#define AT(member) offsetof(tl_idle_config, member)

const tl_idle_threshold tl_idle_thresholds[] = {
    { "noise", AT(noise_ns), false, "a shorter gap is noise: listed and summed, not classified" },
    { "launch", AT(launch_ns), false,
      "what launching takes; work is prequeued when its launch call had ended longer than that before the gap" },
    { "anomaly", AT(anomaly_ns), false,
      "LAUNCH_ANOMALY: from the end of the launch to its work takes longer, and ..." },
    { "anomaly-pct", AT(anomaly_pct), true, "... more than this part of the gap" },
    { "queued", AT(queued_ns), false, "LAUNCH_ANOMALY: before prequeued work a gap is longer" },
    { "runtime-pct", AT(runtime_pct), true, "RUNTIME_DOMINATED: calls of one class take this part of the gap or more" },
    { "coverage-pct", AT(coverage_pct), true, "CPU_UNTRACED: operators take less than this part of the gap" },
    { "drain", AT(drain_ns), false, "sync_drain: the call began longer than that before the device was done" },
    { "sync", AT(sync_ns), false, "a call that waits may have ended that long before the gap" },
    { "implicit", AT(implicit_ns), false, "an allocation of memory that lasts longer waits for the device" },
    { "own-launch", AT(own_launch_ns), false, "a shorter launch call is no reason for the gap that it ends" },
    { NULL, 0, false, NULL },
};

/* An hour: longer than any gap that one would set apart. */
#define LARGEST_NS INT64_C(3600000000000)

static int64_t *threshold_at(tl_idle_config *config, const tl_idle_threshold *t)
{
    return (int64_t *)(void *)((char *)config + t->offset);
}

static bool read_threshold(tl_text name, tl_text value, tl_idle_config *config)
{
    for (const tl_idle_threshold *t = tl_idle_thresholds; t->name != NULL; t++) {
        int64_t x;
        if (!tl_text_is(name, t->name))
            continue;
        bool ok = t->percent ? tl_decimal_to_int(value.p, value.n, &x) && x <= 100
                             : tl_decimal_us_to_ns(value.p, value.n, &x) && x <= LARGEST_NS;
        if (ok && x >= 0)
            *threshold_at(config, t) = x;
        return ok && x >= 0;
    }
    return false;
}

static bool read_without(tl_text words, tl_idle_config *config)
{
    uint32_t without = 0;

    if (tl_text_is(words, "all") || tl_text_is(words, "none")) {
        config->rules = tl_text_is(words, "all") ? 0 : TL_IDLE_ALL;
        return true;
    }
    for (size_t from = 0; from <= words.n;) {
        size_t to = from;
        while (to < words.n && words.p[to] != '+')
            to++;
        const tl_idle_rule *r = tl_idle_rules;
        while (r->word != NULL && (r->bit == 0 || !tl_text_is((tl_text){ words.p + from, to - from }, r->word)))
            r++;
        if (r->word == NULL)
            return false;
        without |= r->bit;
        from = to + 1;
    }
    config->rules = TL_IDLE_ALL & ~without;
    return true;
}

bool tl_idle_config_read(const char *text, tl_idle_config *config)
{
    while (*text != '\0') {
        while (*text == ' ')
            text++;
        size_t n = strcspn(text, ",");
        const char *equals = memchr(text, '=', n);
        if (equals == NULL)
            return false;
        tl_text name = { text, (size_t)(equals - text) }, value = { equals + 1, n - name.n - 1 };
        if (!(tl_text_is(name, "without") ? read_without(value, config) : read_threshold(name, value, config)))
            return false;
        text += n + (text[n] == ',');
    }
    return true;
}

void tl_idle_config_write(const tl_idle_config *config, char *out, size_t n)
{
    tl_idle_config copy = *config;
    size_t used = 0;

    for (const tl_idle_threshold *t = tl_idle_thresholds; t->name != NULL && used < n; t++) {
        int64_t x = *threshold_at(&copy, t);
        if (t->percent || x % 1000 == 0)
            used += (size_t)snprintf(out + used, n - used, "%s=%" PRId64 ", ", t->name, t->percent ? x : x / 1000);
        else
            used += (size_t)snprintf(out + used, n - used, "%s=%" PRId64 ".%03d, ", t->name, x / 1000, (int)(x % 1000));
    }
    if (used < n)
        used += (size_t)snprintf(out + used, n - used, "without=%s", config->rules == TL_IDLE_ALL ? "none" : "");
    const char *before = "";
    for (const tl_idle_rule *r = tl_idle_rules; r->word != NULL && used < n; r++)
        if (r->bit != 0 && !(config->rules & r->bit)) {
            used += (size_t)snprintf(out + used, n - used, "%s%s", before, r->word);
            before = "+";
        }
}
