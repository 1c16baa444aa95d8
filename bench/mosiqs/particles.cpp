// What is timed, the same for every library:
//  1. Processes are forked before anything is open, and open the path in turns, outside of the timed part. Memory that is
//     prepared is so outside of it, too. Each process works on names of its own, which are made before.
//  2. Data are made inside the timed part, by a few stores (values.hpp), and looked at by two loads.
//  3. Afterwards each process looks at every byte of up to 200 objects of its neighbour, and at an attribute of each.

#include "particles.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <random>
#include <vector>

#include "library.hpp"
#include "processes.hpp"
#include "values.hpp"

namespace mosiqs {
namespace {

constexpr std::uint64_t most_looked_at = 200;
// Names, attributes and what a library adds to each object, generously.
constexpr std::uint64_t beside_data_bytes = 2048;

/// What one process stores: objects [begin, end), in a group of its own.
struct Share {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::string group;

    std::uint64_t size() const { return end - begin; }
};

Share share_of(const ParticleTask& task, int process) {
    const int index = process % task.processes;
    const auto part = static_cast<std::uint64_t>(index);
    const auto parts = static_cast<std::uint64_t>(task.processes);
    return {task.count * part / parts, task.count * (part + 1) / parts, "rank" + std::to_string(index)};
}

std::string name_of(std::uint64_t number) {
    char text[32];
    std::snprintf(text, sizeof text, "object%08llu", static_cast<unsigned long long>(number));
    return text;
}

/// In the order that they are stored in, or read in.
std::vector<std::pair<std::uint64_t, std::string>> objects_of(const ParticleTask& task, const Share& share) {
    std::vector<std::uint64_t> numbers(share.size());
    std::iota(numbers.begin(), numbers.end(), share.begin);
    if (task.work == "read") {
        std::mt19937_64 random(task.seed + share.begin);
        std::shuffle(numbers.begin(), numbers.end(), random);
    }
    std::vector<std::pair<std::uint64_t, std::string>> objects;
    objects.reserve(numbers.size());
    for (const std::uint64_t number : numbers) objects.emplace_back(number, name_of(number));
    return objects;
}

/// As in the paper's Listing 1, one value of its own for each object.
std::vector<Attribute> three_attributes() {
    return {
        {"file", std::string("sim-v0.1")}, {"timestamp", std::string("t4")}, {"iteration", std::int64_t{0}}};
}

void store_one(Library& library, const Share& share, std::uint64_t number, const std::string& name,
               Values& values, std::vector<Attribute>& attributes) {
    attributes.back().value = static_cast<std::int64_t>(number);
    library.store({share.group, name, values.make(number), attributes});
}

bool looks_right(Library& library, const Share& share, Values& values, std::size_t size_bytes) {
    std::vector<std::byte> buffer(size_bytes);
    const std::uint64_t looks = std::min(share.size(), most_looked_at);
    for (std::uint64_t i = 0; i < looks; ++i) {
        const std::uint64_t number = share.begin + share.size() * i / looks;
        const std::string name = name_of(number);
        library.load(share.group, name, buffer);
        if (!values.is_whole(number, buffer)) return false;
        if (library.attribute(share.group, name, "iteration") != Value(static_cast<std::int64_t>(number)))
            return false;
    }
    return true;
}

Part write_or_read(const Process& process, const ParticleTask& task) {
    const bool reads = task.work == "read";
    const auto library = make_library(task.variant);
    const Share own = share_of(task, process.index());
    const Share neighbour = share_of(task, process.index() + 1);
    const auto objects = objects_of(task, reads ? neighbour : own);
    Values values(task.size_bytes);
    std::vector<std::byte> buffer(task.size_bytes);
    std::vector<Attribute> attributes = three_attributes();
    process.in_turns([&] {
        library->open(task.path, reads                  ? Access::read
                                 : process.index() == 0 ? Access::create
                                                        : Access::update);
        const std::uint64_t each = task.size_bytes + beside_data_bytes;
        if (task.prepared && !reads) library->prepare(own.group, own.size() * each, task.count * each);
    });
    // The first object of a process opens its file, or takes its share of the pool.
    if (reads) library->load(neighbour.group, objects.front().second, buffer);

    Part part;
    bool has_ends = true;
    process.meet();
    part.start_ns = now_ns();
    for (const auto& [number, name] : objects) {
        if (reads) {
            library->load(neighbour.group, name, buffer);
            has_ends = has_ends && values.has_ends(number, buffer);
        } else {
            store_one(*library, own, number, name, values, attributes);
        }
    }
    if (!reads) library->publish();
    part.published_ns = now_ns();
    process.meet();  // who is done asks for nothing while others still store
    if (!reads) library->catch_up();
    part.end_ns = now_ns();
    process.meet();

    if (reads) {
        part.verified = has_ends && looks_right(*library, neighbour, values, task.size_bytes);
        library->close();
        return part;
    }
    library->close();
    process.meet();
    const auto reader = make_library(task.variant);
    reader->open(task.path, Access::read);
    part.verified = looks_right(*reader, neighbour, values, task.size_bytes);
    reader->close();
    return part;
}

double sum_of(std::span<const std::byte> bytes) {
    // Four sums side by side: what a compiler makes vectors of.
    const auto* elements = reinterpret_cast<const float*>(bytes.data());
    const std::size_t count = bytes.size() / sizeof(float);
    float sums[16] = {};
    for (std::size_t i = 0; i + 16 <= count; i += 16)
        for (std::size_t k = 0; k < 16; ++k) sums[k] += elements[i + k];
    return std::accumulate(std::begin(sums), std::end(sums), 0.0);
}

double seconds_since(std::int64_t start_ns) { return static_cast<double>(now_ns() - start_ns) * 1e-9; }

ParticleResult use_all(const ParticleTask& task) {
    const auto library = make_library(task.variant);
    const Share share = share_of(task, 0);
    const auto objects = objects_of(task, share);
    std::vector<std::byte> buffer(task.size_bytes);
    library->open(task.path, Access::read);

    // First as if all had always been in memory.
    std::vector<std::vector<std::byte>> resident;
    Values values(task.size_bytes);
    for (const auto& [number, name] : objects) {
        const auto bytes = values.make(number);
        resident.emplace_back(bytes.begin(), bytes.end());
    }
    double sum = 0;
    for (const auto& bytes : resident) sum += sum_of(bytes);  // its pages are there from now on
    ParticleResult result;
    std::int64_t start = now_ns();
    double expected = 0;
    for (const auto& bytes : resident) expected += sum_of(bytes);
    result.computing_seconds = seconds_since(start);

    library->with(share.group, objects.front().second, buffer, [](std::span<const std::byte>) {});
    sum = 0;
    start = now_ns();
    for (const auto& [number, name] : objects)
        library->with(share.group, name, buffer,
                      [&](std::span<const std::byte> bytes) { sum += sum_of(bytes); });
    result.seconds = result.indexed_seconds = seconds_since(start);
    result.verified = sum == expected;
    library->close();
    return result;
}

void compute(std::span<float> elements, std::uint64_t number) {
    const auto seed = static_cast<float>(number % 1000);
    for (std::size_t i = 0; i < elements.size(); ++i)
        elements[i] = seed + 0.5F * static_cast<float>(i % 4096);
}

ParticleResult produce_all(const ParticleTask& task) {
    const auto library = make_library(task.variant);
    const Share share = share_of(task, 0);
    const auto objects = objects_of(task, share);
    std::vector<Attribute> attributes = three_attributes();
    std::vector<float> elements(task.size_bytes / sizeof(float));
    ParticleResult result;
    compute(elements, 1);
    std::int64_t start = now_ns();
    for (const auto& [number, name] : objects) compute(elements, number);
    result.computing_seconds = seconds_since(start);

    library->open(task.path, Access::create);
    start = now_ns();
    for (const auto& [number, name] : objects) {
        compute(elements, number);
        attributes.back().value = static_cast<std::int64_t>(number);
        library->store({share.group, name, std::as_bytes(std::span(elements)), attributes});
    }
    library->publish();
    result.seconds = result.indexed_seconds = seconds_since(start);
    library->close();

    library->open(task.path, Access::read);
    std::vector<std::byte> buffer(task.size_bytes);
    library->load(share.group, objects.front().second, buffer);
    compute(elements, objects.front().first);
    result.verified = std::ranges::equal(buffer, std::as_bytes(std::span(elements)));
    library->close();
    return result;
}

}  // namespace

ParticleResult carry_out(const ParticleTask& task) {
    if (task.count < static_cast<std::uint64_t>(task.processes))
        throw std::runtime_error("each process needs an object");
    if (task.work == "use") return use_all(task);
    if (task.work == "produce") return produce_all(task);
    const std::vector<Part> parts = run_in_processes(
        task.processes, [&](const Process& process) { return write_or_read(process, task); });
    const auto first = std::ranges::min(parts, {}, &Part::start_ns).start_ns;
    ParticleResult result;
    result.seconds =
        static_cast<double>(std::ranges::max(parts, {}, &Part::published_ns).published_ns - first) * 1e-9;
    result.indexed_seconds =
        static_cast<double>(std::ranges::max(parts, {}, &Part::end_ns).end_ns - first) * 1e-9;
    result.verified = std::ranges::all_of(parts, &Part::verified);
    return result;
}

}  // namespace mosiqs
