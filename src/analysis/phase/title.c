/* title.c - names of phases as cells of a table have them.
 *
 *     forward_of_decoder          as it is, where a cell has room
 *     model.la...forward_of_mlp   its begin and its end, where not: names that begin alike often differ there
 *     model.l...rward_of_mlp~2    where another is called so already
 */
#include "tlmpi/analysis/phase.h"
#include "tlmpi/model/table.h"
#include <stdio.h>

enum { CELL_BYTES = sizeof((tl_phase *)0)->phase };

/* The end of the text, of at most n bytes: whole characters. */
static tl_text end_of(tl_text text, size_t n)
{
    tl_text end = { text.p + text.n - n, n };
    while (end.n > 0 && ((unsigned char)*end.p & 0xc0) == 0x80) {
        end.p++;
        end.n--;
    }
    return end;
}

/* nth: how many are called so, with this one. */
static void shorten(tl_text name, unsigned nth, tl_phase_title *out)
{
    char number[sizeof "~4294967295"] = "", begin[CELL_BYTES + 1] = "";
    if (nth > 1)
        snprintf(number, sizeof number, "~%u", nth);
    size_t room = CELL_BYTES - strlen("...") - strlen(number);
    tl_text end = end_of(name, room / 2);
    tl_cell_text(begin, room - end.n, name.p, name.n);
    *out = (tl_phase_title){ "" };
    snprintf(out->text, sizeof out->text, "%s...%.*s%s", begin, (int)end.n, end.p, number);
}

void tl_phase_titles(const tl_names *names, size_t n, tl_phase_title *out)
{
    for (uint32_t i = 0; i < n; i++) {
        tl_text name = tl_names_text(names, i);
        if (name.n <= CELL_BYTES)
            tl_cell_text(out[i].text, sizeof out[i].text, name.p, name.n);
        else
            out[i].text[0] = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        tl_text name = tl_names_text(names, i);
        bool taken = name.n > CELL_BYTES;
        for (unsigned nth = 1; taken; nth++) {
            shorten(name, nth, &out[i]);
            taken = false;
            for (uint32_t k = 0; k < n && !taken; k++)
                taken = k != i && memcmp(out[k].text, out[i].text, sizeof out[i].text) == 0;
        }
    }
}
