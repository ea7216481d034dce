/* salvage.c - the metadata of text that is damaged, or whose end alone is there.
 *
 * The text is copied as long as it is JSON.  At a byte that cannot be there the copy goes back to its last whole
 * member, closes what is open, and goes on at the next key that a trace is known to have:
 *
 *     {"a": 1, "devices": [{"id": 0, "name": "A"100"}], "distributedInfo": {"rank": 3, ...
 *     {"a": 1, "devices": [{"id": 0}],                  "distributedInfo": {"rank": 3, ...
 *
 * Such a key counts only where its value begins as it should, and once: what has been read stays.  Inside
 * distributedInfo its own keys count, too.  Where a closing bracket is missing the text is JSON all the same; then a
 * key of the document shows by its name that it stands too deep.
 */
#include "internal.h"

typedef struct salvage {
    tl_text in;
    tl_grammar grammar; /* of out */
    TL_VEC(char) out;
    size_t safe;     /* bytes of out that hold whole members alone */
    size_t info_end; /* where distributedInfo has ended in out; 0 before */
    bool in_info;    /* the last member of the document is distributedInfo */
    bool info_lost;  /* the brace of that distributedInfo is missing */
    bool unclosed;
    uint32_t seen; /* bit of each key that has been copied */
} salvage;

/* The known key that is quoted at i; TL_META_KEYS for none. */
static size_t named_at(tl_text t, size_t i)
{
    const char *key = t.p + i + 1;
    size_t left = t.n - i - 1, most = left < TL_META_LONGEST_KEY + 1 ? left : TL_META_LONGEST_KEY + 1;
    const char *end = memchr(key, '"', most);
    return end != NULL ? tl_meta_key_of((tl_text){ key, (size_t)(end - key) }) : TL_META_KEYS;
}

/* As named_at, for a key whose value begins as it should, too. */
static size_t anchor_at(tl_text t, size_t i)
{
    size_t k = named_at(t, i);
    if (k == TL_META_KEYS)
        return TL_META_KEYS;
    size_t colon = tl_skip_space(t, i + strlen(tl_meta_keys[k].word) + 2), value = tl_skip_space(t, colon + 1);
    bool fits =
        value < t.n && t.p[colon] == ':' && t.p[value] != 0 && strchr(tl_meta_keys[k].begins, t.p[value]) != NULL;
    return fits ? k : TL_META_KEYS;
}

static void put(salvage *s, const char *text)
{
    for (; *text != '\0'; text++) {
        tl_vec_push(&s->out, *text);
    }
}

/* Whether distributedInfo is the last that has been copied: its closing brace may be a stray one. */
static bool can_reopen(const salvage *s)
{
    return s->grammar.depth == 1 && s->in_info && !s->info_lost && s->info_end > 0 &&
           tl_skip_space((tl_text){ s->out.v, s->safe }, s->info_end) == s->safe;
}

/* Takes an opening brace into the grammar, where a value may stand. */
static void open_brace(tl_grammar *g)
{
    g->state = TL_WANT_VALUE;
    (void)tl_grammar_step(g, '{');
}

/* Back to the last whole member, then in or out to `depth` open braces, and before the next key. */
static void go_to(salvage *s, uint64_t depth)
{
    tl_grammar *g = &s->grammar;
    bool lost = depth == 2 && s->info_lost; /* the member has lost its key and its brace */

    depth = lost ? 1 : depth;
    s->out.n = depth == 2 && g->depth == 1 ? s->info_end : s->safe;
    if (s->out.n == 0)
        put(s, "{");
    if (g->depth < depth) {
        s->out.n -= s->out.n > 1; /* the brace that closed too early */
        tl_grammar_reset(g);
        while (g->depth < depth)
            open_brace(g);
    }
    while (g->depth > depth) {
        const char *close = tl_grammar_in_object(g) ? "}" : "]";
        g->state = TL_WANT_COMMA;
        (void)tl_grammar_step(g, *close);
        put(s, close);
    }
    while (tl_is_space(s->out.v[s->out.n - 1]) || s->out.v[s->out.n - 1] == ',')
        s->out.n--;
    g->state = TL_WANT_KEY;
    s->safe = s->out.n;
    if (s->out.v[s->out.n - 1] != '{')
        put(s, ",");
    if (!lost)
        return;
    put(s, "\"distributedInfo\":{");
    s->info_lost = false;
    s->seen |= UINT32_C(1) << TL_META_INFO;
    s->safe = s->out.n;
    open_brace(g);
}

/* Returns the index of the next key, from i on, that counts and has not been seen; the end of the text without one. */
static size_t next_anchor(const salvage *s, size_t i, size_t *which)
{
    bool inside = s->in_info && (s->grammar.depth > 1 || s->info_lost || can_reopen(s));

    for (; i < s->in.n; i++) {
        const char *quote = memchr(s->in.p + i, '"', s->in.n - i);
        if (quote == NULL)
            break;
        i = (size_t)(quote - s->in.p);
        *which = anchor_at(s->in, i);
        if (*which < TL_META_KEYS && !(s->seen >> *which & 1) && (tl_meta_keys[*which].depth == 1 || inside))
            return i;
    }
    return s->in.n;
}

