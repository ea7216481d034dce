/* call.c - the table of calls.  The `seen` names are from real traces, or from the headers of CUDA and HIP. */
#include "tlmpi/model/call.h"
#include <fnmatch.h>
#include <string.h>

const tl_call_rule tl_call_rules[] = {
    { "*GraphLaunch", TL_DOES_LAUNCH_GRAPH, TL_AFTER_NOTHING, "cudaGraphLaunch" },
    { "*Launch*Kernel*", TL_DOES_LAUNCH, TL_AFTER_NOTHING, "hipExtModuleLaunchKernel" },

    { "StreamSynchronize", TL_DOES_WAIT, TL_AFTER_STREAM, "cuStreamSynchronize" },
    { "EventSynchronize", TL_DOES_WAIT, TL_AFTER_EVENT, "cudaEventSynchronize" },
    { "*Synchronize", TL_DOES_WAIT, TL_AFTER_ALL, "cuCtxSynchronize" },
    { "StreamWaitEvent", TL_DOES_HOLD, TL_AFTER_NOTHING, "cudaStreamWaitEvent" },

    /* One from pageable memory waits though it is called Async. */
    { "Memcpy*Async*", TL_DOES_COPY, TL_AFTER_PERHAPS, "hipMemcpyAsync" },
    { "Memcpy*", TL_DOES_COPY, TL_AFTER_COPY, "hipMemcpyWithStream" },

    { "*FreeAsync", TL_DOES_FREE, TL_AFTER_NOTHING, "cudaFreeAsync" },
    { "Free*", TL_DOES_FREE, TL_AFTER_ALL, "cudaFreeHost" },
    { "HostFree", TL_DOES_FREE, TL_AFTER_ALL, "hipHostFree" },
    { "MemFree*", TL_DOES_FREE, TL_AFTER_ALL, "cuMemFree_v2" },
    { "*HostUnregister", TL_DOES_FREE, TL_AFTER_ALL, "cudaHostUnregister" },
    { "MemUnmap", TL_DOES_FREE, TL_AFTER_PERHAPS, "cuMemUnmap" },
    { "MemRelease", TL_DOES_FREE, TL_AFTER_PERHAPS, "cuMemRelease" },
    { "MemAddressFree", TL_DOES_FREE, TL_AFTER_PERHAPS, "cuMemAddressFree" },

    { "Malloc*Async", TL_DOES_ALLOCATE, TL_AFTER_NOTHING, "cudaMallocAsync" },
    { "MemAlloc*Async", TL_DOES_ALLOCATE, TL_AFTER_NOTHING, "cuMemAllocFromPoolAsync" },
    { "Malloc", TL_DOES_ALLOCATE, TL_AFTER_ALL_IF_LONG, "hipMalloc" },
    { "MemAlloc", TL_DOES_ALLOCATE, TL_AFTER_ALL_IF_LONG, "cuMemAlloc_v2" },
    { "*Malloc*", TL_DOES_ALLOCATE, TL_AFTER_PERHAPS, "hipHostMalloc" },
    { "MemAlloc*", TL_DOES_ALLOCATE, TL_AFTER_PERHAPS, "cuMemAllocManaged" },
    { "*HostAlloc", TL_DOES_ALLOCATE, TL_AFTER_PERHAPS, "cudaHostAlloc" },
    { "*HostRegister", TL_DOES_ALLOCATE, TL_AFTER_PERHAPS, "cudaHostRegister" },
    { "MemCreate", TL_DOES_ALLOCATE, TL_AFTER_PERHAPS, "cuMemCreate" },
    { "MemMap*", TL_DOES_ALLOCATE, TL_AFTER_PERHAPS, "cuMemMap" },

    { "*", TL_DOES_OTHER, TL_AFTER_NOTHING, "cudaEventRecord" },
};
const size_t tl_ncall_rules = sizeof tl_call_rules / sizeof tl_call_rules[0];

/* Removes the prefix cuda, hip or cu before a capital letter; false: the name has none. */
static bool strip_prefix(tl_text *t)
{
    static const char *const prefixes[] = { "cuda", "hip", "cu" };
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t n = strlen(prefixes[i]);
        if (!tl_text_starts(*t, prefixes[i]) || t->n == n || t->p[n] < 'A' || t->p[n] > 'Z')
            continue;
        t->p += n;
        t->n -= n;
        return true;
    }
    return false;
}

static bool ends(tl_text t, const char *word)
{
    size_t n = strlen(word);
    return t.n >= n && memcmp(t.p + t.n - n, word, n) == 0;
}

/* Removes all suffixes _v2, _v11060, _ptsz, _ptds and _spt. */
static void strip_versions(tl_text *t)
{
    for (size_t before = 0; before != t->n;) {
        before = t->n;
        size_t digits = 0;
        while (digits < t->n && tl_is_digit(t->p[t->n - 1 - digits]))
            digits++;
        if (digits > 0 && ends((tl_text){ t->p, t->n - digits }, "_v"))
            t->n -= digits + 2;
        else if (ends(*t, "_ptsz") || ends(*t, "_ptds"))
            t->n -= 5;
        else if (ends(*t, "_spt"))
            t->n -= 4;
    }
}

const tl_call_rule *tl_call_rule_of(tl_text name)
{
    const tl_call_rule *rule = tl_call_rules, *last = &tl_call_rules[tl_ncall_rules - 1];
    char stem[96]; /* longer than the name of any call */

    if (!strip_prefix(&name))
        return last;
    strip_versions(&name);
    if (name.n >= sizeof stem)
        return last;
    memcpy(stem, name.p, name.n);
    stem[name.n] = '\0';
    while (rule < last && fnmatch(rule->pattern, stem, 0) != 0)
        rule++;
    return rule;
}
