/* test_unzstd.c - of a zstd file, too, every byte that can be had, and then one word on what was wrong. */
#include "scratch.h"
#include "tlmpi/trace/text/source.h"
#include "unit.h"

#if TLMPI_HAVE_ZSTD
#include <zstd.h>

#define ROOM ((size_t)3 << 20)

static char text[ROOM], got[2 * ROOM];
static unsigned char packed[2 * ROOM];

static void fill_text(void)
{
    size_t n = 0;
    for (unsigned i = 0; n + 64 < sizeof text; i++)
        n += (size_t)snprintf(text + n, 64, "{\"ph\": \"X\", \"ts\": %u, \"dur\": %u},\n", i * 7919u, i * i % 1009u);
}

/* A frame of n bytes of text from `from` on, with a checksum; window_log 0: as the library chooses. */
static size_t frame(size_t from, size_t n, int window_log, unsigned char *out)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    (void)ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    (void)ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0);
    if (window_log > 0)
        (void)ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window_log);
    ZSTD_inBuffer in = { text + from, n, 0 };
    ZSTD_outBuffer to = { out, (size_t)(packed + sizeof packed - out), 0 };
    CU_ASSERT_EQUAL_FATAL(ZSTD_compressStream2(c, &to, &in, ZSTD_e_flush), 0); /* so that it cannot know the size */
    CU_ASSERT_EQUAL_FATAL(ZSTD_compressStream2(c, &to, &in, ZSTD_e_end), 0);
    ZSTD_freeCCtx(c);
    return to.pos;
}

/* All of a file, read in blocks of `block` bytes: how many bytes; *faults: reads that failed. */
static size_t read_all(const char *name, size_t n, size_t block, int *faults, tl_error *err)
{
    const char *path = scratch_write(name, packed, n);
    tl_source *s;
    size_t all = 0, step = 1;

    *faults = 0;
    CU_ASSERT_EQUAL_FATAL(tl_source_open(path, &s, err), TL_OK);
    CU_ASSERT_STRING_EQUAL(tl_source_packing(s), "zstd");
    while (step > 0) {
        tl_status st = tl_source_read(s, got + all, block < sizeof got - all ? block : sizeof got - all, &step, err);
        all += step;
        *faults += st != TL_OK;
        CU_ASSERT(st == TL_OK || st == TL_EINPUT);
    }
    CU_ASSERT_EQUAL(tl_source_read(s, got, 10, &step, err), TL_OK);
    CU_ASSERT_EQUAL(step, 0);
    tl_source_close(s);
    CU_ASSERT(all <= ROOM && memcmp(got, text, all) == 0);
    return all;
}

static void frames_are_one_text(void)
{
    static const size_t parts[] = { 500, 0, 1, 700000, 3, 200000 }, blocks[] = { 77, 4096, 1 << 20 };
    static const unsigned char skipped[] = { 0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c' };
    size_t n = 0, at = 0;
    int faults;
    tl_error err = { 0 };

    for (size_t first = 0; first < 2; first++) { /* a frame that is to be skipped may be the first */
        n = at = 0;
        for (size_t i = 0; i < COUNT(parts); i++) {
            if (i % 2 != first) {
                memcpy(packed + n, skipped, sizeof skipped);
                n += sizeof skipped;
            }
            n += frame(at, parts[i], 0, packed + n);
            at += parts[i];
        }
        for (size_t k = 0; k < COUNT(blocks); k++) {
            CU_ASSERT_EQUAL(read_all("frames.json", n, blocks[k], &faults, &err), at);
            CU_ASSERT_EQUAL(faults, 0);
        }
    }
    memset(packed + n, 0, 1000); /* padding */
    CU_ASSERT_EQUAL(read_all("padded.zst", n + 1000, 4096, &faults, &err), at);
    CU_ASSERT_EQUAL(faults, 0);
}

static void what_follows_must_be_a_frame(void)
{
    static const char *const others[] = { "x", "garbage", "(", "(\xb5/", "(\xb5/\xfd" };
    size_t n = frame(0, 500, 0, packed);
    for (size_t i = 0; i < COUNT(others); i++) {
        int faults;
        tl_error err = { 0 };
        memcpy(packed + n, others[i], strlen(others[i]));
        CU_ASSERT_EQUAL(read_all("other.zst", n + strlen(others[i]), 64, &faults, &err), 500);
        CU_ASSERT_EQUAL(faults, 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, i < 2 ? "expected a zstd frame or the end" : "zstd stream cut short"));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "after 500 bytes of text"));
    }
}

