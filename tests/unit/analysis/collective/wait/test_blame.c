/* test_blame.c - waits, and whom they are charged to. */
#include "src/analysis/collective/wait/blame.h"
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/model/parameters.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)

enum { MANY = 4096 };

typedef struct job {
    tl_blame_arrival arrivals[MANY];
    tl_blame_collective collectives[MANY];
    tl_blame_input in;
    /* what came out */
    int64_t direct[64], indirect[64], activity[TL_NACTIVITIES + 1], pair[64][64], of_step[16], sum;
    int calls;
} job;

static job *new_job(size_t nranks)
{
    job *j = calloc(1, sizeof *j);
    j->in = (tl_blame_input){ j->arrivals, 0, j->collectives, 0, nranks };
    return j;
}

static uint32_t collective(job *j, int32_t step)
{
    j->collectives[j->in.ncollectives] =
        (tl_blame_collective){ (uint32_t)j->in.narrivals, 0, step, TL_BLAME_CHARGES, 0 };
    return (uint32_t)j->in.ncollectives++;
}

/* One more arrival at the newest collective, all of whose excess is `activity` (TL_NACTIVITIES: none). */
static uint32_t arrive(job *j, uint32_t rank, int64_t start, int64_t end, int activity, uint32_t previous)
{
    tl_blame_arrival *a = &j->arrivals[j->in.narrivals];
    *a = (tl_blame_arrival){ .start_ns = start, .end_ns = end, .rank = rank, .previous = previous };
    if (activity < TL_NACTIVITIES)
        a->share[activity] = TL_SHARE_ONE;
    j->collectives[j->in.ncollectives - 1].n++;
    return (uint32_t)j->in.narrivals++;
}

static void note(void *arg, const tl_delay_cost *c)
{
    job *j = arg;
    j->calls++;
    for (size_t k = 0; k <= TL_NACTIVITIES; k++) {
        (c->direct ? j->direct : j->indirect)[c->to] += c->ns[k];
        j->activity[k] += c->ns[k];
        if (c->from != TL_NONE)
            j->pair[c->from][c->to] += c->ns[k];
        j->of_step[c->step & 15] += c->ns[k];
        j->sum += c->ns[k];
        CU_ASSERT_TRUE(c->ns[k] >= 0 && c->from != c->to);
    }
}

static void blame(job *j)
{
    tl_error err;
    CU_ASSERT_EQUAL_FATAL(tl_delay_cost_each(&j->in, note, j, &err), TL_OK);
}

/* From its start to the last start of its collective, or its own end; where ranks may leave early, to the last start by
 * then. */
static int64_t wait_of(const job *j, const tl_blame_collective *c, const tl_blame_arrival *a)
{
    int64_t last = a->start_ns, until = a->start_ns;
    for (uint32_t i = c->first; i < c->first + c->n; i++) {
        int64_t start = j->arrivals[i].start_ns;
        last = start > last ? start : last;
        until = start > until && start <= a->end_ns + TL_CLOCK_ERROR_NS ? start : until;
    }
    until = until < a->end_ns ? until : a->end_ns;
    return (c->loose || last <= a->end_ns ? until : a->end_ns) - a->start_ns;
}

static int64_t all_waits(const job *j)
{
    int64_t sum = 0;
    for (size_t c = 0; c < j->in.ncollectives; c++)
        for (uint32_t i = 0; j->collectives[c].how == TL_BLAME_CHARGES && i < j->collectives[c].n; i++)
            sum += wait_of(j, &j->collectives[c], &j->arrivals[j->collectives[c].first + i]);
    return sum;
}

/* The drawing in blame.h: 0 comes at 40, 1 at 90, 2 at 120. */
static void slices_are_shared_by_those_who_are_late_in_them(void)
{
    job *j = new_job(3);
    collective(j, 7);
    arrive(j, 0, 40, 170, TL_NACTIVITIES, TL_NONE);
    arrive(j, 1, 90, 170, TL_ACTIVITY_HOST, TL_NONE);
    arrive(j, 2, 120, 170, TL_ACTIVITY_COMPUTE, TL_NONE);
    blame(j);
    CU_ASSERT_EQUAL(j->pair[0][1], 25);
    CU_ASSERT_EQUAL(j->pair[0][2], 25 + 30);
    CU_ASSERT_EQUAL(j->pair[1][2], 30);
    CU_ASSERT_EQUAL(j->activity[TL_ACTIVITY_HOST], 25);
    CU_ASSERT_EQUAL(j->activity[TL_ACTIVITY_COMPUTE], 85);
    CU_ASSERT_EQUAL(j->sum, all_waits(j));
    free(j);
}

