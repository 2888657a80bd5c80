#include "plugin/model/nvram.h"
