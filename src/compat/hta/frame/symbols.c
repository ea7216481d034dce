/* symbols.c - a text enters the table once, and what HTA reads out of it is noted beside it. */
#include "tlmpi/compat/hta/frame/symbols.h"
#include "tlmpi/model/schema.h"
#include <stdlib.h>

/* More digits than this are no step number: it must fit an int64_t. */
#define STEP_DIGITS 18

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The k of "ProfilerStep#k", blanks around the '#' allowed; -1 for any other text. */
static int64_t step_of(tl_text name)
{
    size_t i = sizeof "ProfilerStep" - 1, first;
    int64_t step = 0;

    while (i < name.n && is_blank(name.p[i]))
        i++;
    if (i >= name.n || name.p[i++] != '#')
        return -1;
    while (i < name.n && is_blank(name.p[i]))
        i++;
    for (first = i; i < name.n && is_digit(name.p[i]) && i - first < STEP_DIGITS; i++)
        step = 10 * step + (name.p[i] - '0');
    return i > first ? step : -1;
}

static tl_hta_vendor vendor_of(tl_text name)
{
    if (tl_text_is(name, "cudaLaunchKernel"))
        return TL_HTA_NVIDIA;
    if (tl_text_is(name, "hipLaunchKernel"))
        return TL_HTA_AMD;
    if (tl_text_is(name, "runFunction - job_prep_and_submit_for_execution"))
        return TL_HTA_MTIA;
    return TL_HTA_NO_LAUNCH;
}

static tl_hta_symbol symbol_of(tl_text name)
{
    static const char marked[] = "ProfilerStep#";
    const size_t n = sizeof marked - 1;
    bool step_row = tl_text_starts(name, "ProfilerStep");

    return (tl_hta_symbol){
        .class = tl_hta_rule_of(name)->class,
        .launch = vendor_of(name),
        .sync = tl_text_is(name, "Event Sync") || tl_text_is(name, "Context Sync"),
        .step_row = step_row,
        .step_name = tl_text_starts(name, marked) && name.n > n && is_digit(name.p[n]),
        .step_mark = tl_text_starts(name, marked),
        .autograd = tl_text_has(name, "autograd::"),
        .backward_mark = tl_text_starts(name, "## backward ##"),
        .step = step_row ? step_of(name) : -1,
    };
}

uint32_t tl_hta_symbol_id(tl_hta_symbols *symbols, tl_text text)
{
    /* The room comes first, so that a text never stands in the table without its symbol. */
    if (!tl_vec_room(&symbols->v))
        return TL_NO_NAME;
    uint32_t id = tl_names_intern(&symbols->texts, text.p, text.n);
    if (id != TL_NO_NAME && id == symbols->v.n)
        symbols->v.v[symbols->v.n++] = symbol_of(text);
    return id;
}

void tl_hta_symbols_free(tl_hta_symbols *symbols)
{
    tl_names_free(&symbols->texts);
    free(symbols->v.v);
    *symbols = (tl_hta_symbols){ 0 };
}
