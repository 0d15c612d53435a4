#ifndef DIALECT_MLA_DIALECT_TD
#define DIALECT_MLA_DIALECT_TD

include "mlir/IR/OpBase.td"

def MLA_Dialect : Dialect {
  let name = "mla";
  let cppNamespace = "::mlir::mla";
  let summary = "Multi-head latent attention over declared storage";
  let description = [{
    Says *what* a kernel computes: typed buffers with a layout and a storage type, the attention written as
    `dot`, `softmax` and `attend`, and the one place where stored values become numbers: `dequant`. Values of
    type `rows`, `scores` and `probs` are never stored: they exist a tile at a time. The only op that would
    store a converted copy is `cast`, and `mla-reject-buffer-cast` refuses it.

    Every verifier rule has an id, shown in brackets at the end of its message; docs/language.md lists them.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif
