// ADIOS 1.13, which the paper on pMEMCPY measured, by its interface without XML. A step is one cycle of adios_open, the
// writes and adios_close, as in its examples/C/global-array-time/adios_globaltime_no_xml.c.

#include <adios.h>
#include <adios_read.h>

#include <cstring>
#include <utility>

#include "library.hpp"

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

/// The smallest box with all that is selected.
pmemcpy::Box bounds_of(const pmemcpy::Selection& where) {
    pmemcpy::Box box{where.offset, where.count};
    for (int d = 0; d < where.size(); ++d) {
        if (where.count[d] > 0) box.count[d] = (where.count[d] - 1) * where.stride[d] + 1;
    }
    return box;
}

/// Copies what is selected out of its bounding box.
void pick(const pmemcpy::Selection& where, const pmemcpy::Dimensions& bounds, std::size_t element_bytes,
          const char* from, char*& to, int dimension = 0, std::uint64_t row = 0) {
    if (dimension == where.size()) {
        std::memcpy(to, from + row * element_bytes, element_bytes);
        to += element_bytes;
        return;
    }
    for (std::uint64_t n = 0; n < where.count[dimension]; ++n) {
        pick(where, bounds, element_bytes, from, to, dimension + 1,
             row * bounds[dimension] + n * where.stride[dimension]);
    }
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
        if (!where.is_dense()) {  // "No support" for strides, says adios_selection.h
            const std::size_t bytes = bounds.elements() * size_of(content_->arrays[array].element);
            picks_.push_back(
                {array, where, bounds.count, std::make_unique_for_overwrite<char[]>(bytes), data});
            data = picks_.back().box.get();
        }
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
    struct Pick {
        std::size_t array;
        pmemcpy::Selection where;
        pmemcpy::Dimensions bounds;
        std::unique_ptr<char[]> box;
        void* to;
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
        for (const Pick& picked : picks_) {
            char* to = static_cast<char*>(picked.to);
            pick(picked.where, picked.bounds, size_of(content_->arrays[picked.array].element),
                 picked.box.get(), to);
        }
        picks_.clear();
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
    std::vector<Pick> picks_;
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
