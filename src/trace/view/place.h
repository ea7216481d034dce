/* place.h - in which operator and annotation each launch was made. */
#ifndef TLMPI_TRACE_VIEW_PLACE_H
#define TLMPI_TRACE_VIEW_PLACE_H

#include "tlmpi/model/view.h"

/* Fills op, annotation and their names of the view's launches, from its ops. */
void tl_launches_place(const tl_rank_view *view, tl_launch *launches);

#endif
