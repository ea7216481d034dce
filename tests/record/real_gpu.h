/* real_gpu.h - device 0 of a real CUDA driver, made current for the calling thread as a framework does it. */
#ifndef TLMPI_TESTS_REAL_GPU_H
#define TLMPI_TESTS_REAL_GPU_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* The device's name; NULL, and why, where there is none. */
static inline const char *real_gpu(const char **why)
{
    static char name[256];
    void *context = NULL, *library = dlopen("libcuda.so.1", RTLD_NOW);
    *why = library == NULL ? dlerror() : "libcuda.so.1 has no device";
    if (library == NULL)
        return NULL;
    int (*init)(unsigned);
    int (*device_name)(char *, int, int);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    void *found[4] = { dlsym(library, "cuInit"), dlsym(library, "cuDeviceGetName"),
                       dlsym(library, "cuDevicePrimaryCtxRetain"), dlsym(library, "cuCtxSetCurrent") };
    memcpy(&init, &found[0], sizeof init);
    memcpy(&device_name, &found[1], sizeof device_name);
    memcpy(&retain, &found[2], sizeof retain);
    memcpy(&set_current, &found[3], sizeof set_current);
    if (init == NULL || device_name == NULL || retain == NULL || set_current == NULL || init(0) != 0 ||
        device_name(name, sizeof name, 0) != 0 || retain(&context, 0) != 0 || set_current(context) != 0)
        return NULL;
    return name;
}

#endif
