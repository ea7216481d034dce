/* driver.h - the few calls of a GPU driver that the recorder makes, found at run time: CUDA's or HIP's.
 *
 * Both have the same events, under other names.  Where they differ is in what an event belongs to, its place: with
 * CUDA the context, with HIP the device, that is current when the event is made.  A stream has one, too, and only
 * events of the same place can be put on it.  Between enter and leave the place is current for the calling thread,
 * and whatever the thread or another is capturing into a graph is not disturbed by questions about events.
 */
#ifndef TLMPI_RECORD_DRIVER_H
#define TLMPI_RECORD_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Results: 0 is good in both. */
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

    /* Not in every driver: NULL where it is not. */
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

/* What leave needs to know. */
typedef struct tl_record_visit {
    int capture_mode;
    bool moved;
    intptr_t before;
} tl_record_visit;

/* Finds and initialises a driver.  False when there is none that works; why has the words. */
bool tl_record_driver_open(tl_record_driver *driver, char *why, size_t size);

/* The place of a stream; 0 or the driver's error. */
int tl_record_driver_place(const tl_record_driver *driver, void *stream, intptr_t *place);

/* 0 or the driver's error, and then there is nothing to leave. */
int tl_record_driver_enter(const tl_record_driver *driver, intptr_t place, tl_record_visit *visit);
void tl_record_driver_leave(const tl_record_driver *driver, const tl_record_visit *visit);

/* Whether what is put on the stream now goes into a graph, to run at other times or never; 0 or the driver's error. */
int tl_record_driver_capturing(const tl_record_driver *driver, void *stream, bool *capturing);

/* The driver's word for an error, or "error". */
const char *tl_record_driver_error(const tl_record_driver *driver, int error);

#endif
