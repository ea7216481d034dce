/* values.c - what the words of enumerations mean. */
#include "tlmpi/analysis/registry.h"

#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/measured_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/tables.h"

typedef struct meanings {
    const char *const *labels;
    const char *docs[24]; /* by value, to a NULL */
} meanings;

static const meanings all[] = {
    { tl_rank_status_labels,
      { "the trace was read whole", "some events were lost; error says which", "the file ends too early",
        "it has no device work", "nothing of it could be read" } },
    { tl_rank_from_labels,
      { "the trace says its rank", "from the file's name", "from the order of the files' names" } },
    { tl_clock_base_labels,
      { "time stamps count from baseTimeNanoseconds of the trace", "time stamps count from the epoch" } },
    { tl_kind_labels,
      { "a kernel that computes", "communication between devices", "a copy", "a memset", "a recorded wait" } },
    { tl_collective_labels,
      { "no communication", "communication whose name does not tell which", "all ranks get the reduction",
        "all ranks get the parts of all", "each rank gets a part of the reduction", "each rank sends to each",
        "one rank sends to all", "one rank gets the reduction", "one rank gets the parts of all",
        "each rank gets a part from one", "to one rank", "from one rank", "either, or several of them together",
        "no data; all wait for the last" } },
    { tl_counted_by_labels,
      { "as many kernels as ranges, and of their names: each is the one of its place",
        "as many launches as ranges, and no kernels",
        "their numbers or names differ: nothing tells which range is whose" } },
    { tl_activity_labels,
      { "kernels that compute", "exposed copies from host to device", "other exposed copies and memsets",
        "exposed communication, with others than those that wait here", "its host launched late, for no reason below",
        "its host waited for input", "its host collected garbage",
        "its host had waited for the device, which had nothing queued then",
        "its host allocated or freed device memory", "work began late after its launch, or waited for an event",
        "nothing known" } },
    { tl_path_labels,
      { "kernels that compute", "copies from host to device", "other copies and memsets", "transfers of communication",
        "work of hosts, for no reason below", "hosts that waited for input", "hosts that collected garbage",
        "hosts that waited for their device", "hosts that allocated or freed device memory",
        "latency of launches, waits for events", "before the first event of the path's first rank" } },
    { tl_verdict_labels,
      { "not late, or at little cost", "it holds the job up", "the traces do not allow a verdict; reason says why" } },
    { tl_cause_labels,
      { "nothing of its own explains its delay", "some kernels take longer than the same ones of its peers",
        "all its kernels take longer: a slow device", "it has more kernels, or larger ones, than its peers",
        "its host launches late, for no reason below", "its host waits for input", "copies from host to device",
        "its host collects garbage", "its host waits for the device, which then has nothing queued",
        "its host allocates or frees device memory", "data move slowly between it and others: table link",
        "communication that could not be matched", "no single cause has 80 % of the gain" } },
    { tl_cause_from_labels, { "no cause is known", "what its repair gains, cause by cause" } },
    { tl_pattern_labels,
      { "no step is flagged", "80 % of the steps or more", "one run of steps, and little outside of it",
        "some steps, not in a row", "it grows or shrinks from step to step", "a single step" } },
    { tl_steps_from_labels,
      { "its own ProfilerStep# marks", "the collectives that it shares with ranks that have marks",
        "no trace has marks: a step is after what collectives return", "nothing: its time is in no step" } },
    { tl_link_evidence_labels, { "other links that carry the same", "the same link in other steps" } },
    { tl_scenario_labels,
      { "the job as it was", "nobody slower than usual in any step", "all slow links repaired", "one rank repaired",
        "all ranks of a host repaired", "one activity as usual on all ranks", "all that are named repaired",
        "transfers of one sort of group as usual", "all roles compute alike", "hosts take no time" } },
    { tl_culprit_kind_labels,
      { "one rank", "all ranks of one host", "several ranks, whose repair gains more together than alone",
        "a link between ranks", "no rank holds the job up", "the traces do not allow a verdict",
        "no collective could be matched across ranks", "the ranks do not communicate in these traces",
        "there is one rank", "nothing ran on a device" } },
    { tl_confidence_labels,
      { "nothing speaks against it", "one or two doubts", "three doubts, or one that is grave" } },
    { tl_coll_state_labels,
      { "all its ranks", "all of its ranks that have a trace here", "a rank is missing that has a trace",
        "one rank alone, though others have a trace" } },
    { tl_suspicion_labels,
      { "everything fits", "its ranks ran different collectives", "their data types differ", "their sizes differ",
        "a rank takes part twice", "a rank was done before another had come", "its ranks did not end together" } },
    { tl_skew_class_labels,
      { "one participant", "more than half of the kernels' time was waiting", "in between",
        "less than a fifth was waiting", "arrivals are closer together than clocks can tell" } },
    { tl_wait_state_labels,
      { "one participant", "for ranks that came late: table blame has them", "the receiver waited for the sender",
        "the sender waited for the receiver", "one of two that both send and receive waited",
        "clocks cannot tell who waited", "something does not fit: column suspect" } },
    { tl_node_span_labels, { "hosts are not known", "all ranks on one host", "ranks on several hosts" } },
    { tl_match_rule_labels,
      { "not matched", "by the sequence number in the trace", "by the order of launches in the step",
        "because they ended together", "by sender, receiver and order" } },
    { tl_coll_from_labels,
      { "arguments of the kernel", "the operator that launched it", "the annotation around it", "its name alone" } },
    { tl_parallelism_labels,
      { "not known", "all ranks", "data parallel", "tensor parallel", "pipeline parallel", "expert parallel",
        "context parallel" } },
    { tl_drain_labels,
      { "all macro gaps", "gaps too short to ask", "the host fed the device too late",
        "the host waited until the device was done, and fed it then" } },
    { tl_wait_labels,
      { "no call waited", "for the device", "for a stream", "for an event", "a blocking copy to the device",
        "a blocking copy from the device", "a call that waits as a side effect" } },
    { tl_doing_labels,
      { "all macro gaps", "gaps too short to ask",
        "the device was slow to start work that was launched during the gap or, prequeued, before it",
        "the launch followed at once, and the gap is its latency",
        "the host was in calls of the runtime or driver; call_class and call say which",
        "the host was busy with operators or Python; dominant_op says which",
        "the host launched late, and what the trace has of it hardly explains that: a data loader, other code",
        "the host launched late, and the trace has no operators at all", "between two nodes of one graph launch",
        "the work was queued in time and its stream waited for an event of another" } },
    { tl_call_labels,
      { "no call", "allocations of device memory", "launches that took long", "waits for the device", "others" } },
    { tl_peer_labels,
      { "the work after the gap waited for communication on another device",
        "the host waited for communication on another device", "the host was in a collective of hosts",
        "the host was in a call that waits for others" } },
    { tl_queued_labels,
      { "its launch is not in the trace", "launched during the gap", "launched well before the gap" } },
    { tl_parameter_labels,
      { "what clocks, calls and time stamps are measured to do", "what a test needs to keep its rate of error",
        "what somebody may choose" } },
};

const char *const *tl_values_of(const char *const *labels)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].labels == labels)
            return all[i].docs;
    return NULL;
}
