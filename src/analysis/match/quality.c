/* quality.c - table quality: checks that show how far the matching can be trusted.
 *
 * Each check has a count of cases, the total, and, for times, the worst case.  If a check that should be 0 is not,
 * tlmpi has a fault or traces contradict each other.
 */
#include "tlmpi/analysis/match.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>
#include <string.h>

static const char *const meanings[TL_NCHECKS] = {
    [TL_CHECK_MATCHED] = "two ranks or more, nobody with a trace is missing, nothing is suspect",
    [TL_CHECK_PARTIAL] = "some of its ranks have no trace here",
    [TL_CHECK_MISSING] = "a rank that has a trace is not there: cut windows, lost events or a desync",
    [TL_CHECK_UNMATCHED] = "one rank alone, though others of its group have a trace",
    [TL_CHECK_KIND] = "ranks ran different collectives: left out of verdicts",
    [TL_CHECK_DTYPE] = "ranks disagree on the type of the elements",
    [TL_CHECK_SIZE] = "ranks disagree on the size of the message",
    [TL_CHECK_TWICE] = "a rank takes part twice",
    [TL_CHECK_WAIT] = "a rank was done before another had come",
    [TL_CHECK_ENDS] = "ranks did not end together",
    [TL_CHECK_BY_SEQ] = "ranks in collectives, matched by sequence number",
    [TL_CHECK_BY_LAUNCH] = "matched by order of launch in the step",
    [TL_CHECK_BY_ENDTIME] = "matched because they ended together",
    [TL_CHECK_BY_PAIR] = "sends and receives, matched by sender, receiver and order",
    [TL_CHECK_ALONE] = "not matched with another rank",
    [TL_CHECK_PAST_OWN_END] =
        "ranks done before the last had come to a synchronising collective, their wait cut there; worst: by how much",
    [TL_CHECK_BEFORE_LAUNCH] = "work of devices that seems to start before its launch; worst: by how much",
    [TL_CHECK_TOO_FEW_STEPS] =
        "steps that are judged, where they are less than 5: too few for a p_value to carry a verdict alone",
    [TL_CHECK_END_TOGETHER] =
        "synchronising collectives whose ranks end together; worst: the largest distance of their ends",
    [TL_CHECK_INCONCLUSIVE] = "arrivals are closer together than the clocks can tell",
    [TL_CHECK_BALANCE] = "ns by which waits of ranks and of collectives differ in sum: 0",
    [TL_CHECK_CLOCKS] = "clocks of the job, of ranks; worst: the largest offset found",
    [TL_CHECK_SHIFTED] = "ranks whose times were shifted; worst: by how much",
    [TL_CHECK_INFERRED] = "groups that no metadata names",
    [TL_CHECK_UNCHARGED] =
        "ns waited where the clocks cannot tell who came last: charged to nobody; worst: in one collective",
    [TL_CHECK_CHARGED] = "ns waited for ranks that came late to collectives: table blame has for whom",
    [TL_CHECK_LATE_SENDER] =
        "ns that receivers waited for their senders: charged to nobody, as schedules make them wait",
    [TL_CHECK_LATE_RECEIVER] = "ns that senders waited for their receivers: likewise",
    [TL_CHECK_LATE_PARTNER] = "ns that one of two waited for the other, where both send and receive: likewise",
    [TL_CHECK_WAIT_SUSPECT] = "ns waited where something does not fit: charged to nobody",
    [TL_CHECK_BLAME] = "ns by which the charges in table blame and the waits of wait_late_rank differ in sum: 0",
    [TL_CHECK_TOO_LONG] =
        "work of devices with an end that cannot be, cut; worst: what was cut off one rank's (table rank, too_long)",
    [TL_CHECK_UNSTEPPED] =
        "matched collectives launched in no ProfilerStep, where there are any: no verdict is on them",
};

static tl_quality row_of(int check)
{
    tl_quality row = { .check = (uint8_t)check };
    tl_cell_text(row.meaning, sizeof row.meaning, meanings[check], strlen(meanings[check]));
    return row;
}

static void add_case(tl_quality *row, bool holds, int64_t ns)
{
    row->of++;
    row->count += holds;
    row->worst_ns = holds ? tl_ns_max(row->worst_ns, ns) : row->worst_ns;
}

