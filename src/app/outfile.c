/* outfile.c - the output of a command. */
#include "cli.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

tl_status tl_outfile_open(tl_outfile *file, const char *input, const char *path, bool force, tl_error *err)
{
    struct stat there;
    *file = (tl_outfile){ .out = stdout, .part = TL_PART_FILE_INIT };
    if (path == NULL || strcmp(path, "-") == 0)
        return TL_OK;
    if (tl_check_input_kept(path, input, err) != TL_OK)
        return TL_EUSAGE;

    file->path = path;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
        file->out = fopen(path, "w");
        return file->out != NULL ? TL_OK : tl_fail(err, TL_EOUTPUT, "%s: %s", path, strerror(errno));
    }
    tl_status st = tl_part_file_begin(&file->part, path, force, err);
    file->out = st == TL_OK ? tl_part_file_stream(&file->part, err) : NULL;
    if (file->out != NULL)
        return TL_OK;
    tl_part_file_drop(&file->part);
    return TL_EOUTPUT;
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
    if (st == TL_OK && file->part.path != NULL)
        st = tl_part_file_publish(&file->part, err);
    tl_part_file_drop(&file->part);
    *file = (tl_outfile){ .out = NULL, .part = TL_PART_FILE_INIT };
    return st;
}
