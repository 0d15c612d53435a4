"""The cases of the decode table, their programs and floors: what decode.py, predict.py and peers.py share."""

from __future__ import annotations

from dataclasses import dataclass

LATENT, ROPE = 512, 64
WIDTH = LATENT + ROPE
KV_SCALE, SM_SCALE = 0.5, 192**-0.5  # what `mlac run` draws

# Read bandwidth (bytes/s) and dense f16 mma.sync rate (flop/s) that an H200 reaches: docs/kernels.md.
READ_RATE, MMA_RATE = 4.5e12, 614e12


@dataclass(frozen=True)
class Case:
    """One row of the table. Times are microseconds on an H200; `peer` is FlashInfer 0.6.18 fa2 with the same cache (bf16 where it
    cannot take e4m3), recorded in docs/kernels.md, `peer_bf16` the same with a bf16 cache."""

    batch: int
    length: int
    heads: int
    must: float | None = None
    aim: float | None = None
    peer: float | None = None
    peer_bf16: float | None = None
    page: int = 64
    storage: str = "e4m3"
    compute: str = "f16"
    profile: str = "sm_90"
    query_tokens: int = 1

    @property
    def name(self):
        limits = "" if self.profile == "sm_90" else f" {self.profile} limits"
        query = "" if self.query_tokens == 1 else f" q={self.query_tokens}"
        return (f"B={self.batch} L={self.length} H={self.heads}{query} {self.storage}/{self.compute} page {self.page}{limits}")

    @property
    def row_bytes(self):
        return WIDTH * (1 if self.storage == "e4m3" else 2)

    @property
    def cache_bytes(self):
        return self.batch * self.length * self.row_bytes

    @property
    def flops(self):
        return 2 * self.batch * self.length * self.heads * self.query_tokens * (WIDTH + LATENT)

    @property
    def memory_floor(self):
        return self.cache_bytes / READ_RATE * 1e6

    @property
    def mma_floor(self):
        return self.flops / MMA_RATE * 1e6

    @property
    def shape(self):
        """What a peer that knows no profiles computes; cases that differ in the profile alone share it."""
        return (self.batch, self.length, self.heads, self.page, self.storage, self.compute)

    def program(self):
        fp8 = self.storage == "e4m3"
        rows = "kv" if self.storage == self.compute else "dequant(kv)"
        scale = "kv_scale : f32, " if fp8 else ""
        hint = f" hint query_tokens = {self.query_tokens}" if self.query_tokens > 1 else ""
        return (f"kernel decode(q : ragged bf16[heads = {self.heads}, {WIDTH}], kv : paged {self.storage}[{WIDTH}], "
                f"{scale}sm_scale : f32)\n"
                f"  -> (o : ragged bf16[heads = {self.heads}, {LATENT}], lse : log2) compute {self.compute}{hint} {{\n"
                f"  let k = {rows}{' * kv_scale' if fp8 else ''};\n"
                f"  let s = causal(dot(q, k) * sm_scale);\n"
                f"  o   = softmax(s) @ k[0:{LATENT}];\n"
                f"  lse = logsumexp(s);\n"
                f"}}\n")


CASES = [
    Case(64, 8192, 8, 90, 76, 538, 290),
    Case(64, 8192, 16, 100, 79, 537, 291),
    Case(64, 8192, 16, 110, 85, 552, 303, page=1),
    Case(64, 8192, 32, 150, 100, 539, 293),
    Case(64, 8192, 64, 250, 170, 544, 300),
    Case(64, 8192, 128, 480, 340, 1067, 563),
    Case(16, 8192, 8, 32, 24, 149, 86),
    Case(1, 131072, 8, 30, 22, 176, 114),
    Case(1, 4096, 8, 10, 7, 34, 27),
    Case(256, 1024, 16, 55, 42, 278, 156),
    Case(64, 8192, 16, 130, 100, None, 674, profile="sm_120"),
    Case(64, 8192, 64, 400, 260, None, 678, profile="sm_120"),
    Case(64, 8192, 128, 780, 500, None, 1312, profile="sm_120"),
    Case(64, 8192, 16, 165, 150, None, 291, storage="bf16", compute="bf16"),
    Case(64, 8192, 16, 125, 95, 537, 291, compute="bf16"),
]

# Beside the table: several query tokens cost at most what as many times the heads cost, and e4m3 no more than bf16 storage.
EXTRAS = [
    Case(64, 8192, 8, 100, 79, query_tokens=2),
    Case(64, 8192, 8, 150, 100, query_tokens=4),
    Case(64, 8192, 64, peer_bf16=300, storage="bf16", compute="bf16"),
    Case(64, 8192, 64, peer=544, peer_bf16=300, compute="bf16"),
]
