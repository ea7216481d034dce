/* test_store_fail.c - a result file does not come into being, or comes whole. */
#include "store_file.h"

#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static void nothing_is_overwritten_without_force(void)
{
    clean();
    sample_plan plan = { .nrows = 10, .nranks = 1 };
    CU_ASSERT_EQUAL(sample_write(file, &plan, &err), TL_OK);
    uint64_t before = digest("sample");
    plan.nrows = 11;
    CU_ASSERT_EQUAL(sample_write(file, &plan, &err), TL_EOUTPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, " exists; -f overwrites it"));
    CU_ASSERT_EQUAL(digest("sample"), before);
    plan.force = true;
    CU_ASSERT_EQUAL(sample_write(file, &plan, &err), TL_OK);
    CU_ASSERT_NOT_EQUAL(digest("sample"), before);

    /* A file that comes while ours is written is not overwritten either. */
    tl_store *s;
    clean();
    CU_ASSERT_EQUAL_FATAL(tl_store_create(file, false, &s, &err), TL_OK);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    CU_ASSERT_EQUAL(tl_store_finish(s, &err), TL_EOUTPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, " exists"));
    CU_ASSERT_FALSE(there(part));
    CU_ASSERT_TRUE(there(file));
    clean();

    CU_ASSERT_EQUAL(tl_store_create(folder, true, &s, &err), TL_EOUTPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, " is a folder"));
}

static void a_stale_part_goes_and_a_live_one_stays(void)
{
    char victim[80];
    snprintf(victim, sizeof victim, "%s/victim", folder);
    close(open(victim, O_CREAT | O_WRONLY, 0600));
    CU_ASSERT_EQUAL(symlink(victim, part), 0);
    write_sample(10, 1, 0);
    struct stat s;
    CU_ASSERT_EQUAL(stat(victim, &s), 0);
    CU_ASSERT_EQUAL(s.st_size, 0);
    unlink(victim);

    int fd = open(part, O_CREAT | O_WRONLY, 0600);
    CU_ASSERT_EQUAL(flock(fd, LOCK_EX), 0);
    tl_store *store;
    CU_ASSERT_EQUAL(tl_store_create(file, true, &store, &err), TL_EOUTPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "another run is writing it"));
    CU_ASSERT_TRUE(there(part));
    close(fd);
    write_sample(10, 1, 0);
}

/* Another run has removed the part, and made its own: that stays, and does not get the file's name. */
static void a_part_of_another_run_is_not_published(void)
{
    tl_store *s;
    clean();
    CU_ASSERT_EQUAL_FATAL(tl_store_create(file, true, &s, &err), TL_OK);
    CU_ASSERT_EQUAL(unlink(part), 0);
    close(open(part, O_CREAT | O_WRONLY, 0600));
    CU_ASSERT_EQUAL(tl_store_finish(s, &err), TL_EOUTPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "another run is writing it"));
    CU_ASSERT_TRUE(there(part));
    CU_ASSERT_FALSE(there(file));
    unlink(part);
}

static void a_store_given_up_leaves_nothing(void)
{
    tl_store *s;
    clean();
    CU_ASSERT_EQUAL_FATAL(tl_store_create(file, false, &s, &err), TL_OK);
    CU_ASSERT_TRUE(there(part));
    tl_store_abandon(s);
    CU_ASSERT_FALSE(there(part));
    tl_store_abandon(NULL);
    CU_ASSERT_EQUAL(tl_store_create("/no/such/folder/out.h5", false, &s, &err), TL_EOUTPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "No such file or directory"));
}

