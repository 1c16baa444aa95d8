// ADIOS2 2.11 as its wheel on PyPI has it, which is built without MPI: each rank writes a file of its own (the
// aggregation that its documentation calls EveryoneWrites, "At small scale [...] the fastest I/O"), with the global shape
// and its place in it. A reader puts the whole together again.

#include <adios2.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "bench/compare/adios2_errors.hpp"
#include "library.hpp"
#include "strided_reads.hpp"

namespace compare::arrays {
namespace {

adios2::Dims dims_of(const pmemcpy::Dimensions& dims) { return {dims.begin(), dims.end()}; }

adios2::DataType type_of(Element element) {
    switch (element) {
        case Element::float64:
            return adios2::DataType::Double;
        case Element::float32:
            return adios2::DataType::Float;
        case Element::int32:
            return adios2::DataType::Int32;
    }
    throw std::invalid_argument("no such element");
}

/// How many elements of the box a block holds.
std::uint64_t shared_elements(const pmemcpy::Box& box, const adios2::VariableNT::Info& block) {
    std::uint64_t elements = 1;
    for (int d = 0; d < box.size(); ++d) {
        const auto i = static_cast<std::size_t>(d);
        const std::uint64_t first = std::max<std::uint64_t>(box.offset[d], block.Start[i]);
        const std::uint64_t end = std::min<std::uint64_t>(box.end(d), block.Start[i] + block.Count[i]);
        elements *= end > first ? end - first : 0;
    }
    return elements;
}

class Adios2 : public Library {
public:
    Adios2(MPI_Comm comm, const std::string& engine, const adios2::Params& parameters)
        : comm_(comm), engine_(engine), parameters_(parameters) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &ranks_);
    }

    void open(const std::string& path, Access access, const Content& content) override {
        path_ = path;
        content_ = &content;
        reads_ = access == Access::read;
        files_.clear();
        if (reads_) {
            files_.resize(static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path),
                                                                 std::filesystem::directory_iterator())));
        } else {
            if (rank_ == 0) {
                std::filesystem::create_directories(path);
                for (int rank = ranks_; std::filesystem::remove_all(path + "/" + std::to_string(rank)) > 0;)
                    ++rank;
            }
            MPI_Barrier(comm_);
            files_.resize(static_cast<std::size_t>(rank_) + 1);
            file_of(rank_);
        }
    }

    void begin_step(std::uint64_t step) override {
        step_ = step;
        if (!reads_) by_adios2([&] { file_of(rank_).engine.BeginStep(); });
    }

    void write(std::size_t array, const pmemcpy::Selection& where, const void* data) override {
        if (!where.is_dense()) throw Unsupported("ADIOS2 writes boxes, without strides");
        if (where.empty()) return;
        File& file = file_of(rank_);
        by_adios2([&] {
            adios2::VariableNT variable = variable_of(file, content_->arrays[array]);
            variable.SetSelection({dims_of(where.offset), dims_of(where.count)});
            // "Prefer Put/Get Deferred mode" (Advice): large values go straight from here to the file in EndStep(), in
            // less than half of the time that Mode::Sync takes.
            file.engine.Put(variable, data, adios2::Mode::Deferred);
        });
    }

    void read(std::size_t array, const pmemcpy::Selection& where, void* data) override {
        if (where.empty()) return;
        const pmemcpy::Box bounds = bounds_of(where);
        // reads are of boxes, too
        data = strided_.box_for(where, size_of(content_->arrays[array].element), data);
        // This rank's own file first, and the others only until nothing is missing.
        std::uint64_t missing = bounds.elements();
        for (std::size_t i = 0; i < files_.size() && missing > 0; ++i) {
            missing -= by_adios2([&] {
                const std::size_t from = (static_cast<std::size_t>(rank_) + i) % files_.size();
                return read_from(file_of(static_cast<int>(from)), array, bounds, data);
            });
        }
        if (missing > 0) throw std::runtime_error("ADIOS2: no file has all of " + to_string(where));
    }

    void end_step() override {
        by_adios2([&] {
            for (File& file : files_) {
                if (!reads_ && file.engine) file.engine.EndStep();
                if (reads_ && file.engine) file.engine.PerformGets();
            }
        });
        strided_.pick();
    }

    void sync() override { throw Unsupported("ADIOS2 has nothing that waits for the medium"); }

    void close() override {
        by_adios2([&] {
            for (File& file : files_) {
                if (file.engine) file.engine.Close();
            }
        });
        files_.clear();
    }

