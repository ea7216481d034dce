/* notes.c - notes after the verdict: memory timelines, execution traces, unclassified kernels, and missing or
 * unreliable data.
 *
 *     Memory of rank 3: at most 3.1 GB, of it activation 2.7 GB, parameter 0.1 GB (table memory_category)
 *     Execution traces: 4,310 of 4,321 nodes linked to operators; 1 trace not linked (table side_file)
 *     Taken for communication, as they end together on all ranks: my_exchange (21.0 %) - --rules FILE can say so.
 *     12.3 % of kernel time is of kernels that no rule names, and counts as compute: my_dispatch (9.1 %), fused_x
 *       (2.0 %), ... - if one communicates, --rules FILE can say so (table kernel_ranks, unclassified)
 */
#include "parts.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Categories and kernels that are named before the rest is counted; bytes shown of a kernel's name; the share of kernel
 * time from which unclassified kernels are mentioned. */
enum { NAMED_CATEGORIES = 2, NAMED_KERNELS = 3, NAME_BYTES = 40, LEAST_PCT = 1 };

/* ---------------------------------------------------------------------------------------------------------- memory */

/* Rows of one file are consecutive; the last is over all categories. */
void tl_say_memory(FILE *out, const tl_summary *s)
{
    const tl_memory_category *all = NULL, *most[NAMED_CATEGORIES] = { NULL };
    TL_ROWS (const tl_memory_category, row, s->memory)
        if (strcmp(tl_memory_category_labels[row->category], "total") == 0 &&
            (all == NULL || row->peak_bytes > all->peak_bytes))
            all = row;
    if (all == NULL)
        return;
    TL_ROWS (const tl_memory_category, row, s->memory) {
        if (row->file != all->file || row == all || row->at_peak_bytes <= 0)
            continue;
        if (most[0] == NULL || row->at_peak_bytes > most[0]->at_peak_bytes) {
            most[1] = most[0];
            most[0] = row;
        } else if (most[1] == NULL || row->at_peak_bytes > most[1]->at_peak_bytes) {
            most[1] = row;
        }
    }
    tl_wrap w = { .out = out, .indent = 2 };
    tl_say(&w, "Memory");
    if (all->rank >= 0)
        tl_say(&w, "of~rank~%" PRId32 ":", all->rank);
    tl_say(&w, "at most %s", tl_bytes_in_words(all->peak_bytes).text);
    for (size_t i = 0; i < NAMED_CATEGORIES && most[i] != NULL; i++)
        tl_say(&w, "%s %s~%s", i == 0 ? "- of it" : "and", tl_memory_category_labels[most[i]->category],
               tl_bytes_in_words(most[i]->at_peak_bytes).text);
    tl_say(&w, "(table memory_category)");
    tl_wrap_end(&w);
}

/* ------------------------------------------------------------------------------------------------ execution traces */

/* Tables side_file and execution_node hold the reasons why traces and nodes are not linked. */
void tl_say_executions(FILE *out, const tl_summary *s)
{
    int64_t linked = 0, nodes = 0, traces = 0, alone = 0;
    TL_ROWS (const tl_side_file, f, s->side_files) {
        const bool links = f->linked_by == TL_EXECUTION_BY_RECORD || f->linked_by == TL_EXECUTION_BY_EXTERNAL;
        traces += f->kind == TL_SIDE_EXECUTION;
        alone += f->kind == TL_SIDE_EXECUTION && !links;
        linked += f->linked;
        nodes += links ? f->entries - f->frames : 0;
    }
    const tl_phrase unlinked = alone > 0
                                   ? tl_phrase_of("; %s trace%s not linked", tl_grouped(alone).text, tl_plural(alone))
                                   : (tl_phrase){ "" };
    if (traces > 0)
        tl_print_sentence(out, "Execution traces: %s~of~%s~node%s linked to operators%s (table side_file)",
                          tl_grouped(linked).text, tl_grouped(nodes).text, tl_plural(nodes), unlinked.text);
}

/* ---------------------------------------------------------------------------------------- kernels that no rule names
 */

/* Patterns in the names of communication kernels; the second also occurs in names of arithmetic, and counts only if
 * there are other ranks. */
#define WORD(words) "(^|[^[:alpha:]])(" words ")([^[:alpha:]]|$)"
static const char signs[] =
    "all_?reduce|all_?gather|all_?to_?all|all2all|reduce_?scatter|sendrecv|shmem|ccl|multimem|nvlink|" WORD(
        "a2a|dispatch|send|recv|put|comm|p2p|peer|rdma|halo");
static const char signs_among_ranks[] = "exchange|" WORD("ring|gather|scatter|push|pull|broadcast|bcast|remote");

