/* salvage.c - the metadata of text that is damaged.
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
#include "tlmpi/trace/meta.h"
#include <stdlib.h>

typedef struct anchor {
    const char *key;
    size_t n;           /* its length */
    const char *begins; /* the first bytes that its value may have */
    unsigned depth;     /* brackets open around it */
} anchor;

#define DIGITS "-0123456789\""
#define ANCHOR(word, begins, depth)                                                                                    \
    {                                                                                                                  \
        word, sizeof(word) - 1, begins, depth                                                                          \
    }

static const anchor anchors[] = {
    ANCHOR("schemaVersion", DIGITS, 1),
    ANCHOR("deviceProperties", "[", 1),
    ANCHOR("distributedInfo", "{", 1), /* INFO */
    ANCHOR("baseTimeNanoseconds", DIGITS, 1),
    ANCHOR("displayTimeUnit", "\"", 1),
    ANCHOR("traceEvents", "[", 1),
    ANCHOR("traceName", "\"", 1),
    ANCHOR("trace_id", "\"", 1),
    ANCHOR("host_name", "\"", 1),
    ANCHOR("hostname", "\"", 1),
    ANCHOR("hostName", "\"", 1),
    ANCHOR("HostName", "\"", 1),
    ANCHOR("HOSTNAME", "\"", 1),
    ANCHOR("Hostname", "\"", 1),
    ANCHOR("backend", "\"", 2),
    ANCHOR("rank", DIGITS, 2),
    ANCHOR("world_size", DIGITS, 2),
    ANCHOR("pg_count", DIGITS, 2),
    ANCHOR("pg_config", "[{", 2),
    ANCHOR("nccl_version", "\"", 2),
};
#define INFO        2
#define NANCHORS    (sizeof anchors / sizeof anchors[0])
#define LONGEST_KEY ((size_t)19)

typedef struct salvage {
    tl_text in;
    tl_grammar grammar; /* of out */
    TL_VEC(char) out;
    size_t safe;     /* bytes of out that hold whole members alone */
    size_t info_end; /* where distributedInfo has ended in out; 0 before */
    bool in_info;    /* the last member of the document is distributedInfo ... */
    bool info_lost;  /* ... whose brace is missing */
    bool unclosed;
    uint32_t seen; /* bit of each anchor that has been copied */
} salvage;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t skip(tl_text t, size_t i)
{
    while (i < t.n && is_space(t.p[i]))
        i++;
    return i;
}

/* The anchor whose key is quoted at i; NANCHORS for none. */
static size_t named_at(tl_text t, size_t i)
{
    const char *key = t.p + i + 1;
    size_t most = t.n - i - 1 < LONGEST_KEY + 1 ? t.n - i - 1 : LONGEST_KEY + 1, k = 0;
    const char *end = memchr(key, '"', most);
    size_t n = end != NULL ? (size_t)(end - key) : 0;

    while (k < NANCHORS && (anchors[k].n != n || memcmp(key, anchors[k].key, n) != 0))
        k++;
    return k;
}

/* As named_at, for a key whose value begins as it should, too. */
static size_t anchor_at(tl_text t, size_t i)
{
    size_t k = named_at(t, i);
    if (k == NANCHORS)
        return NANCHORS;
    size_t colon = skip(t, i + anchors[k].n + 2), value = skip(t, colon + 1);
    bool fits = value < t.n && t.p[colon] == ':' && t.p[value] != 0 && strchr(anchors[k].begins, t.p[value]) != NULL;
    return fits ? k : NANCHORS;
}

/* -------------------------------------------------------------------------------------------------------- the copy */

static void put(salvage *s, char c)
{
    if (s->out.n == s->out.cap)
        tl_grow((void **)&s->out.v, &s->out.cap, s->out.n + 1, 1);
    s->out.v[s->out.n++] = c;
}

/* Copies a byte that the grammar has taken; `depth` was its depth before. */
static void copy(salvage *s, char c, uint64_t depth)
{
    put(s, c);
    if (s->grammar.depth != depth)
        s->safe = s->out.n;
    else if (s->grammar.state == TL_WANT_KEY || s->grammar.state == TL_WANT_ELEMENT)
        s->safe = c == ',' ? s->out.n - 1 : s->safe;
    if (s->grammar.depth == 1 && depth == 2 && s->in_info)
        s->info_end = s->out.n;
}

/* Whether distributedInfo is the last that has been copied: its closing brace may be a stray one. */
static bool can_reopen(const salvage *s)
{
    size_t i = s->info_end;
    while (i < s->safe && is_space(s->out.v[i]))
        i++;
    return s->grammar.depth == 1 && s->in_info && !s->info_lost && s->info_end > 0 && i == s->safe;
}

/* The grammar inside of `depth` objects. */
static bool enter(tl_grammar *g, uint64_t depth)
{
    tl_grammar_reset(g);
    while (g->depth < depth) {
        g->state = TL_WANT_VALUE;
        if (!tl_grammar_step(g, '{'))
            return false;
    }
    return true;
}

