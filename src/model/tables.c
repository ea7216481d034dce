/* tables.c - the schemas of the result file's tables, and the words of their enums. */
#include "tlmpi/model/tables.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/kind.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/model/side_table.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/model/tree_table.h"
#include "tlmpi/model/measured_tables.h"
#include "tlmpi/model/work_tables.h"

TL_LABELS_DEFINE(rank_status, TL_STATUS_VALUES);

const char *const tl_rank_from_labels[] = { "distributedInfo", "file_name", "order", NULL };
const char *const tl_rank_from_meanings[] = { "the trace says its rank", "from the file's name",
                                              "from the order of the files' names", NULL };

TL_LABELS_DEFINE(execution_link, TL_EXECUTION_LINK_VALUES);
TL_LABELS_DEFINE(execution_by, TL_EXECUTION_BY_VALUES);
const char *const tl_memory_category_labels[] = { "parameter", "optimizer_state", "input",   "temporary", "activation",
                                                  "gradient",  "autograd",        "unknown", "total",     NULL };
const char *const tl_memory_category_meanings[] = {
    "weights of the model", "what the optimizer keeps", "of the training step",          "needed for a while",
    "kept for backward",    "of parameters",            "what autograd keeps of its own", "of no category",
    "all of them together", NULL
};
TL_LABELS_DEFINE(side_kind, TL_SIDE_KIND_VALUES);
TL_LABELS_DEFINE(side_status, TL_SIDE_STATUS_VALUES);
TL_LABELS_DEFINE(counted_by, TL_COUNTED_BY_VALUES);

TL_TABLE_DEFINE(kernel_ranks, TL_KERNEL_RANKS_FIELDS, TL_SCOPE_JOB, "device work by name over all ranks",
                "Which kernels take the time over all ranks, and on which rank do they take longest?");
TL_TABLE_DEFINE(operator_ranks, TL_HOST_WORK_RANKS_FIELDS, TL_SCOPE_JOB, "operators of the host over all ranks",
                "Which operators take the time over all ranks, and on which rank do they take longest?");
TL_TABLE_DEFINE(rank, TL_RANK_FIELDS, TL_SCOPE_RANK, "ranks and their traces",
                "Which ranks were read, from which files, and how far can each be trusted?");

TL_TABLE_DEFINE(interval, TL_INTERVAL_FIELDS, TL_SCOPE_EVENT, "device work",
                "What ran on which device stream, from when to when, and which call queued it?");

TL_LABELS_DEFINE(serving, TL_SERVING_VALUES);

TL_TABLE_DEFINE(step, TL_STEP_FIELDS, TL_SCOPE_RANK, "profiler steps",
                "When did each training step, or iteration of a server, begin and end on the host?");

TL_TABLE_DEFINE(breakdown, TL_BREAKDOWN_FIELDS, TL_SCOPE_RANK, "where the time went",
                "How much of the wall time did devices compute, communicate, copy and idle, and how much communication "
                "was hidden under compute?");

TL_LABELS_DEFINE(series, TL_SERIES_VALUES);

TL_TABLE_DEFINE_RARE_AS(
    series_row, "series", TL_SERIES_FIELDS, TL_SCOPE_EVENT, "queues, copies, memory and short gaps over time",
    "How long was each stream's queue, how fast were copies, and how much memory was used at each instant?");

TL_TABLE_DEFINE(row_index, TL_ROW_INDEX_FIELDS, TL_SCOPE_RANK, "rows of each rank",
                "Which rows of the table belong to which rank?");

TL_LABELS_DEFINE(tree_kind, TL_TREE_KIND_VALUES);

TL_TABLE_DEFINE(call_tree, TL_CALL_TREE_FIELDS, TL_SCOPE_EVENT, "what called what, down to the device work",
                "What called what on the host of a rank, on which path was work launched, and what did it cost?");

TL_LABELS_DEFINE(bound, TL_BOUND_VALUES);

TL_TABLE_DEFINE(path_sum, TL_PATH_SUM_FIELDS, TL_SCOPE_JOB, "critical path of each rank",
                "What was each rank's time bound by, step by step?");
TL_TABLE_DEFINE_RARE_AS(rank_path_row, "path", TL_RANK_PATH_FIELDS, TL_SCOPE_JOB,
                        "critical path of each rank, piece by piece",
                        "What was each rank's time bound by, instant by instant?");

TL_LABELS_DEFINE(phase_holds, TL_HOLDS_VALUES);
TL_LABELS_DEFINE(phase_answer, TL_PHASE_ANSWER_VALUES);

TL_TABLE_DEFINE_RARE(side_file, TL_SIDE_FILE_FIELDS, TL_SCOPE_JOB, "files beside traces",
                     "Which files of phases, memory timelines and execution traces were read, and what was lost?");
