/* opened.h - a result file, opened for what is told of it: as text, as a page, or as a trace. */
#ifndef TLMPI_APP_OPENED_H
#define TLMPI_APP_OPENED_H

#include "cli.h"
#include "tlmpi/report/html.h"
#include "tlmpi/store/result.h"

enum { TL_OPENED_TEXTS = 6 };

/* An open result, and the tables that the answers are read from. */
typedef struct tl_opened {
    const char *named; /* the result in messages */
    tl_result *result;
    tl_tables tables;
    tl_answers answers;
    char *texts[TL_OPENED_TEXTS]; /* attributes; NULL: not in the file */
    void *arg;
} tl_opened;

/* A command's use of a result: prints to `out`. */
typedef tl_status tl_put_answers(tl_opened *opened, const tl_cli *cli, FILE *out, tl_error *err);

typedef struct tl_answer_how {
    const char *path;   /* of the result */
    const char *named;  /* the result in messages; "a/traces.h5" gives the output its name */
    const char *ending; /* of the output beside that; NULL: stdout, unless -o names a file */
    tl_put_answers *put;
    void *arg; /* for put */
} tl_answer_how;

/* Proc 0: loads the result, and prints to the output asked for, else to the file beside the result, or stdout.  Returns
 * the exit status. */
int tl_opened_answer(const tl_cli *cli, const tl_answer_how *how);

/* Returns the path of the output without -o.  The caller frees the path. */
char *tl_path_beside(const char *result, const char *ending);

/* Returns st; if that is a failure, *err is *why with the name of the result before it. */
tl_status tl_opened_tell(const tl_opened *opened, tl_status st, const tl_error *why, tl_error *err);

/* Returns what pictures are made of. */
tl_html_input tl_opened_input(tl_opened *opened);

#endif