/* Never less text for more file, all of it when only the checksum is cut. */
static void a_cut_file_gives_what_is_there(void)
{
    size_t first = frame(0, 900, 0, packed), n = first + frame(900, 600000, 0, packed + first), before = 0;
    char where[128];

    for (size_t k = 4; k < n; k += k < first + 40 || k + 1000 > n ? 1 : 997) {
        int faults;
        tl_error err = { 0 };
        size_t all = read_all("cut.zst", k, 5000, &faults, &err);
        CU_ASSERT(all >= before);
        before = all;
        CU_ASSERT_EQUAL(faults, k == first ? 0 : 1);
        snprintf(where, sizeof where, "zstd stream cut short at byte %zu of the file, after %zu bytes", k, all);
        CU_ASSERT(k == first || strstr(err.text, where) != NULL);
        CU_ASSERT(all >= (k < first - 4 ? 0 : k < n - 4 ? 900 : 600900));
    }
    CU_ASSERT(before == 600900);
}

/* No bit may change the text unnoticed; and what stands before it is given. */
static void a_changed_bit_is_noticed(void)
{
    size_t n = frame(0, 600000, 0, packed);
    for (size_t k = 6; k < n; k += n - k < 10 ? 1 : 1009) {
        int faults;
        tl_error err = { 0 };
        packed[k] ^= 4;
        const char *path = scratch_write("changed.zst", packed, n);
        tl_source *s;
        size_t all = 0, step = 1;
        CU_ASSERT_EQUAL_FATAL(tl_source_open(path, &s, &err), TL_OK);
        for (faults = 0; step > 0; all += step)
            faults += tl_source_read(s, got + all, 5000, &step, &err) != TL_OK;
        tl_source_close(s);
        packed[k] ^= 4;
        CU_ASSERT_EQUAL(faults, 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "changed.zst: zstd "));
        if (k > n / 2)
            CU_ASSERT(all >= 130000 && memcmp(got, text, 130000) == 0);
        if (k >= n - 4)
            CU_ASSERT(all == 600000 && strstr(err.text, "checksum or length wrong") != NULL);
    }
}

static void a_window_has_its_limit(void)
{
    int faults;
    tl_error err = { 0 };
    size_t n = frame(0, 2000, 27, packed);
    CU_ASSERT_EQUAL(read_all("window.zst", n, 700, &faults, &err), 2000);
    CU_ASSERT_EQUAL(faults, 0);
    n = frame(0, 2000, 28, packed);
    CU_ASSERT_EQUAL(read_all("window.zst", n, 700, &faults, &err), 0);
    CU_ASSERT_EQUAL(faults, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "window wider than 128 MiB"));
}

static void a_packed_file_is_read_in_one(void)
{
    tl_source *s;
    tl_error err = { 0 };
    size_t n = frame(0, 2000, 0, packed);
    CU_ASSERT_EQUAL_FATAL(tl_source_open(scratch_write("plain.json", packed, n), &s, &err), TL_OK);
    CU_ASSERT_EQUAL(tl_source_seek(s, 100, &err), TL_EINPUT);
    tl_source_close(s);
}

static const unit_test tests[] = {
    TEST(frames_are_one_text),
    TEST(what_follows_must_be_a_frame),
    TEST(a_cut_file_gives_what_is_there),
    TEST(a_changed_bit_is_noticed),
    TEST(a_window_has_its_limit),
    TEST(a_packed_file_is_read_in_one),
};

int main(void)
{
    fill_text();
    int failed = scratch_make() || unit_main("unzstd", tests, COUNT(tests));
    return scratch_remove() || failed;
}
#else
int main(void)
{
    return 0;
}
#endif
