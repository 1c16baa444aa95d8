// Appends time steps in one process while another one follows, with the library that this program is linked with, and prints one
// line of JSON: how long the writer took, when the reader had the last row, how long each row was under way, and how many rows the
// library said were there and were not yet. Each row says when it was handed over, so that the reader's clock tells the delay: both
// have the same.

#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "bench/compare/objects/processes.hpp"
#include "library.hpp"

namespace {

namespace series = compare::series;
using compare::objects::now_ns;
using compare::objects::Part;
using compare::objects::Process;

struct Task {
    std::string path;
    std::uint64_t bytes = 65536;
    std::uint64_t steps = 1000;
    unsigned pause_us = 0;

    std::uint64_t elements() const { return bytes / sizeof(double); }
};

constexpr std::int64_t was_not_there = -1;

/// One for both processes.
class Delays {
public:
    explicit Delays(std::uint64_t count) : count_(count) {
        void* const memory = ::mmap(nullptr, count * sizeof(std::int64_t), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::runtime_error("no memory");
        ns_ = static_cast<std::int64_t*>(memory);
    }
    ~Delays() { ::munmap(ns_, count_ * sizeof(std::int64_t)); }
    Delays(const Delays&) = delete;
    Delays& operator=(const Delays&) = delete;
    std::span<std::int64_t> all() const { return {ns_, count_}; }

private:
    std::uint64_t count_;
    std::int64_t* ns_ = nullptr;
};

/// Elements of each page: to look at all of them would take longer than to read them.
template <class F>
void for_some(std::vector<double>& row, F&& f) {
    for (std::size_t i = 2; i + 1 < row.size(); i += 256) f(row[i]);
}

// The time in the first element, the step in the second and the last: a float64 holds them exactly.
Part write(const Process& process, const Task& task) {
    std::vector<double> row(task.elements(), 1);
    const auto writer = series::make_writer();
    writer->create(task.path, task.elements());
    process.meet();
    process.meet();  // the reader has it open
    Part part;
    part.start_ns = now_ns();
    for (std::uint64_t step = 0; step < task.steps; ++step) {
        row[1] = row.back() = static_cast<double>(step);
        row[0] = static_cast<double>(now_ns());
        writer->append(row);
        if (task.pause_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(task.pause_us));
    }
    part.end_ns = now_ns();
    process.meet();  // the reader has read all
    writer->close();
    return part;
}

Part read(const Process& process, const Task& task, std::span<std::int64_t> delays) {
    std::vector<double> row(task.elements());
    const auto reader = series::make_reader();
    process.meet();
    reader->open(task.path);
    process.meet();
    Part part;
    part.start_ns = now_ns();
    for (std::uint64_t step = 0; step < task.steps; ++step) {
        for_some(row, [](double& one) { one = -1; });
        reader->next(row);
        const std::int64_t now = now_ns();
        const auto number = static_cast<double>(step);
        bool is_there = row[0] > 0 && row[1] == number && row.back() == number;
        for_some(row, [&](double one) { is_there = is_there && one == 1; });
        delays[step] = is_there ? now - static_cast<std::int64_t>(row[0]) : was_not_there;
    }
    part.end_ns = now_ns();
    process.meet();
    reader->close();
    return part;
}

nlohmann::ordered_json follow(const Task& task) {
    const Delays delays(task.steps);
    const auto parts = compare::objects::run_in_processes(2, [&](const Process& process) {
        return process.index() == 0 ? write(process, task) : read(process, task, delays.all());
    });
    std::vector<std::int64_t> sorted(delays.all().begin(), delays.all().end());
    std::erase(sorted, was_not_there);
    std::sort(sorted.begin(), sorted.end());
    const auto at = [&](double part) {
        if (sorted.empty()) return 0.0;
        const auto index = static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1));
        return static_cast<double>(sorted[index]) * 1e-9;
    };
    const Part& writer = parts[0];
    const Part& reader = parts[1];
    return {{"seconds", static_cast<double>(writer.end_ns - writer.start_ns) * 1e-9},
            {"followed_seconds", static_cast<double>(reader.end_ns - writer.start_ns) * 1e-9},
            {"delay_seconds", {at(0.5), at(0.9), at(1)}},
            {"not_there", task.steps - sorted.size()}};
}

}  // namespace

int main(int argc, char** argv) {
    Task task;
    std::string work;
    CLI::App app("Appends time steps with " COMPARE_LIBRARY " while another process follows.");
    app.add_option("work", work, "`variants` prints the ways to use the library, as JSON")
        ->required()
        ->check(CLI::IsMember({"follow", "variants"}));
    app.add_option("--path", task.path, "Where the array is: a file or a folder, as the library has it");
    app.add_option("--size", task.bytes, "Bytes of each step")
        ->check(CLI::Range(std::uint64_t{64}, std::uint64_t{1} << 30));
    app.add_option("--count", task.steps, "How many steps")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}));
    app.add_option("--pause-us", task.pause_us, "Between two steps, as if something were computed");
    CLI11_PARSE(app, argc, argv);
    try {
        if (work == "variants") {
            nlohmann::ordered_json list = nlohmann::ordered_json::array();
            for (const series::Variant& variant : series::variants)
                list.push_back({{"name", variant.name}, {"what", variant.what}});
            std::puts(list.dump().c_str());
            return 0;
        }
        std::puts(follow(task).dump().c_str());
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, COMPARE_LIBRARY ": %s\n", error.what());
    }
    return 1;
}
