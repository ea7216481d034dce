/* driver.c - finds a GPU driver at run time, and hides the differences between CUDA and HIP. */
#include "internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of a call in a driver; of several, the first that exists.  CUDA's header replaces the name of a call by
 * that of its latest version: cuEventDestroy is cuEventDestroy_v2. */
typedef struct symbol {
    size_t at;
    const char *cuda, *hip; /* NULL: the driver lacks the call */
    bool optional;
} symbol;

#define MEMBER(name) offsetof(tl_record_driver, name)
static const symbol symbols[] = {
    { MEMBER(init), "cuInit", "hipInit", false },
    { MEMBER(event_create), "cuEventCreate", "hipEventCreateWithFlags", false },
    { MEMBER(event_record), "cuEventRecord", "hipEventRecord", false },
    { MEMBER(event_query), "cuEventQuery", "hipEventQuery", false },
    { MEMBER(event_synchronize), "cuEventSynchronize", "hipEventSynchronize", false },
    { MEMBER(event_elapsed), "cuEventElapsedTime_v2", NULL, true },
    { MEMBER(event_elapsed), "cuEventElapsedTime", "hipEventElapsedTime", false },
    { MEMBER(event_destroy), "cuEventDestroy_v2", "hipEventDestroy", false },
    { MEMBER(stream_is_capturing), "cuStreamIsCapturing", "hipStreamIsCapturing", true },
    { MEMBER(exchange_capture_mode), "cuThreadExchangeStreamCaptureMode", "hipThreadExchangeStreamCaptureMode", true },
    { MEMBER(cuda_context_of), "cuStreamGetCtx", NULL, false },
    { MEMBER(cuda_context), "cuCtxGetCurrent", NULL, false },
    { MEMBER(cuda_push), "cuCtxPushCurrent_v2", NULL, false },
    { MEMBER(cuda_pop), "cuCtxPopCurrent_v2", NULL, false },
    { MEMBER(cuda_error_name), "cuGetErrorName", NULL, false },
    { MEMBER(hip_device_of), NULL, "hipStreamGetDevice", true },
    { MEMBER(hip_device), NULL, "hipGetDevice", false },
    { MEMBER(hip_set_device), NULL, "hipSetDevice", false },
    { MEMBER(hip_error_name), NULL, "hipGetErrorName", false },
};

/* Opens the library that the program has loaded, if any, before others: a second HIP runtime in a process does not know
 * the streams of the first.  PyTorch's own is called libamdhip64.so; elsewhere the name has a version. */
static void *open_library(char *why, size_t size)
{
    static const char *const names[] = { "libcuda.so.1", "libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
                                         "libamdhip64.so.5" };
    const size_t n = sizeof names / sizeof names[0];
    const char *wanted = getenv("TLMPI_RECORD_LIBRARY"); /* NOLINT(concurrency-mt-unsafe) */
    const bool any = wanted == NULL || *wanted == '\0';
    const char *said = "no GPU driver: neither libcuda.so.1 nor libamdhip64.so can be opened";
    void *library = any ? NULL : dlopen(wanted, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; any && i < n && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    for (size_t i = 0; any && i < n && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL && !any)
        said = dlerror(); /* of this thread; NOLINT(concurrency-mt-unsafe) */
    if (library == NULL)
        (void)snprintf(why, size, "%s", said != NULL ? said : wanted);
    return library;
}

/* Finds the driver's calls.  An open driver is never closed: it may be the program's, whose threads may be running. */
static bool find_symbols(tl_record_driver *driver, void *library, char *why, size_t size)
{
    driver->hip = dlsym(library, "hipEventRecord") != NULL;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        const char *name = driver->hip ? symbols[i].hip : symbols[i].cuda;
        char *at = (char *)driver + symbols[i].at;
        void *found;
        memcpy(&found, at, sizeof found);
        if (name == NULL || found != NULL)
            continue;
        found = dlsym(library, name);
        memcpy(at, &found, sizeof found);
        if (found == NULL && !symbols[i].optional) {
            (void)snprintf(why, size, "the GPU driver has no %s", name);
            return false;
        }
    }
    return true;
}

bool tl_record_driver_open(tl_record_driver *driver, char *why, size_t size)
{
    void *library = open_library(why, size);
    if (library == NULL || !find_symbols(driver, library, why, size))
        return false;
    int error = driver->init(0);
    if (error != 0) {
        (void)snprintf(why, size, "%s: %s (%d)", driver->hip ? "hipInit" : "cuInit",
                       tl_record_driver_error(driver, error), error);
        return false;
    }
    return true;
}

int tl_record_driver_place(const tl_record_driver *driver, void *stream, intptr_t *place)
{
    int error, device = 0;
    void *context = NULL;

    if (!driver->hip) {
        error = driver->cuda_context_of(stream, &context);
        *place = (intptr_t)context;
        return error;
    }
    /* Values 0 to 2 are not addresses, but default streams of the current device. */
    if ((uintptr_t)stream <= 2 || driver->hip_device_of == NULL)
        error = driver->hip_device(&device);
    else
        error = driver->hip_device_of(stream, &device);
    *place = device;
    return error;
}

static int move(const tl_record_driver *driver, intptr_t place, tl_record_visit *visit)
{
    int error, device = 0;
    void *context = NULL;

    if (driver->hip) {
        error = driver->hip_device(&device);
        visit->before = device;
        visit->moved = visit->before != place;
        return error == 0 && visit->moved ? driver->hip_set_device((int)place) : error;
    }
    error = driver->cuda_context(&context);
    visit->moved = (intptr_t)context != place;
    return error == 0 && visit->moved ? driver->cuda_push((void *)place) : error;
}

int tl_record_driver_enter(const tl_record_driver *driver, intptr_t place, tl_record_visit *visit)
{
    enum { RELAXED = 2 };
    *visit = (tl_record_visit){ .capture_mode = RELAXED };
    int error = move(driver, place, visit);
    if (error != 0)
        return error;
    /* In other modes a query of any event breaks a capture in progress. */
    if (driver->exchange_capture_mode != NULL && driver->exchange_capture_mode(&visit->capture_mode) != 0)
        visit->capture_mode = RELAXED;
    return 0;
}

void tl_record_driver_leave(const tl_record_driver *driver, const tl_record_visit *visit)
{
    int mode = visit->capture_mode;
    void *context;

    if (driver->exchange_capture_mode != NULL)
        (void)driver->exchange_capture_mode(&mode);
    if (visit->moved && driver->hip)
        (void)driver->hip_set_device((int)visit->before);
    else if (visit->moved)
        (void)driver->cuda_pop(&context);
}

int tl_record_driver_capturing(const tl_record_driver *driver, void *stream, bool *capturing)
{
    enum {
        CAPTURED_WITH_ANOTHER = 906
    }; /* a default stream was used that must not be used during the capture of
                                           * another stream */
    int status = 0, error = 0;
    if (driver->stream_is_capturing != NULL)
        error = driver->stream_is_capturing(stream, &status);
    *capturing = status != 0 || error == CAPTURED_WITH_ANOTHER;
    return *capturing ? 0 : error;
}

const char *tl_record_driver_error(const tl_record_driver *driver, int error)
{
    const char *name = NULL;
    if (driver->hip)
        name = driver->hip_error_name(error);
    else if (driver->cuda_error_name(error, &name) != 0)
        name = NULL;
    return name != NULL ? name : "error";
}
