/* test_match_odd.c - matching on as many procs as mpirun starts, where participants say
 * what no trace should, or there are none. */
#include "dealt.h"

static int64_t absurd_time(uint64_t *state)
{
    switch (unit_below(state, 5)) {
    case 0:
        return INT64_MAX - 1;
    case 1:
        return INT64_MIN + 2;
    case 2:
        return 0;
    default:
        return (int64_t)(unit_random(state) >> 2) - (INT64_MAX >> 2);
    }
}

/* Everything that participants may say, at its limits: each of them is in one row all the same. */
static void absurd_participants_are_counted(void)
{
    size_t total = 0;
    begin(RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        uint64_t state = 99 + (uint64_t)r;
        size_t n = 200 + unit_below(&state, 100);
        total += n;
        if (!is_mine(r))
            continue;
        int32_t membership[3];
        for (int g = 0; g < 3; g++) {
            membership[g] = add_membership(r, (uint64_t)g, g == 0 ? -1 : INT32_MAX);
            set.memberships.v[membership[g]].inferred = g == 0;
        }
        for (size_t i = 0; i < n; i++) {
            int64_t start = absurd_time(&state), end = absurd_time(&state);
            tl_participant *p = add_part(r, membership[unit_below(&state, 3)], start, end > start ? end : start);
            p->launch_ns = unit_below(&state, 2) ? TL_TIME_UNKNOWN : absurd_time(&state);
            p->seq = unit_below(&state, 2) ? -1 : (int64_t)(unit_random(&state) >> 1);
            p->bytes = unit_below(&state, 2) ? INT64_MAX : -1;
            p->nth = unit_below(&state, 2) ? -1 : (int32_t)unit_below(&state, 9);
            p->step = unit_below(&state, 2) ? -1 : INT32_MAX;
            p->peer = unit_below(&state, 2) ? -1 : (int32_t)unit_below(&state, 20);
            p->kind = (uint8_t)(1 + unit_below(&state, TL_NCOLLECTIVES - 1));
            add_candidates(p);
        }
    }
    match(TL_CLOCK_FORCE);
    size_t n, narrivals;
    tl_collective_row *c = gather_rows(&tl_collective_row_schema, &n);
    tl_arrival *a = gather_rows(&tl_arrival_schema, &narrivals);
    int64_t counted = 0;
    for (size_t i = 0; i < n; i++)
        counted += c[i].n;
    CU_ASSERT(me != 0 || (narrivals == total && counted == (int64_t)total));
    free(c);
    free(a);
}

static void a_job_without_communication_is_a_job(void)
{
    begin(RANKS);
    match(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(tl_tables_get(&tables, &tl_collective_row_schema)->n, 0);
    CU_ASSERT_EQUAL(tl_tables_get(&tables, &tl_clock_schema)->n, me == 0 ? RANKS : 0);
    begin(0);
    match(TL_CLOCK_AUTO);
    begin(0);
}

static const unit_test tests[] = {
    TEST(absurd_participants_are_counted),
    TEST(a_job_without_communication_is_a_job),
};

int main(int argc, char **argv)
{
    int failed = procs_main(argc, argv, "match_odd", tests, COUNT(tests));
    tl_tables_free(&tables);
    tl_participants_free(&set);
    return failed;
}
