/* meta.c - the small document around traceEvents, through yajl.
 *
 * A value counts by the place it stands in; everything else is passed over, however deep it goes:
 *
 *     DOCUMENT      { deviceProperties: DEVICES, distributedInfo: DISTRIBUTED, baseTimeNanoseconds, traceName, ... }
 *     DEVICES       [ DEVICE, ... ]
 *     DEVICE        { name }
 *     DISTRIBUTED   { backend, rank, world_size, pg_config: GROUP_LIST or GROUP_MAP, ... }
 *     GROUP_LIST    [ GROUP, ... ]
 *     GROUP_MAP     { name: GROUP, name: RANKS, ... }
 *     GROUP         { pg_name, pg_desc, ranks: RANKS }
 *     RANKS         [ 0, 1, ... ], or the text "[0, 1, ...]" in its stead
 *
 * Of equal keys the last counts; but once a distributedInfo has named the rank, no other one does: a look at the head of a file,
 * which is all that most files get before they are read, must find what the reading finds.
 */
#include "tlmpi/trace/meta.h"
#include "repair.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/text.h"
#include <stdlib.h>
#include <yajl/yajl_parse.h>

/* What a hostile document may make us keep. */
#define GROUPS_MAX ((size_t)65536)
#define RANKS_MAX ((size_t)16 << 20)

/* yajl takes memory without asking whether it got any: a copy of a text, which doubles until it fits, a byte for each bracket, and
 * so much beside. */
#define YAJL_BYTES ((size_t)16 << 10)

typedef enum place {
    OUTSIDE,            /* around the outermost value */
    DOCUMENT,
    DEVICES,
    DEVICE,
    DISTRIBUTED,
    GROUP_LIST,
    GROUP_MAP,
    GROUP,
    RANKS
} place;

/* OUTSIDE, DOCUMENT, DISTRIBUTED, GROUP_LIST, GROUP, RANKS is the longest path there is. */
#define PATH_MAX_PLACES 8

typedef struct parsing {
    tl_meta *meta;
    place root;                     /* what the outermost object is */
    place path[PATH_MAX_PLACES];
    unsigned at;                    /* path[at] is where we stand */
    uint64_t ignored;               /* open brackets of a value that is passed over */
    char key[32];                   /* of the value to come; empty where it is too long to be one of ours */
    char *group_key;                /* the same in a GROUP_MAP, whole: ngroup_key bytes */
    size_t ngroup_key, group_key_cap;
    tl_pg_config *group;            /* the one being read, NULL beyond the limit */
    size_t nranks;                  /* of all groups together */
    bool told;                      /* a distributedInfo with a rank has ended */
    bool whole;                     /* the outermost value has ended */
    bool no_memory;
} parsing;

/* ----------------------------------------------------------------------------------------------------------- values */

/* A text of the file, cut to what fits and made safe to show. */
static void set_shown(char *out, size_t cap, tl_text t)
{
    char raw[256];
    size_t n = t.n < sizeof raw ? t.n : sizeof raw - 1;
    bool cut = n < t.n;

    while (cut && n > 0 && ((unsigned char)t.p[n] & 0xc0) == 0x80)      /* not inside a character */
        n--;
    if (n > 0)
        memcpy(raw, t.p, n);
    raw[n] = '\0';
    tl_printable(out, cap, raw);
}

/* A rank, a number of ranks: what fits the tables, which hold 32 bits. */
static int64_t count_of(tl_text t)
{
    int64_t value;
    return tl_decimal_to_int(t.p, t.n, &value) && value >= 0 && value <= INT32_MAX ? value : -1;
}

static bool is_host_key(const char *key)
{
    static const char *const words[] = { "host_name", "hostname", "hostName", "HostName", "HOSTNAME", "Hostname" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(key, words[i]) == 0)
            return true;
    return false;
}

static bool is_key(const parsing *p, const char *word)
{
    return strcmp(p->key, word) == 0;
}

/* Where the groups of pg_config begin: an earlier pg_config no longer counts. */
static void groups_clear(tl_meta *meta)
{
    for (size_t i = 0; i < meta->groups.n; i++) {
        free(meta->groups.v[i].name);
        free(meta->groups.v[i].desc);
        free(meta->groups.v[i].ranks);
    }
    meta->groups.n = 0;
}

