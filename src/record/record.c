/* record.c - the recorder: open, begin and end of phases, end of steps, flush, close.
 *
 * Two locks: `lock` for phases and counts, held briefly; `flushing` for the file, held by the one thread that flushes,
 * which may also take `lock`.  No driver call that could wait is made under `lock`, so a thread that flushes, or whose
 * stream is full, does not keep others from recording.
 */
#include "internal.h"
#include "tlmpi_record.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Why something was lost: each reason is reported once. */
typedef enum reason { BY_USE, BY_DRIVER, BY_TIME, BY_ROOM, BY_FILE, NREASONS } reason;

struct tlmpi_record {
    char reason[512];               /* why the recorder is off; empty: it is on */
    int forks;                      /* value of the counter `forks` when it was opened: a child process has the memory,
                                     * but not the device */
    tlmpi_record_settings settings; /* directory and ranks are not kept */
    tl_record_driver driver;

    pthread_mutex_t lock;
    tl_record_phases phases;
    tl_record_list pending; /* ended phases, oldest first */
    tlmpi_record_counts counts;
    bool any_step;
    int64_t last_step; /* the last step that ended, if any */

    atomic_bool told[NREASONS];
    atomic_int begun; /* phases begun since the last flush */

    pthread_mutex_t flushing;
    tl_record_file file;
};

void tlmpi_record_defaults(tlmpi_record_settings *settings)
{
    if (settings != NULL)
        *settings = (tlmpi_record_settings){
            .directory = ".", .end_step = INT64_MAX, .record_every_n_steps = 10, .flush_every_n_steps = 10
        };
}

static bool selected(const tlmpi_record_settings *settings)
{
    for (size_t i = 0; i < settings->nranks && settings->ranks != NULL; i++)
        if (settings->ranks[i] == settings->rank)
            return true;
    return settings->ranks == NULL;
}

/* Opens the driver, then the file: there is no file without a device.  Returns false and sets the reason. */
static bool start(tlmpi_record *recorder, const char *directory)
{
    tl_record_text path = { 0 };
    const bool named = directory != NULL && directory[0] != '\0';
    if (recorder->settings.rank < 0) {
        (void)snprintf(recorder->reason, sizeof recorder->reason, "a rank is 0 or more");
        return false;
    }
    if (!tl_record_driver_open(&recorder->driver, recorder->reason, sizeof recorder->reason))
        return false;
    int error = tl_record_file_open(&recorder->file, named ? directory : ".", recorder->settings.rank, &path);
    if (error != 0) {
        char words[128] = "error";
        (void)strerror_r(error, words, sizeof words);
        (void)snprintf(recorder->reason, sizeof recorder->reason, "%.300s: %s", path.bytes != NULL ? path.bytes : "",
                       words);
    }
    tl_record_text_free(&path);
    return error == 0;
}

/* How many forks lead to this process: the process id would be a system call each time. */
static atomic_int forks;
static int watching = -1; /* 0: forks are counted */

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
    watching = pthread_atfork(NULL, NULL, count_fork);
}

tlmpi_record_status tlmpi_record_open(const tlmpi_record_settings *settings, tlmpi_record **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (out != NULL)
        *out = NULL;
    if (settings == NULL || out == NULL)
        return TLMPI_RECORD_BAD_USE;
    (void)pthread_once(&once, watch_forks);
    tlmpi_record *recorder = watching == 0 ? calloc(1, sizeof *recorder) : NULL;
    if (recorder == NULL)
        return TLMPI_RECORD_NO_MEMORY;
    recorder->settings = *settings;
    recorder->settings.directory = NULL;
    recorder->settings.ranks = NULL;
    if (settings->record_every_n_steps < 1)
        recorder->settings.record_every_n_steps = 1;
    if (settings->flush_every_n_steps < 1)
        recorder->settings.flush_every_n_steps = 1;
    recorder->forks = atomic_load(&forks);
    recorder->file.fd = -1;
    (void)pthread_mutex_init(&recorder->lock, NULL);
    (void)pthread_mutex_init(&recorder->flushing, NULL);
    *out = recorder;

    if (!settings->enable)
        (void)snprintf(recorder->reason, sizeof recorder->reason, "it is not enabled");
    else if (!selected(settings))
        (void)snprintf(recorder->reason, sizeof recorder->reason, "rank %d is not of those to record", settings->rank);
    else if (!start(recorder, settings->directory))
        (void)fprintf(stderr, "tlmpi_record: rank %d: phases are not recorded: %s\n", settings->rank, recorder->reason);
    return recorder->reason[0] != '\0' ? TLMPI_RECORD_OFF : TLMPI_RECORD_OK;
}

