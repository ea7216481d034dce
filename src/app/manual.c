/* manual.c - pages of the manual that no schema provides: how the answers are found, and what they leave out. */
#include "cli.h"

#include <string.h>

/* ---- pages ---- */

/* Questions, and the table with options of tlmpi show that answers each. */
static const char *const howto_lines[] = {
    "tlmpi show traces.h5, with these words after it:",
    "who holds the job up, when, and why\tculprit",
    "where that rank spends more than its peers\texcess",
    "what the recordings lack, and what was done about it\thealth",
    "what each rank's time was bound by: its critical path\tpath_sum --where step=-1",
    "its critical path piece by piece, where a run had --path\tpath --rank 3 --sort duration_ns --top 10",
    "where the time of all ranks went\tbreakdown --rank -1 --step -1",
    "which kernels take the time, over all ranks\tkernel_ranks --top 10",
    "on which rank a kernel is slowest\tkernel_ranks --columns name,slowest_rank,slowest_ns,apart_ranks",
    "how a rank's kernels are spread\tkernel --rank 3 --top 10",
    "which operators cost most, with what they call\toperator --rank 3 --top 10",
    "which operator launched the work itself\toperator --rank 3 --sort device_self_ns --top 10",
    "the same over all ranks, and on which rank it is slowest\toperator_ranks --top 10",
    "what called what, down to the kernels\tcall_tree --rank 3",
    "the same, not deeper than three levels\tcall_tree --rank 3 --where \"depth<3\"",
    ("in which operator and annotation a kernel was launched\tinterval --where name~gemm --columns "
     "name,operator,annotation"),
    "what the backward pass of operators costs\tcall_tree --rank 3 --where \"forward>=0\"",
    "how long launches and work of operators took to begin\toperator --rank 3 --columns name,to_launch_ns,to_work_ns",
    "hardware counters by call stack and kernel\tcounter --rank 3",
    "what modules (nn.Module) cost, where Python functions were recorded\tcall_tree --rank 3 --where kind=module",
    "in which of them communication is exposed\tcall_tree --rank 3 --where kind=module --sort comm_exposed_ns --top 10",
    "what the outermost operators cost\toperator --rank 3 --where depth=0",
    "how much memory a rank had, and where most\tmemory",
    "when memory was given and taken back, where a run had --series\tseries --rank 3 --where what~memory",
    "what takes the memory, from a raw memory timeline\tmemory_category",
    "what a node of an execution trace (ExecutionTraceObserver) cost\texecution_node --rank 3",
    "which files beside traces were read, and what was lost\tside_file",
    "which kernels an operator launches again and again\tpattern --rank 3 --top 10",
    "what forward or backward costs\tannotation --rank 3 --top 10",
    "on which rank an annotation costs most\tannotation_ranks --columns name,most_rank,slowest_rank,apart_ranks",
    "what annotations cost on the device\tannotation_device --rank 3",
    "what tensor, data, pipeline parallelism cost\texposed --rank -1 --step -1",
    "the pipeline bubble\texposed --where parallelism=pipeline --step -1",
    "why devices were idle\tidle_summary --rank -1 --where \"place>0\" --sort place --top 10",
    "what a stream waited for, and how long\tstream_idle --rank 3",
    "what launches cost, and how late their work starts\tlaunch --rank 3",
    "how much work waited in a stream\tqueue --rank 3",
    "how fast copies are\tcopy --rank 3",
    "queues over time, where a run had --series\tseries --where what=queue",
    "bandwidth of copies over time, where a run had --series\tseries --where what=memcpy",
    "which phase takes a rank longer, without a profiler\tphase_verdict",
    "how long each phase of a step took\tphase_step --rank 3 --top 10",
    "the bandwidth of a group's collectives\tbandwidth",
    ("how evenly experts are loaded (data/examples/expert_load.py has the sums)\t"
     "arrival --columns rank,in_bytes,wait_ns"),
    "kernels that no rule names\tkernel_ranks --where unclassified=1",
    "--where COND picks rows of any table, as interval --where kind=comm --where \"duration_ns>1ms\".",
    NULL,
};