/* The check that counts waits of a kind; TL_NCHECKS: a single member has no other to wait for. */
static const uint8_t check_of_wait[] = {
    [TL_WAIT_NONE] = TL_NCHECKS,
    [TL_WAIT_LATE_RANK] = TL_CHECK_CHARGED,
    [TL_WAIT_LATE_SENDER] = TL_CHECK_LATE_SENDER,
    [TL_WAIT_LATE_RECEIVER] = TL_CHECK_LATE_RECEIVER,
    [TL_WAIT_LATE_PARTNER] = TL_CHECK_LATE_PARTNER,
    [TL_WAIT_INCONCLUSIVE] = TL_CHECK_UNCHARGED,
    [TL_WAIT_SUSPECT] = TL_CHECK_WAIT_SUSPECT,
};

static void check_collective(tl_quality rows[TL_NCHECKS], const tl_collective_row *c)
{
    bool fits = c->suspect == TL_SUSPECT_NOTHING;
    bool matched = fits && c->n > 1 && c->state != TL_COLL_MISSING;

    add_case(&rows[TL_CHECK_MATCHED], matched, 0);
    add_case(&rows[TL_CHECK_PARTIAL], c->state == TL_COLL_PARTIAL, 0);
    add_case(&rows[TL_CHECK_MISSING], c->state == TL_COLL_MISSING, 0);
    add_case(&rows[TL_CHECK_UNMATCHED], c->state == TL_COLL_UNMATCHED, 0);
    for (int s = TL_SUSPECT_KIND; s <= TL_SUSPECT_ENDS; s++)
        add_case(&rows[TL_CHECK_KIND + s - TL_SUSPECT_KIND], c->suspect == s,
                 c->suspect == TL_SUSPECT_ENDS ? c->end_spread_ns : 0);
    if (c->n > 1 && !c->loose && (fits || c->suspect == TL_SUSPECT_ENDS))
        add_case(&rows[TL_CHECK_END_TOGETHER], fits, c->end_spread_ns);
    if (matched) {
        add_case(&rows[TL_CHECK_INCONCLUSIVE], c->skew_class == TL_SKEW_INCONCLUSIVE, 0);
        add_case(&rows[TL_CHECK_UNSTEPPED], c->step < 0, 0);
    }
    for (int check = TL_CHECK_UNCHARGED; check <= TL_CHECK_WAIT_SUSPECT; check++) {
        if (check == check_of_wait[c->wait_state]) {
            rows[check].count = tl_ns_sum(rows[check].count, c->wait_sum_ns);
            rows[check].worst_ns = tl_ns_max(rows[check].worst_ns, c->wait_sum_ns);
        }
        rows[check].of = tl_ns_sum(rows[check].of, c->wait_sum_ns);
    }
    rows[TL_CHECK_BALANCE].count = tl_ns_sum(rows[TL_CHECK_BALANCE].count, c->wait_sum_ns);
}

/* Adds one arrival to the checks; loose: ranks may leave its collective before all have come. */
static void check_arrival(tl_quality rows[TL_NCHECKS], const tl_arrival *a, bool loose)
{
    static const uint8_t check_of_rule[] = { [TL_BY_NOTHING] = TL_CHECK_ALONE,
                                             [TL_BY_SEQ] = TL_CHECK_BY_SEQ,
                                             [TL_BY_LAUNCH] = TL_CHECK_BY_LAUNCH,
                                             [TL_BY_ENDTIME] = TL_CHECK_BY_ENDTIME,
                                             [TL_BY_PAIR] = TL_CHECK_BY_PAIR };
    for (int rule = TL_BY_NOTHING; rule <= TL_BY_PAIR; rule++)
        add_case(&rows[check_of_rule[rule]], a->match_rule == rule, 0);
    if (!loose)
        add_case(&rows[TL_CHECK_PAST_OWN_END], a->lead_ns > a->wait_ns, a->lead_ns - a->wait_ns);
    rows[TL_CHECK_BALANCE].of = tl_ns_sum(rows[TL_CHECK_BALANCE].of, a->wait_ns);
}

static void quality_fold(tl_tables *out)
{
    const tl_table *collectives = tl_tables_get(out, &tl_collective_row_schema);
    const tl_table *arrivals = tl_tables_get(out, &tl_arrival_schema);
    tl_quality rows[TL_NCHECKS];

    for (int c = 0; c < TL_NCHECKS; c++)
        rows[c] = row_of(c);
    for (size_t i = 0; i < collectives->n; i++)
        check_collective(rows, tl_table_row(collectives, i));
    for (size_t i = 0, c = 0; i < arrivals->n; i++) { /* both tables ascend by collective */
        const tl_arrival *a = tl_table_row(arrivals, i);
        while (c < collectives->n &&
               ((const tl_collective_row *)tl_table_row(collectives, c))->collective < a->collective)
            c++;
        const tl_collective_row *of = c < collectives->n ? tl_table_row(collectives, c) : NULL;
        check_arrival(rows, a, of != NULL && of->collective == a->collective && of->loose);
    }
    rows[TL_CHECK_BALANCE].count = llabs(tl_ns_between(rows[TL_CHECK_BALANCE].count, rows[TL_CHECK_BALANCE].of));
    tl_table_append(tl_tables_get(out, &tl_quality_schema), rows, TL_NCHECKS);
}

