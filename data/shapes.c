/* shapes.c - the kernels of a transformer layer, as profilers of both vendors name them. */
#include "shapes.h"

/* A kernel that has one name for both. */
#define SAME NULL

static const struct shape attention_forward[] = {
    { "aten::layer_norm", "aten::native_layer_norm", 18, 128, LIGHT,
      { "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::"
        "BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
        SAME } },
    { "aten::linear", "aten::addmm", 140, 256, HEAVY,
      { "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT128x256x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "aten::scaled_dot_product_attention", "aten::_flash_attention_forward", 210, 128, HEAVY,
      { "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::"
        "bfloat16_t> >(pytorch_flash::Flash_fwd_params)",
        "attn_fwd.kd" } },
    { "aten::linear", "aten::addmm", 60, 256, HEAVY,
      { "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
};

static const struct shape mlp_forward[] = {
    { "aten::add", "aten::add", 14, 128, LIGHT,
      { "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::"
        "array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
        SAME } },
    { "aten::layer_norm", "aten::native_layer_norm", 18, 128, LIGHT,
      { "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::"
        "BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
        SAME } },
    { "aten::linear", "aten::addmm", 190, 256, HEAVY,
      { "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT256x128x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "aten::gelu", "aten::gelu", 32, 128, LIGHT,
      { "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
        "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::"
        "BFloat16)#1}, std::array<char*, 2ul> >(int, std::array<char*, 2ul>)",
        "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
        "at::native::GeluType)::{lambda()#2}::operator()() const, std::array<char*, 2ul> >(int, std::array<char*, "
        "2ul>)" } },
    { "aten::linear", "aten::addmm", 185, 256, HEAVY,
      { "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT256x128x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "aten::add", "aten::add", 14, 128, LIGHT,
      { "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::"
        "array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
        SAME } },
};

static const struct shape mlp_backward[] = {
    { "autograd::engine::evaluate_function: AddmmBackward0", "aten::mm", 190, 256, HEAVY,
      { "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT256x128x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "AddmmBackward0", "aten::mm", 180, 256, HEAVY,
      { "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT128x256x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "autograd::engine::evaluate_function: GeluBackward0", "aten::gelu_backward", 44, 128, LIGHT,
      { "void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAKernelImpl(at::"
        "TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const, std::array<char*, 3ul> >(int, "
        "std::array<char*, 3ul>)",
        "void at::native::vectorized_elementwise_kernel<8, at::native::GeluBackwardCUDAKernelImpl(at::"
        "TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const, std::array<char*, 3ul> >(int, "
        "std::array<char*, 3ul>)" } },
    { "autograd::engine::evaluate_function: AddmmBackward0", "aten::mm", 150, 256, HEAVY,
      { "ampere_bf16_s16816gemm_bf16_256x64_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT256x64x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA9"
        "42_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "autograd::engine::evaluate_function: NativeLayerNormBackward0", "aten::native_layer_norm_backward", 38, 256, LIGHT,
      { "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float>(c10::"
        "BFloat16 const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*, "
        "int)",
        "void at::native::(anonymous namespace)::cuComputeGradInput<c10::BFloat16, float>(c10::BFloat16 const*, c10::"
        "BFloat16 const*, long, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*)" } },
};

static const struct shape attention_backward[] = {
    { "autograd::engine::evaluate_function: ScaledDotProductFlashAttentionBackward0",
      "aten::_scaled_dot_product_flash_attention_backward", 420, 256, HEAVY,
      { "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, 128, 128, 8, "
        "4, 4, 4, false, false, cutlass::bfloat16_t> >(pytorch_flash::Flash_bwd_params)",
        "bwd_kernel_dk_dv.kd" } },
    { "autograd::engine::evaluate_function: AddmmBackward0", "aten::mm", 130, 256, HEAVY,
      { "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "AddmmBackward0", "aten::sum", 22, 512, LIGHT,
      { "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::"
        "BFloat16, at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()(at::TensorIterator&)::"
        "{lambda(float, float)#1}>, unsigned int, c10::BFloat16, 4> >(at::native::ReduceOp<c10::BFloat16>)",
        "void at::native::reduce_kernel<256, 2, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::"
        "BFloat16, at::native::sum_functor<c10::BFloat16, float, c10::BFloat16> >, unsigned int, c10::BFloat16, 4> "
        ">(c10::BFloat16)" } },
};

static const struct shape router[] = {
    { "aten::linear", "aten::mm", 24, 128, LIGHT,
      { "ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_stages_64x5_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN_1LDSB0_APM1_GSU1_ISA942_WS64_WG32_8_1" } },
    { "aten::topk", "aten::topk", 31, 1024, LIGHT,
      { "void at::native::sbtopk::gatherTopK<c10::BFloat16, unsigned int, 2, false>(at::cuda::detail::TensorInfo<c10::"
        "BFloat16 const, unsigned int>, unsigned int, unsigned int, bool, unsigned int, unsigned int)",
        SAME } },
};

static const struct shape permute =
    { "aten::index_select", "aten::index_select", 38, 128, LIGHT,
      { "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, "
        "true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, at::cuda::detail::TensorInfo<c10::BFloat16 "
        "const, unsigned int>, at::cuda::detail::TensorInfo<long const, unsigned int>, int, int, unsigned int, "
        "unsigned int, long)",
        SAME } };

static const struct shape unpermute =
    { "aten::index_add_", "aten::index_add_", 44, 128, LIGHT,
      { "void at::native::(anonymous namespace)::indexFuncLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, "
        "true, at::native::(anonymous namespace)::ReduceAdd>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned "
        "int>, at::cuda::detail::TensorInfo<c10::BFloat16 const, unsigned int>)",
        SAME } };

static const struct shape experts_forward[] = {
    { "grouped_gemm::backend::gmm", "GroupedGemm", 205, 128, EXPERT,
      { "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_grouped_bf16_128x128_32x4_tn_align8>(cutlass_80_tensorop_"
        "bf16_s16816gemm_grouped_bf16_128x128_32x4_tn_align8::Params)",
        "Cijk_Ailk_Bljk_BBS_BH_UserArgs_MT128x128x32_MI16x16x16x1_SN_LDSB0_AFC1_AG0_GroupedGemm_ISA942_WS64_WG32_8_1" } },
    { "grouped_gemm::backend::gmm", "GroupedGemm", 195, 128, EXPERT,
      { "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_grouped_bf16_256x128_32x3_tn_align8>(cutlass_80_tensorop_"
        "bf16_s16816gemm_grouped_bf16_256x128_32x3_tn_align8::Params)",
        "Cijk_Ailk_Bljk_BBS_BH_UserArgs_MT256x128x32_MI16x16x16x1_SN_LDSB0_AFC1_AG0_GroupedGemm_ISA942_WS64_WG32_8_1" } },
};

static const struct shape experts_backward[] = {
    { "autograd::engine::evaluate_function: GroupedGemmBackward", "grouped_gemm::backend::gmm", 210, 128, EXPERT,
      { "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_grouped_bf16_128x128_32x4_nn_align8>(cutlass_80_tensorop_"
        "bf16_s16816gemm_grouped_bf16_128x128_32x4_nn_align8::Params)",
        "Cijk_Ailk_Bljk_BBS_BH_UserArgs_MT128x128x64_MI16x16x16x1_SN_LDSB0_AFC1_AG0_GroupedGemm_ISA942_WS64_WG32_8_1" } },
    { "GroupedGemmBackward", "grouped_gemm::backend::gmm", 200, 128, EXPERT,
      { "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_grouped_bf16_128x128_32x4_nt_align8>(cutlass_80_tensorop_"
        "bf16_s16816gemm_grouped_bf16_128x128_32x4_nt_align8::Params)",
        "Cijk_Ailk_Bljk_BBS_BH_UserArgs_MT128x256x32_MI16x16x16x1_SN_LDSB0_AFC1_AG0_GroupedGemm_ISA942_WS64_WG32_8_1" } },
    { "autograd::engine::evaluate_function: GroupedGemmBackward", "grouped_gemm::backend::gmm", 190, 128, EXPERT,
      { "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_grouped_bf16_256x128_32x3_nn_align8>(cutlass_80_tensorop_"
        "bf16_s16816gemm_grouped_bf16_256x128_32x3_nn_align8::Params)",
        "Cijk_Ailk_Bljk_BBS_BH_UserArgs_MT256x128x64_MI16x16x16x1_SN_LDSB0_AFC1_AG0_GroupedGemm_ISA942_WS64_WG32_8_1" } },
};

static const struct shape loss =
    { "aten::cross_entropy_loss", "aten::nll_loss_forward", 60, 256, LIGHT,
      { "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, float, at::native::"
        "(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, c10::BFloat16 const*, int)",
        SAME } };

static const struct shape optimizer =
    { "aten::_fused_adamw_", "aten::_fused_adamw_", 95, 512, LIGHT,
      { "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
        "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::"
        "native::ADAM_MODE)1, false> >(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)",
        SAME } };

#define PART(array) { array, sizeof(array) / sizeof(array)[0] }
#define ONE(shape) { &(shape), 1 }

const struct part_of_step parts[NPARTS_OF_STEP] = {
    [ATTENTION_FORWARD] = PART(attention_forward), [ATTENTION_BACKWARD] = PART(attention_backward),
    [MLP_FORWARD] = PART(mlp_forward),             [MLP_BACKWARD] = PART(mlp_backward),
    [ROUTER] = PART(router),                       [PERMUTE] = ONE(permute),
    [UNPERMUTE] = ONE(unpermute),                  [EXPERTS_FORWARD] = PART(experts_forward),
    [EXPERTS_BACKWARD] = PART(experts_backward),   [LOSS] = ONE(loss),
    [OPTIMIZER] = ONE(optimizer),
};
