/* perfetto.c - packets of Perfetto (protobuf), as PyTorch's profiler and rocprofv3 write: one after the other.
 *
 *     track descriptor      process and thread, or device and stream, of a track
 *     interned data         texts by number, for later packets of the sequence until it is cleared
 *     clock snapshot        one instant on several clocks
 *     track event           beginning or end of a slice on a track, with args
 *     render stage          a piece of device work, of PyTorch
 *
 * A slice and a stage become the entry that Kineto would have written; the end of a slice gives its duration.
 */
#include "formats.h"
#if TLMPI_HAVE_PROTOBUF
#include "perfetto.pb-c.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/trace/event/hook.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <yajl/yajl_gen.h>
#include <zlib.h>

#define BLOCK       ((size_t)1 << 18) /* bytes that are read at once */
#define PACKET_MOST ((size_t)1 << 26) /* largest size of a packet, and of packed packets; a larger one is damaged */
#define GROWTH      32                /* memory that a packet may take, in multiples of its size */
#define LEVELS      8                 /* of args in args; deeper ones are left out */

enum { REALTIME = 1, BOOTTIME = 6, NCLOCKS = 16 }; /* numbers of clocks */
enum { SLICE_BEGIN = 1, SLICE_END = 2 };           /* types of track events */
enum { CATEGORY, EVENT, KEY, STAGE };              /* what texts by number are */

/* Process and thread of the host, or device and stream. */
typedef struct track {
    int64_t pid, tid;
    bool of_device;
} track;

/* The packets of one writer.  Times of clock `incremental` (0: none) count from last_ns, which is of clock `under`. */
typedef struct sequence {
    uint32_t generation, clock, incremental, under;
    uint64_t last_ns, unit_ns, track;
} sequence;

typedef struct reading {
    const tl_read_options *options;
    tl_trace *trace;
    bool first_only; /* until the first event */
    uint64_t byte;   /* offset of the current packet */
    size_t room;     /* memory left to it */
    ProtobufCAllocator allocator;
    tl_map sequence_of, track_of, text_of;
    TL_VEC(sequence) sequences;
    TL_VEC(track) tracks;
    TL_VEC(char *) texts;
    tl_slices slices;
    uint64_t offset_ns[NCLOCKS]; /* to the time of day; 0: unknown */
    tl_arena arena;              /* texts */
    yajl_gen json;               /* the entry */
    tl_yajl_scratch scratch;
    tl_fields fields;
    tl_shape_rules shape_rules;
    uint32_t uid;
    size_t checked;
} reading;

static void *take_memory(void *arg, size_t size)
{
    reading *r = arg;
    r->room -= size < r->room ? size : r->room;
    return r->room > 0 ? malloc(size) : NULL;
}

static void drop_memory(void *arg, void *memory)
{
    (void)arg;
    free(memory);
}

static void report(reading *r, const char *expected, const char *done)
{
    tl_report_bad(&r->trace->report, r->byte, expected, done);
}

static bool is_done(const reading *r)
{
    return r->trace->report.no_memory || (r->first_only && r->trace->events.n > 0);
}

/* ------------------------------------------------------------------------------------------------- texts by number */

static uint64_t text_key(const reading *r, const sequence *s, int what, uint64_t iid)
{
    const uint64_t whose = (uint64_t)(s - r->sequences.v) << 32 | s->generation;
    return tl_hash_mix(tl_hash_mix(whose, (uint64_t)what), iid);
}

static void keep_texts(reading *r, const sequence *s, int what, Perfetto__InternedData__Name *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const ProtobufCBinaryData *name = &names[i]->name;
        char *text = tl_arena_zeroed(&r->arena, name->len + 1, 1);
        if (name->len > 0)
            memcpy(text, name->data, name->len);
        tl_map_put(&r->text_of, text_key(r, s, what, names[i]->iid), (uint32_t)r->texts.n);
        tl_vec_push(&r->texts, text);
    }
}

/* Returns the text itself, or the text of the number; empty: neither is known. */
static const char *text_of(const reading *r, const sequence *s, int what, const char *text, uint64_t iid)
{
    const uint32_t at = text == NULL ? tl_map_get(&r->text_of, text_key(r, s, what, iid)) : TL_MAP_NONE;
    return text != NULL ? text : at != TL_MAP_NONE ? r->texts.v[at] : "";
}

