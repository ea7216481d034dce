/* test_store.c - a result file comes back as it was given, or does not come into being at all. */
#include "sample.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/store/result.h"
#include "tlmpi/store/store.h"

#include <CUnit/Basic.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/tlmpi-store.XXXXXX";
static char file[64], part[80]; /* the result of most tests */
static tl_error err;

static bool there(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0;
}

static void clean(void)
{
    unlink(file);
    unlink(part);
}

static void write_sample(uint64_t nrows, int nranks, unsigned seed)
{
    sample_plan plan = { .nrows = nrows, .nranks = nranks, .seed = seed, .force = true };
    CU_ASSERT_EQUAL_FATAL(sample_write(file, &plan, &err), TL_OK);
    CU_ASSERT_FALSE(there(part));
}

static tl_result *open_file(void)
{
    tl_result *r = NULL;
    CU_ASSERT_EQUAL_FATAL(tl_result_open(file, &r, &err), TL_OK);
    return r;
}

/* The digest of a table of `file`. */
static uint64_t digest(const char *table)
{
    uint64_t hash = 0;
    tl_result *r = open_file();
    const tl_schema *s = tl_result_find(r, table);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    CU_ASSERT_EQUAL(tl_result_digest(r, s, &hash, &err), TL_OK);
    tl_result_close(r);
    return hash;
}

/* A packed cell. */
#define CELL(T, row, s, i) (*(T *)memcpy(&(T){ 0 }, (row) + (s)->fields[i].offset, sizeof(T)))
enum { RANK, START, COLOR, NAME, LARGE, SHARE, TEXT, ROW };

/* Rows that differ from what sample_fill says, of all rows of the table. */
static size_t count_wrong(tl_result *r, const sample_plan *plan)
{
    enum { BLOCK = 5000 };
    const tl_schema *s = tl_result_find(r, "sample");
    size_t wrong = 0;
    tl_sample *want = calloc(BLOCK, sizeof *want);
    unsigned char *got = calloc(BLOCK, s->row_size);
    for (uint64_t first = 0; first < plan->nrows; first += BLOCK) {
        size_t n = plan->nrows - first < BLOCK ? (size_t)(plan->nrows - first) : BLOCK;
        CU_ASSERT_EQUAL_FATAL(tl_result_read(r, s, first, n, got, &err), TL_OK);
        sample_fill(plan, first, n, want);
        for (size_t i = 0; i < n; i++) {
            const unsigned char *row = got + i * s->row_size;
            const tl_sample *w = &want[i];
            int64_t start = w->start_ns == TL_TIME_UNKNOWN ? w->start_ns : w->start_ns - SAMPLE_EPOCH_NS;
            double share = CELL(double, row, s, SHARE);
            bool same = CELL(int32_t, row, s, RANK) == w->rank && CELL(int64_t, row, s, START) == start &&
                        CELL(uint8_t, row, s, COLOR) == w->color &&
                        CELL(uint32_t, row, s, NAME) == (w->name == TL_NO_NAME ? TL_NO_NAME : 2 * w->name) &&
                        CELL(int64_t, row, s, LARGE) == w->large && CELL(int32_t, row, s, ROW) == w->row &&
                        (isnan(w->share) ? isnan(share) : share == w->share) &&
                        memcmp(row + s->fields[TEXT].offset, w->text, sizeof w->text) == 0;
            wrong += !same;
        }
    }
    free(got);
    free(want);
    return wrong;
}

static void every_cell_comes_back_at_every_size(void)
{
    static const uint64_t sizes[] = { 0, 1, 2, TL_CHUNK_ROWS - 1, TL_CHUNK_ROWS, TL_CHUNK_ROWS + 1, 3 * TL_CHUNK_ROWS };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sample_plan plan = { .nrows = sizes[i], .nranks = 3 };
        write_sample(sizes[i], 3, 0);
        tl_result *r = open_file();
        CU_ASSERT_EQUAL(tl_result_nrows(r, tl_result_find(r, "sample")), sizes[i]);
        CU_ASSERT_EQUAL(count_wrong(r, &plan), 0);
        tl_result_close(r);
    }
}

