/* fuzz_phases.c - any bytes, read as JSON lines of phases: every line counts once, and for itself.
 *
 *     bytes -> a file in memory        \
 *           -> the same, packed         |  equal records, equal counts
 *           -> each line a file alone  /
 */
#include "fuzz.h"
#include "tlmpi/analysis/verdict/phase.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/trace/read/phases.h"
#include <stdlib.h>
#include <string.h>

/* What is compared of a reading. */
typedef struct reading {
    int64_t records, lost;
    TL_VEC(tl_phase_line) found;
    TL_VEC(uint64_t) names;
} reading;

static void take(void *arg, const tl_phase_record *record)
{
    reading *r = arg;
    if (record->step < 0 || record->duration_ns < 0 || record->rank < 0)
        fuzz_differ("a record that cannot be", record->step, record->duration_ns);
    tl_vec_room(&r->found);
    tl_vec_room(&r->names);
    r->names.v[r->names.n++] = tl_hash_bytes(record->name.p, record->name.n);
    r->found.v[r->found.n++] = (tl_phase_line){ .rank = record->rank,
                                                .step = record->step,
                                                .duration_ns = record->duration_ns,
                                                .line = record->line,
                                                .metadata = record->metadata };
}

/* Adds what the file has. */
static void read_file(const char *path, reading *r)
{
    tl_side_file row = { 0 };
    tl_phases_read(path, 0, take, r, &row);
    r->records += row.entries;
    r->lost += row.lost;
}

static void read_lines(const char *data, size_t n, reading *r)
{
    for (size_t from = 0, to; from < n; from = to + 1) {
        const char *end = memchr(data + from, '\n', n - from);
        to = end != NULL ? (size_t)(end - data) : n;
        read_file(fuzz_file(data + from, to - from + (end != NULL)), r);
    }
}

static void compare(const char *way, const reading *a, const reading *b)
{
    const int64_t x[] = { a->records, a->lost }, y[] = { b->records, b->lost };
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i])
            fuzz_differ(way, x[i], y[i]);
    if (a->found.n != b->found.n)
        fuzz_differ(way, (int64_t)a->found.n, (int64_t)b->found.n);
    for (size_t i = 0; i < a->found.n; i++) {
        const tl_phase_line *k = &a->found.v[i], *l = &b->found.v[i];
        if (k->rank != l->rank || k->step != l->step || k->duration_ns != l->duration_ns || k->line != l->line ||
            k->metadata != l->metadata || a->names.v[i] != b->names.v[i])
            fuzz_differ(way, (int64_t)i, k->duration_ns - l->duration_ns);
    }
}

static void end(reading *r)
{
    free(r->found.v);
    free(r->names.v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    /* By its first bytes a text may be packed, or in another encoding; so may a line of it. */
    static const char firsts[] = { 0x1f, 0x28, 0x18, (char)0xef, (char)0xfe, (char)0xff };
    const bool packed = fuzz_is_packed(data, n);
    bool plain = !packed;
    for (size_t i = 0; i < sizeof firsts; i++)
        plain = plain && memchr(data, firsts[i], n) == NULL;
    reading whole = { 0 }, other = { 0 };

    read_file(fuzz_file(data, n), &whole);
    if (!packed && n > 0) {
        read_file(fuzz_file_packed(data, n), &other);
        compare("packed", &whole, &other);
        end(&other);
    }
    if (plain) {
        other = (reading){ 0 };
        read_lines((const char *)data, n, &other);
        compare("line by line", &whole, &other);
        end(&other);
    }
    end(&whole);
    return 0;
}
