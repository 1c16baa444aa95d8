// The program that calls a registered function, in a process that can do no harm to anything but itself: it has its input and the
// room for its output, a limit on time and memory, no other open file, and where the kernel has Landlock it can write and make no file.
//
// usage: worker LIBRARY INPUT OUTPUT BYTES SECONDS     three descriptors, and the limits; INPUT -1: only look whether there is a function

#include <pmemcpy/operation.h>

#include "operate/worker/protocol.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>

#include <dlfcn.h>
#include <linux/landlock.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using pmemcpy::operate::data_offset;
using pmemcpy::operate::Frame;

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t own_bytes = 256U << 20;  // the libraries that every program has, and this one's stack

/// What a call is to this side; the function sees its beginning.
struct Call {
    pmemcpy_operation_call seen;
    Frame answer;
    int output_fd;
    std::uint64_t most_bytes;
};

[[noreturn]] void give_up(const char* text) {
    std::perror(text);
    std::_Exit(2);
}

void limit(int resource, std::uint64_t most) {
    const rlimit both{most, most};
    if (setrlimit(static_cast<__rlimit_resource_t>(resource), &both) != 0)
        give_up("cannot limit what a function takes");
}

// What this process may open it may read; it may write, make and remove nothing. Kernels without Landlock leave it at that nobody asked for it.
void forbid_writing() {
    const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return;
    constexpr std::uint64_t refer = 1ULL << 13;     // from version 2 on
    constexpr std::uint64_t truncate = 1ULL << 14;  // from version 3 on
    landlock_ruleset_attr rules{};
    rules.handled_access_fs =
        LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
        LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
        LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
        LANDLOCK_ACCESS_FS_MAKE_SYM | (version >= 2 ? refer : 0) | (version >= 3 ? truncate : 0);
    const long set = syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (set < 0 || syscall(SYS_landlock_restrict_self, set, 0) != 0)
        give_up("cannot forbid a function to write files");
    close(static_cast<int>(set));
}

void close_others(int a, int b, int c) {
    const int most = static_cast<int>(sysconf(_SC_OPEN_MAX));
    int from = 3;
    while (from < most) {
        int next = most;  // the least of the three that is still to come
        for (const int fd : {a, b, c}) {
            if (fd >= from && fd < next) next = fd;
        }
        if (next > from) close_range(static_cast<unsigned>(from), static_cast<unsigned>(next) - 1, 0);
        from = next + 1;
    }
}

std::uint64_t bytes_of(std::int32_t kind) {
    switch (kind) {
        case PMEMCPY_INT8:
        case PMEMCPY_UINT8:
        case PMEMCPY_BOOLEAN:
            return 1;
        case PMEMCPY_INT16:
        case PMEMCPY_UINT16:
        case PMEMCPY_FLOAT16:
        case PMEMCPY_BFLOAT16:
            return 2;
        case PMEMCPY_INT32:
        case PMEMCPY_UINT32:
        case PMEMCPY_FLOAT32:
            return 4;
        case PMEMCPY_INT64:
        case PMEMCPY_UINT64:
        case PMEMCPY_FLOAT64:
        case PMEMCPY_COMPLEX64:
            return 8;
        case PMEMCPY_COMPLEX128:
            return 16;
        default:
            return 0;
    }
}

int fail(pmemcpy_operation_call* call, const char* text) {
    Frame& answer = reinterpret_cast<Call*>(call)->answer;
    answer.text_bytes = static_cast<std::uint32_t>(std::strlen(text));
    if (answer.text_bytes > sizeof answer.text) answer.text_bytes = sizeof answer.text;
    std::memcpy(answer.text, text, answer.text_bytes);
    return 1;
}

