/* view.c - which events TraceLens looks at, and what it reads out of their names. */
#include "tlmpi/compat/tracelens/rank.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>
#include <strings.h>

/* ----------------------------------------------------------------------------------------------------------- names */

/* Whole names of runtime calls. */
static const struct {
    const char *name;
    uint16_t says;
} calls[] = { { "hipDeviceSynchronize", TL_LENS_DEVICE_SYNC },
              { "cudaDeviceSynchronize", TL_LENS_DEVICE_SYNC },
              { "hipStreamSynchronize", TL_LENS_STREAM_SYNC },
              { "cudaStreamSynchronize", TL_LENS_STREAM_SYNC },
              { "hipEventSynchronize", TL_LENS_EVENT_SYNC },
              { "cudaEventSynchronize", TL_LENS_EVENT_SYNC },
              { "hipMemcpyDtoH", TL_LENS_COPY_CALL },
              { "cudaMemcpyDtoH", TL_LENS_COPY_CALL },
              { "hipMemcpyAsync", TL_LENS_COPY_CALL },
              { "cudaMemcpyAsync", TL_LENS_COPY_CALL },
              { "hipMemcpy", TL_LENS_COPY_CALL },
              { "cudaMemcpy", TL_LENS_COPY_CALL },
              { "hipMemcpyWithStream", TL_LENS_COPY_CALL },
              { "cudaMemcpyWithStream", TL_LENS_COPY_CALL },
              { "hipMemcpy2DAsync", TL_LENS_COPY_CALL },
              { "cudaMemcpy2DAsync", TL_LENS_COPY_CALL },
              { "hipMalloc", TL_LENS_ALLOC },
              { "cudaMalloc", TL_LENS_ALLOC },
              { "hipFree", TL_LENS_ALLOC },
              { "cudaFree", TL_LENS_ALLOC },
              { "hipMallocAsync", TL_LENS_ALLOC },
              { "cudaMallocAsync", TL_LENS_ALLOC },
              { "hipFreeAsync", TL_LENS_ALLOC },
              { "cudaFreeAsync", TL_LENS_ALLOC },
              { "hipHostMalloc", TL_LENS_ALLOC },
              { "cudaHostAlloc", TL_LENS_ALLOC },
              { "hipHostFree", TL_LENS_ALLOC },
              { "cudaFreeHost", TL_LENS_ALLOC },
              { "hipLaunchKernel", TL_LENS_LAUNCH_CALL },
              { "cudaLaunchKernel", TL_LENS_LAUNCH_CALL },
              { "hipExtModuleLaunchKernel", TL_LENS_LAUNCH_CALL },
              { "cuLaunchKernel", TL_LENS_LAUNCH_CALL },
              { "cudaLaunchKernelExC", TL_LENS_LAUNCH_CALL },
              { "hipGraphLaunch", TL_LENS_LAUNCH_CALL | TL_LENS_GRAPH_LAUNCH },
              { "cudaGraphLaunch", TL_LENS_LAUNCH_CALL | TL_LENS_GRAPH_LAUNCH } };

/* Copies of older ROCm, each with or without ".kd" after it. */
static const char *const copy_kernels[] = {
    "MEMORY_COPY_HOST_TO_DEVICE",         "MEMORY_COPY_DEVICE_TO_HOST",
    "MEMORY_COPY_DEVICE_TO_DEVICE",       "__amd_rocclr_copyBuffer",
    "__amd_rocclr_copyBufferAligned",     "__amd_rocclr_copyBufferRect",
    "__amd_rocclr_copyBufferRectAligned",
};

/* Whether the needle stands anywhere in the text, in any case. */
static bool has_any_case(tl_text t, const char *needle)
{
    size_t n = strlen(needle);
    for (size_t i = 0; i + n <= t.n; i++)
        if (strncasecmp(t.p + i, needle, n) == 0)
            return true;
    return false;
}

static bool is_copy_kernel(tl_text t)
{
    if (t.n > 3 && memcmp(t.p + t.n - 3, ".kd", 3) == 0)
        t.n -= 3;
    for (size_t i = 0; i < sizeof copy_kernels / sizeof copy_kernels[0]; i++)
        if (tl_text_is(t, copy_kernels[i]))
            return true;
    return false;
}

