/* meta.c - reads the small document around traceEvents, or what can be recognised of it.
 *
 * A value counts by its position; everything else is skipped, at any depth:
 *
 *     DOCUMENT      { deviceProperties: DEVICES, distributedInfo: DISTRIBUTED, baseTimeNanoseconds, ... }
 *     DEVICES       [ DEVICE, ... ]
 *     DEVICE        { name }
 *     DISTRIBUTED   { backend, rank, world_size, pg_config: GROUP_LIST or GROUP_MAP, ... }
 *     GROUP_LIST    [ GROUP, ... ]
 *     GROUP_MAP     { name: GROUP, name: RANKS, ... }
 *     GROUP         { pg_name, pg_desc, ranks: RANKS }
 *     RANKS         [ 0, 1, ... ], or the text "[0, 1, ...]" instead
 *
 * Of equal keys the last counts; but once a distributedInfo has a rank, later ones are ignored: a look at the head of a
 * file, the only part of most files that is read before the reading proper, must find the same rank.
 */
#include "tlmpi/trace/meta.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/text/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits against malicious documents: what is kept. */
#define GROUPS_MAX ((size_t)65536)
#define RANKS_MAX  ((size_t)16 << 20)

/* A known key: what its value is used for. */
typedef struct known_key {
    const char *word;
    const char *begins; /* first bytes that its value may have */
    unsigned depth;     /* number of brackets open around it: 1 in the document, 2 in distributedInfo; a host may be in
                         * either */
    bool traces_alone;  /* only a trace has it */
    enum { NOTHING, TEXT, HOST, COUNT, BASE, DEVICES, INFO, GROUPS } use;
    size_t at, size; /* of a text or count: offset in tl_meta, and size there */
} known_key;

#define DIGITS       "-0123456789\""
#define PLACE(field) offsetof(tl_meta, field), sizeof((tl_meta *)NULL)->field
static const known_key keys[] = {
    { "schemaVersion", DIGITS, 1, false, NOTHING, 0, 0 },
    { "deviceProperties", "[", 1, true, DEVICES, 0, 0 },
    { "distributedInfo", "{", 1, true, INFO, 0, 0 },
    { "baseTimeNanoseconds", DIGITS, 1, true, BASE, PLACE(base_ns) },
    { "displayTimeUnit", "\"", 1, false, NOTHING, 0, 0 },
    { "traceEvents", "[", 1, false, NOTHING, 0, 0 },
    { "traceName", "\"", 1, true, TEXT, PLACE(trace_name) },
    { "trace_id", "\"", 1, false, NOTHING, 0, 0 },
    { "host_name", "\"", 1, false, HOST, PLACE(host) },
    { "hostname", "\"", 1, false, HOST, PLACE(host) },
    { "hostName", "\"", 1, false, HOST, PLACE(host) },
    { "HostName", "\"", 1, false, HOST, PLACE(host) },
    { "HOSTNAME", "\"", 1, false, HOST, PLACE(host) },
    { "Hostname", "\"", 1, false, HOST, PLACE(host) },
    { "backend", "\"", 2, false, TEXT, PLACE(backend) },
    { "rank", DIGITS, 2, false, COUNT, PLACE(rank) },
    { "world_size", DIGITS, 2, false, COUNT, PLACE(world_size) },
    { "pg_count", DIGITS, 2, false, NOTHING, 0, 0 },
    { "pg_config", "[{", 2, false, GROUPS, PLACE(groups) },
    { "nccl_version", "\"", 2, false, TEXT, PLACE(library[TL_NCCL]) },
    { "pytorch_version", "\"", 1, false, TEXT, PLACE(library[TL_PYTORCH]) },
    { "torch_version", "\"", 1, false, TEXT, PLACE(library[TL_PYTORCH]) },
    { "cuda_runtime_version", DIGITS, 1, false, TEXT, PLACE(library[TL_CUDA]) },
    { "cuda_driver_version", DIGITS, 1, false, TEXT, PLACE(library[TL_CUDA_DRIVER]) },
    { "hip_runtime_version", DIGITS, 1, false, TEXT, PLACE(library[TL_HIP]) },
    { "hip_driver_version", DIGITS, 1, false, TEXT, PLACE(library[TL_HIP_DRIVER]) },
    { "cupti_version", DIGITS, 1, false, TEXT, PLACE(library[TL_CUPTI]) },
};
enum { NKEYS = sizeof keys / sizeof keys[0] };

