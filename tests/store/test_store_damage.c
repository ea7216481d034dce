/* test_store_damage.c - a result that is not as it was written is refused in words: no answer, no crash, no hang. */
#include "store_file.h"

#include <hdf5.h>

enum { SECTOR = 512, SECONDS = 60 };

/* A whole file, and a copy that is damaged. */
static char *whole, *copy;
static size_t size;
static uint64_t state;

static void begin(uint64_t seed)
{
    write_sample(20000, 3, 0);
    whole = slurp(file, &size);
    copy = malloc(size);
    state = seed;
}

static void end(void)
{
    free(copy);
    free(whole);
}

static size_t below(size_t n)
{
    return (size_t)(unit_random(&state) % n);
}

/* Writes the first n bytes of the copy, and sees that they are refused; then the copy is whole again. */
static void must_be_refused(size_t n)
{
    if (n < size || memcmp(copy, whole, size) != 0) {
        put_bytes(file, copy, n);
        refused(file, "damaged");
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "; run tlmpi again"));
    }
    memcpy(copy, whole, size);
}

static void one_bit_is_enough(void)
{
    begin(1);
    memcpy(copy, whole, size);
    for (size_t i = 0; i < 300; i++) {
        /* Some of them where the file says what it is. */
        copy[i < 50 ? below(2 * SECTOR) : below(size)] ^= (char)(1u << below(8));
        must_be_refused(size);
    }
    end();
}

static void sectors_may_be_lost_or_swapped(void)
{
    char sector[SECTOR];
    begin(2);
    memcpy(copy, whole, size);
    for (size_t at = 0; at + SECTOR <= size; at += SECTOR * (1 + below(16))) {
        memset(copy + at, 0, SECTOR);
        must_be_refused(size);
    }
    for (size_t i = 0; i < 100; i++) {
        char *a = copy + below(size / SECTOR) * SECTOR, *b = copy + below(size / SECTOR) * SECTOR;
        memcpy(sector, a, SECTOR);
        memcpy(a, b, SECTOR);
        memcpy(b, sector, SECTOR);
        must_be_refused(size);
    }
    end();
}

static void words_may_be_anything(void)
{
    static const uint64_t words[] = { 0, UINT64_MAX, INT64_MAX, UINT64_C(1) << 40, 1 };
    begin(3);
    memcpy(copy, whole, size);
    for (size_t i = 0; i < 200; i++) {
        memcpy(copy + below(size / 8) * 8, &words[i % (sizeof words / sizeof words[0])], 8);
        must_be_refused(size);
    }
    end();
}

static void what_is_cut_is_called_so(void)
{
    begin(4);
    memcpy(copy, whole, size);
    for (size_t i = 0; i < 100; i++)
        must_be_refused(i < 20 ? below(2 * SECTOR) : below(size));
    put_bytes(file, whole, size - 1);
    refused(file, "it is cut");
    copy[size - 1] ^= 1;
    put_bytes(file, copy, size);
    refused(file, "it was changed after tlmpi wrote it");
    end();
}

static void another_programs_change_is_called_so(void)
{
    write_sample(100, 2, 0);
    hid_t f = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Fclose(f);
    tl_result_close(open_file());

    f = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(f, "/mine", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(f);
    refused(file, "it was changed after tlmpi wrote it");
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(one_bit_is_enough),
        TEST(sectors_may_be_lost_or_swapped),
        TEST(words_may_be_anything),
        TEST(what_is_cut_is_called_so),
        TEST(another_programs_change_is_called_so),
    };
    alarm(SECONDS);
    return store_main("store that is damaged", tests, COUNT(tests));
}