/* A new group.  In a map of groups its key is its name, until it says another. */
static bool group_begin(parsing *p)
{
    tl_meta *meta = p->meta;
    bool named = p->path[p->at] == GROUP_MAP;

    p->group = NULL;
    if (meta->groups.n >= GROUPS_MAX)
        return true;
    if (!tl_vec_room(&meta->groups))
        return false;
    p->group = &meta->groups.v[meta->groups.n++];
    *p->group = (tl_pg_config){ 0 };
    return !named || (p->group->name = tl_strndup(p->group_key, p->ngroup_key)) != NULL;
}

static bool group_set(char **out, tl_text t)
{
    char *copy = tl_strndup(t.p, t.n);
    if (copy == NULL)
        return false;
    free(*out);
    *out = copy;
    return true;
}

static void ranks_begin(parsing *p)
{
    if (p->group == NULL)
        return;
    p->nranks -= p->group->nranks;
    p->group->nranks = 0;
}

static bool ranks_add(parsing *p, tl_text t)
{
    tl_pg_config *g = p->group;
    int64_t rank = count_of(t);

    if (g == NULL || rank < 0 || p->nranks >= RANKS_MAX)
        return true;
    if (!tl_grow((void **)&g->ranks, &g->ranks_cap, g->nranks + 1, sizeof *g->ranks))
        return false;
    g->ranks[g->nranks++] = (int32_t)rank;
    p->nranks++;
    return true;
}

/* "[0, 1, ..., 7]": what is no number, the dots of a shortened list among them, is passed over. */
static bool ranks_read(parsing *p, tl_text t)
{
    ranks_begin(p);
    while (t.n > 0) {
        size_t n = 0;
        while (n < t.n && memchr("[], \t", t.p[n], 5) == NULL)
            n++;
        if (n > 0 && !ranks_add(p, (tl_text){ t.p, n }))
            return false;
        n += n < t.n;
        t.p += n;
        t.n -= n;
    }
    return true;
}

void tl_meta_set_base(tl_meta *meta, tl_text digits)
{
    int64_t base;
    if (tl_decimal_to_int(digits.p, digits.n, &base) && base >= 0 && base < TL_BASE_LIMIT) {
        meta->base_ns = base;
        meta->has_base = true;
        meta->bad_base = false;
    } else {
        meta->bad_base = true;
    }
}

/* -------------------------------------------------------------------------------------------- values by their place */

static bool in_document(parsing *p, tl_text t)
{
    tl_meta *meta = p->meta;

    if (is_key(p, "baseTimeNanoseconds")) {
        tl_meta_set_base(meta, t);
    } else if (is_key(p, "traceName")) {
        set_shown(meta->trace_name, sizeof meta->trace_name, t);
    } else if (is_host_key(p->key)) {
        set_shown(meta->host, sizeof meta->host, t);
    }
    return true;
}

static bool in_distributed(parsing *p, tl_text t)
{
    tl_meta *meta = p->meta;

    if (is_key(p, "rank"))
        meta->rank = count_of(t);
    else if (is_key(p, "world_size"))
        meta->world_size = count_of(t);
    else if (is_key(p, "backend"))
        set_shown(meta->backend, sizeof meta->backend, t);
    else if (is_host_key(p->key))
        set_shown(meta->host, sizeof meta->host, t);
    return true;
}

static bool in_group(parsing *p, tl_text t)
{
    if (p->group == NULL)
        return true;
    if (is_key(p, "pg_name"))
        return group_set(&p->group->name, t);
    if (is_key(p, "pg_desc"))
        return group_set(&p->group->desc, t);
    if (is_key(p, "ranks"))
        return ranks_read(p, t);
    return true;
}

