// Memory that gives no bytes any more (SIGBUS): poisoned by the hardware, or gone with the end of a file that somebody has
// shortened. In our own copies it is io_error, the process lives, and the rest of the pool is as good as before (law 12).

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>

#include <pmemcpy/cereal.hpp>
#include <pmemcpy/index.hpp>
#include <pmemcpy/repair.hpp>

#include <cereal/types/vector.hpp>

#include "owners.hpp"
#include "poison.hpp"
#include "ramp.hpp"
#include "tests/folder.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::faults {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t rows = 3;
constexpr std::uint64_t columns = 20'000;  // doubles: a block is 40 pages and has space of its own

/// How memory goes.
enum class Means { taken_away, shortened, poisoned };

class PoisonTest : public ::testing::TestWithParam<Means> {
protected:
    std::string path() const { return folder_ / "pool"; }
    static Options options(Mode mode, bool checked = false) {
        Options options;
        options.max_bytes = 8 << 20;
        options.chunk_bytes = 64 << 10;
        options.mode = mode;
        options.verify_loads = checked;
        return options;
    }

    /// The page of the pool that this byte of a view lies in stops giving bytes; or all from there to the end of the file.
    void strike(const void* byte) {
        std::uint64_t offset = 0;
        const auto* first = static_cast<const std::byte*>(mapped_at(path(), 0));
        offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(byte) - first);
        const std::uint64_t page = offset / pool::page_bytes;
        switch (GetParam()) {
            case Means::taken_away:
                return poison_.strike(path(), page);
            case Means::shortened:
                return fs::resize_file(path(), page * pool::page_bytes);
            case Means::poisoned:
                if (!poison_for_real(mapped_at(path(), page * pool::page_bytes)))
                    GTEST_SKIP() << "this kernel poisons no memory (CONFIG_MEMORY_FAILURE, CAP_SYS_ADMIN)";
        }
    }

    static std::vector<double> row(double first) { return numbers(columns, first); }
    static Box box(std::uint64_t i) { return Box{{i, 0}, {1, columns}}; }
    static void store_row(PMEM& pmem, std::uint64_t i, const Codec& codec = {}) {
        pmem.store<double>("A", row(100.0 * static_cast<double>(i)).data(), box(i), codec);
    }
    static std::string error_of(const std::function<void()>& call) {
        try {
            call();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::io_error) << error.what();
            return error.what();
        }
        ADD_FAILURE() << "no error";
        return {};
    }
    static void expect_row(const PMEM& pmem, std::uint64_t i) {
        std::vector<double> found(columns);
        pmem.load<double>("A", found.data(), box(i));
        EXPECT_EQ(found, row(100.0 * static_cast<double>(i)));
    }
    /// One row cannot be loaded: that is told by name and box, and everything else goes on.
    void expect_only_row_is_gone(PMEM& pmem, std::uint64_t lost) {
        std::vector<double> found(columns);
        const std::string said = error_of([&] { pmem.load<double>("A", found.data(), box(lost)); });
        EXPECT_NE(said.find("'A'"), std::string::npos) << said;
        EXPECT_NE(said.find(to_string(box(lost))), std::string::npos) << said;
        for (std::uint64_t i = 0; i < rows; ++i) {
            if (i != lost) expect_row(pmem, i);
        }
        EXPECT_EQ(pmem.load<int>("v"), 1);
        const std::vector<Damage> damages = pmem.verify();
        ASSERT_EQ(damages.size(), 1u);
        EXPECT_EQ(damages[0].id, "A");
        EXPECT_EQ(damages[0].box, Selection(box(lost)));
        // In a new place it is as before, however often that is taken.
        if (GetParam() == Means::shortened) return;  // nor is there a new place
        for (int again = 0; again < 5; ++again) {
            store_row(pmem, lost);
            expect_row(pmem, lost);
        }
        EXPECT_TRUE(pmem.verify().empty());
    }

    Folder folder_;
    Poison poison_;
};

TEST_P(PoisonTest, in_a_block_is_an_error_that_names_it) {
    for (const bool has_checksums : {true, false}) {
        for (const bool is_checked : {true, false}) {
            fs::remove(path());
            Options chosen = options(Mode::exclusive, is_checked);
            chosen.checksums = has_checksums;
            chosen.characterise = has_checksums;
            PMEM pmem;
            pmem.mmap(path(), chosen);
            pmem.store("v", 1);
            pmem.alloc<double>("A", Dimensions{rows, columns});
            for (std::uint64_t i = 0; i < rows; ++i) store_row(pmem, i);
            strike(&pmem.view<double>("A", box(rows - 1))[columns / 2]);
            if (IsSkipped()) return;
            std::vector<double> part(1000);
            if (!is_checked) {  // what does not touch the page is there
                pmem.load<double>("A", part.data(), Box{{rows - 1, 0}, {1, 1000}});
                EXPECT_EQ(part[999], 100.0 * (rows - 1) + 999);
            }
            error_of([&] {
                pmem.load<double>("A", part.data(), Box{{rows - 1, columns / 2 - 500}, {1, 1000}});
            });
            if (has_checksums) expect_only_row_is_gone(pmem, rows - 1);
        }
    }
}

