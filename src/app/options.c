/* options.c - the options, each defined once. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "cli.h"

#include "tlmpi/base/bytes.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/report/format/words.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Whether an option affects the content of a result's tables, and if so, whether its value is a file name. */
typedef enum decides { NOTHING, TABLES, TABLES_BY_FILE } decides;

typedef struct tl_option {
    const char *name;    /* "output": --output */
    char letter;         /* 'o': -o; 0: none */
    const char *metavar; /* NULL: a switch */
    const char *initial; /* default value, as text */
    unsigned bits;       /* the commands that have the option */
    const tl_option_type *type;
    size_t offset; /* of the value in tl_cli */
    decides decides;
    const char *doc;
} tl_option;

/* ---- the table, in the order of --help ---- */

#define OFFSET(member)          offsetof(tl_cli, member)
#define AT(type, member)        &tl_option_##type, OFFSET(member), NOTHING
#define TABLES_AT(type, member) &tl_option_##type, OFFSET(member), TABLES
#define FILE_AT(type, member)   &tl_option_##type, OFFSET(member), TABLES_BY_FILE

static const tl_option options[] = {
    { "output", 'o', "PREFIX", "", TL_FOR_RUN, AT(text, run.output),
      "write PREFIX.h5; by default the name of the folder or file, 'tlmpi' for '.' and for several paths, in the "
      "working directory" },
    { "output", 'o', "FILE", "", TL_FOR_SHOW | TL_FOR_ASK | TL_FOR_DIFF, AT(text, run.output),
      "write to FILE; '-' is standard output" },
    { "output", 'o', "FILE", "", TL_FOR_HTML, AT(text, run.output),
      "write FILE; by default the result's name with .html for .h5, of two runs diff.html; '-' is standard output" },
    { "output", 'o', "FILE", "", TL_FOR_EXPORT, AT(text, run.output),
      "write FILE, compressed where its name ends in .gz; by default the result's name with .perfetto.json.gz for .h5; "
      "'-' is standard output" },
    { "perfetto", 0, NULL, "0", TL_FOR_EXPORT, AT(switch, perfetto),
      "in the format that ui.perfetto.dev opens: the only format, and the default" },
    { "fuse", 0, NULL, "0", TL_FOR_EXPORT, AT(switch, fuse),
      "whole traces in one file: all ranks and steps unless --ranks or --steps select some, with the host events of "
      "the traces" },
    { "kinds", 0, "LIST", "", TL_FOR_EXPORT, AT(text, kinds),
      "only these kinds of slices: compute, comm, memcpy, memset, idle, wait, and with --fuse the categories of a "
      "trace, such as cpu_op,cuda_runtime,user_annotation,python_function" },
    { "min-us", 0, "N", "0", TL_FOR_EXPORT, AT(count, min_us), "leave out slices shorter than N us" },
    { "output", 'o', "DIR", "", TL_FOR_COMPAT, AT(text, run.output),
      "the folder for the tables; made if it is not there" },
    { "output", 'o', "DIR", "", TL_FOR_AUGMENT, AT(text, run.output),
      "the folder for the copies; made if it is not there" },
    { "force", 'f', NULL, "0", TL_FOR_ALL & ~(unsigned)(TL_FOR_CHECK | TL_FOR_DESCRIBE | TL_FOR_REPS | TL_FOR_WHATIF),
      AT(switch, run.force), "overwrite existing files" },
    { "run", 0, "N", "newest", TL_FOR_RUN | TL_FOR_CHECK | TL_FOR_WHATIF, TABLES_AT(run, run.run),
      "where a folder holds several runs: take only the N-th, oldest first; 'newest' is the newest of those with most "
      "ranks, together with all other windows of the same job (recordings of the same processes, one after the other: "
      "schedule(repeat=N), iteration_10/, iteration_20/); 'list' lists them" },
    { "run", 0, "N", "all", TL_FOR_COMPAT, AT(compat_run, compat_run),
      "where a folder holds several runs: take the N-th, oldest first; 'newest' is the newest of those with most "
      "ranks, 'list' lists them; 'all': as the other tool, which takes one file of each rank" },
    { "run", 0, "N", "newest", TL_FOR_DIFF, AT(two_runs, diff_run),
      "where a folder holds several runs: compare the N-th, as run takes it; two, such as 1,2, are that of A and that "
      "of B, which may be one folder" },
    { "ranks", 0, "LIST", "", TL_FOR_RUN | TL_FOR_WHATIF, TABLES_AT(ranges_from_0, run.ranks),
      "read the traces, phases and memory timelines of these ranks only: numbers and ranges, such as 0-3,7" },
    { "step-name", 0, "REGEX", "", TL_FOR_RUN | TL_FOR_WHATIF, TABLES_AT(pattern, run.step_name),
      "use the host ranges (annotations, operators, NVTX ranges) whose names match this extended regular expression as "
      "steps, such as '^train_step', each until the next; a step's number is the first number in its name, if all "
      "names have one and all differ, else its index in time, from 0; by default ProfilerStep#N, or what looks like "
      "it" },
    { "steps", 0, "LIST", "", TL_FOR_RUN | TL_FOR_WHATIF, TABLES_AT(ranges_from_0, run.steps),
      "compute everything as if the traces held only what the host began in these steps, and the device work that it "
      "launched there; see tlmpi describe selection" },
    { "time", 0, "LIST", "", TL_FOR_RUN | TL_FOR_WHATIF, TABLES_AT(times, run.times),
      "the same for parts of the time, such as 10-20,35ms-0.1s, in ms or with a unit (ns, us, ms, s), counted from the "
      "first event of any rank; work of steps that are not whole belongs to no step. Reads every trace twice" },
    { "ranks", 0, "LIST", "", TL_FOR_EXPORT, AT(ranges_from_0, run.ranks),
      "these ranks, such as 0-3,7, instead of up to 24 that matter, or of all with --fuse" },
    { "steps", 0, "LIST", "", TL_FOR_EXPORT, AT(ranges_from_0, run.steps),
      "from the first to the last of these steps, instead of the worst one, or of all with --fuse" },
    { "events", 0, "GLOB", "", TL_FOR_RUN | TL_FOR_CHECK, FILE_AT(text, run.events),
      "files of phases, JSON lines as libtlmpi_record writes them, in place of those (.jsonl) that the paths hold" },
    { "rules", 0, "FILE", "", TL_FOR_RUN | TL_FOR_WHATIF, FILE_AT(text, run.rules),
      "your own rules for the kind of a kernel, applied before the built-in ones; tlmpi describe interval has their "
      "format" },
    { "idle", 0, "LIST", TL_IDLE_DEFAULT, TL_FOR_RUN | TL_FOR_AUGMENT, TABLES_AT(idle, run.config.idle),
      "thresholds of the idle tables in us and percent, such as noise=10,drain=2.5; tlmpi describe gap explains them" },
    { "launch", 0, "LIST", TL_LAUNCH_DEFAULT, TL_FOR_RUN, TABLES_AT(launch, run.config.launch),
      "thresholds of tables launch and queue in us, such as runtime=20,full=512; tlmpi describe launch explains them" },
    { "peak", 0, "LIST", "", TL_FOR_RUN, TABLES_AT(peak, run.config.peaks),
      "peak rates of the devices in 10^12 FLOP/s, such as bf16=989,f8=1979, in place of the known ones of the device's "
      "name; tlmpi describe operator explains them" },
    { "html", 0, NULL, "0", TL_FOR_RUN, AT(switch, html), "also write PREFIX.html: the page of tlmpi html" },
    { "perfetto", 0, NULL, "0", TL_FOR_RUN, AT(switch, perfetto),
      "also write PREFIX.perfetto.json.gz: the trace of tlmpi export" },
    { "series", 0, NULL, "0", TL_FOR_RUN, TABLES_AT(switch, run.config.series),
      "also write table series, which is large: queue lengths, bandwidths of copies and memory at each change, and "
      "each short gap" },
    { "path", 0, NULL, "0", TL_FOR_RUN, TABLES_AT(switch, run.config.path),
      "also write table path: the critical path of each rank piece by piece, with kernels and operators, which has "
      "more rows than there are kernels. Table path_sum always has its sums" },
    { "clock", 0, "MODE", "auto", TL_FOR_RUN | TL_FOR_WHATIF, TABLES_AT(clock, run.clock),
      "auto: correct impossible times (a collective left before the last rank arrived, a message received before it "
      "was sent); none: correct nothing; force: also clocks that are possible as recorded. Table clock always has "
      "them" },
    { "alpha", 0, "SHARE", "0.01", TL_FOR_RUN, TABLES_AT(share, run.judge.alpha),
      "accepted probability that any rank or link of a job is named wrongly, over all tests" },
    { "least-cost", 0, "SHARE", "0.01", TL_FOR_RUN, TABLES_AT(share, run.judge.least_cost),
      "do not name a rank that costs less than this share of the steps in which it is late" },
    { "tracelens", 0, NULL, "0", TL_FOR_AUGMENT, AT(switch, run.tracelens),
      "the idle tracks of TraceLens, with its numbers, words and file names (x_idle_augmented.json.gz), instead of "
      "those of tlmpi; --idle then has no effect" },
    { "result", 0, "FILE.h5", "", TL_FOR_AUGMENT, AT(text, run.result),
      "the result of a run over these traces: further tracks show when each device waited for which rank and, if the "
      "run had --path, the critical paths of each rank and of the job, with arrows to their work" },
    { "json", 0, NULL, "0", TL_FOR_RUN | TL_FOR_ASK, AT(switch, run.json),
      "print the answers to the four questions (tlmpi ask) as one JSON object, and nothing else; tlmpi describe json "
      "explains its keys" },
    { "json", 0, NULL, "0", TL_FOR_DIFF | TL_FOR_WHATIF, AT(switch, run.json), "print all tables as one JSON object" },
    { "fail-on", 0, "LIST", "", TL_FOR_DIFF, AT(diff_gates, diff_fail_on),
      "exit with status 5 if B takes longer by more than this: NAME>+PERCENT%,... such as "
      "'step>+5%,kernel>+20%,idle>+3%'. step: the step; kernel: the time of any kernel but communication that takes a "
      "hundredth of the step, if it grew by more than devices differ by (parameter diff_least) and by more than "
      "chance; compute, waiting, transfer, comm (exposed communication), copy, idle: as a share of the step of A. "
      "Waiting and transfer that cannot be told apart are judged by their bounds; status 1 if the bounds leave the "
      "answer open" },
    { "fail-on", 0, "LIST", "", TL_FOR_RUN | TL_FOR_ASK, AT(gates, run.fail_on),
      "exit with status 5 if the job loses more than this: NAME>PERCENT%,... such as 'straggler>5%,idle>20%'. "
      "straggler, link: share of the wall time that the job would gain without the worst of them, or without all named "
      "ones (if that could not be simulated or gains nothing, the work beyond that of the peers; without a verdict not "
      "judged, and a warning says so); idle, comm (exposed communication): share of the time of all ranks" },
    { "digest", 0, NULL, "0", TL_FOR_RUN | TL_FOR_SHOW, AT(switch, run.digest),
      "print a line 'table hash' for each table and nothing else: equal results have equal lines, on any number of "
      "procs; run also writes its file" },
    { "reproducible", 0, NULL, "0", TL_FOR_RUN, AT(switch, run.reproducible),
      "leave time, host, command line and paths out of the file" },
    { "rep", 0, "NAME", "", TL_FOR_REPS, AT(text, rep),
      "what a repetition is: ProfilerStep, the name of a user annotation, or one-per-file (the whole trace); by "
      "default ProfilerStep, for traces without steps one-per-file" },
    { "exclude", 0, "REGEX", "", TL_FOR_REPS, AT(pattern, exclude),
      "leave out kernels, copies and memsets whose names match this extended regular expression, such as those that "
      "flush a cache or fill a buffer" },
    { "skip", 0, "N", "0", TL_FOR_REPS, AT(count, skip),
      "leave out the first N kernels, copies and memsets that each repetition launches" },
    { "compare", 0, NULL, "0", TL_FOR_REPS, AT(switch, compare),
      "print how each PATH differs from the first, with 95 % confidence intervals" },
    { "each", 0, NULL, "0", TL_FOR_REPS, AT(switch, each), "print every repetition" },
    { "kernels", 0, NULL, "0", TL_FOR_REPS, AT(switch, kernels), "print each kernel's median over the repetitions" },
    { "scale", 0, "CONDITIONS:FACTOR", "", TL_FOR_WHATIF, AT(texts, scale),
      "multiply the time of the selected work by FACTOR, 0 to 1000, such as name~gemm:0.5 or kind=copy:0; may be given "
      "several times, and the factors of the same work multiply. For communication the transfer after the last arrival "
      "is scaled, if it is selected on all ranks with a trace" },
    { "overlap", 0, "CONDITIONS", "", TL_FOR_WHATIF, AT(texts, overlap),
      "kernels, copies and memsets no longer wait for the selected communication, such as kind=all_reduce, by events "
      "or stream order, but only for the work that it had waited for on its rank; other communication, the host and "
      "other ranks still wait for it; may be given several times" },
    { "remove-sync", 0, NULL, "0", TL_FOR_WHATIF, AT(switch, remove_sync),
      "calls, blocking copies and unrecorded pauses in which the host waited for the device return at once, if it is "
      "known what released them; a launch that found the queue full still waits" },
    { "no-launch-overhead", 0, NULL, "0", TL_FOR_WHATIF, AT(switch, no_launch_overhead),
      "the host takes no time between its launches and waits (waits, input, garbage collection and the allocator stay "
      "as recorded), and work may start as soon as it is launched" },
    { "parser", 0, "NAME", "fast", TL_FOR_RUN | TL_FOR_CHECK | TL_FOR_AUGMENT | TL_FOR_REPS | TL_FOR_WHATIF,
      AT(parser, run.yajl_only),
      "fast: tlmpi's own reader for events as Kineto writes them, yajl for other events; yajl: yajl for all events; "
      "the result is the same" },
    { "max-memory", 0, "SIZE", "auto", TL_FOR_RUN | TL_FOR_CHECK, AT(size, run.max_memory),
      "memory of a process, such as 800M or 4G: a trace that needs more is read up to this limit, its rank is 'cut' "
      "and the exit status 1; auto: three quarters of the free memory of the machine or cgroup, divided by the "
      "processes there" },
    { "format", 0, "FORMAT", "table", TL_FOR_SHOW | TL_FOR_REPS | TL_FOR_DIFF | TL_FOR_WHATIF, AT(format, format),
      TL_FORMAT_WORDS "; in csv an apostrophe precedes a text that a spreadsheet would evaluate as a formula" },
    { "unit", 0, "UNIT", "terminal", TL_FOR_SHOW | TL_FOR_REPS | TL_FOR_DIFF | TL_FOR_WHATIF, AT(unit, unit),
      "unit of times: ns, us, ms or s; auto: each value in a suitable unit, and shares in percent; terminal: auto on a "
      "terminal, else ns" },
    { "columns", 0, "A,B", "", TL_FOR_SHOW, AT(text, columns), "these columns, in this order" },
    { "rank", 0, "LIST", "", TL_FOR_SHOW, AT(ranges, ranks),
      "rows of these ranks: numbers and ranges, such as 0-3,7; -1 is the whole job" },
    { "step", 0, "LIST", "", TL_FOR_SHOW, AT(ranges, steps), "rows of these steps; -1 is the whole trace" },
    { "where", 0, "COND", "", TL_FOR_SHOW, AT(texts, where),
      "rows for which COND holds, such as duration_ns>1ms, start_ns>=2s, kind=comm, name~gemm: a column, one of = != < "
      "<= > >= ~ !~ and a value, with ~ an extended regular expression; given several times, all must hold; name= has "
      "no value" },
    { "sort", 0, "COLUMN", "", TL_FOR_SHOW, AT(text, sort),
      "sort by a column: measures largest first, others smallest first; COLUMN:asc and COLUMN:desc set the order; "
      "equal rows keep the order of the table" },
    { "top", 0, "N", "0", TL_FOR_SHOW, AT(top, top),
      "at most the first N rows; 0 for all; P%: the rows with the most time, up to P percent of the sum of total_ns, "
      "else device_self_ns, else device_ns. For kernel and kernel_ranks a last row has the sum of all others" },
    { "top", 0, "N", "0", TL_FOR_WHATIF, AT(count, whatif_top),
      "print the N kernels and operators with the largest gain for the job if they take 10 % less time on all ranks "
      "(communication: its transfer), without the other changes" },
    { "width", 0, "N", "auto", TL_FOR_SHOW | TL_FOR_REPS | TL_FOR_DIFF | TL_FOR_WHATIF, AT(width, width),
      "cut a text in a table after N characters, 0: never; 'auto': on a terminal only" },
    { "ns", 0, NULL, "0", TL_FOR_COMPAT | TL_FOR_HTA | TL_FOR_HTA_DIFF, AT(switch, ns),
      "keep the fractions of time stamps, as HTA does with HTA_DISABLE_NS_ROUNDING=1" },
    { "include-last-step", 0, NULL, "0", TL_FOR_COMPAT | TL_FOR_HTA, AT(switch, include_last_step),
      "keep the last profiler step, which HTA leaves out" },
    { "num-kernels", 0, "N", "10", TL_FOR_COMPAT | TL_FOR_HTA, AT(count, hta.num_kernels),
      "kernels of each class and rank that kernel_breakdown_default names" },
    { "duration-ratio", 0, "Q", "0.8", TL_FOR_COMPAT | TL_FOR_HTA, AT(quantile, hta.duration_ratio),
      "beyond that number, kernels whose running total is above this quantile of the totals are also 'others'" },
    { "consecutive-kernel-delay", 0, "US", "30", TL_FOR_COMPAT | TL_FOR_HTA, AT(count, hta.consecutive_kernel_delay),
      "gap in us below which idle_time_breakdown and idle_interval_stats count it as kernel_wait" },
    { "runtime-cutoff", 0, "US", "50", TL_FOR_COMPAT | TL_FOR_HTA, AT(count, hta.runtime_cutoff),
      "calls longer than this are outliers of launch_stats_summary" },
    { "launch-delay-cutoff", 0, "US", "100", TL_FOR_COMPAT | TL_FOR_HTA, AT(count, hta.launch_delay_cutoff),
      "delays longer than this are outliers of launch_stats_summary" },
    { "max-queue-length", 0, "N", "0", TL_FOR_COMPAT | TL_FOR_HTA, AT(count, hta.max_queue_length),
      "length from which time_blocked_on_full_queue counts a queue as full; 0: 1024, 64 and 8" },
    { "num-candidates", 0, "N", "2", TL_FOR_COMPAT | TL_FOR_HTA, AT(count, hta.num_candidates),
      "number of ranks in potential_stragglers" },
    { "profiler-steps", 0, "LIST", "", TL_FOR_COMPAT | TL_FOR_HTA, AT(ranges, hta.profiler_steps),
      "steps for potential_stragglers, such as 3-5,7; by default all" },
    { "operator-name", 0, "NAME", "", TL_FOR_COMPAT | TL_FOR_HTA, AT(text, hta.operator_name),
      "frequent_patterns of the operators with this text in their names, on all ranks; by default of some common "
      "operators, on two ranks" },
    { "min-pattern-len", 0, "N", "3", TL_FOR_COMPAT | TL_FOR_HTA, AT(count, hta.min_pattern_len),
      "least number of kernels in a pattern; without --operator-name also 1" },
    { "top-k", 0, "N", "5", TL_FOR_COMPAT | TL_FOR_HTA, AT(count, hta.top_k),
      "number of patterns that patterns_overlay counts" },
    { "annotation", 0, "TEXT", "", TL_FOR_COMPAT | TL_FOR_HTA, AT(text, hta.annotation),
      "critical_path of annotations with this text in their names, on all ranks, '*' for the whole trace; by default "
      "of ProfilerStep and, on the first rank, of the whole trace" },
    { "instance-id", 0, "LIST", "", TL_FOR_COMPAT | TL_FOR_HTA, AT(ranges_from_0, hta.instance_id),
      "which of these annotations, counted from 0, such as 0,2 or 0-1: one path for each number and for each range; by "
      "default the first" },
    { "data-load-events", 0, "TEXT", "", TL_FOR_COMPAT | TL_FOR_HTA, AT(text, hta.data_load_events),
      "events with this text in their names are data loading in critical_path" },
    { "launch-edges", 0, NULL, "0", TL_FOR_COMPAT | TL_FOR_HTA, AT(switch, hta.launch_edges),
      "critical_path with an edge from every launch to its kernel, as HTA has with "
      "CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE=1" },
    { "overlay", 0, NULL, "0", TL_FOR_COMPAT | TL_FOR_HTA, AT(switch, hta.overlay),
      "also write overlaid_critical_path_FILE: each rank's trace with its first critical path in it, as HTA overlays "
      "it" },
    { "control-rank", 0, "LIST", "", TL_FOR_COMPAT | TL_FOR_HTA_DIFF, AT(ranges, hta.control_rank),
      "ranks of A to compare, such as 0-3,7; by default the first" },
    { "test-rank", 0, "LIST", "", TL_FOR_COMPAT | TL_FOR_HTA_DIFF, AT(ranges, hta.test_rank), "ranks of B to compare" },
    { "control-iteration", 0, "LIST", "", TL_FOR_COMPAT | TL_FOR_HTA_DIFF, AT(ranges, hta.control_iteration),
      "profiler steps of A to compare; by default the first" },
    { "test-iteration", 0, "LIST", "", TL_FOR_COMPAT | TL_FOR_HTA_DIFF, AT(ranges, hta.test_iteration),
      "profiler steps of B to compare" },
    { "gpus-per-node", 0, "N", "0", TL_FOR_COMPAT | TL_FOR_TRACELENS, AT(count, gpus_per_node),
      "number of ranks that share a node, for the tables of collectives; 0: unknown" },
    { "quiet", 'q', NULL, "0", TL_FOR_ALL & ~(unsigned)(TL_FOR_SHOW | TL_FOR_DESCRIBE | TL_FOR_ASK),
      AT(switch, run.quiet), "no progress, no warnings, no summary" },
    { "help", 'h', NULL, "0", TL_FOR_ALL, AT(switch, help), "print this and do nothing else" },
    { "version", 0, NULL, "0", TL_FOR_ALL, AT(switch, version), "print the version and do nothing else" },
};

