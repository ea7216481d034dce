/* phase.h - phases that are on their way, and the events that wait to be used again.
 *
 *     take -> open -> find -> (a list of the caller's) -> put
 *
 * Between these calls a phase is the caller's alone, but while it is open.  Who calls holds the recorder's lock.
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
    size_t made; /* all that exist: never more than cap */
    struct tl_record_events *next;
} tl_record_events;

typedef struct tl_record_phase {
    uint64_t id, uses; /* the id of its last use */
    bool open;
    size_t index;
    tl_record_events *events; /* where its own come from */
    void *start, *end;
    tl_record_text line; /* all of it but the duration */
    size_t duration_at;  /* where that goes */
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

/* What is in `more` comes behind what is in the list. */
void tl_record_list_join(tl_record_list *list, const tl_record_list *more);

/* A phase with two events of the place, which is current for this thread.  NULL when memory is out or as many as
 * there may be are in use (*error is 0), or when the driver makes no event (*error is the driver's). */
tl_record_phase *tl_record_phases_take(tl_record_phases *phases, const tl_record_driver *driver, intptr_t place,
                                       int *error);

/* Whether as many as there may be are in use. */
bool tl_record_phases_full(const tl_record_phases *phases);

/* An id by which any thread may find it. */
uint64_t tl_record_phases_open(tl_record_phase *phase);

/* The open phase of that id, which from now on is not open; NULL where there is none. */
tl_record_phase *tl_record_phases_find(tl_record_phases *phases, uint64_t id);

/* Its events and itself may be used again. */
void tl_record_phases_put(tl_record_phases *phases, tl_record_phase *phase);

/* How many events exist. */
int64_t tl_record_phases_events(const tl_record_phases *phases);

/* Destroys all events, those of open phases, too; without a driver it frees the memory alone. */
void tl_record_phases_close(tl_record_phases *phases, const tl_record_driver *driver);

#endif