TEST_P(PoisonTest, in_a_compressed_block_is_an_error_that_names_it) {
    if (!is_available(Codec::Kind::zstd)) GTEST_SKIP() << "built without Blosc";
    PMEM pmem;
    pmem.mmap(path(), options(Mode::exclusive));
    pmem.store("v", 1);
    pmem.alloc<double>("A", Dimensions{rows, columns});
    for (std::uint64_t i = 0; i + 1 < rows; ++i) store_row(pmem, i);
    std::uint64_t offset = 0;
    store_row(pmem, rows - 1, parse_codec("zstd"));
    pmem.munmap();
    {
        Inside inside(path());
        inside.heap().for_each_unit([&](std::uint64_t unit, std::uint64_t) {
            const auto& block = inside.pool().as<catalog::Block>(unit);
            const bool is_block = block.header.magic == heap::record_magic &&
                                  static_cast<heap::RecordKind>(block.header.kind) == heap::RecordKind::block;
            if (is_block && block.codec != 0) offset = block.extent.offset;
        });
    }
    pmem.mmap(path(), options(Mode::update));
    strike(static_cast<std::byte*>(mapped_at(path(), 0)) + offset);
    if (IsSkipped()) return;
    expect_only_row_is_gone(pmem, rows - 1);
}

TEST_P(PoisonTest, in_a_value_is_an_error_that_names_it) {
    for (const bool is_checked : {true, false}) {
        // Those that a decoder gets as a copy, and those it follows where they lie.
        for (const std::size_t bytes : {4'000U, 300'000U}) {
            fs::remove(path());
            PMEM pmem;
            pmem.mmap(path(), options(Mode::exclusive, is_checked));
            pmem.store("v", 1);
            pmem.store("text", std::string(bytes, 't'));
            strike(pmem.view_bytes("text").data() + bytes / 2);
            if (IsSkipped()) return;
            const std::string said = error_of([&] { static_cast<void>(pmem.load<std::string>("text")); });
            EXPECT_NE(said.find("'text'"), std::string::npos) << said;
            EXPECT_EQ(pmem.load<int>("v"), 1);
            const std::vector<Damage> damages = pmem.verify();
            EXPECT_TRUE(
                std::any_of(damages.begin(), damages.end(), [](const Damage& d) { return d.id == "text"; }));
            if (GetParam() == Means::shortened) continue;
            for (int again = 0; again < 5; ++again) {
                const std::string fresh(bytes, static_cast<char>('a' + again));
                pmem.store("text", fresh);
                EXPECT_EQ(pmem.load<std::string>("text"), fresh);
            }
            // An encoder writes straight into the pool, and does not know that a page is gone.
            const std::vector<double> numbers(bytes / 8, 1.5);
            pmem.erase("text");
            for (int again = 0; again < 5; ++again) {
                pmem.store("numbers" + std::to_string(again), numbers, SerializerType::cereal);
                EXPECT_EQ(pmem.load<std::vector<double>>("numbers" + std::to_string(again)), numbers);
            }
        }
    }
}

TEST_P(PoisonTest, in_an_array_filled_in_place_keeps_it_from_being_frozen) {
    PMEM pmem;
    pmem.mmap(path(), options(Mode::exclusive));
    ArrayOptions in_place;
    in_place.contiguous = true;
    pmem.alloc<double>("A", Dimensions{columns}, in_place);
    pmem.store<double>("A", row(1).data(), Box{{0}, {columns}});
    strike(&pmem.view<double>("A")[columns / 2]);
    if (IsSkipped()) return;
    EXPECT_NE(error_of([&] { pmem.freeze("A"); }).find("'A'"), std::string::npos);
    error_of([&] { pmem.store<double>("A", row(1).data(), Box{{0}, {columns}}); });
}

