#include "run.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "bench/apps/memory.hpp"
#include "emulated.hpp"
#include "values.hpp"

namespace compare::arrays {
namespace {

std::uint64_t page_faults_so_far() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt);
}

std::uint64_t sum(std::uint64_t mine, MPI_Comm comm) {
    std::uint64_t all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, comm);
    return all;
}

// Adds up the parts of a run that count, each of which all ranks begin together.
class Clock {
public:
    explicit Clock(MPI_Comm comm) : comm_(comm) {}
    template <class Timed>
    void count(const Timed& timed) {
        MPI_Barrier(comm_);
        const std::uint64_t faults = page_faults_so_far();
        const double begin = MPI_Wtime();
        timed();
        seconds_ += MPI_Wtime() - begin;
        page_faults_ += page_faults_so_far() - faults;
    }
    // Of the slowest rank since the last call.
    double slowest() {
        double slowest = 0;
        MPI_Allreduce(&seconds_, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm_);
        seconds_ = 0;
        return slowest;
    }
    std::uint64_t page_faults() const { return page_faults_; }
    void forget() { seconds_ = 0, page_faults_ = 0; }

private:
    MPI_Comm comm_;
    double seconds_ = 0;
    std::uint64_t page_faults_ = 0;
};

class Rank {
public:
    Rank(const Arguments& arguments, MPI_Comm comm) : arguments_(arguments), comm_(comm), clock_(comm) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &ranks_);
        pattern_ = make_pattern(arguments.pattern, rank_, ranks_);
        const bool reads = arguments.work == Work::read;
        pieces_ = reads ? pattern_.read : pattern_.written;
        memory_ = domain3d::Memory::of_process(most_bytes_of_a_step(pieces_));
        library_ = make_library(arguments.variant, comm);
        if (arguments.memory_gbs > 0)
            library_ = on_emulated_pmem(std::move(library_), arguments.memory_gbs, ranks_);
    }

    Measured run() {
        if (arguments_.work == Work::prepare) {
            library_->prepare(arguments_.path, pattern_.content.bytes());
            return {};
        }
        if (arguments_.work == Work::read && !library_->shares()) refuse_other_pieces();
        Measured measured;
        if (arguments_.stays) {
            open();
            all_steps(false);
            clock_.forget();
        }
        for (int n = 0; n < arguments_.repeat; ++n) {
            if (!arguments_.stays) clock_.count([&] { open(); });
            all_steps(arguments_.verifies);
            if (!arguments_.stays) clock_.count([&] { close(); });
            measured.seconds.push_back(clock_.slowest());
        }
        if (arguments_.stays) close();
        measured.page_faults = sum(clock_.page_faults(), comm_);
        measured.calls = sum(pieces_.size(), comm_);
        std::uint64_t bytes = 0;
        for (const Piece& piece : pieces_) bytes += bytes_of(piece);
        measured.bytes = sum(bytes, comm_);
        if (arguments_.verifies && arguments_.work == Work::write) verify_neighbour();
        return measured;
    }

private:
    std::uint64_t bytes_of(const Piece& piece) const {
        return piece.where.elements() * size_of(pattern_.content.arrays[piece.array].element);
    }
    std::uint64_t most_bytes_of_a_step(const std::vector<Piece>& pieces) const {
        std::vector<std::uint64_t> bytes(pattern_.content.steps);
        for (const Piece& piece : pieces) bytes[piece.step] += bytes_of(piece);
        return *std::max_element(bytes.begin(), bytes.end());
    }

    // A file that holds no more than what its rank wrote is read only as it was written.
    void refuse_other_pieces() const {
        const auto is_same = [](const Piece& a, const Piece& b) {
            return a.step == b.step && a.array == b.array && a.where == b.where;
        };
        const bool differs = !std::equal(pattern_.read.begin(), pattern_.read.end(), pattern_.written.begin(),
                                         pattern_.written.end(), is_same);
        if (sum(differs ? 1 : 0, comm_) > 0)
            throw Unsupported("reads only what the same rank wrote, as it was written");
    }

    void open() { library_->open(arguments_.path, arguments_.access, pattern_.content); }
    void close() {
        if (arguments_.syncs) library_->sync();
        library_->close();
    }

    // As in a simulation the memory of one step serves the next; values are made and compared while the clock stands.
    void all_steps(bool verifies) {
        auto piece = pieces_.begin();
        for (std::uint64_t step = 0; step < pattern_.content.steps; ++step) {
            const auto end =
                std::find_if(piece, pieces_.end(), [=](const Piece& p) { return p.step != step; });
            if (arguments_.work == Work::write) {
                if (made_ != step + 1)
                    for_each(memory_, piece, end,
                             [&](const Piece& p, std::byte* data) { fill(pattern_.content, p, data); });
                made_ = step + 1;
                clock_.count([&] {
                    library_->begin_step(step);
                    for_each(memory_, piece, end, [&](const Piece& p, std::byte* data) {
                        library_->write(p.array, p.where, data);
                    });
                    library_->end_step();
                    if (pattern_.syncs_each_step) library_->sync();
                });
            } else {
                clock_.count([&] {
                    library_->begin_step(step);
                    for_each(memory_, piece, end, [&](const Piece& p, std::byte* data) {
                        library_->read(p.array, p.where, data);
                    });
                    library_->end_step();
                });
                if (verifies)
                    for_each(memory_, piece, end,
                             [&](const Piece& p, std::byte* data) { verify(pattern_.content, p, data); });
            }
            piece = end;
        }
    }

    using PieceAt = std::vector<Piece>::const_iterator;
    static PieceAt end_of_step(PieceAt piece, PieceAt end) {
        return std::find_if(piece, end, [step = piece->step](const Piece& p) { return p.step != step; });
    }

    template <class Call>
    void for_each(const domain3d::Memory& memory, PieceAt piece, PieceAt end, const Call& call) const {
        for (std::byte* data = memory.data(); piece != end; data += bytes_of(*piece), ++piece)
            call(*piece, data);
    }

    // Each rank reads what the next one has written, where the library can do that.
    void verify_neighbour() {
        const int writer = library_->shares() ? (rank_ + 1) % ranks_ : rank_;
        const std::vector<Piece> theirs = make_pattern(arguments_.pattern, writer, ranks_).written;
        const auto memory = domain3d::Memory::of_process(most_bytes_of_a_step(theirs));
        library_->open(arguments_.path, Access::read, pattern_.content);
        for (auto piece = theirs.begin(); piece != theirs.end();) {
            const auto end = end_of_step(piece, theirs.end());
            library_->begin_step(piece->step);
            for_each(memory, piece, end,
                     [&](const Piece& p, std::byte* data) { library_->read(p.array, p.where, data); });
            library_->end_step();
            for_each(memory, piece, end,
                     [&](const Piece& p, std::byte* data) { verify(pattern_.content, p, data); });
            piece = end;
        }
        library_->close();
    }

    const Arguments& arguments_;
    MPI_Comm comm_;
    int rank_ = 0;
    int ranks_ = 1;
    Clock clock_;
    Pattern pattern_;
    std::vector<Piece> pieces_;
    domain3d::Memory memory_;
    std::unique_ptr<Library> library_;
    std::uint64_t made_ = 0;  // one more than the step whose values are in memory_
};

}  // namespace

Measured run(const Arguments& arguments, MPI_Comm comm) { return Rank(arguments, comm).run(); }

}  // namespace compare::arrays
