/* quality.c - how far can the matching be trusted?
 *
 * Counts, each of how many, and the worst case where it is a time.  What should be 0 and is not is a fault of ours, or
 * shows that the traces contradict each other.
 */
#include "tlmpi/analysis/analysis.h"
#include "tlmpi/base/stats.h"
#include <string.h>

typedef enum check {
    MATCHED,
    PARTIAL,
    MISSING,
    UNMATCHED,
    SUSPECT_KIND,
    SUSPECT_DTYPE,
    SUSPECT_SIZE,
    SUSPECT_TWICE,
    SUSPECT_WAIT,
    SUSPECT_ENDS,
    BY_SEQ,
    BY_LAUNCH,
    BY_ENDTIME,
    BY_PAIR,
    ALONE,
    ENDS,
    PAST_OWN_END,
    INCONCLUSIVE,
    BALANCE,
    BEFORE_LAUNCH,
    CLOCKS,
    SHIFTED,
    INFERRED,
    NCHECKS
} check;

static const struct {
    const char *name, *meaning;
} checks[NCHECKS] = {
    [MATCHED] = { "collective_matched", "two ranks or more, nobody with a trace is missing, nothing is suspect" },
    [PARTIAL] = { "collective_partial", "some of its ranks have no trace here" },
    [MISSING] = { "collective_missing", "a rank that has a trace is not there: cut windows, lost events or a desync" },
    [UNMATCHED] = { "collective_unmatched", "one rank alone, though others of its group have a trace" },
    [SUSPECT_KIND] = { "suspect_kind", "ranks ran different collectives: left out of verdicts" },
    [SUSPECT_DTYPE] = { "suspect_dtype", "ranks disagree on the type of the elements" },
    [SUSPECT_SIZE] = { "suspect_size", "ranks disagree on the size of the message" },
    [SUSPECT_TWICE] = { "suspect_twice", "a rank takes part twice" },
    [SUSPECT_WAIT] = { "suspect_wait", "a rank was done before another had come" },
    [SUSPECT_ENDS] = { "suspect_ends", "ranks did not end together" },
    [BY_SEQ] = { "arrival_by_seq", "ranks in collectives, matched by sequence number" },
    [BY_LAUNCH] = { "arrival_by_launch", "matched by order of launch in the step" },
    [BY_ENDTIME] = { "arrival_by_endtime", "matched because they ended together" },
    [BY_PAIR] = { "arrival_by_pair", "sends and receives, matched by sender, receiver and order" },
    [ALONE] = { "arrival_alone", "not matched with another rank" },
    [ENDS] = { "ends_agree",
               "synchronising collectives whose ranks end together; worst: the largest distance of their ends" },
    [PAST_OWN_END] = { "wait_past_own_end",
                       "ranks done before the last had come, their wait cut there; worst: by how much" },
    [INCONCLUSIVE] = { "inconclusive", "arrivals are closer together than the clocks can tell" },
    [BALANCE] = { "wait_balance", "ns by which waits of ranks and of collectives differ in sum: 0" },
    [BEFORE_LAUNCH] = { "kernel_before_launch", "kernels that seem to start before their launch; worst: by how much" },
    [CLOCKS] = { "clocks", "clocks of the job, of ranks; worst: the largest offset found" },
    [SHIFTED] = { "clocks_applied", "ranks whose times were shifted; worst: by how much" },
    [INFERRED] = { "group_inferred", "groups that no metadata names" },
};

static tl_quality row_of(check c)
{
    tl_quality row = { 0 };
    tl_cell_text(row.check, sizeof row.check, checks[c].name, strlen(checks[c].name));
    tl_cell_text(row.meaning, sizeof row.meaning, checks[c].meaning, strlen(checks[c].meaning));
    return row;
}

static void add(tl_quality *row, bool holds, int64_t ns)
{
    row->of++;
    row->count += holds;
    if (holds && ns > row->worst_ns)
        row->worst_ns = ns;
}

static void look_at_collective(tl_quality rows[NCHECKS], const tl_collective_row *c)
{
    static const check suspects[] = {
        [TL_SUSPECT_KIND] = SUSPECT_KIND,   [TL_SUSPECT_DTYPE] = SUSPECT_DTYPE, [TL_SUSPECT_SIZE] = SUSPECT_SIZE,
        [TL_SUSPECT_TWICE] = SUSPECT_TWICE, [TL_SUSPECT_WAIT] = SUSPECT_WAIT,   [TL_SUSPECT_ENDS] = SUSPECT_ENDS,
    };
    bool fits = c->suspect == TL_SUSPECT_NOTHING;

    add(&rows[MATCHED], fits && c->n > 1 && c->state != TL_COLL_MISSING, 0);
    add(&rows[PARTIAL], c->state == TL_COLL_PARTIAL, 0);
    add(&rows[MISSING], c->state == TL_COLL_MISSING, 0);
    add(&rows[UNMATCHED], c->state == TL_COLL_UNMATCHED, 0);
    for (int s = TL_SUSPECT_KIND; s <= TL_SUSPECT_ENDS; s++)
        add(&rows[suspects[s]], c->suspect == s, c->suspect == TL_SUSPECT_ENDS ? c->end_spread_ns : 0);
    if (c->n > 1 && !c->loose && (fits || c->suspect == TL_SUSPECT_ENDS))
        add(&rows[ENDS], fits, c->end_spread_ns);
    if (c->n > 1)
        add(&rows[INCONCLUSIVE], c->skew_class == TL_SKEW_INCONCLUSIVE, 0);
    rows[BALANCE].count = tl_ns_sum(rows[BALANCE].count, c->wait_sum_ns);
}

