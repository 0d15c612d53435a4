// The part of the CUDA driver API that the runtime uses, opened at run time. Types and constants restate the
// driver's stable ABI.
#pragma once

#include "runtime/Error.h"

#include <cstddef>
#include <cstdint>

namespace mla::cuda {

using Result = int; ///< CUresult; 0 is success
using DeviceOrdinal = int;
using Context = struct ContextHandle *;
using ModuleRef = struct ModuleHandle *;
using Function = struct FunctionHandle *;
using Stream = struct StreamHandle *;
using Event = struct EventHandle *;
using GraphRef = struct GraphHandle *;
using GraphExec = struct GraphExecHandle *;

inline constexpr Result success = 0;
inline constexpr Result outOfMemory = 2;
inline constexpr Result unsupportedPtxVersion = 222;
inline constexpr Result notFound = 500;

// CUdevice_attribute
inline constexpr int attributeMultiprocessors = 16;
inline constexpr int attributeMajor = 75;
inline constexpr int attributeMinor = 76;
inline constexpr int attributeSharedOptIn = 97;

// CUfunction_attribute
inline constexpr int functionMaxDynamicShared = 8;

// CUjit_option
inline constexpr int jitErrorLog = 5;
inline constexpr int jitErrorLogBytes = 6;

// CUevent_flags
inline constexpr unsigned eventNoTiming = 2;

// CUstreamCaptureMode
inline constexpr int captureThreadLocal = 1;

// CUlaunchAttributeID
inline constexpr int launchProgrammaticSerialization = 6;

/// CUlaunchAttribute: an id and a union of 64 bytes.
struct LaunchAttribute {
  int id;
  int pad = 0;
  union {
    int programmaticSerializationAllowed;
    char bytes[64];
  };
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchAttribute) == 72 && sizeof(LaunchConfig) == 56);

// CUstream_flags
inline constexpr unsigned streamNonBlocking = 1;

/// Entry points of the driver, under the names of the API without its prefix.
struct Driver {
  Result (*init)(unsigned flags);
  Result (*driverGetVersion)(int *version);
  Result (*getErrorName)(Result, const char **);
  Result (*getErrorString)(Result, const char **);
  Result (*deviceGetCount)(int *);
  Result (*deviceGet)(DeviceOrdinal *, int index);
  Result (*deviceGetName)(char *, int bytes, DeviceOrdinal);
  Result (*deviceGetAttribute)(int *, int attribute, DeviceOrdinal);
  Result (*devicePrimaryCtxRetain)(Context *, DeviceOrdinal);
  Result (*devicePrimaryCtxRelease)(DeviceOrdinal);
  Result (*ctxCreate)(Context *, unsigned flags, DeviceOrdinal);
  Result (*ctxDestroy)(Context);
  Result (*ctxSetCurrent)(Context);
  Result (*ctxGetCurrent)(Context *);
  Result (*moduleLoadDataEx)(ModuleRef *, const void *image, unsigned count, int *options, void **values);
  Result (*moduleUnload)(ModuleRef);
  Result (*moduleGetFunction)(Function *, ModuleRef, const char *name);
  Result (*funcSetAttribute)(Function, int attribute, int value);
  Result (*occupancyMaxActiveBlocks)(int *, Function, int blockSize, size_t sharedBytes);
  Result (*launchKernel)(Function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                         unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream, void **params,
                         void **extra);
  /// Null in drivers older than CUDA 11.8.
  Result (*launchKernelEx)(const LaunchConfig *, Function, void **params, void **extra);
  Result (*memAlloc)(uint64_t *, size_t);
  Result (*memFree)(uint64_t);
  Result (*memGetInfo)(size_t *free, size_t *total);
  Result (*memHostAlloc)(void **, size_t, unsigned flags);
  Result (*memFreeHost)(void *);
  Result (*memcpyHtoDAsync)(uint64_t to, const void *from, size_t, Stream);
  Result (*memcpyDtoHAsync)(void *to, uint64_t from, size_t, Stream);
  Result (*memsetD8Async)(uint64_t, uint8_t, size_t, Stream);
  Result (*streamCreate)(Stream *, unsigned flags);
  Result (*streamDestroy)(Stream);
  Result (*streamSynchronize)(Stream);
  Result (*streamIsCapturing)(Stream, int *status);
  Result (*streamBeginCapture)(Stream, int mode);
  Result (*streamEndCapture)(Stream, GraphRef *);
  Result (*graphInstantiate)(GraphExec *, GraphRef, unsigned long long flags);
  Result (*graphLaunch)(GraphExec, Stream);
  Result (*graphDestroy)(GraphRef);
  Result (*graphExecDestroy)(GraphExec);
  Result (*eventCreate)(Event *, unsigned flags);
  Result (*eventDestroy)(Event);
  Result (*eventRecord)(Event, Stream);
  Result (*eventSynchronize)(Event);
  Result (*eventElapsedTime)(float *milliseconds, Event, Event);
};

/// The driver, opened and initialised once a process. Throws Error noDriver if that fails; a later call tries
/// again.
const Driver &driver();

/// "CUDA_ERROR_... (text)".
std::string describe(Result result);

/// Throws Error driverFailure, or outOfMemory, naming the call, unless `result` is success.
void require(Result result, const char *call);

} // namespace mla::cuda
