/* meta.c - parses the small document around traceEvents, with yajl.
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
#include "internal.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/text/repair.h"
#include <stdio.h>
#include <yajl/yajl_parse.h>

/* Limits against malicious documents: what is kept. */
#define GROUPS_MAX ((size_t)65536)
#define RANKS_MAX  ((size_t)16 << 20)

#define DIGITS "-0123456789\""
#define KEY(word, begins, depth, traces_alone)                                                                         \
    {                                                                                                                  \
        word, begins, depth, traces_alone, TL_TAKE_NOTHING, 0, 0                                                       \
    }
#define TAKEN(word, begins, depth, traces_alone, take, field)                                                          \
    {                                                                                                                  \
        word, begins, depth, traces_alone, take, offsetof(tl_meta, field), sizeof((tl_meta *)NULL)->field              \
    }

const tl_meta_key tl_meta_keys[TL_META_KEYS] = {
    KEY("schemaVersion", DIGITS, 1, false),
    KEY("deviceProperties", "[", 1, true),
    [TL_META_INFO] = KEY("distributedInfo", "{", 1, true),
    TAKEN("baseTimeNanoseconds", DIGITS, 1, true, TL_TAKE_BASE, base_ns),
    KEY("displayTimeUnit", "\"", 1, false),
    KEY("traceEvents", "[", 1, false),
    TAKEN("traceName", "\"", 1, true, TL_TAKE_TEXT, trace_name),
    KEY("trace_id", "\"", 1, false),
    TAKEN("host_name", "\"", 1, false, TL_TAKE_HOST, host),
    TAKEN("hostname", "\"", 1, false, TL_TAKE_HOST, host),
    TAKEN("hostName", "\"", 1, false, TL_TAKE_HOST, host),
    TAKEN("HostName", "\"", 1, false, TL_TAKE_HOST, host),
    TAKEN("HOSTNAME", "\"", 1, false, TL_TAKE_HOST, host),
    TAKEN("Hostname", "\"", 1, false, TL_TAKE_HOST, host),
    TAKEN("backend", "\"", 2, false, TL_TAKE_TEXT, backend),
    TAKEN("rank", DIGITS, 2, false, TL_TAKE_COUNT, rank),
    TAKEN("world_size", DIGITS, 2, false, TL_TAKE_COUNT, world_size),
    KEY("pg_count", DIGITS, 2, false),
    KEY("pg_config", "[{", 2, false),
    TAKEN("nccl_version", "\"", 2, false, TL_TAKE_TEXT, library[TL_NCCL]),
    TAKEN("pytorch_version", "\"", 1, false, TL_TAKE_TEXT, library[TL_PYTORCH]),
    TAKEN("torch_version", "\"", 1, false, TL_TAKE_TEXT, library[TL_PYTORCH]),
    TAKEN("cuda_runtime_version", DIGITS, 1, false, TL_TAKE_TEXT, library[TL_CUDA]),
    TAKEN("cuda_driver_version", DIGITS, 1, false, TL_TAKE_TEXT, library[TL_CUDA_DRIVER]),
    TAKEN("hip_runtime_version", DIGITS, 1, false, TL_TAKE_TEXT, library[TL_HIP]),
    TAKEN("hip_driver_version", DIGITS, 1, false, TL_TAKE_TEXT, library[TL_HIP_DRIVER]),
    TAKEN("cupti_version", DIGITS, 1, false, TL_TAKE_TEXT, library[TL_CUPTI]),
};

size_t tl_meta_key_of(tl_text word)
{
    size_t k = 0;
    while (k < TL_META_KEYS && !tl_text_is(word, tl_meta_keys[k].word))
        k++;
    return k;
}

typedef enum position { OUTSIDE, DOCUMENT, DEVICES, DEVICE, DISTRIBUTED, GROUP_LIST, GROUP_MAP, GROUP, RANKS } position;

typedef struct parsing {
    tl_meta *meta;
    position path[8];    /* the longest path: outside, document, distributed, group list, group, ranks */
    unsigned at;         /* path[at]: position of the parser */
    uint64_t ignored;    /* number of open brackets of a value that is skipped */
    TL_VEC(char) key;    /* key of the next value; yajl may overwrite a key while it reads the value */
    tl_pg_config *group; /* the current group; NULL: beyond the limit */
    size_t nranks;       /* over all groups */
    bool told;           /* a distributedInfo with a rank has ended */
    bool whole;          /* the outermost value has ended */
} parsing;

static bool key_is(const parsing *p, const char *word)
{
    return tl_text_is((tl_text){ p->key.v, p->key.n }, word);
}

/* ----------------------------------------------------------------------------------------------------------- values */

