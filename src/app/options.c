/* options.c - the options, each written once. */
#include "options.h"

#include "tlmpi/base/bytes.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/report/format/wrap.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Whether an option decides what is in the tables of a result, and whether its value is the name of a file. */
typedef enum decides { NOTHING, TABLES, TABLES_BY_FILE } decides;

typedef struct tl_option {
    const char *name;    /* "output": --output */
    char letter;         /* 'o': -o; 0 for none */
    const char *metavar; /* NULL: a switch */
    const char *initial; /* its default, as text */
    const char *doc;
    unsigned bits; /* the commands that it goes with */
    const tl_option_type *type;
    size_t offset; /* of the value in tl_cli */
    decides decides;
} tl_option;

/* ---- the table, in the order of --help ---- */

#define OFFSET(member)          offsetof(tl_cli, member)
#define AT(member)              OFFSET(member), NOTHING
#define DECIDES_AT(member)      OFFSET(member), TABLES
#define FILE_DECIDES_AT(member) OFFSET(member), TABLES_BY_FILE

static const tl_option options[] = {
    { "output", 'o', "PREFIX", "",
      "write PREFIX.h5; by default the name of the folder or file, 'tlmpi' for '.' and for several paths, in the "
      "working directory",
      TL_FOR_RUN, &tl_option_text, AT(run.output) },
    { "output", 'o', "FILE", "", "print into FILE; '-' is standard output", TL_FOR_SHOW | TL_FOR_ASK | TL_FOR_DIFF,
      &tl_option_text, AT(run.output) },
    { "output", 'o', "FILE", "", "write FILE; by default the result's name with .html for .h5, of two runs diff.html; '-' is standard output",
      TL_FOR_HTML, &tl_option_text, AT(run.output) },
    { "output", 'o', "FILE", "",
      "write FILE, compressed where its name ends in .gz; by default the result's name with .perfetto.json.gz for .h5; '-' is "
      "standard output",
      TL_FOR_EXPORT, &tl_option_text, AT(run.output) },
    { "perfetto", 0, NULL, "0", "in the format that ui.perfetto.dev opens: the only one, and taken without asking",
      TL_FOR_EXPORT, &tl_option_switch, AT(perfetto) },
    { "ranks", 0, "LIST", "", "these ranks, as 0-3,7, instead of up to 24 that matter", TL_FOR_EXPORT, &tl_option_ranges_from_0,
      AT(run.ranks) },
    { "steps", 0, "LIST", "", "from the first to the last of these steps, instead of the worst one", TL_FOR_EXPORT,
      &tl_option_ranges_from_0, AT(run.steps) },
    { "output", 'o', "DIR", "", "the folder for the tables; made if it is not there", TL_FOR_COMPAT, &tl_option_text,
      AT(run.output) },
    { "output", 'o', "DIR", "", "the folder for the copies; made if it is not there", TL_FOR_AUGMENT, &tl_option_text,
      AT(run.output) },
    { "force", 'f', NULL, "0", "overwrite existing files",
      TL_FOR_RUN | TL_FOR_SHOW | TL_FOR_ASK | TL_FOR_HTML | TL_FOR_EXPORT | TL_FOR_DIFF | TL_FOR_COMPAT | TL_FOR_AUGMENT,
      &tl_option_switch, AT(run.force) },
    { "run", 0, "N", "newest",
      "where a folder holds several runs: take the N-th, oldest first; 'newest' is the newest of those with most "
      "ranks, 'list' lists them",
      TL_FOR_RUN | TL_FOR_CHECK | TL_FOR_WHATIF, &tl_option_run, DECIDES_AT(run.run) },
    { "run", 0, "N", "all",
      "where a folder holds several runs: take the N-th, oldest first; 'newest' is the newest of those with most "
      "ranks, 'list' lists them; 'all': as the other tool, which takes one file of each rank",
      TL_FOR_COMPAT, &tl_option_compat_run, AT(compat_run) },
    { "ranks", 0, "LIST", "",
      "read the traces, phases and memory timelines of these ranks alone: numbers and ranges, as 0-3,7",
      TL_FOR_RUN | TL_FOR_WHATIF, &tl_option_ranges_from_0, DECIDES_AT(run.ranks) },
    { "steps", 0, "LIST", "",
      "everything is computed as if the traces held only what the host began in these steps, and the device work that "
      "it launched there; tlmpi describe selection says more",
      TL_FOR_RUN | TL_FOR_WHATIF, &tl_option_ranges_from_0, DECIDES_AT(run.steps) },
    { "time", 0, "LIST", "",
      "likewise of time, as 10-20,35ms-0.1s in ms or with a unit (ns, us, ms, s), from the first that any rank of the "
      "job does in the recording; of steps that are not whole the work belongs to none. Reads every trace twice",
      TL_FOR_RUN | TL_FOR_WHATIF, &tl_option_times, DECIDES_AT(run.times) },
    { "events", 0, "GLOB", "",
      "files of phases, JSON lines as libtlmpi_record writes them, in place of those (.jsonl) that the paths hold",
      TL_FOR_RUN | TL_FOR_CHECK, &tl_option_text, FILE_DECIDES_AT(run.events) },
    { "rules", 0, "FILE", "",
      "rules of your own for what a kernel is, asked before the built-in ones; tlmpi describe interval says how they "
      "are written",
      TL_FOR_RUN | TL_FOR_WHATIF, &tl_option_text, FILE_DECIDES_AT(run.rules) },
    { "idle", 0, "LIST", TL_IDLE_DEFAULT,
      "thresholds of the idle tables in us and percent, as noise=10,drain=2.5; tlmpi describe gap explains them",
      TL_FOR_RUN | TL_FOR_AUGMENT, &tl_option_idle, DECIDES_AT(run.config.idle) },
    { "launch", 0, "LIST", TL_LAUNCH_DEFAULT,
      "thresholds of tables launch and queue in us, as runtime=20,full=512; tlmpi describe launch explains them",
      TL_FOR_RUN, &tl_option_launch, DECIDES_AT(run.config.launch) },
    { "html", 0, NULL, "0", "write PREFIX.html, too: the page of tlmpi html", TL_FOR_RUN, &tl_option_switch, AT(html) },
    { "series", 0, NULL, "0",
      "write table series, too: how much waited in each stream, how fast copies were and what memory there was, at "
      "each change, and each short gap; it is large",
      TL_FOR_RUN, &tl_option_switch, DECIDES_AT(run.config.series) },
    { "path", 0, NULL, "0",
      "write table path, too: the critical path of each rank piece by piece, with kernels and operators; it has more "
      "rows than there are kernels. Table path_sum has its sums in any case",
      TL_FOR_RUN, &tl_option_switch, DECIDES_AT(run.config.path) },
    { "clock", 0, "MODE", "auto",
      "auto: correct what is impossible (a collective left before the last has come, a message received before it was "
      "sent); none: nothing; force: also clocks that are possible as recorded. Table clock has them in any case",
      TL_FOR_RUN | TL_FOR_WHATIF, &tl_option_clock, DECIDES_AT(run.clock) },
    { "alpha", 0, "SHARE", "0.01", "the chance that any rank or link of a job is named wrongly, all tests together",
      TL_FOR_RUN, &tl_option_share, DECIDES_AT(run.judge.alpha) },
    { "least-cost", 0, "SHARE", "0.01",
      "a rank that costs a smaller share of the steps in which it is late is not named", TL_FOR_RUN, &tl_option_share,
      DECIDES_AT(run.judge.least_cost) },
    { "tracelens", 0, NULL, "0",
      "the idle tracks of TraceLens, with its numbers, words and file names (x_idle_augmented.json.gz), instead of "
      "ours; --idle then means nothing",
      TL_FOR_AUGMENT, &tl_option_switch, AT(run.tracelens) },
    { "result", 0, "FILE.h5", "",
      "the result of a run over these traces: tracks show in addition when each device waited for other ranks, and for "
      "whom; and, where the run had --path, the critical paths of each rank and of the job, with arrows to their work",
      TL_FOR_AUGMENT, &tl_option_text, AT(run.result) },
    { "json", 0, NULL, "0",
      "print the answers to the four questions (tlmpi ask) as one JSON object, and nothing else; its keys are "
      "explained in include/tlmpi/report/ask.h",
      TL_FOR_RUN | TL_FOR_ASK, &tl_option_switch, AT(run.json) },
    { "json", 0, NULL, "0", "print all tables as one JSON object", TL_FOR_DIFF, &tl_option_switch, AT(run.json) },
    { "fail-on", 0, "LIST", "",
      "exit with status 5 where B takes more longer than this: NAME>+PERCENT%,... as 'step>+5%,kernel>+20%,idle>+3%'. "
      "step: the step; kernel: any kernel that takes a hundredth of the step, of its own time; compute, waiting, "
      "transfer, comm (exposed communication), copy, idle: of the step of A.  Where it is not known how much of "
      "communication is waiting, waiting and transfer are judged by their bounds; status 1 where these do not tell",
      TL_FOR_DIFF, &tl_option_diff_gates, AT(diff_fail_on) },
    { "fail-on", 0, "LIST", "",
      "exit with status 5 where the job loses more than this: NAME>PERCENT%,... as 'straggler>5%,idle>20%'. straggler, "
      "link: wall time that it would gain without the worst of them, or without all that stand out (its own work "
      "beyond that of its peers, where that could not be simulated or gains nothing; not judged, and that is told, "
      "where there is no verdict); idle, comm (exposed communication): of the time of all ranks",
      TL_FOR_RUN | TL_FOR_ASK, &tl_option_gates, AT(run.fail_on) },
    { "digest", 0, NULL, "0",
      "print a line 'table hash' for each table and nothing else: equal results have equal lines, however they were "
      "made; run writes its file all the same",
      TL_FOR_RUN | TL_FOR_SHOW, &tl_option_switch, AT(run.digest) },
    { "reproducible", 0, NULL, "0", "leave time, host, command line and paths out of the file", TL_FOR_RUN,
      &tl_option_switch, AT(run.reproducible) },
    { "rep", 0, "NAME", "",
      "what a repetition is: ProfilerStep, a user annotation's name, or one-per-file, the whole trace; by default "
      "ProfilerStep, and of traces without steps one-per-file",
      TL_FOR_REPS, &tl_option_text, AT(rep) },
    { "exclude", 0, "REGEX", "",
      "leave out kernels, copies and memsets whose names this extended regular expression finds, as those that flush a "
      "cache or fill a buffer",
      TL_FOR_REPS, &tl_option_text, AT(exclude) },
    { "skip", 0, "N", "0", "leave out the first N kernels, copies and memsets that each repetition launches",
      TL_FOR_REPS, &tl_option_count, AT(skip) },
    { "compare", 0, NULL, "0", "print how each PATH differs from the first, with 95 % confidence intervals",
      TL_FOR_REPS, &tl_option_switch, AT(compare) },
    { "each", 0, NULL, "0", "print every repetition", TL_FOR_REPS, &tl_option_switch, AT(each) },
    { "kernels", 0, NULL, "0", "print each kernel's median over the repetitions", TL_FOR_REPS, &tl_option_switch,
      AT(kernels) },
    { "scale", 0, "CONDITIONS:FACTOR", "",
      "the selected work takes its time times FACTOR, 0 to 1000, as name~gemm:0.5 or kind=copy:0; may be given several "
      "times, and the factors of the same work multiply. Of communication it is the transfer, from the last arrival "
      "on, if all ranks with a trace have it selected",
      TL_FOR_WHATIF, &tl_option_texts, AT(scale) },
    { "overlap", 0, "CONDITIONS", "",
      "kernels, copies and memsets wait no longer for the selected communication, as kind=all_reduce, by events or the "
      "order of a stream, but only for what that had waited for on its rank; other communication, the host and other "
      "ranks still do; may be given several times",
      TL_FOR_WHATIF, &tl_option_texts, AT(overlap) },
    { "remove-sync", 0, NULL, "0",
      "calls, blocking copies and untold pauses in which the host waited for the device come back at once, where it is "
      "known what released them; a launch that found the queue full still waits",
      TL_FOR_WHATIF, &tl_option_switch, AT(remove_sync) },
    { "no-launch-overhead", 0, NULL, "0",
      "the host takes no time between its launches and waits (these, input, garbage collection and the allocator "
      "stay), and work may start the moment it is launched",
      TL_FOR_WHATIF, &tl_option_switch, AT(no_launch_overhead) },
    { "parser", 0, "NAME", "fast",
      "fast: our reader for events as Kineto writes them, yajl for the others; yajl: for all; the result is the same",
      TL_FOR_RUN | TL_FOR_CHECK | TL_FOR_AUGMENT | TL_FOR_REPS | TL_FOR_WHATIF, &tl_option_parser, AT(run.yajl_only) },
    { "max-memory", 0, "SIZE", "auto",
      "memory of a process, as 800M or 4G: a trace that would need more is read up to there, its rank is 'cut' and the "
      "exit status 1; auto: three quarters of what the machine, or the group of processes (cgroup), has left, divided by "
      "the processes there",
      TL_FOR_RUN | TL_FOR_CHECK, &tl_option_size, AT(run.max_memory) },
    { "format", 0, "FORMAT", "table",
      TL_FORMAT_WORDS "; in csv an apostrophe stands before a text that a spreadsheet would take for a formula",
      TL_FOR_SHOW | TL_FOR_REPS | TL_FOR_DIFF | TL_FOR_WHATIF, &tl_option_format, AT(format) },
    { "unit", 0, "UNIT", "terminal",
      "of times: ns, us, ms or s; auto: of a table each in the unit that suits it, and shares in percent; terminal: "
      "auto on a terminal, else ns",
      TL_FOR_SHOW | TL_FOR_REPS | TL_FOR_DIFF | TL_FOR_WHATIF, &tl_option_unit, AT(unit) },
    { "columns", 0, "A,B", "", "these columns, in this order", TL_FOR_SHOW, &tl_option_text, AT(columns) },
    { "rank", 0, "LIST", "", "rows of these ranks: numbers and ranges, as 0-3,7; -1 is the whole job", TL_FOR_SHOW,
      &tl_option_ranges, AT(ranks) },
    { "step", 0, "LIST", "", "rows of these steps; -1 is the whole trace", TL_FOR_SHOW, &tl_option_ranges, AT(steps) },
    { "where", 0, "COND", "",
      "rows of which COND holds, as duration_ns>1ms, start_ns>=2s, kind=comm, name~gemm: a column, one of = != < <= > "
      ">= ~ !~ and a value, with ~ an extended regular expression; given several times, all must hold; name= has no "
      "value",
      TL_FOR_SHOW, &tl_option_texts, AT(where) },
    { "sort", 0, "COLUMN", "",
      "sort by a column: measures largest first, others smallest first; COLUMN:asc and COLUMN:desc say which way; "
      "equal rows stay in the order of the table",
      TL_FOR_SHOW, &tl_option_text, AT(sort) },
    { "top", 0, "N", "0",
      "at most the first N rows; 0 for all; P%: the rows with the most time, until they hold P percent of it: of "
      "total_ns, or of device_self_ns where a table has that, or of device_ns. Of kernel and kernel_ranks a last row "
      "has all others together",
      TL_FOR_SHOW, &tl_option_top, AT(top) },
    { "top", 0, "N", "0",
      "the N kernels and operators of which the job gains most if they take 10 % less time, of communication the "
      "transfer, on all ranks; without the changes",
      TL_FOR_WHATIF, &tl_option_count, AT(whatif_top) },
    { "width", 0, "N", "auto", "cut a text in a table after N characters, 0 for never; 'auto' cuts on a terminal alone",
      TL_FOR_SHOW | TL_FOR_REPS | TL_FOR_DIFF | TL_FOR_WHATIF, &tl_option_width, AT(width) },
    { "ns", 0, NULL, "0", "hta: keep the fractions of time stamps, as HTA does with HTA_DISABLE_NS_ROUNDING=1",
      TL_FOR_COMPAT, &tl_option_switch, AT(ns) },
    { "include-last-step", 0, NULL, "0", "hta: keep the last profiler step, which HTA leaves out", TL_FOR_COMPAT,
      &tl_option_switch, AT(include_last_step) },
    { "num-kernels", 0, "N", "10", "hta: kernels of each class and rank that kernel_breakdown_default names",
      TL_FOR_COMPAT, &tl_option_count, AT(hta.num_kernels) },
    { "duration-ratio", 0, "Q", "0.8",
      "hta: of more kernels than that, those whose running total is above this quantile of the totals are 'others', "
      "too",
      TL_FOR_COMPAT, &tl_option_quantile, AT(hta.duration_ratio) },
    { "consecutive-kernel-delay", 0, "US", "30",
      "hta: the gap in us below which idle_time_breakdown and idle_interval_stats take it for kernel_wait",
      TL_FOR_COMPAT, &tl_option_count, AT(hta.consecutive_kernel_delay) },
    { "runtime-cutoff", 0, "US", "50", "hta: calls longer than this are outliers of launch_stats_summary",
      TL_FOR_COMPAT, &tl_option_count, AT(hta.runtime_cutoff) },
    { "launch-delay-cutoff", 0, "US", "100", "hta: and so are delays longer than this", TL_FOR_COMPAT, &tl_option_count,
      AT(hta.launch_delay_cutoff) },
    { "max-queue-length", 0, "N", "0",
      "hta: the length at which time_blocked_on_full_queue takes a queue for full; 0 for 1024, 64 and 8", TL_FOR_COMPAT,
      &tl_option_count, AT(hta.max_queue_length) },
    { "num-candidates", 0, "N", "2", "hta: how many ranks potential_stragglers has", TL_FOR_COMPAT, &tl_option_count,
      AT(hta.num_candidates) },
    { "profiler-steps", 0, "LIST", "", "hta: the steps that potential_stragglers looks at, as 3-5,7; by default all",
      TL_FOR_COMPAT, &tl_option_ranges, AT(hta.profiler_steps) },
    { "operator-name", 0, "NAME", "",
      "hta: frequent_patterns of the operators that have this in their names, on all ranks; by default of some that "
      "are common, on two",
      TL_FOR_COMPAT, &tl_option_text, AT(hta.operator_name) },
    { "min-pattern-len", 0, "N", "3", "hta: kernels that a pattern has at least; without --operator-name also 1",
      TL_FOR_COMPAT, &tl_option_count, AT(hta.min_pattern_len) },
    { "top-k", 0, "N", "5", "hta: patterns that patterns_overlay counts", TL_FOR_COMPAT, &tl_option_count,
      AT(hta.top_k) },
    { "annotation", 0, "TEXT", "",
      "hta: critical_path of what has this in its name, on all ranks, '*' for the whole trace; by default of "
      "ProfilerStep and, on the first rank, of the whole trace",
      TL_FOR_COMPAT, &tl_option_text, AT(hta.annotation) },
    { "instance-id", 0, "LIST", "",
      "hta: which of these, counted from 0, as 0,2 or 0-1: a path for each number and for each range as one; by "
      "default the first",
      TL_FOR_COMPAT, &tl_option_ranges_from_0, AT(hta.instance_id) },
    { "data-load-events", 0, "TEXT", "", "hta: what has this in its name loads data, which critical_path tells apart",
      TL_FOR_COMPAT, &tl_option_text, AT(hta.data_load_events) },
    { "launch-edges", 0, NULL, "0",
      "hta: critical_path with an edge from every launch to its kernel, as HTA has with "
      "CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE=1",
      TL_FOR_COMPAT, &tl_option_switch, AT(hta.launch_edges) },
    { "overlay", 0, NULL, "0",
      "hta: write overlaid_critical_path_FILE, too: each rank's trace with its first critical path in it, as HTA "
      "overlays it",
      TL_FOR_COMPAT, &tl_option_switch, AT(hta.overlay) },
    { "control-rank", 0, "LIST", "", "hta diff: the ranks of A that are compared, as 0-3,7; by default the first",
      TL_FOR_COMPAT, &tl_option_ranges, AT(hta.control_rank) },
    { "test-rank", 0, "LIST", "", "hta diff: and those of B", TL_FOR_COMPAT, &tl_option_ranges, AT(hta.test_rank) },
    { "control-iteration", 0, "LIST", "", "hta diff: the profiler steps of A that are compared; by default the first",
      TL_FOR_COMPAT, &tl_option_ranges, AT(hta.control_iteration) },
    { "test-iteration", 0, "LIST", "", "hta diff: and those of B", TL_FOR_COMPAT, &tl_option_ranges,
      AT(hta.test_iteration) },
    { "gpus-per-node", 0, "N", "0", "tracelens: tell in the tables of collectives which ranks share a node; 0 for not",
      TL_FOR_COMPAT, &tl_option_count, AT(gpus_per_node) },
    { "quiet", 'q', NULL, "0", "no progress, no warnings, no summary",
      TL_FOR_RUN | TL_FOR_CHECK | TL_FOR_COMPAT | TL_FOR_AUGMENT | TL_FOR_REPS | TL_FOR_WHATIF | TL_FOR_DIFF | TL_FOR_HTML,
      &tl_option_switch, AT(run.quiet) },
    { "help", 'h', NULL, "0", "print this and do nothing else", TL_FOR_ALL, &tl_option_switch, AT(help) },
    { "version", 0, NULL, "0", "print the version and do nothing else", TL_FOR_ALL, &tl_option_switch, AT(version) },
};

