/* store_file.h - a result file in a folder of its own: what the tests of the store share. */
#ifndef TLMPI_TESTS_STORE_FILE_H
#define TLMPI_TESTS_STORE_FILE_H

#include "sample.h"
#include "tlmpi/store/result.h"
#include "tlmpi/store/store.h"
#include "unit.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tlmpi-store.XXXXXX";
static char file[64], part[80]; /* the result of most tests */
static tl_error err;

static inline bool there(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0;
}

static inline void clean(void)
{
    unlink(file);
    unlink(part);
}

static inline void write_sample(uint64_t nrows, int nranks, unsigned seed)
{
    sample_plan plan = { .nrows = nrows, .nranks = nranks, .seed = seed, .force = true };
    CU_ASSERT_EQUAL_FATAL(sample_write(file, &plan, &err), TL_OK);
    CU_ASSERT_FALSE(there(part));
}

static inline tl_result *open_file(void)
{
    tl_result *r = NULL;
    CU_ASSERT_EQUAL_FATAL(tl_result_open(file, &r, &err), TL_OK);
    return r;
}

/* The digest of a table of `file`. */
static inline uint64_t digest(const char *table)
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
static inline size_t count_wrong(tl_result *r, const sample_plan *plan)
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
                        CELL(uint32_t, row, s, NAME) == w->name &&
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

/* The whole file; the caller frees it. */
static inline char *slurp(const char *path, size_t *n)
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

static inline void put_bytes(const char *path, const char *bytes, size_t n)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CU_ASSERT_EQUAL(write(fd, bytes, n), (ssize_t)n);
    close(fd);
}

/* The file is refused as input, with its path and this word. */
static inline void refused(const char *path, const char *word)
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

/* Runs the tests in a new folder, which goes away with its file. */
static inline int store_main(const char *suite, const unit_test *tests, size_t n)
{
    if (mkdtemp(folder) == NULL)
        return 2;
    snprintf(file, sizeof file, "%s/out.h5", folder);
    snprintf(part, sizeof part, "%s.part", file);
    int failed = unit_main(suite, tests, n);
    clean();
    rmdir(folder);
    return failed;
}

#endif