/* Compares the sum of delay costs in table blame with the sum of charged waits. */
static void check_blame(tl_quality rows[TL_NCHECKS], const tl_table *blame)
{
    tl_quality *row = &rows[TL_CHECK_BLAME];
    row->of = rows[TL_CHECK_CHARGED].count;
    int64_t counted = 0;
    for (size_t i = 0; i < blame->n; i++) {
        const tl_blame *cost = tl_table_row(blame, i);
        counted = tl_ns_sum(counted, tl_ns_sum(cost->direct_ns, cost->indirect_ns));
    }
    row->count = llabs(tl_ns_between(counted, row->of));
}

/* Fills the checks that need the tables of clocks, ranks, steps and groups. */
static void check_job(tl_quality rows[TL_NCHECKS], tl_tables *job)
{
    const tl_table *clocks = tl_tables_get(job, &tl_clock_schema), *groups = tl_tables_get(job, &tl_group_row_schema);
    int32_t highest = -1;

    for (size_t i = 0; i < clocks->n; i++) {
        const tl_clock *c = tl_table_row(clocks, i);
        int64_t offset = llabs(c->offset_ns);
        add_case(&rows[TL_CHECK_CLOCKS], c->clock > highest, 0);
        highest = c->clock > highest ? c->clock : highest;
        rows[TL_CHECK_CLOCKS].worst_ns = tl_ns_max(rows[TL_CHECK_CLOCKS].worst_ns, offset);
        add_case(&rows[TL_CHECK_SHIFTED], c->applied != 0, offset);
    }
    tl_quality *before_launch = &rows[TL_CHECK_BEFORE_LAUNCH];
    tl_quality *too_long = &rows[TL_CHECK_TOO_LONG];
    const tl_table *ranks = tl_tables_get(job, &tl_rank_schema);
    TL_ROWS (const tl_rank, r, ranks) {
        before_launch->count += r->before_launch;
        before_launch->of += r->intervals - r->no_launch;
        before_launch->worst_ns = tl_ns_max(before_launch->worst_ns, r->before_launch_ns);
        too_long->count += r->too_long;
        too_long->of += r->intervals;
        too_long->worst_ns = tl_ns_max(too_long->worst_ns, r->too_long_ns);
    }
    /* Every rank has the same steps: the first rank's are counted. */
    tl_quality *too_few = &rows[TL_CHECK_TOO_FEW_STEPS];
    const tl_table *steps = tl_tables_get(job, &tl_blame_step_schema);
    const tl_blame_step *first = steps->n > 0 ? tl_table_row(steps, 0) : NULL;
    for (size_t i = 0; i < steps->n; i++) {
        const tl_blame_step *s = tl_table_row(steps, i);
        too_few->of += s->rank == first->rank;
    }
    too_few->count = too_few->of < (int64_t)TL_PATTERN_LEAST ? too_few->of : 0;
    if (tl_tables_get(job, &tl_step_schema)->n == 0)
        rows[TL_CHECK_UNSTEPPED].count = 0;
    for (size_t i = 0; i < groups->n; i++)
        add_case(&rows[TL_CHECK_INFERRED], ((const tl_group_row *)tl_table_row(groups, i))->inferred != 0, 0);
}

static void add_row(void *to, const void *of)
{
    tl_quality *sum = to;
    const tl_quality *row = of;
    sum->count = tl_ns_sum(sum->count, row->count);
    sum->of = tl_ns_sum(sum->of, row->of);
    sum->worst_ns = tl_ns_max(sum->worst_ns, row->worst_ns);
}

static void quality_reduce(tl_tables *job)
{
    tl_table *table = tl_tables_get(job, &tl_quality_schema);

    for (int c = 0; c < TL_NCHECKS; c++) { /* each check has a row, even without collectives */
        const tl_quality row = row_of(c);
        tl_table_append(table, &row, 1);
    }
    tl_table_unite(table, 0, add_row);
    check_job(tl_table_row(table, 0), job);
    check_blame(tl_table_row(table, 0), tl_tables_get(job, &tl_blame_schema));
}

const tl_analysis tl_quality_analysis = {
    .name = "quality",
    .question = "How far can the matching of collectives be trusted?",
    .tables = TL_SCHEMAS(&tl_quality_schema),
    .fold = quality_fold,
    .reduce = quality_reduce,
};
