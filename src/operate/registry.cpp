#include "operate/registry.hpp"

#include "operate/hints.hpp"
#include "operate/sandbox.hpp"
#include "os/child.hpp"
#include "os/directory.hpp"
#include "os/names.hpp"
#include "os/process.hpp"
#include "os/user.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <pmemcpy/error.hpp>
#include <random>
#include <sstream>

namespace pmemcpy::operate {

namespace {

constexpr std::string_view note_prefix = "pmemcpy:operation.";
constexpr std::size_t longest_name = 64;
constexpr std::uint64_t longest_library = 1U << 30;
constexpr std::uint64_t most_printed = 8192;
constexpr std::uint64_t longest_compiling_ns = 600'000'000'000;
constexpr mode_t for_others_to_read = 0755;
constexpr unsigned others_write = 0022;

std::string note_of(int number) { return std::string(note_prefix) + std::to_string(number); }

// Its kind, name and limits, a line each.
std::string to_text(const Registered& one) {
    std::ostringstream text;
    text.precision(17);
    text << (one.in_process ? "process" : "library") << '\n'
         << one.name << '\n'
         << one.limits.seconds << '\n'
         << one.limits.bytes << '\n';
    return text.str();
}

std::optional<Registered> from_text(int number, const std::string& text) {
    Registered one;
    one.number = number;
    std::istringstream lines(text);
    std::string kind;
    if (!(lines >> kind >> one.name >> one.limits.seconds >> one.limits.bytes)) return std::nullopt;
    one.in_process = kind == "process";
    // A name is part of a path: one that somebody has put there by other means is none.
    return is_name(one.name) ? std::make_optional(one) : std::nullopt;
}

void check(const std::string& name, const OperationLimits& limits) {
    if (!is_name(name) || is_built_in(name))
        throw Error(Code::invalid_argument, "a function cannot be called '" + name.substr(0, longest_name) +
                                                "'; a name has 1 to 64 letters, digits, '_' and '-', and is "
                                                "not that of an operation or of its result");
    if (!(limits.seconds > 0) || !std::isfinite(limits.seconds))
        throw Error(Code::invalid_argument, "the time limit of a function must be positive and finite");
}

/// The next number, or that of the same name. The registry is locked.
int enter(store::Store& store, Registered one) {
    std::array<bool, operation::most_registered> taken{};
    for (const Registered& other : registered_in(store)) {
        taken.at(static_cast<std::size_t>(other.number)) = true;
        if (other.name != one.name) continue;
        if (other.in_process && one.in_process) return other.number;
        throw Error(Code::already_exists, "there is a function '" + one.name + "' in " + store.path() +
                                              " already; `pmemcpy op remove` takes it away");
    }
    const auto* const free = std::find(taken.begin(), taken.end(), false);
    if (free == taken.end())
        throw Error(Code::no_space, store.path() + " has 16 functions, which is the most; remove one");
    one.number = static_cast<int>(free - taken.begin());
    store.set_note("/", note_of(one.number), to_text(one));
    return one.number;
}

/// That nobody but this user, and root, can put anything there.
void refuse_others(const os::File& file) {
    const bool is_ours = file.owner() == os::user_id() || file.owner() == 0;
    if (is_ours && (file.mode_bits() & others_write) == 0) return;
    throw Error(Code::permission_denied,
                file.path() + (is_ours ? " can be written by others than you" : " belongs to another user") +
                    ", so no function in it is called by your processes");
}

std::string folder_of(const store::Store& store) { return store.path_beside(".ops"); }

os::File open_folder(const store::Store& store) {
    auto folder = os::File::open_if_exists(folder_of(store), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!folder)
        throw Error(Code::not_found,
                    "there is no folder " + folder_of(store) +
                        ", in which the pool's functions lie; it belongs to the pool and is moved with it");
    refuse_others(*folder);
    store.check_in_place();  // else the folder is another pool's
    return std::move(*folder);
}

os::File make_folder(const store::Store& store) {
    os::make_directory(folder_of(store), for_others_to_read);
    return open_folder(store);
}

os::File read_into_memory(const os::File& from) {
    const std::uint64_t size = from.size();
    if (!from.is_regular() || size > longest_library)
        throw Error(Code::invalid_argument, from.path() + " is no file of at most 1 GiB");
    std::vector<std::byte> bytes(size);
    from.read_exactly(bytes.data(), size, 0);
    os::File copy = os::File::create_in_memory(from.path());
    copy.write_exactly(bytes.data(), size, 0);
    return copy;
}

std::string draft_name() {
    std::random_device random;
    return ".new-" + std::to_string(std::uint64_t{random()} << 32 | random());
}

/// A file in the folder, under a name of its own until it is whole.
void put(const os::File& folder, const std::string& name, const void* bytes, std::size_t size) {
    const std::string draft = draft_name();
    auto file = os::File::open_in(folder, draft, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (!file) throw Error(Code::io_error, folder.path() + " was removed meanwhile");
    file->set_mode_bits(0644);
    file->write_exactly(bytes, size, 0);
    file->sync_all();
    os::rename_in(folder, draft, folder, name);
}

std::vector<std::string> words_of(const char* text) {
    std::istringstream words(text);
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    return all;
}

std::vector<std::string> compiler_for(const std::string& ending) {
    const bool is_c = ending == "c";
    const char* chosen = std::getenv(is_c ? "CC" : "CXX");
    std::vector<std::string> words = words_of(chosen == nullptr ? "" : chosen);
    if (words.empty()) words = {is_c ? "cc" : "c++"};
    return words;
}

os::File compile(const std::string& source, const std::string& ending, const os::File& folder) {
    const std::string includes = "include";
    os::make_directory_in(folder, includes, for_others_to_read);
    const auto include = os::File::open_in(folder, includes, O_RDONLY | O_DIRECTORY);
    if (!include) throw Error(Code::io_error, folder.path() + " was removed meanwhile");
    refuse_others(*include);
    os::make_directory_in(*include, "pmemcpy", for_others_to_read);
    const auto headers = os::File::open_in(*include, "pmemcpy", O_RDONLY | O_DIRECTORY);
    if (!headers) throw Error(Code::io_error, folder.path() + " was removed meanwhile");
    refuse_others(*headers);
    put(*headers, "operation.h", operation_header().data(), operation_header().size());

    const std::string made = draft_name();
    const std::string out = folder.path() + "/" + made;
    std::vector<std::string> command = compiler_for(ending);
    const std::string name = command[0];
    for (const char* flag : {"-O2", "-shared", "-fPIC", "-fvisibility=hidden"}) command.emplace_back(flag);
    command.insert(command.end(), {"-I", folder.path() + "/" + includes, "-o", out, source});
    os::File printed = os::File::create_in_memory("what the compiler prints");
    const os::Ending ending_of_it =
        os::run({.path = "/usr/bin/env", .arguments = command, .printed = printed}, longest_compiling_ns,
                [] { return true; });
    const bool is_made = ending_of_it.how == os::Ending::How::exited && ending_of_it.number == 0;
    const auto library = os::File::open_if_exists(out, O_RDONLY | O_NOFOLLOW);
    if (!is_made || !library) {
        os::remove_in(folder, made);
        throw Error(Code::invalid_argument, source + " could not be compiled by " + name + ":\n" +
                                                os::last_printed(printed, most_printed));
    }
    os::File copy = read_into_memory(*library);
    os::remove_in(folder, made);
    return copy;
}

}  // namespace

bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= longest_name &&
           std::all_of(name.begin(), name.end(),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

std::vector<Registered> registered_in(const store::Store& store) {
    std::vector<Registered> all;
    for (int number = 0; number < operation::most_registered; ++number) {
        const auto text = store.note("/", note_of(number));
        if (!text) continue;
        if (auto one = from_text(number, *text)) all.push_back(std::move(*one));
    }
    return all;
}

int register_in_process(store::Store& store, const std::string& name) {
    check(name, {});
    const auto lock = store.lock_registry();
    return enter(store, {.name = name, .in_process = true});
}

int register_file(store::Store& store, const std::string& name, const std::string& file,
                  const OperationLimits& limits) {
    check(name, limits);
    const auto lock = store.lock_registry();
    for (const Registered& other : registered_in(store)) {
        if (other.name == name) enter(store, {.name = name});  // which says that it is there
    }
    const auto given = os::File::open_if_exists(file, O_RDONLY);
    if (!given) throw Error(Code::not_found, "there is no file " + file);
    const std::string ending = file.substr(std::min(file.size(), file.rfind('.') + 1));
    const os::File folder = make_folder(store);
    const bool is_source = ending == "c" || ending == "cc" || ending == "cpp" || ending == "cxx";
    const os::File library =
        is_source ? compile(*os::real_path(file), ending, folder) : read_into_memory(*given);
    check_library(name, library);
    std::vector<std::byte> bytes(library.size());
    library.read_exactly(bytes.data(), bytes.size(), 0);
    put(folder, name + ".so", bytes.data(), bytes.size());
    return enter(store, {.name = name, .limits = limits});
}

void unregister(store::Store& store, const std::string& name) {
    const auto lock = store.lock_registry();
    for (const Registered& one : registered_in(store)) {
        if (one.name != name) continue;
        std::optional<os::File> folder;
        if (!one.in_process)
            folder = os::File::open_if_exists(folder_of(store), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        store.check_in_place();  // else the folder is another pool's
        store.remove_note("/", note_of(one.number));
        if (folder) os::remove_in(*folder, name + ".so");
        return;
    }
    throw Error(Code::not_found, "there is no function '" + name + "' in " + store.path());
}

std::string path_of_library(const store::Store& store, const std::string& name) {
    return store.path_beside_name(".ops") + "/" + name + ".so";
}

os::File open_library(const store::Store& store, const std::string& name) {
    const os::File folder = open_folder(store);
    const auto file = os::File::open_in(folder, name + ".so", O_RDONLY);
    if (!file)
        throw Error(Code::not_found, path_of_library(store, name) + " is missing; add the function again");
    refuse_others(*file);
    return read_into_memory(*file);
}

}  // namespace pmemcpy::operate
