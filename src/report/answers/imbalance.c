/* imbalance.c - in words: the time that the job loses to imbalance and chance, for which no rank is at fault. */
#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/answers/say.h"

#include "tlmpi/base/stats.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>

/* Keeps the gains that are at least what the critical path leaves unexplained; the gain of chance needs two steps or
 * more, too. */
static tl_imbalance told_of(const tl_answers *a)
{
    tl_imbalance told = a->imbalance;
    int64_t least_ns = a->path.unexplained_ns;
    told.roles_ns = told.roles_ns >= least_ns ? told.roles_ns : 0;
    told.chance_ns = told.chance_ns >= least_ns && a->trust.nsteps > 1 ? told.chance_ns : 0;
    told.hosts_ns = told.hosts_ns >= least_ns ? told.hosts_ns : 0;
    return told;
}

int64_t tl_largest_imbalance(const tl_answers *a)
{
    const tl_imbalance told = told_of(a);
    return tl_ns_max(told.roles_ns, tl_ns_max(told.chance_ns, told.hosts_ns));
}

static void say_gain(tl_wrap *w, const tl_answers *a, int64_t ns)
{
    tl_wrap_printf(w, "%s less", tl_duration(ns).text);
    tl_wrap_printf(w, "(%s)", tl_share_in_words(tl_answers_share(a, ns)).text);
}

/* Whether it comes on top of what those gain who are named, or is in part the same. */
static void say_beside(tl_wrap *w, const tl_answers *a, bool beyond)
{
    if (a->nculprits > 0)
        tl_wrap_words(w, beyond ? "beyond the gain above" : "- overlaps with the gain above");
}

static void say_roles(tl_wrap *w, const tl_answers *a)
{
    tl_wrap_words(w, "ranks that do the same as");
    tl_wrap_printf(w, "rank %" PRId32, a->imbalance.rank);
    tl_wrap_words(w, "compute");
    tl_wrap_printf(w, "%.2f", a->imbalance.times);
    tl_wrap_words(w, "times as long as the others in the median: balanced");
    say_gain(w, a, a->imbalance.roles_ns);
    say_beside(w, a, false);
}

static void say_chance(tl_wrap *w, const tl_answers *a)
{
    tl_wrap_words(w, "work differs between ranks and steps at random: without that");
    say_gain(w, a, a->imbalance.chance_ns);
    say_beside(w, a, true);
}

static void say_hosts(tl_wrap *w, const tl_answers *a)
{
    tl_wrap_words(w, a->trust.nranks > 1 ? "all ranks: GPUs wait for the CPU; at best" : "the GPU waits for the CPU; at best");
    say_gain(w, a, a->imbalance.hosts_ns);
    say_beside(w, a, a->imbalance.named_hosts_ns > 0);
}

void tl_say_imbalance(tl_wrap *w, const tl_answers *a, size_t most)
{
    const tl_imbalance told = told_of(a);
    const struct {
        int64_t ns;
        void (*say)(tl_wrap *w, const tl_answers *a);
    } all[] = { { told.roles_ns, say_roles }, { told.chance_ns, say_chance }, { told.hosts_ns, say_hosts } };
    bool done[sizeof all / sizeof *all] = { false };
    size_t said = 0;
    while (said < most) {
        size_t next = 0;
        for (size_t i = 1; i < sizeof all / sizeof *all; i++)
            if (!done[i] && (done[next] || all[i].ns > all[next].ns))
                next = i;
        if (done[next] || all[next].ns <= 0)
            break;
        if (said++ > 0)
            tl_wrap_printf(w, "-");
        all[next].say(w, a);
        done[next] = true;
    }
    if (said > 1)
        tl_wrap_words(w, "- these overlap");
}
