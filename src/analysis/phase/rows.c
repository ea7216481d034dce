/* rows.c - the rows of phase_verdict: the answer for the job, and what was found, each with its reason in words. */
#include "tlmpi/analysis/phase/rows.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct words {
    char text[sizeof((tl_phase_verdict *)0)->reason];
} words;

static void put_reason(tl_phase_verdict *row, const words *w)
{
    tl_cell_text(row->reason, sizeof row->reason, w->text, strlen(w->text));
}

static bool is_outside(const tl_phase_found *f, uint32_t column)
{
    return column == 2 * f->nphases;
}

static const char *name_of(const tl_phase_found *f, uint32_t column)
{
    return is_outside(f, column)   ? "time outside of phases"
           : column < f->ncolumns  ? f->titles[column % f->nphases].text
           : column == f->ncolumns ? "waits in Kineto traces"
                                   : "";
}

#define TL_NS_IN_MS 1000000

static double ms(int64_t ns, uint32_t steps)
{
    return (double)ns / steps / (double)TL_NS_IN_MS;
}

static void explain(const tl_phase_found *f, const tl_phase_unit *unit, const tl_phase_reading *r, words *w)
{
    double longer = ms(unit->late_ns, unit->nup), shorter = ms(r->shorter_ns, unit->nup);
    const char *in = name_of(f, r->in);
    switch (r->answer) {
    case TL_PHASE_STRAGGLER:
        if (r->in == f->ncolumns)
            snprintf(w->text, sizeof w->text, "%.3g ms a step longer, waits taken off; the others wait %.3g ms longer",
                     longer, shorter);
        else if (r->by_history)
            snprintf(w->text, sizeof w->text,
                     "%.3g ms a step longer; as long as that lasts, the others are longer in %s, and as short as it "
                     "elsewhere",
                     longer, in);
        else
            snprintf(w->text, sizeof w->text,
                     "%.3g ms a step longer here, %.3g ms shorter in %s, where collectives level the ranks", longer,
                     shorter, in);
        break;
    case TL_PHASE_WAITING:
        snprintf(w->text, sizeof w->text,
                 "%.3g ms a step longer here, %.3g ms shorter in %s: it is early, and waits for the others", longer,
                 shorter, in);
        break;
    case TL_PHASE_OPEN:
        snprintf(w->text, sizeof w->text,
                 "%.3g ms a step longer here, %.3g ms shorter in %s: durations do not tell in which of both it, or the "
                 "others, wait; capture a Kineto window",
                 longer, shorter, in);
        break;
    case TL_PHASE_CHEAP:
        snprintf(w->text, sizeof w->text, "%.3g ms a step longer, but another rank is nearly as late", longer);
        break;
    case TL_PHASE_LONGER:
        snprintf(
            w->text, sizeof w->text,
            "%.3g ms a step longer, and in no phase as much shorter: nothing recorded shows that others wait for it",
            longer);
        break;
    case TL_PHASE_NOBODY:
    case TL_PHASE_ONE_RANK:
        break;
    }
}

static tl_confidence confidence_of(const tl_phase_found *f, const tl_phase_unit *unit, const tl_phase_reading *r)
{
    if (r->answer == TL_PHASE_OPEN || r->answer == TL_PHASE_LONGER)
        return TL_CONFIDENCE_LOW;
    bool doubt = unit->n < TL_PATTERN_LEAST_STEPS || f->nranks < (size_t)TL_SPREAD_LEAST || r->by_history;
    return doubt ? TL_CONFIDENCE_MEDIUM : TL_CONFIDENCE_HIGH;
}

/* Outside of phases only whoever is waited for is told: that somebody waits there is nothing new. */
static bool is_told(const tl_phase_found *f, size_t u)
{
    return !is_outside(f, f->units[u].phase) || f->readings[u].answer == TL_PHASE_STRAGGLER ||
           f->readings[u].answer == TL_PHASE_CHEAP;
}

static tl_phase_verdict row_of(const tl_phase_found *f, size_t u)
{
    const tl_phase_unit *unit = &f->units[u];
    const tl_phase_reading *r = &f->readings[u];
    tl_phase_verdict row = { .rank = unit->rank,
                             .verdict = (uint8_t)r->answer,
                             .excess_ns = unit->late_ns,
                             .nwaiters = r->nwaiters,
                             .waited_ns = r->waited_ns,
                             .pattern = unit->pattern,
                             .first_step = f->steps[unit->first],
                             .last_step = f->steps[unit->last],
                             .steps_flagged = unit->nup,
                             .steps = unit->n,
                             .z = unit->z,
                             .p_value = unit->p,
                             .cost_ns = unit->cost_ns,
                             .time_ns = unit->time_ns,
                             .confidence = (uint8_t)confidence_of(f, unit, r) };
    int64_t all_ns = 0;
    for (size_t i = 0; i < f->nunits; i++)
        all_ns = tl_ns_sum(all_ns, f->units[i].rank == unit->rank && is_told(f, i) ? f->units[i].late_ns : 0);
    row.share = all_ns > 0 ? (double)unit->late_ns / (double)all_ns : 0;
    const char *name = name_of(f, unit->phase), *in = name_of(f, r->in);
    tl_cell_text(row.phase, sizeof row.phase, name, strlen(name));
    tl_cell_text(row.waits_in, sizeof row.waits_in, in, strlen(in));
    words w = { "" };
    explain(f, unit, r, &w);
    put_reason(&row, &w);
    return row;
}

