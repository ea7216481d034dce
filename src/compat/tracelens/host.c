/* host.c - what the host did in a gap: the launch, the runtime calls, the operators.
 *
 *     gap          |--------------------|
 *     launch       ..[ call ]<- L ----->|             launch to execution
 *     operators  [ a   [ b ][ b [ c ]]     ]          self times: a less its b's, b less c, c
 *
 * The first line that holds gives the label; the first three lines need a launch; `dur` is the length of the gap:
 *
 *     LAUNCH_ANOMALY          not prequeued, L > 10, L > dur / 4:  the device was slow to begin
 *     LAUNCH_ANOMALY          prequeued, dur > 5:                  the device was slow to begin
 *     LAUNCH_OVERHEAD_ONLY    dur - L < 4:                         little but the launch
 *     RUNTIME_DOMINATED       one class of runtime calls has dur / 4 or more
 *     CPU_UNTRACED            operators have less than dur / 5 in all
 *     CPU_DOMINATED           else
 *
 * Threads are not told apart: sums run over all threads, and an operator within another one in time counts as its
 * child.
 */
#include "lens.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>

#define ANOMALY_US        10.0
#define ANOMALY_SHARE     0.25
#define QUEUED_ANOMALY_US 5.0
#define OVERHEAD_US       4.0
#define RUNTIME_SHARE     0.25
#define TRACED_SHARE      0.20
#define TOLD_NAMES        3
#define MICRO             "\302\265"

/* A sweep over events of one kind. */
typedef struct sweep {
    uint32_t *all;        /* events, by ts */
    size_t n, next;       /* all[0 .. next) began before the end of the current gap */
    TL_VEC(uint32_t) now; /* events that overlap the current gap */
} sweep;

/* Time of one name in the current gap. */
typedef struct share {
    uint32_t name; /* names id of the trace; TL_NO_NAME: none */
    double us;
} share;

TL_SORT_BY(largest_first, share, DOWN(us)) /* ties by first sight */

/* An operator in a gap: [ts, end), and the part in the gap, [from, to); us. */
typedef struct frame {
    double ts, end, from, to;
    uint32_t name;
    size_t later, sooner; /* the next frame that ends later than this frame; that does not end later */
} frame;

typedef struct host_sweep {
    const tl_lens *lens;
    tl_names *words;
    sweep calls, ops;
    TL_VEC(frame) frames; /* operators of the current gap */
    TL_VEC(share) shares; /* of the current gap, in order of first sight, in the end largest first */
    tl_map share_of;      /* by name: its position in shares, before they are sorted */
    tl_bytes text;        /* the text under construction */
} host_sweep;

static bool is_call(const tl_lens *lens, uint32_t i)
{
    return lens->set[i] == TL_LENS_RUNTIME && tl_lens_is_complete(lens, i);
}

enum { MEMORY_ALLOC, LAUNCH_STALL, SYNC_CALL, OTHER_RUNTIME, NCLASSES };
static const char *const class_words[NCLASSES] = { "MEMORY_ALLOC: ", "LAUNCH_STALL: ", "SYNC_CALL: ",
                                                   "OTHER_RUNTIME: " };

static int class_of(const tl_lens *lens, uint32_t call)
{
    unsigned says = tl_lens_says(lens, call);
    if (says & TL_LENS_ALLOC)
        return MEMORY_ALLOC;
    if (says & TL_LENS_LAUNCH_CALL)
        return LAUNCH_STALL;
    return tl_lens_sync_of(lens, call, TL_NONE) != NULL ? SYNC_CALL : OTHER_RUNTIME;
}

static bool is_op(const tl_lens *lens, uint32_t i)
{
    return (lens->set[i] == TL_LENS_CPU_OP || lens->set[i] == TL_LENS_PYTHON) && tl_lens_is_complete(lens, i);
}

/* --------------------------------------------------------------------------------------------------------- of a gap */

/* Sets s->now to the events that overlap the gap, in the order of s->all.  Calls go in the gaps' order of time. */
static void sweep_to(sweep *s, const tl_lens *lens, const tl_lens_gap *gap)
{
    size_t kept = 0;

    for (; s->next < s->n && tl_lens_ts(lens, s->all[s->next]) < gap->hi; s->next++)
        tl_vec_push(&s->now, s->all[s->next]);
    for (size_t i = 0; i < s->now.n; i++)
        if (tl_lens_end(lens, s->now.v[i]) > gap->lo)
            s->now.v[kept++] = s->now.v[i];
    s->now.n = kept;
}

static void clear_shares(host_sweep *host)
{
    tl_map_free(&host->share_of);
    host->shares.n = 0;
}

