/* text.h - a view of bytes with another owner: a part of a trace, a name, or a literal.  Valid as long as the owner. */
#ifndef TLMPI_BASE_TEXT_H
#define TLMPI_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* n bytes at p; not 0-terminated; any byte is allowed. */
typedef struct tl_text {
    const char *p;
    size_t n;
} tl_text;

/* The text of a string literal. */
#define TL_TEXT(literal) ((tl_text){ (literal), sizeof(literal) - 1 })

static inline bool tl_is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* Whether c is a letter of ASCII. */
static inline bool tl_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline tl_text tl_text_of(const char *word)
{
    return (tl_text){ word, strlen(word) };
}

static inline bool tl_text_is(tl_text t, const char *word)
{
    size_t n = strlen(word);
    return t.n == n && (n == 0 || memcmp(t.p, word, n) == 0);
}

static inline bool tl_text_starts(tl_text t, const char *prefix)
{
    size_t n = strlen(prefix);
    return t.n >= n && (n == 0 || memcmp(t.p, prefix, n) == 0);
}

/* Whether t contains needle. */
bool tl_text_has(tl_text t, const char *needle);

/* Returns a number below, at or above 0 if a is less than, equal to or greater than b, by bytes; a prefix is less than
 * a longer text. */
int tl_text_compare(tl_text a, tl_text b);

/* Whether the name ends with one of the NULL-terminated endings, ignoring case, and is longer than it. */
bool tl_name_has_ending(const char *name, const char *const *endings);

/* Takes the next item of a list such as "[0, 1, ..., 29]"; false: there is none. */
bool tl_text_next(tl_text *list, tl_text *item);

/* Returns the length of the longest prefix of t that is valid UTF-8 with complete characters. */
size_t tl_text_utf8(tl_text t);

#define TL_REPLACEMENT 0xFFFDu

/* A character: its code point and its bytes.  An invalid byte is a character with `whole` false and code
 * TL_REPLACEMENT. */
typedef struct tl_char {
    uint32_t code;
    bool whole;
    tl_text bytes;
} tl_char;

/* Takes the first character of a text that is not empty. */
tl_char tl_char_take(tl_text *text);

/* Whether a terminal may obey the character: a control (C0, DEL, C1), but no tab and no line end. */
bool tl_char_controls(uint32_t code);

/* Whether the character may be sent to a terminal: no control (C0, DEL, C1), and no change of text direction. */
bool tl_char_shows(uint32_t code);

#endif