static void the_schema_comes_back(void)
{
    write_sample(10, 2, 0);
    tl_result *r = open_file();
    CU_ASSERT_EQUAL_FATAL(tl_result_ntables(r), 3);
    CU_ASSERT_STRING_EQUAL(tl_result_table(r, 0)->name, "remark");
    CU_ASSERT_STRING_EQUAL(tl_result_table(r, 1)->name, "sample");
    CU_ASSERT_STRING_EQUAL(tl_result_table(r, 2)->name, "sample_index");
    CU_ASSERT_PTR_NULL(tl_result_find(r, "interval"));

    static const tl_schema *const written[] = { &tl_remark_schema, &tl_sample_schema };
    for (size_t t = 0; t < 2; t++) {
        const tl_schema *w = written[t], *s = tl_result_table(r, t);
        CU_ASSERT_STRING_EQUAL(s->title, w->title);
        CU_ASSERT_STRING_EQUAL(s->question, w->question);
        CU_ASSERT_EQUAL(s->scope, w->scope);
        CU_ASSERT_EQUAL(s->row_size, tl_packed_size(w));
        CU_ASSERT_EQUAL_FATAL(s->nfields, w->nfields);
        for (size_t i = 0; i < w->nfields; i++) {
            CU_ASSERT_STRING_EQUAL(s->fields[i].name, w->fields[i].name);
            CU_ASSERT_STRING_EQUAL(s->fields[i].unit, w->fields[i].unit);
            CU_ASSERT_STRING_EQUAL(s->fields[i].doc, w->fields[i].doc);
            CU_ASSERT_EQUAL(s->fields[i].type, w->fields[i].type);
            CU_ASSERT_EQUAL(s->fields[i].role, w->fields[i].role);
            CU_ASSERT_EQUAL(s->fields[i].size, w->fields[i].size);
        }
    }
    const char *const *labels = tl_result_find(r, "sample")->fields[COLOR].labels;
    CU_ASSERT_STRING_EQUAL(labels[0], "red");
    CU_ASSERT_STRING_EQUAL(labels[2], "blue");
    CU_ASSERT_PTR_NULL(labels[3]);

    int64_t epoch_ns = 0;
    CU_ASSERT_EQUAL(tl_result_attr_int(r, "epoch_ns", &epoch_ns, &err), TL_OK);
    CU_ASSERT_EQUAL(epoch_ns, SAMPLE_EPOCH_NS);
    CU_ASSERT_EQUAL(tl_result_attr_int(r, "no_such", &epoch_ns, &err), TL_EINPUT);
    CU_ASSERT_EQUAL(tl_result_attr_int(r, "command_line", &epoch_ns, &err), TL_EINPUT);
    char row[1000];
    CU_ASSERT_EQUAL(tl_result_read(r, tl_result_table(r, 1), 9, 2, row, &err), TL_EINTERNAL);
    CU_ASSERT_EQUAL(tl_result_read(r, tl_result_table(r, 1), 10, 0, row, &err), TL_OK);
    tl_result_close(r);
}

static void the_order_of_arrival_does_not_matter(void)
{
    sample_plan plan = { .nrows = 200001, .nranks = 4 };
    write_sample(plan.nrows, plan.nranks, 0);
    uint64_t in_order = digest("sample"), index = digest("sample_index");
    for (unsigned seed = 1; seed <= 5; seed++) {
        write_sample(plan.nrows, plan.nranks, seed);
        CU_ASSERT_EQUAL(digest("sample"), in_order);
        CU_ASSERT_EQUAL(digest("sample_index"), index);
        tl_result *r = open_file();
        CU_ASSERT_EQUAL(count_wrong(r, &plan), 0);
        tl_result_close(r);
    }
}

/* The whole file; the caller frees it. */
static char *slurp(const char *path, size_t *n)
{
    struct stat s;
    int fd = open(path, O_RDONLY);
    CU_ASSERT_EQUAL_FATAL(fstat(fd, &s), 0);
    char *bytes = malloc((size_t)s.st_size + 1);
    CU_ASSERT_EQUAL(read(fd, bytes, (size_t)s.st_size), s.st_size);
    close(fd);
    *n = (size_t)s.st_size;
    return bytes;
}

