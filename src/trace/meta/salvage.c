/* salvage.c - reads the metadata of damaged text, or from the end of a text.
 *
 * In damaged text the known keys are found by their names and copied into a new document; brackets around a key are
 * ignored, since one may be missing.  A key counts if its value begins as it should, and once; keys of distributedInfo
 * count after its name, up to the next key of the document.  An array is copied up to its last complete member:
 *
 *     {"a": 1, "deviceProperties": [{"id": 0, "name": "A"100"}], "distributedInfo": {"rank": 3, ...
 *     {"deviceProperties": [{"id": 0}], "distributedInfo": {"rank": 3}}
 */
#include "internal.h"
#include "tlmpi/base/bytes.h"

/* Returns the index of the known key in quotes at i; TL_META_KEYS: none. */
static size_t named_at(tl_text t, size_t i)
{
    const char *key = t.p + i + 1;
    size_t left = t.n - i - 1, most = left < TL_META_LONGEST_KEY + 1 ? left : TL_META_LONGEST_KEY + 1;
    const char *end = memchr(key, '"', most);
    return end != NULL ? tl_meta_key_of((tl_text){ key, (size_t)(end - key) }) : TL_META_KEYS;
}

/* Returns the text from the value of the key in quotes at i; empty: the value does not begin as it should. */
static tl_text value_at(tl_text t, size_t i, const tl_meta_key *key)
{
    size_t colon = tl_skip_space(t, i + strlen(key->word) + 2), value = tl_skip_space(t, colon + 1);
    bool fits = value < t.n && t.p[colon] == ':' && t.p[value] != 0 && strchr(key->begins, t.p[value]) != NULL;
    return fits ? (tl_text){ t.p + value, t.n - value } : (tl_text){ "", 0 };
}

/* Appends the value at the beginning of the text; of an object or array without an end, its complete members.  Returns
 * false for an incomplete scalar. */
static bool put_value(tl_bytes *out, tl_text t)
{
    tl_grammar g = { 0 };
    size_t n = 0, whole = 0; /* whole: number of bytes up to the last complete member */

    for (uint64_t depth = 0; n < t.n && !tl_grammar_is_over(&g) && tl_grammar_step(&g, t.p[n]); depth = g.depth, n++)
        if (g.depth != depth)
            whole = n + 1;
        else if (t.p[n] == ',' && (g.state == TL_WANT_KEY || g.state == TL_WANT_ELEMENT))
            whole = n;
    if (g.depth == 0 && !tl_grammar_is_over(&g) && n < t.n) /* a number ends before the first byte that does not belong
                                                             * to it */
        (void)tl_grammar_step(&g, ' ');
    const bool over = tl_grammar_is_over(&g);
    whole = over ? n : whole;
    tl_grammar_reset(&g);
    (void)tl_grammar_run(&g, t.p, whole);
    tl_bytes_put(out, t.p, whole);
    while (!over && g.depth > 0) {
        const char *close = tl_grammar_in_object(&g) ? "}" : "]";
        g.state = TL_WANT_COMMA;
        (void)tl_grammar_step(&g, *close);
        tl_bytes_put(out, close, 1);
    }
    tl_grammar_free(&g);
    return whole > 0;
}

/* Builds a document of the known keys and their values. */
static void salvage(tl_text t, tl_bytes *out)
{
    tl_bytes info = { 0 }; /* members of distributedInfo */
    bool in_info = false;
    uint32_t seen = 0; /* bits of the keys that have been copied */

    tl_bytes_say(out, "{");
    for (size_t i = 0; i < t.n; i++) {
        const char *quote = memchr(t.p + i, '"', t.n - i);
        i = quote != NULL ? (size_t)(quote - t.p) : t.n;
        size_t k = quote != NULL ? named_at(t, i) : TL_META_KEYS;
        if (k == TL_META_KEYS)
            continue;
        const tl_meta_key *key = &tl_meta_keys[k];
        if (key->depth == 1 && key->take != TL_TAKE_HOST)
            in_info = k == TL_META_INFO;
        seen |= (uint32_t)(k == TL_META_INFO) << k;
        tl_text value = value_at(t, i, key);
        if (value.n == 0 || k == TL_META_INFO || seen >> k & 1 || (key->depth == 2 && !in_info))
            continue;
        tl_bytes *to = key->depth == 2 ? &info : out;
        size_t before = to->n;
        tl_bytes_say(to, "%s\"%s\":", before > 1 ? "," : "", key->word);
        bool taken = put_value(to, value);
        to->n = taken ? to->n : before;
        seen |= (uint32_t)taken << k;
    }
    if (seen >> TL_META_INFO & 1) {
        tl_bytes_say(out, "%s\"distributedInfo\":{", out->n > 1 ? "," : "");
        tl_bytes_put(out, info.v, info.n);
        tl_bytes_say(out, "}");
    }
    tl_bytes_say(out, "}");
    tl_bytes_free(&info);
}

tl_status tl_document_read(const tl_split *split, tl_meta *meta, tl_error *err)
{
    const tl_text text = { split->doc != NULL ? split->doc : "", split->ndoc };
    tl_bytes salvaged = { 0 };

    if (split->bare)
        return TL_OK;
    if (split->fault_at == UINT64_MAX)
        return tl_meta_parse(text.p, text.n, meta, err);
    salvage(text, &salvaged);
    (void)tl_meta_parse(salvaged.v, salvaged.n, meta, NULL);
    tl_bytes_free(&salvaged);
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

/* Returns a document up to the closing bracket of its first member. */
static const char *document_before(char bracket)
{
    return bracket == ']' ? "{\"\":[0" : "{\"\":{\"\":0";
}

/* Returns how many bytes of `rest`, which begins with a closing bracket, continue as a text does after a member of the
 * document: to the closing brace and the end, or to the truncation. */
static size_t length_of_rest(tl_text rest)
{
    const char *before = document_before(*rest.p);
    tl_grammar g = { 0 };

    (void)tl_grammar_run(&g, before, strlen(before));
    size_t n = tl_grammar_run(&g, rest.p, rest.n);
    while (n < rest.n && (tl_is_space(rest.p[n]) || rest.p[n] == 0))
        n++;
    tl_grammar_free(&g);
    return n;
}

/* Returns the index of the end of the document's array, or, if that lies before the text, of the first member that ends
 * with a bracket: the rest closes as the document does.  t.n: none. */
static size_t end_of_member(tl_text t)
{
    size_t looks = 0;

    for (size_t i = 0; i < t.n && looks / LOOKS_MAX < t.n; i++) {
        if (t.p[i] != ']' && t.p[i] != '}')
            continue;
        size_t n = length_of_rest((tl_text){ t.p + i, t.n - i });
        if (n == t.n - i)
            return i;
        looks += n;
    }
    return t.n;
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
    size_t end = end_of_member((tl_text){ buf, n });
    tl_bytes document = { 0 };
    if (end < n) {
        tl_bytes_say(&document, "%s", document_before(buf[end]));
        tl_bytes_put(&document, buf + end, n - end);
        (void)tl_meta_parse(document.v, document.n, meta, NULL);
    }
    tl_bytes_free(&document);
    free(buf);
}
