#include "plugin/model/flash.h"