/* The phase that hides most: it holds, or may hold, collectives, and nobody is found in it; UINT32_MAX: none, or
 * collectives are phases of their own. */
static uint32_t hiding(const tl_phase_found *f)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t c = 0; c < f->nphases; c++) {
        bool compared = f->norms[c].ranks > 1;
        if (compared && f->holds[c] == TL_HOLDS_ONLY)
            return UINT32_MAX;
        bool found = !compared || f->holds[c] == TL_HOLDS_NONE;
        for (size_t u = 0; u < f->nunits; u++)
            found = found || f->units[u].phase == c;
        if (!found && (best == UINT32_MAX || f->holds[c] > f->holds[best]))
            best = c;
    }
    return best;
}

static void say_hidden(const tl_phase_found *f, uint32_t column, int64_t time_ns, words *w)
{
    double step_ns = (double)time_ns / (double)f->nsteps, widest = f->norms[column].widest;
    const char *name = name_of(f, column);
    if (widest >= TL_VERDICT_LEAST_COST * step_ns)
        snprintf(w->text, sizeof w->text,
                 "ranks differ by up to %.3g ms a step in %s, and nothing recorded shows that others wait for one of "
                 "them; capture a Kineto window",
                 widest / (double)TL_NS_IN_MS, name);
    else if (f->holds[column] == TL_HOLDS_SOME)
        snprintf(
            w->text, sizeof w->text,
            "%s equal on all ranks: collectives in it, of which its name speaks, hide who is slow; capture a Kineto "
            "window",
            name);
    else
        snprintf(w->text, sizeof w->text,
                 "%s takes no rank longer: should it hold a collective, that hides who is slow; then capture a Kineto "
                 "window",
                 name);
}

/* The answer for the job; first: the first straggler's row, NULL without one. */
static tl_phase_verdict job_row(const tl_phase_found *f, const tl_phase_verdict *first, bool open)
{
    tl_phase_verdict row = { .rank = -1, .first_step = -1, .last_step = -1, .z = NAN, .p_value = NAN };
    uint32_t hides = hiding(f);
    words w = { "" };

    if (first != NULL)
        row = *first;
    row.cost_ns = f->cost_ns;
    row.steps = (int64_t)f->nsteps;
    row.time_ns = 0;
    for (size_t s = 0; s < f->nsteps; s++)
        row.time_ns = tl_ns_add(row.time_ns, f->step_ns[s]);
    if (first != NULL)
        return row;
    row.verdict = (uint8_t)(f->nranks < 2 ? TL_PHASE_ONE_RANK : open ? TL_PHASE_OPEN : TL_PHASE_NOBODY);
    bool blind = open || f->nranks < 2 || f->nsteps < 2 || hides != UINT32_MAX;
    bool few = f->nranks < (size_t)TL_SPREAD_LEAST; /* of two any may have its turn */
    row.confidence = (uint8_t)(blind ? TL_CONFIDENCE_LOW : few ? TL_CONFIDENCE_MEDIUM : TL_CONFIDENCE_HIGH);
    if (f->nranks < 2)
        snprintf(w.text, sizeof w.text, "one rank alone: there is none to compare with");
    else if (f->nsteps < 2)
        snprintf(w.text, sizeof w.text, "one step: nobody can be told from chance");
    else if (open)
        snprintf(w.text, sizeof w.text,
                 "a rank is longer in one phase and shorter in another, and durations do not tell who waits; capture a "
                 "Kineto window");
    else if (hides != UINT32_MAX)
        say_hidden(f, hides, row.time_ns, &w);
    put_reason(&row, &w);
    return row;
}

static int by_weight(const void *rows, uint32_t a, uint32_t b)
{
    const tl_phase_verdict *x = (const tl_phase_verdict *)rows + a, *y = (const tl_phase_verdict *)rows + b;
    bool named_x = x->verdict == TL_PHASE_STRAGGLER, named_y = y->verdict == TL_PHASE_STRAGGLER;
    if (named_x != named_y)
        return named_x ? -1 : 1;
    return x->cost_ns != y->cost_ns ? TL_COMPARE(y->cost_ns, x->cost_ns) : TL_COMPARE(y->excess_ns, x->excess_ns);
}

bool tl_phase_verdict_rows(const tl_phase_found *f, tl_table *table)
{
    tl_phase_verdict *rows = tl_calloc(f->nunits + 1, sizeof *rows);
    uint32_t *order = tl_calloc(f->nunits + 1, sizeof *order);
    bool ok = rows != NULL && order != NULL, open = false;
    size_t n = 0;

    for (size_t u = 0; ok && u < f->nunits; u++) {
        if (!is_told(f, u))
            continue;
        rows[n] = row_of(f, u);
        order[n] = (uint32_t)n;
        open = open || rows[n++].verdict == TL_PHASE_OPEN;
    }
    ok = ok && tl_sort_index(order, n, by_weight, rows);
    if (ok) {
        const tl_phase_verdict *first = n > 0 ? &rows[order[0]] : NULL;
        bool named = first != NULL && first->verdict == TL_PHASE_STRAGGLER;
        tl_phase_verdict job = job_row(f, named ? first : NULL, open);
        ok = tl_table_append(table, &job, 1);
    }
    for (size_t i = 0; ok && i < n; i++) {
        rows[order[i]].place = (int32_t)i + 1;
        ok = tl_table_append(table, &rows[order[i]], 1);
    }
    free(rows);
    free(order);
    return ok;
}
