/* hta.h - the tables of Holistic Trace Analysis (HTA), from the same traces, with its numbers.
 *
 * For people who come from HTA, and for checking against it: its rounding to microseconds, its choice of the rows, its
 * classes of kernels and its arithmetic in doubles.  Nothing of that enters the tables of tlmpi itself: there time
 * stamps are never rounded or read through doubles, waits and operators of the host are no device time, a rank without
 * device work spoils no other rank, and the last step counts.  From traces that it reads itself, with all categories.
 * May use: trace, trace_out and the common files of compat.
 *
 *     tl_hta_file files[] = { { "rank-0.json.gz", 0 }, { "rank-1.json.gz", 1 } };
 *     tl_hta_options options = { .files = files, .nfiles = 2, .out_dir = "out" };
 *     st = tl_compat_hta(&options, &incomplete, err);
 *
 * writes into out_dir
 *
 *     load_summary, events_by_category, events_by_iteration, gpu_events       what was loaded
 *     profiler_steps, profiler_step_windows, filter_counts, names
 *     temporal_breakdown, comm_comp_overlap, comm_comp_overlap_unrounded      how busy each rank was
 *     kernel_type_breakdown, kernel_type_breakdown_no_memory                  kernels, launches, annotations
 *     kernel_breakdown_all, kernel_breakdown_default, timeline_gpu
 *     launch_stats, launch_stats_summary, potential_stragglers
 *     cpu_user_annotation_breakdown, gpu_user_annotation_breakdown
 *     gpu_kernels_with_user_annotation, gpu_kernels_by_user_annotation
 *     aten_op_kernels_and_delay
 *     idle_time_breakdown, idle_time_breakdown_thresholds, idle_interval_stats
 *     queue_length_time_series, queue_length_summary, time_blocked_on_full_queue
 *     memory_bw_time_series, memory_bw_summary, counter_events
 *     callgraph_rankN, callgraph_by_depth_rankN, callgraph_threads            call graphs, new and old, and what is
 *     callstack_old_rankN, callstack_old_by_depth_rankN                       found by them
 *     frequent_patterns_OP_minK, patterns_overlay_OP_minK_rankN
 *     cupti_counters_rankN
 *     critical_path_TAG_stats, _summary, _bound_by, _path, _edges             what made steps as long as they were
 *     execution_trace_links                                                   with an execution trace
 *     memory_timeline, memory_timeline_summary                                of a memory timeline alone
 *
 * and tl_compat_hta_diff, of two jobs,
 *
 *     compare_DEVICE, compare_DEVICE_short, compare_DEVICE_all_iterations     DEVICE: all, cpu, gpu
 *     ops_diff_DEVICE
 *
 * as .csv, with HTA's default parameters or others, and notes.txt: a line for each fact that the
 * tables do not show, among them where HTA itself would have given up and what was done instead.  A table that HTA
 * could not make for any rank is not written.
 */
#ifndef TLMPI_COMPAT_HTA_HTA_H
#define TLMPI_COMPAT_HTA_HTA_H

#include "tlmpi/base/ranges.h"
#include "tlmpi/base/status.h"

/* Parameters of HTA's functions, under HTA's names.  A name that several functions share sets only the tables named
 * here; elsewhere HTA's default holds. */
typedef struct tl_hta_parameters {
    /* kernel_breakdown_default: names of a class that keep a line of their own; and of the running totals of their
     * times the quantile above which names are others. */
    int64_t num_kernels;
    double duration_ratio;

    int64_t consecutive_kernel_delay;            /* idle_time_breakdown, idle_interval_stats: us */
    int64_t runtime_cutoff, launch_delay_cutoff; /* launch_stats_summary: us */
    int64_t max_queue_length;                    /* time_blocked_on_full_queue; 0: three of them */

    /* potential_stragglers: their number, and the steps they are looked for in; without a range all steps. */
    int64_t num_candidates;
    tl_ranges profiler_steps;

    /* frequent_patterns, patterns_overlay: an operator; NULL: some that are common, and of those a length of 1, too. */
    const char *operator_name;
    int64_t min_pattern_len, top_k;

    /* critical_path, on all ranks, of what the rows with this in their names span: those from the first to the last of each
     * range, the first one without a range; "*": of the whole trace.  NULL: of steps 0 and 1, of the whole of the first
     * rank, and of some others.  What has this in its name loads data; NULL: nothing.  Each launch has an edge to its
     * kernel. */
    const char *annotation;
    tl_ranges instance_id;
    const char *data_load_events;
    bool launch_edges;
    bool overlay; /* the first path of each rank in a copy of its trace, overlaid_critical_path_FILE */

    /* tl_compat_hta_diff: ranks and steps of either job; without a range the first. */
    tl_ranges control_rank, test_rank, control_iteration, test_iteration;
} tl_hta_parameters;

/* HTA's own. */
extern const tl_hta_parameters tl_hta_defaults;

typedef struct tl_hta_file {
    const char *path;
    int64_t rank; /* tl_hta_rank_of_file decides it as HTA does */
} tl_hta_file;

typedef struct tl_hta_options {
    const tl_hta_file *files;            /* of two files of one rank the later is taken */
    size_t nfiles;                       /* 0: there is a memory timeline alone */
    const char *memory_timeline;         /* a raw one of the profiler's; NULL: none */
    const char *execution_trace;         /* of one of the ranks, whose rows are linked to its nodes; NULL: none */
    const char *out_dir;                 /* made if missing, parents too; tables in it are replaced */
    bool ns;                             /* time stamps keep their fractions (HTA_DISABLE_NS_ROUNDING=1) */
    bool include_last_step;              /* the last profiler step stays (include_last_profiler_step=True) */
    const tl_hta_parameters *parameters; /* NULL: HTA's defaults */
} tl_hta_options;

/* The rank that HTA gives a file: the number after the first "rank": in the text that has white space after the colon,
 * on one line; 0 where there is none.  Names and structure do not count.  Reads up to that place; a damaged file is
 * searched as far as it can be read.  TL_EINPUT: it cannot be opened. */
tl_status tl_hta_rank_of_file(const char *path, int64_t *rank, tl_error *err);

/* Reads the files and writes the tables.  A file that cannot be used is left out, and *incomplete is set, as it is
 * where a file is damaged.  TL_EINPUT: no file has a row to analyse (notes.txt tells why, the tables are not written);
 * TL_EOUTPUT.  Each table appears whole or not at all. */
tl_status tl_compat_hta(const tl_hta_options *options, bool *incomplete, tl_error *err);

/* Compares two jobs: the tables go into the folder of the first one's options.  Failures as above; TL_EINPUT: a side has
 * no profiler steps; TL_EUSAGE: a rank or a step is asked for that is not there. */
tl_status tl_compat_hta_diff(const tl_hta_options *control, const tl_hta_options *test, bool *incomplete,
                             tl_error *err);

#endif
