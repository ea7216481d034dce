#!/usr/bin/env python3
"""Times phases of a training loop with libtlmpi_record; the class below is all that a trainer needs of this file.

    python3 jobs/record_example.py [--steps 900] [--directory cuda_event_profiler] [--start-step 0] [--end-step N]
        [--record-every-n-steps 10] [--flush-every-n-steps 10] [--ranks 0,1]

RANK in the environment is the rank, as torchrun sets it.  With PyTorch and a GPU the phases have something to do;
without, the recorder says why it is off, and the loop runs all the same.  TLMPI_RECORD_SO names the library, where that
is neither built in build/ nor installed.
"""
import argparse
import contextlib
import ctypes
import json
import os

try:
    import torch
except ImportError:
    torch = None
GPU = torch is not None and torch.cuda.is_available()


class Settings(ctypes.Structure):
    """struct tlmpi_record_settings"""
    _fields_ = [("enable", ctypes.c_int), ("rank", ctypes.c_int), ("directory", ctypes.c_char_p),
                ("start_step", ctypes.c_int64), ("end_step", ctypes.c_int64),
                ("record_every_n_steps", ctypes.c_int64), ("flush_every_n_steps", ctypes.c_int64),
                ("ranks", ctypes.POINTER(ctypes.c_int)), ("nranks", ctypes.c_size_t)]


class As(ctypes.Union):
    _fields_ = [("text", ctypes.c_char_p), ("integer", ctypes.c_int64), ("real", ctypes.c_double)]


class Value(ctypes.Structure):
    """struct tlmpi_record_value"""
    _fields_ = [("key", ctypes.c_char_p), ("type", ctypes.c_int), ("value", As)]


class Counts(ctypes.Structure):
    """struct tlmpi_record_counts"""
    _fields_ = [(name, ctypes.c_int64)
                for name in ("written", "open", "pending", "lost", "failed", "captured", "events")]


def library():
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "libtlmpi_record.so")
    lib = ctypes.CDLL(os.environ.get("TLMPI_RECORD_SO") or (built if os.path.exists(built) else "libtlmpi_record.so.0"))
    recorder, phase, stream = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p
    lib.tlmpi_record_defaults.argtypes = [ctypes.POINTER(Settings)]
    lib.tlmpi_record_open.argtypes = [ctypes.POINTER(Settings), ctypes.POINTER(recorder)]
    lib.tlmpi_record_reason.argtypes = [recorder]
    lib.tlmpi_record_reason.restype = ctypes.c_char_p
    lib.tlmpi_record_begin.argtypes = [recorder, ctypes.c_char_p, ctypes.c_int64, stream, ctypes.POINTER(Value),
                                       ctypes.c_size_t, ctypes.POINTER(phase)]
    lib.tlmpi_record_end.argtypes = [recorder, phase, stream]
    lib.tlmpi_record_step_end.argtypes = [recorder, ctypes.c_int64]
    lib.tlmpi_record_close.argtypes = [recorder, ctypes.POINTER(Counts)]
    return lib


def current_stream():
    return torch.cuda.current_stream().cuda_stream if GPU else None


as_json = json.JSONEncoder(sort_keys=True, default=str).encode


def value(key, given):
    """A metadata value, up to 32 a phase, as JSON (type 4): whatever json.dumps takes; of anything else its str()."""
    try:
        text = as_json(given)
    except (TypeError, ValueError, RecursionError):  # what is in itself, say: the recorder says that it is no JSON
        text = ""
    return Value(key.encode(errors="replace"), 4, As(text=text.encode()))


class Recorder:
    """with recorder.phase("training_step", step, micro_step=2): ...  and  recorder.step_end(step)  after each step"""

    def __init__(self, rank, directory, ranks=None, **settings):
        self.lib = library()
        wanted = Settings()
        self.lib.tlmpi_record_defaults(ctypes.byref(wanted))
        wanted.enable, wanted.rank, wanted.directory = True, rank, os.fsencode(directory)
        for name, given in settings.items():
            if given is not None:
                setattr(wanted, name, given)
        if ranks is not None:
            wanted.ranks, wanted.nranks = (ctypes.c_int * len(ranks))(*ranks), len(ranks)
        self.handle = ctypes.c_void_p()
        self.lib.tlmpi_record_open(ctypes.byref(wanted), ctypes.byref(self.handle))
        self.reason = self.lib.tlmpi_record_reason(self.handle).decode(errors="replace")

    @contextlib.contextmanager
    def phase(self, name, step, **metadata):
        phase = ctypes.c_uint64()
        values = (Value * len(metadata))(*(value(k, v) for k, v in metadata.items()))
        self.lib.tlmpi_record_begin(self.handle, name.encode(errors="replace"), step, current_stream(), values,
                                    len(values), ctypes.byref(phase))
        try:
            yield
        finally:
            if phase.value:
                self.lib.tlmpi_record_end(self.handle, phase, current_stream())

    def step_end(self, step):
        self.lib.tlmpi_record_step_end(self.handle, step)

    def close(self):
        counts = Counts()
        self.lib.tlmpi_record_close(self.handle, ctypes.byref(counts))
        self.handle = None
        return counts


def train(recorder, steps):
    """A loop with the three phases of lmms-engine."""
    for step in range(steps):
        with recorder.phase("host_to_device", step):
            batch = torch.ones(512, 512).to("cuda", non_blocking=True) if GPU else None
        with recorder.phase("training_step", step, micro_step=0):
            loss = (batch @ batch).mean() if GPU else None
        with recorder.phase("training_metrics", step):
            if GPU:
                loss.detach().cpu()
        recorder.step_end(step)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--directory", default="cuda_event_profiler")
    parser.add_argument("--start-step", type=int)
    parser.add_argument("--end-step", type=int)
    parser.add_argument("--record-every-n-steps", type=int)
    parser.add_argument("--flush-every-n-steps", type=int)
    parser.add_argument("--ranks", type=lambda text: [int(rank) for rank in text.split(",")])
    given = vars(parser.parse_args())
    steps, rank = given.pop("steps"), int(os.environ.get("RANK", 0))
    recorder = Recorder(rank, **given)
    train(recorder, steps)
    if recorder.reason:
        print(f"rank {rank}: nothing is recorded: {recorder.reason}")
    counts = recorder.close()
    print(f"rank {rank}: {counts.written} phases written, {counts.lost + counts.failed} lost")


if __name__ == "__main__":
    main()
