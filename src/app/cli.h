/* cli.h - the command line, read: which command, with which options, on which words.
 *
 *     tlmpi [run] [options] PATH...
 *     tlmpi show [options] FILE.h5 [TABLE]
 *
 * The first word that is no option names the command, where it is one of the table's names; else the command is run.  A
 * folder called "show" is written ./show.  Options may stand anywhere, "-" alone is a word, "--" ends the options.
 */
#ifndef TLMPI_APP_CLI_H
#define TLMPI_APP_CLI_H

#include "tlmpi/base/part_file.h"
#include "tlmpi/base/ranges.h"
#include "tlmpi/base/status.h"
#include "tlmpi/compat/hta/hta.h"
#include "tlmpi/job/call/options.h"
#include "tlmpi/report/diff.h"
#include <stdio.h>

typedef struct tl_cli tl_cli;

typedef TL_VEC(const char *) tl_texts; /* of argv, the array is ours */

/* Commands as bits: an option says with which of them it goes. */
enum {
    TL_FOR_RUN = 1,
    TL_FOR_CHECK = 2,
    TL_FOR_SHOW = 4,
    TL_FOR_DESCRIBE = 8,
    TL_FOR_COMPAT = 16,
    TL_FOR_AUGMENT = 32,
    TL_FOR_ASK = 64,
    TL_FOR_REPS = 128,
    TL_FOR_HTML = 256,
    TL_FOR_DIFF = 512,
    TL_FOR_WHATIF = 1024,
    TL_FOR_EXPORT = 2048,
    TL_FOR_ALL = 4095,
    /* beside TL_FOR_COMPAT: the tools whose tables an option is for */
    TL_FOR_HTA = 4096,
    TL_FOR_HTA_DIFF = 8192,
    TL_FOR_TRACELENS = 16384,
    TL_FACES = 28672
};

enum { TL_ALL_RUNS = -2 };

typedef struct tl_command {
    const char *name;
    unsigned bit;
    const char *words;              /* what follows the name, for --help */
    const char *title;              /* a line */
    const char *doc;                /* a paragraph */
    bool together;                  /* every proc works; else the first alone, and the others wait */
    int (*act)(const tl_cli *);     /* returns the exit status (job/run.h); NULL: `job` does */
    int (*job)(const tl_options *);
} tl_command;

/* --top: the first `rows` rows, or the first rows that hold `share` of the time. */
typedef struct tl_top_wanted {
    int64_t rows;
    double share;
} tl_top_wanted;

struct tl_cli {
    const tl_command *command;
    bool named;                     /* a word of the command line named it */
    const char **words;             /* after the command's name; of argv, the array is ours */
    size_t nwords;
    bool help, version;
    const char **given;             /* by option its text; NULL: the default.  The array is ours */

    tl_options run;                 /* what run and check take; output, force, digest serve others too */
    int format;                     /* show: tl_format */
    int unit;                       /* show: tl_unit_choice; -1: auto on a terminal, else ns */
    tl_top_wanted top;              /* show: 0 and 0 for all */
    int64_t width;                  /* show: characters of a text in a table; 0 for all, -1 to fit a terminal */
    tl_ranges ranks, steps;         /* show */
    tl_texts where;                 /* show: conditions */
    const char *columns, *sort;     /* show; NULL for the table's own */
    bool ns, include_last_step;     /* compat hta */
    tl_hta_parameters hta;          /* compat hta */
    int compat_run;                 /* compat: as run.run; TL_ALL_RUNS: what the other tool does of itself */
    const char *rep, *exclude;      /* reps; NULL: none */
    int64_t skip;                   /* reps */
    bool each, kernels, compare;    /* reps: which table */
    tl_gates diff_fail_on;          /* diff */
    bool perfetto;                  /* export: the only format */
    bool html;                      /* run: the page, too */
    tl_texts scale, overlap;        /* whatif */
    bool remove_sync, no_launch_overhead; /* whatif */
    int64_t whatif_top;             /* whatif: rows; 0: not asked for */
    int64_t gpus_per_node;          /* compat tracelens; 0: unknown */
    char *command_line, *settings;  /* owned; run points to them */
};

