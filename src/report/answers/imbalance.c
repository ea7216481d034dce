/* imbalance.c - what the job loses that nobody is at fault for, in words. */
#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/answers/say.h"

#include "tlmpi/report/format/words.h"
#include <inttypes.h>

bool tl_has_imbalance(const tl_answers *a)
{
    return a->imbalance.roles_ns > 0 || a->imbalance.chance_ns > 0 || a->imbalance.hosts_ns > 0;
}

static void say_cost(tl_wrap *w, const tl_answers *a, int64_t ns)
{
    tl_wrap_printf(w, "(%s)", tl_share_in_words(tl_answers_share(a, ns)).text);
}

static void say_roles(tl_wrap *w, const tl_answers *a)
{
    tl_wrap_words(w, "rank");
    tl_wrap_printf(w, "%" PRId32, a->imbalance.rank);
    tl_wrap_words(w, "and those that do the same compute");
    tl_wrap_printf(w, "%.2f", a->imbalance.times);
    tl_wrap_words(w, "times as long as the others");
    say_cost(w, a, a->imbalance.roles_ns);
}

static void say_chance(tl_wrap *w, const tl_answers *a)
{
    tl_wrap_words(w, "work differs at random from rank to rank and step to step");
    say_cost(w, a, a->imbalance.chance_ns);
}

static void say_hosts(tl_wrap *w, const tl_answers *a)
{
    tl_wrap_words(w, "devices wait for their hosts to launch work");
    say_cost(w, a, a->imbalance.hosts_ns);
}

void tl_say_imbalance(tl_wrap *w, const tl_answers *a, size_t most)
{
    const struct {
        int64_t ns;
        void (*say)(tl_wrap *w, const tl_answers *a);
    } all[] = { { a->imbalance.roles_ns, say_roles },
                { a->imbalance.chance_ns, say_chance },
                { a->imbalance.hosts_ns, say_hosts } };
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