enum { NOPTIONS = sizeof options / sizeof options[0] };

/* ---- reading ---- */

bool tl_is_option(const char *arg)
{
    return arg[0] == '-' && arg[1] != '\0';
}

tl_status tl_options_default(tl_cli *cli, tl_error *err)
{
    for (const tl_option *o = options; o < options + NOPTIONS; o++)
        if (!o->type->store(o->type, o->initial, (char *)cli + o->offset))
            return tl_fail(err, TL_EINTERNAL, "the default of --%s is not of its type", o->name);
    return TL_OK;
}

/* The option of that name, or of that letter (name NULL). */
static const tl_option *find(const char *name, size_t n, char letter, unsigned bits)
{
    for (const tl_option *o = options; o < options + NOPTIONS; o++)
        if ((o->bits & bits) != 0 &&
            (name != NULL ? strlen(o->name) == n && memcmp(o->name, name, n) == 0 : o->letter == letter))
            return o;
    return NULL;
}

/* Another command's option, a mistyped one, or neither. */
static tl_status fail_unknown(const char *name, size_t n, unsigned bits, tl_error *err)
{
    const char *candidates[NOPTIONS];
    char word[64];
    snprintf(word, sizeof word, "%.*s", n < sizeof word ? (int)n : (int)sizeof word - 1, name);

    const tl_option *other = find(name, n, 0, TL_FOR_ALL);
    size_t ncommands;
    const tl_command *commands = tl_commands(&ncommands);
    for (size_t i = 0; i < ncommands && other != NULL; i++)
        if ((commands[i].bit & other->bits) != 0)
            return tl_fail(err, TL_EUSAGE, "--%s is an option of tlmpi %s, not of this command", word,
                           commands[i].name);

    for (size_t i = 0; i < NOPTIONS; i++)
        candidates[i] = (options[i].bits & bits) != 0 ? options[i].name : NULL;
    const char *meant = tl_suggest(word, candidates, NOPTIONS);
    if (meant != NULL)
        return tl_fail(err, TL_EUSAGE, "there is no option --%s; did you mean --%s?", word, meant);
    return tl_fail(err, TL_EUSAGE, "there is no option --%s", word);
}

