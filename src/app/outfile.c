/* outfile.c - where a command prints. */
#include "cli.h"

#include "tlmpi/base/part_file.h"
#include "tlmpi/base/mem.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void forget_part(tl_outfile *file)
{
    if (file->part != NULL)
        tl_unfinished_done(file->part);
    free(file->part);
    file->part = NULL;
}

tl_status tl_outfile_open(tl_outfile *file, const char *input, const char *path, bool force, tl_error *err)
{
    struct stat there;
    *file = (tl_outfile){ .out = stdout };
    if (path == NULL || strcmp(path, "-") == 0)
        return TL_OK;
    if (tl_check_input_kept(path, input, err) != TL_OK)
        return TL_EUSAGE;

    bool exists = stat(path, &there) == 0, is_file = !exists || S_ISREG(there.st_mode);
    if (exists && is_file && !force)
        return tl_fail(err, TL_EOUTPUT, "%s exists; -f overwrites it", path);
    if (is_file) {
        size_t n = strlen(path);
        file->part = tl_malloc(n + sizeof ".part");
        memcpy(file->part, path, n);
        memcpy(file->part + n, ".part", sizeof ".part");
    }
    file->path = path;
    if (file->part != NULL)
        tl_unfinished_add(file->part);
    file->out = fopen(is_file ? file->part : path, "w");
    if (file->out != NULL)
        return TL_OK;

    tl_status st = tl_fail(err, TL_EOUTPUT, "%s: %s", path, strerror(errno));
    forget_part(file);
    return st;
}

tl_status tl_outfile_close(tl_outfile *file, tl_status st, tl_error *err)
{
    if (file->path == NULL || file->out == NULL)
        return st;

    errno = 0;
    bool failed = ferror(file->out) != 0;
    failed = fclose(file->out) != 0 || failed;
    if (st == TL_OK && failed)
        st = tl_fail(err, TL_EOUTPUT, "%s: %s", file->path, errno != 0 ? strerror(errno) : "not all could be written");
    if (file->part != NULL) {
        if (st == TL_OK && rename(file->part, file->path) != 0)
            st = tl_fail(err, TL_EOUTPUT, "%s: %s", file->path, strerror(errno));
        if (st != TL_OK)
            unlink(file->part);
    }
    forget_part(file);
    *file = (tl_outfile){ .out = NULL };
    return st;
}
