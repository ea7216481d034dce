/* imbalance.c - what the job loses that nobody is at fault for, in words. */
#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/answers/say.h"

#include "tlmpi/report/format/words.h"
#include <inttypes.h>

bool tl_has_imbalance(const tl_answers *a)
{
    return a->imbalance.roles_ns > 0 || a->imbalance.chance_ns > 0 || a->imbalance.hosts_ns > 0;
}

/* "costs 4.3 %", and what divides it from what follows. */
static void say_cost(tl_wrap *w, const tl_answers *a, int64_t ns, bool more)
{
    tl_wrap_words(w, "costs");
    tl_wrap_printf(w, "%.1f %%%s", 100 * (double)ns / (double)a->wall_ns, more ? ";" : "");
}

void tl_say_imbalance(tl_wrap *w, const tl_answers *a)
{
    const tl_imbalance *of = &a->imbalance;
    int n = (of->roles_ns > 0) + (of->chance_ns > 0) + (of->hosts_ns > 0);

    if (a->nculprits > 0)
        tl_wrap_words(w, "beside what is named above,");
    if (of->roles_ns > 0) {
        tl_wrap_words(w, "that rank");
        tl_wrap_printf(w, "%" PRId32, of->rank);
        tl_wrap_words(w, "and those that do the same compute");
        tl_wrap_printf(w, "%.2f", of->times);
        tl_wrap_words(w, "times as long as the others");
        say_cost(w, a, of->roles_ns, of->chance_ns > 0 || of->hosts_ns > 0);
    }
    if (of->chance_ns > 0) {
        tl_wrap_words(w, "what takes longer than usual on one rank or another");
        say_cost(w, a, of->chance_ns, of->hosts_ns > 0);
    }
    if (of->hosts_ns > 0) {
        tl_wrap_words(w, "time that hosts need");
        say_cost(w, a, of->hosts_ns, false);
    }
    if (n > 1)
        tl_wrap_words(w, "(these overlap)");
}
