// A libcuda.so.1 with one device that takes every call and refuses images: what the driver says when it does,
// and how its version decides. FAKE_CUDA_VERSION and FAKE_CUDA_RESULT come from the environment.
#include <cstdint>
#include <cstdlib>
#include <cstring>

static int number(const char *name, int otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int *version) { return *version = number("FAKE_CUDA_VERSION", 13000), 0; }
int cuGetErrorName(int result, const char **name) {
  return *name = result == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" : "CUDA_ERROR_INVALID_PTX", 0;
}
int cuGetErrorString(int, const char **text) { return *text = "a fake driver's text", 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGet(int *device, int) { return *device = 0, 0; }
int cuDeviceGetName(char *name, int bytes, int) {
  return std::strncpy(name, "Fake GPU", static_cast<size_t>(bytes)), 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  return *value = attribute == 75 ? 12 : attribute == 76 ? 0 : attribute == 97 ? 101376 : 8, 0;
}

int cuModuleLoadDataEx(void **, const void *, unsigned count, int *options, void **values) {
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == 5)
      std::strcpy(static_cast<char *>(values[i]), "ptxas fatal : the log of a fake driver");
  return number("FAKE_CUDA_RESULT", 222);
}

#define FAKE(name)                                                                                           \
  int name() { return 0; }
FAKE(cuDevicePrimaryCtxRetain)
FAKE(cuDevicePrimaryCtxRelease_v2) FAKE(cuCtxCreate_v2) FAKE(cuCtxDestroy_v2) FAKE(cuCtxSetCurrent)
    FAKE(cuCtxGetCurrent) FAKE(cuModuleUnload) FAKE(cuModuleGetFunction) FAKE(cuFuncSetAttribute)
        FAKE(cuOccupancyMaxActiveBlocksPerMultiprocessor) FAKE(cuLaunchKernel) FAKE(cuMemAlloc_v2)
            FAKE(cuMemFree_v2) FAKE(cuMemGetInfo_v2) FAKE(cuMemHostAlloc) FAKE(cuMemFreeHost)
                FAKE(cuMemcpyHtoDAsync_v2) FAKE(cuMemcpyDtoHAsync_v2) FAKE(cuMemsetD8Async)
                    FAKE(cuStreamCreate) FAKE(cuStreamDestroy_v2) FAKE(cuStreamSynchronize)
                        FAKE(cuStreamIsCapturing) FAKE(cuStreamBeginCapture_v2) FAKE(cuStreamEndCapture)
                            FAKE(cuGraphInstantiateWithFlags) FAKE(cuGraphLaunch) FAKE(cuGraphDestroy)
                                FAKE(cuGraphExecDestroy) FAKE(cuEventCreate) FAKE(cuEventDestroy_v2)
                                    FAKE(cuEventRecord) FAKE(cuEventSynchronize) FAKE(cuEventElapsedTime)
}
