/* cli.c - which command runs, with which options and words. */
#include "cli.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/pattern.h"
#include "tlmpi/job/augment.h"
#include "tlmpi/job/reps.h"
#include "tlmpi/job/run.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/format/words.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool tl_is_result(const char *path)
{
    static const char *const endings[] = { ".h5", NULL };
    struct stat at;
    return tl_name_has_ending(path, endings) && !(stat(path, &at) == 0 && S_ISDIR(at.st_mode));
}

static int reps(const tl_cli *cli)
{
    const tl_reps_options options = { .rep = cli->rep,
                                      .exclude = cli->exclude,
                                      .skip = cli->skip,
                                      .shown = cli->compare   ? TL_REPS_COMPARED
                                               : cli->each    ? TL_REPS_EACH
                                               : cli->kernels ? TL_REPS_KERNELS
                                                              : TL_REPS_STATISTICS,
                                      .printer = tl_cli_printer(cli, stdout) };
    return tl_reps(&cli->run, &options);
}

/* Analyses traces, and writes the page and the slice of the result if requested and if there is a result. */
static int run(const tl_cli *cli)
{
    int code = tl_run(&cli->run);
    bool done = code == TL_EXIT_DONE || code == TL_EXIT_PARTIAL || code == TL_EXIT_FAIL_ON;
    if (!(cli->html || cli->perfetto) || !done || cli->run.run < 0 || tl_par_proc() > 0)
        return code;
    char *path = tl_output_path(&cli->run);
    const char *words[] = { path };
    tl_cli page = *cli;
    size_t n = 0;
    int written = TL_EXIT_DONE;
    page.words = words;
    page.nwords = 1;
    page.run.output = NULL;
    for (page.command = tl_commands(&n); n-- > 0 && written == TL_EXIT_DONE; page.command++)
        if ((page.command->bit == TL_FOR_HTML && cli->html) || (page.command->bit == TL_FOR_EXPORT && cli->perfetto))
            written = page.command->act(&page);
    free(path);
    return written != TL_EXIT_DONE ? written : code;
}

static const tl_command commands[] = {
    { "run", TL_FOR_RUN, "[options] PATH...", "analyse traces: write PREFIX.h5, print a summary", true, run, NULL },
    { "check", TL_FOR_CHECK, "[options] PATH...", "read everything, report what is there, analyse nothing", true, NULL,
      tl_check },
    { "show", TL_FOR_SHOW, "[options] FILE.h5 [TABLE]", "print a table of a result file, or the list of its tables",
      false, tl_show, NULL },
    { "ask", TL_FOR_ASK, "[options] FILE.h5", "who holds the job up, why, who waits, and always or for a while", false,
      tl_ask, NULL },
    { "html", TL_FOR_HTML, "[options] FILE.h5 | A B", "a page with pictures: the answers; of two runs, from A to B",
      true, tl_html_page, NULL },
    { "export", TL_FOR_EXPORT, "[options] FILE.h5 | PATH...",
      "the ranks that matter in the worst step, or all, for ui.perfetto.dev", true, tl_export, NULL },
    { "diff", TL_FOR_DIFF, "[options] A B [TABLE]", "two runs compared: is B slower, and what makes it so", true,
      tl_diff_command, NULL },
    { "describe", TL_FOR_DESCRIBE, "[TABLE|WORD...]", "the manual of tables, columns and words of answers", false,
      tl_describe, NULL },
    { "reps", TL_FOR_REPS, "[options] PATH...", "how long the device works in each repetition; variants compared", true,
      reps, NULL },
    { "whatif", TL_FOR_WHATIF, "[options] PATH... | FILE.h5",
      "how long the job would take if what you name were otherwise", true, tl_whatif_command, NULL },
    { "augment", TL_FOR_AUGMENT, "[options] PATH... -o DIR", "copies of the traces with idle time on tracks of its own",
      true, NULL, tl_augment },
    { "compat", TL_FOR_COMPAT, "hta|hta diff|tracelens [options] PATH... -o DIR",
      "the tables of HTA or TraceLens, from the same traces", true, tl_compat, NULL },
};

enum { NCOMMANDS = sizeof commands / sizeof commands[0] };

const tl_command *tl_commands(size_t *n)
{
    *n = NCOMMANDS;
    return commands;
}

