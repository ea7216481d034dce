/* coll_tables.c - the schemas of coll_tables.h, and the words of their enums. */
#include "tlmpi/model/coll_tables.h"

TL_LABELS_DEFINE(coll_state, TL_COLL_STATE_VALUES);
TL_LABELS_DEFINE(suspicion, TL_SUSPICION_VALUES);
TL_LABELS_DEFINE(skew_class, TL_SKEW_VALUES);
TL_LABELS_DEFINE(wait_state, TL_WAIT_STATE_VALUES);
TL_LABELS_DEFINE(comm_doubt, TL_COMM_DOUBT_VALUES);
TL_LABELS_DEFINE(node_span, TL_NODES_VALUES);
TL_LABELS_DEFINE(parallelism, TL_PARALLEL_VALUES);
TL_LABELS_DEFINE(match_rule, TL_RULE_VALUES);
TL_LABELS_DEFINE(size_from, TL_SIZE_FROM_VALUES);
TL_LABELS_DEFINE(check, TL_CHECK_VALUES);

TL_TABLE_DEFINE_AS(collective_row, "collective", TL_COLLECTIVE_FIELDS, TL_SCOPE_COLLECTIVE, "collectives",
                   "Which ranks took part in a collective, which arrived last, and was the time waiting or transfer?");

TL_TABLE_DEFINE(arrival, TL_ARRIVAL_FIELDS, TL_SCOPE_COLLECTIVE, "arrivals at collectives",
                "When did each rank arrive at each collective, and how long did it wait for the last one?");

TL_TABLE_DEFINE_AS(group_row, "group", TL_GROUP_FIELDS, TL_SCOPE_JOB, "process groups",
                   "Which ranks form the process groups, and how well do their collectives fit together?");

TL_TABLE_DEFINE(bandwidth, TL_BANDWIDTH_FIELDS, TL_SCOPE_JOB, "bandwidth of collectives",
                "How fast did data move after all ranks had arrived, by group, kind and size?");

TL_TABLE_DEFINE(clock, TL_CLOCK_FIELDS, TL_SCOPE_JOB, "clocks of ranks",
                "How far apart are the clocks of ranks and hosts, how sure is that, and were times corrected?");

TL_TABLE_DEFINE(quality, TL_QUALITY_FIELDS, TL_SCOPE_JOB, "quality of the matching",
                "How many collectives were matched, by which rule, and what speaks against it?");
TL_TABLE_DEFINE(exposed, TL_EXPOSED_FIELDS, TL_SCOPE_JOB, "exposed communication by group and kind",
                "How long is communication exposed, in which groups and kinds, and is it waiting or transfer?");
