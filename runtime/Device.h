// The device lives with the public headers.
#pragma once

#include "mla/Device.h"
