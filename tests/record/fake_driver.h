/* fake_driver.h - a GPU driver for tests: libcuda or libamdhip64 without a device, obeying and counting.
 *
 * It is stricter than a real one: an event is only recorded, asked for, waited for and destroyed where the thread's
 * current context is the event's.  What a program may not do is counted as `wrong`.
 */
#ifndef TLMPI_TESTS_FAKE_DRIVER_H
#define TLMPI_TESTS_FAKE_DRIVER_H

typedef struct fake_counts {
    int live;         /* events */
    int made;         /* of all time */
    int records, queries, synchronizes;
    int pushed;       /* contexts of all threads that are not popped: 0 once all calls are over */
    int broken;       /* captures, by a question in a mode that does not allow it */
    int wrong;
} fake_counts;

enum { FAKE_NONE = -1, FAKE_DEVICES = 4 };

/* As new: no events, device 0 current for every thread that has said nothing else, nothing fails. */
void fake_reset(void);
void fake_count(fake_counts *counts);

/* The device that is current for this thread; FAKE_NONE where none is. */
void fake_set_device(int device);
int fake_device(void);

/* Streams 0 to 3 of a device; they live as long as the driver. */
void *fake_stream(int device, int index);

/* A stream that is held passes no event until it is released, and then at once all that were recorded on it. */
void fake_hold(void *stream, int held);

/* Between every two events whose second is recorded from now on.  Not set, it is any number that a real driver could
 * tell: units of 32 ns, the same from one run to the next. */
void fake_elapsed(float ms);

/* The call, by CUDA's name, gives that error from now on; 0: no longer. */
void fake_fail(const char *call, int error);

/* Whether the stream is being captured, in the mode (global) that forbids questions about events. */
void fake_capture(void *stream, int capturing);

#endif
