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
#include "args.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/trace/text/json.h"

typedef enum formula { PRODUCT, CONVOLUTION, CONVOLUTION_BACKWARD, ATTENTION, ATTENTION_BACKWARD } formula;

/* Operators that launch such work, or call one that is not listed and does; of those listed that call each other the
 * view counts one.  aten::linear and aten::matmul call one of these. */
static const struct {
    const char *name;
    formula formula;
    uint8_t first, flag; /* arguments: the first tensor of the formula; whether transposed, or causal */
} computing[] = {
    { "aten::mm", PRODUCT, 0, 0 },
    { "aten::bmm", PRODUCT, 0, 0 },
    { "aten::mv", PRODUCT, 0, 0 },
    { "aten::_scaled_mm", PRODUCT, 0, 0 },
    { "aten::addmm", PRODUCT, 1, 0 },
    { "aten::baddbmm", PRODUCT, 1, 0 },
    { "aten::addmv", PRODUCT, 1, 0 },
    { "aten::_addmm_activation", PRODUCT, 1, 0 },
    { "aten::convolution", CONVOLUTION, 0, 6 },
    { "aten::_convolution", CONVOLUTION, 0, 6 },
    { "aten::convolution_backward", CONVOLUTION_BACKWARD, 0, 7 },
    { "aten::_scaled_dot_product_flash_attention", ATTENTION, 0, 4 },
    { "aten::_scaled_dot_product_efficient_attention", ATTENTION, 0, 6 },
    { "aten::_scaled_dot_product_cudnn_attention", ATTENTION, 0, 6 },
    { "aten::_scaled_dot_product_flash_attention_backward", ATTENTION_BACKWARD, 1, 11 },
    { "aten::_scaled_dot_product_efficient_attention_backward", ATTENTION_BACKWARD, 1, 11 },
    { "aten::_scaled_dot_product_cudnn_attention_backward", ATTENTION_BACKWARD, 1, 14 },
};

enum { MOST_DIMS = 8, MASK = 10 }; /* MASK: argument of convolution_backward: which gradients are computed */

typedef struct tensor {
    int64_t dim[MOST_DIMS];
    size_t n; /* dimensions; 0: unknown */
    tl_dtype dtype;
} tensor;

static tl_text element(tl_text list, size_t i)
{
    tl_text value = { "", 0 };
    for (size_t at = 0; at <= i; at++)
        if (!tl_json_element(&list, &value))
            return (tl_text){ "", 0 };
    return value;
}

/* Reads "[2, 2]".  Returns the count of numbers; 0: it is no such list, or too long. */
static size_t read_numbers(tl_text list, int64_t *v)
{
    tl_text rest = tl_json_inside(list), item;
    size_t n = 0;

    while (tl_json_element(&rest, &item))
        if (n == MOST_DIMS || !tl_decimal_to_int(item.p, item.n, &v[n++]))
            return 0;
    return n;
}

static tensor tensor_at(const tl_arguments *a, size_t i)
{
    tensor t = { .dtype = tl_dtype_of_type(tl_json_string(element(a->types, i))) };
    t.n = read_numbers(element(a->dims, i), t.dim);
    return t;
}

/* Returns the value of a switch: 1 or 0; -1: unknown. */
static int switch_of(tl_text word)
{
    return tl_text_is(word, "True") ? 1 : tl_text_is(word, "False") ? 0 : -1;
}

/* Returns the product of two sizes; -1: one is unknown, or it is too large. */
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
    const bool batched = b->n > 2, fits = a->dim[a->n - 1] == rows && b->n <= 3;
    return fits && (!batched || (a->n == 3 && a->dim[0] == b->dim[0])) ? times(2, times(elements(a, 0), columns)) : -1;
}

