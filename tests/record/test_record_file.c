/* test_record_file.c - what a file may do to its writer: full, cut, not to be written, another's. */
#include "capture.h"
#include "recorded.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define FILE_0 "cuda_events_rank_0.jsonl"
#define LINE "{\"duration_ms\": 1.25, \"name\": \"p\", \"rank\": 0, \"step\": 0}\n"

static void lines_come_behind_those_of_the_run_before(void)
{
    fresh(0);
    for (int run = 0; run < 2; run++) {
        CU_ASSERT_TRUE(opened());
        CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_OK);
    }
    CU_ASSERT_STRING_EQUAL(scratch_content(FILE_0), LINE LINE);
}

static void a_line_that_was_cut_stays_alone(void)
{
    fresh(0);
    scratch_text(FILE_0, "{\"duration_ms\": 1.");
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_OK);
    CU_ASSERT_STRING_EQUAL(scratch_content(FILE_0), "{\"duration_ms\": 1.\n" LINE);
}

static void folders_are_made(void)
{
    char folder[256];
    fresh(0);
    snprintf(folder, sizeof folder, "%s/a/b", scratch_folder);
    settings.directory = folder;
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_OK);
    CU_ASSERT_STRING_EQUAL(scratch_content("a/b/" FILE_0), LINE);
}

static void no_folder_is_the_one_in_which_the_program_runs(void)
{
    char before[4096];
    fresh(0);
    settings.directory = "";
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(before, sizeof before));
    CU_ASSERT_EQUAL_FATAL(chdir(scratch_folder), 0);
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_EQUAL(chdir(before), 0);
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_OK);
    CU_ASSERT_STRING_EQUAL(scratch_content(FILE_0), LINE);
}

static void a_file_that_cannot_be_is_a_recorder_that_is_off(void)
{
    fresh(0);
    settings.directory = scratch_text("file", "");
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_PTR_NOT_NULL(strstr(tlmpi_record_reason(recorder), "/file/" FILE_0 ": Not a directory"));
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OFF);
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);
}

static void a_pipe_stops_no_training(void)
{
    fresh(0);
    CU_ASSERT_EQUAL(mkfifo(scratch_path(FILE_0), 0600), 0);
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_PTR_NOT_NULL(strstr(tlmpi_record_reason(recorder), "/" FILE_0 ": Illegal seek"));
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OFF);
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);
}

static void no_link_is_followed(void)
{
    fresh(0);
    CU_ASSERT_EQUAL(symlink("other", scratch_path(FILE_0)), 0);
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_PTR_NOT_NULL(strstr(tlmpi_record_reason(recorder), "/" FILE_0 ": Too many levels of symbolic links"));
    CU_ASSERT_STRING_EQUAL(scratch_content("other"), "(no file)");
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);
}

static void a_folder_that_cannot_be_made_is_told(void)
{
    fresh(0);
    settings.directory = "/sys/no/such"; /* a system folder that takes no folders of others */
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_PTR_NULL(strstr(tlmpi_record_reason(recorder), "No such file or directory"));
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);
}

static void a_full_disk_loses_lines_only(void)
{
    fake_counts fake;
    fresh(0);
    CU_ASSERT_EQUAL(symlink("/dev/full", scratch_path(FILE_0)), 0);
    CU_ASSERT_TRUE(opened());
    for (int64_t step = 0; step < 30; step++) {
        CU_ASSERT_EQUAL(phase("p", step, NULL), TLMPI_RECORD_OK);
        CU_ASSERT_EQUAL(tlmpi_record_step_end(recorder, step), step % 10 == 0 ? TLMPI_RECORD_WRITE : TLMPI_RECORD_OK);
    }
    fake_count(&fake);
    CU_ASSERT_EQUAL(fake.live, 20); /* used again all the same */
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_WRITE);
    CU_ASSERT_EQUAL(counts.lost, 30);
}

static void limit(rlim_t bytes)
{
    const struct rlimit to = { bytes, RLIM_INFINITY };
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &to), 0);
}

/* A disk that takes two lines and a half, nothing for a while, and then all again. */
static void a_line_that_was_taken_in_part_is_completed(void)
{
    const size_t line = sizeof LINE - 1;
    sigset_t pending;

    fresh(0);
    CU_ASSERT_TRUE(opened());
    limit(2 * line + line / 2);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_WRITE);
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_WRITE);
    CU_ASSERT_EQUAL(tlmpi_record_count(recorder, &counts), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(counts.written, 2);
    CU_ASSERT_EQUAL(counts.lost, 3);
    limit(RLIM_INFINITY);
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(4), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(counts.lost, 2);
    CU_ASSERT_STRING_EQUAL(scratch_content(FILE_0), LINE LINE LINE LINE);
    CU_ASSERT_EQUAL(sigpending(&pending), 0);
    CU_ASSERT_FALSE(sigismember(&pending, SIGXFSZ));
}

static void a_disk_that_stays_full_leaves_one_line_cut(void)
{
    const size_t line = sizeof LINE - 1;
    fresh(0);
    scratch_text(FILE_0, "x"); /* a line of another's, cut */
    CU_ASSERT_TRUE(opened());
    limit(1);
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_WRITE);
    limit(2 + line + 5);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_WRITE);
    limit(RLIM_INFINITY);
    CU_ASSERT_EQUAL(counts.lost, 3);
    CU_ASSERT_STRING_EQUAL(scratch_content(FILE_0), "x\n" LINE "{\"dur");
}

static void what_the_disk_refuses_is_said_once(void)
{
    fresh(0);
    CU_ASSERT_EQUAL(symlink("/dev/full", scratch_path(FILE_0)), 0);
    CU_ASSERT_TRUE(opened());
    capture_begin();
    for (int64_t step = 0; step < 100; step++) {
        (void)phase("p", step, NULL);
        (void)tlmpi_record_flush(recorder);
    }
    (void)closed(0);
    CU_ASSERT_STRING_EQUAL(capture_end(),
                           "tlmpi_record: rank 0: lines are lost, the program goes on: No space left on device\n");
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(lines_come_behind_those_of_the_run_before),
        TEST(a_line_that_was_cut_stays_alone),
        TEST(folders_are_made),
        TEST(no_folder_is_the_one_in_which_the_program_runs),
        TEST(a_file_that_cannot_be_is_a_recorder_that_is_off),
        TEST(a_pipe_stops_no_training),
        TEST(no_link_is_followed),
        TEST(a_folder_that_cannot_be_made_is_told),
        TEST(a_full_disk_loses_lines_only),
        TEST(a_line_that_was_taken_in_part_is_completed),
        TEST(a_disk_that_stays_full_leaves_one_line_cut),
        TEST(what_the_disk_refuses_is_said_once),
    };
    return recorded_main("record_file", tests, COUNT(tests));
}
