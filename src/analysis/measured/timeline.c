/* timeline.c - what takes the memory of a rank, by category, at the peak and over time?
 *
 *     activation    ______/^^^^\___/^^\__
 *     parameter     ^^^^^^^^^^^^^^^^^^^^^^
 *     total         ^^^^^^/^^^^\^^^/^^\^^      peak: the first time that the total is largest
 */
#include "tlmpi/analysis/measured.h"

void tl_memory_peaks_begin(tl_memory_category rows[TL_MEMORY_KINDS], int32_t file, int32_t rank)
{
    for (int i = 0; i < TL_MEMORY_KINDS; i++)
        rows[i] = (tl_memory_category){
            .file = file, .category = (uint8_t)i, .rank = rank, .peak_bytes = INT64_MIN, .peak_ns = TL_TIME_UNKNOWN
        };
}

void tl_memory_peaks_add(tl_memory_category rows[TL_MEMORY_KINDS], int64_t time_ns,
                         const int64_t bytes[TL_MEMORY_KINDS])
{
    bool peak = bytes[TL_MEMORY_KINDS - 1] > rows[TL_MEMORY_KINDS - 1].peak_bytes;

    for (int i = 0; i < TL_MEMORY_KINDS; i++) {
        rows[i].last_bytes = bytes[i];
        rows[i].first_bytes = time_ns < 0 ? bytes[i] : rows[i].first_bytes;
        rows[i].at_peak_bytes = peak ? bytes[i] : rows[i].at_peak_bytes;
        if (bytes[i] <= rows[i].peak_bytes)
            continue;
        rows[i].peak_bytes = bytes[i];
        rows[i].peak_ns = time_ns;
    }
}

TL_TABLE_DEFINE_RARE(memory_category, TL_MEMORY_CATEGORY_FIELDS, TL_SCOPE_JOB, "memory by category",
                     "What takes the memory: parameters, activations, gradients ..., at most and at the peak?");

TL_TABLE_DEFINE_RARE(memory_timeline, TL_MEMORY_TIMELINE_FIELDS, TL_SCOPE_JOB, "memory by category over time",
                     "How much memory did each category have at each time?");
