/* log.h - warnings on stderr.
 *
 * Texts from traces and paths are made printable.
 */
#ifndef TLMPI_BASE_LOG_H
#define TLMPI_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Switches warnings on or off; on at first.  Of several procs one proc warns, and none with --quiet. */
void tl_log_enable(bool speaks);

/* Writes one line, "tlmpi: warning: ...", made printable. */
void tl_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Copies text to out (of n bytes); '?' replaces each byte of invalid UTF-8 and each character that must not be sent to
 * a terminal. */
void tl_printable(char *out, size_t n, const char *text);

#endif
