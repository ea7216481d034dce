/* option_types.h - what the options take: how a text becomes a value, and back. */
#ifndef TLMPI_APP_OPTION_TYPES_H
#define TLMPI_APP_OPTION_TYPES_H

#include "tlmpi/base/status.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct tl_option_type {
    /* Writes the value at `at`; false where the text is none. */
    bool (*store)(const char *text, void *at);
    /* Writes the value as text into out, 0-terminated. */
    void (*recall)(const void *at, char *out, size_t n);
    const char *takes; /* what it expects, for messages */
    /* Says more exactly what is wrong with a text that is none; NULL: `takes` does. */
    tl_status (*complain)(const char *option, const char *text, tl_error *err);
} tl_option_type;

/* --top N or P%: a number of rows, or the rows that hold a share of the time. */
extern const tl_option_type tl_option_top;

extern const tl_option_type tl_option_gates, tl_option_switch, tl_option_text, tl_option_count, tl_option_width,
    tl_option_run, tl_option_compat_run, tl_option_format, tl_option_parser, tl_option_idle, tl_option_launch,
    tl_option_clock, tl_option_share, tl_option_quantile, tl_option_ranges, tl_option_ranges_from_0, tl_option_unit,
    tl_option_texts, tl_option_times;

#endif
