/* view.h - from events to the view of a rank: device work sorted, classified, and joined to its launches and steps.
 *
 * From the columns that a reader gives, whichever it was.  It knows neither files nor their text: it may use
 * read/reader.h, what that gives, and the model.
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

/* -------------------------------------------------------------------------------------------------- classes of work */

/* Kernel name -> what the device was doing.  One ordered table; the first rule that matches wins, so the specific
 * stands above the general.  A user's rules (--rules FILE) stand above all of ours.  Each of ours carries a name that
 * it, and no rule above it, must catch: the test walks the table. */

typedef enum tl_match {
    TL_MATCH_CONTAINS,
    TL_MATCH_STARTS,
    TL_MATCH_EQUALS,
    TL_MATCH_CALLED /* contains, before its parameters, in letters of either case and with or without underscores */
} tl_match;

typedef struct tl_rule {
    const char *needle; /* case counts, unless CALLED: then small letters alone */
    tl_match match;
    uint8_t kind;       /* tl_kind: compute, comm, memcpy, memset */
    uint8_t collective; /* tl_collective, for comm; TL_COLL_UNKNOWN for compute: of a library that communicates, too */
    const char *seen;   /* a name it must catch; NULL in a user's rule */
} tl_rule;

/* Ours, ended by a rule with needle NULL. */
extern const tl_rule tl_default_rules[];

/* A user's rules and then ours.  Zero-initialised it holds ours alone; tl_rules_free ends it. */
typedef struct tl_rules {
    TL_VEC(tl_rule) user; /* needles are owned */
    tl_behaving *behave;  /* owned: names that no rule tells and that behave as communication does (analysis/behave.h),
                           * ascending by key */
    size_t nbehave;
} tl_rules;

/* Reads a rules file: a JSON array (comments allowed) of objects, with one pattern, a kind, and where that is comm
 * perhaps a collective:
 *     { "contains" | "starts" | "equals": TEXT, "kind": "compute" | "comm" | "memcpy" | "memset",
 *       "collective": "all_reduce" ... }
 * TL_EUSAGE: cannot be read, says something else, or has a rule that an earlier one hides; the message names file, rule
 * (of text that is no JSON the line) and what was expected. */
tl_status tl_rules_read(const char *path, tl_rules *rules, tl_error *err);
void tl_rules_free(tl_rules *rules);

/* The rule for a kernel's name, NULL when none matches: it is counted as compute, and as unclassified. */
const tl_rule *tl_classify(const tl_rules *rules, tl_text name);

/* The collective that kernels of that name carry, by their behaviour; TL_COLL_NONE: their behaviour shows none. */
tl_collective tl_behaves_as(const tl_rules *rules, tl_text name);

/* The collective that an args["Collective name"] or an annotation "nccl:..." names; TL_COLL_UNKNOWN for others. */
tl_collective tl_collective_of(tl_text name);

/* -------------------------------------------------------------------------------------------------- the view itself */

/* The categories that tl_link looks at: what a run asks the reader to keep. */
#define TL_LINK_KEEP                                                                                                   \
    (TL_CAT_GPU_WORK | TL_CAT_BIT(TL_CAT_SYNC) | TL_CAT_BIT(TL_CAT_RUNTIME) | TL_CAT_BIT(TL_CAT_DRIVER) |              \
     TL_CAT_BIT(TL_CAT_CPU_OP) | TL_CAT_BIT(TL_CAT_PYTHON) | TL_CAT_BIT(TL_CAT_USER_ANNOTATION) |                      \
     TL_CAT_BIT(TL_CAT_PROFILER_RANGE) | TL_CAT_BIT(TL_CAT_INSTANT) | TL_CAT_BIT(TL_CAT_GPU_ANNOTATION) |              \
     TL_CAT_BIT(TL_CAT_FWDBWD))

/* The device of an event, as a view has it: what its args say, else, of device work, the number of its process; -1 for
 * neither. */
int32_t tl_event_device(const tl_events *events, size_t event);

/* Whether the view of these events would have kernels, copies or memsets. */
bool tl_has_gpu_work(const tl_events *events);

/* A view with the arrays that it shows; the names are the trace's. */
typedef struct tl_linked {
    tl_rank_view view;
    tl_arena host, rest; /* the arrays of what the host did, and the others */
} tl_linked;

/* Fills *out, which tl_linked_free ends.  Takes over the columns of the trace, so that there is never a second set of
 * columns; the rest of the events is freed, the names stay (and may become more). */
void tl_link(tl_trace *trace, const tl_rules *rules, int32_t rank, tl_linked *out);

/* The steps of the view alone.  The trace stays as it is; tl_linked_free ends *out. */
void tl_link_steps(const tl_trace *trace, tl_linked *out);

/* ----------------------------------------------------------------------------------------------------- a part of it */

/* Which part of a trace is looked at: what the host began in these steps and in this time, and what devices did for
 * that.  An empty set selects everything. */
typedef struct tl_selection {
    const tl_ranges *steps; /* numbers of steps */
    const tl_ranges *times; /* ns since origin_ns */
    int64_t origin_ns;
} tl_selection;

/* What a selection found, summed over traces.  Zero-initialise; tl_found_free ends it. */
typedef struct tl_found {
    uint64_t events, selected;
    int64_t first_ns, last_ns; /* starts of events, where there are any */
    tl_ranges steps;           /* numbers of all steps */
    tl_ranges taken;           /* steps asked for with a part that is selected, if steps are asked for */
    tl_ranges times;           /* one instant in each span of time asked for that has something in it */
} tl_found;

void tl_found_add(tl_found *sum, const tl_found *more);
void tl_found_free(tl_found *found);

/* As tl_link, of the selected alone; NULL: of everything.  Adds to *found what there was. */
void tl_link_selected(tl_trace *trace, const tl_rules *rules, int32_t rank, const tl_selection *selection,
                      tl_linked *out, tl_found *found);

/* ------------------------------------------------------------------------------------------------------- ends of it */

/* Takes what the host did out of the view and frees it. */
void tl_linked_free_host(tl_linked *linked);

void tl_linked_free(tl_linked *linked);

#endif
