/* sections.c - the sections of the page in their order, and the tables that are fed to it row by row. */
#include "page.h"

const tl_section tl_sections[] = {
    { "verdict", "Who holds the job up?", NULL, tl_draw_verdict },
    { "excess", "Who works longer than its peers, and when?", NULL, tl_draw_excess },
    { "phases", "Who takes longer in a phase, and when?", NULL, tl_draw_phases },
    { NULL, NULL, NULL, NULL },
};

const tl_feed tl_feeds[] = {
    { &tl_phase_schema, tl_timed_begin_phases, tl_timed_take_phase },
    { &tl_phase_step_schema, tl_timed_begin_cells, tl_timed_take_cell },
    { NULL, NULL, NULL },
};