static uint16_t what_says(tl_text name)
{
    unsigned says = TL_LENS_LOOKED_AT;

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (tl_text_is(name, calls[i].name))
            says |= calls[i].says;
    says |= has_any_case(name, "launch") ? TL_LENS_SAYS_LAUNCH : 0;
    says |= has_any_case(name, "cudagraph") || has_any_case(name, "graphlaunch") ? TL_LENS_SAYS_GRAPH : 0;
    says |= tl_text_has(name, "DtoH") ? TL_LENS_DTOH : 0;
    says |= tl_text_has(name, "HtoD") ? TL_LENS_HTOD : 0;
    says |= has_any_case(name, "cross_device_reduce") ? TL_LENS_CUSTOM_REDUCE | TL_LENS_COMM : 0;
    says |= has_any_case(name, "rccl") || has_any_case(name, "nccl") ? TL_LENS_COMM : 0;
    says |= is_copy_kernel(name) ? TL_LENS_COPY_KERNEL : 0;
    return (uint16_t)says;
}

/* ------------------------------------------------------------------------------------------------------------ sets */

static const struct {
    const char *cat;
    tl_lens_set set;
} cats[] = {
    { "kernel", TL_LENS_KERNEL },          { "gpu_memcpy", TL_LENS_MEMCPY },   { "gpu_memset", TL_LENS_MEMSET },
    { "cuda_runtime", TL_LENS_RUNTIME },   { "cuda_driver", TL_LENS_RUNTIME }, { "cpu_op", TL_LENS_CPU_OP },
    { "python_function", TL_LENS_PYTHON }, { "ac2g", TL_LENS_FLOW },
};

tl_lens tl_lens_open(const tl_trace *trace, const tl_verbatim *words)
{
    const tl_events *e = &trace->events;
    uint8_t *set_of = tl_calloc(e->categories.n, sizeof *set_of);
    tl_lens lens = { .trace = trace, .e = e, .words = words };

    for (size_t i = 0; i < e->categories.n; i++)
        for (size_t k = 0; k < sizeof cats / sizeof cats[0]; k++)
            if (e->categories.v[i].text != TL_NO_NAME &&
                tl_text_is(tl_names_text(&e->names, e->categories.v[i].text), cats[k].cat))
                set_of[i] = (uint8_t)cats[k].set;
    lens.set = tl_calloc(e->n, sizeof *lens.set);
    lens.launch = tl_calloc(e->n, sizeof *lens.launch);
    lens.says = tl_calloc(e->names.n, sizeof *lens.says);
    for (size_t i = 0; i < e->n; i++) {
        uint32_t name = e->name[i];
        lens.set[i] = set_of[e->category[i]];
        if (name != TL_NO_NAME && lens.says[name] == 0)
            lens.says[name] = what_says(tl_names_text(&e->names, name));
    }
    free(set_of);
    tl_lens_link(&lens);
    return lens;
}

void tl_lens_free(tl_lens *lens)
{
    free(lens->set);
    free(lens->launch);
    free(lens->says);
}

static int by_ts(const void *context, uint32_t a, uint32_t b)
{
    const double *ts = ((const tl_lens *)context)->words->ts;
    return TL_COMPARE(ts[a], ts[b]);
}

static int by_ts_and_length(const void *context, uint32_t a, uint32_t b)
{
    int order = by_ts(context, a, b);
    double x = tl_lens_dur(context, a), y = tl_lens_dur(context, b);
    return order != 0 ? order : TL_COMPARE(y, x);
}

uint32_t *tl_lens_pick(const tl_lens *lens, bool (*is)(const tl_lens *, uint32_t), bool longest_first, size_t *n)
{
    TL_VEC(uint32_t) index = { 0 };

    for (uint32_t i = 0; i < lens->e->n; i++)
        if (is(lens, i))
            tl_vec_push(&index, i);
    tl_sort_index(index.v, index.n, longest_first ? by_ts_and_length : by_ts, lens);
    *n = index.n;
    return index.v;
}
