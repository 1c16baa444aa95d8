// ADIOS 1.13, which the paper on pMEMCPY measured, by its interface without XML. A step is one cycle of adios_open, the
// writes and adios_close, as in its examples/C/global-array-time/adios_globaltime_no_xml.c.

#include <adios.h>
#include <adios_read.h>

#include <utility>

#include "library.hpp"
#include "strided_reads.hpp"

namespace compare::arrays {
namespace {

constexpr const char* group_name = "arrays";

/// Errors: runtime_error with ADIOS's message.
void check(bool succeeded) {
    if (!succeeded) throw std::runtime_error(std::string("ADIOS: ") + adios_get_last_errmsg());
}

ADIOS_DATATYPES type_of(Element element) {
    switch (element) {
        case Element::float64:
            return adios_double;
        case Element::float32:
            return adios_real;
        case Element::int32:
            return adios_integer;
    }
    throw std::invalid_argument("no such element");
}

/// As adios_define_var wants them: "32,48,40".
std::string listed(const pmemcpy::Dimensions& dims) {
    std::string list;
    for (const pmemcpy::Extent extent : dims) list += (list.empty() ? "" : ",") + std::to_string(extent);
    return list;
}

class Adios : public Library {
public:
    Adios(MPI_Comm comm, const char* method) : comm_(comm), method_(method) {}

    void open(const std::string& path, Access access, const Content& content) override {
        path_ = path;
        content_ = &content;
        if (access == Access::read) {
            check((file_ = adios_read_open_file(path.c_str(), ADIOS_READ_METHOD_BP, comm_)) != nullptr);
            return;
        }
        check(adios_init_noxml(comm_) == 0);
        // A limit, not an allocation; past it a step would be written in several parts.
        adios_set_max_buffer_size((content.bytes() / content.steps >> 20) + 64);
        // The manual's no-XML chapter: statistics cost time and memory while writing, and nobody here asks for them.
        check(adios_declare_group(&group_, group_name, "", adios_stat_no) == 0);
        check(adios_select_method(group_, method_, "", "") == 0);
    }

    void begin_step(std::uint64_t step) override { step_ = step; }

    void write(std::size_t array, const pmemcpy::Selection& where, const void* data) override {
        if (!where.is_dense()) throw Unsupported("ADIOS writes boxes, without strides");
        if (!where.empty()) writes_.push_back({array, where, data});
    }

    void read(std::size_t array, const pmemcpy::Selection& where, void* data) override {
        if (where.empty()) return;
        const pmemcpy::Box bounds = bounds_of(where);
        // "No support" for strides, says adios_selection.h
        data = strided_.box_for(where, size_of(content_->arrays[array].element), data);
        ADIOS_SELECTION* selection =
            adios_selection_boundingbox(where.size(), bounds.offset.data(), bounds.count.data());
        selections_.push_back(selection);
        check(adios_schedule_read(file_, selection, content_->arrays[array].name.c_str(),
                                  static_cast<int>(step_), 1, data) == 0);
    }

    void end_step() override {
        if (file_ == nullptr) {
            write_step();
        } else {
            read_step();
        }
    }

    void sync() override { throw Unsupported("ADIOS has nothing that waits for the medium"); }

    void close() override {
        if (file_ != nullptr) {
            check(adios_read_close(std::exchange(file_, nullptr)) == 0);
        } else {
            // Only this closes a file that steps were appended to; without it POSIX fails at the next "w" of the path.
            int rank = 0;
            MPI_Comm_rank(comm_, &rank);
            check(adios_finalize(rank) == 0);
        }
    }

private:
    struct Write {
        std::size_t array;
        pmemcpy::Selection where;
        const void* data;
    };

    void write_step() {
        check(adios_delete_vardefs(group_) == 0);
        std::vector<std::int64_t> variables;
        std::uint64_t bytes = 0;
        for (const Write& write : writes_) {
            const Array& array = content_->arrays[write.array];
            variables.push_back(adios_define_var(
                group_, array.name.c_str(), "", type_of(array.element), listed(write.where.count).c_str(),
                listed(array.shape).c_str(), listed(write.where.offset).c_str()));
            check(variables.back() != 0);
            bytes += write.where.elements() * size_of(array.element);
        }

        std::int64_t file = 0;
        check(adios_open(&file, group_name, path_.c_str(), step_ == 0 ? "w" : "a", comm_) == 0);
        // One allocation of the buffer instead of its growing.
        std::uint64_t total = 0;
        check(adios_group_size(file, bytes, &total) == 0);
        for (std::size_t i = 0; i < writes_.size(); ++i) {
            check(adios_write_byid(file, variables[i], writes_[i].data) == 0);
        }
        check(adios_close(file) == 0);
        writes_.clear();
    }

    void read_step() {
        check(adios_perform_reads(file_, 1) == 0);
        for (ADIOS_SELECTION* selection : selections_) adios_selection_delete(selection);
        selections_.clear();
        strided_.pick();
    }

    MPI_Comm comm_;
    const char* method_;
    std::int64_t group_ = 0;
    std::string path_;
    const Content* content_ = nullptr;
    ADIOS_FILE* file_ = nullptr;  // while reading
    std::uint64_t step_ = 0;
    std::vector<Write> writes_;  // of the step at hand, as the next two
    std::vector<ADIOS_SELECTION*> selections_;
    StridedReads strided_;
};

}  // namespace

const std::vector<Variant> variants = {
    {"adios-posix", "ADIOS 1.13, method POSIX: a file for each rank, and one of metadata"},
    {"adios-mpi", "ADIOS 1.13, method MPI: one file by MPI-IO"},
};

std::unique_ptr<Library> make_library(const std::string& variant, MPI_Comm comm) {
    return std::make_unique<Adios>(comm, variant == "adios-mpi" ? "MPI" : "POSIX");
}

}  // namespace compare::arrays
