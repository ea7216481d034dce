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
 * Of equal keys the last counts; but once a distributedInfo has named the rank, no other one does: a look at the head
 * of a file, which is all that most files get before they are read, must find what the reading finds.
 */
#include "tlmpi/base/mem.h"
#include "tlmpi/trace/meta.h"
#include "tlmpi/trace/text/repair.h"
#include "values.h"
#include <stdlib.h>
#include <yajl/yajl_parse.h>

/* ------------------------------------------------------------------------------------------------ yajl's callbacks */

static int go_on(tl_meta_parsing *p, bool fine)
{
    if (!fine)
        p->no_memory = true;
    return fine;
}

static int on_scalar(void *ctx, const unsigned char *text, size_t n)
{
    tl_meta_parsing *p = ctx;
    if (p->ignored > 0)
        return true;
    tl_meta_take_scalar(p, (tl_text){ n > 0 ? (const char *)text : "", n });
    return go_on(p, true);
}

static int on_number(void *ctx, const char *text, size_t n)
{
    return on_scalar(ctx, (const unsigned char *)text, n);
}

/* yajl may overwrite a key while it reads the value. */
static void keep_group_key(tl_meta_parsing *p, const unsigned char *text, size_t n)
{
    tl_grow((void **)&p->group_key, &p->group_key_cap, n, 1);
    if (n > 0)
        memcpy(p->group_key, text, n);
    p->ngroup_key = n;
}

static int on_key(void *ctx, const unsigned char *text, size_t n)
{
    tl_meta_parsing *p = ctx;
    if (p->ignored > 0)
        return 1;
    size_t kept = n < sizeof p->key ? n : 0;
    if (kept > 0)
        memcpy(p->key, text, kept);
    p->key[kept] = '\0';
    if (p->path[p->at] == TL_AT_DOCUMENT) {
        p->meta->has_schema = p->meta->has_schema || tl_meta_key_is(p, "schema");
        p->meta->has_nodes = p->meta->has_nodes || tl_meta_key_is(p, "nodes");
        p->meta->has_trace_keys = p->meta->has_trace_keys || tl_meta_key_is(p, "traceName") ||
                                  tl_meta_key_is(p, "deviceProperties") || tl_meta_key_is(p, "distributedInfo") ||
                                  tl_meta_key_is(p, "baseTimeNanoseconds");
    }
    if (p->path[p->at] != TL_AT_GROUP_MAP)
        return true;
    keep_group_key(p, text, n);
    return go_on(p, true);
}

static int on_open(tl_meta_parsing *p, bool object)
{
    tl_meta_position to = TL_AT_OUTSIDE;
    if (p->ignored == 0) {
        tl_meta_take_bracket(p, object, &to);
        if (!go_on(p, true))
            return 0;
    }
    if (to == TL_AT_OUTSIDE)
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
    tl_meta_parsing *p = ctx;
    if (p->ignored == 0)
        p->told = p->told || (p->path[p->at] == TL_AT_DISTRIBUTED && p->meta->rank >= 0);
    if (p->ignored > 0)
        p->ignored--;
    else
        p->at--;
    p->whole = p->at == 0 && p->ignored == 0;
    return 1;
}

static int on_null(void *ctx)
{
    tl_meta_parsing *p = ctx;
    if (p->ignored == 0)
        tl_meta_note_other(p);
    return 1;
}

static int on_boolean(void *ctx, int value)
{
    (void)value;
    return on_null(ctx);
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

/* ---------------------------------------------------------------------------------------------------- the document */

/* Parses the text once.  *refused: the text is no JSON, rather than cut, and a repair may help.  The end of the text is
 * not told to yajl, which would take a cut number for a whole one. */
static tl_status parse_once(const char *text, size_t n, tl_meta_position root, tl_meta *meta, bool *refused,
                            tl_error *err)
{
    tl_meta_parsing p = { .meta = meta, .root = root };

    *refused = false;
    yajl_alloc_funcs memory = { tl_mem_get, tl_mem_resize, tl_mem_drop, NULL };
    yajl_handle h = yajl_alloc(&callbacks, &memory, &p);
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
static tl_status parse(const char *text, size_t n, tl_meta_position root, tl_meta *meta, tl_error *err)
{
    tl_error first = { 0 }, second = { 0 };
    bool refused, ignored;

    tl_status st = parse_once(text, n, root, meta, &refused, &first);
    if (refused && n <= SIZE_MAX / 4) {
        char *repaired = tl_malloc(4 * n);
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
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* byte order mark */
        text += 3;
        n -= 3;
    }
    return parse(text, n, TL_AT_DOCUMENT, meta, err);
}

tl_status tl_meta_parse_distributed(const char *text, size_t n, tl_meta *meta, tl_error *err)
{
    return parse(text, n, TL_AT_DISTRIBUTED, meta, err);
}
