/* quality.c - table quality: checks that show how far the matching can be trusted.
 *
 * Each check has a count of cases, the total, and, for times, the worst case.  If a check that should be 0 is not,
 * tlmpi has a fault or traces contradict each other.
 */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>

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
    if (c->n > 1 && !tl_is_loose((tl_collective)c->kind) && (fits || c->suspect == TL_SUSPECT_ENDS))
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
}

static void quality_fold(tl_tables *out)
{
    const tl_table *collectives = tl_tables_get(out, &tl_collective_row_schema);
    const tl_table *arrivals = tl_tables_get(out, &tl_arrival_schema);
    tl_quality rows[TL_NCHECKS];

    for (int c = 0; c < TL_NCHECKS; c++)
        rows[c] = (tl_quality){ .check = (uint8_t)c };
    for (size_t i = 0; i < collectives->n; i++)
        check_collective(rows, tl_table_row(collectives, i));
    for (size_t i = 0, c = 0; i < arrivals->n; i++) { /* both tables ascend by collective */
        const tl_arrival *a = tl_table_row(arrivals, i);
        while (c < collectives->n &&
               ((const tl_collective_row *)tl_table_row(collectives, c))->collective < a->collective)
            c++;
        const tl_collective_row *of = c < collectives->n ? tl_table_row(collectives, c) : NULL;
        check_arrival(rows, a, of != NULL && of->collective == a->collective && tl_is_loose((tl_collective)of->kind));
    }
    tl_table_append(tl_tables_get(out, &tl_quality_schema), rows, TL_NCHECKS);
}

/* Fills the checks of clocks, and takes back what lies outside of steps where no rank has any. */
static void check_job(tl_quality rows[TL_NCHECKS], tl_tables *job)
{
    const tl_table *clocks = tl_tables_get(job, &tl_clock_schema);
    int32_t highest = -1;

    TL_ROWS (const tl_clock, c, clocks) {
        int64_t offset = llabs(c->offset_ns);
        add_case(&rows[TL_CHECK_CLOCKS], c->clock > highest, 0);
        highest = c->clock > highest ? c->clock : highest;
        rows[TL_CHECK_CLOCKS].worst_ns = tl_ns_max(rows[TL_CHECK_CLOCKS].worst_ns, offset);
        add_case(&rows[TL_CHECK_SHIFTED], c->applied != 0, offset);
    }
    if (tl_tables_get(job, &tl_step_schema)->n == 0)
        rows[TL_CHECK_UNSTEPPED].count = 0;
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
        const tl_quality row = { .check = (uint8_t)c };
        tl_table_append(table, &row, 1);
    }
    tl_table_unite(table, 0, add_row);
    check_job(tl_table_row(table, 0), job);
}

const tl_analysis tl_quality_analysis = { .fold = quality_fold, .reduce = quality_reduce };