static tl_status store(tl_cli *cli, const tl_option *o, const char *text, tl_error *err)
{
    if (cli == NULL || o->type->store(o->type, text, (char *)cli + o->offset))
        return TL_OK;
    if (o->type->complain != NULL)
        return o->type->complain(o->type, o->name, text, err);
    return tl_fail(err, TL_EUSAGE, "--%s takes %s, not '%s'", o->name, o->type->takes, text);
}

static tl_status store_following(tl_cli *cli, const tl_option *o, int argc, char **argv, int *at, tl_error *err)
{
    /* A following word that looks like an option is one whose value was forgotten; a number may be negative. */
    const char *next = *at + 1 < argc ? argv[*at + 1] : "";
    if (*next == '\0' || (tl_is_option(next) && !(next[1] >= '0' && next[1] <= '9')))
        return tl_fail(err, TL_EUSAGE, "--%s wants a value: --%s=%s", o->name, o->name, o->metavar);
    (*at)++;
    return store(cli, o, argv[*at], err);
}

static tl_status read_long(tl_cli *cli, unsigned bits, int argc, char **argv, int *at, tl_error *err)
{
    const char *name = argv[*at] + 2, *value = strchr(name, '=');
    size_t n = value != NULL ? (size_t)(value - name) : strlen(name);
    const tl_option *o = find(name, n, 0, bits);

    if (o == NULL)
        return fail_unknown(name, n, bits, err);
    if (o->metavar == NULL)
        return value == NULL ? store(cli, o, "1", err) : tl_fail(err, TL_EUSAGE, "--%s takes no value", o->name);
    if (value == NULL)
        return store_following(cli, o, argc, argv, at, err);
    if (value[1] == '\0')
        return tl_fail(err, TL_EUSAGE, "--%s wants a value: --%s=%s", o->name, o->name, o->metavar);
    return store(cli, o, value + 1, err);
}