static void add_share(host_sweep *host, uint32_t name, double us)
{
    const uint32_t at = tl_map_number(&host->share_of, name, host->shares.n);
    if (at == host->shares.n)
        tl_vec_push(&host->shares, (share){ name, 0.0 });
    host->shares.v[at].us += us;
}

/* ----------------------------------------------------------------------------------------------------------- texts */

static void append_name(host_sweep *host, uint32_t name, const char *none)
{
    tl_text text = name != TL_NO_NAME ? tl_names_text(&host->lens->e->names, name) : tl_text_of(none);
    tl_bytes_put(&host->text, text.p, text.n);
}

/* Returns the id of host->text, and clears the text. */
static uint32_t finish_text(host_sweep *host)
{
    uint32_t word = tl_names_intern(host->words, tl_bytes_text(&host->text).p, host->text.n);
    host->text.n = 0;
    return word;
}

static uint32_t word_of(host_sweep *host, const char *words)
{
    return tl_names_intern(host->words, words, strlen(words));
}

/* ---------------------------------------------------------------------------------------------------------- launch */

/* Whether the launch explains the gap; if so, sets the gap's labels. */
static bool label_launch(host_sweep *host, tl_lens_gap *gap)
{
    double dur = gap->hi - gap->lo, l = gap->launch_to_exec;
    const char *cpu = "LAUNCH_ANOMALY";

    if (!gap->prequeued && l > ANOMALY_US && l > ANOMALY_SHARE * dur) {
        tl_bytes_say(&host->text, "launch_to_exec=%.1f" MICRO "s (launched_during_gap)", l);
    } else if (gap->prequeued && dur > QUEUED_ANOMALY_US) {
        tl_bytes_say(&host->text, "gap=%.1f" MICRO "s, launch_to_exec=%.1f" MICRO "s (prequeued)", dur, l);
    } else if (dur - l < OVERHEAD_US) {
        cpu = "LAUNCH_OVERHEAD_ONLY";
        tl_bytes_say(&host->text, "app_overhead=%.1f" MICRO "s, launch_to_exec=%.1f" MICRO "s", dur - l, l);
    } else {
        return false;
    }
    gap->cpu = word_of(host, cpu);
    gap->detail = finish_text(host);
    gap->key = word_of(host, gap->prequeued ? "prequeued" : "launched_during_gap");
    return true;
}

/* --------------------------------------------------------------------------------------------------------- runtime */

/* Whether a class of runtime calls explains the gap; if so, sets the gap's labels.  The class has the largest sum, ties
 * by first sight.  The name has the largest sum over all classes, and need not belong to the class. */
static bool label_runtime(host_sweep *host, tl_lens_gap *gap)
{
    const tl_lens *lens = host->lens;
    double sum[NCLASSES] = { 0 };
    int met[NCLASSES], nmet = 0, best = -1;

    clear_shares(host);
    sweep_to(&host->calls, lens, gap);
    TL_EACH (const uint32_t, call, host->calls.now) {
        double us = fmax(0, fmin(tl_lens_end(lens, *call), gap->hi) - fmax(tl_lens_ts(lens, *call), gap->lo));
        int class = class_of(lens, *call), k = 0;
        while (k < nmet && met[k] != class)
            k++;
        met[k] = class;
        nmet += k == nmet;
        sum[class] += us;
        add_share(host, lens->e->name[*call], us);
    }
    for (int i = 0; i < nmet; i++)
        if (best < 0 || sum[met[i]] > sum[best])
            best = met[i];
    if (best < 0 || !(sum[best] >= (gap->hi - gap->lo) * RUNTIME_SHARE))
        return false;

    gap->cpu = word_of(host, "RUNTIME_DOMINATED");
    tl_bytes_say(&host->text, "%s", class_words[best]);
    tl_vec_sort(&host->shares, largest_first);
    append_name(host, host->shares.v[0].name, "unknown");
    gap->key = gap->detail = finish_text(host);
    return true;
}

/* ------------------------------------------------------------------------------------------------------- operators */

