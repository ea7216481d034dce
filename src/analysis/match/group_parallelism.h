/* group_parallelism.h - what does a process group divide among its ranks: samples, tensors, layers, experts, the
 * sequence?
 *
 * Frameworks say so in the group's description: PyTorch's device meshes ("mesh_tp", "mesh_dp_shard"), Megatron
 * ("TENSOR_MODEL_PARALLEL_GROUP").  Where that says nothing, only who does nothing but send and receive can be told: a
 * stage of a pipeline hands over what it has made; and who is of all ranks of the job: what they divide is its world.
 * All-to-alls are experts', but embeddings' and sequences' as well,
 * and whether ranks that reduce together share a tensor or a sample's gradients cannot be seen.
 */
#ifndef ANALYSIS_MATCH_GROUP_PARALLELISM_H
#define ANALYSIS_MATCH_GROUP_PARALLELISM_H

#include "tlmpi/model/coll_tables.h"

/* Decides by the row's description, its counts of collectives and its size in a job of nranks; 0: not known. */
tl_parallelism tl_group_parallelism(const tl_group_row *row, int32_t nranks);

#endif
