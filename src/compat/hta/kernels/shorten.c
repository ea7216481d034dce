/* shorten.c - two ways to shorten a name: without what stands in brackets, and to what a plot has room for. */
#include "shorten.h"

/* Characters of a name on a plot, and what a longer one keeps of them. */
#define PLOT_CHARS 44
#define KEPT_CHARS 42

/* Empty, and with room, so that an empty name has an address, too. */
static void begin(tl_bytes *out, size_t room)
{
    out->n = 0;
    tl_grow((void **)&out->v, &out->cap, room + 1, 1);
}

/* A copy or a memset, by whatever class. */
static bool is_copy(tl_text name)
{
    static const char *const beginnings[] = { "Memcpy", "hipMemcpy", "Memset", "hipMemset", "dma" };
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (tl_text_starts(name, beginnings[i]))
            return true;
    return false;
}

/* A closing bracket takes away everything back to the opening one of its kind, whatever brackets of the other kind lie
 * between; without one, everything.  "->" is none. */
void tl_hta_short_name(tl_bytes *out, tl_text name)
{
    begin(out, name.n);
    tl_bytes_put(out, name.p, name.n);
    if (is_copy(name) || !(tl_text_has(name, "<") || tl_text_has(name, "(")))
        return;

    size_t n = 0;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (c == '-' && i + 1 < name.n && name.p[i + 1] == '>') {
            i++;
            continue;
        }
        if (c != '>' && c != ')') {
            out->v[n++] = c;
            continue;
        }
        char opening = c == '>' ? '<' : '(';
        while (n > 0 && out->v[n - 1] != opening)
            n--;
        n -= n > 0;
    }
    size_t from = n;
    while (from > 0 && out->v[from - 1] != ' ')
        from--;
    memmove(out->v, out->v + from, n - from);
    out->n = n - from;
}

/* ------------------------------------------------------------------------------------------------------ on a plot */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A letter, digit or underscore; beyond ASCII everything counts as a letter. */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static size_t skip(tl_text t, size_t i, bool (*is)(char))
{
    while (i < t.n && is(t.p[i]))
        i++;
    return i;
}

/* Whether t has a character or more between `beginning` and `end`, and no newline. */
static bool is_between(tl_text t, const char *beginning, const char *end)
{
    size_t n = strlen(beginning), m = strlen(end);
    return t.n > n + m && tl_text_starts(t, beginning) && memcmp(t.p + t.n - m, end, m) == 0 &&
           memchr(t.p, '\n', t.n) == NULL;
}

/* "Memcpy HtoD (Pageable -> Device)": Mem with a word, perhaps another word, and a pair of brackets. */
static bool is_copy_of(tl_text t)
{
    size_t i = sizeof "Mem" - 1, word;

    if (!tl_text_starts(t, "Mem") || (word = skip(t, i, is_word)) == i || (i = skip(t, word, is_blank)) == word)
        return false;
    if (i < t.n && t.p[i] != '(') {
        if ((word = skip(t, i, is_word)) == i || (i = skip(t, word, is_blank)) == word)
            return false;
    }
    return is_between((tl_text){ t.p + i, t.n - i }, "(", ")");
}

static bool is_plain(char c)
{
    return is_word(c) || is_blank(c) || memchr(":.#<>,", c, 6) != NULL;
}

/* The part of a name that a plot shows: from the beginning, less a void, as far as there are letters, digits, blanks
 * and any of _:.#<>, */
static tl_text plain_part(tl_text t)
{
    size_t word = tl_text_starts(t, "void") ? sizeof "void" - 1 : 0;
    size_t from = word > 0 ? skip(t, word, is_blank) : 0;
    size_t end = skip(t, from, is_plain);

    if (from == word && word > 0)
        from = 0;
    else if (end == from && word > 0)
        from = from > word + 1 ? from - 1 : 0; /* the last of several blanks after void, or all of it */
    end = skip(t, from, is_plain);
    return end > from ? (tl_text){ t.p + from, end - from } : t;
}

/* Appends t with each `what` in it replaced. */
static void put_replaced(tl_bytes *out, tl_text t, const char *what, const char *by)
{
    size_t n = strlen(what), from = 0;

    for (size_t i = 0; i + n <= t.n;) {
        if (t.p[i] != what[0] || memcmp(t.p + i, what, n) != 0) {
            i++;
            continue;
        }
        tl_bytes_put(out, t.p + from, i - from);
        tl_bytes_put(out, by, strlen(by));
        from = i += n;
    }
    tl_bytes_put(out, t.p + from, t.n - from);
}

/* Where the n-th character of UTF-8 begins, or the text ends. */
static size_t nth_character(tl_text t, size_t n)
{
    size_t i = 0;
    for (; i < t.n; i++)
        if (((unsigned char)t.p[i] & 0xc0) != 0x80 && n-- == 0)
            break;
    return i;
}

void tl_hta_timeline_name(tl_bytes *out, tl_text name)
{
    tl_bytes half = { 0 };

    begin(out, name.n);
    begin(&half, name.n);
    if (is_between(name, "##", "##") || is_between(name, "<", ">") || is_copy_of(name)) {
        tl_bytes_put(out, name.p, name.n);
    } else {
        put_replaced(&half, name, "(anonymous namespace)::", "anon::");
        size_t from = tl_text_starts((tl_text){ half.v, half.n }, "void ") ? sizeof "void " - 1 : 0;
        put_replaced(out, (tl_text){ half.v + from, half.n - from },
                     "autograd::engine::evaluate_function: ", "autograd::");
        tl_text part = plain_part((tl_text){ out->v, out->n });
        memmove(out->v, part.p, part.n);
        out->n = part.n;
    }
    tl_bytes_free(&half);
    if (nth_character((tl_text){ out->v, out->n }, PLOT_CHARS) < out->n) {
        out->n = nth_character((tl_text){ out->v, out->n }, KEPT_CHARS);
        tl_bytes_put(out, "...", 3);
    }
}