static void collect_frames(host_sweep *host, const tl_lens_gap *gap)
{
    const tl_lens *lens = host->lens;

    host->frames.n = 0;
    sweep_to(&host->ops, lens, gap);
    for (size_t i = 0; i < host->ops.now.n; i++) {
        uint32_t op = host->ops.now.v[i];
        frame f = { .ts = tl_lens_ts(lens, op), .end = tl_lens_end(lens, op), .name = lens->e->name[op] };
        f.from = fmax(f.ts, gap->lo);
        f.to = fmin(f.end, gap->hi);
        if (f.to > f.from)
            tl_vec_push(&host->frames, f);
    }
    for (size_t i = host->frames.n; i-- > 0;) {
        frame *v = host->frames.v;
        for (v[i].later = i + 1; v[i].later < host->frames.n && v[v[i].later].end <= v[i].end;)
            v[i].later = v[v[i].later].later;
        for (v[i].sooner = i + 1; v[i].sooner < host->frames.n && v[v[i].sooner].end > v[i].end;)
            v[i].sooner = v[v[i].sooner].sooner;
    }
}

/* Returns the time in the gap covered by frames within frame i, us.  Frames within i come after it, from `first`
 * on.  After a frame within i, the walk goes to the next frame that ends later, since frames between lie within the
 * former and add nothing; after a frame that ends later than i, to the next frame that does not end later than the
 * former, since frames between also end later than i.  So the cost is the number of i's children and of frames that
 * cross the end of i, not of all descendants. */
static double covered_us(const host_sweep *host, size_t i, size_t first)
{
    const frame *v = host->frames.v;
    double sum = 0, from = 0, to = 0; /* sum: covered time before `from`; [from, to): the open piece */

    for (size_t k = first; k < host->frames.n && v[k].ts <= v[i].end;) {
        if (v[k].end > v[i].end) {
            k = v[k].sooner;
            continue;
        }
        if (to <= from || v[k].from > to) {
            sum += to - from;
            from = v[k].from;
            to = v[k].to;
        }
        to = fmax(to, v[k].to);
        k = v[k].later;
    }
    return sum + (to - from);
}

/* Sets host->shares to the self times of the operators in the gap, by name.  Frames with equal starts and ends do not
 * contain each other.  Calls go in the gaps' order of time. */
static void share_self_times(host_sweep *host, const tl_lens_gap *gap)
{
    collect_frames(host, gap);
    clear_shares(host);
    for (size_t i = 0, next; i < host->frames.n; i = next) {
        const frame *v = host->frames.v;
        for (next = i + 1; next < host->frames.n && v[next].ts == v[i].ts && v[next].end == v[i].end;)
            next++;
        const double own = (v[i].to - v[i].from) - covered_us(host, i, next);
        for (size_t k = i; own > 0 && k < next; k++)
            add_share(host, v[k].name, own);
    }
}

static void label_operators(host_sweep *host, tl_lens_gap *gap)
{
    double dur = gap->hi - gap->lo, all = 0;

    share_self_times(host, gap);
    if (host->shares.n == 0) {
        gap->cpu = word_of(host, "CPU_UNTRACED");
        gap->op = gap->key = word_of(host, "(no_cpu_op_overlap)");
        gap->detail = word_of(host, "no cpu_op/python_function events overlap this gap");
        return;
    }
    TL_EACH (const share, s, host->shares)
        all += s->us;
    tl_vec_sort(&host->shares, largest_first);
    append_name(host, host->shares.v[0].name, "?");
    gap->key = gap->op = finish_text(host);
    const bool traced = all / dur >= TRACED_SHARE;
    gap->cpu = word_of(host, traced ? "CPU_DOMINATED" : "CPU_UNTRACED");
    if (!traced)
        tl_bytes_say(&host->text, "self_time_coverage=%.0f%% of gap", all / dur * 100);
    for (size_t n = 0; n < TOLD_NAMES && n < host->shares.n && traced; n++) {
        tl_bytes_say(&host->text, "%s", n > 0 ? ", " : "");
        append_name(host, host->shares.v[n].name, "?");
        tl_bytes_say(&host->text, ": %.0f%%", host->shares.v[n].us / dur * 100);
    }
    gap->detail = finish_text(host);
}

void tl_lens_label_gaps(const tl_lens *lens, tl_lens_idle *idle)
{
    host_sweep host = { .lens = lens, .words = &idle->words };

    host.calls.all = tl_lens_pick(lens, is_call, false, &host.calls.n);
    host.ops.all = tl_lens_pick(lens, is_op, true, &host.ops.n);
    TL_EACH (tl_lens_gap, gap, idle->gaps)
        if (gap->id >= 0 && (gap->launch == TL_NONE || !label_launch(&host, gap)) && !label_runtime(&host, gap))
            label_operators(&host, gap);
    free(host.calls.all);
    free(host.calls.now.v);
    free(host.ops.all);
    free(host.ops.now.v);
    free(host.frames.v);
    free(host.shares.v);
    tl_map_free(&host.share_of);
    tl_bytes_free(&host.text);
}