static void look_at_arrival(tl_quality rows[NCHECKS], const tl_arrival *a)
{
    add(&rows[BY_SEQ], a->match_rule == TL_BY_SEQ, 0);
    add(&rows[BY_LAUNCH], a->match_rule == TL_BY_LAUNCH, 0);
    add(&rows[BY_ENDTIME], a->match_rule == TL_BY_ENDTIME, 0);
    add(&rows[BY_PAIR], a->match_rule == TL_BY_PAIR, 0);
    add(&rows[ALONE], a->match_rule == TL_BY_NOTHING, 0);
    add(&rows[PAST_OWN_END], a->lead_ns > a->wait_ns, a->lead_ns - a->wait_ns);
    rows[BALANCE].of = tl_ns_sum(rows[BALANCE].of, a->wait_ns);
}

static tl_status fold(tl_tables *out, tl_error *err)
{
    const tl_table *collectives = tl_tables_get(out, &tl_collective_row_schema);
    const tl_table *arrivals = tl_tables_get(out, &tl_arrival_schema);
    tl_quality rows[NCHECKS];

    for (check c = 0; c < NCHECKS; c++)
        rows[c] = row_of(c);
    for (size_t i = 0; i < collectives->n; i++)
        look_at_collective(rows, tl_table_row(collectives, i));
    for (size_t i = 0; i < arrivals->n; i++)
        look_at_arrival(rows, tl_table_row(arrivals, i));
    int64_t balance = tl_ns_between(rows[BALANCE].count, rows[BALANCE].of);
    rows[BALANCE].count = balance < 0 ? -balance : balance;
    return tl_table_append(tl_tables_get(out, &tl_quality_schema), rows, NCHECKS) ? TL_OK
                                                                                  : tl_fail_memory(err, "the quality");
}

/* What the tables of ranks and groups say. */
static void look_at_job(tl_quality rows[NCHECKS], tl_tables *job)
{
    const tl_table *clocks = tl_tables_get(job, &tl_clock_schema), *groups = tl_tables_get(job, &tl_group_row_schema);
    int32_t highest = -1;

    for (size_t i = 0; i < clocks->n; i++) {
        const tl_clock *c = tl_table_row(clocks, i);
        int64_t offset = c->offset_ns < 0 ? -c->offset_ns : c->offset_ns;
        add(&rows[CLOCKS], c->clock > highest, 0);
        highest = c->clock > highest ? c->clock : highest;
        rows[CLOCKS].worst_ns = offset > rows[CLOCKS].worst_ns ? offset : rows[CLOCKS].worst_ns;
        add(&rows[SHIFTED], c->applied != 0, offset);
        rows[BEFORE_LAUNCH].count += c->before_launch;
        if (c->before_launch_ns > rows[BEFORE_LAUNCH].worst_ns)
            rows[BEFORE_LAUNCH].worst_ns = c->before_launch_ns;
    }
    rows[BEFORE_LAUNCH].of = rows[BY_SEQ].of;
    for (size_t i = 0; i < groups->n; i++)
        add(&rows[INFERRED], ((const tl_group_row *)tl_table_row(groups, i))->inferred != 0, 0);
}

static tl_status reduce(tl_tables *job, tl_error *err)
{
    tl_table *table = tl_tables_get(job, &tl_quality_schema);
    tl_quality rows[NCHECKS];

    for (check c = 0; c < NCHECKS; c++) {
        rows[c] = row_of(c);
        for (size_t i = 0; i < table->n; i++) {
            const tl_quality *row = tl_table_row(table, i);
            if (memcmp(row->check, rows[c].check, sizeof row->check) != 0)
                continue;
            rows[c].count = tl_ns_sum(rows[c].count, row->count);
            rows[c].of = tl_ns_sum(rows[c].of, row->of);
            rows[c].worst_ns = row->worst_ns > rows[c].worst_ns ? row->worst_ns : rows[c].worst_ns;
        }
    }
    look_at_job(rows, job);
    table->n = 0;
    return tl_table_append(table, rows, NCHECKS) && tl_table_sort(table) ? TL_OK : tl_fail_memory(err, "the quality");
}

static const tl_schema *const tables[] = { &tl_quality_schema, NULL };

const tl_analysis tl_quality_analysis = {
    .name = "quality",
    .question = "How far can the matching of collectives be trusted?",
    .tables = tables,
    .fold = fold,
    .reduce = reduce,
};
