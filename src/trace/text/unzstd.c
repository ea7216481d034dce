/* unzstd.c - zstd frames, through libzstd.
 *
 * The library drops the text of a call that ends in a fault.  So each call gets at most the rest of a block, and no
 * input while text of the previous block is left.
 */
#include "tlmpi/base/mem.h"
#include "internal.h"
#include <stdint.h>
#include <stdlib.h>
#if TLMPI_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

#define NMAGIC          4
#define WINDOW_LOG_MOST 27

typedef struct state {
    ZSTD_DCtx *context;
    size_t wanted; /* number of bytes up to the end of the block */
    bool full;     /* the last call filled its output: more text may follow */
} state;

/* Whether a frame begins, or a skippable frame. */
static bool begins(const unsigned char *p, size_t n)
{
    if (n < NMAGIC)
        return false;
    uint32_t magic = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return magic == ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

static void end(void *arg)
{
    state *s = arg;
    if (s != NULL)
        ZSTD_freeDCtx(s->context);
    free(s);
}

static void *make(void)
{
    state *s = tl_calloc(1, sizeof *s);
    s->context = ZSTD_createDCtx();
    if (s->context == NULL)
        tl_mem_out((size_t)1 << WINDOW_LOG_MOST);
    (void)ZSTD_DCtx_setParameter(s->context, ZSTD_d_windowLogMax, WINDOW_LOG_MOST);
    return s;
}

static void begin(void *arg)
{
    state *s = arg;
    (void)ZSTD_DCtx_reset(s->context, ZSTD_reset_session_only);
    s->wanted = NMAGIC + 1;
    s->full = false;
}

static tl_unpacked of_error(size_t rc)
{
    switch (ZSTD_getErrorCode(rc)) {
    case ZSTD_error_prefix_unknown:
    case ZSTD_error_version_unsupported:
    case ZSTD_error_frameParameter_unsupported:
    case ZSTD_error_dictionary_wrong:
        return TL_BAD_HEADER;
    case ZSTD_error_frameParameter_windowTooLarge:
        return TL_WIDE_WINDOW;
    case ZSTD_error_checksum_wrong:
        return TL_BAD_CHECKSUM;
    case ZSTD_error_memory_allocation:
        tl_mem_out((size_t)1 << WINDOW_LOG_MOST);
    default:
        return TL_BAD_DATA;
    }
}

static tl_unpacked run(void *arg, const unsigned char *in, size_t n, size_t *used, unsigned char *out, size_t cap,
                       size_t *made)
{
    state *s = arg;
    *used = *made = 0;
    for (;;) {
        size_t rest = n - *used, given = s->full ? 0 : rest < s->wanted ? rest : s->wanted;
        ZSTD_inBuffer from = { in + *used, given, 0 };
        ZSTD_outBuffer to = { out + *made, cap - *made, 0 };
        size_t rc = ZSTD_decompressStream(s->context, &to, &from);
        *used += from.pos;
        *made += to.pos;
        if (ZSTD_isError(rc))
            return of_error(rc);
        s->full = *made == cap;
        s->wanted = rc;
        if (rc == 0)
            return TL_PART_ENDS;
        if (s->full || *used == n)
            return TL_GOES_ON;
    }
}

static uint32_t told_bytes(const unsigned char *p, size_t n, const unsigned char *last)
{
    (void)last;
    unsigned long long told = ZSTD_getFrameContentSize(p, n);
    return told == ZSTD_CONTENTSIZE_UNKNOWN || told == ZSTD_CONTENTSIZE_ERROR ? 0 : (uint32_t)told;
}

const tl_unpacker tl_zstd = { "zstd", "frame", NMAGIC, 0x28, begins, make, begin, run, end, told_bytes };
#else
static bool begins(const unsigned char *p, size_t n)
{
    (void)p;
    (void)n;
    return false;
}

const tl_unpacker tl_zstd = { .word = "zstd", .part = "frame", .begins = begins };
#endif
