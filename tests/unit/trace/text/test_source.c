/* test_source.c - every byte of a file that can be had, and then one word on what was wrong. */
#include "scratch.h"
#include "tlmpi/trace/text/source.h"

#include <CUnit/Basic.h>
#include <fcntl.h>
#include <sys/wait.h>

#define ROOM ((size_t)1 << 20)

static char text[ROOM];             /* what stands in the files: something that deflates, but not to nothing */
static unsigned char packed[2 * ROOM];
static char got[2 * ROOM];

static void fill_text(void)
{
    size_t n = 0;
    for (unsigned i = 0; n + 64 < sizeof text; i++)
        n += (size_t)snprintf(text + n, 64, "{\"ph\": \"X\", \"ts\": %u, \"dur\": %u},\n", i * 7919u, i * i % 1009u);
}

/* All of a file, read in blocks of `block` bytes. */
typedef struct result {
    tl_status open_status;
    size_t n;                       /* bytes, in got */
    int faults;                     /* reads that failed */
    tl_error err;
    uint64_t text_bytes, file_size;
    bool gzip;
} result;

static result read_all(const char *path, size_t block)
{
    result r = { 0 };
    tl_source *s = NULL;
    size_t n;
    int ends = 0;

    r.open_status = tl_source_open(path, &s, &r.err);
    if (r.open_status != TL_OK)
        return r;
    while (ends < 3) {              /* the end stays the end */
        tl_status st = tl_source_read(s, got + r.n, block < sizeof got - r.n ? block : sizeof got - r.n, &n, &r.err);
        r.n += n;
        if (st != TL_OK)
            r.faults++;
        else if (n == 0)
            ends++;
        if (ends > 0)
            CU_ASSERT_EQUAL(n, 0);
    }
    r.gzip = tl_source_packing(s) != NULL;
    r.text_bytes = tl_source_text_bytes(s);
    r.file_size = tl_source_file_size(s);
    tl_source_close(s);
    return r;
}

static bool is_text(const result *r, size_t n)
{
    return r->open_status == TL_OK && r->n == n && memcmp(got, text, n) == 0 && r->text_bytes == n;
}

static void a_plain_file_comes_as_it_is(void)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 1000, 300000 }, blocks[] = { 1, 2, 77, 1 << 19 };
    for (size_t i = 0; i < 6; i++) {
        const char *path = scratch_write("plain.json", text, sizes[i]);
        for (size_t k = 0; k < 4; k++) {
            result r = read_all(path, blocks[k]);
            CU_ASSERT(is_text(&r, sizes[i]));
            CU_ASSERT_EQUAL(r.faults, 0);
            CU_ASSERT_FALSE(r.gzip);
            CU_ASSERT_EQUAL(r.file_size, sizes[i]);
        }
    }
}

static void gzip_is_known_by_its_bytes(void)
{
    size_t n = scratch_gzip(text, 300000, 6, packed, sizeof packed);
    const char *path = scratch_write("packed.json", packed, n);
    static const size_t blocks[] = { 1, 77, 65536, 1 << 19 };
    for (size_t k = 0; k < 4; k++) {
        result r = read_all(path, blocks[k]);
        CU_ASSERT(is_text(&r, 300000));
        CU_ASSERT_EQUAL(r.faults, 0);
        CU_ASSERT_TRUE(r.gzip);
    }
}

static void members_are_one_text(void)
{
    size_t n = 0, at = 0;
    static const size_t parts[] = { 500, 0, 1, 70000, 3 };
    for (size_t i = 0; i < 5; i++) {
        n += scratch_gzip(text + at, parts[i], (int)(i * 2), packed + n, sizeof packed - n);
        at += parts[i];
    }
    result r = read_all(scratch_write("members.gz", packed, n), 4096);
    CU_ASSERT(is_text(&r, at));
    CU_ASSERT_EQUAL(r.faults, 0);

    memset(packed + n, 0, 1000);    /* padding of a tape or a file system is no fault */
    r = read_all(scratch_write("padded.gz", packed, n + 1000), 4096);
    CU_ASSERT(is_text(&r, at));
    CU_ASSERT_EQUAL(r.faults, 0);
}

static void garbage_behind_a_member_is_a_fault(void)
{
    static const char *const garbage[] = { "x", "garbage", "\x1f", "\x1fx", "\x1f\x8b" };
    size_t n = scratch_gzip(text, 500, 6, packed, sizeof packed);
    for (size_t i = 0; i < 5; i++) {
        memcpy(packed + n, garbage[i], strlen(garbage[i]));
        result r = read_all(scratch_write("garbage.gz", packed, n + strlen(garbage[i])), 64);
        CU_ASSERT(is_text(&r, 500));
        CU_ASSERT_EQUAL(r.faults, 1);
        CU_ASSERT_EQUAL(r.err.status, TL_EINPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(r.err.text, "garbage.gz"));
        CU_ASSERT_PTR_NOT_NULL(strstr(r.err.text, "after 500 bytes of text"));
    }
}

