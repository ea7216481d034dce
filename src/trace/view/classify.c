/* classify.c - the table of rules.  The `seen` names are from real traces or from the sources of the library that has
 * them. */
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/trace/view.h"
#include <ctype.h>

#define CONTAINS TL_MATCH_CONTAINS
#define STARTS   TL_MATCH_STARTS
#define CALLED   TL_MATCH_CALLED
#define COMM(needle, match, collective, seen)                                                                          \
    {                                                                                                                  \
        needle, match, TL_COMM, collective, seen                                                                       \
    }
#define COMPUTE(needle, match, seen)                                                                                   \
    {                                                                                                                  \
        needle, match, TL_COMPUTE, TL_COLL_NONE, seen                                                                  \
    }
#define LIBRARY(needle, match, seen)                                                                                   \
    {                                                                                                                  \
        needle, match, TL_COMPUTE, TL_COLL_UNKNOWN, seen                                                               \
    }

const tl_rule tl_default_rules[] = {
    /* Copies and fills that ROCm reports as kernels. */
    { "__amd_rocclr_copyBuffer", STARTS, TL_MEMCPY, TL_COLL_NONE, "__amd_rocclr_copyBufferRectAligned.kd" },
    { "MEMORY_COPY_", STARTS, TL_MEMCPY, TL_COLL_NONE, "MEMORY_COPY_HOST_TO_DEVICE" },
    { "__amd_rocclr_fillBuffer", STARTS, TL_MEMSET, TL_COLL_NONE, "__amd_rocclr_fillBufferAligned.kd" },

    /* MTIA has one category for all device work. */
    { "dma", STARTS, TL_MEMCPY, TL_COLL_NONE, "dma_request" },

    /* Arithmetic whose name may contain words of communication that it is fused with, or whose output it reads.  A
     * kernel of a LIBRARY may communicate; the times at which ranks begin and end it decide (behave.h). */
    LIBRARY("triton_", STARTS, "triton_poi_fused_add_cos_sin_0"),
    COMPUTE("at::native::", CONTAINS,
            "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> "
            ">(...)"),
    COMPUTE("cutlass", CONTAINS, "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(...)"),
    COMPUTE("gemm", CONTAINS, "volta_sgemm_128x64_nn"),
    COMPUTE("blockallreduce", CALLED, "block_all_reduce_sum_f32_f32_kernel(float*, float*, int)"),
    COMPUTE("warpallreduce", CALLED, "void warp_all_reduce_kernel<float>(...)"),

    /* Expert-parallel exchanges: their kernels are not named after a collective. */
    COMM("internode::", CONTAINS, TL_ALL_TO_ALL, "void deep_ep::internode::dispatch<false, 4, false>(int4*, float*)"),
    COMM("intranode::", CONTAINS, TL_ALL_TO_ALL, "void deep_ep::intranode::combine<__nv_bfloat16, 4, 768>(...)"),
    COMM("internode_ll::", CONTAINS, TL_ALL_TO_ALL, "void deep_ep::internode_ll::dispatch<true, false, 7168>(...)"),
    COMM("elastic::dispatch_impl", CONTAINS, TL_ALL_TO_ALL,
         "void deep_ep::elastic::dispatch_impl<false, 20, 16, 7168>(...)"),
    COMM("elastic::combine_impl", CONTAINS, TL_ALL_TO_ALL,
         "void deep_ep::elastic::combine_impl<__nv_bfloat16, 20, 16>(...)"),
    COMM("elastic::hybrid_", CONTAINS, TL_ALL_TO_ALL,
         "void deep_ep::elastic::hybrid_dispatch_impl<false, 20, 16>(...)"),
    COMM("hybrid_ep::dispatch_kernel", CONTAINS, TL_ALL_TO_ALL, "void hybrid_ep::dispatch_kernel<4, 8>(...)"),
    COMM("hybrid_ep::combine_kernel", CONTAINS, TL_ALL_TO_ALL, "void hybrid_ep::combine_kernel<4, 8>(...)"),
    COMM("hybrid_ep::device_sync", CONTAINS, TL_BARRIER, "hybrid_ep::device_sync_kernel(unsigned int*, unsigned int*)"),
    COMM("EpDispatch", CONTAINS, TL_ALL_TO_ALL, "EpDispatchIntraNodeKernel_bf16"),
    COMM("EpCombine", CONTAINS, TL_ALL_TO_ALL, "void mori::moe::EpCombineInterNodeKernel<hip_bfloat16>(...)"),
    COMM("moeA2ADispatch", CONTAINS, TL_ALL_TO_ALL,
         "void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<8, false>(...)"),
    COMM("moeA2ACombine", CONTAINS, TL_ALL_TO_ALL,
         "void tensorrt_llm::kernels::moe_comm::moeA2ACombineKernel<__nv_bfloat16, 8>(...)"),
    COMM("a2a_dispatch", CONTAINS, TL_ALL_TO_ALL,
         "void a2a_dispatch_send_kernel<true, 16, 8, NotFixed, NotFixed, NotFixed>(...)"),
    COMM("a2a_combine", CONTAINS, TL_ALL_TO_ALL, "void a2a_combine_recv_kernel<16, 8, __nv_bfloat16, float>(...)"),

    /* Named after a collective: NCCL and derivatives, one- and two-shot reductions over peer memory of vLLM, SGLang,
     * aiter, TensorRT-LLM, FlashInfer, PyTorch and others. */
    COMM("allreduce", CALLED, TL_ALL_REDUCE,
         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
    COMM("allgather", CALLED, TL_ALL_GATHER, "void aiter::allgather_lastdim<__hip_bfloat16, 8>(...)"),
    COMM("reducescatter", CALLED, TL_REDUCE_SCATTER,
         "void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 4>(...)"),
    COMM("alltoall", CALLED, TL_ALL_TO_ALL, "void tensorrt_llm::kernels::moeAllToAllKernel<true>(...)"),
    COMM("crossdevicereduce", CALLED, TL_ALL_REDUCE, "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(...)"),
    COMM("barrieronstream", CALLED, TL_BARRIER,
         "void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)"),
    COMM("symmetric_memory::barrier", CONTAINS, TL_BARRIER,
         "c10d::symmetric_memory::barrier_kernel(unsigned int**, ...)"),

    /* Other kernels of libraries for communication only. */
    COMM("ncclDevKernel_Broadcast", CONTAINS, TL_BROADCAST,
         "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
    COMM("ncclDevKernel_Reduce_", CONTAINS, TL_REDUCE,
         "ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
    COMM("ncclDevKernel_SendRecv", CONTAINS, TL_SEND_RECV, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
    COMM("ncclKernel_Broadcast", CONTAINS, TL_BROADCAST, "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)"),
    COMM("ncclKernel_Reduce_", CONTAINS, TL_REDUCE, "ncclKernel_Reduce_RING_LL_Sum_float(ncclWorkElem)"),
    COMM("ncclKernel_SendRecv", CONTAINS, TL_SEND_RECV, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)"),
    COMM("ncclBroadcast", STARTS, TL_BROADCAST, "ncclBroadcastRingLLKernel_copy_i8(ncclColl)"),
    COMM("nvshmem", CONTAINS, TL_COLL_UNKNOWN,
         "nvshmemi_signal_wait_until_on_stream_kernel(unsigned long*, int, unsigned long)"),
    COMM("rocshmem", CONTAINS, TL_COLL_UNKNOWN, "rocshmem_barrier_all_kernel()"),
    COMM("msccl", CONTAINS, TL_COLL_UNKNOWN, "mscclKernel_Sum_half_Simple(ncclDevComm*, mscclAlgo*, mscclWork*)"),
    COMM("multimem_", CONTAINS, TL_COLL_UNKNOWN, "void multimem_one_shot_reduce_kernel<c10::BFloat16, 16>(...)"),
    COMM("userbuffers", CONTAINS, TL_COLL_UNKNOWN, "userbuffers_pushrecv(int, int, int*, int*)"),
    COMM("rccl", CONTAINS, TL_COLL_UNKNOWN, "rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)"),
    COMM("nccl", CONTAINS, TL_COLL_UNKNOWN, "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"),
    COMM("cclKernel", CONTAINS, TL_COLL_UNKNOWN, "mcclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(mcclWork)"),
    COMM("cclDevKernel", CONTAINS, TL_COLL_UNKNOWN, "mcclDevKernel_SendRecv(mcclDevComm*, unsigned long, mcclWork*)"),
    COMM("hcom_", STARTS, TL_COLL_UNKNOWN, "hcom_broadcast__210_3_1"),
    COMM("hccl", STARTS, TL_COLL_UNKNOWN, "hccl_broadcast"),
    COMM("oneccl", CONTAINS, TL_COLL_UNKNOWN, "oneccl_broadcast_large"),

    /* Other arithmetic: known families, so that a name without a rule is worth a look. */
    COMPUTE("at_cuda_detail::", CONTAINS, "void at_cuda_detail::cub::DeviceScanKernel<...>(...)"),
    COMPUTE("cub::", CONTAINS, "void cub::DeviceReduceSingleTileKernel<...>(...)"),
    COMPUTE("rocprim::", CONTAINS, "void rocprim::detail::trampoline_kernel<...>(...)"),
    COMPUTE("fmha", CONTAINS, "void fmha_fwd_kernel_nomask<...>(...)"),
    COMPUTE("cublas", CONTAINS,
            "void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, false, false, false>(...)"),
    COMPUTE("cudnn", CONTAINS, "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1, true>(...)"),
    COMPUTE("cask_", CONTAINS, "cask_trt::computeOffsetsKernel(...)"),
    COMPUTE("gemv", CONTAINS,
            "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, false>(...)"),
    COMPUTE("splitK", CONTAINS, "void splitKreduce_kernel<32, 16, int, float, float, float>(...)"),
    COMPUTE("nvjet_", STARTS, "nvjet_tst_128x64_64x8_2x4_v_bz_TNT"),
    COMPUTE("Cijk_", CONTAINS, "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x128x64_MI16x16x1"),
    COMPUTE("flash_", CONTAINS, "void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4> >(Flash_fwd_params)"),
    COMPUTE("attn", CONTAINS, "_attn_fwd"),
    COMPUTE("attention", CONTAINS, "void vllm::paged_attention_v1_kernel<...>(...)"),
    COMPUTE("ck_tile", CONTAINS, "void ck_tile::kentry<ck_tile::FmhaFwdKernel<...> >(...)"),
    COMPUTE("ck::", CONTAINS, "void ck::kernel_grouped_conv_fwd_multiple_abd_xdl_cshuffle<...>(...)"),
    COMPUTE("miopen", CONTAINS, "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f3x2_stride1"),
    COMPUTE("MIOpen", CONTAINS, "MIOpenBatchNormFwdTrainSpatialNorm"),
    COMPUTE("conv", CONTAINS, "sm80_xmma_fprop_implicit_conv_indexed_tf32f32"),
    COMPUTE("winograd", CONTAINS, "void winogradForwardData4x4<float, float>(...)"),
    COMPUTE("Winograd", CONTAINS, "generateWinogradTilesKernel"),
    COMPUTE("wgrad", CONTAINS, "sm86_xmma_wgrad_implicit_tf32"),
    COMPUTE("dgrad", CONTAINS, "sm86_xmma_dgrad_implicit_tf32"),
    COMPUTE("fft", CONTAINS, "void fft2d_r2c_32x32<float, false, 0u, false>(...)"),
    COMPUTE("xmma", CONTAINS, "sm80_xmma_pooling_fw"),
    COMPUTE("split_embedding", CONTAINS, "split_embedding_codegen_forward_unweighted_kernel"),
    COMPUTE("embedding", CONTAINS, "void dense_embedding_backward_kernel<float>(...)"),
    COMPUTE("elementwise", CONTAINS, "void elementwise_kernel_with_index<int>(...)"),
    COMPUTE("softmax", CONTAINS, "void scaled_masked_softmax_warp_forward<...>(...)"),
    COMPUTE("layer_norm", CONTAINS, "void layer_norm_kernel<float>(...)"),
    COMPUTE("rms_norm", CONTAINS, "void vllm::rms_norm_kernel<c10::BFloat16>(...)"),
    COMPUTE("LayerNorm", CONTAINS, "void cuApplyLayerNorm<float, float, float>(...)"),
    COMPUTE("multi_tensor_apply", CONTAINS,
            "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float>(...)"),
    LIBRARY("transformer_engine::", CONTAINS, "void transformer_engine::normalization::ln_fwd_tuned_kernel<...>(...)"),
    LIBRARY("vllm::", CONTAINS, "void vllm::act_and_mul_kernel<c10::BFloat16>(...)"),
    LIBRARY("ep::elastic::", CONTAINS, "void deep_ep::elastic::dispatch_copy_epilogue_impl<false, 132>(...)"),
    LIBRARY("aiter::", CONTAINS, "void aiter::topk_gating_kernel<...>(...)"),
    COMPUTE("transpose", CONTAINS, "batched_transpose_16x32_half"),
    COMPUTE("SubTensorOp", CONTAINS, "SubTensorOpWithScalar1d"),
    COMPUTE("matmul", CONTAINS, "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"),
    COMPUTE("indexing_", CONTAINS,
            "void (anonymous namespace)::indexing_backward_kernel_stride_1<float>(long const*, long const*)"),
    COMPUTE("at::cuda::", CONTAINS, "at::cuda::(anonymous namespace)::spin_kernel(long)"),
    { 0 },
};

/* Whether the name contains the needle before its parameters, ignoring case and underscores. */
static bool is_called(tl_text name, const char *needle)
{
    char plain[256];
    size_t n = 0;

    for (size_t i = 0; i < name.n && n < sizeof plain && name.p[i] != '<'; i++) {
        if (name.p[i] == '(' && i > 0 && isalnum((unsigned char)name.p[i - 1]))
            break; /* other brackets belong to an (anonymous namespace) */
        if (name.p[i] != '_')
            plain[n++] = (char)tolower((unsigned char)name.p[i]);
    }
    return tl_text_has((tl_text){ plain, n }, needle);
}

static bool matches(const tl_rule *rule, tl_text name)
{
    return rule->match == TL_MATCH_CALLED   ? is_called(name, rule->needle)
           : rule->match == TL_MATCH_STARTS ? tl_text_starts(name, rule->needle)
           : rule->match == TL_MATCH_EQUALS ? tl_text_is(name, rule->needle)
                                            : tl_text_has(name, rule->needle);
}

const tl_rule *tl_classify(const tl_rules *rules, tl_text name)
{
    for (size_t i = 0; i < rules->user.n; i++)
        if (matches(&rules->user.v[i], name))
            return &rules->user.v[i];
    for (const tl_rule *rule = tl_default_rules; rule->needle != NULL; rule++)
        if (matches(rule, name))
            return rule;
    return NULL;
}

/* Returns the collective that a kernel is named after, ignoring case; exchanges of experts have names of their own. */
static tl_collective collective_named(tl_text name)
{
    char lower[256];
    size_t n = name.n < sizeof lower ? name.n : sizeof lower;

    for (size_t i = 0; i < n; i++)
        lower[i] = (char)tolower((unsigned char)name.p[i]);
    tl_text text = { lower, n };
    if (tl_text_has(text, "dispatch") || tl_text_has(text, "combine") || tl_text_has(text, "a2a"))
        return TL_ALL_TO_ALL;
    tl_collective collective = tl_collective_of(text);
    return tl_is_synchronising(collective) || collective == TL_ALL_TO_ALL ? collective : TL_COLL_UNKNOWN;
}

tl_collective tl_behaves_as(const tl_rules *rules, tl_text name)
{
    size_t low = 0;

    if (rules->nbehave == 0)
        return TL_COLL_NONE;
    uint64_t key = tl_hash_bytes(name.p, name.n);
    TL_BISECT(low, rules->nbehave, mid, rules->behave[mid].name_key < key);
    if (low == rules->nbehave || rules->behave[low].name_key != key)
        return TL_COLL_NONE;
    tl_collective named = collective_named(name);
    return named != TL_COLL_UNKNOWN ? named : (tl_collective)rules->behave[low].collective;
}

tl_collective tl_collective_of(tl_text name)
{
    static const struct {
        const char *word;
        tl_collective collective;
    } words[] = {
        { "allreduce", TL_ALL_REDUCE },
        { "all_reduce", TL_ALL_REDUCE },
        { "allgather", TL_ALL_GATHER },
        { "all_gather", TL_ALL_GATHER },
        { "reduce_scatter", TL_REDUCE_SCATTER },
        { "reducescatter", TL_REDUCE_SCATTER },
        { "all_to_all", TL_ALL_TO_ALL },
        { "alltoall", TL_ALL_TO_ALL },
        { "broadcast", TL_BROADCAST },
        { "barrier", TL_BARRIER },
        { "scatter", TL_SCATTER },
        { "gather", TL_GATHER },
        { "reduce", TL_REDUCE },
        { "sendrecv", TL_SEND_RECV },
        { "send", TL_SEND },
        { "recv", TL_RECV },
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (tl_text_has(name, words[i].word))
            return words[i].collective;
    return TL_COLL_UNKNOWN;
}
