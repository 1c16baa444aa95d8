#include "job.hpp"

#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "progress.hpp"

namespace domain3d {

namespace {

constexpr int default_variables = 10;

std::unique_ptr<Source> source_in_pool(const Arguments& arguments) {
    pmemcpy::PMEM pmem;
    pmem.mmap(arguments.pool, {.mode = pmemcpy::Mode::read});
    std::size_t there = 0;
    const auto wanted = static_cast<std::size_t>(arguments.variables);
    while ((wanted == 0 || there < wanted) && pmem.exists(generated_id(there))) ++there;
    if (there == 0 || there < wanted) {
        throw pmemcpy::Error(
            pmemcpy::Code::not_found,
            arguments.pool + " holds no variable " + generated_id(there) +
                ", as `domain3d write` makes them; give --input and --variable for real data");
    }
    const pmemcpy::Dimensions shape = pmem.load_dims(generated_id(0));
    if (shape.size() != 3) {
        throw pmemcpy::Error(pmemcpy::Code::invalid_argument,
                             arguments.pool + ": the variables have the shape " + pmemcpy::to_string(shape) +
                                 ", and not three dimensions");
    }
    return generated_source(shape, there);
}

}  // namespace

Job::Job(const Arguments& arguments, const Ranks& ranks) : arguments_(arguments), ranks_(ranks) {
    ranks_.together([&] { choose_source(); });
    ranks_.together([&] { divide(); });
}

void Job::choose_source() {
    if (!arguments_.input.empty()) {
        source_ = netcdf_source(arguments_.input, arguments_.names);
    } else if (arguments_.is_write) {
        const int variables = arguments_.variables == 0 ? default_variables : arguments_.variables;
        source_ = generated_source(near_cube(arguments_.gib, variables), static_cast<std::size_t>(variables));
    } else {
        source_ = source_in_pool(arguments_);
    }
}

Grid Job::grid() const {
    if (!arguments_.grid) {
        Grid chosen{};
        MPI_Dims_create(ranks_.size(), 3, chosen.data());
        return chosen;
    }
    const Grid& grid = *arguments_.grid;
    if (grid[0] * grid[1] * grid[2] != ranks_.size()) {
        throw std::invalid_argument("--grid " + to_string(grid) + " is not a grid of " +
                                    std::to_string(ranks_.size()) + " ranks");
    }
    return grid;
}

void Job::divide() {
    std::size_t elements = 0;
    for (const Variable& variable : source_->variables()) {
        parts_.push_back({part_of(variable.shape, grid(), ranks_.rank()), nullptr});
        elements += parts_.back().box.elements();
    }
    memory_ = Memory::of_process(elements * sizeof(double));
    double* next = memory_.doubles().data();
    for (Part& part : parts_) {
        part.data = next;
        next += part.box.elements();
    }
    if (arguments_.memcpy) file_ = Memory::of_file(folder(), memory_.size());
}

Report Job::run() {
    if (arguments_.is_write) fill();
    Report report;
    for (int repetition = 0; repetition < arguments_.repeat; ++repetition) {
        if (arguments_.memcpy) report.memcpy_seconds.push_back(copy());
        if (arguments_.is_write) make_ready(repetition);
        report.seconds.push_back(
            ranks_.slowest_seconds([&] { arguments_.is_write ? write(mode_) : read(); }));
    }
    if (arguments_.is_write) describe();
    if (arguments_.verify) ranks_.together([&] { arguments_.is_write ? verify_written() : verify_read(); });
    report.is_write = arguments_.is_write;
    report.is_verified = arguments_.verify;
    report.ranks = ranks_.size();
    report.grid = grid();
    for (const Variable& variable : source_->variables()) report.variables.push_back(variable.id);
    report.bytes = total_bytes();
    report.pool = arguments_.pool;
    report.durability = durability_;
    return report;
}

void Job::fill() {
    ranks_.together([&] {
        Progress progress("making data", memory_.size(), shows_progress());
        for (std::size_t v = 0; v < parts_.size(); ++v) {
            source_->fill(v, parts_[v].box, parts_[v].data);
            progress.add(parts_[v].box.elements() * sizeof(double));
        }
    });
}

void Job::make_ready(int repetition) {
    using pmemcpy::Mode;
    if (arguments_.reuse && repetition > 0) return;
    // A pool that was there before is never replaced: only one that this very run has made.
    mode_ = arguments_.reuse ? Mode::update : repetition == 0 ? Mode::exclusive : Mode::replace;
    if (arguments_.reuse) ranks_.together([&] { write(Mode::create_or_update); });
    if (!arguments_.reuse && !arguments_.prepare) return;
    ranks_.together([&] {
        if (!ranks_.is_first()) return;
        pmemcpy::PMEM pmem;
        pmem.mmap(arguments_.pool, {.mode = mode_});
        // Boxes of another grid are covered by several of ours, which only compact() notices.
        if (arguments_.reuse) pmem.compact();
        // A block gives its space back after its successor is there, so both need room.
        const std::uint64_t values = arguments_.reuse ? 2 * total_bytes() : total_bytes();
        if (arguments_.prepare) pmem.prepare(values + values / 8);
    });
    if (arguments_.prepare) mode_ = Mode::update;
}

void Job::write(pmemcpy::Mode mode) {
    pmemcpy::Options options;
    options.mode = mode;
    options.map_sync = arguments_.map_sync;
    options.checksums = options.characterise = arguments_.checksums;
    Progress progress("storing", memory_.size(), shows_progress());
    pmemcpy::PMEM pmem;
    pmem.mmap(arguments_.pool, ranks_.comm(), options);
    durability_ = pmem.durability();
    for (std::size_t v = 0; v < parts_.size(); ++v) {
        const auto& [id, shape] = source_->variables()[v];
        pmem.alloc<double>(id, shape);
        pmem.store<double>(id, parts_[v].data, parts_[v].box);
        progress.add(parts_[v].box.elements() * sizeof(double));
    }
    pmem.munmap();
}

void Job::read() {
    pmemcpy::Options options;
    options.mode = pmemcpy::Mode::read;
    options.map_sync = arguments_.map_sync;
    Progress progress("loading", memory_.size(), shows_progress());
    pmemcpy::PMEM pmem;
    pmem.mmap(arguments_.pool, ranks_.comm(), options);
    durability_ = pmem.durability();
    for (std::size_t v = 0; v < parts_.size(); ++v) {
        pmem.load<double>(source_->variables()[v].id, parts_[v].data, parts_[v].box);
        progress.add(parts_[v].box.elements() * sizeof(double));
    }
    pmem.munmap();
}

void Job::describe() {
    ranks_.together([&] {
        if (!ranks_.is_first()) return;
        pmemcpy::PMEM pmem;
        pmem.mmap(arguments_.pool, {.mode = pmemcpy::Mode::update});
        source_->describe(pmem);
    });
}

double Job::copy() {
    std::byte* const file = file_.data();
    std::byte* const memory = memory_.data();
    return ranks_.slowest_seconds([&] {
        if (arguments_.is_write) {
            std::memcpy(file, memory, memory_.size());
        } else {
            std::memcpy(memory, file, memory_.size());
        }
    });
}

// Each rank looks at what its neighbour stored, so that the ranks are seen to share the pool.
void Job::verify_written() {
    pmemcpy::PMEM pmem;
    pmem.mmap(arguments_.pool, {.mode = pmemcpy::Mode::read});
    Progress progress("verifying", memory_.size(), shows_progress());
    std::vector<double> loaded;
    for (std::size_t v = 0; v < parts_.size(); ++v) {
        const auto& [id, shape] = source_->variables()[v];
        const pmemcpy::Box box = part_of(shape, grid(), (ranks_.rank() + 1) % ranks_.size());
        loaded.resize(box.elements());
        pmem.load<double>(id, loaded.data(), box);
        verify(*source_, v, box, loaded.data());
        progress.add(box.elements() * sizeof(double));
    }
}

void Job::verify_read() {
    Progress progress("verifying", memory_.size(), shows_progress());
    for (std::size_t v = 0; v < parts_.size(); ++v) {
        verify(*source_, v, parts_[v].box, parts_[v].data);
        progress.add(parts_[v].box.elements() * sizeof(double));
    }
}

bool Job::shows_progress() const {
    if (!ranks_.is_first() || arguments_.progress == "never") return false;
    return arguments_.progress == "always" || ::isatty(STDERR_FILENO) == 1;
}

std::uint64_t Job::total_bytes() const {
    std::uint64_t elements = 0;
    for (const Variable& variable : source_->variables()) elements += variable.shape.elements();
    return elements * sizeof(double);
}

std::string Job::folder() const {
    const auto path = std::filesystem::absolute(arguments_.pool);
    return (path.has_filename() ? path.parent_path() : path.parent_path().parent_path()).string();
}

}  // namespace domain3d
