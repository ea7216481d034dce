/* cli.h - the parsed command line: the command, its options and its words.
 *
 *     tlmpi [run] [options] PATH...
 *     tlmpi show [options] FILE.h5 [TABLE]
 *
 * The first word that is not an option is the command, if it is the name of one; else the command is run.  A folder
 * called "show" is written ./show.  Options may stand anywhere, "-" alone is a word, "--" ends the options.
 */
#ifndef TLMPI_APP_CLI_H
#define TLMPI_APP_CLI_H

#include "tlmpi/base/part_file.h"
#include "tlmpi/base/ranges.h"
#include "tlmpi/base/status.h"
#include "tlmpi/compat/hta/hta.h"
#include "tlmpi/job/call/options.h"
#include "tlmpi/report/diff.h"
#include "tlmpi/report/format/print.h"
#include <stdio.h>

typedef struct tl_cli tl_cli;

typedef TL_VEC(const char *) tl_texts; /* texts borrowed from argv, array owned */

/* Commands as bits, which tell the commands that have an option. */
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
    const char *words;          /* words after the name, for --help */
    const char *title;          /* one line; the manual has a paragraph */
    bool together;              /* every proc takes part; else proc 0 alone, and the others wait */
    int (*act)(const tl_cli *); /* returns the exit status (job/run.h); NULL: see `job` */
    int (*job)(const tl_options *);
} tl_command;

/* --top: the first `rows` rows, or the first rows that hold `share` of the time. */
typedef struct tl_top_wanted {
    int64_t rows;
    double share;
} tl_top_wanted;

struct tl_cli {
    const tl_command *command;
    bool named;         /* a word of the command line named it */
    const char **words; /* words after the command's name, borrowed from argv; array owned */
    size_t nwords;
    bool help, version;
    const char **given; /* by option: its text; NULL: the default.  Array owned */

    tl_options run;              /* options of run and check; output, force and digest serve other commands, too */
    int format;                  /* show: tl_format */
    int unit;                    /* show: tl_unit_choice; -1: auto on a terminal, else ns */
    tl_top_wanted top;           /* show: 0 and 0: all */
    int64_t width;               /* show: characters of a text in a table; 0: all, -1: fit to a terminal */
    tl_ranges ranks, steps;      /* show */
    tl_texts where;              /* show: conditions */
    const char *columns, *sort;  /* show; NULL: the table's own */
    bool ns, include_last_step;  /* compat hta */
    tl_hta_parameters hta;       /* compat hta */
    int compat_run;              /* compat: as run.run; TL_ALL_RUNS: as the other tool does */
    const char *rep;             /* reps; NULL: none */
    regex_t *exclude;            /* likewise */
    int64_t skip;                /* reps */
    bool each, kernels, compare; /* reps: the table to print */
    tl_gates diff_fail_on;       /* diff */
    int diff_run[2];             /* diff: of A and of B, as run.run */
    bool perfetto;               /* export: the only format; run: also write the slice */
    bool fuse;                   /* export: all of the traces */
    const char *kinds;           /* export; NULL: all */
    int64_t min_us;              /* export: least length of a slice */
    bool html;                   /* run: also write the page */
    tl_texts scale, overlap;     /* whatif */
    bool remove_sync, no_launch_overhead; /* whatif */
    int64_t whatif_top;                   /* whatif: number of rows; 0: not given */
    int64_t gpus_per_node;                /* compat tracelens; 0: unknown */
    char *command_line, *settings;        /* owned; run borrows them */
};

/* Returns the *n commands. */
const tl_command *tl_commands(size_t *n);

/* Parses argv.  On success *cli borrows from argv; tl_cli_free ends it in any case.  TL_EUSAGE: no such option, a value
 * is missing or wrong, or a word must be a mistyped command.  Prints nothing. */
tl_status tl_cli_parse(tl_cli *cli, int argc, char **argv, tl_error *err);
void tl_cli_free(tl_cli *cli);

/* Prints the help of the command, or of the whole program if no command was given. */
void tl_cli_help(FILE *out, const tl_cli *cli);

/* Proc 0: prints the error on stderr.  Returns its exit status. */
int tl_cli_complain(const tl_cli *cli, const tl_error *err);

/* Returns whether the path ends as those of result files do. */
bool tl_is_result(const char *path);

/* Returns how tables are printed to `out`; programs, which read other formats, get one unit. */
tl_printer tl_cli_printer(const tl_cli *cli, FILE *out);

/* Commands that are not in the layer job. */
int tl_show(const tl_cli *cli);
int tl_ask(const tl_cli *cli);
int tl_html_page(const tl_cli *cli);
int tl_export(const tl_cli *cli);
int tl_diff_command(const tl_cli *cli);   /* all procs */
int tl_whatif_command(const tl_cli *cli); /* all procs */
int tl_describe(const tl_cli *cli);
int tl_compat(const tl_cli *cli);

/* -------------------------------------------------------------------------------------------- words that were meant */

/* Returns the name nearest to the word, the first one of ties, if it is near enough to be meant; else NULL.  names: the
 * first of n names, of which one stands each `stride` bytes; NULL names are skipped. */
const char *tl_suggest(const char *word, const char *const *names, size_t stride, size_t n);