static const char *const names_lines[] = {
    "/names holds one text a row (UTF-8, of any length). A column of type name holds the number of a row of it.",
    "In Python:",
    "  f = h5py.File(\"traces.h5\")",
    "  rows = f[\"ranks/00003/interval\"][:]",
    "  print(f[\"names\"].asstr()[rows[\"name\"][0]])",
    NULL,
};

static const char *const name_bytes_lines[] = {
    "The texts of /names one after the other, each with a 0 after it. It is what tlmpi reads.",
    NULL,
};

static const char *const seal_lines[] = {
    "The first 512 bytes of a result say how long it is and what all others sum to. tlmpi checks that before it reads "
    "a result and refuses one of which a byte is not as tlmpi wrote it (exit status 3), whether a disk or a program "
    "changed it. So put what you want to add into a file of its own. HDF5 passes over these bytes, and has checksums "
    "of its own over the rows of every table and over /name_bytes.",
    NULL,
};

static const char *const ranks_lines[] = {
    "/ranks/00003/interval shows the rows of rank 3 in /tables/interval, and only them; so for every table that has an "
    "index, in files of up to 1024 ranks. They are views (virtual datasets), which hold nothing themselves. With more "
    "ranks there is no /ranks: the index has a rank's rows (first_row, nrows).",
    NULL,
};

static const char *const attributes_lines[] = {
    "epoch_ns\tUnix time in ns from which the file counts time",
    "Conventions\ttlmpi-1: how the file is laid out",
    "schema_version\tgoes up when a reader must know of a change",
    "creator\tthe program that wrote the file",
    "creator_version\tits version",
    ("settings\tevery option with its value; with --reproducible those that decide what is in the tables, but no file "
     "names"),
    "command_line\tas it was typed",
    "history\tUTC time and command line",
    "hostname\twhere proc 0 ran",
    "inputs\tthe paths that were read, a line each: tlmpi whatif reads them again",
    "slurm_job_id\tthe batch job, if it was one",
    "git_commit\tthe commit that the program was built from, if the build knew it",
    "With --reproducible the file has none of the last six.",
    "selection\twhat of the traces the tables are of, where --ranks, --steps or --time select a part",
    "selection_notes\twhich parts of that nothing is of, and what there is; what is whole all the same",
    ("A table has a description, a text per column in column_types, column_units and column_roles, and a line per "
     "column in column_docs."),
    NULL,
};

static const char *const selection_lines[] = {
    "tlmpi run --ranks LIST reads the traces of these ranks alone. --steps LIST and --time LIST take a part of each: "
    "all tables are then as those of traces in which nothing else was recorded.",
    "An event of the host (a call, operator, annotation or Python function) is in when it begins in the step, or in "
    "the time, and then whole. Work of a device is in when the call is that queued it, wherever it runs; what has no "
    "call in the trace goes by its own start.",
    "A step is from its mark to the next, as in the whole trace. --time 10-20,35ms-0.1s is in ms or in the unit that "
    "is given, from the first that any rank of the job does in the recording; times of ranks are compared as they were "
    "recorded. A step that is not whole in it is none: its work is in no step.",
    "Work that cannot have run as long as the trace says (too_long in table rank) is cut as in the whole trace, also "
    "where what shows it is left out.",
    "What lies between two parts that were selected is idle time of the whole trace (rows of step -1), and gaps there "
    "are gaps. Rows of steps do not know of it.",
    "Who holds the job up is judged by the steps that are selected alone. Fewer steps tell less of what is chance: the "
    "trust says so. A rank that --ranks leaves out has no trace here: nothing is told of when it came.",
    "What nothing is left of is refused, and what there is is told. A part that selects nothing of any rank, as step "
    "99 of --steps 10,99, is told by the run and by tlmpi ask.",
    "Of files of phases (.jsonl) beside traces the records of these ranks and steps count; they do not tell the time, "
    "and count whole of what --time selects. So do memory timelines of the ranks that are read. Of execution traces, "
    "nodes whose events are selected are linked. The summary and tlmpi ask say it.",
    "The attribute selection of the result says what was selected. Names, streams and the like of finished rows are "
    "selected by tlmpi show --where.",
    NULL,
};

