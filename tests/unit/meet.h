/* meet.h - collectives as text: who takes part when, a microsecond a column.
 *
 *     meeting *m = meet("0: AAAAAA..BBB",
 *                       "1: ...AAA..BBB", NULL);
 *
 * A run of a capital is the rank's part in the all-reduce of that letter, in group 0.  Every rank drawn has a trace,
 * all are on one clock, and the group is all of them.
 */
#ifndef TLMPI_TESTS_MEET_H
#define TLMPI_TESTS_MEET_H

#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/table.h"

#ifndef US
#define US INT64_C(1000)
#endif

typedef struct meeting {
    tl_participant participants[64];   size_t nparticipants;
    tl_rank_clock ranks[16];
    tl_group_fact group;
    tl_job_facts facts;
    tl_tables out;              /* one table for each schema of the registry */
} meeting;

meeting *meet(const char *line, ...);
void meeting_free(meeting *m);

/* Sorts the parts and runs all analyses over the collectives, in order of time. */
void meeting_analyse(meeting *m);

/* Row i of the tables of collectives and arrivals. */
tl_collective_row *meeting_collective(meeting *m, size_t i);
tl_arrival *meeting_arrival(meeting *m, size_t i);

#endif
