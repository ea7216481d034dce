/* phase.h - phases in progress, and events available for reuse.
 *
 *     take -> open -> find -> (a list of the caller's) -> put
 *
 * Between these calls a phase belongs to the caller, except while it is open.  Callers hold the recorder's lock.
 */
#ifndef TLMPI_RECORD_PHASE_H
#define TLMPI_RECORD_PHASE_H

#include "driver.h"
#include "text.h"

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
