/* test_behave.c - what waits for other ranks is told from what does not, by when it begins and ends. */
#include "draw.h"
#include "tlmpi/analysis/collective/match/behave.h"
#include "unit.h"
#include <stdlib.h>

enum { RANKS = 4, ITEMS = 40 };

/* Times of a kernel that all ranks run, item after item a millisecond apart. */
typedef struct ran {
    int64_t begin_ns[RANKS][ITEMS], end_ns[RANKS][ITEMS];
    int64_t before_ns[RANKS][ITEMS]; /* from what it may have waited for to its start, which may come first */
} ran;

/* Ranks come up to 200 us late, by chance, and where a rank is always late by so much more; up to 1 us of noise. */
static void come(ran *r, int late_rank, int64_t late_ns)
{
    uint64_t seed = 7;
    for (int i = 0; i < ITEMS; i++)
        for (int k = 0; k < RANKS; k++)
            r->begin_ns[k][i] = i * 1000 * US + unit_below(&seed, 200000) + (k == late_rank ? late_ns : 0);
}

/* Ranks [from, to) leave 30 us after the last of them has come, and up to `apart_ns` later by chance. */
static void leave(ran *r, int from, int to, unsigned apart_ns)
{
    uint64_t seed = 11;
    for (int i = 0; i < ITEMS; i++) {
        int64_t last_ns = 0;
        for (int k = from; k < to; k++)
            last_ns = r->begin_ns[k][i] > last_ns ? r->begin_ns[k][i] : last_ns;
        for (int k = from; k < to; k++)
            r->end_ns[k][i] = last_ns + 30 * US + unit_below(&seed, apart_ns);
    }
}

static void leave_together(ran *r, int from, int to)
{
    leave(r, from, to, 1000);
}

/* All take 100 us, a rank so much more; up to `noise_ns` of noise. */
static void compute(ran *r, int slow_rank, int64_t more_ns, unsigned noise_ns)
{
    uint64_t seed = 13;
    for (int i = 0; i < ITEMS; i++)
        for (int k = 0; k < RANKS; k++)
            r->end_ns[k][i] = r->begin_ns[k][i] + 100 * US + (k == slow_rank ? more_ns : 0) + unit_below(&seed, noise_ns);
}

/* All ranks begin within a microsecond, as after a collective. */
static void begin_together(ran *r)
{
    uint64_t seed = 17;
    for (int i = 0; i < ITEMS; i++)
        for (int k = 0; k < RANKS; k++)
            r->begin_ns[k][i] = i * 1000 * US + unit_below(&seed, 1000);
}

/* What it is; the clock of rank 1 is off by so much. */
static tl_collective collective_of(const ran *r, int64_t off_ns)
{
    tl_behaviour all[RANKS * ITEMS];
    tl_behaving *names = NULL;
    size_t n = 0, nnames = 0;
    for (int k = RANKS; k-- > 0;)
        for (int i = 0; i < ITEMS; i++)
            all[n++] = (tl_behaviour){ 5, (uint64_t)i, r->begin_ns[k][i] + r->before_ns[k][i] + (k == 1 ? off_ns : 0),
                                       r->begin_ns[k][i] + (k == 1 ? off_ns : 0), r->end_ns[k][i] + (k == 1 ? off_ns : 0), k, 0 };
    tl_behaviours_decide(all, n, &names, &nnames);
    CU_ASSERT_TRUE(nnames == 0 || (nnames == 1 && names[0].name_key == 5));
    tl_collective collective = nnames == 1 ? (tl_collective)names[0].collective : TL_COLL_NONE;
    free(names);
    return collective;
}

static bool communicates(const ran *r, int64_t off_ns)
{
    return collective_of(r, off_ns) != TL_COLL_NONE;
}

static void what_ends_together_and_begins_apart_communicates(void)
{
    ran r = { 0 };
    come(&r, -1, 0);
    leave_together(&r, 0, RANKS);
    CU_ASSERT_TRUE(communicates(&r, 0));
    CU_ASSERT_TRUE(communicates(&r, 1500 * US)); /* clocks may be off */
    CU_ASSERT_TRUE(communicates(&r, -90 * US));
}

/* Exchanges of experts: each rank leaves when its own share is done. */
static void what_ends_nearly_together_is_no_meeting(void)
{
    ran r = { 0 };
    come(&r, -1, 0);
    leave_together(&r, 0, RANKS);
    CU_ASSERT_EQUAL(collective_of(&r, 700 * US), TL_MEETING);
    for (int i = 0; i < ITEMS; i++) /* all the later, so that all is larger */
        for (int k = 0; k < RANKS; k++)
            r.begin_ns[k][i] += (r.begin_ns[k][i] - i * 1000 * US) * 9;
    leave(&r, 0, RANKS, 120000);
    CU_ASSERT_EQUAL(collective_of(&r, 700 * US), TL_COLL_UNKNOWN);
}

static void so_it_does_in_groups_of_ranks(void)
{
    ran r = { 0 };
    come(&r, -1, 0);
    leave_together(&r, 0, 2);
    leave_together(&r, 2, RANKS);
    CU_ASSERT_TRUE(communicates(&r, 0));
    CU_ASSERT_TRUE(communicates(&r, 1500 * US));
}

