/* program.c - the step of a transformer trained data-parallel. */
#include "program.h"
#include <stdlib.h>

/* A kernel that has one name for both. */
#define SAME NULL

static const struct shape forward_layer[] = {
    { "aten::layer_norm", "aten::native_layer_norm", 18, 128,
      { "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::"
        "BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
        SAME } },
    { "aten::linear", "aten::addmm", 140, 256,
      { "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT128x256x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "aten::scaled_dot_product_attention", "aten::_flash_attention_forward", 210, 128,
      { "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::"
        "bfloat16_t> >(pytorch_flash::Flash_fwd_params)",
        "attn_fwd.kd" } },
    { "aten::linear", "aten::addmm", 60, 256,
      { "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "aten::add", "aten::add", 14, 128,
      { "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::"
        "array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
        SAME } },
    { "aten::layer_norm", "aten::native_layer_norm", 18, 128,
      { "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::"
        "BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
        SAME } },
    { "aten::linear", "aten::addmm", 190, 256,
      { "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT256x128x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "aten::gelu", "aten::gelu", 32, 128,
      { "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
        "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::"
        "BFloat16)#1}, std::array<char*, 2ul> >(int, std::array<char*, 2ul>)",
        "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
        "at::native::GeluType)::{lambda()#2}::operator()() const, std::array<char*, 2ul> >(int, std::array<char*, "
        "2ul>)" } },
    { "aten::linear", "aten::addmm", 185, 256,
      { "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT256x128x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "aten::add", "aten::add", 14, 128,
      { "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::"
        "array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
        SAME } },
};

static const struct shape backward_layer[] = {
    { "autograd::engine::evaluate_function: AddmmBackward0", "aten::mm", 190, 256,
      { "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT256x128x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "AddmmBackward0", "aten::mm", 180, 256,
      { "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT128x256x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "autograd::engine::evaluate_function: GeluBackward0", "aten::gelu_backward", 44, 128,
      { "void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAKernelImpl(at::"
        "TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const, std::array<char*, 3ul> >(int, "
        "std::array<char*, 3ul>)",
        "void at::native::vectorized_elementwise_kernel<8, at::native::GeluBackwardCUDAKernelImpl(at::"
        "TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const, std::array<char*, 3ul> >(int, "
        "std::array<char*, 3ul>)" } },
    { "autograd::engine::evaluate_function: AddmmBackward0", "aten::mm", 150, 256,
      { "ampere_bf16_s16816gemm_bf16_256x64_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT256x64x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA9"
        "42_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "autograd::engine::evaluate_function: NativeLayerNormBackward0", "aten::native_layer_norm_backward", 38, 256,
      { "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float>(c10::"
        "BFloat16 const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*, "
        "int)",
        "void at::native::(anonymous namespace)::cuComputeGradInput<c10::BFloat16, float>(c10::BFloat16 const*, c10::"
        "BFloat16 const*, long, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*)" } },
    { "autograd::engine::evaluate_function: ScaledDotProductFlashAttentionBackward0",
      "aten::_scaled_dot_product_flash_attention_backward", 420, 256,
      { "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, 128, 128, 8, "
        "4, 4, 4, false, false, cutlass::bfloat16_t> >(pytorch_flash::Flash_bwd_params)",
        "bwd_kernel_dk_dv.kd" } },
    { "autograd::engine::evaluate_function: AddmmBackward0", "aten::mm", 130, 256,
      { "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
        "Cijk_Alik_Bljk_BBS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0_APM1_AF0EM8_ASEM1_BL1_DTLA0_EPS1_FL0_GRVW8_GSU1_ISA"
        "942_IU1_K1_KLA_LPA16_LPB16_MIAV0_PGR2_PLR5_SIA3_SU32_SUM0_SVW4_TT4_64_USFGROn1_VAW2_VW4_WSGRA1_"
        "WS64_WG32_8_1" } },
    { "AddmmBackward0", "aten::sum", 22, 512,
      { "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::"
        "BFloat16, at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()(at::TensorIterator&)::"
        "{lambda(float, float)#1}>, unsigned int, c10::BFloat16, 4> >(at::native::ReduceOp<c10::BFloat16>)",
        "void at::native::reduce_kernel<256, 2, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::"
        "BFloat16, at::native::sum_functor<c10::BFloat16, float, c10::BFloat16> >, unsigned int, c10::BFloat16, 4> "
        ">(c10::BFloat16)" } },
};

static const struct shape optimizer_part =
    { "aten::_fused_adamw_", "aten::_fused_adamw_", 95, 512,
      { "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
        "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::"
        "native::ADAM_MODE)1, false> >(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)",
        SAME } };

static bool add(struct program *p, struct instruction what)
{
    if (p->n == p->cap) {
        size_t cap = p->cap == 0 ? 256 : 2 * p->cap;
        struct instruction *v = realloc(p->v, cap * sizeof *v);
        if (v == NULL)
            return false;
        p->v = v;
        p->cap = cap;
    }
    p->v[p->n++] = what;
    return true;
}

static bool act(struct program *p, enum action action, int number)
{
    return add(p, (struct instruction){ .action = action, .number = number });
}

static bool mark(struct program *p, const char *text)
{
    return add(p, (struct instruction){ .action = DO_MARK, .number = -1, .text = text });
}

static bool launches(struct program *p, const struct shape *shapes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!add(p, (struct instruction){ .action = DO_LAUNCH, .shape = &shapes[i] }))
            return false;
    return true;
}

static bool forward(struct program *p, const struct job *job)
{
    if (!mark(p, "DistributedDataParallel.forward") || !act(p, DO_STAND_STILL, 0))
        return false;
    for (int i = 0; i < job->layers; i++)
        if (!launches(p, forward_layer, sizeof forward_layer / sizeof forward_layer[0]))
            return false;
    return act(p, DO_END, 0);
}

/* The last layers' gradients are ready first: as soon as a bucket is full it travels, while backward goes on. */
static bool backward(struct program *p, const struct job *job)
{
    if (!act(p, DO_THREAD, 1))
        return false;
    for (int i = 0; i < job->layers; i++) {
        if (!launches(p, backward_layer, sizeof backward_layer / sizeof backward_layer[0]))
            return false;
        if (((i + 1) % job->bucket_layers == 0 || i + 1 == job->layers) && !act(p, DO_ALL_REDUCE, p->buckets++))
            return false;
    }
    return act(p, DO_THREAD, 0);
}

static bool optimizer(struct program *p, const struct job *job)
{
    if (!act(p, DO_JOIN, 0) || !mark(p, "Optimizer.step#AdamW.step"))
        return false;
    for (int i = 0; i < job->layers; i += 2)
        if (!launches(p, &optimizer_part, 1))
            return false;
    return act(p, DO_END, 0);
}

bool program_make(struct program *p, const struct job *job)
{
    return act(p, DO_STEP_BEGIN, 0) && mark(p, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__") &&
           act(p, DO_LOAD, 0) && act(p, DO_END, 0) && act(p, DO_COPY_IN, 0) && act(p, DO_CLEAR, 0) && forward(p, job) &&
           backward(p, job) && optimizer(p, job) && act(p, DO_READ_LOSS, 0) && act(p, DO_END, 0);
}

void program_free(struct program *p)
{
    free(p->v);
    *p = (struct program){ 0 };
}