static void equal_content_gives_equal_bytes(void)
{
    size_t n1, n2;
    write_sample(50000, 4, 0);
    char *one = slurp(file, &n1);
    sleep(1); /* a time stamp of a second would show */
    write_sample(50000, 4, 0);
    char *two = slurp(file, &n2);
    CU_ASSERT_EQUAL(n1, n2);
    CU_ASSERT_EQUAL(memcmp(one, two, n1 < n2 ? n1 : n2), 0);
    free(one);
    free(two);
}

/* Writes one row of the remark table and returns the digest of that table. */
static uint64_t digest_of(const tl_remark *row)
{
    unsigned char packed[sizeof *row];
    tl_store *s;
    tl_pack(&tl_remark_schema, row, 1, 0, NULL, packed);
    CU_ASSERT_EQUAL_FATAL(tl_store_create(file, true, &s, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_add_table(s, &tl_remark_schema, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_rows(s, &tl_remark_schema, 0, packed, 1, &err), TL_OK);
    CU_ASSERT_EQUAL_FATAL(tl_store_finish(s, &err), TL_OK);
    return digest("remark");
}

static void the_digest_sees_every_cell_but_the_source(void)
{
    tl_remark row = { "/here", "one", 1.5 };
    uint64_t hash = digest_of(&row);
    row = (tl_remark){ "/there", "one", 1.5 };
    CU_ASSERT_EQUAL(digest_of(&row), hash);
    row = (tl_remark){ "/here", "two", 1.5 };
    CU_ASSERT_NOT_EQUAL(digest_of(&row), hash);
    row = (tl_remark){ "/here", "one", 1.25 };
    CU_ASSERT_NOT_EQUAL(digest_of(&row), hash);
    row = (tl_remark){ "/here", "one", NAN };
    hash = digest_of(&row);
    row.weight = -row.weight;
    CU_ASSERT_EQUAL(digest_of(&row), hash);
}

static void names_may_hold_any_byte(void)
{
    static const struct {
        const char *given;
        size_t n;
        const char *kept;
    } names[] = {
        { "plain", 5, "plain" },
        { "", 0, "" },
        { "a\0z", 3, "a\xef\xbf\xbdz" },
        { "\xff\xfe", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
        { "cut \xe2\x82", 6, "cut \xef\xbf\xbd\xef\xbf\xbd" },
        { "\xe2\x82\xac", 3, "\xe2\x82\xac" },
    };
    enum { N = sizeof names / sizeof names[0], MANY = 10000, LONG = 200000 };
    char *text = malloc(LONG);
    tl_store *s;
    memset(text, 'x', LONG);
    CU_ASSERT_EQUAL_FATAL(tl_store_create(file, true, &s, &err), TL_OK);
    for (size_t i = 0; i < N; i++)
        CU_ASSERT_EQUAL(tl_store_name(s, names[i].given, names[i].n, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_store_name(s, text, LONG, &err), TL_OK);
    for (int i = 0; i < MANY; i++) {
        int n = snprintf(text, LONG, "number %d", i);
        CU_ASSERT_EQUAL(tl_store_name(s, text, (size_t)n, &err), TL_OK);
    }
    CU_ASSERT_EQUAL_FATAL(tl_store_finish(s, &err), TL_OK);

    tl_result *r = open_file();
    CU_ASSERT_EQUAL_FATAL(tl_result_nnames(r), N + 1 + MANY);
    for (uint32_t i = 0; i < N; i++)
        CU_ASSERT(tl_text_is(tl_result_name(r, i), names[i].kept));
    CU_ASSERT_EQUAL(tl_result_name(r, N).n, LONG);
    CU_ASSERT(tl_text_is(tl_result_name(r, N + MANY), "number 9999"));
    CU_ASSERT_EQUAL(tl_result_name(r, N + MANY + 1).n, 0);
    CU_ASSERT_EQUAL(tl_result_name(r, TL_NO_NAME).n, 0);
    tl_result_close(r);
    free(text);
}

static void a_chunk_is_what_hdf5_makes_of_it(void)
{
    /* Rows of 1 to 21 bytes through the library's own filters: below, at and above what the shuffle takes at once. */
    static const uint32_t sizes[] = { 1, 3, 7, 8, 9, 15, 16, 17, 21 };
    write_sample(1, 1, 0);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        tl_field field = { "text", "", "bytes", TL_TYPE_TEXT, TL_ROLE_KEY, sizes[k], 0, NULL };
        tl_schema schema = { "bytes", "bytes", "which bytes?", TL_SCOPE_EVENT, &field, 1, sizes[k] };
        size_t n = TL_CHUNK_ROWS - 5, nbytes = n * sizes[k];
        unsigned char *rows = malloc(nbytes), *back = malloc(nbytes), *encoded = malloc(tl_chunk_bound(&schema));
        unsigned state = 1;
        for (size_t i = 0; i < nbytes; i++) {
            state = state * 1664525u + 1013904223u;
            rows[i] = (unsigned char)(state >> 24); /* nothing to compress: the longest chunk there is */
        }
        size_t used = tl_chunk_encode(&schema, rows, n, encoded);
        CU_ASSERT(used > 0 && used <= tl_chunk_bound(&schema));

        hsize_t extent = n, any = H5S_UNLIMITED, chunk = TL_CHUNK_ROWS, zero = 0;
        hid_t f = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcreate(H5T_OPAQUE, sizes[k]);
        hid_t space = H5Screate_simple(1, &extent, &any), plist = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(plist, 1, &chunk);
        H5Pset_shuffle(plist);
        H5Pset_deflate(plist, TL_DEFLATE_LEVEL);
        hid_t d = H5Dcreate2(f, "bytes", type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
        CU_ASSERT(H5Dwrite_chunk(d, H5P_DEFAULT, 0, &zero, used, encoded) >= 0);
        CU_ASSERT(H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
        CU_ASSERT_EQUAL(memcmp(rows, back, nbytes), 0);
        H5Dclose(d);
        H5Ldelete(f, "bytes", H5P_DEFAULT);
        H5Pclose(plist);
        H5Sclose(space);
        H5Tclose(type);
        H5Fclose(f);
        free(rows);
        free(back);
        free(encoded);
    }
}

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

static void memory_may_run_out_anywhere(void)
{
    sample_plan plan = { .nrows = 20, .nranks = 2 };
    size_t k = 1;
    for (;; k++) {
        clean();
        tl_mem_fail_after(k);
        tl_status st = sample_write(file, &plan, &err);
        tl_mem_fail_after(0);
        if (st == TL_OK)
            break;
        CU_ASSERT_EQUAL(st, TL_ENOMEM);
        CU_ASSERT_FALSE(there(file));
        CU_ASSERT_FALSE(there(part));
    }
    CU_ASSERT(k > 50);
    for (k = 1;; k++) {
        tl_result *r = NULL;
        uint64_t hash;
        tl_mem_fail_after(k);
        tl_status st = tl_result_open(file, &r, &err);
        if (st == TL_OK)
            st = tl_result_digest(r, tl_result_find(r, "sample"), &hash, &err);
        tl_mem_fail_after(0);
        tl_result_close(r);
        if (st == TL_OK)
            break;
        CU_ASSERT_EQUAL(st, TL_ENOMEM);
    }
    CU_ASSERT(k > 50);
}

static void put_bytes(const char *path, const char *bytes, size_t n)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CU_ASSERT_EQUAL(write(fd, bytes, n), (ssize_t)n);
    close(fd);
}

/* The file is refused as input, with its path and this word. */
static void refused(const char *path, const char *word)
{
    tl_result *r = NULL;
    CU_ASSERT_EQUAL(tl_result_open(path, &r, &err), TL_EINPUT);
    CU_ASSERT_PTR_NULL(r);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, path));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, word));
    if (strstr(err.text, word) == NULL)
        fprintf(stderr, "expected \"%s\" in \"%s\"\n", word, err.text);
    tl_result_close(r);
}

