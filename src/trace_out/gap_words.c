/* gap_words.c - what is to be said of a gap besides its label. */
#include "tlmpi/trace_out/idle.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct words {
    tl_out_words *out;
    bool failed; /* memory is out */
} words;

static void add_text(words *w, tl_text text)
{
    if (text.n == 0)
        return;
    tl_grow((void **)&w->out->v, &w->out->cap, w->out->n + text.n, 1);
    memcpy(w->out->v + w->out->n, text.p, text.n);
    w->out->n += text.n;
}

/* Short words. */
__attribute__((format(printf, 2, 3))) static void add(words *w, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        add_text(w, (tl_text){ text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1 });
}

/* Microseconds with one decimal, rounded half up. */
static void add_us(words *w, const char *before, int64_t ns, const char *after)
{
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns, tenths = size / 100 + (size % 100 >= 50);
    add(w, "%s%s%" PRIu64 ".%u\xC2\xB5s%s", before, ns < 0 && tenths > 0 ? "-" : "", tenths / 10,
        (unsigned)(tenths % 10), after);
}

static void add_name(words *w, const tl_names *names, uint32_t name)
{
    add_text(w, name != TL_NO_NAME ? tl_names_text(names, name) : TL_TEXT("(no name)"));
}

static unsigned percent(int64_t part, int64_t whole)
{
    return whole > 0 ? (unsigned)((double)part / (double)whole * 100 + 0.5) : 0;
}

static void add_op(words *w, const tl_names *names, uint32_t op, int64_t ns, const tl_gap *gap, const char *before)
{
    if (op == TL_NO_NAME)
        return;
    add(w, "%s", before);
    add_name(w, names, op);
    add(w, ": %u%%", percent(ns, gap->duration_ns));
}

static void add_detail(words *w, const tl_names *names, const tl_gap *gap)
{
    switch ((tl_doing)gap->cpu_during_gap) {
    case TL_DOING_LAUNCH_ANOMALY:
        if (gap->prequeued == TL_QUEUED_YES)
            add_us(w, "gap=", gap->duration_ns, ", ");
        add_us(w, "launch_to_exec=", gap->launch_to_exec_ns,
               gap->prequeued == TL_QUEUED_YES ? " (prequeued)" : " (launched_during_gap)");
        break;
    case TL_DOING_LAUNCH_OVERHEAD:
        add_us(w, "app_overhead=", gap->duration_ns - gap->launch_to_exec_ns, ", ");
        add_us(w, "launch_to_exec=", gap->launch_to_exec_ns, "");
        break;
    case TL_DOING_RUNTIME:
        add(w, "%s: ", tl_call_labels[gap->call_class]);
        add_name(w, names, gap->call);
        break;
    case TL_DOING_CPU:
        add_op(w, names, gap->dominant_op, gap->dominant_op_ns, gap, "");
        add_op(w, names, gap->second_op, gap->second_op_ns, gap, ", ");
        add_op(w, names, gap->third_op, gap->third_op_ns, gap, ", ");
        break;
    case TL_DOING_UNTRACED:
        add(w, "operators cover %u%% of the gap", percent(gap->ops_ns, gap->duration_ns));
        break;
    case TL_DOING_NO_TRACE:
        add(w, "%s", "the trace has no operators");
        break;
    case TL_DOING_GRAPH:
        add_name(w, names, gap->launch);
        break;
    case TL_DOING_DEPENDENCY:
        add_name(w, names, gap->following);
        break;
    case TL_DOING_UNRECORDED:
        add(w, "%s", "work was launched that the trace lacks");
        break;
    case TL_DOING_ALL:
    case TL_DOING_NOISE:
    case TL_NDOINGS:
        break;
    }
}

void tl_out_gap_words(tl_out_words *out, const tl_names *names, const tl_gap *gap)
{
    words w = { .out = out };
    out->n = 0;
    add_detail(&w, names, gap);
}
