/* test_absent.c - ranks without a trace, on drawings.  A column is 100 us.
 *
 *     ranks  0 1  of tensor parallel group T       data parallel: 0 and 2 meet in D, 1 and 3 in E
 *            2 3                           U       1 has no trace
 */
#include "drawn_job.h"
#include "tlmpi/analysis/absent.h"

enum { TENSOR_BYTES = 100, DATA_BYTES = 200 };

static const int32_t t[] = { 0, 1 }, u[] = { 2, 3 }, d[] = { 0, 2 }, e[] = { 1, 3 };
static const tl_group_ranks four[] = { { t, 2 }, { u, 2 }, { d, 2 }, { e, 2 } };
static const int32_t all_but_1[] = { 0, 2, 3 };

/* Groups, the letters of what they do, one after the other and again, and who has a trace. */
typedef struct setting {
    const tl_group_ranks *groups;
    size_t n;
    const char *letters;
    const int32_t *with_trace;
} setting;

static const setting usual = { four, 4, "TUDEVWFG", all_but_1 };

typedef struct half_job {
    const setting *of;
    drawn_job *job;
    tl_meeting meetings[DRAWN_COMMS];
    tl_absent absent;
    tl_program programs[DRAWN_RANKS];
    tl_whatif_member members[2 * DRAWN_RANKS * DRAWN_COMMS];
    tl_whatif_collective collectives[DRAWN_COMMS];
    tl_whatif_input input;
} half_job;

static tl_absent_input input_of(half_job *h)
{
    drawn_job *j = h->job;
    const setting *s = h->of;
    for (size_t i = 0; i < j->ncollectives; i++) {
        const tl_whatif_collective *c = &j->collectives[i];
        tl_meeting *m = &h->meetings[i];
        *m = (tl_meeting){ .first = c->first, .n = c->n, .from = -1, .to = -1, .step = 1, .last_start_ns = INT64_MIN, .end_ns = INT64_MAX, .kind = TL_ALL_REDUCE };
        m->group = (int32_t)((size_t)(strchr(s->letters, j->letters[i]) - s->letters) % s->n);
        m->bytes = m->group < 2 ? TENSOR_BYTES : DATA_BYTES;
        for (uint32_t k = c->first; k < c->first + c->n; k++) {
            const tl_comm *comm = &j->programs[j->members[k].rank].comms[j->members[k].comm];
            m->last_start_ns = comm->start_ns > m->last_start_ns ? comm->start_ns : m->last_start_ns;
            m->end_ns = comm->end_ns < m->end_ns ? comm->end_ns : m->end_ns;
        }
    }
    return (tl_absent_input){ .meetings = h->meetings, .nmeetings = j->ncollectives, .members = j->members, .groups = s->groups,
                              .ngroups = s->n, .ranks = s->with_trace, .roles = j->roles, .offset_ns = j->offset_ns,
                              .programs = j->programs, .nranks = j->nranks };
}

static half_job *half(drawn_job *j, const setting *of)
{
    half_job *h = calloc(1, sizeof *h);
    if (h == NULL)
        abort();
    h->of = of;
    h->job = j;
    for (size_t r = 0; r < j->nranks; r++)
        job_program(j, r);
    job_match(j);
    return h;
}