/* What earlier results had, and what tells it now. */
static const char *const changes_lines[] = {
    "Results of schema version 6 lack tables and columns of earlier ones, since others tell the same:",
    "launch_step\tlaunch has the fewest, median and most calls in a step; interval has launch_ns and step of each",
    "bubble\texposed --where parallelism=pipeline: waiting_ns of kinds send, recv and send_recv",
    "straggler\tcause_from: where no cause is known, cause_share has no value; so of culprit",
    "culprit\tsteps: those of a rank in table blame_step; untimed and events: of table rank",
    "critical_path\tshare: path_ns by the sum of rank -1; own_ns: the activities of a rank in table breakdown",
    "group\tmissing, unmatched, suspect and transfer_ns are sums of table collective (group, state, suspect)",
    "bandwidth\tleast and most transfer_ns: those of table collective (group, kind, bytes)",
    "collective\texpected: column seen of the group; loose: by the kind",
    "clock\tbefore_launch and before_launch_ns: of all work in table rank",
    ("quality\tmeaning: tlmpi describe quality; sums over ranks of table rank (before_launch, too_long), and checks "
     "that were 0 by construction (wait_balance, blame_balance)"),
    ("phase_file, memory_file, execution_trace\tside_file, with a kind: entries (records, nodes), lost (no_json, "
     "no_key, no_duration, without_id); counts of nodes by link are those of execution_node, times those of "
     "memory_timeline"),
    ("rank\tstreams, steps: rows of tables queue, step; clock_base: base_time_ns is 0 or not; what the file system "
     "tells of the file"),
    "step\tintervals: those of table interval",
    "gap\tsync_dur_ns, sync_correlation: the call with sync_uid in traceEvents",
    ("idle\tpeer_ns: that of its row ALL in idle_summary; late_rank: table gap_peer; unlinked: gaps without a "
     "launch_uid"),
    "stream_idle\tintervals, busy_ns: table queue, interval; idle_device_busy_ns: gaps of table gap",
    "queue\tno_launch, before_launch: of all streams in table rank",
    ("kernel_ranks, operator_ranks, annotation_ranks\tcounts, deviation, most and median of ranks: table kernel, "
     "operator"),
    "operator, annotation, phase\tquartiles but the median",
    "pattern\tof_operator: the rows of the operator, and what has none",
    "bandwidth\talgbw_gb_s: bytes / transfer_ns",
    "mix\tbreakdown: compute_ns, comm_ns - comm_exposed_ns (both at once), copy_ns - copy_exposed_ns",
    NULL,
};

static const char *const formats_lines[] = {
    "A trace is known by what is in it, not by its name; in a folder files with the endings below are looked at. What "
    "another program has written and tlmpi does not read is named, and left out.",
    "Kineto\t.json, .json.gz, .json.zst: PyTorch's profiler. All that tlmpi tells it can tell of it.",
    "Nsight Systems\t.sqlite, .sqlite3, .db, as nsys export --type sqlite writes, of any version, by the tables and "
    "columns that are there: kernels, graphs recorded as one piece of work, copies, memsets, runtime and driver calls, "
    "synchronisations, events, ranges of NVTX. Read where libsqlite3 was there when tlmpi was built.",
    "  - Each process with work on a device is a rank, FILE/pid-144; of a file of one process each of its devices, "
    "FILE/device-1, with all that the host did. A file of one rank has the rank that RANK, OMPI_COMM_WORLD_RANK, "
    "PMIX_RANK or SLURM_PROCID told where it was recorded; ranks of others are numbered by file, pid and device.",
    "  - Ranges with op_id or seq (torch.autograd.profiler.emit_nvtx), and aten::..., are operators, others "
    "annotations. Where no annotation is called ProfilerStep, those that count, as iteration 5, iteration 6, are "
    "steps: their word has step or iter in it, and of several families the one that lasts longest in sum is taken.",
    "  - It cannot tell shapes, Python functions, process groups by name and the ranks in them. Sizes and "
    "communicators of collectives it tells where NCCL has recorded them and the export has kept them (--include-blobs "
    "true).",
    "rocprofv3\t.db, as rocprofv3 writes where ROCm is 7 or later (rocpd, schema 3), one of each process: kernels, "
    "copies, calls of HIP and HSA, ranges of roctx, which are read like those of NVTX, calls of RCCL. Read where "
    "libsqlite3 was there when tlmpi was built.",
    "  - A process has the rank that RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK or SLURM_PROCID told it.",
    "  - It cannot tell shapes, Python functions, sizes and groups of collectives, what waits are for, and times of "
    "day: clocks of ranks are set right by their collectives alone. Memsets are kernels. Databases merged into one are "
    "not read.",
    "phases\t.jsonl, as libtlmpi_record writes them: how long phases of the host took.",
    "memory\t.raw.json.gz: timelines of memory by category, beside traces.",
    "execution traces\t.json, of PyTorch: the operators of a trace as nodes, beside traces.",
    "tlmpi check says of each file what it lacks.",
    NULL,
};

