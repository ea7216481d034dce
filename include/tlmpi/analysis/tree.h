/* tree.h - what called what on the host, and which device work came of it?
 *
 * From the view of one rank: the tree of its calling contexts.  Uses no other folder.
 */
#ifndef TLMPI_ANALYSIS_TREE_H
#define TLMPI_ANALYSIS_TREE_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/model/tree_table.h"

extern const tl_analysis tl_tree_analysis;

#endif
