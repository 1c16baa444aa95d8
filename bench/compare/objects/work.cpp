// What is timed, and how it is verified. The same for every library:
//  1. Processes are forked before anything is open, and open the path in turns, outside of the timed part. Each works on
//     names of its own, in an order drawn from the seed; names and order are made before.
//  2. store and overwrite make each value inside the timed part, by a few stores (value.hpp). load looks at the first and
//     the last 8 bytes inside it, which costs all the same.
//  3. Afterwards each process looks at every byte of up to 1,000 objects of its neighbour, so what one process stored
//     another has seen. After erase, these must be gone.
//  4. open and list are timed with opening and closing, in a fresh process that has not used the library before.

#include "work.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <random>
#include <vector>

#include "processes.hpp"
#include "value.hpp"

namespace compare::objects {
namespace {

constexpr std::uint64_t most_looked_at = 1000;

/// The numbers of the objects that one of the processes works on: [begin, end).
struct Share {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

Share share_of(const Task& task, int process) {
    const auto part = static_cast<std::uint64_t>(process % task.processes);
    const auto parts = static_cast<std::uint64_t>(task.processes);
    return {task.count * part / parts, task.count * (part + 1) / parts};
}

struct Named {
    std::uint64_t number;
    Name name;
};

std::vector<Named> in_random_order(const Task& task, const Share& share) {
    std::vector<std::uint64_t> numbers(share.end - share.begin);
    std::iota(numbers.begin(), numbers.end(), share.begin);
    std::uint64_t seed = task.seed;
    for (const char letter : task.work) seed = seed * 257 + static_cast<unsigned char>(letter);
    std::mt19937_64 random(seed + share.begin);
    std::shuffle(numbers.begin(), numbers.end(), random);
    std::vector<Named> objects;
    objects.reserve(numbers.size());
    for (const std::uint64_t number : numbers) objects.push_back({number, Name(task.seed, number)});
    return objects;
}

bool is_gone(Library& library, const Name& name, std::span<std::byte> buffer) {
    try {
        library.load(name.view(), buffer);
        return false;
    } catch (const std::runtime_error&) {
        return true;
    }
}

/// Looks at objects all over a share.
bool looks_right(Library& library, const Task& task, const Share& share, Values& values,
                 std::uint16_t edition) {
    std::vector<std::byte> buffer(task.size_bytes);
    const std::uint64_t objects = share.end - share.begin;
    const std::uint64_t looks = std::min(objects, most_looked_at);
    for (std::uint64_t i = 0; i < looks; ++i) {
        const std::uint64_t number = share.begin + objects * i / looks;
        const Name name(task.seed, number);
        if (task.work == "erase") {
            if (!is_gone(library, name, buffer)) return false;
            continue;
        }
        std::fill(buffer.begin(), buffer.end(), std::byte{0});
        library.load(name.view(), buffer);
        if (!values.is_whole(number, edition, buffer)) return false;
    }
    return true;
}

Part each_object(const Process& process, const Task& task, const std::string& variant, bool is_new,
                 std::uint16_t edition) {
    const auto library = make_library(variant);
    const std::vector<Named> objects = in_random_order(task, share_of(task, process.index()));
    Values values(task.seed, task.size_bytes);
    std::vector<std::byte> buffer(task.size_bytes);
    const Access access = task.work == "load"              ? Access::read
                          : is_new && process.index() == 0 ? Access::create
                                                           : Access::update;
    process.in_turns([&] { library->open(task.path, access); });

    bool has_ends = true;
    Part part = process.timed([&] {
        for (const auto& [number, name] : objects) {
            if (task.work == "load") {
                library->load(name.view(), buffer);
                has_ends = has_ends && values.has_ends(number, buffer);
            } else if (task.work == "erase") {
                library->erase(name.view());
            } else {
                library->store(name.view(), values.make(number, edition));
            }
        }
        library->settle();
    });
    const std::uint16_t expected = task.work == "load" ? Values::any_edition : edition;
    part.verified =
        has_ends && looks_right(*library, task, share_of(task, process.index() + 1), values, expected);
    process.meet();
    process.in_turns([&] { library->close(); });
    return part;
}

Part open_and_load_one(const Process& process, const Task& task, const std::string& variant) {
    const auto library = make_library(variant);
    Values values(task.seed, task.size_bytes);
    std::vector<std::byte> buffer(task.size_bytes);
    std::mt19937_64 random(std::random_device{}());
    const std::uint64_t number = random() % task.count;
    const Name name(task.seed, number);
    Part part = process.timed([&] {
        library->open(task.path, Access::read);
        library->load(name.view(), buffer);
        library->close();
    });
    part.verified = values.is_whole(number, Values::any_edition, buffer);
    return part;
}

Part open_and_list(const Process& process, const Task& task, const std::string& variant) {
    const auto library = make_library(variant);
    std::uint64_t names = 0;
    Part part = process.timed([&] {
        library->open(task.path, Access::read);
        names = library->list();
        library->close();
    });
    part.verified = names == task.count;
    return part;
}

/// Of 1 to 65,534, so that an overwrite cannot find its own values there already.
std::uint16_t new_edition() {
    const auto now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1);
    return static_cast<std::uint16_t>(1 + now % 65'534);
}

Result together(const std::vector<Part>& parts, std::uint64_t operations) {
    Result result{.operations = operations, .verified = true};
    std::int64_t start_ns = parts.front().start_ns;
    std::int64_t end_ns = parts.front().end_ns;
    for (const Part& part : parts) {
        start_ns = std::min(start_ns, part.start_ns);
        end_ns = std::max(end_ns, part.end_ns);
        result.faults += part.faults;
        result.verified = result.verified && part.verified;
    }
    result.seconds = static_cast<double>(end_ns - start_ns) * 1e-9;
    return result;
}

}  // namespace

Result carry_out(const Task& task, const Variant& variant) {
    if (task.work == "remove") {
        make_library(variant.name)->remove(task.path);
        return {.verified = !std::filesystem::exists(task.path)};
    }
    const bool reads = task.work == "load" || task.work == "open" || task.work == "list";
    const int most = reads ? variant.most_readers : variant.most_processes;
    if (task.processes > most) {
        throw Unsupported(variant.name + ": at most " + std::to_string(most) + " process(es) may " +
                          (reads ? "read" : "write") + " at the same time");
    }
    if (task.count > static_cast<std::uint64_t>(variant.most_objects) && variant.most_objects < any_number)
        throw Unsupported("more than " + std::to_string(variant.most_objects) + " objects take hours");
    const bool is_new = !std::filesystem::exists(task.path);
    if (is_new && task.work != "store") throw std::runtime_error("nothing is at " + task.path);
    if (task.work == "open" || task.work == "list") {
        if (task.processes != 1) throw Unsupported(task.work + " is timed in one process");
        const auto one = task.work == "open" ? open_and_load_one : open_and_list;
        return together(
            run_in_processes(1, [&](const Process& process) { return one(process, task, variant.name); }), 1);
    }
    const std::uint16_t edition = task.work == "overwrite" ? new_edition() : std::uint16_t{0};
    return together(run_in_processes(task.processes,
                                     [&](const Process& process) {
                                         return each_object(process, task, variant.name, is_new, edition);
                                     }),
                    task.count);
}

}  // namespace compare::objects
