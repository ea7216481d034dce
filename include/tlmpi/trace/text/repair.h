/* repair.h - mends the commonest ways in which Kineto's text is not JSON: in the text of one entry, or of the document
 * around the entries. */
#ifndef TLMPI_TRACE_TEXT_REPAIR_H
#define TLMPI_TRACE_TEXT_REPAIR_H

#include <stddef.h>

/* Copies n bytes of text to out, which has room for 4 * n bytes, and returns how many were written.  In strings:
 * control bytes become blanks, bytes that are no UTF-8 become U+FFFD, a backslash before a character that cannot be
 * escaped is doubled. Outside: bare words other than true, false and null (NaN, inf, -inf, Infinity, N/A ...) become
 * null, a number loses the plus before it, and a comma before a closing bracket goes.  Where strings are broken by a
 * bare quote nothing helps. */
size_t tl_repair_json(const char *text, size_t n, char *out);

#endif
