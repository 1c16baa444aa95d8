#pragma once

namespace pmemcpy::cli {

/// From now on, memory of a pool that its medium has lost ends the command with a message and the status of io_error, and
/// not with a signal. For verbs that use views, which the library does not guard; to be called before a pool is opened.
void end_on_bus_error();

}  // namespace pmemcpy::cli
