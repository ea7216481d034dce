#include "tlmpi/base/bytes.h"
#include <stdarg.h>
#include <stdio.h>

void tl_bytes_say(tl_bytes *out, const char *format, ...)
{
    char words[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tl_bytes_put(out, words, strlen(words));
}
