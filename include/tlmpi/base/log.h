/* log.h - words for the person who waits: warnings and progress, on stderr.
 *
 * A proc that is not the first keeps its warnings until they are handed over (tl_log_take), so that 64 procs never
 * speak at once and nothing is said twice.
 */
#ifndef TLMPI_BASE_LOG_H
#define TLMPI_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

typedef enum tl_loudness { TL_QUIET, TL_NORMAL, TL_VERBOSE } tl_loudness;

/* `speaks`: this proc writes to stderr itself; the others collect. */
void tl_log_setup(bool speaks, tl_loudness loudness);

/* One line, "tlmpi: warning: ...", control bytes made harmless. */
void tl_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line, "tlmpi: ..."; shown at TL_VERBOSE only. */
void tl_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a silent proc has collected since the last call, lines with newlines; NULL for nothing.  The caller frees. */
char *tl_log_take(void);

/* Writes collected lines of another proc. */
void tl_log_say(const char *lines);

/* Copies text to out (of n bytes), control bytes and broken UTF-8 replaced by '?': safe to show on a terminal. */
void tl_printable(char *out, size_t n, const char *text);

#endif