/* --------------------------------------------------------------------------------------------------------- an entry */

/* Kineto's words for categories and keys of args. */
static const char *kinetos(const char *word)
{
    static const char *const words[][2] = { { "hip_api", "cuda_runtime" },
                                            { "hsa_api", "cuda_driver" },
                                            { "marker_api", "user_annotation" },
                                            { "rccl_api", "user_annotation" },
                                            { "kernel_dispatch", "kernel" },
                                            { "memory_copy", "gpu_memcpy" },
                                            { "Kernel", "kernel" },
                                            { "Memcpy", "gpu_memcpy" },
                                            { "Memset", "gpu_memset" },
                                            { "corr_id", "correlation" },
                                            { "copy_bytes", "bytes" },
                                            { "device id", "device" },
                                            { "stream id", "stream" },
                                            { "Annotation", "gpu_user_annotation" } };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], word) == 0)
            return words[i][1];
    return word;
}

static void put_text(reading *r, const char *text)
{
    yajl_gen_string(r->json, (const unsigned char *)text, strlen(text));
}

static void put_int(reading *r, const char *key, int64_t number)
{
    put_text(r, key);
    yajl_gen_integer(r->json, number);
}

static void put_time(reading *r, const char *key, uint64_t ns)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
    put_text(r, key);
    yajl_gen_number(r->json, text, (size_t)n);
}

/* Begins the entry, with its args last. */
static void begin_entry(reading *r, const char *category, const char *name, uint64_t at_ns, uint64_t dur_ns)
{
    const char *const texts[] = { "ph", "X", "cat", category, "name", name };
    yajl_gen_reset(r->json, NULL);
    yajl_gen_clear(r->json);
    yajl_gen_map_open(r->json);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        put_text(r, texts[i]);
    put_time(r, "ts", at_ns);
    put_time(r, "dur", dur_ns);
    put_text(r, "args");
    yajl_gen_map_open(r->json);
}

/* Ends the entry and takes it as Kineto's reader does.  Returns the index of its event; TL_NO_EVENT: it is not kept. */
static uint32_t end_entry(reading *r, track t)
{
    const tl_take_options take = { r->options->keep, NULL };
    tl_read_report *told = &r->trace->report;
    tl_events *events = &r->trace->events;
    const unsigned char *text = NULL;
    const char *why = "expected values that JSON has, found others";
    size_t n = 0, ignored;

    yajl_gen_map_close(r->json);
    put_int(r, "pid", t.pid);
    put_int(r, "tid", t.tid);
    yajl_gen_map_close(r->json);
    yajl_gen_get_buf(r->json, &text, &n);
    const bool read = tl_event_read_yajl(&r->scratch, (tl_text){ (const char *)text, n }, &r->fields, &ignored);
    tl_taken taken =
        read ? tl_events_take(events, &take, &r->fields, r->uid, &told->fractional_ts, &why) : TL_TAKEN_BAD;
    r->uid++;
    bool bad;
    const bool kept = tl_report_taken(told, taken, &bad);
    if (bad)
        report(r, why, kept ? "kept that event" : "dropped that event");
    if (!kept)
        return TL_NO_EVENT;
    tl_args_take(events, &r->fields, r->options->columns_alone, &r->shape_rules);
    return (uint32_t)events->n - 1;
}

static void put_args(reading *r, const sequence *s, Perfetto__DebugAnnotation *const *args, size_t n, bool rename,
                     int level);

static void put_value(reading *r, const sequence *s, const Perfetto__DebugAnnotation *a, int level)
{
    const bool map = a->n_dict_entries > 0;
    const size_t n = map ? a->n_dict_entries : a->n_array_values;
    const ProtobufCBinaryData *packed = map ? a->dict_entries : a->array_values;

    if (n > 0 && level < LEVELS) {
        map ? yajl_gen_map_open(r->json) : yajl_gen_array_open(r->json);
        for (size_t i = 0; i < n; i++) {
            Perfetto__DebugAnnotation *one =
                perfetto__debug_annotation__unpack(&r->allocator, packed[i].len, packed[i].data);
            if (one != NULL && map)
                put_args(r, s, &one, 1, false, level + 1);
            else if (one != NULL)
                put_value(r, s, one, level + 1);
            perfetto__debug_annotation__free_unpacked(one, &r->allocator);
        }
        map ? yajl_gen_map_close(r->json) : yajl_gen_array_close(r->json);
    } else if (a->string_value != NULL) {
        put_text(r, a->string_value);
    } else if (a->has_bool_value) {
        yajl_gen_bool(r->json, a->bool_value);
    } else if (!a->has_double_value || yajl_gen_double(r->json, a->double_value) != yajl_gen_status_ok) {
        yajl_gen_integer(r->json, a->has_int_value ? a->int_value : (int64_t)(a->uint_value & INT64_MAX));
    }
}