static const tl_manual_page pages[] = {
    { "formats", "files that are read, and what each cannot tell", formats_lines },
    { "howto", "which table answers a question", howto_lines },
    { "names", "texts of the names in the tables", names_lines },
    { "name_bytes", "the same texts as bytes", name_bytes_lines },
    { "seal", "how a result is known to be whole", seal_lines },
    { "ranks", "the rows of one rank", ranks_lines },
    { "selection", "some ranks, steps or a part of the time alone", selection_lines },
    { "attributes", "what the file says of itself, on its root group", attributes_lines },
    { "changes", "what earlier results had, and what tells it now", changes_lines },
};

const tl_manual_page *tl_manual_pages(size_t *n)
{
    *n = sizeof pages / sizeof pages[0];
    return pages;
}

/* ---- notes on tables ---- */

static const char *const rank_notes[] = {
    "Folders are searched with everything below them; only what has the ending of a format counts, as .json, .json.gz "
    "or .json.zst: tlmpi describe formats lists them. What is packed otherwise (xz, zip, tar ...) is not read, and "
    "told, and so is zstd where libzstd was not there when tlmpi was built. A file that is named twice, or by a link "
    "as well, is read once, unless its names tell several ranks, and so is one trace in several files, as x.json and "
    "x.json.gz. A pipe may be named, too: one proc reads it, once.",
    "The rank of a trace is what its distributedInfo says, else what the file's name says (also by places on axes: "
    "TP-1-PP-0), else the next free number of a run that it fits, in the order of the names, 2 before 10: of that "
    "time, and neither world size, process groups, device nor process speak against it.",
    "Several runs in one folder are told apart by world size, process groups, time and names: of those with most ranks "
    "the newest is taken, and --run list says what they are. Where all but a rank's number says that two traces of a "
    "rank are of one run, the number of one is wrong: it gets the one that its name or its process id tells.",
    "A damaged trace is read as far as it can be. A bad event costs one event; of a file that is cut every whole event "
    "before the cut counts; of a text longer than 64 KiB the beginning. The other ranks are analysed in any case.",
    "Exit status 1: events were lost, a trace was unusable, a path that was named gave none, or a trace was left out "
    "that is no other recording of the same ranks, unless --run has chosen. Ranks of which there is no trace are "
    "named, and are no reason for it.",
    "Several procs share a plain file where there are more procs than traces; one that is packed is read by one.",
    NULL,
};

static const char *const step_notes[] = {
    "Steps are those that ProfilerStep# marks. A rank without marks, or with other numbers than the rest, has the "
    "steps of the collectives in which it meets the others (steps_from in table straggler).",
    "Where no trace has such marks, the iterations of a server are steps, if it has marked two or more: step[DECODE "
    "bs=64 ...] of SGLang, execute_context_3(1024)_generation_12(12) and execute_new_3_cached_12 of vLLM, [Executor] "
    "_forward_step of TensorRT-LLM, prefill[bs=2 ...] and decode[bs=64 ...] of ATOM. They are numbered from 0 in order "
    "of time, and count where all ranks have as many, in the same order of prefill, decode and mixed ones; else none is "
    "a step. With a draft model each of its passes that is marked is a step, too.",
    "Where no trace has marks, who holds the job up is told by steps numbered from 0: those after which the "
    "collectives of the rank that takes part in most come again. All other tables take such a trace for one step.",
    NULL,
};