enum { NOPTIONS = sizeof options / sizeof options[0] };

/* ---- reading ---- */

bool tl_is_option(const char *arg)
{
    return arg[0] == '-' && arg[1] != '\0';
}

static tl_status store(tl_cli *cli, const tl_option *o, const char *text, tl_error *err)
{
    if (cli == NULL)
        return TL_OK;
    cli->given[o - options] = text;
    return o->type->store(&(tl_option_given){ o->type, o->name, text, err }, (char *)cli + o->offset);
}

tl_status tl_options_default(tl_cli *cli, tl_error *err)
{
    tl_status st = TL_OK;
    cli->given = tl_calloc(NOPTIONS, sizeof *cli->given);
    for (const tl_option *o = options; o < options + NOPTIONS && st == TL_OK; o++)
        st = store(cli, o, o->initial, err);
    memset(cli->given, 0, NOPTIONS * sizeof *cli->given);
    return st;
}

/* Returns the tool whose tables the option of tlmpi compat is for; NULL: all tools. */
static const char *face_of(const tl_option *o)
{
    return (o->bits & TL_FOR_HTA) != 0         ? "hta"
           : (o->bits & TL_FOR_HTA_DIFF) != 0  ? "hta diff"
           : (o->bits & TL_FOR_TRACELENS) != 0 ? "tracelens"
                                               : NULL;
}

