/* classify.h - kernel name -> what the device was doing.
 *
 * One ordered table; the first rule that matches wins, so the specific stands above the general.  A user's rules
 * (--rules FILE) stand above all of ours.  Each of ours carries a name that it, and no rule above it, must catch:
 * the test walks the table.
 */
#ifndef TLMPI_TRACE_VIEW_CLASSIFY_H
#define TLMPI_TRACE_VIEW_CLASSIFY_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/kind.h"

typedef enum tl_match { TL_MATCH_CONTAINS, TL_MATCH_STARTS, TL_MATCH_EQUALS } tl_match;

typedef struct tl_rule {
    const char *needle;             /* case counts */
    tl_match match;
    uint8_t kind;                   /* tl_kind: compute, comm, memcpy, memset */
    uint8_t collective;             /* tl_collective, for comm */
    const char *seen;               /* a name it must catch; NULL in a user's rule */
} tl_rule;

/* Ours, ended by a rule with needle NULL. */
extern const tl_rule tl_default_rules[];

/* A user's rules and then ours.  Zero-initialised it holds ours alone; tl_rules_free ends it. */
typedef struct tl_rules {
    TL_VEC(tl_rule) user;           /* needles are owned */
} tl_rules;

/* Reads a rules file: a JSON array (comments allowed) of objects, with one pattern, a kind, and where that is comm perhaps a
 * collective:
 *     { "contains" | "starts" | "equals": TEXT, "kind": "compute" | "comm" | "memcpy" | "memset", "collective": "all_reduce" ... }
 * TL_EUSAGE: cannot be read, says something else, or has a rule that an earlier one hides; the message names file, line and
 * what was expected. */
tl_status tl_rules_read(const char *path, tl_rules *rules, tl_error *err);
void tl_rules_free(tl_rules *rules);

/* The rule for a kernel's name, NULL when none matches: it is counted as compute, and as unclassified. */
const tl_rule *tl_classify(const tl_rules *rules, tl_text name);

/* The collective that an args["Collective name"] or an annotation "nccl:..." names; TL_COLL_UNKNOWN for others. */
tl_collective tl_collective_of(tl_text name);

#endif
