#pragma once

#include <pmap/pmap.hpp>
