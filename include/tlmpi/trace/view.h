/* view.h - from events to the view of a rank: device work sorted, classified, and joined to its launches and steps.
 *
 * Input: the columns that any reader fills.  The view does not depend on files or their text: it may use read/reader.h,
 * the types that it returns, and the model.
 */
#ifndef TLMPI_TRACE_VIEW_H
#define TLMPI_TRACE_VIEW_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/ranges.h"
#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/kind.h"
#include "tlmpi/model/view.h"
#include "tlmpi/trace/read/reader.h"
#include <regex.h>

/* -------------------------------------------------------------------------------------------------- classes of work */

/* Kernel name -> what the device was doing.  One ordered table; the first rule that matches counts, so specific rules
 * stand above general ones.  A user's rules (--rules FILE) stand above the built-in ones.  Each built-in rule carries a
 * name that it, and no rule above it, must match: the test walks the table. */

typedef enum tl_match {
    TL_MATCH_CONTAINS,
    TL_MATCH_STARTS,
    TL_MATCH_EQUALS,
    TL_MATCH_CALLED /* contains, in the part before the parameters, ignoring case and underscores */
} tl_match;

typedef struct tl_rule {
    const char *needle; /* case-sensitive; for CALLED in lower case */
    tl_match match;
    uint8_t kind;       /* tl_kind: compute, comm, memcpy, memset */
    uint8_t collective; /* tl_collective, for comm; for compute, TL_COLL_UNKNOWN: of a library that also communicates */
    const char *seen;   /* a name that it must match; NULL in a user's rule */
} tl_rule;

/* The built-in rules, ended by a rule with needle NULL. */
extern const tl_rule tl_default_rules[];

/* A user's rules, followed by the built-in ones.  Zero-initialised it holds the built-in ones alone; tl_rules_free ends
 * it. */
typedef struct tl_rules {
    TL_VEC(tl_rule) user; /* needles are owned */
    tl_behaving *behave;  /* owned: names without a rule that behave like communication (behave.h), ascending
                           * by key */
    size_t nbehave;
    bool steps_differ;        /* iterations of a server are no steps: they are not the same on all ranks */
    const regex_t *step_name; /* names of the ranges that are the steps, borrowed; NULL: step.c finds them */
} tl_rules;

/* Reads a rules file: a JSON array (comments allowed) of objects with one pattern, a kind, and optionally for comm a
 * collective:
 *     { "contains" | "starts" | "equals": TEXT, "kind": "compute" | "comm" | "memcpy" | "memset",
 *       "collective": "all_reduce" ... }
 * TL_EUSAGE: the file cannot be read, has other content, or has a rule that can never match because of an earlier one;
 * the message names the file, the rule (for text that is not JSON, the line) and what was expected. */
tl_status tl_rules_read(const char *path, tl_rules *rules, tl_error *err);
void tl_rules_free(tl_rules *rules);

/* Returns the rule for a kernel's name; NULL: none matches, and the kernel counts as compute, unclassified. */
const tl_rule *tl_classify(const tl_rules *rules, tl_text name);

/* Returns the collective of kernels of that name by their behaviour; TL_COLL_NONE: they do not behave like
 * communication. */
tl_collective tl_behaves_as(const tl_rules *rules, tl_text name);

/* Returns the collective that an args["Collective name"] or an annotation "nccl:..." names; TL_COLL_UNKNOWN: none. */
tl_collective tl_collective_of(tl_text name);

/* -------------------------------------------------------------------------------------------------- the view itself */

/* The categories of events that tl_link reads; the reader keeps these. */
#define TL_LINK_KEEP                                                                                                   \
    (TL_CAT_GPU_WORK | TL_CAT_BIT(TL_CAT_SYNC) | TL_CAT_BIT(TL_CAT_RUNTIME) | TL_CAT_BIT(TL_CAT_DRIVER) |              \
     TL_CAT_BIT(TL_CAT_CPU_OP) | TL_CAT_BIT(TL_CAT_PYTHON) | TL_CAT_BIT(TL_CAT_USER_ANNOTATION) |                      \
     TL_CAT_BIT(TL_CAT_PROFILER_RANGE) | TL_CAT_BIT(TL_CAT_INSTANT) | TL_CAT_BIT(TL_CAT_GPU_ANNOTATION) |              \
     TL_CAT_BIT(TL_CAT_FWDBWD) | TL_CAT_BIT(TL_CAT_SAMPLE))

/* Returns the device of an event: from its args; else, for device work, the number of its process; -1: neither. */
int32_t tl_event_device(const tl_events *events, size_t event);

/* Whether the view of these events would have kernels, copies or memsets. */
bool tl_has_gpu_work(const tl_events *events);

/* A view with the arrays that it points to; the names stay the trace's. */
typedef struct tl_linked {
    tl_rank_view view;
    tl_arena host, rest; /* the arrays about the host, and all others */
} tl_linked;

/* Fills *out, which tl_linked_free ends.  Takes over the columns of the trace, so that no column exists twice; frees
 * the rest of the events.  The names stay, and keys may be added to them. */
void tl_link(tl_trace *trace, const tl_rules *rules, int32_t rank, tl_linked *out);

/* Fills the steps of the view alone.  The trace stays as it is; tl_linked_free ends *out. */
void tl_link_steps(const tl_trace *trace, const tl_rules *rules, tl_linked *out);

/* ----------------------------------------------------------------------------------------------------- a part of it */

/* The selected part of a trace: everything that the host began in these steps and times, and the device work that it
 * queued.  An empty set selects everything. */
typedef struct tl_selection {
    const tl_ranges *steps; /* numbers of steps */
    const tl_ranges *times; /* ns since origin_ns */
    int64_t origin_ns;
} tl_selection;

/* What a selection matched, summed over traces.  Zero-initialise; tl_found_free ends it. */
typedef struct tl_found {
    uint64_t events, selected;
    int64_t first_ns, last_ns; /* first and last start of an event, if events > 0 */
    tl_ranges steps;           /* numbers of all steps */
    tl_ranges taken;           /* requested steps with a selected part */
    tl_ranges times;           /* one instant in each requested span of time that has an event */
} tl_found;

void tl_found_add(tl_found *sum, const tl_found *more);
void tl_found_free(tl_found *found);

/* As tl_link, for the selected events; selection NULL: all events.  Adds the result of the selection to *found. */
void tl_link_selected(tl_trace *trace, const tl_rules *rules, int32_t rank, const tl_selection *selection,
                      tl_linked *out, tl_found *found);

/* ------------------------------------------------------------------------------------------------------- ends of it */

/* Frees the arrays about the host and removes them from the view. */
void tl_linked_free_host(tl_linked *linked);

void tl_linked_free(tl_linked *linked);

#endif
