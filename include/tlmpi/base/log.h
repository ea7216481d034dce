/* log.h - words for the person who waits: warnings on stderr.
 *
 * What stands in them comes from traces and paths, and is made safe to show.
 */
#ifndef TLMPI_BASE_LOG_H
#define TLMPI_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Switches warnings on or off; they start on.  Of many procs one proc warns, and none with --quiet. */
void tl_log_enable(bool speaks);

/* One line, "tlmpi: warning: ...", control bytes made harmless. */
void tl_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Copies text to out (of n bytes); '?' stands for each byte of broken UTF-8 and each character that a terminal must not
 * be shown. */
void tl_printable(char *out, size_t n, const char *text);

#endif