static void put_args(reading *r, const sequence *s, Perfetto__DebugAnnotation *const *args, size_t n, bool rename,
                     int level)
{
    for (size_t i = 0; i < n; i++) {
        const char *key = text_of(r, s, KEY, args[i]->name, args[i]->name_iid);
        put_text(r, rename ? kinetos(key) : key);
        put_value(r, s, args[i], level);
    }
}

/* ---------------------------------------------------------------------------------------------------------- slices */

static uint32_t track_at(reading *r, uint64_t uuid)
{
    const uint32_t at = tl_map_number(&r->track_of, uuid, r->tracks.n);
    if (at == r->tracks.n)
        tl_vec_push(&r->tracks, (track){ 0, (int64_t)at, false });
    return at;
}

/* Returns the first number in a text, or in what follows a word of it; 0: none. */
static int64_t number_in(const char *text, const char *word)
{
    const char *from = strstr(text, word);
    return from != NULL ? strtoll(from + strcspn(from, "0123456789"), NULL, 10) : 0;
}

/* Device tracks of rocprofv3: "COMPUTE AGENT [4] STREAM [7] (GPU)", "STREAM [\" 7 \"] ", "COMPUTE GPU [0] QUEUE [1]" */
static void take_track(reading *r, const Perfetto__TrackDescriptor *d)
{
    const uint32_t at = track_at(r, d->uuid);
    const char *word = strstr(d->name, "STREAM [") != NULL ? "STREAM [" : "QUEUE [";
    if (d->thread != NULL)
        r->tracks.v[at] = (track){ d->thread->pid, d->thread->tid, false };
    else if (strstr(d->name, word) != NULL)
        r->tracks.v[at] = (track){ number_in(d->name, "AGENT ["), number_in(d->name, word), true };
}

/* ------------------------------------------------------------------------------------------------------ the packets */

/* Returns the arg of that key; NULL: there is none. */
static const Perfetto__DebugAnnotation *arg_of(const reading *r, const sequence *s, const Perfetto__TrackEvent *e,
                                               const char *key)
{
    for (size_t i = 0; i < e->n_debug_annotations; i++) {
        const Perfetto__DebugAnnotation *a = e->debug_annotations[i];
        if (strcmp(text_of(r, s, KEY, a->name, a->name_iid), key) == 0)
            return a;
    }
    return NULL;
}

/* Sets a number to that of an arg, "Agent-4" or 4, if the slice has the arg. */
static void set_number(const reading *r, const sequence *s, const Perfetto__TrackEvent *e, const char *key,
                       int64_t *number)
{
    const Perfetto__DebugAnnotation *a = arg_of(r, s, e, key);
    if (a != NULL)
        *number = a->string_value != NULL ? number_in(a->string_value, "")
                  : a->has_int_value      ? a->int_value
                                          : (int64_t)(a->uint_value & INT64_MAX);
}

/* Returns the category of a slice; PyTorch writes none for waits. */
static const char *category_of(const reading *r, const sequence *s, const Perfetto__TrackEvent *e)
{
    if (e->n_categories + e->n_category_iids == 0 && arg_of(r, s, e, "cuda_sync_kind") != NULL)
        return "cuda_sync";
    return kinetos(text_of(r, s, CATEGORY, e->n_categories > 0 ? e->categories[0] : NULL,
                           e->n_category_iids > 0 ? e->category_iids[0] : 0));
}