/* The job with those who stand in, or without. */
static void replay(half_job *h, bool stand_in)
{
    drawn_job *j = h->job;
    const tl_absent_input in = input_of(h);
    size_t nmembers = 0, seat = 0;

    if (stand_in)
        CU_ASSERT_EQUAL_FATAL(tl_absent_find(&in, &h->absent, NULL), TL_OK);
    for (size_t r = 0; r < j->nranks; r++)
        h->programs[r] = j->programs[r];
    for (size_t i = 0; i < h->absent.n; i++)
        h->programs[j->nranks + i] = h->absent.programs[i];
    for (uint32_t c = 0; c < j->ncollectives; c++) {
        h->collectives[c] = (tl_whatif_collective){ .first = (uint32_t)nmembers, .like = h->meetings[c].group < 2,
                                                    .own = (uint32_t)h->meetings[c].group };
        for (uint32_t k = 0; k < j->collectives[c].n; k++)
            h->members[nmembers++] = j->members[j->collectives[c].first + k];
        for (; seat < h->absent.nseats && h->absent.seats[seat].meeting == c; seat++)
            h->members[nmembers++] =
                (tl_whatif_member){ (uint32_t)j->nranks + h->absent.seats[seat].absent, h->absent.seats[seat].comm };
        h->collectives[c].n = (uint32_t)nmembers - h->collectives[c].first;
    }
    tl_whatif_input whatif = job_input(j);
    whatif.programs = h->programs;
    whatif.stand_in = h->absent.stand_in;
    whatif.nabsent = h->absent.n;
    whatif.members = h->members;
    whatif.nmembers = nmembers;
    whatif.collectives = h->collectives;
    h->input = whatif;
    CU_ASSERT_EQUAL_FATAL(tl_whatif_new(&whatif, &j->whatif, NULL), TL_OK);
    const tl_whatif_facts *facts = tl_whatif_facts_of(j->whatif);
    CU_ASSERT_EQUAL(facts->state, TL_WHATIF_OK);
    CU_ASSERT_EQUAL(facts->simulated_ns, facts->measured_ns);
}

static void half_free(half_job *h)
{
    tl_absent_free(&h->absent);
    job_free(h->job);
    free(h);
}

/* Rank 0 is late in T, 1 waits for it, and 3 for 1. */
static half_job *late_in_tensor_group(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      atbdc.........",
                        "compute 7: AAAAAA..BB..CC",
                        "comm 9:    ......TT......",
                        "comm 10:   ..........DD..", NULL));
    job_rank(j, 0, draw("host:      aubdc.........",
                        "compute 7: AA..BB......CC",
                        "comm 9:    ..UU..........",
                        "comm 10:   ......DDDDDD..", NULL));
    job_rank(j, 0, draw("host:      aubec.........",
                        "compute 7: AA..BB......CC",
                        "comm 9:    ..UU..........",
                        "comm 10:   ......EEEEEE..", NULL));
    return half(j, &usual);
}

static void a_delay_goes_on_through_a_rank_without_a_trace(void)
{
    half_job *h = late_in_tensor_group();
    replay(h, false);
    CU_ASSERT_EQUAL(job_gain(h->job, 0), 0);
    half_free(h);

    h = late_in_tensor_group();
    replay(h, true);
    CU_ASSERT_EQUAL(h->absent.nlinking, 1);
    CU_ASSERT_EQUAL_FATAL(h->absent.n, 1);
    CU_ASSERT_EQUAL(h->absent.ranks[0], 1);
    CU_ASSERT(h->absent.stand_in[0] > 0); /* who needs less for it */
    CU_ASSERT_EQUAL(h->absent.nseats, 2);
    CU_ASSERT_EQUAL(job_gain(h->job, 0), 4);
    CU_ASSERT_EQUAL(job_gain(h->job, 1), 0);
    CU_ASSERT_EQUAL(job_gain(h->job, 2), 0);
    half_free(h);
}

/* Groups T and U have two collectives in step 1.  Of step 0, in which recordings begin, rank 0 has one of two: which of
 * them it is, is a guess. */
