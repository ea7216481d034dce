/* text.h - text that grows, and values in it as Python's json.dumps writes them. */
#ifndef TLMPI_RECORD_TEXT_H
#define TLMPI_RECORD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Empty when all is zero.  Once memory is out it stays as it was, and `failed` says so. */
typedef struct tl_record_text {
    char *bytes;
    size_t n, cap;
    bool failed;
} tl_record_text;

void tl_record_text_free(tl_record_text *text);
void tl_record_text_add(tl_record_text *text, const char *bytes, size_t n);
void tl_record_text_literal(tl_record_text *text, const char *literal);

/* In quotes, all of it ASCII. */
void tl_record_text_string(tl_record_text *text, const char *utf8);

/* The next code point of a text, and past it; 0 at its end. */
uint32_t tl_record_text_next(const char **at);

/* As it stands in such quotes.  Half a pair of UTF-16 is one, too. */
void tl_record_text_code_point(tl_record_text *text, uint32_t c);
void tl_record_text_integer(tl_record_text *text, int64_t value);

/* What repr(value) is in Python, whatever the locale; null where it is no number or infinite. */
void tl_record_text_double(tl_record_text *text, double value);

/* As Python orders them: by code points.  Texts that look alike once written are equal. */
int tl_record_text_compare(const char *a, const char *b);

#endif
