/* options.h - the options, each defined once: parsing, --help and the settings that a result file records come from one
 * table; and the types of their values. */
#ifndef TLMPI_APP_OPTIONS_H
#define TLMPI_APP_OPTIONS_H

#include "cli.h"

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

/* ----------------------------------------------------------------------------------------------------------- types */

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
    tl_option_count, tl_option_size, tl_option_top, tl_option_width, tl_option_run, tl_option_compat_run,
    tl_option_format, tl_option_unit, tl_option_parser, tl_option_idle, tl_option_launch, tl_option_peak,
    tl_option_clock, tl_option_share, tl_option_quantile, tl_option_ranges, tl_option_ranges_from_0, tl_option_times;

#endif
