/* health.c - what is wrong with the recording, a sentence for each kind of defect, over all ranks. */
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
    tl_phrase ranks, steps; /* "rank 1", "ranks 1-3"; "step 4", "steps 4,7-9", empty */
} total;

/* Sorts the numbers, removes duplicates, and returns them in words. */
static tl_phrase numbers_in_words(const char *word, int32_t *v, size_t *n)
{
    char list[40] = "";
    *n = tl_int_unique(v, *n);
    tl_ranks_text(v, *n, list, sizeof list);
    return *n == 0 ? (tl_phrase){ "" }
                   : tl_phrase_of("%s%s %.*s", word, tl_plural((int64_t)*n), (int)sizeof list, list);
}

static total sum_rows(const tl_table *health, tl_defect defect)
{
    int32_t *ranks = tl_malloc((health->n + 1) * sizeof *ranks), *steps = tl_malloc((health->n + 1) * sizeof *steps);
    total t = { .worst = -1 };
    TL_ROWS (const tl_health, row, health) {
        if (row->defect != defect)
            continue;
        t.count = tl_ns_add(t.count, row->count);
        t.of = tl_ns_add(t.of, row->of);
        t.time_ns = tl_ns_add(t.time_ns, row->time_ns);
        if (t.nranks == 0 || row->time_ns > t.worst_ns) {
            t.worst = row->rank;
            t.worst_ns = row->time_ns;
        }
        ranks[t.nranks++] = row->rank;
        if (row->step >= 0)
            steps[t.nsteps++] = row->step;
    }
    t.ranks = numbers_in_words("rank", ranks, &t.nranks);
    t.steps = numbers_in_words("step", steps, &t.nsteps);
    free(ranks);
    free(steps);
    return t;
}

static tl_phrase lost_in_words(const total *t, bool at_end)
{
    const tl_phrase idle = t->time_ns > 0 ? tl_phrase_of("; %s of idle time may be work", tl_duration(t->time_ns).text)
                                          : (tl_phrase){ "" };
    return tl_phrase_of("%" PRId64 " of %" PRId64 " launches of %s%s%s %s%s%s", t->count, t->of, t->ranks.text,
                        t->nsteps > 0 ? " in " : "", t->steps.text,
                        at_end ? "had not run when the recording ended, or were not recorded"
                               : "were not recorded, or not whole",
                        t->nsteps == 0  ? ""
                        : t->nranks > 1 ? ": there a delay of these ranks counts as far as the recorded work shows it"
                                        : ": there a delay of this rank counts as far as the recorded work shows it",
                        idle.text);
}

/* "rank 3 began later, by 15.0 s: step 10 left out". */
static tl_phrase other_window_in_words(const total *t, const char *how)
{
    const tl_phrase others =
        t->nranks > 1 ? tl_phrase_of(", and %zu other%s by less", t->nranks - 1, tl_plural((int64_t)t->nranks - 1))
                      : (tl_phrase){ "" };
    return tl_phrase_of("rank %" PRId32 " %s, by %s%s%s%s%s", t->worst, how, tl_duration(t->worst_ns).text, others.text,
                        t->nsteps > 0 ? ": " : "", t->steps.text, t->nsteps > 0 ? " left out" : "");
}

bool tl_health_in_words(const tl_table *health, tl_defect defect, tl_phrase *out)
{
    const total t = sum_rows(health, defect);
    switch (defect) {
    case TL_DEFECT_LOST:
    case TL_DEFECT_LOST_AT_BEGIN:
    case TL_DEFECT_LOST_AT_END:
        *out = lost_in_words(&t, defect == TL_DEFECT_LOST_AT_END);
        break;
    case TL_DEFECT_BEGINS_LATER:
        *out = other_window_in_words(&t, "began later");
        break;
    case TL_DEFECT_ENDS_EARLIER:
        *out = other_window_in_words(&t, "ended earlier");
        break;
    case TL_DEFECT_NOT_WHOLE:
        *out = tl_phrase_of("%s %s not whole on all ranks: the table of ranks and what is lost are of the other steps",
                            t.steps.text, t.nsteps > 1 ? "are" : "is");
        break;
    case TL_DEFECT_NO_LAUNCH:
        *out = tl_phrase_of("%" PRId64 " of %" PRId64 " pieces of device work of %s have no launch in the trace: what "
                            "released them is unknown",
                            t.count, t.of, t.ranks.text);
        break;
    case TL_NDEFECTS:
        break;
    }
    return t.nranks > 0;
}
