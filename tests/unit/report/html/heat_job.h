/* heat_job.h - a heat map, filled from a drawing: a line a rank, a column a step.
 *
 *     "0 + - ."    0: as its peers; 1 to 9: so many times 10 % longer; a to i: so many times 10 % shorter; .: no record
 */
#ifndef TESTS_UNIT_HEAT_JOB_H
#define TESTS_UNIT_HEAT_JOB_H

#include "src/report/html/heat.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/tables.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

typedef struct heat_job {
    tl_heat_steps steps;
    tl_heat heat;
    int32_t *ranks;
} heat_job;

/* Ranks from 0 on. */
static inline heat_job *new_heat(size_t nranks, size_t nsteps)
{
    heat_job *j = calloc(1, sizeof *j);
    j->ranks = calloc(nranks + 1, sizeof *j->ranks);
    for (size_t i = 0; i < nranks; i++)
        j->ranks[i] = (int32_t)i;
    tl_heat_steps_init(&j->steps, nsteps);
    tl_heat_init(&j->heat, &j->steps, j->ranks, nranks);
    return j;
}

/* A row of a step that has been added. */
static inline void add_row(heat_job *j, size_t rank, int32_t step, int64_t part_ns, int64_t whole_ns, bool late)
{
    tl_heat_add(&j->heat, rank, tl_heat_steps_of(&j->steps, step), part_ns, whole_ns, late);
}

static inline void free_heat(heat_job *j)
{
    tl_heat_free(&j->heat);
    tl_heat_steps_free(&j->steps);
    free(j->ranks);
    free(j);
}

/* Of peers that take 1000 ns. */
static inline heat_job *drawn_heat(size_t nranks, const char *const *lines)
{
    size_t nsteps = strlen(lines[0]);
    heat_job *j = new_heat(nranks, nsteps);
    for (size_t s = 0; s < nsteps; s++) {
        tl_heat_steps_add(&j->steps, (int32_t)s + 1);
        for (size_t r = 0; r < nranks; r++) {
            char c = lines[r][s];
            int64_t tenths = c >= '0' && c <= '9' ? c - '0' : -(c - 'a' + 1);
            if (c != '.')
                add_row(j, r, (int32_t)s + 1, tenths * 100, 1000, false);
        }
    }
    tl_heat_end(&j->heat);
    return j;
}

static inline char *drawn_text(const tl_picture *picture)
{
    char *out = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&out, &size);
    tl_draw_heat(memory, picture);
    (void)fclose(memory);
    char *copy = tl_strndup(out, size);
    free(out);
    return copy;
}

static inline size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *p = strstr(text, word); p != NULL; p = strstr(p + 1, word))
        n++;
    return n;
}

#endif
