// The mla dialect: what a kernel reads, in which layout, stored how and computed how. Aggregates the parts below.
#ifndef DIALECT_MLA_MLA_TD
#define DIALECT_MLA_MLA_TD

include "mlir/IR/OpBase.td"
include "dialect/mla/MLADialect.td"
include "dialect/mla/MLATypes.td"
include "dialect/mla/MLAOps.td"
include "dialect/mla/WriterOps.td"

#endif
