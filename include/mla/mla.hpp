// The C++ API: link mla::runtime for artefacts, and mla::jit (mla/Jit.h) for source and the emulator.
#pragma once

#include "mla/Device.h"
#include "mla/Error.h"
#include "mla/Kernel.h"
#include "mla/Types.h"
#include "mla/Writer.h"