/* Rank 1 had four fifths of what made it late after the last collective of step 6; rank 2, which comes last,
 * nothing. */
static void what_it_had_in_the_step_before_is_charged_to_that(void)
{
    job *j = new_job(3);
    collective(j, 7);
    arrive(j, 0, 40, 170, TL_NACTIVITIES, TL_NONE);
    arrive(j, 1, 90, 170, TL_ACTIVITY_COMPUTE, TL_NONE);
    arrive(j, 2, 120, 170, TL_ACTIVITY_COMPUTE, TL_NONE);
    j->arrivals[1].after_last = TL_SHARE_ONE / 5 * 4;
    blame(j);
    CU_ASSERT_EQUAL(j->of_step[6], 20);
    CU_ASSERT_EQUAL(j->of_step[7], 5 + 85);
    CU_ASSERT_EQUAL(j->pair[0][1], 25);
    CU_ASSERT_EQUAL(j->sum, all_waits(j));
    free(j);
}

static void nobody_is_owed_more_than_its_own_kernel(void)
{
    job *j = new_job(3);
    collective(j, 7);
    arrive(j, 0, 0, 50, TL_NACTIVITIES, TL_NONE); /* its clock, or its profiler, ends it before the others come */
    arrive(j, 1, 30, 200, TL_NACTIVITIES, TL_NONE);
    arrive(j, 2, 100, 200, TL_NACTIVITIES, TL_NONE);
    blame(j);
    CU_ASSERT_EQUAL(j->pair[0][1], 15);
    CU_ASSERT_EQUAL(j->pair[0][2], 15 + 20);
    CU_ASSERT_EQUAL(j->pair[1][2], 70);
    CU_ASSERT_EQUAL(j->sum, 120);
    CU_ASSERT_EQUAL(j->activity[TL_NACTIVITIES], 120);
    free(j);
}

/* Who leaves early is owed by those alone who came by then: 0, done at 49, by rank 1, and nothing by rank 2. */
static void who_may_leave_early_is_owed_by_those_who_came_before(void)
{
    job *j = new_job(4);
    collective(j, 7);
    j->collectives[0].loose = 1;
    arrive(j, 0, 0, 49 * US, TL_NACTIVITIES, TL_NONE);
    arrive(j, 1, 30 * US, 200 * US, TL_NACTIVITIES, TL_NONE);
    arrive(j, 2, 100 * US, 200 * US, TL_NACTIVITIES, TL_NONE);
    arrive(j, 3, 70 * US, 79 * US, TL_NACTIVITIES, TL_NONE); /* nobody came in its time */
    blame(j);
    CU_ASSERT_EQUAL(j->pair[0][1], 30 * US);
    CU_ASSERT_EQUAL(j->pair[0][2] + j->pair[0][3], 0);
    CU_ASSERT_EQUAL(j->pair[1][3], 20 * US);
    CU_ASSERT_EQUAL(j->pair[1][2], 50 * US);
    CU_ASSERT_EQUAL(j->direct[2] + j->direct[3] + j->direct[1], j->sum);
    CU_ASSERT_EQUAL(j->sum, all_waits(j));
    CU_ASSERT_EQUAL(j->sum, 100 * US);
    free(j);

    /* By less than clocks err it has waited for it. */
    j = new_job(3);
    collective(j, 7);
    j->collectives[0].loose = 1;
    arrive(j, 0, 0, 94 * US, TL_NACTIVITIES, TL_NONE);
    arrive(j, 1, 30 * US, 200 * US, TL_NACTIVITIES, TL_NONE);
    arrive(j, 2, 100 * US, 200 * US, TL_NACTIVITIES, TL_NONE);
    blame(j);
    CU_ASSERT_EQUAL(j->pair[0][1], 15 * US);
    CU_ASSERT_EQUAL(j->pair[0][2], 15 * US + 64 * US);
    CU_ASSERT_EQUAL(j->sum, all_waits(j));
    free(j);
}