/* Returns the known key of a word; NULL: none. */
static const known_key *key_of(tl_text word)
{
    for (size_t k = 0; k < NKEYS; k++)
        if (tl_text_is(word, keys[k].word))
            return &keys[k];
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------------- values */

typedef struct reading {
    tl_meta *meta;
    const char *end; /* of the text: a number or string that ends here may be truncated, and does not count */
    tl_bytes string; /* scratch: the last string */
    size_t nranks;   /* over all groups */
} reading;

typedef void member_reader(reading *r, tl_text key, tl_text value);

static void read_members(reading *r, tl_text rest, member_reader *read)
{
    tl_text key, value;
    while (tl_json_member(&rest, &key, &value))
        read(r, key, value);
}

/* Returns the text after the first bracket of an object or array, which may be truncated: its last bracket, if it is
 * there, ends an iteration. */
static tl_text after_bracket(tl_text value)
{
    return (tl_text){ value.p + 1, value.n - 1 };
}

static bool is_whole(const reading *r, tl_text value)
{
    return value.p + value.n < r->end;
}

/* Finds the text of a whole number or string; false: the value is neither. */
static bool read_scalar(reading *r, tl_text value, tl_text *out)
{
    const size_t sign = *value.p == '-' || *value.p == '+';

    if (!is_whole(r, value))
        return false;
    if (*value.p == '"') {
        r->string.n = 0;
        tl_json_read_string(value, &r->string);
        *out = (tl_text){ r->string.n > 0 ? r->string.v : "", r->string.n };
        return true;
    }
    *out = *value.p == '+' ? after_bracket(value) : value;
    return value.n > sign && tl_is_digit(value.p[sign]);
}

/* Copies a text of the file, truncated to the room and made printable. */
static void set_shown(char *out, size_t cap, tl_text t)
{
    char raw[256];
    size_t n = t.n < sizeof raw ? t.n : sizeof raw - 1;

    while (n < t.n && n > 0 && ((unsigned char)t.p[n] & 0xc0) == 0x80) /* not inside a character */
        n--;
    memcpy(raw, t.p, n);
    raw[n] = '\0';
    tl_printable(out, cap, raw);
}

/* Returns a rank or a number of ranks; -1: does not fit in 32 bits. */
static int64_t count_of(tl_text t)
{
    int64_t value;
    return tl_decimal_to_int(t.p, t.n, &value) && value >= 0 && value <= INT32_MAX ? value : -1;
}

/* Sets the base time from its digits, if valid. */
static void set_base(tl_meta *meta, tl_text digits)
{
    int64_t base;
    meta->bad_base = !tl_decimal_to_int(digits.p, digits.n, &base) || base < 0 || base >= TL_BASE_LIMIT;
    if (meta->bad_base)
        return;
    meta->base_ns = base;
    meta->has_base = true;
}

static void set_device(reading *r, tl_text key, tl_text value)
{
    tl_text name;
    if (tl_text_is(key, "name") && read_scalar(r, value, &name))
        set_shown(r->meta->device, sizeof r->meta->device, name);
}

static void read_devices(reading *r, tl_text list)
{
    tl_text rest = after_bracket(list), device;

    r->meta->ndevices = 0;
    while (tl_json_element(&rest, &device))
        if (*device.p == '{' && r->meta->ndevices++ == 0)
            read_members(r, after_bracket(device), set_device);
}

/* ----------------------------------------------------------------------------------------------------------- groups */

static void add_rank(reading *r, tl_pg_config *group, tl_text number)
{
    const int64_t rank = count_of(number);

    if (rank < 0 || r->nranks >= RANKS_MAX)
        return;
    tl_grow((void **)&group->ranks, &group->ranks_cap, group->nranks + 1, sizeof *group->ranks);
    group->ranks[group->nranks++] = (int32_t)rank;
    r->nranks++;
}

/* Sets the ranks of a group.  In a text anything but numbers, such as the dots of a shortened list, is skipped. */
static void set_ranks(reading *r, tl_pg_config *group, tl_text value)
{
    const bool array = *value.p == '[';
    tl_text rest = after_bracket(value), item;

    if (!array && !read_scalar(r, value, &rest))
        return;
    r->nranks -= group->nranks;
    group->nranks = 0;
    while (array ? tl_json_element(&rest, &item) : tl_text_next(&rest, &item))
        if (!array || read_scalar(r, item, &item))
            add_rank(r, group, item);
}

static void set_owned(reading *r, char **out, tl_text value)
{
    tl_text text;
    if (!read_scalar(r, value, &text))
        return;
    free(*out);
    *out = tl_strndup(text.p, text.n);
}

/* Reads a member of the last group. */
static void read_in_group(reading *r, tl_text key, tl_text value)
{
    tl_pg_config *group = &r->meta->groups.v[r->meta->groups.n - 1];

    if (tl_text_is(key, "ranks"))
        set_ranks(r, group, value);
    else if (tl_text_is(key, "pg_name"))
        set_owned(r, &group->name, value);
    else if (tl_text_is(key, "pg_desc"))
        set_owned(r, &group->desc, value);
}

static bool add_group(tl_meta *meta)
{
    if (meta->groups.n >= GROUPS_MAX)
        return false;
    tl_vec_push(&meta->groups, (tl_pg_config){ 0 });
    return true;
}

/* Reads a group of a map: its key is its name, unless it has another. */
static void read_group(reading *r, tl_text key, tl_text value)
{
    const bool text = value.n > 1 && value.p[0] == '"' && value.p[1] == '[' && is_whole(r, value);

    if ((*value.p != '{' && *value.p != '[' && !text) || !add_group(r->meta))
        return;
    tl_pg_config *group = &r->meta->groups.v[r->meta->groups.n - 1];
    set_owned(r, &group->name, (tl_text){ key.p - 1, key.n + 2 });
    if (*value.p == '{')
        read_members(r, after_bracket(value), read_in_group);
    else
        set_ranks(r, group, value);
}

static void clear_groups(tl_meta *meta)
{
    TL_EACH (tl_pg_config, group, meta->groups) {
        free(group->name);
        free(group->desc);
        free(group->ranks);
    }
    meta->groups.n = 0;
}

static void read_groups(reading *r, tl_text value)
{
    tl_text rest = after_bracket(value), group;

    clear_groups(r->meta);
    r->nranks = 0;
    if (*value.p == '{')
        read_members(r, rest, read_group);
    else
        while (tl_json_element(&rest, &group))
            if (*group.p == '{' && add_group(r->meta))
                read_members(r, after_bracket(group), read_in_group);
}

/* ------------------------------------------------------------------------------------------------------- known keys */

static member_reader read_info;

static void read_known(reading *r, const known_key *key, tl_text value)
{
    char *place = (char *)r->meta + key->at;
    tl_text t = { "", 0 };
    const bool scalar = read_scalar(r, value, &t);

    r->meta->has_trace_keys |= key->traces_alone;
    if (key->use == DEVICES && *value.p == '[')
        read_devices(r, value);
    else if (key->use == INFO && *value.p == '{' && r->meta->rank < 0)
        read_members(r, after_bracket(value), read_info);
    else if (key->use == GROUPS && (*value.p == '{' || *value.p == '['))
        read_groups(r, value);
    else if (key->use == BASE && is_whole(r, value))
        set_base(r->meta, t);
    else if (key->use == COUNT && scalar)
        memcpy(place, &(int64_t){ count_of(t) }, sizeof(int64_t));
    else if ((key->use == TEXT || key->use == HOST) && scalar)
        set_shown(place, key->size, t);
}

/* Reads a member of distributedInfo. */
static void read_info(reading *r, tl_text word, tl_text value)
{
    const known_key *key = key_of(word);
    if (key != NULL && (key->depth == 2 || key->use == HOST))
        read_known(r, key, value);
}

/* Reads a member of the document. */
static void read_member(reading *r, tl_text word, tl_text value)
{
    const known_key *key = key_of(word);

    r->meta->has_schema |= tl_text_is(word, "schema");
    r->meta->has_nodes |= tl_text_is(word, "nodes");
    if (key != NULL && key->depth == 1)
        read_known(r, key, value);
}

/* ----------------------------------------------------------------------------------------------------- the document */

tl_status tl_meta_parse(const char *text, size_t n, tl_meta *meta, tl_error *err)
{
    const size_t mark = n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* byte order mark */
    tl_text rest = { n > 0 ? text + mark : "", n - mark }, document;
    tl_grammar g = { 0 };
    tl_status st = TL_OK;

    const size_t valid = tl_grammar_run(&g, rest.p, rest.n);
    const bool refused = valid < rest.n && !tl_grammar_is_over(&g);
    if (refused)
        st = tl_fail(err, TL_EINPUT, "byte %zu of the metadata: expected %s", mark + valid, tl_grammar_wants(&g));
    else if (!tl_grammar_is_over(&g))
        st = tl_fail(err, TL_EINPUT, "byte %zu of the metadata: expected the rest of it, found the end", n);
    tl_grammar_free(&g);
    reading r = { .meta = meta, .end = rest.p + valid + refused }; /* the refused byte ends a number */
    rest.n = valid;
    if (tl_json_element(&rest, &document) && *document.p == '{')
        read_members(&r, after_bracket(document), read_member);
    tl_bytes_free(&r.string);
    return st;
}

/* ------------------------------------------------------------------------------------------------------ damaged text
 *
 * The known keys are found by their names; brackets around a key are ignored, since one may be missing.  A key counts
 * if its value begins as it should, and once; keys of distributedInfo count after its name, up to the next key of the
 * document.  Of an array or object the valid part is read:
 *
 *     {"a": 1, "deviceProperties": [{"id": 0, "name": "A"100"}], "distributedInfo": {"rank": 3, ...
 *              ^ one device without a name                       ^ rank 3
 */

/* Returns the known key in quotes at the beginning of the text; NULL: none. */
static const known_key *key_at(tl_text t)
{
    enum { LONGEST = sizeof "cuda_runtime_version" }; /* with its last quote */
    const char *end = memchr(t.p + 1, '"', t.n - 1 < LONGEST ? t.n - 1 : LONGEST);
    return end != NULL ? key_of((tl_text){ t.p + 1, (size_t)(end - t.p) - 1 }) : NULL;
}

static tl_text after_space(tl_text t)
{
    while (t.n > 0 && tl_json_is_space(*t.p))
        t = after_bracket(t);
    return t;
}

/* Reads the value of the known key before the text.  Returns whether there is one. */
static bool salvage_value(reading *r, const known_key *key, tl_text rest)
{
    tl_text value;
    tl_grammar g = { 0 };

    rest = after_space(rest);
    if (rest.n == 0 || *rest.p != ':')
        return false;
    rest = after_space(after_bracket(rest));
    if (rest.n == 0 || strchr(key->begins, *rest.p) == NULL)
        return false;
    const size_t n = tl_grammar_run(&g, rest.p, rest.n);
    const bool over = tl_grammar_is_over(&g) || (n < rest.n && tl_grammar_step(&g, ' ') && tl_grammar_is_over(&g)),
               part = over || g.depth > 0;
    tl_grammar_free(&g);
    r->end = rest.p + n + over;
    rest.n = n;
    if (part && tl_json_element(&rest, &value))
        read_known(r, key, value);
    return part;
}

static void salvage(tl_text t, tl_meta *meta)
{
    reading r = { .meta = meta };
    bool in_info = false, seen[NKEYS] = { false };

    for (const char *quote; (quote = t.n > 0 ? memchr(t.p, '"', t.n) : NULL) != NULL;) {
        const tl_text at = { quote, t.n - (size_t)(quote - t.p) };
        const known_key *key = key_at(at);
        t = after_bracket(at);
        if (key == NULL)
            continue;
        const size_t word = strlen(key->word) + 2; /* with its quotes */
        if (key->depth == 1 && key->use != HOST)
            in_info = key->use == INFO && meta->rank < 0;
        if (key->use == INFO)
            meta->has_trace_keys = true;
        else if (!seen[key - keys] && (key->depth == 1 || in_info))
            seen[key - keys] = salvage_value(&r, key, (tl_text){ at.p + word, at.n - word });
    }
    tl_bytes_free(&r.string);
}

tl_status tl_document_read(const tl_split *split, tl_meta *meta, tl_error *err)
{
    const tl_text text = { split->doc != NULL ? split->doc : "", split->ndoc };

    if (split->bare)
        return TL_OK;
    if (split->fault_at == UINT64_MAX)
        return tl_meta_parse(text.p, text.n, meta, err);
    salvage(text, meta);
    return TL_OK;
}

/* ------------------------------------------------------------------------------------------------------ the last bytes
 *
 *     ... {"ph": "X", "args": {"grid": [1, 1, 1], "stream": 7}}], "distributedInfo": {"rank": 3}, "traceName": "t"}
 *                                             ^                 ^ after this bracket the text closes as a document does
 *                                             | after this one it does not
 */

#define TAIL ((size_t)1 << 20)

/* Largest number of bytes looked at per byte of the tail: only a malicious text has long rests after brackets that
 * fail. */
#define LOOKS_MAX 64

/* Returns how many bytes continue as a text does after a member of the document: to the closing brace and the end, or
 * to the truncation. */
static size_t length_of_rest(tl_text rest)
{
    tl_grammar g = { 0 };

    (void)tl_grammar_run(&g, "{\"\":[]", 6);
    size_t n = tl_grammar_run(&g, rest.p, rest.n);
    while (n < rest.n && (tl_json_is_space(rest.p[n]) || rest.p[n] == 0))
        n++;
    tl_grammar_free(&g);
    return n;
}

/* Returns the text after the document's array, or, if that lies before the text, after the first member that ends with
 * a bracket: it closes as the document does.  Empty: none. */
static tl_text after_array(tl_text t)
{
    size_t looks = 0;

    for (size_t i = 0; i < t.n && looks / LOOKS_MAX < t.n; i++) {
        if (t.p[i] != ']' && t.p[i] != '}')
            continue;
        const tl_text rest = { t.p + i + 1, t.n - i - 1 };
        const size_t n = length_of_rest(rest);
        if (n == rest.n)
            return rest;
        looks += n + 1;
    }
    return (tl_text){ "", 0 };
}

/* Reads the last bytes of the text; returns how many are in buf, which has room for 2 * TAIL, and n bytes at first. */
static size_t read_tail(tl_source *source, char *buf, size_t n)
{
    size_t got;

    while (tl_source_read(source, buf + n, 2 * TAIL - n, &got, NULL) == TL_OK && got > 0) {
        n += got;
        if (n == 2 * TAIL) {
            memmove(buf, buf + TAIL, TAIL);
            n = TAIL;
        }
    }
    return n;
}

void tl_tail_read(const char *path, tl_source *source, tl_text after, tl_meta *meta)
{
    char *buf = tl_malloc(2 * TAIL);
    bool packed = tl_source_packing(source) != NULL;
    size_t n = packed ? (after.n < TAIL ? after.n : TAIL) : 0;
    tl_source *plain = NULL;

    if (n > 0)
        memcpy(buf, after.p + after.n - n, n);
    if (packed) {
        n = read_tail(source, buf, n);
    } else if (tl_source_open(path, &plain, NULL) == TL_OK) {
        uint64_t size = tl_source_file_size(plain);
        if (tl_source_seek(plain, size > TAIL ? size - TAIL : 0, NULL) == TL_OK)
            n = read_tail(plain, buf, 0);
        tl_source_close(plain);
    }
    reading r = { .meta = meta, .end = buf + n };
    read_members(&r, after_array((tl_text){ buf, n }), read_member);
    tl_bytes_free(&r.string);
    free(buf);
}

/* -------------------------------------------------------------------------------------------------------- versions */

/* Versions of CUDA are 1000 major + 10 minor, of HIP 10,000,000 major + 100,000 minor + patch. */
static void version_in_words(tl_library library, const char *version, char *out, size_t n)
{
    int64_t number;
    bool cuda = library == TL_CUDA || library == TL_CUDA_DRIVER, hip = library == TL_HIP || library == TL_HIP_DRIVER;
    bool told = tl_decimal_to_int(version, strlen(version), &number) && number > 0;
    if (told && cuda)
        snprintf(out, n, "%lld.%lld", (long long)number / 1000, (long long)number % 1000 / 10);
    else if (told && hip)
        snprintf(out, n, "%lld.%lld.%lld", (long long)number / 10000000, (long long)number / 100000 % 100,
                 (long long)number % 100000);
    else
        snprintf(out, n, "%s", version);
}

void tl_meta_libraries(const tl_meta *meta, char *out, size_t n)
{
    static const char *const names[TL_NLIBRARIES] = { "PyTorch",    "CUDA", "CUDA driver", "HIP",
                                                      "HIP driver", "NCCL", "CUPTI" };
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i < TL_NLIBRARIES && used < n; i++)
        if (meta->library[i][0] != '\0') {
            char version[64];
            version_in_words((tl_library)i, meta->library[i], version, sizeof version);
            used += (size_t)snprintf(out + used, n - used, "%s%s %s", used > 0 ? ", " : "", names[i], version);
        }
}

void tl_meta_free(tl_meta *meta)
{
    clear_groups(meta);
    free(meta->groups.v);
    *meta = (tl_meta)TL_META_INIT;
}
