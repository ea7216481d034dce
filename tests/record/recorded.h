/* recorded.h - a recorder in a folder of its own, on a fake driver, and what it wrote. */
#ifndef TLMPI_TESTS_RECORDED_H
#define TLMPI_TESTS_RECORDED_H

#include "fake_driver.h"
#include "scratch.h"
#include "tlmpi_record.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>

static tlmpi_record_settings settings;
static tlmpi_record *recorder;
static tlmpi_record_counts counts;

/* What a test begins with: nothing on disk, a driver as new, every step recorded.  It changes settings and opens. */
static inline void fresh(int rank)
{
    scratch_remove();
    scratch_make();
    fake_reset();
    fake_elapsed(1.25f);
    tlmpi_record_defaults(&settings);
    settings.enable = 1;
    settings.rank = rank;
    settings.directory = scratch_folder;
    settings.record_every_n_steps = 1;
}

/* Whether the recorder is on. */
static inline bool opened(void)
{
    return tlmpi_record_open(&settings, &recorder) == TLMPI_RECORD_OK;
}

static inline tlmpi_record_status phase(const char *name, int64_t step, void *stream)
{
    uint64_t id;
    tlmpi_record_status status = tlmpi_record_begin(recorder, name, step, stream, NULL, 0, &id);
    return status != TLMPI_RECORD_OK ? status : tlmpi_record_end(recorder, id, stream);
}

/* Closes, and checks that no event is left, that the driver was used as it must be, and that all phases are
 * accounted for. */
static inline tlmpi_record_status closed(int64_t written)
{
    fake_counts fake;
    tlmpi_record_status status = tlmpi_record_close(recorder, &counts);
    recorder = NULL;
    fake_count(&fake);
    CU_ASSERT_EQUAL(fake.live, 0);
    CU_ASSERT_EQUAL(fake.wrong, 0);
    CU_ASSERT_EQUAL(fake.broken, 0);
    CU_ASSERT_EQUAL(fake.pushed, 0);
    CU_ASSERT_EQUAL(counts.written, written);
    CU_ASSERT_EQUAL(counts.open + counts.pending + counts.events, 0);
    return status;
}

/* How many lines the file of a rank has. */
static inline int nlines(int rank)
{
    char name[64];
    int n = 0;
    snprintf(name, sizeof name, "cuda_events_rank_%d.jsonl", rank);
    for (const char *p = scratch_content(name); *p != '\0'; p++)
        n += *p == '\n';
    return n;
}

/* main of each program: the driver is the fake one that it is linked with, and said to be. */
static inline int recorded_main(const char *suite, const unit_test *tests, size_t n)
{
    printf("driver: the tests' own, %s\n", strrchr(FAKE_LIBRARY, '/') + 1);
    int status = setenv("TLMPI_RECORD_LIBRARY", FAKE_LIBRARY, 1) != 0 || scratch_make() || unit_main(suite, tests, n);
    scratch_remove();
    return status;
}

#endif