void* output(pmemcpy_operation_call* call, std::int32_t kind, std::int32_t ndims, const std::uint64_t* dims) {
    Call& self = *reinterpret_cast<Call*>(call);
    std::uint64_t bytes = bytes_of(kind);
    if (bytes == 0 || ndims < 0 || ndims > 32 || self.answer.kind != 0) {
        fail(call, "it asked for an output of no known type, of more than 32 dimensions, or twice");
        return nullptr;
    }
    for (std::int32_t i = 0; i < ndims; ++i) {
        self.answer.dims[i] = dims[i];
        if (__builtin_mul_overflow(bytes, dims[i], &bytes)) bytes = UINT64_MAX;
    }
    if (bytes > self.most_bytes) {
        fail(call, "it asked for a larger output than it may have");
        return nullptr;
    }
    // Behind the last page nothing is mapped, so that who writes far beyond his room is stopped there.
    const std::uint64_t pages = (bytes + page_bytes - 1) / page_bytes * page_bytes + page_bytes;
    void* const room = mmap(nullptr, pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || ftruncate(self.output_fd, static_cast<off_t>(data_offset + bytes)) != 0 ||
        (bytes > 0 && mmap(room, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, self.output_fd,
                           data_offset) == MAP_FAILED)) {
        fail(call, "there is no memory for its output");
        return nullptr;
    }
    self.answer.kind = kind;
    self.answer.ndims = ndims;
    self.answer.data_bytes = bytes;
    return room;
}

void answer_with(Call& call, pmemcpy::operate::FrameState state) {
    call.answer.magic = pmemcpy::operate::frame_magic;
    call.answer.state = state;
    if (pwrite(call.output_fd, &call.answer, sizeof call.answer, 0) !=
        static_cast<ssize_t>(sizeof call.answer))
        give_up("cannot answer");
    std::fflush(nullptr);
    std::_Exit(0);
}

void fail_with(Call& call, const char* text) {
    fail(&call.seen, text);
    answer_with(call, pmemcpy::operate::frame_failed);
}

using Function = int (*)(pmemcpy_operation_call*);

Function open_function(Call& call, int library) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", library);
    void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) fail_with(call, dlerror());
    const auto* version = static_cast<const std::uint32_t*>(dlsym(handle, "pmemcpy_operation_version"));
    const auto function = reinterpret_cast<Function>(dlsym(handle, "pmemcpy_operation"));
    if (version == nullptr || function == nullptr)
        fail_with(call, "it exports no function by PMEMCPY_OPERATION of <pmemcpy/operation.h>");
    if (*version != PMEMCPY_OPERATION_VERSION)
        fail_with(call, "it was compiled for another version of <pmemcpy/operation.h>");
    return function;
}

void take_input(Call& call, const Frame& frame, int input) {
    call.seen.version = PMEMCPY_OPERATION_VERSION;
    call.seen.size_bytes = sizeof call.seen;
    call.seen.output = output;
    call.seen.fail = fail;
    pmemcpy_operation_input& in = call.seen.input;
    in.kind = frame.kind;
    in.ndims = frame.ndims;
    in.dims = frame.dims;
    in.element_bytes = bytes_of(frame.kind);
    in.elements = in.element_bytes == 0 ? 0 : frame.data_bytes / in.element_bytes;
    const std::uint64_t mapped = frame.data_bytes == 0 ? page_bytes : frame.data_bytes;
    in.data = frame.data_bytes == 0
                  ? mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                  : mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE, input, data_offset);
    if (in.data == MAP_FAILED) fail_with(call, "there is no memory for its input");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) return 2;
    const int library = std::atoi(argv[1]);
    const int input = std::atoi(argv[2]);
    static Call call;
    static Frame frame;
    call.output_fd = std::atoi(argv[3]);
    call.most_bytes = std::strtoull(argv[4], nullptr, 10);
    const bool calls = input >= 0;
    // It ends with the process that wants its answer.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        give_up("cannot give up privileges");
    close_others(library, input, call.output_fd);
    if (calls && pread(input, &frame, sizeof frame, 0) != static_cast<ssize_t>(sizeof frame))
        give_up("cannot read the input");
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, std::strtoull(argv[5], nullptr, 10) + 1);
    limit(RLIMIT_FSIZE, data_offset + call.most_bytes);
    limit(RLIMIT_AS, own_bytes + frame.data_bytes + call.most_bytes);
    forbid_writing();
    const Function function = open_function(call, library);
    if (!calls) answer_with(call, pmemcpy::operate::frame_checked);
    take_input(call, frame, input);
    int result = 0;
    try {
        result = function(&call.seen);
    } catch (const std::exception& error) {
        fail_with(call, error.what());
    } catch (...) {
        fail_with(call, "it threw something that is no std::exception");
    }
    if (result == 0 && call.answer.kind != 0) answer_with(call, pmemcpy::operate::frame_array);
    if (call.answer.text_bytes == 0)
        fail(&call.seen, result == 0 ? "it made no output" : "it failed, and did not say why");
    answer_with(call, pmemcpy::operate::frame_failed);
}