/* Returns the option with that name, or, if name is NULL, with that letter; NULL: none. */
static const tl_option *find_option(const char *name, size_t n, char letter, unsigned bits)
{
    for (const tl_option *o = options; o < options + NOPTIONS; o++)
        if ((o->bits & bits) != 0 &&
            (name != NULL ? strlen(o->name) == n && memcmp(o->name, name, n) == 0 : o->letter == letter))
            return o;
    return NULL;
}

/* Returns the error for an unknown option: another command's option, a mistyped one, or neither. */
static tl_status fail_unknown(const char *name, size_t n, unsigned bits, tl_error *err)
{
    const char *candidates[NOPTIONS];
    char word[64];
    snprintf(word, sizeof word, "%.*s", n < sizeof word ? (int)n : (int)sizeof word - 1, name);

    const tl_option *other = find_option(name, n, 0, TL_FOR_ALL);
    size_t ncommands;
    const tl_command *commands = tl_commands(&ncommands);
    for (size_t i = 0; i < ncommands && other != NULL; i++)
        if ((commands[i].bit & other->bits) != 0)
            return tl_fail(err, TL_EUSAGE, "--%s is an option of tlmpi %s, not of this command", word,
                           commands[i].name);

    for (size_t i = 0; i < NOPTIONS; i++)
        candidates[i] = (options[i].bits & bits) != 0 ? options[i].name : NULL;
    const char *meant = tl_suggest(word, candidates, sizeof *candidates, NOPTIONS);
    if (meant != NULL)
        return tl_fail(err, TL_EUSAGE, "there is no option --%s; did you mean --%s?", word, meant);
    return tl_fail(err, TL_EUSAGE, "there is no option --%s", word);
}

