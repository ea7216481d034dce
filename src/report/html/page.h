/* page.h - what the parts of a page share.
 *
 * A section is a function that draws it and a line in TL_SECTIONS; a section that draws nothing is left out.
 * Sections read tables that are loaded whole (tl_page_table), or row by row (tl_page_each).
 */
#ifndef TLMPI_REPORT_HTML_PAGE_H
#define TLMPI_REPORT_HTML_PAGE_H

#include "draw.h"
#include "heat.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/report/html.h"
#include "tlmpi/report/html/strip.h"

typedef struct tl_page {
    FILE *out;
    const tl_html_input *in;
    const tl_answers *answers;
    char file[1000];       /* the result's path, quoted for a shell */
    const tl_table *hosts; /* table rank, if the traces name two or more hosts; else NULL */
    tl_strip strip;        /* of the worst step */
    TL_VEC(tl_idle_summary)
    idle;             /* rows over the whole recording: causes (place 0), and classes over all ranks (rank -1) */
    tl_status status; /* of reading tables */
    tl_error *err;    /* what failed */
    tl_wrap say;      /* see tl_page_say */
    char *said;
    size_t nsaid;
} tl_page;

/* Begin a page, up to its heading, and end it.  file: the result's path. */
void tl_put_page_head(FILE *out, const char *name);
void tl_put_page_foot(FILE *out, const char *file);

/* Returns where to say sentences of the answers; tl_page_said writes them, escaped.  before, after: markup. */
tl_wrap *tl_page_say(tl_page *page, const char *before);
void tl_page_said(tl_page *page, const char *after);

/* Writes one such sentence; format as in tl_say. */
void tl_page_sentence(tl_page *page, const char *before, const char *after, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Writes each line of a text as element `plain`, or `indented` if it begins with a space; either may have attributes.
 * Ends the memory file (tl_memory_file) of the text, and frees the text. */
void tl_put_lines(FILE *out, FILE *memory, char **text, const char *plain, const char *indented);

/* Returns whether the verdict names the rank as a culprit, alone or with others; a link names no rank. */
bool tl_page_names(const tl_page *page, int32_t rank);

/* Returns the table of the result; NULL if it has no rows. */
const tl_table *tl_page_table(const tl_page *page, const tl_schema *schema);

/* Hands each row of a table of the result to `take`. */
void tl_page_each(tl_page *page, const tl_schema *schema, tl_html_take *take, void *arg);

/* The sections in the order of the page: id, title, table whose command is shown, further tables, and whether the
 * section is folded (folded sections are not printed).  tl_draw_ID draws a section; the first has no title. */
#define TL_SECTIONS(S)                                                                                                 \
    S(verdict, NULL, NULL, NULL, false)                                                                                \
    S(strip, "The worst step", "interval", ", arrival, collective, gap", false)                                        \
    S(time, "Where the time goes", "breakdown", ", idle_summary", false)                                               \
    S(matrix, "Who waits for whom", "blame", "", false)                                                                \
    S(excess, "Who works longer than its peers, and when", "blame_step", ", culprit", false)                           \
    S(steps, "Step by step", "blame_step", "", false)                                                                  \
    S(gains, "What the job would gain", "whatif", ", culprit", false)                                                  \
    S(phases, "Who takes longer in a phase, and when", "phase_step", ", phase_verdict, phase", false)                  \
    S(waits, "Who is waited for, and when", "blame_step", ", blame", true)                                             \
    S(arrivals, "Who comes late to collectives", "arrival", "", true)                                                  \
    S(kernels, "Device work that takes most time", "kernel_ranks", "", true)                                           \
    S(operators, "Operators that launch most of it", "operator_ranks", "", true)                                       \
    S(idle, "Why devices are idle", "idle_summary", "", true)                                                          \
    S(recording, "The recording", "rank", ", health", true)                                                            \
    S(clocks, "The clocks", "clock", "", true)                                                                         \
    S(glossary, "Words of this page", NULL, NULL, true)                                                                \
    S(made, "How this was made", NULL, NULL, true)

#define TL_SECTION_DRAWN(id, title, table, others, folded) void tl_draw_##id(tl_page *page);
TL_SECTIONS(TL_SECTION_DRAWN)

#endif
