/* grammar.h - checks byte by byte whether a text is JSON, and finds where it stops being JSON.
 *
 * Accepts exactly what the reference reader of entries accepts: JSON, and text that tl_repair_json turns into JSON
 * (bare words, a plus before a number, control bytes and invalid backslashes in strings, a comma before a closing
 * bracket).  It keeps no values, only the kinds of the open brackets, one bit each.
 *
 *     tl_grammar g = { 0 };                   before an outermost value
 *     n = tl_grammar_run(&g, text, size);
 *     tl_grammar_is_over(&g)                  the value ends after its n-th byte
 *     n == size                               no fault in these bytes
 *     else                                    text[n] cannot stand there: tl_grammar_wants says what could
 */
#ifndef TLMPI_TRACE_TEXT_GRAMMAR_H
#define TLMPI_TRACE_TEXT_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tl_grammar_state {
    TL_WANT_VALUE,     /* the outermost one, or after a colon */
    TL_WANT_FIRST,     /* after '[' */
    TL_WANT_ELEMENT,   /* after a comma in an array */
    TL_WANT_FIRST_KEY, /* after '{' */
    TL_WANT_KEY,       /* after a comma in an object */
    TL_WANT_COLON,
    TL_WANT_COMMA,   /* after a value */
    TL_WANT_CLOSE,   /* after a comma that has nothing before it */
    TL_WANT_NOTHING, /* the outermost value is over */
    TL_IN_STRING,
    TL_IN_ESCAPE,
    TL_IN_WORD,
    TL_IN_SIGN,
    TL_IN_ZERO,
    TL_IN_INTEGER,
    TL_IN_POINT,
    TL_IN_FRACTION,
    TL_IN_E,
    TL_IN_E_SIGN,
    TL_IN_EXPONENT
} tl_grammar_state;

/* Zero-initialise; tl_grammar_free ends it. */
typedef struct tl_grammar {
    tl_grammar_state state;
    bool key;          /* the current string is a key */
    uint64_t depth;    /* number of open brackets */
    uint64_t *objects; /* bit d: bracket d is a brace */
    size_t cap;
} tl_grammar;

/* Accepts one byte.  Returns false, and changes nothing, if the byte cannot follow. */
bool tl_grammar_step(tl_grammar *g, char c);

/* Accepts bytes up to the end of the outermost value, the first byte that cannot follow, or n bytes; returns the number
 * of accepted bytes. */
size_t tl_grammar_run(tl_grammar *g, const char *text, size_t n);

static inline bool tl_grammar_is_over(const tl_grammar *g)
{
    return g->state == TL_WANT_NOTHING;
}

/* Whether the innermost open bracket is a brace. */
bool tl_grammar_in_object(const tl_grammar *g);

/* Returns what could follow, in words: "',' or '}'". */
const char *tl_grammar_wants(const tl_grammar *g);

/* Returns to the state before an outermost value; keeps the allocated memory. */
void tl_grammar_reset(tl_grammar *g);

void tl_grammar_free(tl_grammar *g);

#endif
