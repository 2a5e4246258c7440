// What is learnt of a wheel when it is met: from a remote one its file list and .dist-info texts, a few kilobytes; a
// local one is read whole and every byte held against CRC and RECORD.
#pragma once

#include <string>

#include "framework/base/result.h"
#include "framework/bytes/random_access.h"
#include "framework/facts/wheel_facts.h"
#include "framework/wheel/lock.h"

namespace compatrix {

Result<facts::WheelFacts> read_wheel_facts(RandomAccess& archive, const wheel::LockedWheel& locked,
                                           const std::string& key);

}  // namespace compatrix