static void take_event(reading *r, const sequence *s, const Perfetto__TrackEvent *e, uint64_t at_ns)
{
    const uint32_t at = track_at(r, e->has_track_uuid ? e->track_uuid : s->track);
    tl_slice_edge edge = { (int64_t)at_ns, r->uid, at, TL_NO_EVENT, e->type == SLICE_END, TL_NO_EVENT };

    if (e->type != SLICE_BEGIN && e->type != SLICE_END)
        return;
    if (e->type == SLICE_BEGIN) {
        const char *name = text_of(r, s, EVENT, e->name, e->name_iid), *category = category_of(r, s, e);
        const char *way = strcmp(category, "gpu_memcpy") == 0 ? strstr(name, "_TO_") : NULL;
        track t = r->tracks.v[at];
        if (t.of_device) {
            const bool from_device = way != NULL && way > name && way[-1] == 'E';
            set_number(r, s, e, way == NULL ? "agent" : from_device ? "src_agent" : "dst_agent", &t.pid);
            set_number(r, s, e, "stream_ID", &t.tid);
        }
        begin_entry(r, category, way != NULL ? "Memcpy" : name, at_ns, 0);
        if (way != NULL && way > name) { /* "MEMORY_COPY_HOST_TO_DEVICE" */
            const char kind[] = { way[-1] == 'T' ? 'H' : 'D', 't', 'o', way[4], 0 };
            put_text(r, "copy kind");
            put_text(r, kind);
        }
        if (t.of_device) {
            put_int(r, "device", t.pid);
            put_int(r, "stream", t.tid);
        }
        /* A range does not queue work itself. */
        put_args(r, s, e->debug_annotations, e->n_debug_annotations, strcmp(category, "user_annotation") != 0, 0);
        edge.event = end_entry(r, t);
    }
    tl_slices_add(&r->slices, &r->trace->events, (uint32_t)(s - r->sequences.v), edge);
}

static void take_stage(reading *r, const sequence *s, const Perfetto__GpuRenderStageEvent *e, uint64_t at_ns)
{
    const char *stage = text_of(r, s, STAGE, NULL, e->stage_iid), *name = text_of(r, s, EVENT, e->name, e->name_iid);
    track t = { e->gpu_id, 0, true };

    begin_entry(r, kinetos(stage), name[0] != 0 ? name : stage, at_ns, e->duration);
    for (size_t i = 0; i < e->n_extra_data; i++) {
        const char *value = e->extra_data[i]->value;
        const size_t n = strlen(value), digits = strspn(value, "0123456789");
        if (strcmp(e->extra_data[i]->name, "stream id") == 0)
            t.tid = strtoll(value, NULL, 10);
        put_text(r, kinetos(e->extra_data[i]->name));
        if (n > 0 && n < 19 && digits == n && (value[0] != '0' || n == 1)) /* numbers are texts here */
            yajl_gen_number(r->json, value, n);
        else
            put_text(r, value);
    }
    if (e->launch != NULL && e->launch->grid_size != NULL) {
        const Perfetto__GpuRenderStageEvent__Dim3 *grid = e->launch->grid_size;
        put_text(r, "grid");
        yajl_gen_array_open(r->json);
        yajl_gen_integer(r->json, grid->x);
        yajl_gen_integer(r->json, grid->y);
        yajl_gen_integer(r->json, grid->z);
        yajl_gen_array_close(r->json);
    }
    (void)end_entry(r, t);
}

static void take_clocks(reading *r, sequence *s, const Perfetto__ClockSnapshot *snapshot)
{
    const Perfetto__ClockSnapshot__Clock *day = NULL;

    for (size_t i = 0; i < snapshot->n_clocks; i++) {
        const Perfetto__ClockSnapshot__Clock *c = snapshot->clocks[i];
        day = c->clock_id == REALTIME ? c : day;
        if (c->is_incremental) {
            s->incremental = c->clock_id;
            s->under = snapshot->clocks[0]->clock_id;
            s->unit_ns = c->unit_multiplier_ns > 0 ? c->unit_multiplier_ns : 1;
            s->last_ns = c->timestamp * s->unit_ns;
        }
    }
    for (size_t i = 0; day != NULL && i < snapshot->n_clocks; i++) {
        const Perfetto__ClockSnapshot__Clock *c = snapshot->clocks[i];
        if (c->clock_id < NCLOCKS && r->offset_ns[c->clock_id] == 0)
            r->offset_ns[c->clock_id] = day->timestamp - c->timestamp;
    }
}

