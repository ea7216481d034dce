/* serving.c - what the name of an annotation tells of an iteration of a server. */
#include "tlmpi/base/decimal.h"
#include "tlmpi/model/view.h"
#include <math.h>

/* The numbers in a name: of requests and of tokens; all: prompts and answers together. */
enum { PROMPTS, PROMPT_TOKENS, ANSWERS, ANSWER_TOKENS, ALL, NNUMBERS, UNUSED = 9 };

/* The names.  A digit stands for a number, which goes to numbers[digit], or nowhere if it is UNUSED; '*' for any text
 * up to the next character of the pattern.  Of several patterns the first counts. */
static const struct {
    const char *pattern;
    tl_serving serving; /* TL_NOT_SERVING: by the numbers of requests */
} names[] = {
    /* vLLM */
    { "execute_context_0(1)_generation_2(3)", TL_NOT_SERVING },
    { "execute_9_context_0(sq1sk*)_generation_2(sq3sk*", TL_NOT_SERVING },
    { "execute_new_0_cached_2", TL_NOT_SERVING },
    /* TensorRT-LLM */
    { "[Executor] _forward_step*: 0 ctx reqs, 2 gen reqs", TL_NOT_SERVING },
    { "[Executor] _forward_step*: 0 ctx reqs, 9 ctx tokens, 2 gen reqs", TL_NOT_SERVING },
    /* SGLang */
    { "step[DECODE bs=4*", TL_DECODE },
    { "step[TARGET_VERIFY bs=4*", TL_DECODE },
    { "step[EXTEND bs=4*", TL_PREFILL },
    { "step[SPLIT_PREFILL bs=4*", TL_PREFILL },
    { "step[MIXED bs=4*", TL_MIXED },
    { "step[* bs=4*", TL_SERVING_OTHER },
    /* ATOM */
    { "prefill[bs=4*", TL_PREFILL },
    { "decode[bs=4*", TL_DECODE },
};

static bool matches(tl_text rest, const char *pattern, double numbers[NNUMBERS])
{
    for (int i = 0; i < NNUMBERS; i++)
        numbers[i] = NAN;
    for (; *pattern != 0; pattern++) {
        if (tl_is_digit(*pattern)) {
            const int32_t number = tl_decimal_take(&rest);
            if (number < 0)
                return false;
            if (*pattern != '0' + UNUSED)
                numbers[*pattern - '0'] = number;
        } else if (*pattern == '*') {
            const char *next = rest.n > 0 && pattern[1] != 0 ? memchr(rest.p, pattern[1], rest.n) : rest.p + rest.n;
            if (next == NULL)
                return false;
            rest = (tl_text){ next, rest.n - (size_t)(next - rest.p) };
        } else if (rest.n > 0 && *rest.p == *pattern) {
            rest = (tl_text){ rest.p + 1, rest.n - 1 };
        } else {
            return false;
        }
    }
    return rest.n == 0;
}

/* Returns the number after a key in the name, as 64 after " toks="; NAN: there is none. */
static double number_after(tl_text name, const char *key)
{
    for (; name.n > 0; name = (tl_text){ name.p + 1, name.n - 1 })
        if (tl_text_starts(name, key)) {
            tl_text rest = { name.p + strlen(key), name.n - strlen(key) };
            const int32_t number = tl_decimal_take(&rest);
            if (number >= 0)
                return number;
        }
    return NAN;
}

/* Returns the sum of two numbers that may be NAN; NAN: both are. */
static double sum_of(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

tl_iteration tl_iteration_of(tl_text name)
{
    tl_iteration found = { TL_NOT_SERVING, NAN, NAN };
    double numbers[NNUMBERS];
    size_t i = 0;

    if (name.n == 0 || strchr("es[pd", name.p[0]) == NULL)
        return found;
    while (i < sizeof names / sizeof names[0] && !matches(name, names[i].pattern, numbers))
        i++;
    if (i == sizeof names / sizeof names[0])
        return found;
    found.serving = names[i].serving;
    if (found.serving == TL_NOT_SERVING)
        found.serving = numbers[PROMPTS] > 0   ? (numbers[ANSWERS] > 0 ? TL_MIXED : TL_PREFILL)
                        : numbers[ANSWERS] > 0 ? TL_DECODE
                                               : TL_SERVING_OTHER;
    found.requests = sum_of(numbers[ALL], sum_of(numbers[PROMPTS], numbers[ANSWERS]));
    found.tokens = sum_of(numbers[PROMPT_TOKENS], numbers[ANSWER_TOKENS]);
    for (const char *const *key = (const char *const[]){ " toks=", " tok=", NULL }; isnan(found.tokens) && *key; key++)
        found.tokens = number_after(name, *key);
    if (isnan(found.tokens))
        found.tokens = sum_of(number_after(name, " c_sq="), number_after(name, " g_sq="));
    return found;
}
