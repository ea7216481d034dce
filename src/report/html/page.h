/* page.h - what the parts of a page share.
 *
 * A part is a function that writes its section, and a line in the list of page.c.
 */
#ifndef TLMPI_REPORT_HTML_PAGE_H
#define TLMPI_REPORT_HTML_PAGE_H

#include "heat.h"
#include "timed.h"
#include "tlmpi/report/format/wrap.h"
#include "tlmpi/report/html.h"

struct tl_html {
    tl_html_input in;
    tl_timed timed; /* what tables phase and phase_step say */
};

typedef struct tl_page {
    FILE *out;
    const tl_html *html;
    const char *file; /* as a word for a shell */
    bool failed;      /* memory is out */
} tl_page;

/* A sentence that others put together, as text of the page:
 *
 *     tl_sentence s;
 *     tl_say_something(tl_sentence_begin(&s), ...);
 *     tl_sentence_end(&s, page);
 */
typedef struct tl_sentence {
    tl_wrap wrap;
    char *text;
    size_t n;
} tl_sentence;
tl_wrap *tl_sentence_begin(tl_sentence *sentence);
void tl_sentence_end(tl_sentence *sentence, tl_page *page);

/* Table rank, where a trace names any host; else NULL. */
const tl_table *tl_page_hosts(const tl_page *page);

/* Puts "tlmpi show FILE TABLE"; and a sentence that says which tables have a picture's numbers (another may be NULL).
 */
void tl_put_command(tl_page *page, const char *table);
void tl_put_source(tl_page *page, const char *table, const char *another);

/* The worst ranks of a picture, kept ranks first, each with its numbers and a line of words.  NULL: no words. */
typedef struct tl_worst {
    const tl_picture *picture;
    const bool *keep;         /* by rank */
    const char *part, *whole; /* heads: "longer by", "peers take" */
    void (*note)(tl_page *page, const void *arg, int32_t rank);
    const void *arg;
    const char *note_head;
} tl_worst;
void tl_put_worst(tl_page *page, const tl_worst *worst);

/* The style sheet. */
extern const char tl_html_style[];

/* ---- the parts ---- */

void tl_part_verdict(tl_page *page);
void tl_part_blame(tl_page *page);
void tl_part_phases(tl_page *page);

#endif
