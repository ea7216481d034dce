/* folder.c - see folder.h. */
#include "folder.h"
#include "tlmpi/base/mem.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

tl_status tl_folder_make(const char *dir, tl_error *err)
{
    struct stat info;
    tl_status st = TL_OK;
    char *path = tl_strndup(dir, strlen(dir));
    if (path == NULL)
        return tl_fail_memory(err, "the path of the output");

    for (char *p = path + 1; *path != '\0' && st == TL_OK; p++) {
        bool last = *p == '\0';
        if (!last && *p != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            st = tl_fail(err, TL_EOUTPUT, "%s: %s", path, strerror(errno));
        if (last)
            break;
        *p = '/';
    }
    free(path);
    if (st == TL_OK && (stat(dir, &info) != 0 || !S_ISDIR(info.st_mode)))
        st = tl_fail(err, TL_EOUTPUT, "%s: not a folder", dir);
    return st;
}
