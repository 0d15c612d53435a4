"""Checks the address arithmetic of lowered kernels on standard input.

Every stride is an i64 argument that only 64-bit multiplications read, and nothing made of it is narrowed again. A 32-bit
product never widens into an offset from a global pointer, unless it is bounded: by the thread's number, or by the number
of cached tokens that a plan can hold (tile x groups, tile x tokens a tile, page x page size).
"""
import re
import sys

OP = re.compile(r"^\s*(%[\w#]+)(?::\d+)? = (?:\"?llvm\.call_intrinsic\"? \"([\w.]+)\"|([\w.]+))\(?(.*)$")
ARGUMENT = re.compile(r"(%arg\d+): ([^,){]+)")
VALUE = re.compile(r"%[\w#]+")


class Kernel:
    def __init__(self, text):
        header, _, self.body = text.partition("{\n")
        self.name = re.match(r"llvm\.func @(\w+)", header).group(1)
        names = re.findall(r'"([^"]*)"', re.search(r"mlac\.params = \[([^\]]*)\]", header).group(1))
        arguments = ARGUMENT.findall(header)
        assert len(names) == len(arguments), f"{len(names)} names for {len(arguments)} parameters"
        self.names = {value: name for name, (value, _) in zip(names, arguments)}
        # Groups of the schedule: tile x groups counts tiles, of which there are fewer than tokens.
        self.groups = set(re.findall(r"groups = (\d+)", header))
        self.types = {value: kind.strip() for value, kind in arguments}
        self.ops = [match.groups() for match in map(OP.match, text.splitlines()) if match]
        self.defs = {result: (intrinsic or op, VALUE.findall(rest), rest) for result, intrinsic, op, rest in self.ops}

    def fail(self, message):
        sys.exit(f"{self.name}: {message}")

    def op(self, value):
        return self.defs.get(value, ("", [], ""))

    def is_constant(self, value):
        return self.op(value)[0] == "arith.constant"

    def is_bounded(self, value):
        """Whether a value is made of constants and the thread's number alone, or kept below one."""
        name, operands, _ = self.op(value)
        if name == "arith.constant" or name.endswith("sreg.tid.x"):
            return True
        if name in ("arith.remui", "arith.andi", "arith.minsi"):
            return any(map(self.is_bounded, operands))
        return name.startswith("arith.") and bool(operands) and all(map(self.is_bounded, operands))

    def check_strides(self):
        strides = {value for value, name in self.names.items() if "stride" in name}
        made = set(strides)
        products = set()
        for result, _, op, rest in self.ops:
            operands = VALUE.findall(rest)
            if not made.intersection(operands):
                continue
            if op in ("arith.muli", "arith.addi"):
                if not rest.rstrip().endswith(": i64"):
                    self.fail(f"{op} {rest} is not 64 bits wide")
                made.add(result)
                products.update(strides.intersection(operands))
            elif op == "arith.trunci":
                self.fail(f"{rest} narrows what a stride made")
        for stride in strides:
            if self.types[stride] != "i64":
                self.fail(f"{self.names[stride]} is {self.types[stride]}")
        unread = [self.names[value] for value in strides - products if re.search(rf"{value}\b", self.body)]
        if unread:
            self.fail(f"{unread} are read, but not multiplied")
        return len(products)

    def check_offset(self, value, wide=True):
        name, operands, rest = self.op(value)
        if name == "arith.muli" and not wide:
            if not self.is_bounded(value) and not self.counts_tokens(operands):
                self.fail(f"a 32-bit product becomes an offset: {value} = {name} {rest}")
        if name in ("arith.muli", "arith.addi", "arith.subi", "arith.select", "arith.extsi", "arith.extui", "arith.shli"):
            for operand in operands:
                self.check_offset(operand, wide and not name.startswith("arith.ext"))

    def counts_tokens(self, operands):
        tokens = {"16", "32", "64", "128"} | self.groups
        return any(self.names.get(value, "").endswith("page_size") or
                   (self.is_constant(value) and self.op(value)[2].split()[0] in tokens) for value in operands)

    def check_offsets(self):
        count = 0
        for _, _, op, rest in self.ops:
            dynamic = re.match(r".*\[(%[\w#]+)\] : \(!llvm\.ptr<1>, (i\d+)\)", rest) if op == "llvm.getelementptr" else None
            if dynamic:
                count += 1
                if dynamic.group(2) != "i64":
                    self.fail(f"an offset of {dynamic.group(2)}: {rest}")
                self.check_offset(dynamic.group(1))
        return count


def main():
    kernels = [Kernel(part) for part in re.split(r"(?=^\s*llvm\.func @)", sys.stdin.read(), flags=re.M)[1:]
               for part in [part.strip()]]
    assert kernels, "no kernel"
    for kernel in kernels:
        strides, offsets = kernel.check_strides(), kernel.check_offsets()
        if not strides or not offsets:
            kernel.fail(f"{strides} strides and {offsets} offsets: nothing was checked")


main()
