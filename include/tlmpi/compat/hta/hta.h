/* hta.h - the tables of Holistic Trace Analysis (HTA), from the same traces, with its numbers.
 *
 * For people who come from HTA, and for checking against it: its rounding to microseconds, its choice of the rows, its
 * classes of kernels and its arithmetic in doubles.  The tables of tlmpi itself use none of these rules: their time
 * stamps are never rounded or read as doubles, waits and operators of the host are not device time, a rank without
 * device work affects no other rank, and the last step counts.  The traces are read here, with all categories.
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
 *     callgraph_rankN, callgraph_by_depth_rankN, callgraph_threads            call graphs, new and old
 *     callstack_old_rankN, callstack_old_by_depth_rankN
 *     frequent_patterns_OP_minK, patterns_overlay_OP_minK_rankN               found in the call graphs
 *     cupti_counters_rankN
 *     critical_path_TAG_stats, _summary, _bound_by, _path, _edges             what decided how long steps took
 *     execution_trace_links                                                   with an execution trace
 *     memory_timeline, memory_timeline_summary                                from a memory timeline
 *
 * and tl_compat_hta_diff, on two jobs,
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
    /* kernel_breakdown_default: the number of names of a class that keep a line of their own, and the quantile of the
     * running totals of the names' times above which a name counts among the others. */
    int64_t num_kernels;
    double duration_ratio;

    int64_t consecutive_kernel_delay;            /* idle_time_breakdown, idle_interval_stats: us */
    int64_t runtime_cutoff, launch_delay_cutoff; /* launch_stats_summary: us */
    int64_t max_queue_length;                    /* time_blocked_on_full_queue, kernels; 0: three lengths are tried */

    /* potential_stragglers: how many ranks are listed, and in which steps; without a range all steps. */
    int64_t num_candidates;
    tl_ranges profiler_steps;

    /* frequent_patterns, patterns_overlay: an operator; NULL: some common operators, then also with a minimum length
     * of 1. */
    const char *operator_name;
    int64_t min_pattern_len, top_k;

    /* critical_path, on all ranks. annotation: text in the names of the rows that span the analysed region, "*" for
     * the whole trace; NULL: steps 0 and 1, the whole trace of the first rank, and some other regions. instance_id:
     * from which to which of these rows; without a range the first row. data_load_events: text in the names of rows
     * that load data; NULL: no row does. launch_edges: each launch has an edge to its kernel. */
    const char *annotation;
    tl_ranges instance_id;
    const char *data_load_events;
    bool launch_edges;
    bool overlay; /* writes overlaid_critical_path_FILE: a copy of each rank's trace with its first path */

    /* tl_compat_hta_diff: ranks and steps of each job; without a range the first rank or step. */
    tl_ranges control_rank, test_rank, control_iteration, test_iteration;
} tl_hta_parameters;

/* The default parameters of HTA. */
extern const tl_hta_parameters tl_hta_defaults;

typedef struct tl_hta_file {
    const char *path;
    int64_t rank; /* HTA's choice: tl_hta_rank_of_file */
} tl_hta_file;

typedef struct tl_hta_options {
    const tl_hta_file *files;            /* if two files have one rank, the later file counts */
    size_t nfiles;                       /* 0: only the memory timeline is read */
    const char *memory_timeline;         /* path of the profiler's raw memory timeline; NULL: none */
    const char *execution_trace;         /* path of one rank's execution trace; NULL: none */
    const char *out_dir;                 /* made if missing, parents too; tables in it are replaced */
    bool ns;                             /* time stamps keep their fractions (HTA_DISABLE_NS_ROUNDING=1) */
    bool include_last_step;              /* the last profiler step stays (include_last_profiler_step=True) */
    const tl_hta_parameters *parameters; /* NULL: HTA's defaults */
} tl_hta_options;

/* Sets *rank to the rank that HTA gives a file: the number after the first `"rank": ` of the text with white space
 * after the colon and the number on the same line, wherever in the JSON structure; 0 without one.  A damaged file is
 * searched as far as the file can be read.  TL_EINPUT: the file cannot be opened. */
tl_status tl_hta_rank_of_file(const char *path, int64_t *rank, tl_error *err);

/* Reads the files and writes the tables.  An unusable file is left out.  *incomplete: a file is unusable or damaged.
 * TL_EINPUT: no file has a row to analyse (notes.txt tells why, no table is written); TL_EOUTPUT: a write failed.  A
 * table appears whole or not at all. */
tl_status tl_compat_hta(const tl_hta_options *options, bool *incomplete, tl_error *err);

/* Compares two jobs and writes the tables into control->out_dir.  Fails as tl_compat_hta does; also TL_EINPUT: a job
 * has no profiler steps; TL_EUSAGE: a rank or step in the parameters does not exist. */
tl_status tl_compat_hta_diff(const tl_hta_options *control, const tl_hta_options *test, bool *incomplete,
                             tl_error *err);

#endif
