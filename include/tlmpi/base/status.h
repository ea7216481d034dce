/* status.h - how a function says that it failed, and why.
 *
 * A function that can fail returns a tl_status and takes a tl_error last.  The function that decides which error it is
 * writes the message, with the cause as the system gave it; every caller passes both on in silence.
 *
 * The first header of the layer base, which has what any program could use: failures, memory, texts and bytes, sets and
 * orders of numbers, exact sums, files that are whole or not there.  It knows nothing of traces, and may use the system
 * alone.
 *
 *     fd = open(path, O_RDONLY);
 *     if (fd < 0)
 *         return tl_fail(err, TL_EINPUT, "%s: %s", path, strerror(errno));
 */
#ifndef TLMPI_BASE_STATUS_H
#define TLMPI_BASE_STATUS_H

/* Ordered: where several procs fail, the largest is the one reported. */
typedef enum tl_status {
    TL_OK = 0,
    TL_EINPUT,   /* a trace, rules file or result file cannot be used */
    TL_EUSAGE,   /* the command line asks for something impossible */
    TL_EOUTPUT,  /* a result cannot be written */
    TL_ENOMEM,   /* memory is out */
    TL_EINTERNAL /* a fault of ours */
} tl_status;

typedef struct tl_error {
    tl_status status;
    char text[1024]; /* one line, no newline at its end */
} tl_error;

/* Writes the message and returns `status`.  err may be NULL. */
tl_status tl_fail(tl_error *err, tl_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The words of a message, without the path and the colon that they may begin with. */
const char *tl_error_reason(const tl_error *err, const char *path);

/* TL_ENOMEM with a message that says what the memory was for. */
tl_status tl_fail_memory(tl_error *err, const char *what);

#endif
