# The lit suite: every .mla, .mlir and .test file below, outside the unit tests.
import os
import shutil

import lit.formats

config.name = "mlac"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mla", ".mlir", ".test"]
config.excludes = ["unit", "Inputs"]
config.test_source_root = os.path.join(config.mlac_source_dir, "test")
config.test_exec_root = os.path.join(config.mlac_binary_dir, "test")

path = [config.mlac_tools_dir, config.llvm_tools_dir, config.environment.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)

config.substitutions.append(("%mlac", os.path.join(config.mlac_tools_dir, "mlac")))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%source_dir", config.mlac_source_dir))
config.substitutions.append(("%examples", os.path.join(config.mlac_source_dir, "examples")))

if os.path.exists(os.path.join(config.mlac_tools_dir, "mla-opt")):
    config.available_features.add("mla-opt")
if shutil.which("ptxas", path=config.environment["PATH"]):
    config.available_features.add("ptxas")

# A driver with one device that refuses every image (test/runtime/FakeCuda.cpp).
fake_cuda = os.path.join(config.mlac_binary_dir, "test", "runtime", "fake")
config.substitutions.append(("%fake_cuda", fake_cuda))
if os.path.exists(os.path.join(fake_cuda, "libcuda.so.1")):
    config.available_features.add("fake-cuda")
