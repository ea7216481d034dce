/* tree_table.h - the call tree on the host of a rank, down to the device work that the host launched. */
#ifndef TLMPI_MODEL_TREE_TABLE_H
#define TLMPI_MODEL_TREE_TABLE_H

#include "tlmpi/model/schema.h"

#define TL_TREE_KIND_VALUES(V)                                                                                         \
    V(TL_TREE_ANNOTATION, "annotation", "a user annotation")                                                           \
    V(TL_TREE_OPERATOR, "operator", "an operator")                                                                     \
    V(TL_TREE_CALL, "call", "a call of the runtime or driver that queued work")                                        \
    V(TL_TREE_WORK, "work", "a kernel, copy or memset")                                                                \
    V(TL_TREE_NONE, "none", "around the work whose launch is not in the trace")                                        \
    V(TL_TREE_REST, "rest", "what has no row, together")                                                               \
    V(TL_TREE_MODULE, "module", "a call of a module (nn.Module: ...), where Python functions were recorded")
typedef enum tl_tree_kind { TL_TREE_KIND_VALUES(TL_VALUE_NAME) TL_NTREE_KINDS } tl_tree_kind;

TL_LABELS(tree_kind);

/* Operators, calls and work with the same path through the tree form one node.  Rows are in preorder: a node, then its
 * children by device_ns, descending; ties by host_ns, descending; then by name. */
#define TL_CALL_TREE_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, node, KEY, "",                                                                                           \
      "number of the node: 0, 1, 2 ... down the tree as it is printed. Of more than 4096 those with the most "         \
      "device_ns have a row, and the rest one together, with all below them: its launches, kernels and device_ns are " \
      "in those of nodes around them, too")                                                                            \
    F(T, I32, parent, LABEL, "",                                                                                       \
      "node around it: on its thread, or, of a thread that has no annotation around it then, as those of autograd, "   \
      "the innermost annotation that is open on the thread with the most annotations; -1: none")                       \
    F(T, I32, depth, LABEL, "", "nodes around it; of the rest -1")                                                     \
    F(T, ENUM(tree_kind), kind, LABEL, "", "what it is")                                                               \
    F(T, I32, forward, LABEL, "",                                                                                      \
      "of an operator of the backward pass the node of the operator of the forward pass whose gradients it makes, "    \
      "where the trace says so (fwdbwd): one that makes those of several nodes has a node for each; else -1")          \
    F(T, I64, count, MEASURE, "", "how often it ran on this path; of the rest, how many nodes have no row")            \
    F(T, I64, host_ns, MEASURE, "ns",                                                                                  \
      "time of the host in it, with what it called; of the rest the sum of host_self_ns")                              \
    F(T, I64, host_self_ns, MEASURE, "ns", "less the time in nodes below it on its own thread")                        \
    F(T, I64, launches, MEASURE, "", "calls in it that queued device work, with what it called")                       \
    F(T, I64, kernels, MEASURE, "", "device work that these queued")                                                   \
    F(T, I64, device_ns, MEASURE, "ns", "sum of its durations")                                                        \
    F(T, I64, device_self_ns, MEASURE, "ns",                                                                           \
      "the part that was launched in it and in no operator or annotation that it called; of a call, what it queued "   \
      "where no operator or annotation is around it; of work 0: these, and that of none, sum up to all device work")   \
    F(T, I64, comm_exposed_ns, MEASURE, "ns",                                                                          \
      "communication in device_ns while its device computed nothing; where several kernels communicate at once it is " \
      "of the one that ends last. That of work sums up to comm_exposed_ns of table breakdown")                         \
    F(T, I64, steps_count, MEASURE, "",                                                                                \
      "the part of count in steps (tables step, interval), without work whose launch is not in the trace where other " \
      "work of the name has one: it may come from before the first step")                                              \
    F(T, I64, steps_ns, MEASURE, "ns", "device_ns of that")                                                            \
    F(T, F64, share, MEASURE, "", "device_ns / the durations of all device work of the rank")                          \
    F(T, NAME, name, LABEL, "",                                                                                        \
      "of the operator, annotation, module, call or work; addresses in it are left out (0x...). Other Python "         \
      "functions and annotations that mark steps (ProfilerStep) have no nodes: what is in them is in what is around "  \
      "them")
TL_TABLE(call_tree, TL_CALL_TREE_FIELDS);

#endif
