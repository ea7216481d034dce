/* test_summary_troubles.c - what is damaged, missing or cannot be trusted is said, and the numbers agree. */
#include "summary_job.h"

static void a_damaged_rank_is_marked_and_its_lost_events_are_counted(void)
{
    job *j = new_job();
    add_rank(j, 10, 10, 0, 0);
    tl_rank *bad = add_rank(j, 5, 10, 0, 0);
    bad->status = TL_RANK_CUT;
    bad->dropped = 12345;
    memset(bad->error, 'x', sizeof bad->error);
    tl_rank *gone = add_rank(j, 0, 0, 0, 0);
    gone->status = TL_RANK_UNREADABLE;
    memset(gone->host, 'h', sizeof gone->host); /* a full cell has no end */
    memset(gone->device_name, 'd', sizeof gone->device_name);

    char *text = summary_of(j);
    expect(text, "  cut\n", 1);
    expect(text, "     2         -       -       -        -       -       -       -  unreadable\n", 1);
    expect(text, "Events: 12 345 lost, 0 repaired (tlmpi check has each trace)\n", 1);
    expect(text, "xxx", 0);
    free(text);
    free(j);
}

static void no_device_work_is_a_fact(void)
{
    job *j = new_job();
    add_rank(j, 0, 0, 0, 0)->status = TL_RANK_NO_GPU;
    add_rank(j, 0, 0, 0, 0)->status = TL_RANK_NO_GPU;
    j->s.output = NULL;
    char *text = summary_of(j);
    expect(text, "No trace has device work: there is nothing to analyse.\n", 1);
    expect(text, "wall ms", 0);
    expect(text, "Largest loss", 0);
    expect(text, "rank 1", 0);
    expect(text, "Wrote", 0);
    free(text);
    free(j);
}

/* As a run has it: rows, of zeros. */
static tl_rank *add_idler(job *j)
{
    tl_rank *rank = add_rank(j, 0, 0, 0, 0);
    rank->status = TL_RANK_NO_GPU;
    if (j->of_rows.n == 0)
        j->of_rows.n = 1;
    j->rows[j->of_rows.n++] = (tl_breakdown){ .rank = rank->rank, .device = -1, .step = -1 };
    return rank;
}

static void rows_of_zeros_are_no_device_work_either(void)
{
    job *j = new_job();
    add_idler(j);
    add_idler(j);
    char *text = summary_of(j);
    expect(text, "No trace has device work: there is nothing to analyse.\n", 1);
    expect(text, "wall ms", 0);
    expect(text, "mean", 0);
    free(text);
    free(j);
}

static void durations_that_cannot_be_are_told(void)
{
    job *j = new_job();
    add_rank(j, 60, 20, 0, 20);
    char *text = summary_of(j);
    expect(text, "cannot have run", 0);
    free(text);
    tl_rank *rank = add_rank(j, 60, 20, 0, 20);
    rank->too_long = 2;
    rank->too_long_ns = 5000 * MS;
    text = summary_of(j);
    expect(text, "2 pieces of device work on rank 1 cannot have run as long as the trace says, and\n"
                 "  last here as long as such work usually does, at most until the next of the\n"
                 "  stream begins: 5.00 s less", 1);
    free(text);
    rank->too_long = 1;
    text = summary_of(j);
    expect(text, "1 piece of device work on rank 1 cannot have run as long as the trace says, and\n"
                 "  lasts here as long as such work usually does, at most until the next of the\n"
                 "  stream begins: 5.00 s less", 1);
    free(text);
    free(j);
}

static void ranks_without_work_count_in_no_mean_and_are_not_the_best(void)
{
    job *j = new_job();
    add_rank(j, 60, 20, 0, 20);
    add_idler(j);
    add_rank(j, 100, 50, 0, 50);
    char *text = summary_of(j);
    expect(text, "  mean     150.0  53.3 %", 1);
    expect(text, "     1         -       -       -        -       -       -       -  no_gpu_events\n", 1);
    expect(text, "No device work in the trace of 1 rank: 1\n", 1);
    free(text);

    for (int i = 0; i < 30; i++)
        if (i % 3 == 0)
            add_idler(j);
        else
            add_rank(j, 50, 50, 0, 0);
    text = summary_of(j);
    expect(text, "  (3 of 22 ranks with device work, by waiting", 1);
    expect(text, "no_gpu_events", 0);
    expect(text, "No device work in the trace of 11 ranks: 1, 3, 6, 9, 12, 15, 18, 21, and 3 more\n", 1);
    free(text);
    free(j);
}