static bool is_inherited(const tlmpi_record *recorder)
{
    return recorder->forks != atomic_load(&forks);
}

const char *tlmpi_record_reason(const tlmpi_record *recorder)
{
    if (recorder == NULL)
        return "there is no recorder";
    return is_inherited(recorder) ? "another process opened it" : recorder->reason;
}

static bool is_on(const tlmpi_record *recorder)
{
    return recorder != NULL && recorder->reason[0] == '\0' && !is_inherited(recorder);
}

static bool wanted(const tlmpi_record_settings *settings, int64_t step)
{
    uint64_t since = (uint64_t)step - (uint64_t)settings->start_step;
    return step >= settings->start_step && step <= settings->end_step &&
           since % (uint64_t)settings->record_every_n_steps == 0;
}

/* Reports on stderr, once per reason, that phases or lines are lost, and why. */
__attribute__((format(printf, 3, 4))) static void tell(tlmpi_record *recorder, reason of, const char *why, ...)
{
    char words[512];
    va_list args;
    if (atomic_exchange(&recorder->told[of], true))
        return;
    va_start(args, why);
    (void)vsnprintf(words, sizeof words, why, args);
    va_end(args);
    (void)fprintf(stderr, "tlmpi_record: rank %d: %s are lost, the program goes on: %s\n", recorder->settings.rank,
                  of == BY_FILE ? "lines" : "phases", words);
}

/* As tell, for an error of the driver. */
static void tell_driver(tlmpi_record *recorder, const char *what, int error)
{
    tell(recorder, BY_DRIVER, "%s: %s (%d)", what, tl_record_driver_error(&recorder->driver, error), error);
}

/* Ends a phase, if any, before it is pending, and adds one to the count. */
static tlmpi_record_status lose(tlmpi_record *recorder, tl_record_phase *phase, int64_t *count,
                                tlmpi_record_status status)
{
    (void)pthread_mutex_lock(&recorder->lock);
    if (phase != NULL)
        tl_record_phases_put(&recorder->phases, phase);
    ++*count;
    (void)pthread_mutex_unlock(&recorder->lock);
    return status;
}

/* Rejects a phase that cannot be written as a line. */
static tlmpi_record_status refuse(tlmpi_record *recorder, const char *name, const char *why)
{
    tl_record_text words = { 0 };
    tl_record_text_string(&words, name != NULL ? name : "");
    tl_record_text_add(&words, "", 1);
    tell(recorder, BY_USE, "%.300s: %s", words.failed ? "" : words.bytes, why);
    tl_record_text_free(&words);
    return lose(recorder, NULL, &recorder->counts.failed, TLMPI_RECORD_BAD_USE);
}

static tlmpi_record_status driver_refused(tlmpi_record *recorder, tl_record_phase *phase, const char *what, int error)
{
    tell_driver(recorder, what, error);
    return lose(recorder, phase, &recorder->counts.failed, TLMPI_RECORD_DRIVER);
}

static tlmpi_record_status no_room(tlmpi_record *recorder, tl_record_phase *phase, const tlmpi_record_counts *full)
{
    if (full->open + full->pending > 0)
        tell(recorder, BY_ROOM, "there is room for %d: %" PRId64 " have not ended, and %" PRId64 " are not written yet",
             TLMPI_RECORD_MAX_PHASES, full->open, full->pending);
    else
        tell(recorder, BY_ROOM, "memory is out");
    return lose(recorder, phase, &recorder->counts.failed, TLMPI_RECORD_NO_MEMORY);
}

