// The typed error lives with the public headers.
#pragma once

#include "mla/Error.h"