static void a_rank_that_was_not_read_is_none_of_those_that_were(void)
{
    job *j = new_job();
    add_rank(j, 10, 0, 0, 0);
    add_rank(j, 10, 0, 0, 0);
    add_rank(j, 0, 0, 0, 0)->status = TL_RANK_UNREADABLE;
    const int64_t missing[] = { 3 };
    j->s.world_size = 4;
    j->s.missing = missing;
    j->s.nmissing = j->s.nmissing_listed = 1;
    char *text = summary_of(j);
    expect(text, "3 traces, 2 of 4 ranks,", 1);
    expect(text, "No trace of 1 rank: 3\n", 1);
    free(text);
    free(j);
}

static void a_world_smaller_than_its_ranks_is_told_and_not_counted_with(void)
{
    job *j = new_job();
    for (int i = 0; i < 4; i++)
        add_rank(j, 10, 0, 0, 0);
    j->s.world_size = 2;
    char *text = summary_of(j);
    expect(text, "4 ranks up to 3 (world size 2 in the traces),", 1);
    expect(text, "4 of 2", 0);
    free(text);

    j->ranks[3].rank = j->rows[4].rank = 9;     /* as many as the world has, but one of them is beyond it */
    j->s.world_size = 4;
    text = summary_of(j);
    expect(text, "4 ranks up to 9 (world size 4 in the traces),", 1);
    free(text);
    free(j);
}

static void what_the_reader_must_know_is_said(void)
{
    job *j = new_job();
    for (int i = 0; i < 4; i++) {
        tl_rank *rank = add_rank(j, 1, 0, 0, 1);
        rank->unclassified_ns = 25;
        rank->host[0] = (char)('a' + i);
    }
    j->ranks[1].rank_from = 1;
    j->ranks[2].rank_from = 2;
    j->s.run = j->s.nruns = 2;
    j->s.output = "my traces.h5";
    char *text = summary_of(j);
    expect(text, "4 hosts", 1);
    expect(text, "Numbered by the file's name: 1 rank, by the order of the files: 1 rank.\n", 1);
    expect(text, "Run 2 of 2 was analysed; --run list", 1);
    expect(text, "'my traces.h5'", 2);
    expect(text, "\033", 0);
    free(text);
    free(j);
}

static void nodes_without_an_event_are_told(void)
{
    tl_side_file files[] = {
        { .kind = TL_SIDE_EXECUTION, .linked = 4000, .frames = 3, .entries = 4012, .linked_by = TL_EXECUTION_BY_RECORD },
        { .kind = TL_SIDE_EXECUTION, .linked = 300, .entries = 303, .linked_by = TL_EXECUTION_BY_EXTERNAL },
        { .kind = TL_SIDE_EXECUTION, .entries = 70, .linked_by = TL_EXECUTION_OTHER_PROCESS },
        { .kind = TL_SIDE_EXECUTION, .entries = 5, .linked_by = TL_EXECUTION_NO_TRACE },
    };
    job *j = new_job();
    add_rank(j, 60, 20, 0, 20);
    j->of_sides.rows = (unsigned char *)files;
    char *text = summary_of(j);
    expect(text, "Execution trace", 0);
    free(text);
    j->of_sides.n = 1;
    text = summary_of(j);
    expect(text, "Execution traces: 4000 of 4009 nodes linked to operators (table side_file)\n", 1);
    free(text);
    j->of_sides.n = 4;
    text = summary_of(j);
    expect(text, "Execution traces: 4300 of 4312 nodes linked to operators; 2 traces not linked\n"
                 "  (table side_file)\n", 1);
    free(text);
    free(j);
}

static const unit_test tests[] = {
    TEST(a_damaged_rank_is_marked_and_its_lost_events_are_counted),
    TEST(no_device_work_is_a_fact),
    TEST(rows_of_zeros_are_no_device_work_either),
    TEST(durations_that_cannot_be_are_told),
    TEST(ranks_without_work_count_in_no_mean_and_are_not_the_best),
    TEST(a_rank_that_was_not_read_is_none_of_those_that_were),
    TEST(a_world_smaller_than_its_ranks_is_told_and_not_counted_with),
    TEST(what_the_reader_must_know_is_said),
    TEST(nodes_without_an_event_are_told),
};

int main(void)
{
    return unit_main("summary of troubles", tests, COUNT(tests));
}