TL_TABLE_DEFINE_RARE(phase_step, TL_PHASE_STEP_FIELDS, TL_SCOPE_COLLECTIVE, "phases by step and rank",
                     "How long did each phase take, and how long on the other ranks in the same step?");
TL_TABLE_DEFINE_RARE(phase, TL_PHASE_FIELDS, TL_SCOPE_JOB, "phases by rank",
                     "How long do the phases of a rank take, and by how much longer than on other ranks?");
TL_TABLE_DEFINE_RARE(
    phase_verdict, TL_PHASE_VERDICT_FIELDS, TL_SCOPE_JOB, "who holds the job up, by phases",
    "Which rank holds the job up, in which phase, do others wait for it, and always or only for a while? From "
    "durations of phases alone, or with the waits that Kineto traces of the same steps show. A phase that contains a "
    "collective takes equally long on all ranks, which hides the slow one: if one of 8 ranks computes longer, the "
    "all-reduces of the others are longer by as much. With one phase around the computation and one around the "
    "all-reduce that rank is named; with a single phase around both no rank is, unless a Kineto trace of a few of the "
    "steps shows the waits.");

TL_LABELS_DEFINE(drain, TL_DRAIN_VALUES);
TL_LABELS_DEFINE(wait, TL_WAIT_VALUES);
TL_LABELS_DEFINE(doing, TL_DOING_VALUES);
TL_LABELS_DEFINE(call, TL_CALL_VALUES);
TL_LABELS_DEFINE(peer, TL_PEER_VALUES);
TL_LABELS_DEFINE(stream_wait, TL_STREAM_WAIT_VALUES);
TL_LABELS_DEFINE(queued, TL_QUEUED_VALUES);

TL_TABLE_DEFINE(
    gap, TL_GAP_FIELDS, TL_SCOPE_EVENT, "gaps of the device timeline",
    "When was a device idle for longer than a threshold, what did it wait for, and what did the host do meanwhile?");

TL_TABLE_DEFINE(gap_peer, TL_GAP_PEER_FIELDS, TL_SCOPE_COLLECTIVE, "gaps spent waiting for other ranks",
                "When was a device idle because other ranks were late, and which rank arrived last?");

TL_TABLE_DEFINE(idle, TL_IDLE_FIELDS, TL_SCOPE_RANK, "how idle each device was",
                "How much of the time was a device idle, and how complete is the evidence for the reasons?");

TL_TABLE_DEFINE(
    idle_summary, TL_IDLE_SUMMARY_FIELDS, TL_SCOPE_RANK, "idle time by its reasons",
    "How did devices run dry, and in which calls and operators was the host meanwhile: for a rank, a device, a step "
    "and the whole job?");

TL_TABLE_DEFINE(idle_annotation, TL_IDLE_ANNOTATION_FIELDS, TL_SCOPE_RANK, "idle time by annotation",
                "In which user annotations was the host while the devices of a rank were idle, for each reason?");

TL_LABELS_DEFINE(kind, TL_KIND_VALUES);
TL_LABELS_DEFINE(collective, TL_COLL_VALUES);
TL_LABELS_DEFINE(remedy, TL_REMEDY_VALUES);

#define LABEL(kind, label, remedy, meaning)   label,
#define MEANING(kind, label, remedy, meaning) (meaning),
#define REMEDY(kind, label, remedy, meaning)  TL_REMEDY_##remedy,

const char *const tl_defect_labels[] = { TL_DEFECTS(LABEL) NULL };
const char *const tl_defect_meanings[] = { TL_DEFECTS(MEANING) NULL };

static const uint8_t remedies[] = { TL_DEFECTS(REMEDY) };

TL_TABLE_DEFINE(health, TL_HEALTH_FIELDS, TL_SCOPE_RANK, "what is wrong with the recording",
                "What did the profiler lose or record wrongly, on which ranks, in which steps, and what was done?");

void tl_health_add(tl_table *health, tl_health row)
{
    row.done = remedies[row.defect];
    tl_table_append(health, &row, 1);
}

int64_t tl_whole_steps_ns(const tl_table *health, int64_t ns)
{
    int64_t left_out_ns = 0;
    TL_ROWS (const tl_health, row, health)
        left_out_ns = row->defect == TL_DEFECT_NOT_WHOLE ? tl_ns_add(left_out_ns, row->time_ns) : left_out_ns;
    return left_out_ns < ns ? ns - left_out_ns : ns;
}

bool tl_step_is_left_out(const tl_table *health, int32_t step)
{
    const tl_health *row = tl_table_row(health, 0);
    size_t low = 0, n = tl_table_from_rank(health, 0);
    TL_BISECT(low, n, i,
              row[i].defect < TL_DEFECT_NOT_WHOLE || (row[i].defect == TL_DEFECT_NOT_WHOLE && row[i].step < step));
    return low < n && row[low].defect == TL_DEFECT_NOT_WHOLE && row[low].step == step;
}