/* Three kernels of rank 0 begin at one instant; by their place in the trace it waited for rank 1 before the previous
 * collective with ranks 2 and 3, not since. */
static void at_one_instant_the_previous_one_comes_first(void)
{
    for (uint32_t before = 0; before < 2; before++) {
        job *j = new_job(4);
        collective(j, 1);
        uint32_t elsewhere = arrive(j, 0, 10, 30, TL_NACTIVITIES, TL_NONE);
        arrive(j, 1, 20, 30, TL_NACTIVITIES, TL_NONE);
        collective(j, 1);
        uint32_t late = arrive(j, 0, 10, 60, TL_ACTIVITY_COMM, TL_NONE);
        arrive(j, 2, 0, 60, TL_NACTIVITIES, TL_NONE);
        arrive(j, 3, 50, 60, TL_NACTIVITIES, TL_NONE);
        collective(j, 1);
        uint32_t previous = arrive(j, 0, 10, 12, TL_NACTIVITIES, TL_NONE);
        j->arrivals[late].previous = previous;
        j->arrivals[elsewhere].uid = before ? 1 : 2;
        j->arrivals[previous].uid = before ? 2 : 1;
        j->arrivals[late].uid = 3;
        blame(j);
        CU_ASSERT_EQUAL(j->indirect[1] == 0, before != 0);
        CU_ASSERT_EQUAL(j->sum, all_waits(j));
        free(j);
    }
}

/* Ranks 0 and 1 work together, ranks 0 and 2 exchange results.  Rank 1 is slow; so 0 is late where 2 waits. */
static void who_waited_elsewhere_passes_it_on(void)
{
    job *j = new_job(3);
    collective(j, 1);
    uint32_t first = arrive(j, 0, 0, 10, TL_NACTIVITIES, TL_NONE);
    arrive(j, 2, 0, 10, TL_NACTIVITIES, TL_NONE);
    collective(j, 1);
    arrive(j, 0, 20, 90, TL_NACTIVITIES, TL_NONE);
    arrive(j, 1, 80, 90, TL_ACTIVITY_COMPUTE, TL_NONE);
    collective(j, 2);
    arrive(j, 0, 100, 120, TL_ACTIVITY_COMM, first);
    arrive(j, 2, 30, 120, TL_NACTIVITIES, first + 1);
    blame(j);
    CU_ASSERT_EQUAL(j->direct[1], 60);
    CU_ASSERT_EQUAL(j->indirect[1], 70);
    CU_ASSERT_EQUAL(j->direct[0] + j->indirect[0], 0);
    CU_ASSERT_EQUAL(j->activity[TL_ACTIVITY_COMPUTE], 130);
    CU_ASSERT_EQUAL(j->sum, all_waits(j));
    free(j);
}

/* What happened before the last common collective explains nothing after it. */
static void the_last_common_collective_wipes_the_slate(void)
{
    job *j = new_job(3);
    collective(j, 1);
    arrive(j, 0, 20, 90, TL_NACTIVITIES, TL_NONE);
    arrive(j, 1, 80, 90, TL_ACTIVITY_COMPUTE, TL_NONE);
    collective(j, 1);
    uint32_t common = arrive(j, 0, 95, 99, TL_NACTIVITIES, TL_NONE);
    arrive(j, 2, 95, 99, TL_NACTIVITIES, TL_NONE);
    collective(j, 2);
    arrive(j, 0, 200, 220, TL_ACTIVITY_COMM, common);
    arrive(j, 2, 150, 220, TL_NACTIVITIES, common + 1);
    blame(j);
    CU_ASSERT_EQUAL(j->direct[0], 50);
    CU_ASSERT_EQUAL(j->activity[TL_ACTIVITY_COMM], 50);
    CU_ASSERT_EQUAL(j->sum, 110);
    free(j);
}

static void what_may_carry_no_verdict_is_not_charged(void)
{
    job *j = new_job(2);
    collective(j, 1);
    arrive(j, 0, 20, 90, TL_NACTIVITIES, TL_NONE);
    arrive(j, 1, 80, 90, TL_ACTIVITY_COMPUTE, TL_NONE);
    j->collectives[0].how = TL_BLAME_IGNORED;
    blame(j);
    CU_ASSERT_EQUAL(j->calls, 0);
    free(j);
}

