/* status.h - how a function reports that it failed, and why.
 *
 * A function that can fail returns a tl_status and takes a tl_error last.  The function that decides on the error
 * writes the message, with the system's message as the cause; every caller passes both on unchanged.
 *
 * The layer base contains what any program could use: errors, memory, texts and bytes, sets and orders of numbers,
 * exact sums, files that are written completely or not at all.  It does not depend on traces, and may use the system
 * alone.
 *
 *     fd = open(path, O_RDONLY);
 *     if (fd < 0)
 *         return tl_fail(err, TL_EINPUT, "%s: %s", path, strerror(errno));
 */
#ifndef TLMPI_BASE_STATUS_H
#define TLMPI_BASE_STATUS_H

/* Ordered by severity: if several procs fail, the largest is reported. */
typedef enum tl_status {
    TL_OK = 0,
    TL_EINPUT,   /* a trace, rules file or result file cannot be used */
    TL_EUSAGE,   /* the command line asks for something impossible */
    TL_EOUTPUT,  /* a result cannot be written */
    TL_ENOMEM,   /* out of memory */
    TL_EINTERNAL /* an error in this program */
} tl_status;

typedef struct tl_error {
    tl_status status;
    char text[1024]; /* one line, no newline at its end */
} tl_error;

/* Writes the message and returns `status`.  err may be NULL. */
tl_status tl_fail(tl_error *err, tl_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns the message without the path and the colon that may precede it. */
const char *tl_error_reason(const tl_error *err, const char *path);

/* Returns TL_ENOMEM with a message that names the use of the memory. */
tl_status tl_fail_memory(tl_error *err, const char *what);

#endif