static bool has_sign(const char *name, const char *of)
{
    regex_t pattern;
    if (regcomp(&pattern, of, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0)
        return false;
    const bool found = regexec(&pattern, name, 0, NULL, 0) == 0;
    regfree(&pattern);
    return found;
}

/* Says a sentence with the names of some kernels, if any, each with its share of all_ns. */
static void say_kernels(FILE *out, const tl_summary *s, const char *head, const tl_kernel_ranks *const *v, size_t n,
                        int64_t all_ns, const char *tail)
{
    tl_wrap w = { .out = out, .indent = 2 };
    if (n == 0)
        return;
    tl_say(&w, "%s", head);
    for (size_t i = 0; i < n; i++) {
        tl_text name = tl_names_text(s->names, v[i]->name);
        char cell[NAME_BYTES + 1] = "";
        tl_cell_text(cell, NAME_BYTES, name.p, name.n);
        tl_say(&w, "%s (%.1f~%%)%s", cell, tl_percent(v[i]->total_ns, all_ns), i + 1 < n ? "," : "");
    }
    tl_say(&w, "- %s", tail);
    tl_wrap_end(&w);
}

void tl_say_unknown_kernels(FILE *out, const tl_summary *s)
{
    const tl_kernel_ranks *unknown[NAMED_KERNELS] = { NULL }, *taken[NAMED_KERNELS] = { NULL };
    size_t nunknown = 0, ntaken = 0;
    int64_t unknown_ns = 0, all_ns = 0;
    bool matters = false, among_ranks = s->ranks->n > 1 || s->world_size > 1;

    TL_ROWS (const tl_rank, rank, s->ranks) {
        unknown_ns = tl_ns_add(unknown_ns, rank->unclassified_ns);
        all_ns = tl_ns_add(all_ns, rank->kernel_ns);
    }
    TL_ROWS (const tl_kernel_ranks, k, s->kernels) {
        if (!k->unclassified || k->name == TL_NO_NAME)
            continue;
        if (k->kind == TL_COMM && ntaken < NAMED_KERNELS)
            taken[ntaken++] = k;
        if (k->kind != TL_COMPUTE || (matters && nunknown == NAMED_KERNELS))
            continue;
        const char *name = tl_names_text(s->names, k->name).p;
        const bool may = tl_percent(k->total_ns, all_ns) >= LEAST_PCT &&
                         (has_sign(name, signs) || (among_ranks && has_sign(name, signs_among_ranks)));
        if (nunknown < NAMED_KERNELS)
            unknown[nunknown++] = k;
        else if (may)
            unknown[nunknown - 1] = k; /* name a kernel that may communicate in any case */
        matters |= may;
    }
    say_kernels(out, s, "Taken for communication, as they end together on all ranks:", taken, ntaken, all_ns,
                "--rules FILE can say otherwise.");
    say_kernels(out, s,
                tl_phrase_of("%.1f %% of kernel time is of kernels that no rule names, and counts as compute:",
                             tl_percent(unknown_ns, all_ns))
                    .text,
                unknown, matters ? nunknown : 0, all_ns, "if one communicates, --rules FILE can say so.");
}

/* -------------------------------------------------------------------------------------- what is not there, or not
 * whole */

void tl_say_events(FILE *out, const tl_summary *s)
{
    int64_t dropped = 0, repaired = 0;
    TL_ROWS (const tl_rank, rank, s->ranks) {
        dropped += rank->dropped;
        repaired += rank->repaired;
    }
    if (dropped + repaired > 0)
        tl_print_sentence(out, "Events: %s~lost, %s~repaired (tlmpi check has each trace)", tl_grouped(dropped).text,
                          tl_grouped(repaired).text);
}

/* Says which ranks have no device work (unless no rank has any, which is said elsewhere), and which have work without
 * an end. */
static void say_ranks(FILE *out, const tl_summary *s)
{
    int64_t *idle = tl_calloc(s->ranks->n + 1, sizeof *idle), *odd = tl_calloc(s->ranks->n + 1, sizeof *odd);
    int64_t work = 0, ns = 0;
    size_t nidle = 0, nodd = 0;
    TL_ROWS (const tl_rank, rank, s->ranks) {
        if (rank->status == TL_RANK_NO_GPU)
            idle[nidle++] = rank->rank;
        if (rank->too_long > 0)
            odd[nodd++] = rank->rank;
        work += rank->too_long;
        ns = tl_ns_add(ns, rank->too_long > 0 ? rank->too_long_ns : 0);
    }
    if (nidle > 0 && nidle < s->ranks->n)
        tl_print_sentence(out, "No device work in the trace of %s~rank%s: %s", tl_grouped((int64_t)nidle).text,
                          tl_plural((int64_t)nidle), tl_ranks_in_words(idle, nidle, nidle, ",").text);
    if (nodd > 0)
        tl_print_sentence(
            out,
            "%s~piece%s of device work on rank%s %s cannot have run as long as the trace says, and %s, or with the "
            "recording: %s less (table rank, too_long).",
            tl_grouped(work).text, tl_plural(work), tl_plural((int64_t)nodd),
            tl_ranks_in_words(odd, nodd, nodd, ",").text,
            work == 1 ? "ends here when the next of its stream begins"
                      : "end here when the next of their streams begin",
            tl_duration(ns).text);
    free(idle);
    free(odd);
}

void tl_say_troubles(FILE *out, const tl_summary *s)
{
    const tl_table *health = s->answers->health;
    tl_phrase words;

    say_ranks(out, s);
    for (int defect = 0; health != NULL && defect < TL_NDEFECTS; defect++)
        if (tl_health_in_words(health, (tl_defect)defect, &words))
            tl_print_sentence(out, "Recording: %s", words.text);
    if (s->nmissing > 0)
        tl_print_sentence(out, "No trace of %s~rank%s: %s", tl_grouped((int64_t)s->nmissing).text,
                          tl_plural((int64_t)s->nmissing),
                          tl_ranks_in_words(s->missing, s->nmissing_listed, s->nmissing, ",").text);
}
