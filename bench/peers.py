#!/usr/bin/env python3
"""Decode of the table's cases by other means, in one process: peers.py [--json FILE] [--check] [PATTERN]

PyTorch (gather the pages, convert them, attend: matmul and softmax, or scaled_dot_product_attention), a Triton kernel, FlashInfer where it
can be imported, and the conversion of a whole pool of 495,000 tokens. Times are medians of 21 readings of a graph of launches on copies of
the cache, 300 MB before a byte is read again, as `mlac run --repeat` takes them. Every result is compared with float64.
--check compares values alone, on small shapes, and works on a CPU with TRITON_INTERPRET=1."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass

try:
    import torch
except ImportError:
    sys.exit("error: the peers need PyTorch")

from cases import CASES, EXTRAS, KV_SCALE, LATENT, ROPE, SM_SCALE, WIDTH, Case

try:
    import triton_decode
except ImportError:
    triton_decode = None
try:
    import flashinfer
except ImportError:
    flashinfer = None

ROTATION = 300_000_000  # bytes between two reads of the same byte
READINGS = 21
TOLERANCE = {torch.float16: 4e-3, torch.bfloat16: 1.2e-2}  # of a row's relative error, as for the project's own kernels
ROUNDED_SCORES = 5e-2  # of a program that rounds its scores to bf16
TORCH_TYPES = {"e4m3": torch.float8_e4m3fn, "bf16": torch.bfloat16, "f16": torch.float16}


class Operands:
    """A case's operands on the device. `pool` holds copies of the cache for launches to take in turn; one page table serves all."""

    def __init__(self, case, device, rotation=ROTATION):
        self.batch, self.length, self.heads, self.page = case.batch, case.length, case.heads, case.page
        self.latent, self.rope, self.fp8 = LATENT, ROPE, case.storage == "e4m3"
        self.compute = TORCH_TYPES[case.compute]
        self.value_scale = KV_SCALE if self.fp8 else 1.0
        self.score_scale = SM_SCALE * self.value_scale
        self.multiprocessors = torch.cuda.get_device_properties(device).multi_processor_count if device == "cuda" else 4
        generator = torch.Generator(device=device).manual_seed(1)
        pages = -(-case.length // case.page)
        self.copies = max(1, -(-rotation // case.cache_bytes))
        one = torch.randn((case.batch * pages, case.page, WIDTH), device=device, generator=generator)
        one = one.to(TORCH_TYPES[case.storage])
        self.pool = torch.empty((self.copies, *one.shape), dtype=one.dtype, device=device)
        for copy in range(self.copies):
            self.pool.view(torch.uint8)[copy].copy_(one.view(torch.uint8))
        order = torch.randperm(case.batch * pages, device=device, generator=generator)
        self.table = order.to(torch.int32).view(case.batch, pages)
        self.index = self.table.long()
        self.q = torch.randn((case.batch, case.heads, WIDTH), device=device, generator=generator).to(torch.bfloat16)

    def rows(self, copy, requests=slice(None)):
        """[requests, length, WIDTH] stored rows, gathered from the pages."""
        bytes_ = self.pool[copy].view(torch.uint8)[self.index[requests]]
        return bytes_.view(self.pool.dtype).reshape(len(bytes_), -1, WIDTH)[:, :self.length]

    def reference(self):
        """The answer in float64, a request at a time."""
        out = torch.empty((self.batch, self.heads, LATENT), dtype=torch.float64, device=self.q.device)
        for request in range(self.batch):
            keys = self.rows(0, slice(request, request + 1))[0].double()
            weights = torch.softmax(self.q[request].double() @ keys.T * self.score_scale, dim=-1)
            out[request] = weights @ keys[:, :LATENT] * self.value_scale
        return out


# A peer yields (label, tolerance, run): run(copy) returns the output. Of several the fastest counts.


def torch_matmul(o):
    def run(copy):
        keys = o.rows(copy).to(torch.bfloat16)
        weights = torch.softmax(torch.bmm(o.q, keys.transpose(1, 2)) * o.score_scale, dim=-1)
        return torch.bmm(weights, keys[..., :LATENT]) * o.value_scale

    yield "scores rounded to bf16", ROUNDED_SCORES, run


def torch_attention(o):
    def run(copy):
        keys = o.rows(copy).to(torch.bfloat16).unsqueeze(1)
        return torch.nn.functional.scaled_dot_product_attention(o.q.unsqueeze(1), keys, keys[..., :LATENT],
                                                                scale=o.score_scale).squeeze(1) * o.value_scale

    yield "", TOLERANCE[torch.bfloat16], run


def triton_split(o):
    if os.environ.get("TRITON_INTERPRET") == "1" and o.compute == torch.bfloat16:
        return  # the interpreter multiplies no bf16 matrices
    for configuration in triton_decode.configurations(o.heads):
        seen = set()
        for waves in triton_decode.WAVES:
            decode = triton_decode.Decode(o, *configuration, waves)
            if decode.name not in seen:
                seen.add(decode.name)
                yield decode.name, TOLERANCE[o.compute], decode


def flashinfer_fa2(o):
    workspace = torch.empty(128 << 20, dtype=torch.uint8, device=o.q.device)
    wrapper = flashinfer.mla.BatchMLAPagedAttentionWrapper(workspace, backend="fa2")
    arange = torch.arange(o.batch + 1, dtype=torch.int32, device=o.q.device)
    lengths = torch.full((o.batch,), o.length, dtype=torch.int32, device=o.q.device)
    wrapper.plan(arange, arange * o.table.shape[1], o.table.flatten(), lengths, o.heads, LATENT, ROPE, o.page, False,
                 o.score_scale, o.q.dtype, o.pool.dtype)
    q_latent, q_rope = o.q[..., :LATENT].contiguous(), o.q[..., LATENT:].contiguous()

    def run(copy):
        pool = o.pool[copy]
        return wrapper.run(q_latent, q_rope, pool[..., :LATENT], pool[..., LATENT:]) * o.value_scale

    yield flashinfer.__version__, TOLERANCE[torch.bfloat16], run


def all_peers():
    peers = {"torch matmul": torch_matmul, "torch sdpa": torch_attention}
    if triton_decode:
        peers["triton"] = triton_split
    if flashinfer:
        peers["flashinfer"] = flashinfer_fa2
    return peers


@dataclass
class Timing:
    median: float
    min: float
    max: float
    readings: int
    launches: int
    how: str = "graph"


def graph_of(launch):
    """A graph of what `launch` queues, or None where something in it cannot be captured."""
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            launch()
        return graph
    except RuntimeError:
        torch.cuda.synchronize()
        return None


def measure(run, copies, readings=READINGS, least=20):
    launches = -(-least // copies) * copies

    def round_():
        for copy in range(launches):
            run(copy % copies)

    run(0)
    torch.cuda.synchronize()
    graph = graph_of(round_)
    replay = graph.replay if graph else round_
    for _ in range(2):
        replay()
    times = []
    for _ in range(readings):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3 / launches)
    return Timing(statistics.median(times), min(times), max(times), readings, launches, "graph" if graph else "queued")


def row_error(out, expected):
    error = (out.double() - expected).norm(dim=-1) / expected.norm(dim=-1)
    return float(error.nan_to_num(nan=float("inf")).max())


def fastest(candidates, copies):
    """The candidate whose quick measurement is lowest; those that a card cannot launch are left out."""
    best, reason = None, "no candidate"
    for label, tolerance, run in candidates:
        try:
            quick = measure(run, copies, readings=3, least=5).median
        except Exception as error:  # out of shared memory or registers: another class in each release
            reason = f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
            torch.cuda.synchronize()
            continue
        if best is None or quick < best[0]:
            best = quick, label, tolerance, run
    if best is None:
        raise RuntimeError(reason)
    return best[1:]


def run_peer(peer, operands, expected):
    label, tolerance, run = fastest(peer(operands), operands.copies)
    timing = measure(run, operands.copies)
    error = row_error(run(0), expected)
    return {**vars(timing), "configuration": label, "error": error, "passed": error <= tolerance}


def guarded(name, work):
    try:
        return work()
    except Exception as error:  # a peer that cannot run does not end the table
        print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
        return {"failed": f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"}


def run_case(case):
    operands = Operands(case, "cuda")
    expected = operands.reference()
    result = {name: guarded(f"{case.name}, {name}", lambda: run_peer(peer, operands, expected))
              for name, peer in all_peers().items()}
    return {**result, "rotated": {"copies": operands.copies, "bytes": operands.pool.nbytes}}


def whole_pool_cast(tokens=495_000):
    pool = torch.randn((tokens, WIDTH), device="cuda").to(torch.float8_e4m3fn)
    return {**vars(measure(lambda _: pool.to(torch.bfloat16), 1)), "tokens": tokens,
            "bytes": tokens * WIDTH * (1 + 2)}


def precompile(cases):
    """Compiles the Triton kernels in several processes: in one it takes longer than all measurements."""
    if not triton_decode:
        return
    workers = min(8, os.cpu_count() or 1)
    here = os.path.abspath(__file__)
    names = "|".join(re.escape(case.name) for case in cases)
    running = [subprocess.Popen([sys.executable, here, "--worker", f"{i}/{workers}", f"^(?:{names})$"]) for i in range(workers)]
    for process in running:
        process.wait()


def compile_share(cases, share):
    """One worker's part of the kernels, each launched once on few tokens."""
    index, count = map(int, share.split("/"))
    work = {(case.page, case.storage, case.compute, configuration)
            for case in cases for configuration in triton_decode.configurations(case.heads)}
    for page, storage, compute, configuration in sorted(work)[index::count]:
        small = Operands(Case(1, 256, 16, page=page, storage=storage, compute=compute), "cuda", rotation=1)
        try:
            triton_decode.Decode(small, *configuration, 1)(0)
        except Exception:  # fastest() says so
            pass


def check(cases):
    """Values of every peer on small shapes of the cases' kinds; the number of failures."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    failures = 0
    for heads, page, storage, compute in sorted({(c.heads, c.page, c.storage, c.compute) for c in cases}):
        small = Operands(Case(2, 200, heads, page=page, storage=storage, compute=compute), device, rotation=1)
        expected = small.reference()
        for name, peer in all_peers().items():
            for label, tolerance, run in list(peer(small))[::3]:
                error = row_error(run(0), expected)
                passed = error <= tolerance
                failures += not passed
                print(f"{'passed' if passed else 'FAILED'}  {error:.2e}  {name}  H={heads} page {page} {storage}/{compute} {label}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default=".")
    parser.add_argument("--json", default="-", metavar="FILE")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    cases = [case for case in CASES + EXTRAS if re.search(options.pattern, case.name) and case.query_tokens == 1]
    if not cases:
        sys.exit(f"error: no case matches '{options.pattern}'")
    if options.worker:
        return compile_share(cases, options.worker)
    if options.check:
        return min(check(cases), 1)
    if not torch.cuda.is_available():
        sys.exit("error: PyTorch finds no CUDA device; --check compares values without one")
    precompile(cases)
    shapes = {}
    for case in cases:
        if case.shape not in shapes:
            shapes[case.shape] = run_case(case)
            torch.cuda.empty_cache()
    report = {"device": torch.cuda.get_device_name(), "torch": torch.__version__,
              "triton": triton_decode.triton.__version__ if triton_decode else None,
              "flashinfer": flashinfer.__version__ if flashinfer else None,
              "whole_pool_cast": guarded("whole-pool cast", whole_pool_cast),
              "cases": {case.name: shapes[case.shape] for case in cases}}
    text = json.dumps(report, indent=1)
    if options.json == "-":
        print(text)
    else:
        with open(options.json, "w") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main())
