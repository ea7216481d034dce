/* sections.c - the sections of the page in their order, and the tables that are fed to it row by row. */
#include "page.h"

#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/path_tables.h"

const tl_section tl_sections[] = {
    { "verdict", NULL, NULL, tl_draw_verdict, false },
    { "strip", "The worst step", "interval arrival collective gap", tl_draw_strip, false },
    { "time", "Where the time goes", "breakdown idle_summary", tl_draw_time, false },
    { "matrix", "Who waits for whom", "blame", tl_draw_matrix, false },
    { "excess", "Who works longer than its peers, and when", "blame_step culprit", tl_draw_excess, false },
    { "steps", "Step by step", "blame_step", tl_draw_steps, false },
    { "gains", "What the job would gain", "whatif culprit", tl_draw_gains, false },
    { "phases", "Who takes longer in a phase, and when", "phase_step phase_verdict phase", tl_draw_phases, false },
    { "waits", "Who is waited for, and when", "blame_step blame", tl_draw_waits, true },
    { "arrivals", "Who comes late to collectives", "arrival", tl_draw_arrivals, true },
    { "path", "What the critical path is made of", "critical_path path_sum", tl_draw_path, true },
    { "kernels", "Device work that takes most time", "kernel_ranks", tl_draw_kernels, true },
    { "operators", "Operators that launch most of it", "operator_ranks", tl_draw_operators, true },
    { "idle", "Why devices are idle", "idle_summary", tl_draw_idle, true },
    { "recording", "The recording", "rank health", tl_draw_recording, true },
    { "clocks", "The clocks", "clock", tl_draw_clocks, true },
    { "matching", "How collectives were matched", "quality", tl_draw_matching, true },
    { "parameters", "Numbers that were changed", "parameter", tl_draw_parameters, true },
    { "glossary", "Words of this page", NULL, tl_draw_glossary, true },
    { "made", "How this was made", NULL, tl_draw_made, true },
    { NULL, NULL, NULL, NULL, false },
};

const tl_feed tl_feeds[] = {
    { &tl_idle_summary_schema, tl_idle_begin, tl_idle_take },
    { &tl_phase_schema, tl_timed_begin_phases, tl_timed_take_phase },
    { &tl_phase_step_schema, tl_timed_begin_cells, tl_timed_take_cell },
    { &tl_collective_row_schema, tl_strip_begin_collectives, tl_strip_take_collective },
    { &tl_rank_path_row_schema, tl_strip_begin_path, tl_strip_take_path },
    { &tl_arrival_schema, tl_strip_begin_arrivals, tl_strip_take_arrival },
    { &tl_interval_schema, tl_strip_begin_intervals, tl_strip_take_interval },
    { &tl_gap_schema, tl_strip_begin_gaps, tl_strip_take_gap },
    { &tl_path_sum_schema, tl_path_begin, tl_path_take },
    { NULL, NULL, NULL },
};
