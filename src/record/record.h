/* record.h - a recorder.
 *
 * Two locks: `lock` for phases and counts, held for moments; `flushing` for the file, by the one thread that
 * flushes, which may take the other while it has this one.  No driver call that could wait is made under `lock`, so
 * a thread that flushes, or whose stream is full, keeps no other from recording.
 */
#ifndef TLMPI_RECORD_RECORD_H
#define TLMPI_RECORD_RECORD_H

#include "driver.h"
#include "file.h"
#include "phase.h"
#include "tlmpi_record.h"

#include <pthread.h>
#include <stdatomic.h>

/* Why something is lost: each is told once. */
typedef enum tl_record_reason {
    TL_RECORD_BY_USE,
    TL_RECORD_BY_DRIVER,
    TL_RECORD_BY_TIME,
    TL_RECORD_BY_ROOM,
    TL_RECORD_BY_FILE,
    TL_RECORD_NREASONS
} tl_record_reason;

struct tlmpi_record {
    char reason[512];               /* why it is off; empty where it is on */
    int forks;                      /* before it was opened: a child has the memory and not the device */
    tlmpi_record_settings settings; /* directory and ranks are not kept */
    tl_record_driver driver;

    pthread_mutex_t lock;
    tl_record_phases phases;
    tl_record_list pending; /* ended, oldest first */
    tlmpi_record_counts counts;
    bool any_step;
    int64_t last_step; /* that is over, where there is any */

    atomic_bool told[TL_RECORD_NREASONS];
    atomic_int begun; /* phases since the last flush */

    pthread_mutex_t flushing;
    tl_record_file file;
};

/* Says on stderr, the first time for that reason, that phases are lost, or lines, and why. */
__attribute__((format(printf, 3, 4))) void tl_record_tell(tlmpi_record *recorder, tl_record_reason reason,
                                                          const char *why, ...);

/* The same of what the driver refused. */
void tl_record_tell_driver(tlmpi_record *recorder, const char *what, int error);

/* Writes the lines of phases that are over; with `wait` it waits for all.  The caller has `flushing` and not `lock`. */
tlmpi_record_status tl_record_flush_pending(tlmpi_record *recorder, bool wait);

/* Closes the file, whose last error may come only now. */
tlmpi_record_status tl_record_flush_end(tlmpi_record *recorder);

#endif
