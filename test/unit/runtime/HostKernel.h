// A kernel that does what the ABI says, one element at a time: it shows that the work list, the parameters
// and the combine launch fit together.
#pragma once

#include "HostDevice.h"

#include "runtime/Abi.h"

namespace mla::test {

/// What one block of the main or of the combine launch does.
void runMainBlock(const KernelInfo &kernel, void **params, int64_t block);
void runCombineBlock(const KernelInfo &kernel, void **params, int64_t block, int64_t threads);
void runMergeBlock(const KernelInfo &kernel, void **params, int64_t block);

/// The entries of a paged or ragged kernel.
std::map<std::string, HostEntry> hostEntries(const KernelInfo &kernel);

} // namespace mla::test