static void what_is_no_result_is_refused(void)
{
    size_t n;
    clean();
    refused(file, "No such file");
    refused(folder, "no regular file");
    refused("/dev/zero", "no regular file");
    put_bytes(file, "", 0);
    refused(file, "HDF5");
    put_bytes(file, "{ \"traceEvents\": [] }", 21);
    refused(file, "HDF5");

    write_sample(30000, 3, 0);
    char *bytes = slurp(file, &n);
    for (size_t cut = 1; cut < n; cut += cut < 3000 ? 97 : 5003) {
        put_bytes(file, bytes, cut);
        refused(file, "");
    }
    free(bytes);
}

/* Opens the sample for a change. */
static hid_t change(void)
{
    write_sample(100, 2, 0);
    return H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
}

static void set_version(hid_t f, int64_t version)
{
    hid_t a = H5Aopen(f, "schema_version", H5P_DEFAULT);
    CU_ASSERT(H5Awrite(a, H5T_NATIVE_INT64, &version) >= 0);
    H5Aclose(a);
}

/* Makes a table that claims more rows than it has bytes. */
static void claim_rows(hid_t f, const char *name)
{
    hsize_t rows = (hsize_t)1 << 50;
    hid_t d = H5Dopen2(f, name, H5P_DEFAULT);
    CU_ASSERT(H5Dset_extent(d, &rows) >= 0);
    H5Dclose(d);
}