/* Begins the phase between enter and leave: prepares its line and records its first event on the stream. */
static tlmpi_record_status begin_there(tlmpi_record *recorder, intptr_t place, const tl_record_said *said, void *stream,
                                       uint64_t *id)
{
    tlmpi_record_counts full = { 0 };
    int error;
    (void)pthread_mutex_lock(&recorder->lock);
    tl_record_phase *phase = tl_record_phases_take(&recorder->phases, &recorder->driver, place, &error);
    if (phase == NULL && tl_record_phases_full(&recorder->phases))
        full = recorder->counts;
    (void)pthread_mutex_unlock(&recorder->lock);
    if (error != 0)
        return driver_refused(recorder, NULL, "making an event", error);
    if (phase != NULL)
        tl_record_line_add(&phase->line, said, &phase->duration_at);
    if (phase == NULL || phase->line.failed)
        return no_room(recorder, phase, &full);
    error = recorder->driver.event_record(phase->start, stream);
    if (error != 0)
        return driver_refused(recorder, phase, "an event at the begin of a phase", error);
    (void)pthread_mutex_lock(&recorder->lock);
    *id = tl_record_phases_open(phase);
    recorder->counts.open++;
    (void)pthread_mutex_unlock(&recorder->lock);
    return TLMPI_RECORD_OK;
}

tlmpi_record_status tlmpi_record_begin(tlmpi_record *recorder, const char *name, int64_t step, void *stream,
                                       const tlmpi_record_value *metadata, size_t nmetadata, uint64_t *phase)
{
    tl_record_visit visit;
    intptr_t place;
    bool capturing;

    if (phase != NULL)
        *phase = 0;
    if (!is_on(recorder))
        return TLMPI_RECORD_OFF;
    if (!wanted(&recorder->settings, step))
        return TLMPI_RECORD_SKIPPED;
    tl_record_said said = { name, step, recorder->settings.rank, metadata, nmetadata, { 0 } };
    const char *why = phase == NULL ? "nothing is there to take its number" : tl_record_line_fault(&said);
    if (why != NULL)
        return refuse(recorder, name, why);
    if (atomic_fetch_add(&recorder->begun, 1) >= TLMPI_RECORD_FLUSH_PHASES)
        (void)tlmpi_record_flush(recorder);

    int error = tl_record_driver_capturing(&recorder->driver, stream, &capturing);
    if (error == 0 && capturing)
        return lose(recorder, NULL, &recorder->counts.captured, TLMPI_RECORD_SKIPPED);
    if (error == 0)
        error = tl_record_driver_place(&recorder->driver, stream, &place);
    if (error == 0)
        error = tl_record_driver_enter(&recorder->driver, place, &visit);
    if (error != 0)
        return driver_refused(recorder, NULL, "the stream at the begin of a phase", error);
    tlmpi_record_status status = begin_there(recorder, place, &said, stream, phase);
    tl_record_driver_leave(&recorder->driver, &visit);
    return status;
}

/* Records the second event.  The driver rejects a stream of another place. */
static int end_there(const tl_record_driver *driver, const tl_record_phase *phase, void *stream, bool *capturing)
{
    tl_record_visit visit;
    int error = tl_record_driver_enter(driver, phase->events->place, &visit);
    if (error != 0)
        return error;
    error = tl_record_driver_capturing(driver, stream, capturing);
    if (error == 0 && !*capturing)
        error = driver->event_record(phase->end, stream);
    tl_record_driver_leave(driver, &visit);
    return error;
}

tlmpi_record_status tlmpi_record_end(tlmpi_record *recorder, uint64_t id, void *stream)
{
    bool capturing = false;
    if (!is_on(recorder))
        return TLMPI_RECORD_OFF;
    if (id == 0)
        return TLMPI_RECORD_SKIPPED;
    (void)pthread_mutex_lock(&recorder->lock);
    tl_record_phase *phase = tl_record_phases_find(&recorder->phases, id);
    recorder->counts.open -= phase != NULL;
    (void)pthread_mutex_unlock(&recorder->lock);
    if (phase == NULL)
        return TLMPI_RECORD_BAD_USE;

    int error = end_there(&recorder->driver, phase, stream, &capturing);
    if (error != 0)
        return driver_refused(recorder, phase, "an event at the end of a phase", error);
    if (capturing)
        return lose(recorder, phase, &recorder->counts.captured, TLMPI_RECORD_SKIPPED);
    (void)pthread_mutex_lock(&recorder->lock);
    tl_record_list_add(&recorder->pending, phase);
    recorder->counts.pending++;
    (void)pthread_mutex_unlock(&recorder->lock);
    return TLMPI_RECORD_OK;
}

/* ------------------------------------------------------ from phases that the device has passed to lines in the file */

/* What happened to the pending phases. */
typedef struct outcome {
    tl_record_list later, over;
    int64_t npassed, nfailed, nlines;
} outcome;

