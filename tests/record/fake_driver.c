/* fake_driver.c - a GPU driver for tests; -DFAKE_HIP gives it HIP's names. */
#include "fake_driver.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    NOT_INITIALIZED = 3,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_READY = 600,
    CAPTURE_UNSUPPORTED = 900,
    NSTREAMS = 4,
    RELAXED = 2,
    NFAILURES = 8
};

typedef struct stream {
    int held, capturing;
} stream;

typedef struct event {
    uint32_t magic; /* ALIVE, until it is destroyed */
    int device;
    const stream *on;
    int passed;
    float ms;
} event;

#define ALIVE UINT32_C(0x5eed0e7e)

static struct {
    const char *call;
    int error;
} failures[NFAILURES];
static stream streams[FAKE_DEVICES][NSTREAMS];
static event *events[1 << 16];
static int nevents;
static fake_counts counts;
static float elapsed = NAN;
static uint64_t serial;
static int initialized, captures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The contexts that are current for a thread, the last on top. */
static _Thread_local int stack[16] = { 0 };
static _Thread_local int depth;
static _Thread_local int mode;

void fake_reset(void)
{
    pthread_mutex_lock(&lock);
    memset(streams, 0, sizeof streams);
    for (int i = 0; i < nevents; i++)
        free(events[i]);
    nevents = 0;
    memset(failures, 0, sizeof failures);
    memset(&counts, 0, sizeof counts);
    elapsed = NAN;
    serial = 0;
    initialized = captures = 0;
    stack[depth = 0] = 0;
    pthread_mutex_unlock(&lock);
}

void fake_count(fake_counts *out)
{
    pthread_mutex_lock(&lock);
    *out = counts;
    pthread_mutex_unlock(&lock);
}

void fake_set_device(int device)
{
    stack[depth] = device;
}

int fake_device(void)
{
    return stack[depth];
}

void *fake_stream(int device, int index)
{
    return &streams[device][index];
}

void fake_hold(void *s, int held)
{
    pthread_mutex_lock(&lock);
    ((stream *)s)->held = held;
    for (int i = 0; i < nevents; i++)
        if (!held && events[i]->on == s)
            events[i]->passed = 1;
    pthread_mutex_unlock(&lock);
}

void fake_elapsed(float ms)
{
    pthread_mutex_lock(&lock);
    elapsed = ms;
    pthread_mutex_unlock(&lock);
}

void fake_fail(const char *call, int error)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < NFAILURES; i++)
        if (failures[i].call == NULL || strcmp(failures[i].call, call) == 0) {
            failures[i].call = call;
            failures[i].error = error;
            break;
        }
    pthread_mutex_unlock(&lock);
}

void fake_capture(void *s, int capturing)
{
    pthread_mutex_lock(&lock);
    captures += capturing - ((stream *)s)->capturing;
    ((stream *)s)->capturing = capturing;
    pthread_mutex_unlock(&lock);
}

/* What the call is to give: what a test wants, or that nobody has called cuInit. */
static int verdict(const char *call)
{
    for (int i = 0; i < NFAILURES && failures[i].call != NULL; i++)
        if (strcmp(failures[i].call, call) == 0 && failures[i].error != 0)
            return failures[i].error;
    return initialized ? 0 : NOT_INITIALIZED;
}

static int device_of(const void *s)
{
    return (int)(((const stream *)s - &streams[0][0]) / NSTREAMS);
}

static int wrong(void)
{
    counts.wrong++;
    return INVALID_HANDLE;
}

/* The first numbers are the default streams of the current device. */
static stream *stream_of(void *handle)
{
    if ((uintptr_t)handle > 2)
        return handle;
    return stack[depth] >= 0 ? &streams[stack[depth]][0] : NULL;
}

/* What a real driver could measure: 0.1 to 420 ms, in units of 32 ns. */
static float some_time(void)
{
    uint64_t x = ++serial * UINT64_C(0x9e3779b97f4a7c15);
    const char *rank = getenv("RANK");
    x ^= (uint64_t)(rank != NULL ? atoi(rank) : 0) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    double scale = (double[]){ 1, 8, 64, 400 }[x >> 62];
    return (float)(floor((0.1 + (double)(x >> 20 & 0xfffff) / 1048576 * scale) / 32e-6) * 32e-6);
}

#ifdef FAKE_HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif

int NAME(cuInit, hipInit)(unsigned flags)
{
    const char *failing = getenv("FAKE_DRIVER_INIT"); /* for programs that fake_fail does not reach */
    pthread_mutex_lock(&lock);
    initialized = 1;
    int error = verdict("cuInit");
    pthread_mutex_unlock(&lock);
    return failing != NULL ? atoi(failing) : flags != 0 ? INVALID_HANDLE : error;
}