/* Copies a text of the file, truncated to the room and made printable. */
static void set_shown(char *out, size_t cap, tl_text t)
{
    char raw[256];
    size_t n = t.n < sizeof raw ? t.n : sizeof raw - 1;

    while (n < t.n && n > 0 && ((unsigned char)t.p[n] & 0xc0) == 0x80) /* not inside a character */
        n--;
    if (n > 0)
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

/* Removes the groups at the begin of a pg_config: the last pg_config counts. */
static void clear_groups(tl_meta *meta)
{
    for (size_t i = 0; i < meta->groups.n; i++) {
        free(meta->groups.v[i].name);
        free(meta->groups.v[i].desc);
        free(meta->groups.v[i].ranks);
    }
    meta->groups.n = 0;
}

/* Begins a new group.  In a map of groups its key is its name, unless it has another. */
static void begin_group(parsing *p)
{
    tl_meta *meta = p->meta;

    p->group = NULL;
    if (meta->groups.n >= GROUPS_MAX)
        return;
    tl_vec_room(&meta->groups);
    p->group = &meta->groups.v[meta->groups.n++];
    *p->group = (tl_pg_config){ .name = p->path[p->at] == GROUP_MAP ? tl_strndup(p->key.v, p->key.n) : NULL };
}

static void begin_ranks(parsing *p)
{
    p->nranks -= p->group != NULL ? p->group->nranks : 0;
    if (p->group != NULL)
        p->group->nranks = 0;
}

static void add_rank(parsing *p, tl_text t)
{
    tl_pg_config *g = p->group;
    int64_t rank = count_of(t);

    if (g == NULL || rank < 0 || p->nranks >= RANKS_MAX)
        return;
    tl_grow((void **)&g->ranks, &g->ranks_cap, g->nranks + 1, sizeof *g->ranks);
    g->ranks[g->nranks++] = (int32_t)rank;
    p->nranks++;
}

/* Reads "[0, 1, ..., 7]"; anything but numbers, such as the dots of a shortened list, is skipped. */
static void read_ranks(parsing *p, tl_text t)
{
    tl_text item;
    begin_ranks(p);
    while (tl_text_next(&t, &item))
        add_rank(p, item);
}

/* Reads a number or text of the document or of distributedInfo. */
static void set_known(parsing *p, tl_text t)
{
    size_t k = tl_meta_key_of((tl_text){ p->key.v, p->key.n });
    const tl_meta_key *key = &tl_meta_keys[k < TL_META_KEYS ? k : 0];
    char *place = (char *)p->meta + key->at;

    if (key->take != TL_TAKE_HOST && (p->path[p->at] == DOCUMENT) != (key->depth == 1))
        return;
    if (key->take == TL_TAKE_BASE)
        set_base(p->meta, t);
    else if (key->take == TL_TAKE_COUNT)
        memcpy(place, &(int64_t){ count_of(t) }, sizeof(int64_t));
    else if (key->take != TL_TAKE_NOTHING)
        set_shown(place, key->size, t);
}

static void set_in_group(parsing *p, tl_text t)
{
    char **name = key_is(p, "pg_name") ? &p->group->name : key_is(p, "pg_desc") ? &p->group->desc : NULL;

    if (key_is(p, "ranks"))
        read_ranks(p, t);
    if (name == NULL)
        return;
    free(*name);
    *name = tl_strndup(t.p, t.n);
}

/* ------------------------------------------------------------------------------------------------- yajl's callbacks */

static int on_scalar(void *ctx, const unsigned char *bytes, size_t n)
{
    parsing *p = ctx;
    const position at = p->path[p->at];
    const tl_text t = { n > 0 ? (const char *)bytes : "", n };

    if (p->ignored > 0)
        return 1;
    if (at == DOCUMENT || at == DISTRIBUTED) {
        set_known(p, t);
    } else if (at == DEVICE && p->meta->ndevices == 1 && key_is(p, "name")) {
        set_shown(p->meta->device, sizeof p->meta->device, t);
    } else if (at == GROUP_MAP && n > 0 && t.p[0] == '[') {
        begin_group(p);
        read_ranks(p, t);
    } else if (at == GROUP && p->group != NULL) {
        set_in_group(p, t);
    } else if (at == RANKS) {
        add_rank(p, t);
    }
    return 1;
}

static int on_number(void *ctx, const char *text, size_t n)
{
    return on_scalar(ctx, (const unsigned char *)text, n);
}

static int on_key(void *ctx, const unsigned char *bytes, size_t n)
{
    parsing *p = ctx;
    tl_meta *meta = p->meta;

    if (p->ignored > 0)
        return 1;
    tl_grow((void **)&p->key.v, &p->key.cap, n + 1, 1);
    if (n > 0)
        memcpy(p->key.v, bytes, n);
    p->key.n = n;
    if (p->path[p->at] == DOCUMENT) {
        size_t known = tl_meta_key_of((tl_text){ p->key.v, n });
        meta->has_schema = meta->has_schema || key_is(p, "schema");
        meta->has_nodes = meta->has_nodes || key_is(p, "nodes");
        meta->has_trace_keys = meta->has_trace_keys || (known < TL_META_KEYS && tl_meta_keys[known].traces_alone);
    }
    return 1;
}

/* Handles a value that is neither number nor text. */
static int on_null(void *ctx)
{
    parsing *p = ctx;
    if (p->ignored == 0 && p->path[p->at] == DOCUMENT && key_is(p, "baseTimeNanoseconds"))
        p->meta->bad_base = true;
    return 1;
}

static int on_boolean(void *ctx, int value)
{
    (void)value;
    return on_null(ctx);
}

/* Returns the position inside of an object or array that begins now; OUTSIDE: it is skipped. */
static position position_of(const parsing *p, bool object)
{
    switch (p->path[p->at]) {
    case OUTSIDE:
        return object ? DOCUMENT : OUTSIDE;
    case DOCUMENT:
        return object && !p->told && key_is(p, "distributedInfo") ? DISTRIBUTED
               : !object && key_is(p, "deviceProperties")         ? DEVICES
                                                                  : OUTSIDE;
    case DEVICES:
        return object ? DEVICE : OUTSIDE;
    case DISTRIBUTED:
        return !key_is(p, "pg_config") ? OUTSIDE : object ? GROUP_MAP : GROUP_LIST;
    case GROUP_LIST:
        return object ? GROUP : OUTSIDE;
    case GROUP_MAP:
        return object ? GROUP : RANKS;
    case GROUP:
        return !object && key_is(p, "ranks") ? RANKS : OUTSIDE;
    default:
        return OUTSIDE;
    }
}

static int on_open(parsing *p, bool object)
{
    position to = p->ignored == 0 ? position_of(p, object) : OUTSIDE;

    (void)on_null(p);
    if (to == OUTSIDE) {
        p->ignored++;
        return 1;
    }
    if (to == DEVICES)
        p->meta->ndevices = 0;
    p->meta->ndevices += to == DEVICE;
    if (to == GROUP_LIST || to == GROUP_MAP) {
        clear_groups(p->meta);
        p->nranks = 0;
    }
    if (to == GROUP || (to == RANKS && p->path[p->at] == GROUP_MAP))
        begin_group(p);
    else if (to == RANKS)
        begin_ranks(p);
    p->path[++p->at] = to;
    return 1;
}

static int on_start_map(void *ctx)
{
    return on_open(ctx, true);
}

static int on_start_array(void *ctx)
{
    return on_open(ctx, false);
}

static int on_end(void *ctx)
{
    parsing *p = ctx;
    if (p->ignored > 0) {
        p->ignored--;
    } else {
        p->told = p->told || (p->path[p->at] == DISTRIBUTED && p->meta->rank >= 0);
        p->at--;
    }
    p->whole = p->at == 0 && p->ignored == 0;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_scalar,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end,
};

/* ----------------------------------------------------------------------------------------------------- the document */

/* Parses the text once.  told: an earlier text has given the rank.  *refused: the text is invalid JSON, not truncated,
 * and a repair may help.  yajl is not told the end of the text, since it would take a truncated number for a complete
 * one. */
static tl_status parse_once(tl_text text, bool told, tl_meta *meta, bool *refused, tl_error *err)
{
    parsing p = { .meta = meta, .told = told };
    yajl_alloc_funcs memory = { tl_mem_get, tl_mem_resize, tl_mem_drop, NULL };
    yajl_handle h = yajl_alloc(&callbacks, &memory, &p);
    tl_status st = TL_OK;

    yajl_config(h, yajl_dont_validate_strings, 1);
    yajl_config(h, yajl_allow_trailing_garbage, 1);
    *refused = yajl_parse(h, (const unsigned char *)text.p, text.n) == yajl_status_error;
    if (*refused) {
        size_t at = yajl_get_bytes_consumed(h);
        unsigned char *words = yajl_get_error(h, 0, NULL, 0);
        st = tl_fail(err, TL_EINPUT, "byte %zu of the metadata: expected JSON, found none (%.*s)", at,
                     (int)strcspn((const char *)words, "\n"), (const char *)words);
        yajl_free_error(h, words);
    } else if (!p.whole) {
        st = tl_fail(err, TL_EINPUT, "byte %zu of the metadata: expected the rest of it, found the end", text.n);
    }
    yajl_free(h);
    free(p.key.v);
    return st;
}

/* A document that yajl rejects is parsed again in a repaired copy, whose values replace those of the first pass. */
tl_status tl_meta_parse(const char *text, size_t n, tl_meta *meta, tl_error *err)
{
    const size_t mark = n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* byte order mark */
    const tl_text document = { n > 0 ? text + mark : "", n - mark };
    const bool told = meta->rank >= 0;
    bool refused, ignored;

    tl_status st = parse_once(document, told, meta, &refused, err);
    if (!refused || n > SIZE_MAX / 4)
        return st;
    char *repaired = tl_malloc(4 * document.n);
    size_t length = tl_repair_json(document.p, document.n, repaired);
    st = parse_once((tl_text){ repaired, length }, told, meta, &ignored, NULL);
    free(repaired);
    return st;
}

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
