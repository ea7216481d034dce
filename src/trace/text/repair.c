#include "tlmpi/trace/text/json.h"
#include "tlmpi/base/text.h"

static bool may_be_escaped(tl_text rest)
{
    if (rest.n == 0 || strchr("\"\\/bfnrtu", rest.p[0]) == NULL || rest.p[0] == 0)
        return false;
    if (rest.p[0] != 'u')
        return true;
    for (size_t i = 1; i <= 4; i++)
        if (i >= rest.n || strchr("0123456789abcdefABCDEF", rest.p[i]) == NULL || rest.p[i] == 0)
            return false;
    return true;
}

/* Returns the length of a bare word at the start of t: letters, digits and some signs. */
static size_t bare_word_length(tl_text t)
{
    size_t n = t.p[0] == '-' || t.p[0] == '+' ? 1 : 0;
    if (n >= t.n || !tl_is_letter(t.p[n]))
        return 0;
    while (n < t.n && (tl_is_letter(t.p[n]) || tl_is_digit(t.p[n]) || strchr("/_#.()", t.p[n]) != NULL) && t.p[n] != 0)
        n++;
    return n;
}

/* Returns the length of a number at the start of t, valid or not, with all letters and signs that follow. */
static size_t number_length(tl_text t)
{
    size_t n = t.p[0] == '-' || t.p[0] == '+' ? 1 : 0;
    if (n >= t.n || !tl_is_digit(t.p[n]))
        return 0;
    while (n < t.n && (tl_is_digit(t.p[n]) || tl_is_letter(t.p[n]) || t.p[n] == '.' || t.p[n] == '-' || t.p[n] == '+'))
        n++;
    return n;
}

size_t tl_repair_json(const char *text, size_t n, char *out)
{
    size_t o = 0;
    bool in_string = false;

    for (size_t i = 0; i < n;) {
        tl_text rest = { text + i, n - i };
        char c = text[i];
        if (in_string) {
            tl_text after = rest;
            const tl_char first = tl_char_take(&after);
            tl_text put = first.whole ? first.bytes : TL_TEXT("\xEF\xBF\xBD");
            size_t taken = first.bytes.n;
            if (c == '\\' && may_be_escaped(after))
                put.n = taken = 2;
            else if (c == '\\')
                put = TL_TEXT("\\\\");
            else if ((unsigned char)c < 0x20)
                put = TL_TEXT(" ");
            memcpy(out + o, put.p, put.n);
            o += put.n;
            i += taken;
            in_string = c != '"';
            continue;
        }
        size_t digits = number_length(rest);
        if (digits > 0) {
            size_t plus = c == '+';
            memcpy(out + o, rest.p + plus, digits - plus);
            o += digits - plus;
            i += digits;
            continue;
        }
        size_t word = bare_word_length(rest);
        if (word > 0) {
            tl_text w = { rest.p, word };
            bool json = tl_text_is(w, "true") || tl_text_is(w, "false") || tl_text_is(w, "null");
            /* For a word of one letter four bytes: the room that out has per byte. */
            memcpy(out + o, json ? w.p : "null", json ? word : 4);
            o += json ? word : 4;
            i += word;
            continue;
        }
        if (c == ',') {
            size_t next = i + 1;
            while (next < n && tl_json_is_space(text[next]))
                next++;
            if (next < n && (text[next] == '}' || text[next] == ']')) {
                i++;
                continue;
            }
        }
        in_string = c == '"';
        out[o++] = c;
        i++;
    }
    return o;
}