static const char *const breakdown_notes[] = {
    "Each instant counts once: as compute, else as communication, else as copy, else as idle. So the parts sum up to "
    "the wall time, to the nanosecond. Waits that the profiler recorded on a stream (cuda_sync) are no work.",
    NULL,
};

static const char *const interval_notes[] = {
    "Whether an event is device work is decided by its category (kernel, gpu_memcpy, gpu_memset and their old names), "
    "never by its stream. Whether a kernel communicates is decided by the arguments of its collective, then by an "
    "ordered list of names (NCCL, RCCL, MSCCL, NVSHMEM, DeepEP, custom all-reduces ...), then by the operator that "
    "launched it, then by what it does: a kernel of no known name that begins apart on several ranks and ends together "
    "on them communicates, and all traces are read once more. Any other counts as compute, and a run prints the share "
    "of these.",
    "--rules FILE puts rules of your own before these:",
    "  [{\"contains\": \"my_ring\", \"kind\": \"comm\", \"collective\": \"all_reduce\"},",
    "   {\"starts\": \"zero_fill\", \"kind\": \"memset\"}]",
    "A rule has one pattern (contains, starts or equals), a kind (comm, compute, memcpy or memset) and, for comm, "
    "perhaps a collective. The first that fits wins. What is wrong in the file is refused with its line, and so is a "
    "rule to which the earlier ones leave no name.",
    NULL,
};

static const char *const idle_notes[] = {
    "A device in a collective is busy, also while it waits there for a late rank: that is comm_waiting_ns of table "
    "breakdown, and table arrival has each wait.",
    "It is idle for others (peer_ns of idle_summary, table gap_peer) where the host waits for them, where the host is "
    "in a collective of hosts (Gloo, MPI, a barrier), or where one of the rank's devices communicates and another "
    "needs the result.",
    NULL,
};

static const char *const collective_notes[] = {
    "Collectives are matched by sequence number where traces have it; else by the order of their launches in the step, "
    "which does not depend on when each profiler began; else by when they ended. Sends and receives are matched by "
    "sender, receiver and order; not between two stages of a pipeline of which only one has marks of steps.",
    "What is suspect is shown, and left out of sums.",
    NULL,
};

static const char *const clock_notes[] = {
    "Clocks are corrected where what they say is impossible: in an all-reduce, all-gather, reduce-scatter or barrier a "
    "rank cannot leave before the last has come, and no message is received before it is sent. Each of these bounds "
    "how far two clocks may be apart.",
    "How far clocks are apart, whether they drift and whether one steps is read off the ends of collectives and of "
    "messages sent both ways, each weighed by what it scatters by: one offset a host, or one a rank where hosts do not "
    "explain what is impossible.",
    "Times are shifted where that breaks fewer bounds than the clocks as recorded do, or where the ends of several "
    "ranks of a host agree that it is off by more than they scatter. Else ends are no evidence: transfers differ, too. "
    "Column sigma_ns says how far off a clock may be after that.",
    "--clock none shifts nothing. --clock force shifts also clocks that are possible as recorded.",
    NULL,
};

