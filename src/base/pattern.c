/* pattern.c - regular expressions of the command line, with the C library. */
#include "tlmpi/base/pattern.h"
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1000, MOST_WRITTEN_OUT = 4000 };

/* Returns the repetitions {n,m} that begin at *p, at most MOST_WRITTEN_OUT + 1, and moves *p to their end; 1 for a
 * brace alone. */
static size_t repetitions(const char **p)
{
    char *end;
    size_t least = strtoul(*p + 1, &end, 10), most = *end != ',' ? least : end[1] == '}' ? least + 1 : 0;
    if (most == 0 && *end == ',')
        most = strtoul(end + 1, &end, 10);
    if (strchr(end, '}') != NULL)
        *p = strchr(end, '}');
    most = most > least ? most : least;
    return most == 0 ? 1 : most <= MOST_WRITTEN_OUT ? most : MOST_WRITTEN_OUT + 1;
}

/* Returns about how many characters the expression has with repetitions expanded, as in the C library: a+ is aa*. */
static size_t length_written_out(const char *text)
{
    size_t before[LONGEST + 1], depth = 0, sum = 0, last = 0; /* before: of the enclosing groups; last: of the last
                                                               * item */
    for (const char *p = text; *p != '\0' && sum + last <= MOST_WRITTEN_OUT; p++) {
        if (*p == '{' || *p == '+') {
            last *= *p == '+' ? 2 : repetitions(&p);
            continue;
        }
        sum += last;
        last = 1;
        if (*p == '(') {
            before[depth++] = sum;
            sum = last = 0;
        } else if (*p == ')' && depth > 0) {
            last = sum + 1;
            sum = before[--depth];
        } else if (*p == '[' && p[1] != '\0' && strchr(p + 2, ']') != NULL) {
            p = strchr(p + 2, ']');
        } else if (*p == '\\' && p[1] != '\0') {
            p++;
        }
    }
    return sum + last;
}

tl_status tl_pattern_compile(regex_t *pattern, const char *option, const char *text, tl_error *err)
{
    char why[128];
    if (strlen(text) > LONGEST)
        return tl_fail(err, TL_EUSAGE, "%s: a pattern of more than %d characters", option, (int)LONGEST);
    if (length_written_out(text) > MOST_WRITTEN_OUT)
        return tl_fail(err, TL_EUSAGE, "%s: a pattern of more than %d characters, with its repetitions written out",
                       option, (int)MOST_WRITTEN_OUT);
    int rc = regcomp(pattern, text, REG_EXTENDED | REG_NOSUB);
    if (rc == 0)
        return TL_OK;
    if (rc == REG_ESPACE)
        return tl_fail_memory(err, "a pattern");
    regerror(rc, pattern, why, sizeof why);
    return tl_fail(err, TL_EUSAGE, "%s: '%s' is no pattern: %s", option, text, why);
}

void tl_pattern_free(regex_t *pattern)
{
    if (pattern != NULL)
        regfree(pattern);
    free(pattern);
}
