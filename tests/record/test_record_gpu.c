/* test_record_gpu.c - the recorder on a real GPU, where this machine has one; it says which, or is skipped. */
#include "real_gpu.h"
#include "scratch.h"
#include "tlmpi_record.h"
#include "unit.h"

#include <stdbool.h>

/* Copies between each two events, which take the device longer than nothing. */
static int (*fill)(unsigned long long, unsigned char, size_t, void *);
static unsigned long long memory;
static const size_t size = 256 << 20;

static bool find_work(void)
{
    int (*allocate)(unsigned long long *, size_t);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *found[2] = { dlsym(library, "cuMemAlloc_v2"), dlsym(library, "cuMemsetD8Async") };
    memcpy(&allocate, &found[0], sizeof allocate);
    memcpy(&fill, &found[1], sizeof fill);
    return allocate != NULL && fill != NULL && allocate(&memory, size) == 0;
}

static void phases_are_as_long_as_their_work(void)
{
    enum { NSTEPS = 50 };
    tlmpi_record_settings settings;
    tlmpi_record *recorder;
    tlmpi_record_counts counts;
    double shortest = 1e9, longest = 0;
    char line[256];

    CU_ASSERT_TRUE_FATAL(find_work());
    tlmpi_record_defaults(&settings);
    settings.enable = 1;
    settings.directory = scratch_folder;
    settings.record_every_n_steps = 1;
    CU_ASSERT_EQUAL_FATAL(tlmpi_record_open(&settings, &recorder), TLMPI_RECORD_OK);
    for (int64_t step = 0; step < NSTEPS; step++) {
        uint64_t phase;
        CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "fill", step, NULL, NULL, 0, &phase), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(fill(memory, (unsigned char)step, size, NULL), 0);
        CU_ASSERT_EQUAL(tlmpi_record_end(recorder, phase, NULL), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(tlmpi_record_step_end(recorder, step), TLMPI_RECORD_OK);
    }
    CU_ASSERT_EQUAL(tlmpi_record_close(recorder, &counts), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(counts.written, NSTEPS);
    CU_ASSERT_EQUAL(counts.failed + counts.lost, 0);

    FILE *f = fopen(scratch_path("cuda_events_rank_0.jsonl"), "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    while (fgets(line, sizeof line, f) != NULL) {
        double ms = strtod(line + strlen("{\"duration_ms\": "), NULL);
        shortest = ms < shortest ? ms : shortest;
        longest = ms > longest ? ms : longest;
    }
    fclose(f);
    printf("filling %zu MiB took %.3f to %.3f ms\n", size >> 20, shortest, longest);
    CU_ASSERT_TRUE(shortest > 0.01); /* 256 MiB in 10 us were 27 TB/s */
}

int main(void)
{
    static const unit_test tests[] = { TEST(phases_are_as_long_as_their_work) };
    const char *why, *name = real_gpu(&why);
    if (name == NULL) {
        printf("driver: none\nSKIPPED: no GPU: %s\n", why);
        return 77;
    }
    printf("driver: libcuda.so.1, on %s\n", name);
    int status = scratch_make() || unit_main("record_gpu", tests, COUNT(tests));
    scratch_remove();
    return status;
}