/* Two members, cut everywhere: never less text for more file, all of it when only a checksum is cut. */
static void a_cut_file_gives_what_is_there(void)
{
    size_t first = scratch_gzip(text, 900, 9, packed, sizeof packed);
    size_t n = first + scratch_gzip(text + 900, 900, 1, packed + first, sizeof packed - first);
    size_t before = 0;
    char where[128];

    for (size_t k = 2; k < n; k++) {
        result r = read_all(scratch_write("cut.gz", packed, k), 100);
        CU_ASSERT(is_text(&r, r.n));
        CU_ASSERT(r.n >= before);
        before = r.n;
        CU_ASSERT_EQUAL(r.faults, k == first ? 0 : 1);
        if (k != first) {
            snprintf(where, sizeof where, "cut short at byte %zu of the file, after %zu bytes", k, r.n);
            CU_ASSERT_PTR_NOT_NULL(strstr(r.err.text, where));
        }
        if (k >= first - 8 && k <= first + 10)
            CU_ASSERT_EQUAL(r.n, 900);
        if (k >= n - 8)
            CU_ASSERT_EQUAL(r.n, 1800);
    }
}

/* No bit may change the text unnoticed.  Those that fill up the last byte of the stream mean nothing. */
static void a_changed_bit_is_noticed(void)
{
    int harmless = 0;
    size_t n = scratch_gzip(text, 700, 6, packed, sizeof packed);
    for (size_t k = 10; k < n; k++) {
        for (int bit = 0; bit < 8; bit++) {
            packed[k] ^= (unsigned char)(1 << bit);
            result r = read_all(scratch_write("changed.gz", packed, n), 4096);
            packed[k] ^= (unsigned char)(1 << bit);
            CU_ASSERT(r.faults == 1 || is_text(&r, 700));
            harmless += r.faults == 0;
            if (k >= n - 8) {
                CU_ASSERT_EQUAL(r.faults, 1);
                CU_ASSERT(is_text(&r, 700));
                CU_ASSERT_PTR_NOT_NULL(strstr(r.err.text, "checksum or length wrong"));
            }
        }
    }
    CU_ASSERT(harmless < 8);
    packed[2] = 9;                  /* no method of that number */
    result r = read_all(scratch_write("changed.gz", packed, n), 4096);
    CU_ASSERT_EQUAL(r.n, 0);
    CU_ASSERT_EQUAL(r.faults, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.err.text, "header damaged"));
}

/* The end of a member moves over the end of the input buffer, byte by byte. */
static void a_member_may_end_anywhere_in_the_buffer(void)
{
    const size_t buffer = (size_t)256 << 10;
    size_t over = scratch_gzip(text, buffer, 0, packed, sizeof packed) - buffer;

    for (size_t shift = 0; shift < 24; shift++) {
        size_t length = buffer - over - 8 + shift;
        size_t n = scratch_gzip(text, length, 0, packed, sizeof packed);
        n += scratch_gzip(text + length, 100, 6, packed + n, sizeof packed - n);
        result r = read_all(scratch_write("edge.gz", packed, n), 10000);
        CU_ASSERT(is_text(&r, length + 100));
        CU_ASSERT_EQUAL(r.faults, 0);
    }
}

/* The first 100 bytes of text as a member whose header has all that one may have, with a name of n bytes. */
static size_t with_full_header(unsigned char *to, size_t n)
{
    static const unsigned char extra[] = { 4, 0, 'x', 8, 0, 8 };
    static unsigned char plain[1000];
    size_t packed_n = scratch_gzip(text, 100, 6, plain, sizeof plain), at = 10;

    memcpy(to, plain, at);
    to[3] = 4 | 8 | 16;             /* extra, name, comment */
    memcpy(to + at, extra, sizeof extra);
    at += sizeof extra;
    memset(to + at, 'n', n);
    to[at + n] = 0;
    at += n + 1;
    memcpy(to + at, "comment", 8);
    at += 8;
    memcpy(to + at, plain + 10, packed_n - 10);
    return at + packed_n - 10;
}

static void a_header_may_end_anywhere_in_the_buffer(void)
{
    const size_t buffer = (size_t)256 << 10;
    for (size_t name = 0; name <= 12; name += 12)
        for (size_t shift = 0; shift < 40; shift++) {
            size_t n = buffer - shift;
            memset(packed, 0, n);           /* a member, and padding */
            (void)scratch_gzip(text, 0, 6, packed, n);
            n += with_full_header(packed + n, name);
            result r = read_all(scratch_write("header.gz", packed, n), 10000);
            CU_ASSERT(is_text(&r, 100));
            CU_ASSERT_EQUAL(r.faults, 0);
        }
    size_t n = with_full_header(packed, 3 * buffer);
    result r = read_all(scratch_write("header.gz", packed, n), 10000);
    CU_ASSERT(is_text(&r, 100));
    CU_ASSERT_EQUAL(r.faults, 0);
}

