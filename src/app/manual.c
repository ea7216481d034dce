/* manual.c - the manual (manual.txt): what no schema says of tables, pages of their own, commands, and words. */
#include "cli.h"

#include <string.h>

extern const char *const tl_manual_text[]; /* the lines of the file; "#" ends them */

bool tl_manual_next(tl_manual_section *s, const char *kind)
{
    const size_t n = strlen(kind);
    const char *const *at = s->after != NULL ? s->after : tl_manual_text;
    while (strcmp(*at, "#") != 0 &&
           (strncmp(*at, "# ", 2) != 0 || strncmp(*at + 2, kind, n) != 0 || (*at)[2 + n] != ' '))
        at++;
    if (strcmp(*at, "#") == 0)
        return false;
    const char *name = *at + 2 + n + 1;
    const size_t length = strcspn(name, ":");
    snprintf(s->name, sizeof s->name, "%.*s", (int)length, name);
    s->title = name[length] == ':' ? name + length + 2 : "";
    s->after = s->lines = at + 1;
    while (**s->lines == '#') /* a section without lines has those of the section after it */
        s->lines++;
    return true;
}

const char *const *tl_manual_find(const char *kind, const char *name)
{
    tl_manual_section s = { .after = NULL };
    while (tl_manual_next(&s, kind))
        if (strcmp(s.name, name) == 0)
            return s.lines;
    return NULL;
}