static void a_file_that_lies_is_refused(void)
{
    hid_t f = change();
    set_version(f, 7);
    H5Fclose(f);
    refused(file, "has schema version 7, and this program reads version 1");

    f = change();
    H5Adelete(f, "Conventions");
    H5Fclose(f);
    refused(file, "no result file of tlmpi");

    f = change();
    claim_rows(f, "/tables/sample");
    H5Fclose(f);
    refused(file, "/tables/sample claims 1125899906842624 rows");

    f = change();
    claim_rows(f, "/names");
    H5Fclose(f);
    refused(file, "/names claims");

    f = change();
    H5Ldelete(f, "/names", H5P_DEFAULT);
    H5Fclose(f);
    refused(file, "/names");

    f = change();
    H5Ldelete(f, "/tables", H5P_DEFAULT);
    H5Fclose(f);
    refused(file, "/tables");

    f = change();
    H5Lcreate_external("/etc/passwd", "/x", f, "/tables/elsewhere", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(f);
    refused(file, "/tables/elsewhere");

    f = change();
    H5Gclose(H5Gcreate2(f, "/tables/group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(f);
    refused(file, "/tables/group is no table");

    f = change();
    hid_t space = H5Screate(H5S_SCALAR);
    H5Dclose(H5Dcreate2(f, "/tables/number", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(f);
    refused(file, "number is no table");

    f = change();
    hid_t d = H5Dopen2(f, "/tables/sample", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1), a;
    H5Tset_size(type, 4);
    H5Adelete(d, "FIELD_4_TYPE");
    space = H5Screate(H5S_SCALAR);
    a = H5Acreate2(d, "FIELD_4_TYPE", type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, type, "name");
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(d);
    H5Fclose(f);
    refused(file, "column sample.large is not of type name");
}

int main(void)
{
    static CU_TestInfo tests[] = {
        { "every cell comes back, at every size", every_cell_comes_back_at_every_size },
        { "the schema comes back", the_schema_comes_back },
        { "the order of arrival does not matter", the_order_of_arrival_does_not_matter },
        { "equal content gives equal bytes", equal_content_gives_equal_bytes },
        { "the digest sees every cell but the source", the_digest_sees_every_cell_but_the_source },
        { "names may hold any byte", names_may_hold_any_byte },
        { "a chunk is what HDF5 makes of it", a_chunk_is_what_hdf5_makes_of_it },
        { "nothing is overwritten without force", nothing_is_overwritten_without_force },
        { "a stale part goes and a live one stays", a_stale_part_goes_and_a_live_one_stays },
        { "a store given up leaves nothing", a_store_given_up_leaves_nothing },
        { "rows that are missing or come twice are a fault", rows_that_are_missing_or_come_twice_are_a_fault },
        { "a full disk at any byte leaves no file", a_full_disk_at_any_byte_leaves_no_file },
        { "a folder that may not be written is named", a_folder_that_may_not_be_written_is_named },
        { "a killed run leaves a whole file or none", a_killed_run_leaves_a_whole_file_or_none },
        { "memory may run out anywhere", memory_may_run_out_anywhere },
        { "what is no result is refused", what_is_no_result_is_refused },
        { "a file that lies is refused", a_file_that_lies_is_refused },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "store", .pTests = tests }, CU_SUITE_INFO_NULL };

    if (mkdtemp(folder) == NULL)
        return 2;
    snprintf(file, sizeof file, "%s/out.h5", folder);
    snprintf(part, sizeof part, "%s.part", file);
    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 2;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    clean();
    rmdir(folder);
    return failures > 0;
}
