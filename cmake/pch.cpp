// Carrier of the precompiled header; see MlacLLVM.cmake.