static tl_status fail_no_value(const tl_option *o, tl_error *err)
{
    return tl_fail(err, TL_EUSAGE, "--%s wants a value: --%s=%s", o->name, o->name, o->metavar);
}

static tl_status store_following(tl_cli *cli, const tl_option *o, int argc, char **argv, int *at, tl_error *err)
{
    /* if the next word looks like an option, the value was forgotten; a number may be negative */
    const char *next = *at + 1 < argc ? argv[*at + 1] : "";
    if (*next == '\0' || (tl_is_option(next) && !tl_is_digit(next[1])))
        return fail_no_value(o, err);
    (*at)++;
    return store(cli, o, argv[*at], err);
}

tl_status tl_option_read(tl_cli *cli, unsigned bits, int argc, char **argv, int *at, tl_error *err)
{
    tl_status st = TL_OK;
    if (argv[*at][1] != '-') { /* letters: -f, -fq, -oPREFIX, -o PREFIX */
        for (const char *p = argv[*at] + 1; *p != '\0' && st == TL_OK; p++) {
            const tl_option *o = find_option(NULL, 0, *p, bits);
            if (o == NULL)
                return tl_fail(err, TL_EUSAGE, "there is no option -%c", *p);
            if (o->metavar != NULL)
                return p[1] != '\0' ? store(cli, o, p + 1, err) : store_following(cli, o, argc, argv, at, err);
            st = store(cli, o, "1", err);
        }
        return st;
    }
    const char *name = argv[*at] + 2, *value = strchr(name, '=');
    const size_t n = strcspn(name, "=");
    const tl_option *o = find_option(name, n, 0, bits);
    if (o == NULL)
        return fail_unknown(name, n, bits, err);
    if (o->metavar == NULL)
        return value == NULL ? store(cli, o, "1", err) : tl_fail(err, TL_EUSAGE, "--%s takes no value", o->name);
    if (value == NULL)
        return store_following(cli, o, argc, argv, at, err);
    return value[1] != '\0' ? store(cli, o, value + 1, err) : fail_no_value(o, err);
}

