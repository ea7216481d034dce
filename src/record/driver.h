/* driver.h - the calls of a GPU driver that the recorder makes, found at run time: CUDA's or HIP's.
 *
 * Both have the same events, with other names.  They differ in the place that an event belongs to: with CUDA the
 * context, with HIP the device, that is current when the event is created.  A stream has a place, too, and only events
 * of the same place can be recorded on it.  Between enter and leave the place is current for the calling thread, and
 * queries of events do not disturb a capture into a graph by this or another thread.
 */
#ifndef TLMPI_RECORD_DRIVER_H
#define TLMPI_RECORD_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