/* A number or a string.  False when memory is out. */
static bool take_scalar(parsing *p, tl_text t)
{
    switch (p->path[p->at]) {
    case DOCUMENT:
        return in_document(p, t);
    case DEVICE:
        if (is_key(p, "name") && p->meta->ndevices == 1)
            set_shown(p->meta->device, sizeof p->meta->device, t);
        return true;
    case DISTRIBUTED:
        return in_distributed(p, t);
    case GROUP_MAP:
        return t.n == 0 || t.p[0] != '[' || (group_begin(p) && ranks_read(p, t));
    case GROUP:
        return in_group(p, t);
    case RANKS:
        return ranks_add(p, t);
    default:
        return true;
    }
}

/* Before a value that is neither number nor string. */
static void note_base_of_another_type(parsing *p)
{
    if (p->path[p->at] == DOCUMENT && is_key(p, "baseTimeNanoseconds"))
        p->meta->bad_base = true;
}

/* Opens an object or array.  *to: the place that it is, OUTSIDE when nobody asks about it.  False: memory is out. */
static bool take_bracket(parsing *p, bool object, place *to)
{
    *to = OUTSIDE;
    note_base_of_another_type(p);
    switch (p->path[p->at]) {
    case OUTSIDE:
        if (object)
            *to = p->root;
        return true;
    case DOCUMENT:
        if (object && !p->told && is_key(p, "distributedInfo")) {
            *to = DISTRIBUTED;
        } else if (!object && is_key(p, "deviceProperties")) {
            *to = DEVICES;
            p->meta->ndevices = 0;
        }
        return true;
    case DEVICES:
        if (object) {
            *to = DEVICE;
            p->meta->ndevices++;
        }
        return true;
    case DISTRIBUTED:
        if (is_key(p, "pg_config")) {
            *to = object ? GROUP_MAP : GROUP_LIST;
            groups_clear(p->meta);
            p->nranks = 0;
        }
        return true;
    case GROUP_LIST:
        if (object)
            *to = GROUP;
        return !object || group_begin(p);
    case GROUP_MAP:
        *to = object ? GROUP : RANKS;
        return group_begin(p);
    case GROUP:
        if (!object && is_key(p, "ranks")) {
            *to = RANKS;
            ranks_begin(p);
        }
        return true;
    default:
        return true;
    }
}

/* ------------------------------------------------------------------------------------------------- yajl's callbacks */

static int go_on(parsing *p, bool fine)
{
    if (!fine)
        p->no_memory = true;
    return fine;
}

static int on_scalar(void *ctx, const unsigned char *text, size_t n)
{
    parsing *p = ctx;
    return p->ignored > 0 || go_on(p, take_scalar(p, (tl_text){ n > 0 ? (const char *)text : "", n }));
}

static int on_number(void *ctx, const char *text, size_t n)
{
    return on_scalar(ctx, (const unsigned char *)text, n);
}

/* yajl may overwrite a key while it reads the value. */
static bool keep_group_key(parsing *p, const unsigned char *text, size_t n)
{
    if (!tl_grow((void **)&p->group_key, &p->group_key_cap, n, 1))
        return false;
    if (n > 0)
        memcpy(p->group_key, text, n);
    p->ngroup_key = n;
    return true;
}

static int on_key(void *ctx, const unsigned char *text, size_t n)
{
    parsing *p = ctx;
    if (p->ignored > 0)
        return 1;
    size_t kept = n < sizeof p->key ? n : 0;
    if (kept > 0)
        memcpy(p->key, text, kept);
    p->key[kept] = '\0';
    if (p->path[p->at] == DOCUMENT) {
        p->meta->has_schema = p->meta->has_schema || is_key(p, "schema");
        p->meta->has_nodes = p->meta->has_nodes || is_key(p, "nodes");
        p->meta->has_trace_keys = p->meta->has_trace_keys || is_key(p, "traceName") || is_key(p, "deviceProperties") ||
                                  is_key(p, "distributedInfo") || is_key(p, "baseTimeNanoseconds");
    }
    return p->path[p->at] != GROUP_MAP || go_on(p, keep_group_key(p, text, n));
}

static int on_open(parsing *p, bool object)
{
    place to = OUTSIDE;
    if (p->ignored == 0 && !go_on(p, take_bracket(p, object, &to)))
        return 0;
    if (to == OUTSIDE)
        p->ignored++;
    else
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
    if (p->ignored == 0)
        p->told = p->told || (p->path[p->at] == DISTRIBUTED && p->meta->rank >= 0);
    if (p->ignored > 0)
        p->ignored--;
    else
        p->at--;
    p->whole = p->at == 0 && p->ignored == 0;
    return 1;
}