tl_status tl_options_check_face(const tl_cli *cli, unsigned face, tl_error *err)
{
    for (const tl_option *o = options; o < options + NOPTIONS; o++)
        if (cli->given[o - options] != NULL && (o->bits & cli->command->bit) != 0 && (o->bits & TL_FACES) != 0 &&
            (o->bits & face) == 0)
            return tl_fail(err, TL_EUSAGE, "--%s is for tlmpi compat %s alone", o->name, face_of(o));
    return TL_OK;
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
        if (face_of(o) != NULL)
            tl_wrap_words(&w, tl_phrase_of("%s:", face_of(o)).text);
        tl_wrap_words(&w, o->doc);
        if (o->metavar != NULL && *o->initial != '\0') {
            char initial[400];
            snprintf(initial, sizeof initial, "(default: %s)", o->initial);
            tl_wrap_words(&w, initial);
        }
        tl_wrap_end(&w);
    }
}

/* Appends "name=value"; a file's value is its absolute path, or "given" with --reproducible. */
static void put_value(tl_bytes *out, const tl_cli *cli, const tl_option *o)
{
    const char *value = cli->given[o - options] != NULL ? cli->given[o - options] : o->initial;
    const bool file = o->decides == TABLES_BY_FILE && *value != '\0';
    char *path = file && !cli->run.reproducible ? realpath(value, NULL) : NULL;
    tl_bytes_say(out, "%s=%s\n", o->name, file && cli->run.reproducible ? "given" : path != NULL ? path : value);
    free(path);
}

char *tl_options_record(const tl_cli *cli, unsigned bits)
{
    tl_bytes text = { 0 };
    for (const tl_option *o = options; o < options + NOPTIONS; o++)
        if ((o->bits & bits) != 0 && o->offset != OFFSET(help) && o->offset != OFFSET(version) &&
            !(cli->run.reproducible && o->decides == NOTHING))
            put_value(&text, cli, o);
    tl_bytes_put(&text, "", 1);
    return text.v;
}

tl_status tl_options_restore(tl_cli *cli, unsigned bits, char *record, tl_error *err)
{
    char *rest;
    tl_status st = TL_OK;
    for (char *line = strtok_r(record, "\n", &rest); line != NULL && st == TL_OK; line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, '=');
        const tl_option *o = value != NULL ? find_option(line, (size_t)(value - line), 0, bits) : NULL;
        if (o != NULL && o->decides != NOTHING && cli->given[o - options] == NULL)
            st = store(cli, o, value + 1, err);
    }
    return st;
}
