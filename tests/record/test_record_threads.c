/* test_record_threads.c - threads record, each on a device of its own, end each other's phases, and flush. */
#include "capture.h"
#include "recorded.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static bool stopped;

/* Begins and never ends: what the recorder has grows all the time. */
static void *grow(void *argument)
{
    char name[2000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int64_t step = 0; !__atomic_load_n(&stopped, __ATOMIC_ACQUIRE); step++) {
        uint64_t id;
        (void)tlmpi_record_begin(recorder, name, step, NULL, NULL, 0, &id);
    }
    return argument;
}

static void a_child_closes_while_threads_record(void)
{
    enum { RECORDERS = 60, CHILDREN = 3 };
    int nbad = 0;

    capture_begin(); /* phases have not ended */
    for (int i = 0; i < RECORDERS; i++) {
        const struct timespec moment = { 0, 500000 + i % 10 * 300000 };
        pthread_t threads[2];
        fresh(0);
        CU_ASSERT_TRUE_FATAL(opened());
        __atomic_store_n(&stopped, false, __ATOMIC_RELEASE);
        for (int t = 0; t < 2; t++)
            CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[t], NULL, grow, NULL), 0);
        nanosleep(&moment, NULL);
        for (int n = 0; n < CHILDREN; n++) {
            int status = -1;
            pid_t child = fork();
            if (child == 0)
                _exit(tlmpi_record_close(recorder, NULL) == TLMPI_RECORD_OFF ? 0 : 1);
            nbad += waitpid(child, &status, 0) != child || status != 0;
        }
        __atomic_store_n(&stopped, true, __ATOMIC_RELEASE);
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], NULL);
        (void)tlmpi_record_close(recorder, NULL);
    }
    (void)capture_end();
    CU_ASSERT_EQUAL(nbad, 0);
}

int main(void)
{
    static const unit_test tests[] = { TEST(nothing_is_lost_between_threads), TEST(a_child_closes_while_threads_record) };
    return recorded_main("record_threads", tests, COUNT(tests));
}
