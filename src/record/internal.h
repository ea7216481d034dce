/* internal.h - the parts of the recorder: text, driver, file, lines, phases. */
#ifndef TLMPI_RECORD_INTERNAL_H
#define TLMPI_RECORD_INTERNAL_H

#include "tlmpi_record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------------------- text */

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

/* ------------------------------------------------------------------------------------------------------ the GPU driver
 *
 * The calls of a GPU driver that the recorder makes, found at run time: CUDA's or HIP's.
 *
 * Both have the same events, with other names.  They differ in the place that an event belongs to: with CUDA the
 * context, with HIP the device, that is current when the event is created.  A stream has a place, too, and only events
 * of the same place can be recorded on it.  Between enter and leave the place is current for the calling thread, and
 * queries of events do not disturb a capture into a graph by this or another thread.
 */

/* Results of calls: 0 is success in both drivers. */
enum { TL_RECORD_NOT_READY = 600 };

typedef struct tl_record_driver {
    bool hip;
    int (*init)(unsigned flags);
    int (*event_create)(void **event, unsigned flags);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*event_synchronize)(void *event);
    int (*event_elapsed)(float *ms, void *start, void *end);
    int (*event_destroy)(void *event);

    /* NULL: the driver lacks the call. */
    int (*stream_is_capturing)(void *stream, int *status);
    int (*exchange_capture_mode)(int *mode);

    int (*cuda_context_of)(void *stream, void **context);
    int (*cuda_context)(void **context);
    int (*cuda_push)(void *context);
    int (*cuda_pop)(void **context);
    int (*cuda_error_name)(int error, const char **name);

    int (*hip_device_of)(void *stream, int *device); /* may be NULL */
    int (*hip_device)(int *device);
    int (*hip_set_device)(int device);
    const char *(*hip_error_name)(int error);
} tl_record_driver;

/* The state that tl_record_driver_leave restores. */
typedef struct tl_record_visit {
    int capture_mode;
    bool moved;
    intptr_t before;
} tl_record_visit;

/* Finds and initialises a driver.  Returns false if no driver works; why: the reason. */
bool tl_record_driver_open(tl_record_driver *driver, char *why, size_t size);

/* Finds the place of a stream.  Returns 0 or the driver's error. */
int tl_record_driver_place(const tl_record_driver *driver, void *stream, intptr_t *place);

/* Makes the place current.  Returns 0 or the driver's error, after which there is nothing to leave. */
int tl_record_driver_enter(const tl_record_driver *driver, intptr_t place, tl_record_visit *visit);
void tl_record_driver_leave(const tl_record_driver *driver, const tl_record_visit *visit);

/* Finds whether work put on the stream now is captured into a graph, to run at other times or never.  Returns 0 or the
 * driver's error. */
int tl_record_driver_capturing(const tl_record_driver *driver, void *stream, bool *capturing);

/* Returns the driver's name of an error, or "error". */
const char *tl_record_driver_error(const tl_record_driver *driver, int error);

/* -------------------------------------------------------------------------------------------------- a file of lines */

/* Before it is opened and after it is closed: all zero, but fd -1. */
typedef struct tl_record_file {
    int fd;
    tl_record_text out; /* bytes to be written: the rest of a line that is partly in the file, then lines that the owner
                   * adds */
    size_t rest;        /* length of that rest, bytes */
    bool foreign;       /* that rest ends a partial line that was in the file before */
} tl_record_file;

/* Opens DIRECTORY/cuda_events_rank_RANK.jsonl for appending; creates the file and missing folders.  The content of the
 * file is kept; if it ends within a line, the first line written begins a new line.  Returns 0, or the system's error;
 * sets path. */
int tl_record_file_open(tl_record_file *file, const char *directory, int rank, tl_record_text *path);

/* Writes the bytes to be written, in one system call unless it takes only a part.  Returns 0, or the system's error;
 * *nwritten: number of lines that are now completely in the file.  Bytes that the file did not take are dropped, except
 * the rest of a line that is partly in the file, which comes first in the next write. */
int tl_record_file_write(tl_record_file *file, int64_t *nwritten);

/* Returns 0, or the system's error, which some systems report only on close. */
int tl_record_file_close(tl_record_file *file);

/* ----------------------------------------------------------------------------------------------------------- a line */

/* The content of a line, without the duration. */
typedef struct tl_record_said {
    const char *name;
    int64_t step;
    int rank;
    const tlmpi_record_value *metadata;
    size_t nmetadata;
    unsigned char order[4 + TLMPI_RECORD_MAX_METADATA]; /* sorted order of the keys, set by tl_record_line_fault */
} tl_record_said;

/* Returns why the line cannot be written, or would not be readable; NULL: it can be written. */
const char *tl_record_line_fault(tl_record_said *said);

/* Adds the line and its newline; the duration is inserted at *duration_at.  Requires that tl_record_line_fault returned
 * NULL. */
void tl_record_line_add(tl_record_text *text, const tl_record_said *said, size_t *duration_at);

/* ------------------------------------------------------------------ phases in progress, and events available for reuse
 *
 *     take -> open -> find -> (a list of the caller's) -> put
 *
 * Between these calls a phase belongs to the caller, except while it is open.  Callers hold the recorder's lock.
 */

/* The events of a place. */
typedef struct tl_record_events {
    intptr_t place;
    void **unused;
    size_t n, cap;
    size_t made; /* number of existing events: at most cap */
    struct tl_record_events *next;
} tl_record_events;

typedef struct tl_record_phase {
    uint64_t id, uses; /* id of its last use */
    bool open;
    size_t index;
    tl_record_events *events; /* the pool of its two events */
    void *start, *end;
    tl_record_text line; /* the line without the duration */
    size_t duration_at;  /* offset of the duration in the line */
    struct tl_record_phase *next;
} tl_record_phase;

typedef struct tl_record_list {
    tl_record_phase *first, *last;
} tl_record_list;

typedef struct tl_record_phases {
    tl_record_phase **all;
    size_t n, cap;
    tl_record_list unused;
    tl_record_events *events;
} tl_record_phases;

void tl_record_list_add(tl_record_list *list, tl_record_phase *phase);

/* Appends the phases of `more` to the list. */
void tl_record_list_join(tl_record_list *list, const tl_record_list *more);

/* Returns a phase with two events of the place, which is current for this thread.  NULL: out of memory or the maximum
 * number of phases is in use (*error is 0), or the driver creates no event (*error is the driver's). */
tl_record_phase *tl_record_phases_take(tl_record_phases *phases, const tl_record_driver *driver, intptr_t place,
                                       int *error);

/* Returns whether the maximum number of phases is in use. */
bool tl_record_phases_full(const tl_record_phases *phases);

/* Opens the phase; returns an id by which any thread may find it. */
uint64_t tl_record_phases_open(tl_record_phase *phase);

/* Closes the open phase with that id and returns it; NULL: there is none. */
tl_record_phase *tl_record_phases_find(tl_record_phases *phases, uint64_t id);

/* Makes the phase and its events available for reuse. */
void tl_record_phases_put(tl_record_phases *phases, tl_record_phase *phase);

/* Returns the number of existing events. */
int64_t tl_record_phases_events(const tl_record_phases *phases);

/* Destroys all events, also those of open phases; without a driver it only frees the memory. */
void tl_record_phases_close(tl_record_phases *phases, const tl_record_driver *driver);

#endif
