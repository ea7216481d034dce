/* meet.c - see meet.h. */
#include "meet.h"
#include "tlmpi/analysis/registry.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

static void draw_rank(meeting *m, const char *line)
{
    char *time;
    int32_t rank = (int32_t)strtol(line, &time, 10);

    m->ranks[m->facts.nranks++] = (tl_rank_clock){ .rank = rank };
    for (time++; *time == ' '; time++)
        ;
    for (size_t i = 0, to; time[i] != 0; i = to) {
        for (to = i + 1; time[to] == time[i]; to++)
            ;
        if (!isupper((unsigned char)time[i]))
            continue;
        m->participants[m->nparticipants] = (tl_participant){
            .key = (uint64_t)time[i],
            .start_ns = (int64_t)i * US,
            .end_ns = (int64_t)to * US,
            .launch_ns = TL_TIME_UNKNOWN,
            .seq = -1,
            .bytes = -1,
            .rank = rank,
            .step = -1,
            .nth = -1,
            .peer = -1,
            .uid = (uint32_t)m->nparticipants,
            .kind = TL_ALL_REDUCE,
            .rule = TL_BY_LAUNCH,
        };
        m->nparticipants++;
    }
}

meeting *meet(const char *line, ...)
{
    meeting *m = calloc(1, sizeof *m);
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    va_list more;

    if (m == NULL)
        abort();
    tl_tables_init(&m->out, schemas, n);
    va_start(more, line);
    for (; line != NULL; line = va_arg(more, const char *))
        draw_rank(m, line);
    va_end(more);
    m->group = (tl_group_fact){ .size = (int32_t)m->facts.nranks, .seen = (int32_t)m->facts.nranks };
    m->facts.ranks = m->ranks;
    m->facts.groups = &m->group;
    m->facts.ngroups = 1;
    return m;
}

void meeting_free(meeting *m)
{
    tl_tables_free(&m->out);
    free(m);
}

void meeting_analyse(meeting *m)
{
    tl_collective_run *runs = NULL;
    size_t n = 0;

    tl_participants_sort(m->participants, m->nparticipants);
    tl_runs_make(m->participants, m->nparticipants, &runs, &n);
    tl_runs_by_time(runs, n);
    for (size_t r = 0; r < n; r++) {
        tl_collective_view c = tl_collective_of_run(m->participants, &runs[r], &m->facts);
        c.number = (int64_t)r;
        for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++)
            if ((*a)->per_collective != NULL)
                (*a)->per_collective(&c, &m->out);
    }
    free(runs);
}

tl_collective_row *meeting_collective(meeting *m, size_t i)
{
    tl_table *table = tl_tables_get(&m->out, &tl_collective_row_schema);
    if (i >= table->n)
        abort();
    return tl_table_row(table, i);
}

tl_arrival *meeting_arrival(meeting *m, size_t i)
{
    tl_table *table = tl_tables_get(&m->out, &tl_arrival_schema);
    if (i >= table->n)
        abort();
    return tl_table_row(table, i);
}