/* TL_EUSAGE: "there is no WHAT 'word' in PLACE; did you mean ...? It has: ...". */
tl_status tl_fail_unknown(tl_error *err, const char *what, const char *word, const char *place,
                          const char *const *names, size_t stride, size_t n);

/* ----------------------------------------------------------------------------------------------------------- output */

/* The output of a command: stdout, or a file that gets its name once it is complete. */
typedef struct tl_outfile {
    FILE *out;
    const char *path;  /* NULL: stdout */
    tl_part_file part; /* the file until it is complete; unused if `path` is no regular file */
} tl_outfile;

/* Opens the output; path NULL or "-": stdout.  TL_EOUTPUT: the file cannot be created, or exists and force is not set;
 * TL_EUSAGE: it is the file `input`. */
tl_status tl_outfile_open(tl_outfile *file, const char *input, const char *path, bool force, tl_error *err);

/* Ends the output: with TL_OK the file gets its name, else it is removed.  Returns st, or an error of the last writes;
 * errors on stdout are reported at the end of the program. */
tl_status tl_outfile_close(tl_outfile *file, tl_status st, tl_error *err);

/* ----------------------------------------------------------------------------------------------------------- manual */

/* A section of the manual (manual.txt), which begins with a line "# KIND NAME" or "# KIND NAME: TITLE".
 *
 *     page      a page of tlmpi describe, with a title
 *     table     what the columns of a table leave to be said
 *     empty     why a table has no rows, or is not in a file, where not every trace has what it is of
 *     command   what a command does
 *     term      the meaning of a word in sentences that is no word of a table
 *     foot      what stands below all pages of tlmpi describe
 *
 * Each line is a paragraph: one with a tab is a term and its meaning, one that begins with spaces is indented.  A
 * section without lines has those of the section after it. */
typedef struct tl_manual_section {
    char name[64];
    const char *title;
    const char *const *lines; /* up to a line that begins with '#' */
    const char *const *after; /* private */
} tl_manual_section;

/* Moves to the next section of that kind, from a zeroed one to the first; returns false if there is none. */
bool tl_manual_next(tl_manual_section *section, const char *kind);

/* Returns the lines of a section; NULL: there is none. */
const char *const *tl_manual_find(const char *kind, const char *name);

/* ---------------------------------------------------------------------------------------------------------- options */

/* The options, each defined once: parsing, --help and the settings that a result file records come from one table. */

/* Returns whether the argument holds options: it begins with '-' and is longer than that. */
bool tl_is_option(const char *arg);

/* Sets every option of the command to its default. */
tl_status tl_options_default(tl_cli *cli, tl_error *err);

/* Reads the option in argv[*at], and its value in the next argument if it takes one, for the commands in `bits`; moves
 * *at to the last argument that was read.  cli NULL: only skips them.  TL_EUSAGE. */
tl_status tl_option_read(tl_cli *cli, unsigned bits, int argc, char **argv, int *at, tl_error *err);

/* Returns TL_EUSAGE if an option is given that is for the tables of a tool other than `face` (TL_FOR_HTA, ...). */
tl_status tl_options_check_face(const tl_cli *cli, unsigned face, tl_error *err);

/* Prints the lines of --help for the options of these commands. */
void tl_options_help(FILE *out, unsigned bits);

/* Returns the options of the command with their values as given, one "name=value" per line, switches as 0 or 1; with
 * --reproducible only options that decide the content of tables, and "given" instead of paths.  The caller frees the
 * text. */
char *tl_options_record(const tl_cli *cli, unsigned bits);

/* Sets the options of these commands that decide the content of tables, unless given, to their values in `record`, a
 * text of tl_options_record.  Writes into record, which *cli borrows. */
tl_status tl_options_restore(tl_cli *cli, unsigned bits, char *record, tl_error *err);

typedef struct tl_option_type tl_option_type;

/* The text given to an option. */
typedef struct tl_option_given {
    const tl_option_type *type;
    const char *option, *text;
    tl_error *err;
} tl_option_given;

struct tl_option_type {
    tl_status (*store)(const tl_option_given *text, void *at); /* writes the value; TL_EUSAGE: no such value */
    const char *takes;                                         /* the expected values, for messages */

    const char *const *words; /* of a choice, NULL-terminated: word i is `first` + i; of a switch: two words */
    int first;
    bool numbers;                                          /* of a choice: also accepts a number above 0 */
    enum { TL_NUMBERS, TL_NUMBERS_FROM_0, TL_TIMES } list; /* of a list of ranges */
    const tl_threshold *thresholds;                        /* of a list of thresholds */
    const tl_gate_names *gates;                            /* of a list of gates */
};

extern const tl_option_type tl_option_gates, tl_option_diff_gates, tl_option_switch, tl_option_text, tl_option_texts,
    tl_option_pattern, tl_option_count, tl_option_size, tl_option_top, tl_option_width, tl_option_run,
    tl_option_compat_run, tl_option_two_runs, tl_option_format, tl_option_unit, tl_option_parser, tl_option_idle,
    tl_option_launch, tl_option_peak, tl_option_clock, tl_option_share, tl_option_quantile, tl_option_ranges,
    tl_option_ranges_from_0, tl_option_times;

#endif
