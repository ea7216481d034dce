/* peak.c - the peaks of devices, from the vendors' data sheets: dense, in 10^12 FLOP/s.
 *
 * A name is matched as a whole: a part of a device (MIG, a virtual function) has another name, and its peak is unknown.
 * The peak of float is that of TF32 on devices that have it, whether the job allowed TF32 or not.
 */
#include "tlmpi/analysis/config.h"
#include <math.h>
#include <string.h>

#define H100                                                                                                           \
    {                                                                                                                  \
        66.9, 494.7, 989.4, 989.4, 1978.9                                                                              \
    }
#define A100                                                                                                           \
    {                                                                                                                  \
        19.5, 156, 312, 312, 0                                                                                         \
    }

static const struct {
    const char *device;
    double tflop_per_s[TL_NPRECISIONS]; /* F64, F32, F16, BF16, F8; 0: not in hardware */
} peaks[] = {
    { "Tesla V100-SXM2-16GB", { 7.8, 15.7, 125, 0, 0 } },
    { "Tesla V100-SXM2-32GB", { 7.8, 15.7, 125, 0, 0 } },
    { "Tesla V100-PCIE-16GB", { 7, 14, 112, 0, 0 } },
    { "Tesla V100-PCIE-32GB", { 7, 14, 112, 0, 0 } },
    { "NVIDIA A100-SXM4-40GB", A100 },
    { "NVIDIA A100-SXM4-80GB", A100 },
    { "NVIDIA A100-PCIE-40GB", A100 },
    { "NVIDIA A100 80GB PCIe", A100 },
    { "NVIDIA H100 80GB HBM3", H100 }, /* SXM5 */
    { "NVIDIA H200", H100 },           /* the H100 SXM5 with other memory */
    { "NVIDIA H100 PCIe", { 51.2, 378, 756, 756, 1513 } },
    { "NVIDIA H100 NVL", { 60, 417.5, 835.5, 835.5, 1670.5 } },
    { "NVIDIA B200", { 37, 1125, 2250, 2250, 4500 } },          /* HGX B200 */
    { "AMD Instinct MI250X", { 47.9, 47.9, 191.5, 191.5, 0 } }, /* a device is one of the two dies */
    { "AMD Instinct MI300X", { 163.4, 653.7, 1307.4, 1307.4, 2614.9 } },
    { "AMD Instinct MI325X", { 163.4, 653.7, 1307.4, 1307.4, 2614.9 } },
};
enum { NPEAKS = sizeof peaks / sizeof peaks[0] };

tl_pace tl_pace_of(const tl_peaks *given, const char *device)
{
    size_t i = 0;
    tl_pace pace;

    while (i < NPEAKS && (device == NULL || strcmp(device, peaks[i].device) != 0))
        i++;
    for (size_t p = 0; p < TL_NPRECISIONS; p++) {
        const double own = i < NPEAKS ? peaks[i].tflop_per_s[p] : 0, gflop_per_s = (double)given->gflop_per_s[p];
        pace.ns[p] = gflop_per_s > 0 ? 1 / gflop_per_s : own > 0 ? 1e-3 / own : NAN;
    }
    return pace;
}
