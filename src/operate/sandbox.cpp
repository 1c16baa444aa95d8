#include "operate/sandbox.hpp"

#include "operate/worker/protocol.hpp"
#include "os/child.hpp"

#include <cmath>
#include <cstring>
#include <pmemcpy/error.hpp>

// The worker is part of the library, so that there is always one, of the same build, that nobody has put another one in the place of.
asm(R"(
    .section .rodata
    .balign 16
    .hidden pmemcpy_operation_worker
    .hidden pmemcpy_operation_worker_end
    .hidden pmemcpy_operation_header
    .hidden pmemcpy_operation_header_end
    .globl pmemcpy_operation_worker
    .globl pmemcpy_operation_worker_end
    .globl pmemcpy_operation_header
    .globl pmemcpy_operation_header_end
pmemcpy_operation_worker:
    .incbin ")" PMEMCPY_OPERATION_WORKER R"("
pmemcpy_operation_worker_end:
    .byte 0
pmemcpy_operation_header:
    .incbin ")" PMEMCPY_OPERATION_HEADER R"("
pmemcpy_operation_header_end:
    .byte 0
    .previous
)");

extern "C" {
extern const char pmemcpy_operation_worker[];
extern const char pmemcpy_operation_worker_end[];
extern const char pmemcpy_operation_header[];
extern const char pmemcpy_operation_header_end[];
}

