/* steps.c - the columns of a heat map: steps, or runs of equally many of them. */
#include "heat.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <inttypes.h>
#include <stdlib.h>

void tl_heat_steps_init(tl_heat_steps *s, size_t nsteps)
{
    *s = (tl_heat_steps){ .nsteps = nsteps };
    s->run = nsteps > TL_HEAT_COLUMNS ? (nsteps + TL_HEAT_COLUMNS - 1) / TL_HEAT_COLUMNS : 1;
    s->n = (nsteps + s->run - 1) / s->run;
    s->columns = tl_calloc(s->n + 1, sizeof *s->columns);
    for (size_t c = 0; c < s->n; c++)
        s->columns[c] = (tl_heat_column){ INT32_MAX, INT32_MIN };
}

void tl_heat_steps_free(tl_heat_steps *s)
{
    free(s->columns);
    *s = (tl_heat_steps){ 0 };
}

bool tl_heat_steps_fills(const tl_heat_steps *s, int32_t step)
{
    return s->seen > 0 && step != s->step && s->seen % s->run == 0 && s->seen / s->run < s->n;
}

void tl_heat_steps_enter(tl_heat_steps *s, int32_t step)
{
    if (s->n == 0 || (s->seen > 0 && s->step == step))
        return;
    s->seen++;
    s->step = step;
    tl_heat_column *c = &s->columns[tl_heat_steps_now(s)];
    c->first = step < c->first ? step : c->first;
    c->last = step > c->last ? step : c->last;
}

size_t tl_heat_steps_now(const tl_heat_steps *s)
{
    size_t at = s->seen > 0 ? (s->seen - 1) / s->run : 0;
    return at < s->n ? at : s->n - 1; /* where more steps come than were told */
}

size_t tl_heat_steps_of(const tl_heat_steps *s, int32_t step)
{
    size_t at = 0;
    TL_BISECT(at, s->n, mid, s->columns[mid].last < step);
    return at;
}

tl_steps_word tl_steps_of_column(const tl_heat_steps *s, size_t column)
{
    const tl_heat_column *c = &s->columns[column];
    tl_steps_word word;
    if (c->first == -1 && c->last == -1)
        snprintf(word.text, sizeof word.text, "the whole trace");
    else if (c->first == c->last)
        snprintf(word.text, sizeof word.text, "step %" PRId32, c->first);
    else
        snprintf(word.text, sizeof word.text, "steps %" PRId32 "-%" PRId32, c->first, c->last);
    return word;
}