/* Instead of a member that has lost its brace. */
static bool open_info(salvage *s)
{
    for (const char *c = "\"distributedInfo\":{"; *c != 0; c++)
        put(s, *c);
    s->info_lost = false;
    s->seen |= UINT32_C(1) << INFO;
    s->safe = s->out.n;
    s->grammar.state = TL_WANT_VALUE;
    return tl_grammar_step(&s->grammar, '{');
}

/* Back to the last whole member, then in or out to `depth` open braces, and before the next key.  False: memory is
 * out. */
static bool go_to(salvage *s, uint64_t depth)
{
    tl_grammar *g = &s->grammar;

    if (depth == 2 && s->info_lost)
        return go_to(s, 1) && open_info(s);
    s->out.n = depth == 2 && g->depth == 1 ? s->info_end : s->safe;
    if (s->out.n == 0)
        put(s, '{');
    if (g->depth < depth) {
        s->out.n -= s->out.n > 1; /* the brace that closed too early */
        if (!enter(g, depth))
            return false;
    }
    while (g->depth > depth) {
        char c = tl_grammar_in_object(g) ? '}' : ']';
        g->state = TL_WANT_COMMA;
        if (!tl_grammar_step(g, c))
            return false;
        put(s, c);
    }
    while (is_space(s->out.v[s->out.n - 1]) || s->out.v[s->out.n - 1] == ',')
        s->out.n--;
    g->state = TL_WANT_KEY;
    s->safe = s->out.n;
    if (s->out.v[s->out.n - 1] != '{')
        put(s, ',');
    return true;
}

/* --------------------------------------------------------------------------------------------------------- the way */

/* Returns the index of the next anchor, from i on, that has not been seen; the end of the text without one. */
static size_t next_anchor(const salvage *s, size_t i, size_t *which)
{
    bool inside = s->in_info && (s->grammar.depth > 1 || s->info_lost || can_reopen(s));

    while (i < s->in.n) {
        const char *quote = memchr(s->in.p + i, '"', s->in.n - i);
        if (quote == NULL)
            break;
        i = (size_t)(quote - s->in.p);
        *which = anchor_at(s->in, i);
        if (*which < NANCHORS && !(s->seen >> *which & 1) && (anchors[*which].depth == 1 || inside))
            return i;
        i++;
    }
    return s->in.n;
}

/* Before a key, whose quote is at i: goes to the depth where it belongs, and remembers it.  False: memory is out. */
static bool meet_key(salvage *s, size_t i)
{
    size_t which = anchor_at(s->in, i);
    bool fresh = which < NANCHORS && !(s->seen >> which & 1);
    bool too_deep = fresh && s->unclosed && anchors[which].depth == 1 && s->grammar.depth > 1;
    bool too_high = fresh && anchors[which].depth == 2 && can_reopen(s);

    if ((too_deep || too_high) && !go_to(s, anchors[which].depth))
        return false;
    if (s->grammar.depth == 1) {
        s->in_info = named_at(s->in, i) == INFO;
        s->info_lost = s->in_info && which != INFO;
    }
    if (which < NANCHORS && anchors[which].depth == s->grammar.depth && (s->grammar.depth == 1 || s->in_info))
        s->seen |= UINT32_C(1) << which;
    return true;
}

/* Makes s->out a document.  False: memory is out. */
static bool mend(salvage *s)
{
    size_t i = 0, quote = 0, which = NANCHORS; /* quote: of the last string, which may be the key of what breaks */

    while (i < s->in.n) {
        char c = s->in.p[i];
        uint64_t depth;
        bool key = c == '"' && (s->grammar.state == TL_WANT_KEY || s->grammar.state == TL_WANT_FIRST_KEY);
        if (key && !meet_key(s, i))
            return false;
        if (c == '"' && s->grammar.state != TL_IN_STRING && s->grammar.state != TL_IN_ESCAPE)
            quote = i;
        depth = s->grammar.depth;
        if (tl_grammar_step(&s->grammar, c)) {
            copy(s, c, depth);
            i++;
            continue;
        }
        i = next_anchor(s, quote, &which);
        if (i < s->in.n && !go_to(s, anchors[which].depth))
            return false;
    }
    return true;
}

tl_status tl_document_read(const tl_split *split, tl_meta *meta, tl_error *err)
{
    salvage s = { .in = { split->doc != NULL ? split->doc : "", split->ndoc }, .unclosed = split->unclosed };
    tl_status st = TL_OK;

    if (split->bare)
        return TL_OK;
    if (split->fault_at == UINT64_MAX)
        return tl_meta_parse(s.in.p, s.in.n, meta, err);
    if (!mend(&s))
        st = tl_fail_memory(err, "mending the metadata of a trace");
    else if (s.out.n > 0 && tl_meta_parse(s.out.v, s.out.n, meta, err) == TL_ENOMEM)
        st = TL_ENOMEM;
    tl_grammar_free(&s.grammar);
    free(s.out.v);
    return st;
}
