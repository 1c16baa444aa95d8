#include "persist/trace.hpp"

namespace pmemcpy::persist {

namespace {

TraceSink* sink_of_process = nullptr;

}  // namespace

void set_trace_sink(TraceSink* sink) noexcept { sink_of_process = sink; }

TraceSink* trace_sink() noexcept { return sink_of_process; }

}  // namespace pmemcpy::persist