int NAME(cuEventCreate, hipEventCreateWithFlags)(event **out, unsigned flags)
{
    pthread_mutex_lock(&lock);
    int error = verdict("cuEventCreate");
    if (error == 0 && (flags != 0 || stack[depth] < 0))
        error = wrong();
    if (error == 0) {
        *out = calloc(1, sizeof **out);
        **out = (event){ .magic = ALIVE, .device = stack[depth] };
        events[nevents++] = *out;
        counts.live++;
        counts.made++;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* An event that is there and of the current context. */
static int good(const event *e)
{
    return e != NULL && e->magic == ALIVE && e->device == stack[depth];
}

int NAME(cuEventRecord, hipEventRecord)(event *e, void *handle)
{
    pthread_mutex_lock(&lock);
    int error = verdict("cuEventRecord");
    stream *s = stream_of(handle);
    counts.records++;
    if (error == 0 && (!good(e) || s == NULL || s->capturing))
        error = wrong();
    if (error == 0 && device_of(s) != e->device)
        error = INVALID_HANDLE;
    if (error == 0) {
        e->on = s;
        e->passed = !s->held;
        e->ms = isnan(elapsed) ? some_time() : elapsed;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

int NAME(cuEventQuery, hipEventQuery)(event *e)
{
    pthread_mutex_lock(&lock);
    int error = verdict("cuEventQuery");
    counts.queries++;
    if (captures > 0 && mode != RELAXED) {
        counts.broken++;
        error = CAPTURE_UNSUPPORTED;
    }
    if (error == 0)
        error = !good(e) || e->on == NULL ? wrong() : e->passed ? 0 : NOT_READY;
    pthread_mutex_unlock(&lock);
    return error;
}

/* Waiting releases what is waited for. */
int NAME(cuEventSynchronize, hipEventSynchronize)(event *e)
{
    pthread_mutex_lock(&lock);
    int error = verdict("cuEventSynchronize");
    counts.synchronizes++;
    if (error == 0 && (!good(e) || e->on == NULL))
        error = wrong();
    if (error == 0)
        e->passed = 1;
    pthread_mutex_unlock(&lock);
    return error;
}

static int time_between(float *ms, const event *a, const event *b)
{
    pthread_mutex_lock(&lock);
    int error = verdict("cuEventElapsedTime");
    if (error == 0 && (!good(a) || !good(b) || a->on == NULL || b->on == NULL))
        error = wrong();
    if (error == 0 && !(a->passed && b->passed))
        error = NOT_READY;
    if (error == 0)
        *ms = b->ms;
    pthread_mutex_unlock(&lock);
    return error;
}

int NAME(cuEventElapsedTime, hipEventElapsedTime)(float *ms, event *a, event *b)
{
    return time_between(ms, a, b);
}

int NAME(cuEventDestroy_v2, hipEventDestroy)(event *e)
{
    pthread_mutex_lock(&lock);
    int error = verdict("cuEventDestroy");
    if (error == 0 && !good(e))
        error = wrong();
    if (error == 0) {
        e->magic = 0;
        counts.live--;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

int NAME(cuStreamIsCapturing, hipStreamIsCapturing)(void *handle, int *status)
{
    pthread_mutex_lock(&lock);
    int error = verdict("cuStreamIsCapturing");
    stream *s = stream_of(handle);
    *status = s != NULL && s->capturing;
    pthread_mutex_unlock(&lock);
    return error;
}

int NAME(cuThreadExchangeStreamCaptureMode, hipThreadExchangeStreamCaptureMode)(int *m)
{
    int before = mode;
    mode = *m;
    *m = before;
    return 0;
}

#ifdef FAKE_HIP
int hipStreamGetDevice(void *handle, int *device)
{
    *device = device_of(handle);
    return (uintptr_t)handle > 2 ? 0 : wrong();
}

int hipGetDevice(int *device)
{
    *device = stack[depth];
    return 0;
}

int hipSetDevice(int device)
{
    stack[depth] = device;
    return 0;
}

const char *hipGetErrorName(int error)
{
    return error == 100 ? "hipErrorNoDevice" : "hipErrorFake";
}
#else
int cuEventElapsedTime_v2(float *ms, event *a, event *b)
{
    return time_between(ms, a, b);
}

/* The address of a device's first stream is its context. */
int cuStreamGetCtx(void *handle, void **context)
{
    pthread_mutex_lock(&lock);
    int error = verdict("cuStreamGetCtx");
    stream *s = stream_of(handle);
    if (error == 0 && s == NULL)
        error = INVALID_CONTEXT;
    if (error == 0)
        *context = &streams[device_of(s)][0];
    pthread_mutex_unlock(&lock);
    return error;
}

int cuCtxGetCurrent(void **context)
{
    *context = stack[depth] >= 0 ? &streams[stack[depth]][0] : NULL;
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    pthread_mutex_lock(&lock);
    int error = verdict("cuCtxPushCurrent");
    if (error == 0) {
        stack[++depth] = device_of(context);
        counts.pushed++;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

int cuCtxPopCurrent_v2(void **context)
{
    pthread_mutex_lock(&lock);
    *context = &streams[stack[depth]][0];
    if (depth == 0)
        wrong();
    else
        depth--;
    counts.pushed--;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuGetErrorName(int error, const char **name)
{
    *name = error == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_FAKE";
    return 0;
}
#endif
