/* text.h - growing text, and values written as Python's json.dumps writes them. */
#ifndef TLMPI_RECORD_TEXT_H
#define TLMPI_RECORD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise.  When out of memory, it is no longer changed, and `failed` is set. */
typedef struct tl_record_text {
    char *bytes;
    size_t n, cap;
    bool failed;
} tl_record_text;

void tl_record_text_free(tl_record_text *text);
void tl_record_text_add(tl_record_text *text, const char *bytes, size_t n);
void tl_record_text_literal(tl_record_text *text, const char *literal);

/* Adds a string in quotes, in ASCII. */
void tl_record_text_string(tl_record_text *text, const char *utf8);

/* Returns the next code point of a text and advances past it; 0 at the end. */
uint32_t tl_record_text_next(const char **at);

/* Adds the character as in such quotes.  Half a UTF-16 pair is a character, too. */
void tl_record_text_code_point(tl_record_text *text, uint32_t c);
void tl_record_text_integer(tl_record_text *text, int64_t value);

/* Adds repr(value) of Python, in any locale; null if it is NaN or infinite. */
void tl_record_text_double(tl_record_text *text, double value);

/* Compares by code points, as Python does.  Texts that are equal once written are equal. */
int tl_record_text_compare(const char *a, const char *b);

#endif
