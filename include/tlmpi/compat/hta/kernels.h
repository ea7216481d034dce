/* kernels.h - tables of kernels by class and name, of their launches and of annotations; of the ranks that come
 * last to collectives; and of what HTA's plots write at a kernel. */
#ifndef TLMPI_COMPAT_HTA_KERNELS_H
#define TLMPI_COMPAT_HTA_KERNELS_H

#include "tlmpi/compat/hta/frame/job.h"

tl_hta_table tl_hta_kernel_types, tl_hta_kernel_breakdown, tl_hta_user_annotations, tl_hta_launch_stats;
tl_hta_table tl_hta_names, tl_hta_timeline_gpu, tl_hta_potential_stragglers;

#endif
