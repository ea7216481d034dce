/* config.c - thresholds, as users choose them. */
#include "tlmpi/analysis/config.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/text.h"
#include <string.h>

const tl_config tl_config_default = {
    .idle = { .noise_ns = 5000,
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
              .kernel_ns = 30000 },
    .launch = { .runtime_ns = 50000, .delay_ns = 100000, .full = 1024 },
};

#define AT(member) offsetof(tl_idle_config, member)

const tl_threshold tl_idle_thresholds[] = {
    { "noise", AT(noise_ns), TL_IN_US, "a shorter gap is noise: listed and summed, not classified" },
    { "launch", AT(launch_ns), TL_IN_US,
      "what launching takes; work is prequeued when its launch call had ended longer than that before the gap" },
    { "anomaly", AT(anomaly_ns), TL_IN_US,
      "LAUNCH_ANOMALY: from the end of the launch to its work takes longer, and ..." },
    { "anomaly-pct", AT(anomaly_pct), TL_IN_PERCENT, "... more than this part of the gap" },
    { "queued", AT(queued_ns), TL_IN_US, "LAUNCH_ANOMALY: before prequeued work a gap is longer" },
    { "runtime-pct", AT(runtime_pct), TL_IN_PERCENT,
      "RUNTIME_DOMINATED: calls of one class take this part of the gap or more" },
    { "coverage-pct", AT(coverage_pct), TL_IN_PERCENT, "CPU_UNTRACED: operators take less than this part of the gap" },
    { "drain", AT(drain_ns), TL_IN_US, "sync_drain: the call began longer than that before the device was done" },
    { "sync", AT(sync_ns), TL_IN_US, "a call that waits may have ended that long before the gap" },
    { "implicit", AT(implicit_ns), TL_IN_US, "an allocation of memory that lasts longer waits for the device" },
    { "own-launch", AT(own_launch_ns), TL_IN_US, "a shorter launch call is no reason for the gap that it ends" },
    { "kernel", AT(kernel_ns), TL_IN_US,
      "stream_idle: launched work that starts later waited for something else (other_ns, not kernel_wait_ns)" },
    { NULL, 0, TL_IN_US, NULL },
};
#undef AT

#define AT(member) offsetof(tl_launch_config, member)

const tl_threshold tl_launch_thresholds[] = {
    { "runtime", AT(runtime_ns), TL_IN_US,
      "slow_calls take longer; short_calls do not, and still longer than their work" },
    { "delay", AT(delay_ns), TL_IN_US, "late_calls: their work starts longer after their end" },
    { "full", AT(full), TL_IN_NUMBER, "table queue: so much work fills a stream's queue" },
    { NULL, 0, TL_IN_US, NULL },
};

#undef AT

#define AT(precision) offsetof(tl_peaks, gflop_per_s[precision]), TL_IN_TFLOP_PER_S

const tl_threshold tl_peak_thresholds[] = {
    { "f64", AT(TL_F64), "peak of double" },
    { "f32", AT(TL_F32),
      "peak of float; by default that of TF32 where the device has it, whether the job allowed it or not" },
    { "f16", AT(TL_F16), "peak of Half" },
    { "bf16", AT(TL_BF16), "peak of BFloat16" },
    { "f8", AT(TL_F8), "peak of Float8 of any kind" },
    { NULL, 0, TL_IN_US, NULL },
};

/* An hour: longer than any gap that one would set apart. */
#define LARGEST_NS INT64_C(3600000000000)

const char *tl_threshold_takes(tl_threshold_unit unit)
{
    return unit == TL_IN_US            ? "a time in us, from 0 to an hour"
           : unit == TL_IN_PERCENT     ? "a whole number of percent, from 0 to 100"
           : unit == TL_IN_TFLOP_PER_S ? "10^12 FLOP/s, 0 for the device's own"
                                       : "a whole number, 0 or more";
}

static bool read_value(const tl_threshold *t, tl_text value, int64_t *x)
{
    if (t->unit == TL_IN_US || t->unit == TL_IN_TFLOP_PER_S) /* in thousandths */
        return tl_decimal_us_to_ns(value.p, value.n, x) && *x >= 0 && *x <= LARGEST_NS;
    return tl_decimal_to_int(value.p, value.n, x) && *x >= 0 && (t->unit == TL_IN_NUMBER || *x <= 100);
}

static const tl_threshold *threshold_of(const tl_threshold *list, tl_text name)
{
    for (const tl_threshold *t = list; t->name != NULL; t++)
        if (tl_text_is(name, t->name))
            return t;
    return NULL;
}

bool tl_thresholds_read(const tl_threshold *list, const char *text, void *config, tl_threshold_fault *fault)
{
    while (*text != '\0') {
        while (*text == ' ')
            text++;
        size_t n = strcspn(text, ",");
        const char *equals = memchr(text, '=', n);
        tl_text name = { text, equals != NULL ? (size_t)(equals - text) : n };
        tl_text value = { equals != NULL ? equals + 1 : NULL, equals != NULL ? n - name.n - 1 : 0 };
        const tl_threshold *of = threshold_of(list, name);
        int64_t x;
        if (of == NULL || equals == NULL || !read_value(of, value, &x)) {
            if (fault != NULL)
                *fault = (tl_threshold_fault){ name, value, of };
            return false;
        }
        memcpy((char *)config + of->offset, &x, sizeof x);
        text += n + (text[n] == ',');
    }
    return true;
}
