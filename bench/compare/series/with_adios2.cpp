// ADIOS2's BP5 as a stream through a file: each EndStep() writes the step and its metadata, and the reader's BeginStep() waits
// for it.

#include <adios2.h>

#include <memory>
#include <stdexcept>

#include "bench/compare/adios2_errors.hpp"
#include "library.hpp"

namespace compare::series {
namespace {

class Stream {
public:
    void open(const std::string& path, adios2::Mode mode) {
        adios_ = std::make_unique<adios2::ADIOS>();
        io_ = adios_->DeclareIO("series");
        io_.SetEngine("BP5");
        if (mode == adios2::Mode::Read) {
            io_.SetParameters({{"StreamReader", "on"},
                               {"OpenTimeoutSecs", "60"},
                               {"BeginStepPollingFrequencySecs", "0.00005"}});
        }
        engine_ = io_.Open(path, mode);
    }
    adios2::IO& io() { return io_; }
    adios2::Engine& engine() { return engine_; }

private:
    std::unique_ptr<adios2::ADIOS> adios_;
    adios2::IO io_;
    adios2::Engine engine_;
};

class Adios2Writer : public Writer {
public:
    void create(const std::string& path, std::uint64_t elements) override {
        by_adios2([&] {
            stream_.open(path, adios2::Mode::Write);
            variable_ = stream_.io().DefineVariable<double>("u", {elements}, {0}, {elements});
        });
    }
    void append(std::span<const double> row) override {
        by_adios2([&] {
            stream_.engine().BeginStep();
            stream_.engine().Put(variable_, row.data(), adios2::Mode::Deferred);
            stream_.engine().EndStep();
        });
    }
    void close() override {
        by_adios2([&] { stream_.engine().Close(); });
    }

private:
    Stream stream_;
    adios2::Variable<double> variable_;
};

class Adios2Reader : public Reader {
public:
    void open(const std::string& path) override {
        by_adios2([&] { stream_.open(path, adios2::Mode::Read); });
    }
    void next(std::span<double> row) override {
        constexpr float patience_s = 60;
        by_adios2([&] {
            if (stream_.engine().BeginStep(adios2::StepMode::Read, patience_s) != adios2::StepStatus::OK)
                throw std::runtime_error("no step came");
            auto variable = stream_.io().InquireVariable<double>("u");
            variable.SetSelection({{0}, {row.size()}});
            stream_.engine().Get(variable, row.data(), adios2::Mode::Deferred);
            stream_.engine().EndStep();
        });
    }
    void close() override {
        by_adios2([&] { stream_.engine().Close(); });
    }

private:
    Stream stream_;
};

}  // namespace

const std::vector<Variant> variants = {
    {"adios2-bp5", "a step of a BP5 file, which the reader follows as a stream (BeginStep waits)"}};

std::unique_ptr<Writer> make_writer() { return std::make_unique<Adios2Writer>(); }
std::unique_ptr<Reader> make_reader() { return std::make_unique<Adios2Reader>(); }

}  // namespace compare::series
