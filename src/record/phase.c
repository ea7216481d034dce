/* phase.c - phases in progress, and events available for reuse. */
#include "internal.h"

#include "tlmpi_record.h"

#include <stdlib.h>

/* An id: the index of the phase plus 1, below the number of uses. */
enum { INDEX_BITS = 16 };
_Static_assert(TLMPI_RECORD_MAX_PHASES < 1 << INDEX_BITS, "an index fits");

void tl_record_list_add(tl_record_list *list, tl_record_phase *phase)
{
    phase->next = NULL;
    if (list->last != NULL)
        list->last->next = phase;
    else
        list->first = phase;
    list->last = phase;
}

void tl_record_list_join(tl_record_list *list, const tl_record_list *more)
{
    if (list->last == NULL) {
        *list = *more;
    } else if (more->last != NULL) {
        list->last->next = more->first;
        list->last = more->last;
    }
}

static tl_record_phase *add_phase(tl_record_phases *phases)
{
    if (phases->n == phases->cap) {
        size_t cap = phases->cap == 0 ? 64 : 2 * phases->cap;
        tl_record_phase **all = cap > TLMPI_RECORD_MAX_PHASES ? NULL : realloc(phases->all, cap * sizeof *all);
        if (all == NULL)
            return NULL;
        phases->all = all;
        phases->cap = cap;
    }
    tl_record_phase *phase = calloc(1, sizeof *phase);
    if (phase != NULL) {
        phase->index = phases->n;
        phases->all[phases->n++] = phase;
    }
    return phase;
}

static tl_record_phase *unused_phase(tl_record_phases *phases)
{
    tl_record_phase *phase = phases->unused.first;
    if (phase == NULL)
        return add_phase(phases);
    phases->unused.first = phase->next;
    if (phase->next == NULL)
        phases->unused.last = NULL;
    return phase;
}

/* Returns the events of the place, which is added if it is new; NULL: out of memory. */
static tl_record_events *events_of(tl_record_phases *phases, intptr_t place)
{
    tl_record_events *events = phases->events;
    while (events != NULL && events->place != place)
        events = events->next;
    if (events == NULL && (events = calloc(1, sizeof *events)) != NULL) {
        events->place = place;
        events->next = phases->events;
        phases->events = events;
    }
    return events;
}

/* Returns an unused event; NULL: out of memory, or *error is the driver's error. */
static void *take_event(tl_record_events *events, const tl_record_driver *driver, int *error)
{
    void *event = NULL;
    if (events->n > 0)
        return events->unused[--events->n];
    if (events->made == events->cap) {
        size_t cap = events->cap == 0 ? 64 : 2 * events->cap;
        void **unused = realloc(events->unused, cap * sizeof *unused);
        if (unused == NULL)
            return NULL;
        events->unused = unused;
        events->cap = cap;
    }
    *error = driver->event_create(&event, 0);
    if (*error != 0)
        return NULL;
    events->made++;
    return event;
}

tl_record_phase *tl_record_phases_take(tl_record_phases *phases, const tl_record_driver *driver, intptr_t place,
                                       int *error)
{
    *error = 0;
    tl_record_events *events = events_of(phases, place);
    tl_record_phase *phase = events != NULL ? unused_phase(phases) : NULL;
    if (phase == NULL)
        return NULL;
    phase->events = events;
    phase->line.n = 0;
    phase->line.failed = false;
    phase->start = take_event(events, driver, error);
    phase->end = phase->start != NULL ? take_event(events, driver, error) : NULL;
    if (phase->end == NULL) {
        tl_record_phases_put(phases, phase);
        return NULL;
    }
    return phase;
}

bool tl_record_phases_full(const tl_record_phases *phases)
{
    return phases->n == TLMPI_RECORD_MAX_PHASES && phases->unused.first == NULL;
}

uint64_t tl_record_phases_open(tl_record_phase *phase)
{
    phase->open = true;
    phase->id = ++phase->uses << INDEX_BITS | (phase->index + 1);
    return phase->id;
}

tl_record_phase *tl_record_phases_find(tl_record_phases *phases, uint64_t id)
{
    size_t place = id & ((UINT64_C(1) << INDEX_BITS) - 1);
    tl_record_phase *phase = place > 0 && place <= phases->n ? phases->all[place - 1] : NULL;
    if (phase == NULL || !phase->open || phase->id != id)
        return NULL;
    phase->open = false;
    return phase;
}

void tl_record_phases_put(tl_record_phases *phases, tl_record_phase *phase)
{
    tl_record_events *events = phase->events;
    if (phase->start != NULL)
        events->unused[events->n++] = phase->start;
    if (phase->end != NULL)
        events->unused[events->n++] = phase->end;
    phase->start = phase->end = NULL;
    phase->open = false;
    tl_record_list_add(&phases->unused, phase);
}

int64_t tl_record_phases_events(const tl_record_phases *phases)
{
    int64_t n = 0;
    for (const tl_record_events *events = phases->events; events != NULL; events = events->next)
        n += (int64_t)events->made;
    return n;
}

static void destroy_events(const tl_record_events *events, const tl_record_driver *driver)
{
    tl_record_visit visit;
    if (tl_record_driver_enter(driver, events->place, &visit) != 0)
        return;
    for (size_t i = 0; i < events->n; i++)
        (void)driver->event_destroy(events->unused[i]);
    tl_record_driver_leave(driver, &visit);
}

void tl_record_phases_close(tl_record_phases *phases, const tl_record_driver *driver)
{
    for (size_t i = 0; i < phases->n; i++)
        if (phases->all[i]->start != NULL)
            tl_record_phases_put(phases, phases->all[i]);
    for (size_t i = 0; i < phases->n; i++) {
        tl_record_text_free(&phases->all[i]->line);
        free(phases->all[i]);
    }
    while (phases->events != NULL) {
        tl_record_events *events = phases->events;
        phases->events = events->next;
        if (driver != NULL)
            destroy_events(events, driver);
        free(events->unused);
        free(events);
    }
    free(phases->all);
    *phases = (tl_record_phases){ 0 };
}
