/* gzip.c - gzip members, through ISA-L or zlib. */
#include "tlmpi/base/mem.h"
#include "internal.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if TLMPI_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

/* The inflaters count in 32 bits. */
#define MOST_AT_ONCE ((size_t)1 << 30)

static bool begins(const unsigned char *p, size_t n)
{
    return n >= 2 && p[0] == 0x1f && p[1] == 0x8b;
}

#if TLMPI_HAVE_ISAL
typedef struct state {
    struct inflate_state inflater;
    struct isal_gzip_header header; /* of the member, as far as it is read */
    bool in_header;
    int fault; /* what ended the member; below 0: the text before it may not all be given yet */
} state;

/* The header is read by a separate call: between two calls, isal_inflate forgets which parts the header has, and reads
 * the rest of a name that is cut at the end of the buffer from the stack. */
static void begin(void *arg)
{
    state *s = arg;
    isal_inflate_init(&s->inflater);
    isal_gzip_header_init(&s->header);
    s->inflater.crc_flag = ISAL_GZIP_NO_HDR_VER;
    s->in_header = true;
    s->fault = ISAL_DECOMP_OK;
}

/* Inflates; a fault is returned after all text that the inflater has in its own buffer, which it would drop. */
static int inflate_to_fault(state *s)
{
    struct inflate_state *z = &s->inflater;
    if (s->fault == ISAL_DECOMP_OK) {
        const int rc = isal_inflate(z);
        if (rc >= 0)
            return rc;
        s->fault = rc;
    }
    const uint32_t left = (uint32_t)(z->tmp_out_valid - z->tmp_out_processed),
                   n = left < z->avail_out ? left : z->avail_out;
    memcpy(z->next_out, z->tmp_out_buffer + z->tmp_out_processed, n);
    z->tmp_out_processed += (int32_t)n;
    z->next_out += n;
    z->avail_out -= n;
    return n < left ? ISAL_OUT_OVERFLOW : s->fault;
}

static tl_unpacked run(void *arg, const unsigned char *in, size_t n, size_t *used, unsigned char *out, size_t cap,
                       size_t *made)
{
    state *s = arg;
    struct inflate_state *z = &s->inflater;
    size_t room = cap < MOST_AT_ONCE ? cap : MOST_AT_ONCE, given = n < MOST_AT_ONCE ? n : MOST_AT_ONCE;

    z->next_in = (uint8_t *)(uintptr_t)in; /* read only */
    z->avail_in = (uint32_t)given;
    z->next_out = out;
    z->avail_out = (uint32_t)room;
    int rc = s->in_header ? isal_read_gzip_header(z, &s->header) : ISAL_DECOMP_OK;
    s->in_header = s->in_header && rc != ISAL_DECOMP_OK;
    if (!s->in_header)
        rc = inflate_to_fault(s);
    *used = (size_t)(z->next_in - in);
    *made = room - z->avail_out;

    switch (rc) {
    case ISAL_DECOMP_OK:
        return z->block_state == ISAL_BLOCK_FINISH ? TL_PART_ENDS : TL_GOES_ON;
    case ISAL_END_INPUT:
    case ISAL_OUT_OVERFLOW:
        return TL_GOES_ON;
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
        return TL_BAD_HEADER;
    case ISAL_INCORRECT_CHECKSUM:
        return TL_BAD_CHECKSUM;
    default:
        return TL_BAD_DATA;
    }
}

static void end(void *arg)
{
    free(arg);
}
#else
typedef struct state {
    z_stream inflater;
    bool made;
} state;

static void begin(void *arg)
{
    state *s = arg;
    if (s->made)
        (void)inflateReset(&s->inflater);
    else if (inflateInit2(&s->inflater, 16 + MAX_WBITS) != Z_OK)
        tl_mem_out(sizeof *s);
    s->made = true;
}

/* zlib has one code for all errors; its message distinguishes them. */
static tl_unpacked of_words(const char *words)
{
    if (words != NULL && (strcmp(words, "incorrect data check") == 0 || strcmp(words, "incorrect length check") == 0))
        return TL_BAD_CHECKSUM;
    if (words != NULL && (strstr(words, "header") != NULL || strstr(words, "compression method") != NULL))
        return TL_BAD_HEADER;
    return TL_BAD_DATA;
}

static tl_unpacked run(void *arg, const unsigned char *in, size_t n, size_t *used, unsigned char *out, size_t cap,
                       size_t *made)
{
    z_stream *z = &((state *)arg)->inflater;
    size_t room = cap < MOST_AT_ONCE ? cap : MOST_AT_ONCE, given = n < MOST_AT_ONCE ? n : MOST_AT_ONCE;

    z->next_in = (unsigned char *)(uintptr_t)in; /* read only */
    z->avail_in = (uInt)given;
    z->next_out = out;
    z->avail_out = (uInt)room;
    int rc = inflate(z, Z_NO_FLUSH);
    *used = given - z->avail_in;
    *made = room - z->avail_out;

    switch (rc) {
    case Z_OK:
    case Z_BUF_ERROR:
        return TL_GOES_ON;
    case Z_STREAM_END:
        return TL_PART_ENDS;
    case Z_MEM_ERROR:
        tl_mem_out(MOST_AT_ONCE);
    default:
        return of_words(z->msg);
    }
}

static void end(void *arg)
{
    state *s = arg;
    if (s != NULL && s->made)
        (void)inflateEnd(&s->inflater);
    free(s);
}
#endif

static void *make(void)
{
    return tl_calloc(1, sizeof(state));
}

static uint32_t told_bytes(const unsigned char *p, size_t n, const unsigned char *last)
{
    (void)p;
    (void)n;
    return last[4] | (uint32_t)last[5] << 8 | (uint32_t)last[6] << 16 | (uint32_t)last[7] << 24;
}

const tl_unpacker tl_gzip = { "gzip", "member", 2, 0x1f, begins, make, begin, run, end, told_bytes };