/* Before a key, whose quote is at i: goes to the depth where it belongs, and remembers it. */
static void meet_key(salvage *s, size_t i)
{
    size_t which = anchor_at(s->in, i);
    unsigned depth = which < TL_META_KEYS ? tl_meta_keys[which].depth : 0;
    bool fresh = which < TL_META_KEYS && !(s->seen >> which & 1);
    bool too_deep = fresh && s->unclosed && depth == 1 && s->grammar.depth > 1;
    bool too_high = fresh && depth == 2 && can_reopen(s);

    if (too_deep || too_high)
        go_to(s, depth);
    if (s->grammar.depth == 1) {
        s->in_info = named_at(s->in, i) == TL_META_INFO;
        s->info_lost = s->in_info && which != TL_META_INFO;
    }
    if (which < TL_META_KEYS && depth == s->grammar.depth && (depth == 1 || s->in_info))
        s->seen |= UINT32_C(1) << which;
}

/* Makes s->out a document. */
static void mend(salvage *s)
{
    size_t i = 0, quote = 0, which = TL_META_KEYS; /* quote: of the last string, which may be the key of what breaks */
    tl_grammar *g = &s->grammar;

    while (i < s->in.n) {
        const char text[] = { s->in.p[i], '\0' };
        char c = *text;
        if (c == '"' && (g->state == TL_WANT_KEY || g->state == TL_WANT_FIRST_KEY))
            meet_key(s, i);
        if (c == '"' && g->state != TL_IN_STRING && g->state != TL_IN_ESCAPE)
            quote = i;
        uint64_t depth = g->depth;
        if (!tl_grammar_step(g, c)) {
            i = next_anchor(s, quote, &which);
            if (i < s->in.n)
                go_to(s, tl_meta_keys[which].depth);
            continue;
        }
        put(s, text);
        i++;
        if (g->depth != depth)
            s->safe = s->out.n;
        else if (c == ',' && (g->state == TL_WANT_KEY || g->state == TL_WANT_ELEMENT))
            s->safe = s->out.n - 1;
        if (g->depth == 1 && depth == 2 && s->in_info)
            s->info_end = s->out.n;
    }
}

tl_status tl_document_read(const tl_split *split, tl_meta *meta, tl_error *err)
{
    salvage s = { .in = { split->doc != NULL ? split->doc : "", split->ndoc }, .unclosed = split->unclosed };

    if (split->bare)
        return TL_OK;
    if (split->fault_at == UINT64_MAX)
        return tl_meta_parse(s.in.p, s.in.n, meta, err);
    mend(&s);
    if (s.out.n > 0)
        (void)tl_meta_parse(s.out.v, s.out.n, meta, NULL);
    tl_grammar_free(&s.grammar);
    free(s.out.v);
    return TL_OK;
}

/* ------------------------------------------------------------------------------------------------------ the last bytes
 *
 *     ... {"ph": "X", "args": {"distributedInfo": {"rank": 9}}}], "distributedInfo": {"rank": 3}, "traceName": "t"}
 *                              ^ no key of the document: what stands after its value does not close the text
 */

#define TAIL ((size_t)1 << 20)

/* Places of a key that are tried, at most: only a hostile text has more. */
#define TRIES_MAX 8

/* Length of the value at the start of t, which begins with one of `begins`; 0 where it does not, or does not end. */
static size_t value_length(tl_text t, const char *begins)
{
    tl_grammar g = { 0 };

    if (t.n == 0 || t.p[0] == 0 || strchr(begins, t.p[0]) == NULL)
        return 0;
    size_t n = tl_grammar_run(&g, t.p, t.n);
    bool over = tl_grammar_is_over(&g) || n < t.n; /* a number ends before the byte that is none of it */
    tl_grammar_free(&g);
    return over ? n : 0;
}

/* Whether `rest` goes on as the text does after a member of the document: to its closing brace and the end, or to where
 * it is cut. */
static bool closes_document(tl_text rest)
{
    static const char before[] = "{\"\":0 ";
    tl_grammar g = { 0 };

    (void)tl_grammar_run(&g, before, sizeof before - 1);
    size_t n = tl_grammar_run(&g, rest.p, rest.n);
    while (n < rest.n && (tl_is_space(rest.p[n]) || rest.p[n] == 0))
        n++;
    tl_grammar_free(&g);
    return n == rest.n;
}

/* The value of a key of the document, of several the first; empty where there is none. */
static tl_text find_value(tl_text t, const char *quoted, const char *begins)
{
    tl_text found = { "", 0 };
    size_t n = strlen(quoted);

    for (size_t i = t.n >= n ? t.n - n + 1 : 0, tries = 0; i-- > 0 && tries < TRIES_MAX;) {
        if (t.p[i] != quoted[0] || memcmp(t.p + i, quoted, n) != 0)
            continue;
        size_t colon = tl_skip_space(t, i + n), at = tl_skip_space(t, colon + 1);
        if (colon >= t.n || t.p[colon] != ':')
            continue;
        tries++;
        size_t length = at < t.n ? value_length((tl_text){ t.p + at, t.n - at }, begins) : 0;
        if (length > 0 && closes_document((tl_text){ t.p + at + length, t.n - at - length }))
            found = (tl_text){ t.p + at, length };
    }
    return found;
}

/* The last bytes of the text: n of them in buf, which has room for 2 * TAIL and n bytes already. */
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
    tl_text t = { buf, n };
    tl_text info = find_value(t, "\"distributedInfo\"", "{");
    tl_text base = find_value(t, "\"baseTimeNanoseconds\"", "\"0123456789");
    if (info.n > 0 && meta->rank < 0)
        (void)tl_meta_parse_distributed(info, meta);
    if (base.n > 1 && base.p[0] == '"')
        base = (tl_text){ base.p + 1, base.n - 2 };
    while (base.n > 0 && tl_is_space(base.p[base.n - 1]))
        base.n--;
    if (!meta->has_base)
        tl_meta_set_base(meta, base);
    free(buf);
}
