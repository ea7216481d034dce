/* flush.c - from phases that the device has passed to lines in the file. */
#include "record.h"

#include <math.h>
#include <string.h>

/* What became of phases that were pending. */
typedef struct outcome {
    tl_record_list later, over;
    int64_t npassed, nfailed, nlines;
} outcome;

/* 0, TL_RECORD_NOT_READY, or the driver's error in *what.  Both events count: they may be on two streams. */
static int measure(const tl_record_driver *driver, const tl_record_phase *phase, bool wait, float *ms,
                   const char **what)
{
    int (*passed)(void *) = wait ? driver->event_synchronize : driver->event_query;
    *what = wait ? "waiting for an event" : "asking for an event";
    int error = passed(phase->end);
    if (error == 0)
        error = passed(phase->start);
    if (error != 0)
        return error;
    *what = "the time between two events";
    return driver->event_elapsed(ms, phase->start, phase->end);
}

/* The line, behind those that are to be written; as if it had not been where memory is out. */
static bool add_line(tl_record_text *out, const tl_record_phase *phase, float ms)
{
    const size_t before = out->n;
    tl_record_text_add(out, phase->line.bytes, phase->duration_at);
    tl_record_text_double(out, (double)ms);
    tl_record_text_add(out, phase->line.bytes + phase->duration_at, phase->line.n - phase->duration_at);
    if (!out->failed)
        return true;
    out->n = before;
    out->failed = false;
    return false;
}

static void take_out(tlmpi_record *recorder, tl_record_phase *phase, bool wait, outcome *out)
{
    const char *what = "entering the device of an event";
    tl_record_visit visit;
    float ms = 0;
    int error = tl_record_driver_enter(&recorder->driver, phase->events->place, &visit);

    if (error == 0) {
        error = measure(&recorder->driver, phase, wait, &ms, &what);
        tl_record_driver_leave(&recorder->driver, &visit);
    }
    if (error == TL_RECORD_NOT_READY && !wait) {
        tl_record_list_add(&out->later, phase);
        return;
    }
    /* Of events on two streams the second may have been first. */
    const bool good = error == 0 && isfinite(ms) && ms >= 0;
    if (error != 0)
        tl_record_tell_driver(recorder, what, error);
    else if (!good)
        tl_record_tell(recorder, TL_RECORD_BY_TIME, "one took %g ms, as the driver says", (double)ms);
    if (good) {
        out->npassed++;
        out->nlines += add_line(&recorder->file.out, phase, ms);
    } else {
        out->nfailed++;
    }
    tl_record_list_add(&out->over, phase);
}

static void tell_file(tlmpi_record *recorder, int error)
{
    char words[256] = "error";
    (void)strerror_r(error, words, sizeof words);
    tl_record_tell(recorder, TL_RECORD_BY_FILE, "%s", words);
}

tlmpi_record_status tl_record_flush_pending(tlmpi_record *recorder, bool wait)
{
    outcome out = { .npassed = 0 };
    int64_t nwritten;

    atomic_store(&recorder->begun, 0);
    (void)pthread_mutex_lock(&recorder->lock);
    tl_record_phase *next = recorder->pending.first;
    recorder->pending = (tl_record_list){ NULL, NULL };
    (void)pthread_mutex_unlock(&recorder->lock);

    for (tl_record_phase *phase = next; phase != NULL; phase = next) {
        next = phase->next;
        take_out(recorder, phase, wait, &out);
    }
    int error = tl_record_file_write(&recorder->file, &nwritten);
    if (error != 0)
        tell_file(recorder, error);

    (void)pthread_mutex_lock(&recorder->lock);
    tl_record_list_join(&out.later, &recorder->pending);
    recorder->pending = out.later;
    for (tl_record_phase *phase = out.over.first; phase != NULL; phase = next) {
        next = phase->next;
        tl_record_phases_put(&recorder->phases, phase);
    }
    recorder->counts.pending -= out.npassed + out.nfailed;
    recorder->counts.written += nwritten;
    recorder->counts.lost += out.npassed - nwritten;
    recorder->counts.failed += out.nfailed;
    (void)pthread_mutex_unlock(&recorder->lock);

    if (error != 0)
        return TLMPI_RECORD_WRITE;
    return out.nlines < out.npassed ? TLMPI_RECORD_NO_MEMORY : out.nfailed > 0 ? TLMPI_RECORD_DRIVER : TLMPI_RECORD_OK;
}

tlmpi_record_status tl_record_flush_end(tlmpi_record *recorder)
{
    int error = tl_record_file_close(&recorder->file);
    if (error != 0)
        tell_file(recorder, error);
    return error != 0 ? TLMPI_RECORD_WRITE : TLMPI_RECORD_OK;
}
