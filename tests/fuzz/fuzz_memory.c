/* fuzz_memory.c - any bytes, read as a raw memory timeline: as another reader of JSON has it.
 *
 *     bytes -> a file in memory     \
 *           -> the same, packed      |  equal states, equal counts, the same fault at the same byte
 *           -> yajl, summed up here /   (where it is read whole)
 *
 * What is given of a damaged one is what its entries before the fault come to.
 */
#include "fuzz.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/trace/read/memory.h"
#include "tlmpi/trace/text/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

typedef struct reading {
    tl_status status;
    tl_memory_report report;
    TL_VEC(tl_memory_state) states;
    char error[512]; /* without the path */
} reading;

static void take(void *arg, const tl_memory_state *state)
{
    reading *r = arg;
    int64_t sum = 0;
    for (int i = 0; i < TL_MEMORY_CATEGORIES; i++)
        sum = (int64_t)((uint64_t)sum + (uint64_t)state->bytes[i]);
    if (sum != state->bytes[TL_MEMORY_TOTAL])
        fuzz_differ("a total that is none", sum, state->bytes[TL_MEMORY_TOTAL]);
    if (r->states.n > 0 && state->time_ns <= r->states.v[r->states.n - 1].time_ns)
        fuzz_differ("times that do not ascend", r->states.v[r->states.n - 1].time_ns, state->time_ns);
    tl_vec_room(&r->states);
    r->states.v[r->states.n++] = *state;
}

static void read_file(const char *path, reading *r)
{
    tl_error err = { 0 };
    r->status = tl_memory_timeline_read(path, take, r, &r->report, &err);
    if (r->status != TL_OK) {
        if (strncmp(err.text, path, strlen(path)) != 0)
            fuzz_differ("a fault without its file", (int64_t)r->status, 0);
        snprintf(r->error, sizeof r->error, "%s", err.text + strlen(path));
    }
    if ((r->report.entries > 0) != (r->states.n > 0))
        fuzz_differ("entries and states", r->report.entries, (int64_t)r->states.n);
}

static void compare_states(const char *way, const reading *a, const reading *b)
{
    if (a->states.n != b->states.n)
        fuzz_differ(way, (int64_t)a->states.n, (int64_t)b->states.n);
    for (size_t i = 0; i < a->states.n; i++)
        if (memcmp(&a->states.v[i], &b->states.v[i], sizeof a->states.v[i]) != 0)
            fuzz_differ(way, (int64_t)i, a->states.v[i].time_ns - b->states.v[i].time_ns);
    if (a->report.entries != b->report.entries || a->report.earliest_ns != b->report.earliest_ns)
        fuzz_differ(way, a->report.entries, b->report.entries);
}

/* ------------------------------------------------------------------------------------------------------------- yajl */

typedef struct other {
    reading r;
    int depth;
    int64_t number[4];
    size_t nnumbers;
} other;

static int begin(void *arg)
{
    other *o = arg;
    o->nnumbers = 0;
    return ++o->depth <= 2;
}

/* As many digits as they come: of a whole number there is one way to read it. */
static int number(void *arg, const char *text, size_t n)
{
    other *o = arg;
    char word[64], *end;
    if (o->depth != 2 || o->nnumbers == 4 || n >= sizeof word)
        return 0;
    memcpy(word, text, n);
    word[n] = '\0';
    o->number[o->nnumbers++] = strtoll(word, &end, 10);
    return *end == '\0';
}

static int end_of_array(void *arg)
{
    other *o = arg;
    tl_memory_state *last = o->r.states.n > 0 ? &o->r.states.v[o->r.states.n - 1] : NULL, now = { 0 };
    if (--o->depth == 0)
        return 1;
    if (o->nnumbers != 4 || o->number[1] < 1 || o->number[1] > 4 || o->number[3] < 0 || o->number[3] > 7)
        return 0;
    now = last != NULL ? *last : now;
    now.time_ns = o->number[0];
    now.bytes[o->number[3]] += o->number[2];
    now.bytes[TL_MEMORY_TOTAL] += o->number[2];
    if (now.time_ns > 0 && now.time_ns < o->r.report.earliest_ns)
        o->r.report.earliest_ns = now.time_ns;
    o->r.report.entries++;
    if (last != NULL && last->time_ns == now.time_ns) {
        *last = now;
    } else {
        tl_vec_room(&o->r.states);
        o->r.states.v[o->r.states.n++] = now;
    }
    return 1;
}

static void read_otherwise(const uint8_t *data, size_t n, const reading *whole)
{
    static const yajl_callbacks calls = { .yajl_number = number,
                                          .yajl_start_array = begin,
                                          .yajl_end_array = end_of_array };
    other o = { .r.report.earliest_ns = INT64_MAX };
    yajl_handle parser = yajl_alloc(&calls, NULL, &o);
    char *json = malloc(4 * n + 1);
    if (json == NULL)
        abort();
    for (int i = 0; i < 3 && n > 0 && *data >= 0x80; i++, data++) /* a byte order mark */
        n--;
    while (n > 0 && strchr(" \t\r\n", data[n - 1]) != NULL) /* or 0, as a crash leaves */
        n--;
    n = tl_repair_json((const char *)data, n, json); /* a comma before a bracket */
    if (parser == NULL || yajl_parse(parser, (const unsigned char *)json, n) != yajl_status_ok ||
        yajl_complete_parse(parser) != yajl_status_ok)
        fuzz_differ("what another reader refuses", whole->report.entries, o.r.report.entries);
    compare_states("another reader", whole, &o.r);
    yajl_free(parser);
    free(json);
    free(o.r.states.v);
}

/* ------------------------------------------------------------------------------------------------------------- one */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const bool packed = fuzz_is_packed(data, n);
    reading whole = { 0 }, again = { 0 };

    read_file(fuzz_file(data, n), &whole);
    if (!packed && n > 0) {
        read_file(fuzz_file_packed(data, n), &again);
        compare_states("packed", &whole, &again);
        if (whole.status != again.status || whole.report.cut != again.report.cut ||
            strcmp(whole.error, again.error) != 0)
            fuzz_differ("packed: its fault", (int64_t)whole.status, (int64_t)again.status);
    }
    if (!packed && !fuzz_is_encoded(data, n) && whole.status == TL_OK)
        read_otherwise(data, n, &whole);
    free(whole.states.v);
    free(again.states.v);
    return 0;
}
