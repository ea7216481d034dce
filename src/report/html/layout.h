/* layout.h - where the things of a heat map stand, in pixels; how it is drawn around the cells. */
#ifndef TLMPI_REPORT_HTML_LAYOUT_H
#define TLMPI_REPORT_HTML_LAYOUT_H

#include "heat.h"

typedef struct tl_layout {
    int left, top;     /* of the cells */
    int column, row;   /* width and height of a cell */
    int gap;           /* before the row of the others */
    int width, height; /* of all */
    int hosts;         /* width of their names; 0: none */
    bool told;         /* each cell is a shape of its own, with its numbers */
    size_t nrows, ncols;
} tl_layout;

tl_layout tl_layout_of(const tl_picture *picture);

/* The upper edge of a row. */
int tl_layout_y(const tl_layout *layout, const tl_picture *picture, size_t row);

/* Ranks, steps, hosts and marks, around the cells. */
void tl_draw_axes(FILE *out, const tl_picture *picture, const tl_layout *layout);

/* What shades, marks and outlines mean: what the picture has of them. */
void tl_draw_legend(FILE *out, const tl_picture *picture, const tl_layout *layout);

/* The host of a rank, as it is shown: of n bytes; n 0: not known. */
tl_text tl_picture_host(const tl_picture *picture, size_t row);

/* The class of a shade: "n" neutral, "a1".. above, "b1".. below 0. */
const char *tl_class_of(int shade);

#endif
