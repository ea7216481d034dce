/* grammar.c - the states of the grammar: JSON and near-JSON. */
#include "tlmpi/trace/text/grammar.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/text.h"
#include "tlmpi/trace/text/json.h"
#include <stdlib.h>

static bool is_of_word(char c)
{
    return tl_is_letter(c) || tl_is_digit(c) || c == '/' || c == '_' || c == '#' || c == '.' || c == '(' || c == ')';
}

/* -------------------------------------------------------------------------------------------------------- brackets */

bool tl_grammar_in_object(const tl_grammar *g)
{
    return g->depth > 0 && g->objects[(g->depth - 1) / 64] >> ((g->depth - 1) % 64) & 1;
}

static void open_bracket(tl_grammar *g, bool object)
{
    size_t word = (size_t)(g->depth / 64);
    uint64_t bit = UINT64_C(1) << (g->depth % 64);

    tl_grow((void **)&g->objects, &g->cap, word + 1, sizeof *g->objects);
    g->objects[word] = object ? g->objects[word] | bit : g->objects[word] & ~bit;
    g->depth++;
    g->state = object ? TL_WANT_FIRST_KEY : TL_WANT_FIRST;
}

static void value_is_over(tl_grammar *g)
{
    g->state = g->depth == 0 ? TL_WANT_NOTHING : TL_WANT_COMMA;
}

static bool close_bracket(tl_grammar *g, char c)
{
    if (g->depth == 0 || c != (tl_grammar_in_object(g) ? '}' : ']'))
        return false;
    g->depth--;
    value_is_over(g);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- values */

/* Sets the next state; returns true: the byte is accepted. */
static bool go_to(tl_grammar *g, tl_grammar_state state)
{
    g->state = state;
    return true;
}

static bool string_begins(tl_grammar *g, bool key)
{
    g->key = key;
    return go_to(g, TL_IN_STRING);
}

/* The first byte of a number or a word, or the byte after a sign. */
static bool number_or_word_begins(tl_grammar *g, char c)
{
    if (tl_is_digit(c))
        return go_to(g, c == '0' ? TL_IN_ZERO : TL_IN_INTEGER);
    return tl_is_letter(c) && go_to(g, TL_IN_WORD);
}

static bool value_begins(tl_grammar *g, char c)
{
    switch (c) {
    case '"':
        return string_begins(g, false);
    case '{':
    case '[':
        open_bracket(g, c == '{');
        return true;
    case '-':
    case '+':
        return go_to(g, TL_IN_SIGN);
    default:
        return number_or_word_begins(g, c);
    }
}

/* Accepts a byte between tokens. */
static bool begin_token(tl_grammar *g, char c)
{
    switch (g->state) {
    case TL_WANT_VALUE:
        return value_begins(g, c);
    case TL_WANT_FIRST:
    case TL_WANT_ELEMENT:
    case TL_WANT_FIRST_KEY:
    case TL_WANT_KEY:
        if (c == ']' || c == '}')
            return close_bracket(g, c);
        if (c == ',')
            return (g->state == TL_WANT_FIRST || g->state == TL_WANT_FIRST_KEY) && go_to(g, TL_WANT_CLOSE);
        if (g->state == TL_WANT_FIRST || g->state == TL_WANT_ELEMENT)
            return value_begins(g, c);
        return c == '"' && string_begins(g, true);
    case TL_WANT_COLON:
        return c == ':' && go_to(g, TL_WANT_VALUE);
    case TL_WANT_COMMA:
        return c == ',' ? go_to(g, tl_grammar_in_object(g) ? TL_WANT_KEY : TL_WANT_ELEMENT) : close_bracket(g, c);
    case TL_WANT_CLOSE:
        return close_bracket(g, c);
    default:
        return false;
    }
}

/* Accepts the byte after a number or word.  Changes nothing if c cannot follow. */
static bool end_token(tl_grammar *g, char c)
{
    tl_grammar_state before = g->state;
    value_is_over(g);
    if (tl_json_is_space(c) || begin_token(g, c))
        return true;
    g->state = before;
    return false;
}

bool tl_grammar_step(tl_grammar *g, char c)
{
    switch (g->state) {
    case TL_IN_STRING:
        if (c == '\\')
            g->state = TL_IN_ESCAPE;
        else if (c == '"' && g->key)
            g->state = TL_WANT_COLON;
        else if (c == '"')
            value_is_over(g);
        return true;
    case TL_IN_ESCAPE:
        return go_to(g, TL_IN_STRING);
    case TL_IN_WORD:
        return is_of_word(c) || end_token(g, c);
    case TL_IN_SIGN:
        return number_or_word_begins(g, c);
    case TL_IN_ZERO:
    case TL_IN_INTEGER:
        if (c == '.')
            return go_to(g, TL_IN_POINT);
        /* fall through */
    case TL_IN_FRACTION:
        if (tl_is_digit(c) && g->state != TL_IN_ZERO)
            return true;
        return c == 'e' || c == 'E' ? go_to(g, TL_IN_E) : end_token(g, c);
    case TL_IN_POINT:
        return tl_is_digit(c) && go_to(g, TL_IN_FRACTION);
    case TL_IN_E:
        return c == '+' || c == '-' ? go_to(g, TL_IN_E_SIGN) : tl_is_digit(c) && go_to(g, TL_IN_EXPONENT);
    case TL_IN_E_SIGN:
        return tl_is_digit(c) && go_to(g, TL_IN_EXPONENT);
    case TL_IN_EXPONENT:
        return tl_is_digit(c) || end_token(g, c);
    default:
        return tl_json_is_space(c) || begin_token(g, c);
    }
}

size_t tl_grammar_run(tl_grammar *g, const char *text, size_t n)
{
    size_t i = 0;

    while (i < n && g->state != TL_WANT_NOTHING) {
        while (g->state == TL_IN_STRING && i < n && text[i] != '"' && text[i] != '\\') /* most bytes */
            i++;
        if (i == n || !tl_grammar_step(g, text[i]))
            break;
        i++;
    }
    return i;
}

const char *tl_grammar_wants(const tl_grammar *g)
{
    bool object = tl_grammar_in_object(g);

    switch (g->state) {
    case TL_WANT_VALUE:
        return "a value";
    case TL_WANT_FIRST:
    case TL_WANT_ELEMENT:
        return "a value or ']'";
    case TL_WANT_FIRST_KEY:
    case TL_WANT_KEY:
        return "a key or '}'";
    case TL_WANT_COLON:
        return "':' after a key";
    case TL_WANT_COMMA:
    case TL_IN_WORD:
    case TL_IN_ZERO:
    case TL_IN_INTEGER:
    case TL_IN_FRACTION:
    case TL_IN_EXPONENT:
        return object ? "',' or '}' after a value" : "',' or ']' after a value";
    case TL_WANT_CLOSE:
        return object ? "'}'" : "']'";
    case TL_WANT_NOTHING:
        return "the end of the text";
    case TL_IN_SIGN:
    case TL_IN_POINT:
    case TL_IN_E:
    case TL_IN_E_SIGN:
        return "a digit";
    case TL_IN_STRING:
    case TL_IN_ESCAPE:
        break;
    }
    return "the rest of a string";
}

void tl_grammar_reset(tl_grammar *g)
{
    g->state = TL_WANT_VALUE;
    g->key = false;
    g->depth = 0;
}

void tl_grammar_free(tl_grammar *g)
{
    free(g->objects);
    *g = (tl_grammar){ 0 };
}
