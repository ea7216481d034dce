/* config.c - thresholds as text, and back. */
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
                                          .kernel_ns = 30000,
                                      } };

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
    { "kernel", AT(kernel_ns), false,
      "stream_idle: launched work that starts later waited for something else (other_ns, not kernel_wait_ns)" },
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
        if (!read_threshold(name, value, config))
            return false;
        text += n + (text[n] == ',');
    }
    return true;
}

void tl_idle_config_write(const tl_idle_config *config, char *out, size_t n)
{
    tl_idle_config copy = *config;
    const char *before = "";
    size_t used = 0;

    *out = '\0';
    for (const tl_idle_threshold *t = tl_idle_thresholds; t->name != NULL && used < n; t++) {
        int64_t x = *threshold_at(&copy, t);
        used += (size_t)snprintf(out + used, n - used, "%s%s=%" PRId64, before, t->name, t->percent ? x : x / 1000);
        if (!t->percent && x % 1000 != 0 && used < n)
            used += (size_t)snprintf(out + used, n - used, ".%03d", (int)(x % 1000));
        before = ", ";
    }
}