static uint64_t time_of(const reading *r, sequence *s, const Perfetto__TracePacket *packet)
{
    uint64_t ns = packet->timestamp;
    uint32_t clock = packet->has_timestamp_clock_id ? packet->timestamp_clock_id : s->clock;

    if (clock != 0 && clock == s->incremental && packet->has_timestamp) {
        ns = s->last_ns += ns * s->unit_ns;
        clock = s->under;
    }
    return ns + (clock < NCLOCKS ? r->offset_ns[clock != 0 ? clock : BOOTTIME] : 0);
}

/* Reports what the recorder had no room for. */
static void take_losses(reading *r, const Perfetto__TraceStats *stats)
{
    for (size_t i = 0; i < stats->n_buffer_stats; i++) {
        const Perfetto__TraceStats__BufferStats *b = stats->buffer_stats[i];
        if (b->chunks_overwritten > 0 || b->chunks_discarded > 0 || b->trace_writer_packet_loss > 0) {
            r->trace->report.source_fault = true;
            report(r, "expected all that was recorded, found that the recorder's buffer was full: make it larger",
                   "kept what it had");
        }
    }
}

static bool take_packets(reading *r, tl_text *text, bool inner);

static void take_compressed(reading *r, const ProtobufCBinaryData *data)
{
    tl_bytes out = { 0 };
    z_stream z = { .next_in = data->data, .avail_in = (uInt)data->len };
    int rc = inflateInit(&z);

    while (rc == Z_OK && out.n < PACKET_MOST) {
        tl_grow((void **)&out.v, &out.cap, out.n + BLOCK, 1);
        z.next_out = (Bytef *)out.v + out.n;
        z.avail_out = (uInt)BLOCK;
        rc = inflate(&z, Z_NO_FLUSH);
        out.n += BLOCK - z.avail_out;
    }
    (void)inflateEnd(&z);
    tl_text text = { out.v, out.n };
    if (rc != Z_STREAM_END || !take_packets(r, &text, true) || (text.n > 0 && !is_done(r))) {
        r->trace->report.source_fault = true;
        report(r, "expected whole compressed packets, found damaged ones", "kept those before it");
    }
    tl_bytes_free(&out);
}

static void take_packet(reading *r, const char *p, size_t n, bool inner)
{
    r->room = GROWTH * n + BLOCK;
    Perfetto__TracePacket *packet = perfetto__trace_packet__unpack(&r->allocator, n, (const uint8_t *)p);
    if (packet == NULL) {
        r->trace->report.entries++;
        r->trace->report.dropped++;
        report(r, "expected a packet of Perfetto, found something else", "dropped that packet");
        return;
    }
    const Perfetto__TracePacketDefaults *defaults = packet->trace_packet_defaults;
    const Perfetto__InternedData *texts = packet->interned_data;
    const uint32_t at = tl_map_number(&r->sequence_of, packet->trusted_packet_sequence_id, r->sequences.n);
    if (at == r->sequences.n)
        tl_vec_push(&r->sequences, (sequence){ 0 });
    sequence *s = &r->sequences.v[at];
    if ((packet->sequence_flags & 1) != 0 || packet->incremental_state_cleared) {
        s->generation++;
        s->track = s->clock = s->incremental = 0;
    }
    if (defaults != NULL) {
        s->clock = defaults->timestamp_clock_id;
        s->track = defaults->track_event_defaults != NULL ? defaults->track_event_defaults->track_uuid : 0;
    }
    if (texts != NULL) {
        keep_texts(r, s, CATEGORY, texts->event_categories, texts->n_event_categories);
        keep_texts(r, s, EVENT, texts->event_names, texts->n_event_names);
        keep_texts(r, s, KEY, texts->debug_annotation_names, texts->n_debug_annotation_names);
        keep_texts(r, s, STAGE, texts->gpu_specifications, texts->n_gpu_specifications);
    }
    const uint64_t at_ns = time_of(r, s, packet);
    if (packet->clock_snapshot != NULL)
        take_clocks(r, s, packet->clock_snapshot);
    if (packet->trace_stats != NULL)
        take_losses(r, packet->trace_stats);
    if (packet->track_descriptor != NULL)
        take_track(r, packet->track_descriptor);
    if (packet->track_event != NULL)
        take_event(r, s, packet->track_event, at_ns);
    if (packet->gpu_render_stage_event != NULL)
        take_stage(r, s, packet->gpu_render_stage_event, at_ns);
    if (packet->compressed_packets.len > 0 && !inner)
        take_compressed(r, &packet->compressed_packets);
    perfetto__trace_packet__free_unpacked(packet, &r->allocator);
}

