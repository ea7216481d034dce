/* opened.h - a result file, opened for what is told of it: as text, as a page, or as a trace; the result of traces, for
 * as long as a command runs; and the traces that a result was made of. */
#ifndef TLMPI_APP_OPENED_H
#define TLMPI_APP_OPENED_H

#include "cli.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/job/run.h"
#include "tlmpi/report/html.h"
#include "tlmpi/store/result.h"

/* Attributes of a result. */
#define TL_OPENED_LIST(A)                                                                                              \
    A(selection)                                                                                                       \
    A(selection_notes) A(run) A(inputs) A(settings) A(command_line) A(history) A(hostname) A(creator_version)
#define TL_OPENED_TEXT(name) TL_OPENED_##name,
enum { TL_OPENED_LIST(TL_OPENED_TEXT) TL_OPENED_TEXTS };

/* An open result, some tables of it, and the answers that were read from them. */
typedef struct tl_opened {
    const char *named; /* the result in messages */
    tl_result *result;
    tl_tables tables;
    tl_answers answers;
    char *texts[TL_OPENED_TEXTS]; /* NULL: not in the file */
    void *arg;
} tl_opened;

/* Opens the result at `path`, and loads the attributes and the n tables; the file has the first `required` of them.
 * tl_opened_free ends *opened, zeroed or given to tl_opened_load. */
tl_status tl_opened_load(tl_opened *opened, const char *named, const char *path, const tl_schema *const *schemas,
                         size_t n, size_t required, tl_error *err);
void tl_opened_free(tl_opened *opened);

/* Returns the text of a NAME cell of the tl_opened. */
tl_text tl_opened_name(void *opened, uint32_t id);

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

/* Results of traces, in a temporary folder.  Zero-initialise; tl_passing_end ends it. */
typedef struct tl_passing {
    char folder[256];
    char path[2][300]; /* of the results; empty: none */
} tl_passing;

/* All procs: makes the folder. */
tl_status tl_passing_begin(tl_passing *passing, tl_error *err);

/* All procs: analyses the traces; result `number` (0 or 1) is theirs.  Returns the exit status. */
int tl_passing_add(tl_passing *passing, int number, const tl_cli *cli, const char *const *traces, size_t ntraces);

/* All procs: removes the results and the folder. */
void tl_passing_end(const tl_passing *passing);

/* What a result says of its making.  Zero-initialise; tl_made_of_free ends it. */
typedef struct tl_made_of {
    tl_texts paths;
    tl_bytes text;          /* owns the paths and the settings */
    tl_whatif_origin whole; /* its rows of table rank are borrowed from: */
    tl_opened opened;       /* on proc 0 */
} tl_made_of;

/* All procs: sets the paths and options of the result, the only word of *cli, in cli->run, which borrows them.  Options
 * that are given stay. */
tl_status tl_made_of_read(tl_cli *cli, tl_made_of *made_of, tl_error *err);

/* own: the options in use; given: those of the command line, which stay. */
void tl_made_of_free(tl_made_of *made_of, tl_options *own, const tl_options *given);

#endif
