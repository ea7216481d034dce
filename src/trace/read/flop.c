/* flop.c - the floating-point operations of an operator, from the shapes and values of its arguments.
 *
 * A multiplication and the addition of its result are two.  Only products of matrices and what consists of them count:
 *
 *     product       a [.., m, k], b [.., k, n]                                    2 m k n, times the batch
 *     convolution   weight [C', C / groups, kernel..]                             2 C / groups kernel, times the output
 *         transposed weight [C, C' / groups, kernel..]                            2 C' / groups kernel, times the input
 *         backward  likewise for each gradient that is computed, of the input and of the weight
 *     attention     query [B, H, S, D], key [B, ., T, D], value [B, ., T, E]      2 B H (D + E) S T
 *         causal    of S = T: each query has the keys up to its own:              S (S + 1) / 2 for S T
 *         backward  five products instead of two, one of them recomputed:         2 B H (3 D + 2 E) S T
 *
 * An operator whose shapes do not fit is unknown, and so is one of whole or complex numbers or of mixed types.
 */
#include "formats.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/trace/text/json.h"

enum {
    MOST_DIMS = 8,
    STRIDE = 3,
    MASK = 10
}; /* arguments: stride, padding and dilation; which gradients are computed */

typedef struct tensor {
    int64_t dim[MOST_DIMS];
    size_t n; /* dimensions; 0: unknown */
} tensor;

static tl_text element(tl_text list, size_t i)
{
    tl_text value;
    while (tl_json_element(&list, &value))
        if (i-- == 0)
            return value;
    return (tl_text){ "", 0 };
}

/* Reads "[2, 2]"; anything else has no numbers: a longer list, a number below 0 or from 2^31 on. */
static tensor numbers_in(tl_text list)
{
    tl_text rest = tl_json_inside(list), item;
    tensor t = { .n = 0 };

    while (tl_json_element(&rest, &item)) {
        if (t.n == MOST_DIMS || !tl_decimal_to_int(item.p, item.n, &t.dim[t.n]) || t.dim[t.n] < 0 ||
            t.dim[t.n] > INT32_MAX)
            return (tensor){ .n = 0 };
        t.n++;
    }
    return t;
}

/* Returns 1 or 0; -1: unknown. */
static int bool_in(tl_text word)
{
    return tl_text_is(word, "True") ? 1 : tl_text_is(word, "False") ? 0 : -1;
}

/* Returns the product of two numbers; -1: one is unknown, or it is too large. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

/* Returns the product of the dimensions from the given one on. */
static int64_t elements(const tensor *t, size_t from)
{
    int64_t n = 1;
    for (size_t i = from; i < t->n; i++)
        n = times(n, t->dim[i]);
    return n;
}

static int64_t of_product(const tensor *a, const tensor *b)
{
    const int64_t rows = b->dim[b->n > 1 ? b->n - 2 : 0], columns = b->n > 1 ? b->dim[b->n - 1] : 1;
    const bool batched = b->n == 3 && a->n == 3 && a->dim[0] == b->dim[0];
    return a->dim[a->n - 1] == rows && (batched || b->n <= 2) ? times(2, times(elements(a, 0), columns)) : -1;
}

/* Makes the size of a convolution's input that of its output. */
static bool convolve(const tl_arguments *a, const tensor *weight, tensor *t)
{
    tensor of[3]; /* stride, padding, dilation: a number for each dimension in space */

    for (size_t k = 0; k < 3; k++) {
        of[k] = numbers_in(tl_json_string(element(a->values, STRIDE + k)));
        if (of[k].n + 2 != weight->n)
            return false;
    }
    for (size_t i = 2; i < weight->n; i++) {
        t->dim[i] += 2 * of[1].dim[i - 2] - of[2].dim[i - 2] * (weight->dim[i] - 1);
        if (of[0].dim[i - 2] < 1 || weight->dim[i] < 1 || t->dim[i] < 1)
            return false;
        t->dim[i] = (t->dim[i] - 1) / of[0].dim[i - 2] + 1;
    }
    t->dim[1] = weight->dim[0];
    return true;
}

/* t: input and weight; backward: the gradient of the output before them.  The kernel is applied at each element of the
 * output, or of a transposed convolution of the input. */
static int64_t of_convolution(const tl_arguments *a, const tensor *t, bool backward, int transposed)
{
    const tensor *weight = &t[backward ? 2 : 1], *input = &t[backward ? 1 : 0];
    tensor at = backward && transposed == 0 ? t[0] : *input;
    tl_text mask = tl_json_inside(tl_json_string(element(a->values, MASK)));
    const int of_input = bool_in(element(mask, 0)), of_weight = bool_in(element(mask, 1));

    if (transposed < 0 || weight->n < 3 || weight->n != input->n || at.n != weight->n ||
        (backward ? of_input < 0 || of_weight < 0 : transposed == 0 && !convolve(a, weight, &at)))
        return -1;
    return times(backward ? 2 * (of_input + of_weight) : 2, times(elements(&at, 0), elements(weight, 1)));
}

static int64_t of_attention(const tensor *t, bool backward, int causal)
{
    const tensor *q = &t[0], *k = &t[1], *v = &t[2];
    const int64_t s = q->dim[2], d = q->dim[3], e = v->dim[3];

    if (q->n != 4 || k->n != 4 || v->n != 4 || d != k->dim[3] || k->dim[2] != v->dim[2] || causal < 0 ||
        (causal && s != k->dim[2]))
        return -1;
    const int64_t pairs = causal ? s * (s + 1) / 2 : s * k->dim[2], width = backward ? 3 * d + 2 * e : d + e;
    return times(2 * width, times(pairs, q->dim[0] * q->dim[1]));
}

int64_t tl_flop_count(tl_formula f, size_t first, size_t flag, const tl_arguments *a, tl_precision *precision)
{
    const tl_text *types = &a->types;
    tensor t[3];

    *precision = tl_precision_of(tl_dtype_of_type(tl_json_string(element(*types, first))));
    for (size_t i = 0; i < (f == TL_PRODUCT ? 2 : 3); i++)
        t[i] = numbers_in(element(a->dims, first + i));
    if (t[0].n == 0 || t[1].n == 0 || *precision == TL_NPRECISIONS ||
        *precision != tl_precision_of(tl_dtype_of_type(tl_json_string(element(*types, first + 1)))))
        return -1;
    if (f == TL_PRODUCT)
        return of_product(&t[0], &t[1]);
    const int told = bool_in(tl_json_string(element(a->values, flag)));
    return f == TL_CONVOLUTION || f == TL_CONVOLUTION_BACKWARD
               ? of_convolution(a, t, f == TL_CONVOLUTION_BACKWARD, told)
               : of_attention(t, f == TL_ATTENTION_BACKWARD, told);
}