static const tl_command *find_command(const char *name)
{
    for (const tl_command *c = commands; c < commands + NCOMMANDS; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/* ---- reading ---- */

/* Finds the index in argv of the first word that is no option, argc if none.  A word after "--" names no command. */
static tl_status find_first_word(int argc, char **argv, int *at, tl_error *err)
{
    int i = 1;
    for (; i < argc && tl_is_option(argv[i]); i++) {
        if (strcmp(argv[i], "--") == 0)
            i = argc;
        else if (tl_option_read(NULL, TL_FOR_ALL, argc, argv, &i, err) != TL_OK)
            return TL_EUSAGE;
    }
    *at = i < argc ? i : argc;
    return TL_OK;
}

static tl_status read_rest(tl_cli *cli, int argc, char **argv, int command_at, tl_error *err)
{
    bool ended = false;
    for (int i = 1; i < argc; i++) {
        tl_status st = TL_OK;
        if (i == command_at)
            continue;
        if (!ended && strcmp(argv[i], "--") == 0)
            ended = true;
        else if (!ended && tl_is_option(argv[i]))
            st = tl_option_read(cli, cli->command->bit, argc, argv, &i, err);
        else
            cli->words[cli->nwords++] = argv[i];
        if (st != TL_OK)
            return st;
    }
    return TL_OK;
}

/* Returns TL_EUSAGE if the first word resembles a command, does not look like a path and does not exist. */
static tl_status refuse_mistyped(const char *word, tl_error *err)
{
    const char *meant = strpbrk(word, "/.") == NULL && access(word, F_OK) != 0
                            ? tl_suggest(word, &commands->name, sizeof *commands, NCOMMANDS)
                            : NULL;
    if (meant == NULL)
        return TL_OK;
    return tl_fail(err, TL_EUSAGE, "'%s' is no command and no path; did you mean tlmpi %s?", word, meant);
}

/* Returns the words as typed, separated by spaces; words with special characters in single quotes. */
static char *join_words(int argc, char **argv)
{
    tl_bytes text = { 0 };
    for (int i = 0; i < argc; i++) {
        size_t n = 4 * strlen(argv[i]) + 4;
        char *word = tl_malloc(n);
        tl_shell_word(word, n, argv[i]);
        tl_bytes_put(&text, " ", i > 0);
        tl_bytes_put(&text, word, strlen(word));
        free(word);
    }
    tl_bytes_put(&text, "", 1);
    return text.v;
}

tl_status tl_cli_parse(tl_cli *cli, int argc, char **argv, tl_error *err)
{
    int first = argc;
    *cli = (tl_cli){ .command = find_command("run") };
    cli->words = tl_calloc((size_t)argc + 1, sizeof *cli->words);

    tl_status st = tl_options_default(cli, err);
    if (st == TL_OK)
        st = find_first_word(argc, argv, &first, err);
    if (st != TL_OK)
        return st;

    const tl_command *named = first < argc ? find_command(argv[first]) : NULL;
    /* "help COMMAND" is the same as "COMMAND --help" */
    if (named == NULL && first < argc && strcmp(argv[first], "help") == 0 && access("help", F_OK) != 0) {
        cli->help = true;
        named = first + 1 < argc ? find_command(argv[first + 1]) : NULL;
    }
    cli->named = named != NULL;
    if (named != NULL)
        cli->command = named;
    else if (!cli->help && first < argc)
        st = refuse_mistyped(argv[first], err);
    if (cli->help)
        return TL_OK;
    if (st == TL_OK)
        st = read_rest(cli, argc, argv, cli->named ? first : argc, err);
    if (st != TL_OK)
        return st;

    cli->command_line = join_words(argc, argv);
    cli->settings = tl_options_record(cli, cli->command->bit);
    cli->run.paths = cli->words;
    cli->run.npaths = cli->nwords;
    cli->run.command_line = cli->command_line;
    cli->run.settings = cli->settings;

    if (cli->run.json && cli->run.digest)
        return tl_fail(err, TL_EUSAGE, "--json and --digest both want standard output");
    if (!cli->command->together || cli->command->bit == TL_FOR_COMPAT || cli->help || cli->version)
        return TL_OK;
    if (cli->nwords == 0)
        return tl_fail(err, TL_EUSAGE, "no trace given: tlmpi %s %s", cli->named ? cli->command->name : "[run]",
                       cli->command->words);
    if (cli->each + cli->kernels + cli->compare > 1)
        return tl_fail(err, TL_EUSAGE, "one of --compare, --each and --kernels at a time");
    if (cli->compare && cli->nwords < 2)
        return tl_fail(err, TL_EUSAGE, "--compare wants two PATHs or more, each a variant");
    if (cli->run.tracelens && cli->run.result != NULL)
        return tl_fail(err, TL_EUSAGE, "--tracelens has no track for what --result tells");
    if (cli->command->bit == TL_FOR_AUGMENT && cli->run.output == NULL)
        return tl_fail(err, TL_EUSAGE, "no folder for the copies named: tlmpi %s %s", cli->command->name,
                       cli->command->words);
    return TL_OK;
}

void tl_cli_free(tl_cli *cli)
{
    free(cli->words);
    free(cli->given);
    tl_pattern_free(cli->run.step_name);
    tl_pattern_free(cli->exclude);
    free(cli->run.ranks.v);
    free(cli->run.steps.v);
    free(cli->run.times.v);
    free(cli->ranks.v);
    free(cli->steps.v);
    free(cli->hta.profiler_steps.v);
    free(cli->hta.control_rank.v);
    free(cli->hta.test_rank.v);
    free(cli->hta.control_iteration.v);
    free(cli->hta.test_iteration.v);
    free(cli->hta.instance_id.v);
    free(cli->where.v);
    free(cli->scale.v);
    free(cli->overlap.v);
    free(cli->command_line);
    free(cli->settings);
}

/* ---- telling ---- */

/* Prints the exit statuses that the commands of the mask can end with. */
static void say_statuses(FILE *out, unsigned commands_of)
{
    enum {
        READERS = TL_FOR_RUN | TL_FOR_CHECK | TL_FOR_REPS | TL_FOR_AUGMENT | TL_FOR_COMPAT | TL_FOR_DIFF | TL_FOR_WHATIF
    };
    static const struct {
        const char *line;
        unsigned commands;
    } statuses[] = {
        { "  0  done\n", TL_FOR_ALL },
        { "  1  done, but some input was unusable or incomplete; the results are written\n", READERS },
        { "  2  the command line asks for something impossible\n", TL_FOR_ALL },
        { "  3  nothing usable in the input\n", TL_FOR_ALL & ~(unsigned)TL_FOR_DESCRIBE },
        { "  4  output cannot be written\n", TL_FOR_ALL },
        { "  5  done, and a threshold of --fail-on is passed\n", TL_FOR_RUN | TL_FOR_ASK | TL_FOR_DIFF },
        { " 70  memory is out, or a fault of tlmpi\n", TL_FOR_ALL },
        { "128 + number of a signal that ended the reading: the result has the ranks that\n"
          "     had been read. SIGUSR1 does that; without mpirun SIGTERM and SIGINT, too\n",
          TL_FOR_RUN },
    };
    fputs("Exit status\n", out);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if ((statuses[i].commands & commands_of) != 0)
            fputs(statuses[i].line, out);
    if ((commands_of & READERS) != 0)
        fputs("Unless it is 0, mpirun says that the job was aborted, also with status 1, where\n"
              "all results are written; mpirun -q does not say so.\n",
              out);
}

static void program_help(FILE *out)
{
    fputs("tlmpi - what the ranks of a training job did with their time\n\n"
          "  mpirun -n 64 tlmpi traces/       analyse, write traces.h5, print a summary\n"
          "  tlmpi ask traces.h5              who holds the job up, and why\n"
          "  tlmpi show traces.h5 breakdown   print a table of it\n\n"
          "Commands\n",
          out);
    for (const tl_command *c = commands; c < commands + NCOMMANDS; c++)
        fprintf(out, "  %-10s%s\n", strcmp(c->name, "run") == 0 ? "[run]" : c->name, c->title);
    fputs("\ntlmpi COMMAND --help tells the options of the others; those of run:\n\n", out);
    tl_options_help(out, TL_FOR_RUN);
    fputc('\n', out);
    say_statuses(out, TL_FOR_RUN);
}

void tl_cli_help(FILE *out, const tl_cli *cli)
{
    const tl_command *c = cli->command;
    if (!cli->named) {
        program_help(out);
        return;
    }
    fprintf(out, "tlmpi %s %s\n\n", c->name, c->words);
    for (const char *const *line = tl_manual_find("command", c->name); **line != '#'; line++) {
        tl_wrap w = { .out = out };
        tl_wrap_words(&w, *line);
        tl_wrap_end(&w);
    }
    fputc('\n', out);
    tl_options_help(out, c->bit);
    fputc('\n', out);
    say_statuses(out, c->bit);
}

int tl_cli_complain(const tl_cli *cli, const tl_error *err)
{
    if (tl_par_proc() > 0)
        return tl_exit_of_status(err->status);
    int code = tl_exit_say(err);
    if (err->status == TL_EUSAGE)
        fprintf(stderr, "See: tlmpi %s%s--help\n", cli->named ? cli->command->name : "", cli->named ? " " : "");
    return code;
}

/* -------------------------------------------------------------------------------------------- words that were meant */

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Returns whether at most n insertions, deletions, changes and swaps of neighbours make a into b, ignoring case. */
static bool is_within(const char *a, const char *b, int n)
{
    for (; *a != '\0' && same_letter(*a, *b); a++)
        b++;
    if ((*a == '\0' && *b == '\0') || n == 0)
        return *a == *b;
    const bool both = *a != '\0' && *b != '\0',
               swapped = both && a[1] != '\0' && same_letter(a[0], b[1]) && same_letter(a[1], b[0]);
    return (*a != '\0' && is_within(a + 1, b, n - 1)) || (*b != '\0' && is_within(a, b + 1, n - 1)) ||
           (both && is_within(a + 1, b + 1, n - 1)) || (swapped && is_within(a + 2, b + 2, n - 1));
}

static const char *name_at(const char *const *names, size_t stride, size_t i)
{
    return *(const char *const *)((const char *)names + i * stride);
}

const char *tl_suggest(const char *word, const char *const *names, size_t stride, size_t n)
{
    /* a third of the word may differ, at most two characters: "shw" is show, "traces" is nothing */
    const size_t length = strlen(word), limit = length / 3 < 2 ? length / 3 : 2;
    for (int distance = 0; distance <= (int)limit; distance++)
        for (size_t i = 0; i < n; i++)
            if (name_at(names, stride, i) != NULL && is_within(word, name_at(names, stride, i), distance))
                return name_at(names, stride, i);
    return NULL;
}

tl_status tl_fail_unknown(tl_error *err, const char *what, const char *word, const char *place,
                          const char *const *names, size_t stride, size_t n)
{
    char list[700] = "", guess[60] = ".";
    size_t used = 0;
    for (size_t i = 0; i < n && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", name_at(names, stride, i));
    const char *meant = tl_suggest(word, names, stride, n);
    if (meant != NULL)
        snprintf(guess, sizeof guess, "; did you mean %.40s?", meant);
    return tl_fail(err, TL_EUSAGE, "there is no %s '%.60s' in %.120s%s It has: %s", what, word, place, guess,
                   n > 0 ? list : "none");
}

/* ----------------------------------------------------------------------------------------------------------- output */

tl_status tl_outfile_open(tl_outfile *file, const char *input, const char *path, bool force, tl_error *err)
{
    struct stat there;
    *file = (tl_outfile){ .out = stdout, .part = TL_PART_FILE_INIT };
    if (path == NULL || strcmp(path, "-") == 0)
        return TL_OK;
    if (tl_check_input_kept(path, input, err) != TL_OK)
        return TL_EUSAGE;

    file->path = path;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
        file->out = fopen(path, "w");
        return file->out != NULL ? TL_OK : tl_fail(err, TL_EOUTPUT, "%s: %s", path, strerror(errno));
    }
    tl_status st = tl_part_file_begin(&file->part, path, force, err);
    file->out = st == TL_OK ? tl_part_file_stream(&file->part, err) : NULL;
    if (file->out != NULL)
        return TL_OK;
    tl_part_file_drop(&file->part);
    return TL_EOUTPUT;
}

tl_status tl_outfile_close(tl_outfile *file, tl_status st, tl_error *err)
{
    if (file->path == NULL || file->out == NULL)
        return st;

    errno = 0;
    bool failed = ferror(file->out) != 0;
    failed = fclose(file->out) != 0 || failed;
    if (st == TL_OK && failed)
        st = tl_fail(err, TL_EOUTPUT, "%s: %s", file->path, errno != 0 ? strerror(errno) : "not all could be written");
    if (st == TL_OK && file->part.path != NULL)
        st = tl_part_file_publish(&file->part, err);
    tl_part_file_drop(&file->part);
    *file = (tl_outfile){ .out = NULL, .part = TL_PART_FILE_INIT };
    return st;
}
