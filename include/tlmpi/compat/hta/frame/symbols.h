/* symbols.h - the names and categories of all ranks as small ids, and what HTA reads out of a name.
 *
 * HTA has one symbol table for a job, in which names and categories stand together.  A name is looked at once, when it
 * enters the table.
 */
#ifndef TLMPI_COMPAT_HTA_FRAME_SYMBOLS_H
#define TLMPI_COMPAT_HTA_FRAME_SYMBOLS_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/names.h"
#include <stdbool.h>
#include <stdint.h>

/* What a row on a stream is; the name alone decides, in any category. */
typedef enum tl_hta_class {
    TL_HTA_COMPUTATION,
    TL_HTA_COMMUNICATION,
    TL_HTA_MEMORY,
    TL_HTA_OTHER,
    TL_HTA_NCLASSES
} tl_hta_class;

/* As HTA spells them. */
extern const char *const tl_hta_class_labels[TL_HTA_NCLASSES];

/* Whose launch call a name is. */
typedef enum tl_hta_vendor { TL_HTA_NO_LAUNCH, TL_HTA_NVIDIA, TL_HTA_AMD, TL_HTA_MTIA } tl_hta_vendor;

typedef struct tl_hta_symbol {
    tl_hta_class class;
    tl_hta_vendor launch;
    bool sync;          /* "Event Sync" or "Context Sync": of the device even without a stream */
    bool step_row;      /* begins with ProfilerStep: rows of this name are step windows */
    bool step_name;     /* begins with ProfilerStep# and a digit: counts for the cut of the last step */
    bool step_mark;     /* begins with ProfilerStep#: its thread is the main one of the call graph */
    bool autograd;      /* has "autograd::" in it: its thread is that of the backward pass */
    bool backward_mark; /* begins with "## backward ##" */
    int64_t step;       /* its number; -1 for none */
} tl_hta_symbol;

/* Zero-initialise; tl_hta_symbols_free ends it. */
typedef struct tl_hta_symbols {
    tl_names texts;
    TL_VEC(tl_hta_symbol) v; /* v[id] belongs to the text of that id */
} tl_hta_symbols;

/* The id of the text. */
uint32_t tl_hta_symbol_id(tl_hta_symbols *symbols, tl_text text);

static inline tl_text tl_hta_text(const tl_hta_symbols *symbols, uint32_t id)
{
    return tl_names_text(&symbols->texts, id);
}

/* Of each symbol whether `is` holds for its text; an array to be freed. */
bool *tl_hta_symbols_that(const tl_hta_symbols *symbols, bool (*is)(tl_text));

void tl_hta_symbols_free(tl_hta_symbols *symbols);

/* A rule of the classification: a name that begins with `begins` and has `has` somewhere after that. */
typedef struct tl_hta_rule {
    const char *begins, *has;
    tl_hta_class class;
    const char *seen; /* a name that this rule is the first to catch */
} tl_hta_rule;

/* In order, the first match decides; the last one catches everything. */
extern const tl_hta_rule tl_hta_rules[];
extern const size_t tl_hta_nrules;

/* The rule that decides the class of a kernel name. */
const tl_hta_rule *tl_hta_rule_of(tl_text name);

#endif