/* Takes the whole packets at the beginning of the text, and removes them from it.  Returns false if what follows is no
 * packet. */
static bool take_packets(reading *r, tl_text *text, bool inner)
{
    while (text->n > 0 && !is_done(r)) {
        uint64_t length = 0;
        size_t n = 1;
        bool more = true; /* digits of the length, in base 128 */
        for (unsigned shift = 0; more && n < text->n && shift < 35; shift += 7, n++) {
            length |= (uint64_t)((unsigned char)text->p[n] & 0x7f) << shift;
            more = ((unsigned char)text->p[n] & 0x80) != 0;
        }
        if (text->p[0] != '\n' || length > PACKET_MOST || (more && n < text->n)) /* 10: field 1, with a length */
            return false;
        if (more || text->n - n < length)
            return true;
        take_packet(r, text->p + n, (size_t)length, inner);
        n += (size_t)length;
        *text = (tl_text){ text->p + n, text->n - n };
        r->byte += inner ? 0 : n;
    }
    return true;
}

static void read_packets(reading *r, tl_source *source)
{
    tl_read_report *told = &r->trace->report;
    tl_error fault = { 0 };
    tl_bytes text = { 0 };
    bool packets = true;

    for (size_t n = 1; packets && n > 0 && !is_done(r); (void)tl_report_room(r->trace, &r->checked)) {
        tl_grow((void **)&text.v, &text.cap, text.n + BLOCK, 1);
        if (tl_source_read(source, text.v + text.n, BLOCK, &n, &fault) != TL_OK)
            n = 0;
        text.n += n;
        tl_text rest = { text.v, text.n };
        packets = take_packets(r, &rest, false);
        memmove(text.v, rest.p, rest.n);
        text.n = rest.n;
        if (r->options->tick != NULL)
            r->options->tick(r->options->tick_arg);
    }
    told->source_fault |= !packets || fault.status != TL_OK;
    told->cut = packets && text.n > 0 && !is_done(r);
    if (told->source_fault || told->cut)
        report(r,
               fault.status != TL_OK ? tl_source_reason(source, &fault)
               : told->cut           ? "expected the end of a packet, found the end of the file"
                                     : "expected a packet of Perfetto, found something else",
               "kept every packet before it");
    tl_bytes_free(&text);
}

tl_status tl_perfetto_read(const char *path, const tl_read_options *options, bool first_only, tl_trace *out,
                           tl_error *err)
{
    tl_source *source;
    tl_status st = tl_source_open(path, &source, err);
    *out = (tl_trace)TL_TRACE_INIT;
    if (st != TL_OK)
        return st;
    reading *r = tl_calloc(1, sizeof *r);
    r->options = options;
    r->trace = out;
    r->first_only = first_only;
    r->allocator = (ProtobufCAllocator){ take_memory, drop_memory, r };
    r->json = yajl_gen_alloc(NULL);
    read_packets(r, source);
    out->report.untimed = tl_slices_close(&r->slices, &out->events, r->tracks.n);
    out->report.repaired += out->report.untimed;
    if (out->report.untimed > 0)
        report(r, "expected the end of each slice, found some without", "kept these with a duration of 0");
    out->meta.has_trace_keys = true;
    out->report.gzip = tl_source_packing(source) != NULL;
    out->report.file_bytes = tl_source_file_size(source);
    out->report.text_bytes = tl_source_text_bytes(source);
    out->report.has_events = out->report.entries > 0;
    tl_source_close(source);
    free(r->sequences.v);
    free(r->tracks.v);
    free(r->texts.v);
    free(r->shape_rules.v);
    tl_map_free(&r->sequence_of);
    tl_map_free(&r->track_of);
    tl_map_free(&r->text_of);
    tl_arena_free(&r->arena);
    tl_yajl_scratch_free(&r->scratch);
    yajl_gen_free(r->json);
    free(r);
    return TL_OK;
}

#endif
