/* look.c - is this file a trace, its rank, its begin.  Its reader tells; its name and modification time stand in
 * for what the reader cannot tell. */
#include "input.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/read/reader.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void take(tl_input *input, const tl_look *look)
{
    input->kind = look->kind;
    memcpy(input->why, look->why, sizeof input->why);
}

void tl_input_say_why(tl_input *input, tl_input_kind kind, const char *reason)
{
    tl_look look;
    tl_look_say(&look, kind, reason);
    take(input, &look);
}

void tl_input_words(const tl_input *input, char out[TL_INPUT_WORDS])
{
    char text[TL_INPUT_WORDS];
    size_t n = strlen(input->path), shown = 90;

    snprintf(text, sizeof text, "%s%s: %s", n > shown ? "..." : "", input->path + (n > shown ? n - shown : 0),
             input->why);
    tl_printable(out, TL_INPUT_WORDS, text);
}

void tl_input_warn(const tl_input *input, const char *before, const char *after)
{
    char words[TL_INPUT_WORDS];
    tl_input_words(input, words);
    tl_warn("%s%s%s", before, words, after);
}

void tl_input_look(tl_input *input, bool deep)
{
    tl_look look = TL_LOOK_INIT;
    struct stat st;

    input->why[0] = '\0';
    input->meta_rank = input->world_size = -1;
    input->origin = (tl_origin){ 0 };
    input->copy = false;
    input->name_rank = tl_rank_of_name(input->path);
    if (stat(input->path, &st) == 0) {
        tl_input_set_stat(input, &st);
        if (S_ISFIFO(st.st_mode)) {
            input->pipe = true;
            input->name_rank = -1;
            input->kind = TL_INPUT_TRACE;
            input->begin_ns = input->mtime_ns;
            return;
        }
    }
    const tl_reader *reader = tl_reader_among(tl_readers, input->path);
    if (reader != NULL)
        reader->look(input->path, deep, tl_name_says_trace(input->path), &look);
    else
        tl_look_say(&look, TL_INPUT_UNREADABLE, "memory is out");
    take(input, &look);
    input->meta_rank = look.rank;
    input->world_size = look.world_size;
    input->origin = look.origin;
    input->begin_ns = look.begin_ns >= 0 ? look.begin_ns : tl_time_of_name(input->path);
    if (input->begin_ns < 0)
        input->begin_ns = input->mtime_ns;
}
