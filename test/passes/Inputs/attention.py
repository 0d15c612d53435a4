"""Prints attention kernels in the mla dialect, one for each combination of the values given, apart by // -----.

    attention.py heads=8,16 storage=f8E4M3FN compute=f16 latent=512 rope=64 tokens=32 stages=2,3

Options that the kernel does not know, such as tokens, become hints. A kernel is named after its values.
"""
import itertools
import sys

DEFAULTS = {"heads": ["8"], "storage": ["f8E4M3FN"], "compute": ["f16"], "latent": ["512"], "rope": ["64"], "layout": ["paged"]}

KERNEL = """mla.kernel @{name}(%q: !mla.buffer<ragged, {heads}x{width}xbf16> {{mla.name = "q"}},
    %kv: !mla.buffer<{layout}, {width}x{storage}> {{mla.name = "kv"}}, %sm: f32 {{mla.name = "sm"}})
    -> (!mla.buffer<ragged, {heads}x{latent}xbf16> {{mla.name = "o"}}, !mla.lse<{heads}, log2> {{mla.name = "lse"}})
    attributes {{compute = {compute}, mla.hints = {{{hints}}}}} {{
  %k = mla.dequant %kv : <{layout}, {width}x{storage}> -> <{width}x{compute}>
  %dot = mla.dot %q, %k : !mla.buffer<ragged, {heads}x{width}xbf16>, !mla.rows<{width}x{compute}> -> <{heads}>
  %s = mla.scale %dot, %sm : !mla.scores<{heads}>
  %p = mla.softmax %s : <{heads}> -> <{heads}>
  %v = mla.slice %k[0 : {latent}] : !mla.rows<{width}x{compute}> -> <{latent}x{compute}>
  %o = mla.attend %p, %v : <{heads}>, !mla.rows<{latent}x{compute}> -> <{heads}x{latent}xf32>
  %lse = mla.logsumexp %s : <{heads}> -> <{heads}, log2>
  mla.return %o, %lse : !mla.rows<{heads}x{latent}xf32>, !mla.lse<{heads}, log2>
}}
"""


def kernels(options):
    chosen = DEFAULTS | options
    for values in itertools.product(*chosen.values()):
        kernel = dict(zip(chosen, values))
        hints = ", ".join(f"{name} = {value} : i64" for name, value in kernel.items() if name not in DEFAULTS)
        name = "_".join(f"{key}_{value}" for key, value in kernel.items() if key in options) or "attention"
        yield KERNEL.format(name=name, hints=hints, width=int(kernel["latent"]) + int(kernel["rope"]), **kernel)


if __name__ == "__main__":
    arguments = dict(argument.split("=") for argument in sys.argv[1:])
    print("\n// -----\n\n".join(kernels({key: value.split(",") for key, value in arguments.items()})))