/* A writer that gives `block` bytes at a time to a FIFO. */
static void from_a_pipe(const void *bytes, size_t n, size_t block, size_t expected)
{
    const char *path = scratch_path("pipe");
    (void)unlink(path);
    CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
    pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child == 0) {
        int fd = open(path, O_WRONLY);
        for (size_t at = 0; at < n; at += block)
            if (write(fd, (const char *)bytes + at, block < n - at ? block : n - at) < 0)
                _exit(1);
        _exit(0);
    }
    result r = read_all(path, 5000);
    int status = 1;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT(is_text(&r, expected));
    CU_ASSERT_EQUAL(r.faults, 0);
}

static void a_pipe_is_read_like_a_file(void)
{
    from_a_pipe(text, 100000, 7777, 100000);
    from_a_pipe(text, 50, 1, 50);
    size_t n = scratch_gzip(text, 2000, 6, packed, sizeof packed);
    n += scratch_gzip(text + 2000, 2000, 6, packed + n, sizeof packed - n);
    from_a_pipe(packed, n, 1, 4000);
    from_a_pipe(packed, n, 5, 4000);
    n = with_full_header(packed, 20);
    from_a_pipe(packed, n, 1, 100);
    from_a_pipe(packed, n, 13, 100);
}

static void what_is_no_file_is_refused(void)
{
    scratch_text("file", "x");
    CU_ASSERT_EQUAL(mkfifo(scratch_path("lonely"), 0600), 0);
    CU_ASSERT_EQUAL(symlink("nowhere", scratch_path("dangling")), 0);
    CU_ASSERT_EQUAL(symlink("loop", scratch_path("loop")), 0);
    const struct {
        const char *path, *word;
    } cases[] = {
        { scratch_folder, "folder" },
        { scratch_path("absent"), "No such file" },
        { scratch_path("file/below"), "Not a directory" },
        { scratch_path("dangling"), "No such file" },
        { scratch_path("loop"), "symbolic links" },
        { "/dev/null", "device" },
        { scratch_path("lonely"), "a writer, found none" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        result r = read_all(cases[i].path, 100);
        CU_ASSERT_EQUAL(r.open_status, TL_EINPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(r.err.text, cases[i].path));
        CU_ASSERT_PTR_NOT_NULL(strstr(r.err.text, cases[i].word));
    }
}

static void a_file_may_change_while_it_is_read(void)
{
    for (int gzip = 0; gzip < 2; gzip++) {
        size_t n = gzip ? scratch_gzip(text, ROOM, 0, packed, sizeof packed) : ROOM;
        const char *path = scratch_write("changing", gzip ? (void *)packed : (void *)text, n);
        tl_source *s;
        tl_error err = { 0 };
        size_t step, all = 0;
        tl_status st = TL_OK;
        CU_ASSERT_EQUAL_FATAL(tl_source_open(path, &s, &err), TL_OK);
        CU_ASSERT_EQUAL(tl_source_read(s, got, 1000, &step, &err), TL_OK);
        CU_ASSERT_EQUAL(truncate(path, 1), 0);
        for (step = 1; st == TL_OK && step > 0; all += step)
            st = tl_source_read(s, got, 1000, &step, &err);
        CU_ASSERT(all < ROOM);
        CU_ASSERT_EQUAL(st, gzip ? TL_EINPUT : TL_OK);
        tl_source_close(s);

        path = scratch_write("changing", text, 1000);
        CU_ASSERT_EQUAL_FATAL(tl_source_open(path, &s, &err), TL_OK);
        scratch_write("changing", text, 3000);
        for (all = 0, step = 1; step > 0; all += step)
            CU_ASSERT_EQUAL(tl_source_read(s, got, 700, &step, &err), TL_OK);
        CU_ASSERT(all == 3000 || all == 1000);
        tl_source_close(s);
    }
}

int main(void)
{
    fill_text();
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("source", scratch_make, scratch_remove);
    CU_ADD_TEST(s, a_plain_file_comes_as_it_is);
    CU_ADD_TEST(s, gzip_is_known_by_its_bytes);
    CU_ADD_TEST(s, members_are_one_text);
    CU_ADD_TEST(s, garbage_behind_a_member_is_a_fault);
    CU_ADD_TEST(s, a_cut_file_gives_what_is_there);
    CU_ADD_TEST(s, a_changed_bit_is_noticed);
    CU_ADD_TEST(s, a_member_may_end_anywhere_in_the_buffer);
    CU_ADD_TEST(s, a_header_may_end_anywhere_in_the_buffer);
    CU_ADD_TEST(s, a_pipe_is_read_like_a_file);
    CU_ADD_TEST(s, what_is_no_file_is_refused);
    CU_ADD_TEST(s, a_file_may_change_while_it_is_read);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures > 0;
}
