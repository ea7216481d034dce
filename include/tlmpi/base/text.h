/* text.h - a view of bytes with another owner: a piece of a trace, of a name, of a literal.  Valid as long as the
 * owner. */
#ifndef TLMPI_BASE_TEXT_H
#define TLMPI_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* n bytes at p; not 0-terminated, may hold any byte. */
typedef struct tl_text {
    const char *p;
    size_t n;
} tl_text;

/* The text of a string literal. */
#define TL_TEXT(literal) ((tl_text){ (literal), sizeof(literal) - 1 })

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

/* Whether needle stands anywhere in t. */
bool tl_text_has(tl_text t, const char *needle);

/* Returns a number below, at or above 0, as a stands before, with or after b: byte by byte, a prefix before a longer
 * text. */
int tl_text_compare(tl_text a, tl_text b);

/* Whether the name is longer than one of the endings, whose list ends with NULL, and ends with it, whatever the case. */
bool tl_name_has_ending(const char *name, const char *const *endings);

/* Takes the next item off a list as "[0, 1, ..., 29]"; false where there is none left. */
bool tl_text_next(tl_text *list, tl_text *item);

/* Length of the longest prefix of t that is whole, valid UTF-8. */
size_t tl_text_utf8(tl_text t);

#define TL_REPLACEMENT 0xFFFDu

/* A character, its number and its bytes.  A byte that begins no character is one that is not whole, TL_REPLACEMENT. */
typedef struct tl_char {
    uint32_t code;
    bool whole;
    tl_text bytes;
} tl_char;

/* Takes the character at the head of a text that is not empty. */
tl_char tl_char_take(tl_text *text);

/* Whether a terminal may be shown the character: no control (C0, DEL, C1), nothing that turns the direction of text. */
bool tl_char_shows(uint32_t code);

#endif