namespace pmemcpy::operate {

namespace {

constexpr std::uint64_t usual_bytes = 256U << 20;
constexpr std::uint64_t most_printed = 2048;
constexpr double longest_seconds = 1e6;

bool is_known(const Type& type) {
    const auto kind = static_cast<int>(type.kind());
    return kind >= static_cast<int>(Kind::int8) && kind <= static_cast<int>(Kind::boolean);
}

os::File worker() {
    os::File file = os::File::create_in_memory("the worker that calls functions");
    file.write_exactly(pmemcpy_operation_worker,
                       static_cast<std::size_t>(pmemcpy_operation_worker_end - pmemcpy_operation_worker), 0);
    // A file that is open for writing cannot be run.
    return os::File::open("/proc/self/fd/" + std::to_string(file.fd()), O_RDONLY);
}

os::File in_memory(const OperationArray& input) {
    Frame frame{};
    frame.magic = frame_magic;
    frame.state = frame_array;
    frame.kind = static_cast<std::int32_t>(input.type.kind());
    frame.ndims = input.dims.size();
    frame.data_bytes = input.data.size();
    for (int i = 0; i < input.dims.size(); ++i) frame.dims[i] = input.dims[i];
    os::File file = os::File::create_in_memory("the input of a function");
    file.write_exactly(&frame, sizeof frame, 0);
    if (!input.data.empty()) file.write_exactly(input.data.data(), input.data.size(), data_offset);
    return file;
}

[[noreturn]] void fail(Code code, const std::string& name, const std::string& text) {
    throw Error(code, "function '" + name + "': " + text);
}

/// Makes the worker work. Returns the frame of its answer, of which nothing is known but that it has one.
Frame work(const std::string& name, const os::File& library, const os::File* input, os::File& output,
           std::uint64_t bytes, double seconds, const IsWanted& is_wanted) {
    const os::File program = worker();
    os::File printed = os::File::create_in_memory("what a function prints");
    const auto number = [](const os::File* file) {
        return std::to_string(file == nullptr ? -1 : file->fd());
    };
    os::Program what{.path = "/proc/self/fd/" + std::to_string(program.fd()),
                     .arguments = {number(&library), number(input), number(&output), std::to_string(bytes),
                                   std::to_string(static_cast<std::uint64_t>(std::ceil(seconds)))},
                     .files = {&library, &output},
                     .printed = printed};
    if (input != nullptr) what.files.push_back(input);
    bool is_stopped = false;
    os::Ending ending;
    try {
        ending = os::run(what, static_cast<std::uint64_t>(seconds * 1e9),
                         [&] { return !(is_stopped = !is_wanted()); });
    } catch (const Error& error) {
        if (error.kind() != Code::permission_denied) throw;
        fail(Code::unsupported, name,
             "this machine lets nothing be run from memory (vm.memfd_noexec), so functions cannot be called");
    }
    if (is_stopped) throw Stopped{};
    const std::string text = os::last_printed(printed, most_printed);
    const std::string said = text.empty() ? "" : "; it printed: " + text;
    using How = os::Ending::How;
    if (ending.how == How::stopped)
        fail(Code::io_error, name,
             "it took longer than " + std::to_string(seconds) + " s and was stopped" + said);
    if (ending.how == How::killed) {
        const char* const signal = ::sigdescr_np(ending.number);
        fail(Code::io_error, name,
             "it was killed by signal " + std::to_string(ending.number) +
                 (signal == nullptr ? "" : " (" + std::string(signal) + ")") + said);
    }
    if (ending.how == How::exited && ending.number != 0)
        fail(Code::io_error, name,
             "it ended its process with status " + std::to_string(ending.number) + said);
    Frame frame{};
    if (output.size() >= sizeof frame) output.read_exactly(&frame, sizeof frame, 0);
    if (frame.magic == 0) fail(Code::io_error, name, "it ended its process without an answer" + said);
    if (frame.magic != frame_magic || frame.text_bytes > sizeof frame.text)
        fail(Code::corrupt, name, "its answer makes no sense" + said);
    if (frame.state == frame_failed) fail(Code::invalid_argument, name, {frame.text, frame.text_bytes});
    return frame;
}

}  // namespace

// All that the frame says may be what the function has written there.
OperationArray call_library(const std::string& name, const os::File& library, const OperationArray& input,
                            const OperationLimits& limits, const IsWanted& is_wanted) {
    if (!is_known(input.type))
        fail(Code::unsupported, name,
             "elements of type " + input.type.name() + " cannot be handed to a function");
    const std::uint64_t bytes = limits.bytes != 0 ? limits.bytes : usual_bytes + 4 * input.data.size();
    const os::File in = in_memory(input);
    os::File out = os::File::create_in_memory("the output of a function");
    const Frame frame =
        work(name, library, &in, out, bytes, std::min(limits.seconds, longest_seconds), is_wanted);
    const bool is_known_kind = frame.kind >= static_cast<std::int32_t>(Kind::int8) &&
                               frame.kind <= static_cast<std::int32_t>(Kind::boolean);
    if (frame.state != frame_array || !is_known_kind || frame.ndims < 0 || frame.ndims > max_dimensions)
        fail(Code::corrupt, name, "its output is no array");
    OperationArray made{
        Type::scalar(static_cast<Kind>(frame.kind)),
        Dimensions(std::span<const Extent>(frame.dims, static_cast<std::size_t>(frame.ndims)))};
    std::uint64_t size = made.type.size();
    for (const Extent extent : made.dims) {
        if (__builtin_mul_overflow(size, extent, &size)) size = UINT64_MAX;
    }
    if (size != frame.data_bytes || size > bytes || out.size() < data_offset ||
        out.size() - data_offset != size)
        fail(Code::corrupt, name, "its output has another size than it says");
    made.data.resize(size);
    if (size > 0) out.read_exactly(made.data.data(), size, data_offset);
    if (made.type.kind() == Kind::boolean) {
        for (std::byte& each : made.data) each = std::byte{each != std::byte{0}};
    }
    return made;
}

void check_library(const std::string& name, const os::File& library) {
    os::File out = os::File::create_in_memory("what a library has");
    const Frame frame =
        work(name, library, nullptr, out, usual_bytes, OperationLimits{}.seconds, [] { return true; });
    if (frame.state != frame_checked)
        fail(Code::corrupt, name, "its library does something when it is opened");
}

std::string_view operation_header() {
    return {pmemcpy_operation_header,
            static_cast<std::size_t>(pmemcpy_operation_header_end - pmemcpy_operation_header)};
}

}  // namespace pmemcpy::operate