static void nobody_need_stand_in_where_a_step_is_not_whole(void)
{
    static const setting steps = { four, 4, "CBGHIFMNKJ012L", all_but_1 }; /* letters ascend in time */
    for (int whole = 0; whole < 2; whole++) {
        drawn_job *j = job_new();
        job_rank(j, 0, draw("host:      acgikm..........",
                            "compute 7: A...............",
                            "comm 9:    ..CC....II.KK...",
                            "comm 10:   ......GG......MM", NULL));
        job_rank(j, 0, draw("host:      abfgjlm.........",
                            "compute 7: A...............",
                            "comm 9:    ..BB.FF.JJ.LL...",
                            "comm 10:   ......GG......MM", NULL));
        job_rank(j, 0, draw("host:      abfhjln.........",
                            "compute 7: A...............",
                            "comm 9:    ..BB.FF.JJ.LL...",
                            "comm 10:   ......HH......NN", NULL));
        half_job *h = half(j, &steps);
        tl_absent_input in = input_of(h);
        for (size_t i = 0; i < in.nmeetings; i++)
            h->meetings[i].step = j->letters[i] >= 'I';
        in.whole_steps = whole == 1;
        CU_ASSERT_EQUAL_FATAL(tl_absent_find(&in, &h->absent, NULL), TL_OK);
        CU_ASSERT_EQUAL_FATAL(h->absent.n, 1);
        CU_ASSERT_EQUAL(h->absent.nseats, whole == 1 ? 4 : 5); /* H, I, K and N; and C */
        half_free(h);
    }
}

/* 1 comes to E three columns later than rank 0's delay explains. */
static void a_rank_without_a_trace_may_be_late_itself(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      atbdcf..............",
                        "compute 7: AAAAAA..BB..CC......",
                        "comm 9:    ......TT............",
                        "comm 10:   ..........DD..FF....", NULL));
    job_rank(j, 0, draw("host:      aubdcf..............",
                        "compute 7: AA..BB......CC......",
                        "comm 9:    ..UU................",
                        "comm 10:   ......DDDDDD..FF....", NULL));
    job_rank(j, 0, draw("host:      aubecg..............",
                        "compute 7: AA..BB.........CC...",
                        "comm 9:    ..UU................",
                        "comm 10:   ......EEEEEEEEE..GG.", NULL));
    half_job *h = half(j, &usual);
    replay(h, true);
    CU_ASSERT_EQUAL(job_gain(j, 0), 4);
    CU_ASSERT_EQUAL(job_gain(j, 2), 0);
    half_free(h);
}

/* A transfer that takes half as long again while rank 0 is six columns late: not somebody else who was seven late. */
static void a_longer_transfer_is_nobody_without_a_trace(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      atbvxdc................",
                        "compute 7: AA..BBBBBBBB...XX..CC..",
                        "comm 9:    ..TT........VVV........",
                        "comm 10:   .................DD....", NULL));
    job_rank(j, 0, draw("host:      aubwxdc................",
                        "compute 7: AA..BB..XX.........CC..",
                        "comm 9:    ..UU..WW...............",
                        "comm 10:   ..........DDDDDDDDD....", NULL));
    job_rank(j, 0, draw("host:      aubwxec................",
                        "compute 7: AA..BB..XX.........CC..",
                        "comm 9:    ..UU..WW...............",
                        "comm 10:   ..........EEEEEEEEE....", NULL));
    half_job *h = half(j, &usual);
    replay(h, true);
    CU_ASSERT_EQUAL_FATAL(h->absent.n, 1);
    CU_ASSERT_EQUAL(job_gain(j, 0), 6);
    half_free(h);
}

/* Of 0 to 2 and 3 to 5 have 0 and 4 a trace.  4 waits for 1 in E; 2 is with 5 in another, of which nothing is known: it
 * does as 4 does, but did not wait there for anybody. */
static void who_meets_nobody_with_a_trace_waits_for_nobody(void)
{
    static const int32_t low[] = { 0, 1, 2 }, high[] = { 3, 4, 5 }, first[] = { 0, 3 }, second[] = { 1, 4 },
                         world[] = { 0, 1, 2, 3, 4, 5 }, with_trace[] = { 0, 4 };
    static const tl_group_ranks groups[] = { { low, 3 }, { high, 3 }, { first, 2 }, { second, 2 }, { world, 6 } };
    static const setting six = { groups, 5, "TUDEW", with_trace };
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      atbdcwx...........",
                        "compute 7: AAAAAA..BB..CC..XX",
                        "comm 9:    ......TT......WW..",
                        "comm 10:   ..........DD......", NULL));
    job_rank(j, 0, draw("host:      aubecwx...........",
                        "compute 7: AA..BB......CC..XX",
                        "comm 9:    ..UU..........WW..",
                        "comm 10:   ......EEEEEE......", NULL));
    half_job *h = half(j, &six);
    replay(h, true);
    CU_ASSERT_EQUAL_FATAL(h->absent.n, 4);
    CU_ASSERT_EQUAL(h->absent.stand_in[1], 1);
    CU_ASSERT_EQUAL(job_gain(j, 0), 4);
    half_free(h);
}