private:
    struct File {
        std::unique_ptr<adios2::ADIOS> adios;
        adios2::IO io;
        adios2::Engine engine;
    };

    /// The file that the rank wrote, opened at its first use.
    File& file_of(int rank) {
        File& file = files_[static_cast<std::size_t>(rank)];
        if (file.engine) return file;
        by_adios2([&] {
            file.adios = std::make_unique<adios2::ADIOS>();
            file.io = file.adios->DeclareIO("arrays");
            file.io.SetEngine(engine_);
            file.io.SetParameters(parameters_);
            file.engine = file.io.Open(path_ + "/" + std::to_string(rank),
                                       reads_ ? adios2::Mode::ReadRandomAccess : adios2::Mode::Write);
        });
        return file;
    }

    static adios2::VariableNT variable_of(File& file, const Array& array) {
        adios2::VariableNT variable = file.io.InquireVariable(array.name);
        if (variable) return variable;
        const adios2::Dims shape = dims_of(array.shape);
        return file.io.DefineVariable(type_of(array.element), array.name, shape, adios2::Dims(shape.size()),
                                      shape);
    }

    /// Each file fills in the part of the box that it holds. Returns how many elements these are.
    std::uint64_t read_from(File& file, std::size_t array, const pmemcpy::Box& box, void* data) const {
        adios2::VariableNT variable = file.io.InquireVariable(content_->arrays[array].name);
        if (!variable) return 0;  // a rank that wrote nothing of this array
        std::uint64_t elements = 0;
        for (const adios2::VariableNT::Info& block : file.engine.BlocksInfo(variable, step_)) {
            elements += shared_elements(box, block);
        }
        if (elements == 0) return 0;
        variable.SetStepSelection({step_, 1});
        variable.SetSelection({dims_of(box.offset), dims_of(box.count)});
        file.engine.Get(variable, data, adios2::Mode::Deferred);
        return elements;
    }

    MPI_Comm comm_;
    int rank_ = 0;
    int ranks_ = 1;
    std::string engine_;
    adios2::Params parameters_;
    std::string path_;
    const Content* content_ = nullptr;
    bool reads_ = false;
    std::uint64_t step_ = 0;
    std::vector<File> files_;  // by the rank that wrote it
    StridedReads strided_;     // of the step at hand
};

}  // namespace

const std::vector<Variant> variants = {
    {"adios2-bp5", "ADIOS2 2.11, a BP5 file for each rank, as it comes"},
    {"adios2-bp5-tuned", "the same with large chunks and without minimum and maximum"},
    {"adios2-bp4", "ADIOS2 2.11, a BP4 file for each rank, as it comes"},
};

std::unique_ptr<Library> make_library(const std::string& variant, MPI_Comm comm) {
    if (variant == "adios2-bp4") return std::make_unique<Adios2>(comm, "BP4", adios2::Params());
    if (variant == "adios2-bp5") return std::make_unique<Adios2>(comm, "BP5", adios2::Params());
    // Without MPI a reader takes all cores for its own; other ranks use them, too.
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranks);
    // From the BP5 page of ADIOS2's documentation. MaxShmSize and the aggregators are for MPI only, InitialBufferSize for
    // another type of buffer.
    return std::make_unique<Adios2>(comm, "BP5",
                                    adios2::Params{
                                        {"BufferChunkSize", "2147381248"},  // "for maximum write performance"
                                        {"StatsLevel", "0"},    // "some cost to generate this metadata"
                                        {"AsyncWrite", "off"},  // its default
                                        {"AsyncOpen", "off"},   // the first write comes at once
                                        {"Threads", std::to_string(threads)},
                                    });
}

}  // namespace compare::arrays
