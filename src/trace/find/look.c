/* look.c - whether a file is a trace, its rank and its begin: from its reader, else from its name.  The file's
 * modification time is not used: copying changes it. */
#include "internal.h"
#include "tlmpi/base/log.h"

tl_shown_path tl_path_shown(const char *path)
{
    const size_t most = 90;
    size_t n = strlen(path);
    tl_shown_path shown;

    snprintf(shown.text, sizeof shown.text, "%s%s", n > most ? "..." : "", path + (n > most ? n - most : 0));
    return shown;
}

void tl_input_say_why(tl_input *input, tl_input_kind kind, const char *reason)
{
    tl_look look;
    tl_look_say(&look, kind, reason);
    input->kind = kind;
    memcpy(input->why, look.why, sizeof input->why);
}

void tl_input_warn(const tl_input *input, const char *before, const char *after)
{
    tl_warn("%s%s: %s%s", before, tl_path_shown(input->path).text, input->why, after);
}

void tl_input_set_stat(tl_input *input, const struct stat *st)
{
    int64_t s = (int64_t)st->st_mtim.tv_sec;
    input->bytes = st->st_size > 0 ? (uint64_t)st->st_size : 0;
    input->device = (uint64_t)st->st_dev;
    input->inode = (uint64_t)st->st_ino;
    input->mtime_ns = s > 0 && s < INT64_MAX / 1000000000 ? s * 1000000000 + st->st_mtim.tv_nsec : 0;
}

void tl_input_look(tl_input *input, bool deep)
{
    tl_look look = TL_LOOK_INIT;
    struct stat st;
    char *file = tl_strndup(input->path, tl_file_length(input->path));
    bool there = stat(file, &st) == 0, fifo = there && S_ISFIFO(st.st_mode), part = strlen(file) < strlen(input->path);

    free(file);
    input->pipe |= fifo;
    input->copy = false;
    input->name_rank = fifo || part ? -1 : tl_rank_of_name(input->path);
    if (there)
        tl_input_set_stat(input, &st);
    if (fifo)
        look.kind = TL_INPUT_TRACE; /* without a look */
    else
        tl_look_at(input->path, deep, tl_name_says_trace(input->path), &look);
    input->kind = look.kind;
    memcpy(input->why, look.why, sizeof input->why);
    input->meta_rank = look.rank;
    input->world_size = look.world_size;
    input->origin = look.origin;
    input->begin_ns = look.begin_ns >= 0 || fifo ? look.begin_ns : tl_time_of_name(input->path);
}
