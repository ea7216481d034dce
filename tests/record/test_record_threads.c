/* test_record_threads.c - threads record, each on a device of its own, end each other's phases, and flush. */
#include "recorded.h"

#include <pthread.h>
#include <string.h>

enum { NTHREADS = 4, NPHASES = 300 };
static uint64_t handed[NTHREADS][NPHASES];
static pthread_barrier_t all_begun;

static void *work(void *argument)
{
    const int me = (int)(intptr_t)argument, other = (me + 1) % NTHREADS;
    fake_set_device(me);
    for (int i = 0; i < NPHASES; i++) {
        (void)phase("own", i, fake_stream(me, i % 4));
        (void)tlmpi_record_step_end(recorder, i);
        (void)tlmpi_record_begin(recorder, "handed", i, fake_stream(me, 3), NULL, 0, &handed[me][i]);
    }
    (void)pthread_barrier_wait(&all_begun);
    for (int i = 0; i < NPHASES; i++) {
        tlmpi_record_counts now;
        (void)tlmpi_record_end(recorder, handed[other][i], fake_stream(other, 2));
        (void)tlmpi_record_flush(recorder);
        (void)tlmpi_record_count(recorder, &now);
    }
    return NULL;
}

static void nothing_is_lost_between_threads(void)
{
    pthread_t threads[NTHREADS];
    int nwhole = 0, n = 0;
    char line[256];

    fresh(0);
    CU_ASSERT_TRUE(opened());
    pthread_barrier_init(&all_begun, NULL, NTHREADS);
    for (int i = 0; i < NTHREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i), 0);
    for (int i = 0; i < NTHREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_begun);
    CU_ASSERT_EQUAL(closed(2 * NTHREADS * NPHASES), TLMPI_RECORD_OK);

    FILE *f = fopen(scratch_path("cuda_events_rank_0.jsonl"), "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    for (; fgets(line, sizeof line, f) != NULL; n++)
        nwhole += strncmp(line, "{\"duration_ms\": 1.25, \"name\": \"", 31) == 0 && strcmp(strchr(line, '}'), "}\n") == 0;
    fclose(f);
    CU_ASSERT_EQUAL(n, 2 * NTHREADS * NPHASES);
    CU_ASSERT_EQUAL(nwhole, n);
}

int main(void)
{
    static const unit_test tests[] = { TEST(nothing_is_lost_between_threads) };
    return recorded_main("record_threads", tests, COUNT(tests));
}