/* The rows given, as (first, n), and what finish makes of them. */
static tl_status finish_with(const uint64_t (*runs)[2], size_t nruns)
{
    size_t size = tl_packed_size(&tl_remark_schema);
    unsigned char *packed = calloc(3000, size);
    tl_store *s;
    tl_status st = TL_OK;
    clean();
    CU_ASSERT_EQUAL_FATAL(tl_store_create(file, false, &s, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_add_table(s, &tl_remark_schema, &err), TL_OK);
    for (size_t i = 0; i < nruns; i++)
        st = tl_store_rows(s, &tl_remark_schema, runs[i][0], packed, (size_t)runs[i][1], &err);
    /* Finish refuses a store that has failed, whether or not the caller has looked. */
    tl_status end = tl_store_finish(s, &err);
    CU_ASSERT(st == TL_OK || end == st);
    CU_ASSERT_EQUAL(there(file), end == TL_OK);
    CU_ASSERT_FALSE(there(part));
    free(packed);
    return end;
}

static void rows_that_are_missing_or_come_twice_are_a_fault(void)
{
    CU_ASSERT_EQUAL(finish_with((const uint64_t[][2]){ { 10, 5 }, { 0, 10 } }, 2), TL_OK);
    CU_ASSERT_EQUAL(finish_with((const uint64_t[][2]){ { 0, 3000 } }, 1), TL_OK);
    CU_ASSERT_EQUAL(finish_with((const uint64_t[][2]){ { 0, 10 }, { 11, 5 } }, 2), TL_EINTERNAL);
    CU_ASSERT_EQUAL(finish_with((const uint64_t[][2]){ { 5, 10 } }, 1), TL_EINTERNAL);
    CU_ASSERT_EQUAL(finish_with((const uint64_t[][2]){ { 1024, 10 } }, 1), TL_EINTERNAL);
    CU_ASSERT_EQUAL(finish_with((const uint64_t[][2]){ { 0, 10 }, { 5, 10 } }, 2), TL_EINTERNAL);
    CU_ASSERT_EQUAL(finish_with((const uint64_t[][2]){ { 0, 1000 }, { 500, 500 } }, 2), TL_EINTERNAL);
    tl_store *s;
    clean();
    CU_ASSERT_EQUAL_FATAL(tl_store_create(file, false, &s, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_rows(s, &tl_remark_schema, 0, "", 0, &err), TL_EINTERNAL);
    tl_store_abandon(s);
}

/* Runs `what` in a child that may be limited or killed; its status. */
static int in_child(int (*what)(long), long arg)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(what(arg));
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    return status;
}

/* 0 done; 1 failed, and as it should; 2 failed otherwise. */
static int write_below(long limit)
{
    sample_plan plan = { .nrows = 40000, .nranks = 3 };
    struct rlimit size = { (rlim_t)limit, (rlim_t)limit };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &size);
    tl_status st = sample_write(file, &plan, &err);
    if (st == TL_OK)
        return 0;
    return st == TL_EOUTPUT && strstr(err.text, "File too large") != NULL && strstr(err.text, part) != NULL ? 1 : 2;
}

/* A file that may not grow is a disk that is full, at every place where that can be. */
static void a_full_disk_at_any_byte_leaves_no_file(void)
{
    struct stat s;
    write_sample(40000, 3, 0);
    CU_ASSERT_EQUAL_FATAL(stat(file, &s), 0);
    clean();
    for (long limit = 0; limit < s.st_size; limit += limit < 20000 ? 500 : 9000) {
        int status = in_child(write_below, limit);
        CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        CU_ASSERT_FALSE(there(file));
        CU_ASSERT_FALSE(there(part));
    }
    CU_ASSERT_EQUAL(in_child(write_below, s.st_size), 0);
}

/* 1 when it failed as it should. */
static int write_where_one_may_not(long unused)
{
    (void)unused;
    sample_plan plan = { .nrows = 10, .nranks = 1 };
    /* Root may write anywhere. */
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 3;
    tl_status st = sample_write(file, &plan, &err);
    return st == TL_EOUTPUT && strstr(err.text, "Permission denied") != NULL;
}

static void a_folder_that_may_not_be_written_is_named(void)
{
    clean();
    CU_ASSERT_EQUAL(chmod(folder, 0555), 0);
    int status = in_child(write_where_one_may_not, 0);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CU_ASSERT_EQUAL(chmod(folder, 0700), 0);
    CU_ASSERT_FALSE(there(file));
}

/* A run that is killed leaves the file before it, or its own, whole. */
static void a_killed_run_leaves_a_whole_file_or_none(void)
{
    sample_plan plan = { .nrows = 60000, .nranks = 3, .force = true };
    size_t nabsent = 0;
    clean();
    for (long i = 0; i < 25; i++) {
        pid_t pid = fork();
        if (pid == 0)
            for (;;)
                sample_write(file, &plan, &err);
        nanosleep(&(struct timespec){ .tv_nsec = 1500000 * i }, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        if (!there(file)) {
            nabsent++;
            continue;
        }
        tl_result *r = open_file();
        CU_ASSERT_EQUAL(count_wrong(r, &plan), 0);
        tl_result_close(r);
        unlink(file);
    }
    CU_ASSERT(nabsent > 0);
    write_sample(10, 1, 0);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(nothing_is_overwritten_without_force),
        TEST(a_stale_part_goes_and_a_live_one_stays),
        TEST(a_part_of_another_run_is_not_published),
        TEST(a_store_given_up_leaves_nothing),
        TEST(rows_that_are_missing_or_come_twice_are_a_fault),
        TEST(a_full_disk_at_any_byte_leaves_no_file),
        TEST(a_folder_that_may_not_be_written_is_named),
        TEST(a_killed_run_leaves_a_whole_file_or_none),
    };
    return store_main("store that fails", tests, COUNT(tests));
}