/* Letters: -f, -fq, -oPREFIX, -o PREFIX. */
static tl_status read_letters(tl_cli *cli, unsigned bits, int argc, char **argv, int *at, tl_error *err)
{
    tl_status st = TL_OK;
    for (const char *p = argv[*at] + 1; *p != '\0' && st == TL_OK; p++) {
        const tl_option *o = find(NULL, 0, *p, bits);
        if (o == NULL)
            return tl_fail(err, TL_EUSAGE, "there is no option -%c", *p);
        if (o->metavar == NULL) {
            st = store(cli, o, "1", err);
        } else {
            return p[1] != '\0' ? store(cli, o, p + 1, err) : store_following(cli, o, argc, argv, at, err);
        }
    }
    return st;
}

tl_status tl_option_read(tl_cli *cli, unsigned bits, int argc, char **argv, int *at, tl_error *err)
{
    return argv[*at][1] == '-' ? read_long(cli, bits, argc, argv, at, err)
                               : read_letters(cli, bits, argc, argv, at, err);
}

/* ---- telling ---- */

void tl_options_help(FILE *out, unsigned bits)
{
    enum { DOC_COLUMN = 24 };
    for (const tl_option *o = options; o < options + NOPTIONS; o++) {
        if ((o->bits & bits) == 0)
            continue;
        int n = o->letter != 0 ? fprintf(out, "  -%c, ", o->letter) : fprintf(out, "      ");
        n += fprintf(out, "--%s%s%s", o->name, o->metavar != NULL ? "=" : "", o->metavar != NULL ? o->metavar : "");
        if (n + 2 > DOC_COLUMN)
            n = fprintf(out, "\n") - 1;
        fprintf(out, "%*s", DOC_COLUMN - n, "");

        tl_wrap w = { .out = out, .indent = DOC_COLUMN, .column = DOC_COLUMN };
        tl_wrap_words(&w, o->doc);
        if (o->metavar != NULL && *o->initial != '\0') {
            char initial[400];
            snprintf(initial, sizeof initial, "(default: %s)", o->initial);
            tl_wrap_words(&w, initial);
        }
        tl_wrap_end(&w);
    }
}

char *tl_options_record(const tl_cli *cli, unsigned bits)
{
    char value[4200];
    tl_bytes text = { 0 };
    for (const tl_option *o = options; o < options + NOPTIONS; o++) {
        if ((o->bits & bits) == 0 || o->offset == OFFSET(help) || o->offset == OFFSET(version) ||
            (cli->run.reproducible && o->decides == NOTHING))
            continue;
        o->type->recall(o->type, (const char *)cli + o->offset, value, sizeof value);
        if (cli->run.reproducible && o->decides == TABLES_BY_FILE && *value != '\0')
            snprintf(value, sizeof value, "given");
        tl_bytes_put(&text, o->name, strlen(o->name));
        tl_bytes_put(&text, "=", 1);
        tl_bytes_put(&text, value, strlen(value));
        tl_bytes_put(&text, "\n", 1);
    }
    tl_bytes_put(&text, "", 1);
    return text.v;
}
