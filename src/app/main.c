/* main.c - from the command line to one exit status, the same on every proc. */
#include "cli.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/log.h"
#include "tlmpi/job/run.h"
#include "tlmpi/par/par.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int print_help_or_version(const tl_cli *cli)
{
    if (cli->version)
        printf("tlmpi %s\n", TLMPI_VERSION);
    else
        tl_cli_help(stdout, cli);
    return TL_EXIT_DONE;
}

/* Returns whether the reader of the pipe on stdout has closed it. */
static bool reader_is_gone(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
    return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* Returns the exit status after flushing stdout: a failed write is an error, except to a closed pipe. */
static int close_stdout(int code)
{
    bool ok = fflush(stdout) == 0 && !ferror(stdout);
    if (ok || reader_is_gone())
        return code;
    fprintf(stderr, "tlmpi: standard output: not all could be written\n");
    return code == TL_EXIT_DONE || code == TL_EXIT_PARTIAL ? TL_EXIT_OUTPUT : code;
}

static int act(const tl_cli *cli, tl_status parsed, const tl_error *err)
{
    bool first = tl_par_proc() == 0;
    int code = TL_EXIT_DONE;
    if (parsed != TL_OK)
        code = tl_cli_complain(cli, err);
    else if (cli->help || cli->version)
        code = first ? print_help_or_version(cli) : code;
    else if (cli->command->together || first)
        code = cli->command->act != NULL ? cli->command->act(cli) : cli->command->job(&cli->run);

    if (first)
        code = close_stdout(code);
    tl_par_bcast(&code, sizeof code);
    return code;
}

int main(int argc, char **argv)
{
    tl_mem_expect(TL_MEM_GROWING);
    tl_cli cli;
    tl_error err = { .status = TL_OK };
    tl_status parsed = tl_cli_parse(&cli, argc, argv, &err);

    /* A process that a launcher started must not end before the parallel machine has started: mpirun would wait for it.
     */
    if (parsed == TL_OK && (cli.help || cli.version) && !tl_par_launched()) {
        int code = close_stdout(print_help_or_version(&cli));
        tl_cli_free(&cli);
        return code;
    }

    tl_par_start(&argc, &argv);
    /* Writes to a closed pipe or to a file at its size limit fail with an error instead of a signal. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    tl_unfinished_on_signal(tl_par_nprocs() > 1);
    tl_mem_on_failure(tl_par_abort);
    tl_mem_set_limit((uint64_t)cli.run.max_memory, tl_par_nhere());
    tl_log_enable(tl_par_proc() == 0 && !cli.run.quiet);
    parsed = tl_par_agree(parsed, &err);
    int code = act(&cli, parsed, &err);
    tl_cli_free(&cli);
    tl_par_end();
    return code;
}
