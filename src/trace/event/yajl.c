/* yajl.c - reads one entry by yajl: the reference reader, used for every entry that is not plain. */
#include "tlmpi/trace/event/fields.h"
#include <stdlib.h>
#include <yajl/yajl_parse.h>

typedef struct reading {
    tl_yajl_scratch *scratch;
    tl_fields *f;
    unsigned depth;   /* number of open brackets; saturates, since yajl handles deep nesting */
    bool in_args;     /* depth 2 is inside of args */
    tl_key key;       /* of the next value */
    const char *text; /* the entry */
    yajl_handle yajl;
    tl_key json_key;  /* key of the current array or object, which is kept as text; TL_KEY_UNKNOWN: none */
    size_t json_from; /* its offset in the text */
    size_t args_from; /* offset of args in the text, once it is open */
} reading;

/* Copies a decoded text to the scratch, which is large enough and never moves. */
static const char *copy_text(reading *r, const unsigned char *p, size_t n)
{
    tl_yajl_scratch *s = r->scratch;
    char *at = s->text + s->used;
    if (n > 0)
        memcpy(at, p, n);
    s->used += n;
    return at;
}

/* Whether the next value belongs to a key (tl_key) of the entry or of its args. */
static bool is_wanted(const reading *r)
{
    return r->key < TL_NKEYS && (r->depth == 1 || (r->depth == 2 && r->in_args));
}

static int set(reading *r, const unsigned char *p, size_t n, tl_value_type type)
{
    if (is_wanted(r)) {
        tl_fields_set(r->f, r->key, type == TL_VALUE_OTHER ? "" : copy_text(r, p, n), n, type);
    }
    return 1;
}

static int on_null(void *ctx)
{
    return set(ctx, NULL, 0, TL_VALUE_OTHER);
}

static int on_boolean(void *ctx, int value)
{
    (void)value;
    return set(ctx, NULL, 0, TL_VALUE_OTHER);
}

static int on_number(void *ctx, const char *p, size_t n)
{
    return set(ctx, (const unsigned char *)p, n, TL_VALUE_NUMBER);
}

static int on_string(void *ctx, const unsigned char *p, size_t n)
{
    return set(ctx, p, n, TL_VALUE_STRING);
}

static int on_key(void *ctx, const unsigned char *p, size_t n)
{
    reading *r = ctx;
    const char *word = (const char *)p;
    const bool of_args = r->depth == 2 && r->in_args;
    r->key = n > 0 && (r->depth == 1 || of_args) ? tl_key_of(word, n, of_args) : TL_KEY_UNKNOWN;
    if (r->scratch->key_of != NULL && r->key == TL_KEY_UNKNOWN && n > 0 && of_args)
        r->key = r->scratch->key_of(word, n);
    return 1;
}

static int on_open(reading *r, bool object)
{
    (void)set(r, NULL, 0, TL_VALUE_OTHER);
    if (r->depth == 1)
        r->in_args = object && r->key == TL_KEY_ARGS;
    if (r->depth == 1 && r->in_args)
        r->args_from = yajl_get_bytes_consumed(r->yajl) - 1;
    if (r->depth == 2 && r->in_args && r->key >= TL_KEY_GRID && r->key < TL_NKEYS) {
        r->json_key = r->key;
        r->json_from = yajl_get_bytes_consumed(r->yajl) - 1; /* yajl has just read the bracket */
    }
    if (r->depth < UINT32_MAX)
        r->depth++;
    if (r->depth > 1)
        r->key = TL_KEY_UNKNOWN;
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
    reading *r = ctx;
    size_t end = yajl_get_bytes_consumed(r->yajl);
    r->depth--;
    r->key = TL_KEY_UNKNOWN;
    if (r->depth == 1 && r->in_args) {
        r->f->args = (tl_text){ r->text + r->args_from, end - r->args_from };
        r->in_args = false;
    }
    if (r->depth == 2 && r->json_key != TL_KEY_UNKNOWN) {
        r->f->value[r->json_key].text = (tl_text){ r->text + r->json_from, end - r->json_from };
        r->json_key = TL_KEY_UNKNOWN;
    }
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end,
};

/* Returns the offset of the fault: the token that the grammar forbids, but for a lexical error the invalid byte. */
static size_t fault_of(yajl_handle h)
{
    size_t at = yajl_get_bytes_consumed(h);
    unsigned char *words = yajl_get_error(h, 0, NULL, 0);
    bool lexical = words != NULL && strncmp((const char *)words, "lexical", 7) == 0;
    if (words != NULL)
        yajl_free_error(h, words);
    return lexical && at > 0 ? at - 1 : at;
}

bool tl_event_read_yajl(tl_yajl_scratch *scratch, tl_text text, tl_fields *f, size_t *consumed)
{
    reading r = { .scratch = scratch, .f = f, .key = TL_KEY_UNKNOWN, .text = text.p, .json_key = TL_KEY_UNKNOWN };
    f->seen = 0;
    f->args.n = 0;
    *consumed = 0;
    scratch->used = 0;
    /* A decoded text is never longer than its source. */
    tl_grow((void **)&scratch->text, &scratch->cap, text.n + 1, 1);
    yajl_alloc_funcs memory = { tl_mem_get, tl_mem_resize, tl_mem_drop, NULL };
    yajl_handle h = yajl_alloc(&callbacks, &memory, &r);
    r.yajl = h;
    yajl_status st = yajl_parse(h, (const unsigned char *)text.p, text.n);
    *consumed = st == yajl_status_error ? fault_of(h) : yajl_get_bytes_consumed(h);
    bool whole =
        st == yajl_status_ok && yajl_complete_parse(h) == yajl_status_ok && r.depth == 0 && *consumed == text.n;
    yajl_free(h);
    return whole && text.n > 0 && text.p[0] == '{';
}

void tl_yajl_scratch_free(tl_yajl_scratch *scratch)
{
    free(scratch->text);
    *scratch = (tl_yajl_scratch){ 0 };
}