/* Makes a convolution's input its output, in size: batch, channels, and a number for each dimension in space. */
static bool convolve(const tl_arguments *a, const tensor *weight, tensor *t)
{
    int64_t v[3][MOST_DIMS]; /* stride, padding, dilation: a number for each dimension in space, or one for all */
    size_t n[3];

    for (size_t k = 0; k < 3; k++)
        if ((n[k] = read_numbers(tl_json_string(element(a->values, 3 + k)), v[k])) == 0)
            return false;
    for (size_t i = 0; i + 2 < weight->n; i++) {
        const int64_t stride = v[0][i < n[0] ? i : 0], padding = v[1][i < n[1] ? i : 0],
                      dilation = v[2][i < n[2] ? i : 0], reach = times(dilation, weight->dim[i + 2] - 1);
        int64_t room;
        if (stride < 1 || reach < 0 || __builtin_add_overflow(t->dim[i + 2], times(2, padding), &room) || room <= reach)
            return false;
        t->dim[i + 2] = (room - reach - 1) / stride + 1;
    }
    t->dim[1] = weight->dim[0];
    return true;
}

/* t: input and weight; backward: the gradient of the output before them.  visited: the tensor at whose elements the
 * kernel is applied: the output, or of a transposed convolution the input. */
static int64_t of_convolution(const tl_arguments *a, const tensor *t, bool backward, int transposed)
{
    const tensor *weight = &t[backward ? 2 : 1], *input = &t[backward ? 1 : 0];
    tensor visited = transposed == 1 || !backward ? *input : t[0];
    int64_t gradients = 1;

    if (transposed < 0 || weight->n < 3 || weight->n != input->n || visited.n != weight->n)
        return -1;
    if (transposed == 0 && !backward && !convolve(a, weight, &visited))
        return -1;
    if (backward) {
        tl_text mask = tl_json_inside(tl_json_string(element(a->values, MASK)));
        const int of_input = switch_of(element(mask, 0)), of_weight = switch_of(element(mask, 1));
        if (of_input < 0 || of_weight < 0)
            return -1;
        gradients = of_input + of_weight;
    }
    return times(2 * gradients, times(elements(&visited, 0), elements(weight, 1)));
}

static int64_t of_attention(const tensor *t, bool backward, int causal)
{
    const tensor *q = &t[0], *k = &t[1], *v = &t[2];

    if (q->n != 4 || k->n != 4 || v->n != 4 || q->dim[3] != k->dim[3] || k->dim[2] != v->dim[2] || causal < 0 ||
        (causal && q->dim[2] != k->dim[2]))
        return -1;
    const int64_t s = q->dim[2], pairs = causal ? times(s, s + 1) / 2 : times(s, k->dim[2]);
    const int64_t width = backward ? times(3, q->dim[3]) + times(2, v->dim[3]) : q->dim[3] + v->dim[3];
    return times(2, times(times(q->dim[0], q->dim[1]), times(pairs, width)));
}

uint8_t tl_flop_formula(tl_text name)
{
    for (size_t k = 0; k < sizeof computing / sizeof computing[0]; k++)
        if (tl_text_is(name, computing[k].name))
            return (uint8_t)k;
    return TL_NONE_COMPUTES;
}

int64_t tl_flop_count(uint8_t number, const tl_arguments *a, tl_precision *precision)
{
    const formula f = computing[number].formula;
    tensor t[3];

    for (size_t i = 0; i < (f == PRODUCT ? 2 : 3); i++)
        t[i] = tensor_at(a, computing[number].first + i);
    *precision = tl_precision_of(t[0].dtype);
    if (t[0].n == 0 || t[1].n == 0 || *precision == TL_NPRECISIONS || *precision != tl_precision_of(t[1].dtype))
        return -1;
    if (f == PRODUCT)
        return of_product(&t[0], &t[1]);
    const int flag = switch_of(tl_json_string(element(a->values, computing[number].flag)));
    return f == CONVOLUTION || f == CONVOLUTION_BACKWARD ? of_convolution(a, t, f == CONVOLUTION_BACKWARD, flag)
                                                         : of_attention(t, f == ATTENTION_BACKWARD, flag);
}
