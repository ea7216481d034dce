/* status.c - error messages of one line. */
#include "tlmpi/base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

tl_status tl_fail(tl_error *err, tl_status status, const char *format, ...)
{
    if (err == NULL)
        return status;

    /* Formatted outside of err, since err->text itself may be an argument. */
    char line[sizeof err->text] = "";
    va_list args;
    va_start(args, format);
    if (vsnprintf(line, sizeof line, format, args) < 0)
        line[0] = '\0';
    va_end(args);

    size_t n = strlen(line);
    while (n > 0 && line[n - 1] == '\n')
        line[--n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (line[i] == '\n')
            line[i] = ' ';

    err->status = status;
    memcpy(err->text, line, sizeof line);
    return status;
}

const char *tl_error_reason(const tl_error *err, const char *path)
{
    size_t n = strlen(path);
    bool named = strncmp(err->text, path, n) == 0 && strncmp(err->text + n, ": ", 2) == 0;
    return err->text + (named ? n + 2 : 0);
}

tl_status tl_fail_memory(tl_error *err, const char *what)
{
    return tl_fail(err, TL_ENOMEM, "memory is out (%s)", what);
}
