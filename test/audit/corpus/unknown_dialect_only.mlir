// Nothing here is known, and nothing is said to be wrong.
// EXPECT-NONE
"vendor.kernel"() ({
^bb0(%kv: !vendor.pool, %x: tensor<?x576xf8E4M3FN>):
  %wide = "vendor.cast"(%kv) : (!vendor.pool) -> !vendor.wide
  "vendor.end"(%wide, %x) : (!vendor.wide, tensor<?x576xf8E4M3FN>) -> ()
}) : () -> ()