/* The commands, and how many there are. */
const tl_command *tl_commands(size_t *n);

/* Reads argv.  On success *cli borrows from argv; tl_cli_free ends it in any case.  TL_EUSAGE: no such option, a value
 * is missing or wrong, a word that must be a mistyped command.  Says and ends nothing. */
tl_status tl_cli_parse(tl_cli *cli, int argc, char **argv, tl_error *err);
void tl_cli_free(tl_cli *cli);

/* The help of the command, or of the whole program where no command was named. */
void tl_cli_help(FILE *out, const tl_cli *cli);

/* Says on stderr what went wrong; returns the exit status that goes with it. */
int tl_cli_complain(const tl_cli *cli, const tl_error *err);

/* Whether a path is called as result files are. */
bool tl_is_result(const char *path);

/* How tables are printed there: the tl_unit_choice, and characters of a text, 0 for all. */
int tl_show_unit(const tl_cli *cli, FILE *out);
size_t tl_show_width(const tl_cli *cli, FILE *out);

/* The commands that are not of the job layer. */
int tl_show(const tl_cli *cli);
int tl_ask(const tl_cli *cli);
int tl_html_page(const tl_cli *cli);
int tl_export(const tl_cli *cli);
int tl_diff_command(const tl_cli *cli);   /* all procs */
int tl_whatif_command(const tl_cli *cli); /* all procs */
int tl_describe(const tl_cli *cli);
int tl_compat(const tl_cli *cli);

/* -------------------------------------------------------------------------------------------- words that were meant */

/* Returns the candidate nearest to the word, of equals the first, if it is near enough to be meant; else NULL.  NULL
 * candidates are passed over. */
const char *tl_suggest(const char *word, const char *const *candidates, size_t n);

/* TL_EUSAGE: "there is no WHAT 'word' in PLACE; did you mean ...? It has: ...". */
tl_status tl_fail_unknown(tl_error *err, const char *what, const char *word, const char *place,
                          const char *const *candidates, size_t n);

/* ----------------------------------------------------------------------------------------------------------- output */

/* Where a command prints: the terminal, or a file that gets its name when all of it is written. */
typedef struct tl_outfile {
    FILE *out;
    const char *path;           /* NULL: stdout */
    tl_part_file part;          /* the file until it is whole; begun where `path` is not written itself (a pipe, a device) */
} tl_outfile;

/* path NULL or "-" is stdout.  TL_EOUTPUT: it cannot be made, or is there and force is not set; TL_EUSAGE: it is the
 * file `input`. */
tl_status tl_outfile_open(tl_outfile *file, const char *input, const char *path, bool force, tl_error *err);

/* Ends it: with TL_OK the file gets its name, else it is removed.  Returns st, or what went wrong now.  What fails on
 * stdout is left for the end of the program to say. */
tl_status tl_outfile_close(tl_outfile *file, tl_status st, tl_error *err);

/* ----------------------------------------------------------------------------------------------------------- manual */

/* A page of tlmpi describe, beside those of tables.  Each line is a paragraph; one with a tab is a term and its
 * meaning. */
typedef struct tl_manual_page {
    const char *name, *title;
    const char *const *lines; /* NULL-terminated */
} tl_manual_page;

/* What a result file holds beside tables: *n pages. */
const tl_manual_page *tl_manual_pages(size_t *n);

/* What the columns of a table leave to be said, NULL-terminated; NULL: nothing. */
const char *const *tl_manual_notes(const char *table);

/* Why a table of that name has no rows, or is not in a file, where not every trace has what it is of; NULL: for none of
 * these reasons. */
const char *tl_why_empty(const char *table);

#endif