/* Measures the duration.  Returns 0, TL_RECORD_NOT_READY, or the driver's error in *what.  Both events are tested,
 * since they may be on two streams. */
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

/* Appends the line of a phase to the lines to be written; returns false, without appending, if out of memory. */
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
    /* Of events on two streams the second may have happened first. */
    const bool good = error == 0 && isfinite(ms) && ms >= 0;
    if (error != 0)
        tell_driver(recorder, what, error);
    else if (!good)
        tell(recorder, BY_TIME, "one took %g ms, as the driver says", (double)ms);
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
    tell(recorder, BY_FILE, "%s", words);
}

/* Writes the lines of completed phases; with `wait` it waits for all.  The caller holds `flushing` and not `lock`. */
static tlmpi_record_status flush_pending(tlmpi_record *recorder, bool wait)
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

tlmpi_record_status tlmpi_record_flush(tlmpi_record *recorder)
{
    if (!is_on(recorder))
        return TLMPI_RECORD_OFF;
    if (pthread_mutex_trylock(&recorder->flushing) != 0)
        return TLMPI_RECORD_OK;
    tlmpi_record_status status = flush_pending(recorder, false);
    (void)pthread_mutex_unlock(&recorder->flushing);
    return status;
}

tlmpi_record_status tlmpi_record_step_end(tlmpi_record *recorder, int64_t step)
{
    if (!is_on(recorder))
        return TLMPI_RECORD_OFF;
    const int64_t every = recorder->settings.flush_every_n_steps;
    (void)pthread_mutex_lock(&recorder->lock);
    const int64_t last = recorder->last_step;
    const bool any = recorder->any_step;
    recorder->any_step = true;
    recorder->last_step = step;
    (void)pthread_mutex_unlock(&recorder->lock);
    /* Flushes also if no told step is a multiple of flush_every_n_steps, as with steps 5, 15, 25, but one lies between
     * two of them. */
    const bool over = step % every == 0 ? !any || step != last : any && step / every != last / every;
    return over ? tlmpi_record_flush(recorder) : TLMPI_RECORD_OK;
}

tlmpi_record_status tlmpi_record_count(tlmpi_record *recorder, tlmpi_record_counts *counts)
{
    if (counts == NULL)
        return TLMPI_RECORD_BAD_USE;
    *counts = (tlmpi_record_counts){ 0 };
    if (!is_on(recorder))
        return TLMPI_RECORD_OFF;
    (void)pthread_mutex_lock(&recorder->lock);
    *counts = recorder->counts;
    counts->events = tl_record_phases_events(&recorder->phases);
    (void)pthread_mutex_unlock(&recorder->lock);
    return TLMPI_RECORD_OK;
}

tlmpi_record_status tlmpi_record_close(tlmpi_record *recorder, tlmpi_record_counts *counts)
{
    tlmpi_record_status status = TLMPI_RECORD_OFF;
    const bool on = is_on(recorder);

    if (counts != NULL)
        *counts = (tlmpi_record_counts){ 0 };
    if (recorder == NULL)
        return status;
    if (is_inherited(recorder)) {
        /* When the child was created, other threads may have been changing all other memory. */
        if (recorder->file.fd >= 0)
            (void)close(recorder->file.fd);
        free(recorder);
        return status;
    }
    if (on) {
        (void)pthread_mutex_lock(&recorder->flushing);
        status = flush_pending(recorder, true);
        (void)pthread_mutex_unlock(&recorder->flushing);
        if (recorder->counts.open > 0)
            tell(recorder, BY_ROOM, "not ended when closed: %" PRId64, recorder->counts.open);
        recorder->counts.failed += recorder->counts.open;
        recorder->counts.open = 0;
    }
    tl_record_phases_close(&recorder->phases, on ? &recorder->driver : NULL);
    int error = tl_record_file_close(&recorder->file); /* an error of an earlier write may be reported only now */
    if (error != 0)
        tell_file(recorder, error);
    if (on && counts != NULL)
        *counts = recorder->counts;
    if (on && status == TLMPI_RECORD_OK && error != 0)
        status = TLMPI_RECORD_WRITE;
    (void)pthread_mutex_destroy(&recorder->lock);
    (void)pthread_mutex_destroy(&recorder->flushing);
    free(recorder);
    return status;
}
