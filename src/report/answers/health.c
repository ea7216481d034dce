/* health.c - what is wrong with the recording, a sentence for each kind of defect over all ranks. */
#include "tlmpi/report/answers/say.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/participant.h"
#include <inttypes.h>
#include <stdlib.h>

/* The sums of all rows of one defect. */
typedef struct total {
    int64_t count, of, time_ns, worst_ns;
    int32_t worst; /* the rank with the longest time */
    size_t nranks, nsteps;
    char ranks[64], steps[64]; /* "rank 1", "ranks 1-3"; " in step 4", " in steps 4,7-9", empty */
} total;

static void name(const char *word, const int32_t *v, size_t n, char *out, size_t size)
{
    char list[40] = "";
    tl_ranks_text(v, n, list, sizeof list);
    snprintf(out, size, "%s%s %.*s", word, tl_plural((int64_t)n), (int)sizeof list, list);
}

static bool add_up(const tl_table *health, tl_defect defect, total *out)
{
    int32_t *ranks = tl_malloc((health->n + 1) * sizeof *ranks), *steps = tl_malloc((health->n + 1) * sizeof *steps);
    *out = (total){ .worst = -1 };
    for (size_t i = 0; i < health->n; i++) {
        const tl_health *row = tl_table_row(health, i);
        if (row->defect != defect)
            continue;
        out->count = tl_ns_add(out->count, row->count);
        out->of = tl_ns_add(out->of, row->of);
        out->time_ns = tl_ns_add(out->time_ns, row->time_ns);
        if (out->nranks == 0 || row->time_ns > out->worst_ns) {
            out->worst = row->rank;
            out->worst_ns = row->time_ns;
        }
        ranks[out->nranks++] = row->rank;
        if (row->step >= 0)
            steps[out->nsteps++] = row->step;
    }
    if (out->nranks > 0) {
        out->nranks = tl_int_unique(ranks, out->nranks);
        out->nsteps = tl_int_unique(steps, out->nsteps);
        name("rank", ranks, out->nranks, out->ranks, sizeof out->ranks);
        if (out->nsteps > 0)
            name(" in step", steps, out->nsteps, out->steps, sizeof out->steps);
    }
    free(ranks);
    free(steps);
    return out->nranks > 0;
}

static void say_lost(tl_phrase *p, const total *t, bool at_end)
{
    char idle[64] = "";
    if (t->time_ns > 0)
        snprintf(idle, sizeof idle, "; %.32s of idle time may be work", tl_duration(t->time_ns).text);
    snprintf(p->text, sizeof p->text, "%" PRId64 " of %" PRId64 " launches of %s%s %s%s%s", t->count, t->of, t->ranks,
             t->steps,
             at_end ? "had not run when the recording ended, or were not recorded" : "were not recorded, or not whole",
             t->nsteps == 0  ? ""
             : t->nranks > 1 ? ": there a delay of these ranks counts as far as the recorded work shows it"
                             : ": there a delay of this rank counts as far as the recorded work shows it",
             idle);
}

/* "rank 3 began 15.0 s later: step 10 left out". */
static void say_other_window(tl_phrase *p, const total *t, const char *how)
{
    char others[48] = "", steps[96] = "";
    if (t->nranks > 1)
        snprintf(others, sizeof others, ", and %zu other%s by less", t->nranks - 1, tl_plural((int64_t)t->nranks - 1));
    if (t->nsteps > 0)
        snprintf(steps, sizeof steps, ": %.64s left out", t->steps + sizeof " in " - 1);
    snprintf(p->text, sizeof p->text, "rank %" PRId32 " %s, by %.32s%s%s", t->worst, how, tl_duration(t->worst_ns).text,
             others, steps);
}

bool tl_health_in_words(const tl_table *health, tl_defect defect, tl_phrase *out)
{
    total t;
    if (!add_up(health, defect, &t))
        return false;
    switch (defect) {
    case TL_DEFECT_LOST:
    case TL_DEFECT_LOST_AT_BEGIN:
    case TL_DEFECT_LOST_AT_END:
        say_lost(out, &t, defect == TL_DEFECT_LOST_AT_END);
        break;
    case TL_DEFECT_BEGINS_LATER:
        say_other_window(out, &t, "began later");
        break;
    case TL_DEFECT_ENDS_EARLIER:
        say_other_window(out, &t, "ended earlier");
        break;
    case TL_DEFECT_NOT_WHOLE:
        snprintf(out->text, sizeof out->text,
                 "%s %s not whole on all ranks: the table of ranks and what is lost are of the other steps",
                 t.steps + sizeof " in " - 1, t.nsteps > 1 ? "are" : "is");
        break;
    case TL_DEFECT_NO_LAUNCH:
        snprintf(out->text, sizeof out->text,
                 "%" PRId64 " of %" PRId64 " pieces of device work of %s have no launch in the trace: what released them "
                 "is unknown",
                 t.count, t.of, t.ranks);
        break;
    case TL_NDEFECTS:
        break;
    }
    return true;
}