static void what_takes_its_time_does_not(void)
{
    ran r = { 0 };
    come(&r, 2, 300 * US);
    compute(&r, -1, 0, 1000);
    CU_ASSERT_FALSE(communicates(&r, 0));
    compute(&r, 2, 50 * US, 60000);
    CU_ASSERT_FALSE(communicates(&r, 0));
    CU_ASSERT_FALSE(communicates(&r, 300 * US));
}

/* It begins and ends together because a collective is before it. */
static void what_follows_a_collective_does_not(void)
{
    ran r = { 0 };
    begin_together(&r);
    compute(&r, -1, 0, 1000);
    CU_ASSERT_FALSE(communicates(&r, 0));
    compute(&r, 3, 40 * US, 1000);
    CU_ASSERT_FALSE(communicates(&r, 0));
    CU_ASSERT_FALSE(communicates(&r, -40 * US - 500)); /* by the recorded clocks its ends agree with those of rank 1 */
}

/* Kernels that begin and end together, while communication beside them ends at one time on this rank and at another on
 * that. */
static void what_has_communication_beside_it_does_not(void)
{
    ran r = { 0 };
    uint64_t seed = 19;
    begin_together(&r);
    compute(&r, -1, 0, 1000);
    for (int i = 0; i < ITEMS; i++)
        for (int k = 0; k < RANKS; k++) {
            r.before_ns[k][i] = -(int64_t)unit_below(&seed, 90000);
            r.begin_ns[k][i] -= r.before_ns[k][i];
        }
    CU_ASSERT_FALSE(communicates(&r, 0));
    CU_ASSERT_FALSE(communicates(&r, 400 * US));
}

/* Now and then one rank has more tokens to take than the others. */
static void a_few_ends_apart_do_not_speak_against_it(void)
{
    ran r = { 0 };
    come(&r, -1, 0);
    leave_together(&r, 0, RANKS);
    for (int i = 0; i < ITEMS; i += 6)
        r.end_ns[i / 6 % RANKS][i] += 150 * US;
    CU_ASSERT_TRUE(communicates(&r, 0));
    CU_ASSERT_TRUE(communicates(&r, 1500 * US));
}

/* One rank comes later by the same always: only recorded ends that agree tell that the others waited. */
static void who_is_always_late_by_the_same_is_waited_for(void)
{
    ran r = { 0 };
    begin_together(&r);
    for (int i = 0; i < ITEMS; i++)
        r.begin_ns[2][i] += 300 * US;
    leave_together(&r, 0, RANKS);
    CU_ASSERT_TRUE(communicates(&r, 0));
}

/* Six kernels of one step, and four of no name that is known. */
static void a_rank_gives_those_of_unknown_names(void)
{
    drawing *d = draw("steps:     44444444444444444444444444444444",
                      "host:      abcdefgh........................",
                      "compute 7: A..B..C..D..E..F..GG..H.........",
                      "comm 9:    ......................CCC.......", NULL);
    tl_behaviours found = { 0 };
    uint32_t unknown = d->kernels[0].name;
    for (size_t i = 0; i < d->view.nkernels; i++)
        if (d->kernels[i].kind == TL_COMPUTE) {
            d->kernels[i].name = unknown;
            d->kernels[i].collective = TL_COLL_UNKNOWN;
        }
    d->kernels[6].end_ns += 2 * US; /* H is let begin while G runs, */
    d->kernels[7].start_ns -= 2 * US;
    d->kernels[7].end_ns = d->kernels[6].end_ns + 9 * US; /* and ends after the communication beside it */
    tl_behaviours_collect(&d->view, &found);
    CU_ASSERT_EQUAL_FATAL(found.n, 8);
    CU_ASSERT_EQUAL(found.v[5].begin_ns, d->kernels[5].start_ns);
    CU_ASSERT_EQUAL(found.v[7].end_ns, d->kernels[7].end_ns);
    CU_ASSERT_TRUE(found.v[7].begin_ns > d->kernels[6].end_ns);
    CU_ASSERT_NOT_EQUAL(found.v[0].item, found.v[1].item);
    found.n = 0;
    for (size_t i = 0; i < d->view.nkernels; i++)
        d->kernels[i].collective = TL_COLL_NONE; /* arithmetic by its name */
    tl_behaviours_collect(&d->view, &found);
    CU_ASSERT_EQUAL(found.n, 0);
    for (size_t i = 0; i < d->view.nkernels; i++)
        d->kernels[i].kind = TL_COMPUTE; /* nothing communicates by its name: any may */
    tl_behaviours_collect(&d->view, &found);
    CU_ASSERT_EQUAL(found.n, 8);
    free(found.v);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = { TEST(what_ends_together_and_begins_apart_communicates),
                                       TEST(what_ends_nearly_together_is_no_meeting),
                                       TEST(so_it_does_in_groups_of_ranks),
                                       TEST(what_takes_its_time_does_not),
                                       TEST(what_follows_a_collective_does_not),
                                       TEST(what_has_communication_beside_it_does_not),
                                       TEST(a_few_ends_apart_do_not_speak_against_it),
                                       TEST(who_is_always_late_by_the_same_is_waited_for),
                                       TEST(a_rank_gives_those_of_unknown_names) };
    return unit_main("behave", tests, COUNT(tests));
}