static const char *const straggler_notes[] = {
    "Every wait in a matched collective is charged to the ranks that came late, and passed on where these had waited "
    "for others themselves: the charges sum up to the waits, to the nanosecond (table blame). Nobody is charged where "
    "the clocks cannot tell who came last, nor for waits in sends and receives, which the schedule of a pipeline "
    "brings with it: table quality counts late senders and late receivers.",
    "That does not vote on who is named. A rank is late where its own work (its device's, its host's) takes longer "
    "than that of ranks of its role in the same steps: what clocks tell of others plays no part. Lateness tells who "
    "and when; whether chance explains it is told by Student's t over the noise of the role, for all tries of the job "
    "together (--alpha).",
    "What it costs is simulated: the graph of all ranks' work, launches, waits and collectives is replayed, which "
    "unchanged gives the measured times to the nanosecond, with what the rank's work exceeds that of its peers by "
    "taken off. All who are late are repaired together; who can then be left out for less than --least-cost is not "
    "needed, and not named. What nobody is at fault for is in whatif: work that differs by chance (ideal), roles of "
    "unlike work (balanced), hosts (host_free).",
    "Why it is late is told by the same replay: of what its repair gains, what each thing that it does would gain "
    "alone, its computing, copies, additional work, waits that peers do not have, and what its host did. What has 80 % "
    "of it is the cause; else it is mixed. Names of kernels, operators and annotations then say where.",
    "What this cannot tell:",
    "  - who is late in a job of a single step: nothing tells lateness from chance there",
    "  - who is slow in all steps and does what no other rank does, as the only rank of a stage",
    "  - a link that is slow in all steps, in the only group of its kind",
    "  - half of a role that is slow: then the others are fast",
    "  - two ranks that pause once or twice each: what one is late by may be what the other is by chance",
    NULL,
};

static const char *const queue_notes[] = {
    "tlmpi run --series writes the length of each queue over time (table series); tlmpi augment draws it.",
    NULL,
};

static const char *const path_notes[] = {
    "The path of a rank leads from the last instant that is known of it back to the first, at every instant to what "
    "was waited for last: the work before on the stream or on another one, the launch, the host's work before that, or "
    "the work that released a host which waited for its device. So each instant is on it once, and what lies in the "
    "window of a step (table step) is the path of that step, as table breakdown cuts work to it. A rank without marks "
    "of its own has its time in the step whose work the path leads to. After the last event the host works until the "
    "mark of its step ends.",
    "Where a rank waits for another one in a collective, its path goes on with what it did itself before it came; the "
    "rank that came last is named (peer). Table critical_path goes on there: it is the one path of the whole job.",
    "What starts later than 0.5 ms (parameter wake) after all that it is known to have waited for is unexplained. Host "
    "work is told apart as far as traces name input; a launch call is host work, what follows until the start is "
    "overhead.",
    "tlmpi run --path writes the path piece by piece, with kernels and operators (table path); tlmpi augment --result "
    "draws that.",
    NULL,
};

static const char *const copy_notes[] = {
    "The bandwidth of a copy is what the trace says, where that fits its bytes and its duration (in older traces "
    "durations are whole microseconds, and bandwidths exact), else its bytes / its duration. It is not known where the "
    "bytes are not, as of some copies of ROCm, or where the duration is 0.",
    "tlmpi run --series writes it over time (table series); tlmpi augment draws it.",
    NULL,
};

static const char *const memory_notes[] = {
    "tlmpi run --series writes the memory events of a trace one by one (table series). The raw memory timelines that "
    "export_memory_timeline of PyTorch's profiler writes (names that end in .raw.json.gz, .raw.gz or .raw.json) are "
    "read beside traces, or alone: side_file has the files, memory_category what each category had at most, "
    "memory_timeline all of it over time. The rank is the one that the file's name tells. These tables are in files "
    "alone that have rows of them.",
    NULL,
};

static const char *const execution_notes[] = {
    "An execution trace (of PyTorch's ExecutionTraceObserver: JSON with schema and nodes, packed or not) has the "
    "operators of a run with their arguments, and without times. One that lies beside traces, or is named with them, "
    "is of the rank that its name tells (rank_3.json), else of the one whose trace is of its process (pid), else of "
    "the only one.",
    "A node is linked to the operators and annotations (cpu_op, user_annotation) that have its rf_id as their Record "
    "function id, and its name. Where no event of a trace has such an id above 0, as in older ones, the External id "
    "counts: it is the same number where both recordings began together, and the name tells where they did not. A "
    "trace of another process is of another run: no node is linked. tlmpi compat hta links as Holistic Trace Analysis "
    "does: by the External id alone, whatever the name, and nothing of a file that has ids outside of the trace's.",
    "Work counts for the innermost node that is open on the thread of its launch; then for its parents as the "
    "execution trace has them, which may have run on other threads. These tables are in files alone that have rows of "
    "them.",
    NULL,
};