// A slab for records is made of a free chunk, which is filled with zeros first: that killed the process.
TEST_P(PoisonTest, in_free_space_is_walked_past) {
    if (GetParam() == Means::shortened) GTEST_SKIP() << "nothing lies behind the end of a file";
    PMEM pmem;
    pmem.mmap(path(), options(Mode::exclusive));
    constexpr std::size_t chunk_bytes = 64 << 10, chunks = 6;
    pmem.store("large", std::string(chunks * chunk_bytes, 'l'));
    const std::byte* there = pmem.view_bytes("large").data();
    pmem.erase("large");
    for (std::size_t i = 0; i < chunks && !IsSkipped(); i += 2) strike(there + i * chunk_bytes);
    if (IsSkipped()) return;
    for (int i = 0; i < 3'000; ++i) pmem.store("small/" + std::to_string(i), i);
    for (int i = 0; i < 3'000; ++i) ASSERT_EQ(pmem.load<int>("small/" + std::to_string(i)), i);
    EXPECT_TRUE(pmem.verify().empty());
    pmem.munmap();
    Inside inside(path());
    EXPECT_TRUE(inside.audit().complaints.empty());
}

TEST_P(PoisonTest, leaves_the_rest_to_repair) {
    if (GetParam() == Means::shortened)
        GTEST_SKIP() << "a file that is too short is refused when it is opened";
    PMEM pmem;
    pmem.mmap(path(), options(Mode::exclusive));
    pmem.store("v", 1);
    pmem.alloc<double>("A", Dimensions{rows, columns});
    for (std::uint64_t i = 0; i < rows; ++i) store_row(pmem, i);
    strike(&pmem.view<double>("A", box(1))[columns / 2]);
    if (IsSkipped()) return;
    pmem.munmap();
    const Repair result = repair(path(), path() + ".new");
    EXPECT_EQ(result.unreadable_bytes, pool::page_bytes);
    EXPECT_EQ(result.variables, 2u);
    pmem.mmap(path() + ".new", options(Mode::read, true));
    EXPECT_TRUE(pmem.verify().empty());
    expect_row(pmem, 0);
    expect_row(pmem, 2);
    EXPECT_EQ(pmem.load<int>("v"), 1);
}

INSTANTIATE_TEST_SUITE_P(means, PoisonTest,
                         ::testing::Values(Means::taken_away, Means::shortened, Means::poisoned),
                         [](const auto& one) -> std::string {
                             if (one.param == Means::taken_away) return "taken_away";
                             return one.param == Means::shortened ? "shortened" : "poisoned";
                         });

// Each page of a pool, under a process that has it open, before it opens it, and under repair. What is derived or records
// is among them: whoever only reads meets an error there, never a signal.
class PoisonedPage : public ::testing::Test {
protected:
    std::string path() const { return folder_ / "pool"; }
    static Options options(Mode mode) {
        Options options;
        options.max_bytes = 1 << 20;
        options.chunk_bytes = 4096;
        options.mode = mode;
        options.verify_loads = true;
        return options;
    }
    /// What is wrong with it; `is_complete`: nothing that does not need the page may be missing.
    std::string judge(const PMEM& pmem, const Owners& owners, bool is_complete) const {
        std::string wrong;
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            try {
                if (pieces_[i].load(pmem) != contents_[i] && !(is_complete && owners.pieces.contains(i)))
                    wrong += pieces_[i].name() + " has another content\n";
            } catch (const Error& error) {
                if (is_complete && !owners.pieces.contains(i))
                    wrong += pieces_[i].name() + " is lost: " + error.what() + "\n";
            }
        }
        return wrong;
    }
    /// In a process of its own, which a signal may end.
    std::string judge_page(std::uint64_t page, const Owners& owners) const {
        Poison poison;
        PMEM pmem;
        pmem.mmap(path(), options(Mode::read));
        poison.strike(path(), page);
        std::string wrong = judge(pmem, owners, false);
        try {
            if (pmem.verify().empty() && !owners.pieces.empty()) wrong += "verify finds nothing\n";
        } catch (
            const Error& error) {  // of the page with the pool's state, without which nothing can be told
            if (error.kind() != Code::io_error) wrong += std::string("verify: ") + error.what() + "\n";
        }
        pmem.munmap();
        try {
            pmem.mmap(path(), options(Mode::read));
            wrong += judge(pmem, owners, false);
            pmem.munmap();
        } catch (const Error& error) {
            if (error.kind() != Code::io_error) wrong += std::string("opening: ") + error.what() + "\n";
        }
        try {
            fs::remove(path() + ".new");
            repair(path(), path() + ".new");
            pmem.mmap(path() + ".new", options(Mode::read));
            wrong += judge(pmem, owners, true);
            for (const Damage& damage : pmem.verify()) wrong += "the new pool: " + damage.what + "\n";
        } catch (const Error& error) {
            wrong += std::string("repair: ") + error.what() + "\n";
        }
        return wrong;
    }

    Folder folder_{"/dev/shm"};  // on a disk repair brings back nothing of an older step
    std::vector<Piece> pieces_;
    std::vector<std::string> contents_;
};

TEST_F(PoisonedPage, is_told_without_a_signal_and_spares_the_rest) {
    std::uint64_t used_bytes = 0;
    {
        PMEM pmem;
        pmem.mmap(path(), options(Mode::exclusive));
        fill_sample(pmem);
        pieces_ = pieces_of(pmem);
        for (const Piece& piece : pieces_) contents_.push_back(piece.load(pmem));
        used_bytes = pmem.info().allocated_bytes;
    }
    const auto owners = owners_of(folder_.path(), "pool", pieces_);
    for (std::uint64_t page = 0; page * pool::page_bytes < used_bytes; ++page) {
        const auto found = owners.find({"pool", page});
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(300);
            std::string wrong;
            try {
                wrong = judge_page(page, found == owners.end() ? Owners{} : found->second);
            } catch (const std::exception& error) {
                wrong = std::string("nobody caught: ") + error.what() + "\n";
            }
            if (!wrong.empty())
                std::fprintf(stderr, "page %llu:\n%s", static_cast<unsigned long long>(page), wrong.c_str());
            ::_exit(wrong.empty() ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_FALSE(WIFSIGNALED(status)) << "page " << page << ": dies of signal " << WTERMSIG(status);
        EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "page " << page;
    }
}

}  // namespace
}  // namespace pmemcpy::faults
