/* tree_table.h - the call tree on the host of a rank, down to the device work that the host launched. */
#ifndef TLMPI_MODEL_TREE_TABLE_H
#define TLMPI_MODEL_TREE_TABLE_H

#include "tlmpi/model/schema.h"

#define TL_TREE_KIND_VALUES(V)                                                                                         \
    V(TL_TREE_ANNOTATION, "annotation", "a user annotation")                                                           \
    V(TL_TREE_OPERATOR, "operator", "an operator")                                                                     \
    V(TL_TREE_CALL, "call", "a call of the runtime or driver that queued work")                                        \
    V(TL_TREE_WORK, "work", "a kernel, copy or memset")                                                                \
    V(TL_TREE_NONE, "none", "parent of the work whose launch is not in the trace")                                     \
    V(TL_TREE_REST, "rest", "sum of all nodes without a row")                                                          \
    V(TL_TREE_MODULE, "module", "a call of a module (nn.Module: ...), where Python functions were recorded")
typedef enum tl_tree_kind { TL_TREE_KIND_VALUES(TL_VALUE_NAME) TL_NTREE_KINDS } tl_tree_kind;

TL_LABELS(tree_kind);

/* Operators, calls and work with the same path through the tree form one node.  Rows are in preorder: a node, then its
 * children by device_ns, descending; ties by host_ns, descending; then by name. */
#define TL_CALL_TREE_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, node, KEY, "",                                                                                           \
      "number of the node, from 0, in the order of the printed tree. Of more than 4096 nodes those with the most "     \
      "device_ns have a row; all others, with all nodes below them, share one row, whose launches, kernels and "       \
      "device_ns the nodes around them include")                                                                       \
    F(T, I32, parent, LABEL, "",                                                                                       \
      "node around it on its thread; for a thread without an open annotation, such as those of autograd, the "         \
      "innermost open annotation of the thread with most annotations; -1: none")                                       \
    F(T, I32, depth, LABEL, "", "number of nodes around it; -1 for the rest")                                          \
    F(T, ENUM(tree_kind), kind, LABEL, "", "what it is")                                                               \
    F(T, I32, forward, LABEL, "",                                                                                      \
      "for a backward operator the node of its forward operator, from the trace's fwdbwd arrows; an operator of "      \
      "several forward nodes has a node for each; else -1")                                                            \
    F(T, I64, count, MEASURE, "", "how often it ran on this path; for the rest the number of nodes without a row")     \
    F(T, I64, host_ns, MEASURE, "ns", "host time, including nodes below it; for the rest the sum of host_self_ns")     \
    F(T, I64, host_self_ns, MEASURE, "ns", "host time without the nodes below it on its own thread")                   \
    F(T, I64, launches, MEASURE, "", "calls that queued device work, including those of nodes below it")               \
    F(T, I64, kernels, MEASURE, "", "pieces of device work that these calls queued")                                   \
    F(T, I64, device_ns, MEASURE, "ns", "sum of the durations")                                                        \
    F(T, I64, device_self_ns, MEASURE, "ns",                                                                           \
      "the part that was launched in no operator or annotation below it; for a call the work that it queued without "  \
      "an operator or annotation around it; 0 for work. The sum over all nodes, with that of `none`, is all device "   \
      "work")                                                                                                          \
    F(T, I64, comm_exposed_ns, MEASURE, "ns",                                                                          \
      "communication in device_ns while the device computed nothing; if several kernels communicate at once, it "      \
      "counts for the one that ends last. The nodes of kind work sum up to comm_exposed_ns of table breakdown")        \
    F(T, I64, steps_count, MEASURE, "",                                                                                \
      "the part of count in steps (tables step, interval), without work that has no launch in the trace while other "  \
      "work of the name has: it may be from before the first step")                                                    \
    F(T, I64, steps_ns, MEASURE, "ns", "the part of device_ns in steps")                                               \
    F(T, F64, share, MEASURE, "", "device_ns / the durations of all device work of the rank")                          \
    F(T, NAME, name, LABEL, "",                                                                                        \
      "name of the operator, annotation, module, call or work, without addresses (0x...). Other Python functions and " \
      "marks of steps (ProfilerStep) have no nodes: their content belongs to the node around them")
TL_TABLE(call_tree, TL_CALL_TREE_FIELDS);

#endif