static const char *const bandwidth_notes[] = {
    "The size of a message is told by the arguments of the kernel, else by those of the operator around its launch. "
    "Where neither has any, as in older traces, it follows from the shapes and types of tensors that the operator "
    "(c10d::..., record_param_comms) or the annotation (nccl:...) around the launch was given, if the profiler "
    "recorded them (record_shapes): of an all-reduce, broadcast or reduce-scatter what goes in, of an all-gather what "
    "comes out, or what goes in times the ranks of the group, of an all-to-all what the operator was given (the "
    "annotation of one of lists has its first tensor alone). Where one operator launched several of them, or types "
    "differ, the size is unknown (-1).",
    NULL,
};

static const char *const phase_notes[] = {
    "A rank that is longer in a phase than its peers is named where the others are shown to wait meanwhile: where "
    "their phases with a collective are as much longer.",
    "Where one phase holds both work and a collective, it is equally long on all ranks and hides who is slow; then no "
    "rank is named, until the folder has a Kineto trace of some of the steps, whose waits are taken off.",
    "A rank that comes late because of something that no phase covers is named for the time outside of phases; a rank "
    "that alone has a phase, as checkpoints of rank 0, for that phase. One or two late steps are taken for chance, "
    "unless a rank alone has the phase. Phases around sends and receives of a pipeline do not tell one stage from "
    "another.",
    NULL,
};

static const char *const diff_notes[] = {
    "What differs otherwise (device, ranks, world size, input, damage) is told first. Nothing is named that may be "
    "chance: steps are compared by a rank test, kernels by a t test over ranks; with one step each, the text says that "
    "nothing tells.",
    NULL,
};

static const struct {
    const char *table;
    const char *const *lines;
} notes[] = {
    { "phase_verdict", phase_notes },
    { "diff", diff_notes },
    { "rank", rank_notes },
    { "step", step_notes },
    { "breakdown", breakdown_notes },
    { "interval", interval_notes },
    { "idle", idle_notes },
    { "collective", collective_notes },
    { "clock", clock_notes },
    { "straggler", straggler_notes },
    { "queue", queue_notes },
    { "copy", copy_notes },
    { "memory", memory_notes },
    { "memory_category", memory_notes },
    { "bandwidth", bandwidth_notes },
    { "path_sum", path_notes },
    { "path", path_notes },
    { "execution_node", execution_notes },
};

const char *const *tl_manual_notes(const char *table)
{
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (strcmp(notes[i].table, table) == 0)
            return notes[i].lines;
    return NULL;
}

const char *tl_why_empty(const char *table)
{
    static const char no_memory[] = "not available: no trace has memory events (profile_memory of PyTorch's profiler)";
    static const char no_timeline[] = "not available: there is no raw memory timeline (.raw.json.gz, as "
                                      "export_memory_timeline of PyTorch's profiler writes it)";
    static const char no_execution[] = "not available: there is no execution trace (JSON with schema and nodes, as "
                                       "ExecutionTraceObserver of PyTorch writes it)";
    static const char no_series[] = "not available: it is large, and written where tlmpi run is called with --series";
    static const struct {
        const char *table, *reason;
    } reasons[] = {
        { "counter", "not available: no trace has hardware counters (cuda_profiler_range)" },
        { "memory", no_memory },
        { "memory_category", no_timeline },
        { "memory_timeline", no_timeline },
        { "side_file", "there are no files of phases, memory timelines or execution traces" },
        { "execution_node", no_execution },
        { "annotation_device", "not available: no trace has annotations of the device (gpu_user_annotation)" },
        { "call_tree", "no trace has operators, annotations or device work" },
        { "pattern", "no operator launched the same three kernels, or more, twice" },
        { "series", no_series },
        { "path",
          "not available: it is large, and written where tlmpi run is called with --path; path_sum has its sums" },
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (strcmp(reasons[i].table, table) == 0)
            return reasons[i].reason;
    return NULL;
}
