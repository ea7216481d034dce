/* repair.h - repairs the most common ways in which Kineto's text is not JSON, in one entry or in the document around
 * the entries. */
#ifndef TLMPI_TRACE_TEXT_REPAIR_H
#define TLMPI_TRACE_TEXT_REPAIR_H

#include <stddef.h>

/* Copies n bytes of text to out, which has room for 4 * n bytes, and returns the number of bytes written.  In strings:
 * control bytes become blanks, bytes that are not UTF-8 become U+FFFD, a backslash before a character that cannot be
 * escaped is doubled.  Outside of strings: bare words other than true, false and null (NaN, inf, -inf, Infinity, N/A
 * ...) become null, a plus before a number and a comma before a closing bracket are removed.  Strings with a bare quote
 * inside cannot be repaired. */
size_t tl_repair_json(const char *text, size_t n, char *out);

#endif