static void nobody_stands_for_who_does_something_else(void)
{
    half_job *h = late_in_tensor_group();
    tl_absent_input in = input_of(h);

    /* Of the others' data parallel collectives none is like its own. */
    for (size_t i = 0; i < in.nmeetings; i++)
        h->meetings[i].bytes += h->meetings[i].group == 3;
    CU_ASSERT_EQUAL(tl_absent_find(&in, &h->absent, NULL), TL_OK);
    CU_ASSERT_EQUAL(h->absent.nlinking, 1);
    CU_ASSERT_EQUAL(h->absent.n, 1); /* but 3 itself, which has both */
    CU_ASSERT_EQUAL(h->absent.stand_in[0], 2);
    tl_absent_free(&h->absent);

    static const int32_t named[] = { 1 }, role[] = { 7 };
    in.named = named;
    in.named_roles = role;
    in.nnamed = 1;
    CU_ASSERT_EQUAL(tl_absent_find(&in, &h->absent, NULL), TL_OK);
    CU_ASSERT_EQUAL(h->absent.nlinking, 1);
    CU_ASSERT_EQUAL(h->absent.n, 0);
    half_free(h);
}

static void a_rank_that_links_nothing_needs_nobody(void)
{
    half_job *h = late_in_tensor_group();
    tl_absent_input in = input_of(h);
    const tl_group_ranks alone[] = { four[0], four[1], four[2], { e + 1, 1 } };
    in.groups = alone;
    CU_ASSERT_EQUAL(tl_absent_find(&in, &h->absent, NULL), TL_OK);
    CU_ASSERT_EQUAL(h->absent.nlinking, 0);
    CU_ASSERT_EQUAL(h->absent.n, 0);
    CU_ASSERT_EQUAL(h->absent.nseats, 0);
    half_free(h);
}

static void without_memory_nobody_stands_in(void)
{
    half_job *h = late_in_tensor_group();
    const tl_absent_input in = input_of(h);
    tl_status status = TL_ENOMEM;
    for (size_t n = 1; status == TL_ENOMEM && n < 100; n++) {
        tl_absent_free(&h->absent);
        tl_mem_fail_after(n);
        status = tl_absent_find(&in, &h->absent, NULL);
        tl_mem_fail_after(0);
    }
    CU_ASSERT_EQUAL(status, TL_OK);
    CU_ASSERT_EQUAL(h->absent.n, 1);
    half_free(h);

    h = late_in_tensor_group();
    replay(h, true);
    status = TL_ENOMEM;
    for (size_t n = 1; status == TL_ENOMEM && n < 300; n++) {
        tl_whatif_free(h->job->whatif);
        tl_mem_fail_after(n);
        status = tl_whatif_new(&h->input, &h->job->whatif, NULL);
        tl_mem_fail_after(0);
    }
    CU_ASSERT_EQUAL_FATAL(status, TL_OK);
    CU_ASSERT_EQUAL(job_gain(h->job, 0), 4);
    half_free(h);
}

static const unit_test tests[] = {
    TEST(a_delay_goes_on_through_a_rank_without_a_trace),
    TEST(nobody_need_stand_in_where_a_step_is_not_whole),
    TEST(a_rank_without_a_trace_may_be_late_itself),
    TEST(a_longer_transfer_is_nobody_without_a_trace),
    TEST(who_meets_nobody_with_a_trace_waits_for_nobody),
    TEST(nobody_stands_for_who_does_something_else),
    TEST(a_rank_that_links_nothing_needs_nobody),
    TEST(without_memory_nobody_stands_in),
};

int main(void)
{
    return unit_main("absent", tests, COUNT(tests));
}