/* Random jobs with groups of all sizes, clocks that disagree, and every kind of excess. */
static void no_nanosecond_is_lost(void)
{
    uint64_t random = 3;
    for (int round = 0; round < 60; round++) {
        uint32_t nranks = 2 + unit_below(&random, 60), last_of[64][4];
        job *j = new_job(nranks);
        memset(last_of, 0xff, sizeof last_of);
        for (int c = 0; c < 60; c++) {
            uint32_t group = unit_below(&random, 4), from = group * nranks / 5,
                     n = 1 + unit_below(&random, nranks - from);
            int64_t begin = c * 100 + (int)unit_below(&random, 50);
            collective(j, c / 10);
            for (uint32_t r = from; r < from + n && j->in.narrivals < MANY; r++) {
                int64_t start = begin + unit_below(&random, 300);
                uint32_t at = arrive(j, r, start, start + unit_below(&random, 400),
                                     (int)unit_below(&random, TL_NACTIVITIES + 1), last_of[r][group]);
                last_of[r][group] = at;
                if (unit_below(&random, 3) == 0) {
                    memset(j->arrivals[at].share, 0, sizeof j->arrivals[at].share);
                    for (int p = 0; p < TL_NACTIVITIES; p++)
                        j->arrivals[at].share[p] = (uint16_t)unit_below(&random, TL_SHARE_ONE / TL_NACTIVITIES);
                }
            }
            j->collectives[c].how = (uint8_t)(unit_below(&random, 8) != 0 ? TL_BLAME_CHARGES : unit_below(&random, 2));
        }
        blame(j);
        CU_ASSERT_EQUAL(j->sum, all_waits(j));
        free(j);
    }
}

/* More ranks than are told apart: each is charged what it is charged in small groups. */
static void large_groups_are_charged_alike(void)
{
    job *j = new_job(40);
    collective(j, 1);
    for (uint32_t r = 0; r < 40; r++)
        arrive(j, r, r == 17 ? 1000 : 10 * r, r == 3 ? 500 : 1500, TL_ACTIVITY_COMPUTE, TL_NONE);
    blame(j);
    CU_ASSERT_EQUAL(j->sum, all_waits(j));
    int64_t expected = 0; /* by hand: 17 is late in every slice, 39 comes at 390 */
    for (int t = 0; t < 1000; t++) {
        int here = 0, late = 0;
        for (int r = 0; r < 40; r++) {
            int start = r == 17 ? 1000 : 10 * r;
            here += start <= t && !(r == 3 && t >= 500);
            late += start > t;
        }
        expected += 1000 * here / late;
    }
    CU_ASSERT(llabs(j->direct[17] - expected / 1000) <= 40);
    for (int r = 0; r < 40; r++)
        for (int q = 0; q < 40; q++)
            CU_ASSERT(j->pair[r][q] == 0 || r == 3);
    free(j);
}

static void waits_of_centuries_are_refused(void)
{
    tl_error err;
    job *j = new_job(3);
    collective(j, 1);
    arrive(j, 0, -(INT64_C(1) << 61), INT64_C(1) << 61, TL_NACTIVITIES, TL_NONE);
    arrive(j, 1, -(INT64_C(1) << 61), INT64_C(1) << 61, TL_NACTIVITIES, TL_NONE);
    arrive(j, 2, INT64_C(1) << 61, INT64_C(1) << 61, TL_NACTIVITIES, TL_NONE);
    CU_ASSERT_EQUAL(tl_delay_cost_each(&j->in, note, j, &err), TL_EINPUT);
    CU_ASSERT_EQUAL(j->calls, 0);
    free(j);
}

static const unit_test tests[] = {
    TEST(slices_are_shared_by_those_who_are_late_in_them),
    TEST(what_it_had_in_the_step_before_is_charged_to_that),
    TEST(nobody_is_owed_more_than_its_own_kernel),
    TEST(who_may_leave_early_is_owed_by_those_who_came_before),
    TEST(who_waited_elsewhere_passes_it_on),
    TEST(at_one_instant_the_previous_one_comes_first),
    TEST(the_last_common_collective_wipes_the_slate),
    TEST(what_may_carry_no_verdict_is_not_charged),
    TEST(no_nanosecond_is_lost),
    TEST(large_groups_are_charged_alike),
    TEST(waits_of_centuries_are_refused),
};

int main(void)
{
    return unit_main("blame", tests, COUNT(tests));
}