static int on_null(void *ctx)
{
    parsing *p = ctx;
    if (p->ignored == 0)
        note_base_of_another_type(p);
    return 1;
}

static int on_boolean(void *ctx, int value)
{
    (void)value;
    return on_null(ctx);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null, .yajl_boolean = on_boolean, .yajl_number = on_number, .yajl_string = on_scalar,
    .yajl_start_map = on_start_map, .yajl_map_key = on_key, .yajl_end_map = on_end,
    .yajl_start_array = on_start_array, .yajl_end_array = on_end,
};

/* ----------------------------------------------------------------------------------------------------- the document */

/* One pass over the text.  *refused: it is no JSON, rather than cut, and a repair may help.  yajl is not told of the
 * end: it would take a number that is cut for the whole of it. */
static tl_status parse_once(const char *text, size_t n, place root, tl_meta *meta, bool *refused, tl_error *err)
{
    parsing p = { .meta = meta, .root = root };

    *refused = false;
    if (n > SIZE_MAX / 8 || !tl_mem_has(4 * n + YAJL_BYTES))
        return tl_fail_memory(err, "reading the metadata of a trace");
    yajl_handle h = yajl_alloc(&callbacks, NULL, &p);
    if (h == NULL)
        return tl_fail_memory(err, "reading the metadata of a trace");
    yajl_config(h, yajl_dont_validate_strings, 1);
    yajl_config(h, yajl_allow_trailing_garbage, 1);

    yajl_status status = yajl_parse(h, (const unsigned char *)text, n);
    *refused = status == yajl_status_error;
    size_t at = yajl_get_bytes_consumed(h);

    tl_status st = TL_OK;
    if (p.no_memory) {
        st = tl_fail_memory(err, "reading the metadata of a trace");
    } else if (*refused) {
        unsigned char *words = yajl_get_error(h, 0, NULL, 0);
        size_t length = words != NULL ? strcspn((const char *)words, "\n") : 0;
        st = tl_fail(err, TL_EINPUT, "byte %zu of the metadata: expected JSON, found none (%.*s)", at, (int)length,
                     words != NULL ? (const char *)words : "");
        if (words != NULL)
            yajl_free_error(h, words);
    } else if (!p.whole) {
        st = tl_fail(err, TL_EINPUT, "byte %zu of the metadata: expected the rest of it, found the end", n);
    }
    yajl_free(h);
    free(p.group_key);
    return st;
}

/* A document that yajl refuses is tried once more in a repaired copy, whose values replace those of the first pass. */
static tl_status parse(const char *text, size_t n, place root, tl_meta *meta, tl_error *err)
{
    tl_error first = { 0 }, second = { 0 };
    bool refused, ignored;

    tl_status st = parse_once(text, n, root, meta, &refused, &first);
    if (refused && n <= SIZE_MAX / 4) {
        char *repaired = tl_malloc(4 * n);
        if (repaired == NULL)
            return tl_fail_memory(err, "repairing the metadata of a trace");
        size_t length = tl_repair_json(text, n, repaired);
        st = parse_once(repaired, length, root, meta, &ignored, &second);
        free(repaired);
        if (st == TL_ENOMEM)
            first = second;
    }
    if (st != TL_OK && err != NULL)
        *err = first;
    return st;
}

tl_status tl_meta_parse(const char *text, size_t n, tl_meta *meta, tl_error *err)
{
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {       /* byte order mark */
        text += 3;
        n -= 3;
    }
    return parse(text, n, DOCUMENT, meta, err);
}

tl_status tl_meta_parse_distributed(const char *text, size_t n, tl_meta *meta, tl_error *err)
{
    return parse(text, n, DISTRIBUTED, meta, err);
}

void tl_meta_free(tl_meta *meta)
{
    groups_clear(meta);
    free(meta->groups.v);
    *meta = (tl_meta)TL_META_INIT;
}
