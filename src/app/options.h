/* options.h - the options, each written once: parsing, --help and the settings that a result file records come from one
 * table. */
#ifndef TLMPI_APP_OPTIONS_H
#define TLMPI_APP_OPTIONS_H

#include "cli.h"

typedef struct tl_option tl_option;

/* Whether argv[i] is an option or options, not a word: it begins with '-' and is more than that. */
bool tl_is_option(const char *arg);

/* Sets every option of the command to its default. */
tl_status tl_options_default(tl_cli *cli, tl_error *err);

/* Reads the option in argv[*at], and the word after it where the option takes one, for the commands in `bits`; *at is
 * then the last argument that was read.  With cli == NULL it only steps over them.  TL_EUSAGE. */
tl_status tl_option_read(tl_cli *cli, unsigned bits, int argc, char **argv, int *at, tl_error *err);

/* The lines of --help on the options of these commands. */
void tl_options_help(FILE *out, unsigned bits);

/* The options of the command with their values, "name=value" a line, switches as 0 or 1; with --reproducible only those
 * that decide what is in the tables, and of files that they are given.  The caller frees it. */
char *tl_options_record(const tl_cli *cli, unsigned bits);

#endif
