// Every page of a pool is damaged in turn: filled with random bytes, and with one bit turned over in it. Whatever a load
// then gives without an error is right, verify names what is damaged, and repair makes a new pool of all the rest. The pool
// is so small, and its chunks too, that a page is all there is of most things. An oracle that follows the records of the
// pool in order knows what needs which page.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <sstream>
#include <vector>

#include <pmemcpy/repair.hpp>

#include "owners.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::faults {
namespace {

namespace fs = std::filesystem;

// A look at a broken chain ends after a twentieth of a second (catalog/retry.hpp), and there are many looks.
constexpr unsigned longest_judgement_s = 300;
constexpr std::size_t most_complaints = 10;
constexpr std::size_t judged_at_once = 48;

/// The files of a pool; of one in a directory without the readable names, which are derived.
using Files = std::map<std::string, std::string>;

Files read_all(const fs::path& folder) {
    Files files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const std::string name = fs::relative(entry.path(), folder).string();
        if (!entry.is_regular_file() || (name != "pool" && name[0] != '.') || name.ends_with(".rt")) continue;
        std::ostringstream bytes;
        bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
        files[name] = bytes.str();
    }
    return files;
}

struct Form {
    Layout layout;
    std::uint64_t chunk_bytes;
    std::string name() const {
        return (layout == Layout::directory ? "directory_" : "file_") + std::to_string(chunk_bytes / 1024) +
               "K";
    }
};

/// How a page is damaged: `write` changes its bytes.
struct Blow {
    std::string how;
    std::function<void(std::span<char> page, std::mt19937_64& random)> write;
};

std::vector<Blow> blows() {
    const auto flip = [](std::span<char> page, std::mt19937_64& random) {
        page[random() % page.size()] ^= static_cast<char>(1 << random() % 8);
    };
    std::vector<Blow> all = {{"random bytes", [](std::span<char> page, std::mt19937_64& random) {
                                  std::generate(page.begin(), page.end(),
                                                [&] { return static_cast<char>(random()); });
                              }}};
    const int flips = std::getenv("PMEMCPY_LONG") != nullptr ? 40 : 1;
    for (int i = 0; i < flips; ++i) all.push_back({"a bit", flip});
    return all;
}

struct Counts {
    std::uint64_t damages = 0;
    std::uint64_t lost = 0;
    std::uint64_t saved = 0;
    std::uint64_t wrong = 0;
};

class DamagedPage : public ::testing::TestWithParam<Form> {
public:
    static void TearDownTestSuite() {
        std::printf(
            "damaged: %llu pages in %zu layouts: %llu variables lost and named, %llu saved, %llu wrong\n",
            static_cast<unsigned long long>(total_.damages), forms_.size(),
            static_cast<unsigned long long>(total_.lost), static_cast<unsigned long long>(total_.saved),
            static_cast<unsigned long long>(total_.wrong));
    }

protected:
    DamagedPage() { forms_.insert(GetParam().name()); }

    std::string in(const std::string& name) const {
        return place_ + "/" + name + (GetParam().layout == Layout::directory ? "/pool/" : "/pool");
    }
    std::string home(const std::string& name) const {
        return place_ + "/" + name + (GetParam().layout == Layout::directory ? "/pool" : "");
    }
    std::string records() const { return GetParam().layout == Layout::directory ? ".pool" : "pool"; }
    Options options(Mode mode, bool checked) const {
        Options options;
        options.layout = GetParam().layout;
        options.max_bytes = 1 << 20;
        options.chunk_bytes = GetParam().chunk_bytes;
        options.mode = mode;
        options.verify_loads = checked;
        return options;
    }

    void make_sample() {
        fs::create_directories(place_ + "/whole");
        PMEM pmem;
        pmem.mmap(in("whole"), options(Mode::exclusive, false));
        fill_sample(pmem);
        pmem.munmap();
        pmem.mmap(in("whole"), options(Mode::read, true));
        pieces_ = pieces_of(pmem);
        for (const Piece& piece : pieces_) contents_.push_back(piece.load(pmem));
        used_bytes_ = pmem.info().allocated_bytes;
        ASSERT_TRUE(pmem.verify().empty());
        pmem.munmap();
        whole_ = read_all(home("whole"));
        owners_ = owners_of(home("whole"), records(), pieces_);
        fs::remove_all(place_ + "/whole");
        fs::create_directories(home("whole"));
        put(home("whole"), whole_);
    }

    static void put(const std::string& folder, const Files& files) {
        for (const auto& [name, bytes] : files) {
            fs::create_directories(fs::path(folder + "/" + name).parent_path());
            std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
        }
    }
    void fresh_copy(const std::string& name, const Files& files) const {
        fs::remove_all(place_ + "/" + name);
        fs::create_directories(home(name));
        put(home(name), files);
    }

    std::vector<Page> pages() const {
        std::vector<Page> all;
        for (const auto& [name, bytes] : whole_) {
            const std::uint64_t end =
                std::min<std::uint64_t>(bytes.size(), name == records() ? used_bytes_ : bytes.size());
            for (std::uint64_t page = 0; page * pool::page_bytes < end; ++page) all.emplace_back(name, page);
        }
        return all;
    }

    /// Tries everything on a pool that holds `files`; returns what is wrong with the outcome, line by line.
    std::string judge(const Files& files, const Owners& owners, bool is_random, Counts& counts);
    std::string judge_loads(const PMEM& pmem, const Owners& owners, bool is_checked, Counts& counts,
                            std::set<std::string>& hurt) const;
    std::string judge_verify(const PMEM& pmem, const Owners& owners, bool is_random,
                             const std::set<std::string>& hurt) const;
    std::string judge_repair(const Files& files, const Owners& owners, Counts& counts) const;

    /// The same in a process of its own, so that a signal or a hang is only one more complaint; some at a time, because
    /// whoever meets a damaged record waits whether it is only being changed.
    void judge_apart(std::string blow, const Files& files, const Owners& owners, bool is_random);
    void finish_one();

    struct Running {
        pid_t child;
        std::string blow;
        std::string folder;
    };
    std::vector<Running> running_;
    std::size_t complaints_ = 0;
    static inline Counts total_;
    static inline std::set<std::string> forms_;
    Folder folder_{"/dev/shm"};           // on a disk repair brings back nothing of an older step
    std::string place_ = folder_.path();  ///< in a judge's own process, a folder of its own in there
    std::vector<Piece> pieces_;
    std::vector<std::string> contents_;
    std::uint64_t used_bytes_ = 0;
    Files whole_;
    std::map<Page, Owners> owners_;
};

bool is_named(const std::vector<Damage>& damages, const std::string& id) {
    return std::any_of(damages.begin(), damages.end(), [&](const Damage& damage) {
        return damage.id == id || damage.what.find("'" + id + "'") != std::string::npos;
    });
}

// `hurt`: whatever cannot be loaded, or not as it was.
std::string DamagedPage::judge_loads(const PMEM& pmem, const Owners& owners, bool is_checked, Counts& counts,
                                     std::set<std::string>& hurt) const {
    std::string wrong;
    std::set<std::string> not_found;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        // Each look for a name in a broken chain takes its time, and its variable's other pieces fare no better.
        if (not_found.contains(pieces_[i].id)) continue;
        try {
            if (pieces_[i].load(pmem) == contents_[i]) continue;
            if (is_checked || !owners.pieces.contains(i)) {
                ++counts.wrong;
                wrong += pieces_[i].name() + " has another content\n";
            }
        } catch (const Error&) {
            if (!owners.names.empty()) not_found.insert(pieces_[i].id);
        }
        hurt.insert(pieces_[i].id);
    }
    return wrong;
}

std::string DamagedPage::judge_verify(const PMEM& pmem, const Owners& owners, bool is_random,
                                      const std::set<std::string>& hurt) const {
    const std::vector<Damage> damages = pmem.verify();
    std::string wrong;
    std::set<std::string> expected = hurt;
    if (is_random) {
        for (const std::size_t i : owners.pieces) expected.insert(pieces_[i].id);
    }
    for (const std::string& id : expected) {
        // A name that is damaged itself cannot be told; but that there is one can.
        if (owners.names.contains(id) ? damages.empty() : !is_named(damages, id))
            wrong += "verify does not name '" + id + "'\n";
    }
    for (const Damage& damage : damages) {
        const auto is_it = [&](std::size_t i) { return pieces_[i].id == damage.id; };
        if (damage.id.empty() || hurt.contains(damage.id)) continue;
        if (std::none_of(owners.pieces.begin(), owners.pieces.end(), is_it))
            wrong += "verify names '" + damage.id + "', which is whole: " + damage.what + "\n";
        if (!damage.box.count.empty()) {
            const bool is_known = std::any_of(owners.pieces.begin(), owners.pieces.end(), [&](std::size_t i) {
                return is_it(i) && pieces_[i].box == damage.box;
            });
            if (!is_known)
                wrong += "verify names a box of '" + damage.id + "' that is whole: " + damage.what + "\n";
        }
    }
    return wrong;
}

std::string DamagedPage::judge_repair(const Files& files, const Owners& owners, Counts& counts) const {
    std::string wrong;
    fresh_copy("damaged", files);
    fs::remove_all(place_ + "/new");
    fs::create_directories(place_ + "/new");
    const Repair result = repair(in("damaged"), in("new"));
    if (read_all(home("damaged")) != files) wrong += "repair has changed the damaged pool\n";
    PMEM pmem;
    pmem.mmap(in("new"), options(Mode::update, true));
    std::set<std::string> all;
    std::set<std::string> lost;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        std::string what = " is lost";
        const bool is_hit = owners.pieces.contains(i);
        all.insert(pieces_[i].id);
        try {
            if (pieces_[i].load(pmem) == contents_[i]) continue;
            what = " has another content";
        } catch (const Error& error) {
            what += std::string(": ") + error.what();
        }
        lost.insert(pieces_[i].id);
        if (!is_hit) wrong += "repaired, " + pieces_[i].name() + what + "\n";
    }
    for (const std::string& id : lost) {
        if (owners.names.contains(id) ? result.damages.empty() : !is_named(result.damages, id))
            wrong += "repair does not name '" + id + "'\n";
    }
    counts.lost += lost.size();
    counts.saved += all.size() - lost.size();
    for (const Damage& damage : pmem.verify())
        wrong += "the new pool's '" + damage.id + "': " + damage.what + "\n";
    pmem.store("later", std::string(3'000, 'l'));
    if (pmem.load<std::string>("later") != std::string(3'000, 'l'))
        wrong += "the new pool loses what is stored\n";
    pmem.munmap();
    return wrong;
}

std::string DamagedPage::judge(const Files& files, const Owners& owners, bool is_random, Counts& counts) {
    std::string wrong;
    std::set<std::string> hurt;
    fresh_copy("damaged", files);
    for (const bool checked : {false, true}) {
        try {
            PMEM pmem;
            pmem.mmap(in("damaged"), options(Mode::read, checked));
            wrong += judge_loads(pmem, owners, checked, counts, hurt);
            if (checked) wrong += judge_verify(pmem, owners, is_random, hurt);
        } catch (const Error& error) {
            if (error.kind() != Code::corrupt && error.kind() != Code::io_error && error.kind() != Code::busy)
                wrong += std::string("opening: ") + error.what() + "\n";
        }
    }
    if (read_all(home("damaged")) != files) wrong += "a reader has changed the damaged pool\n";
    try {
        PMEM pmem;
        pmem.mmap(in("damaged"), options(Mode::update, true));
        try {
            pmem.store("later", std::string(3'000, 'l'));
        } catch (const Error&) {
        }
        wrong += judge_loads(pmem, owners, true, counts, hurt);
    } catch (const Error& error) {
        if (error.kind() != Code::corrupt && error.kind() != Code::io_error)
            wrong += std::string("opening to write: ") + error.what() + "\n";
    }
    try {
        wrong += judge_repair(files, owners, counts);
    } catch (const Error& error) {
        wrong += std::string("repair: ") + error.what() + "\n";
    }
    return wrong;
}

void DamagedPage::judge_apart(std::string blow, const Files& files, const Owners& owners, bool is_random) {
    if (running_.size() == judged_at_once) finish_one();
    Running one{0, std::move(blow), place_ + "/" + std::to_string(++total_.damages)};
    fs::create_directory(one.folder);
    one.child = ::fork();
    if (one.child != 0) return running_.push_back(std::move(one));
    ::alarm(longest_judgement_s);
    place_ = one.folder;
    Counts counts;
    std::string wrong;
    try {
        wrong = judge(files, owners, is_random, counts);
    } catch (const std::exception& error) {
        wrong = std::string("no Error but ") + error.what() + "\n";
    }
    std::ofstream(place_ + "/report") << counts.lost << ' ' << counts.saved << ' ' << counts.wrong << '\n'
                                      << wrong;
    ::_exit(0);
}

void DamagedPage::finish_one() {
    int status = 0;
    const pid_t child = ::waitpid(-1, &status, 0);
    const auto found = std::find_if(running_.begin(), running_.end(),
                                    [&](const Running& running) { return running.child == child; });
    ASSERT_NE(found, running_.end());
    const Running one = std::move(*found);
    running_.erase(found);
    Counts counts;
    std::ostringstream wrong;
    if (WIFSIGNALED(status)) {
        wrong << (WTERMSIG(status) == SIGALRM ? "it hangs"
                                              : "it dies of signal " + std::to_string(WTERMSIG(status)));
    } else {
        std::ifstream report(one.folder + "/report");
        report >> counts.lost >> counts.saved >> counts.wrong;
        report.ignore();
        if (report.peek() != EOF) wrong << report.rdbuf();
    }
    fs::remove_all(one.folder);
    total_.lost += counts.lost;
    total_.saved += counts.saved;
    total_.wrong += counts.wrong;
    if (wrong.str().empty()) return;
    ++complaints_;
    ADD_FAILURE() << one.blow << ":\n" << wrong.str();
}

TEST_P(DamagedPage, is_told_and_spares_the_rest) {
    make_sample();
    const char* seed_text = std::getenv("PMEMCPY_SEED");
    const std::uint64_t seed = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : 7;
    std::mt19937_64 random(seed);
    for (const Page& page : pages()) {
        const Owners nobody;
        const auto found = owners_.find(page);
        const Owners& owners = found == owners_.end() ? nobody : found->second;
        for (const Blow& blow : blows()) {
            Files files = whole_;
            std::string& bytes = files.at(page.first);
            const std::uint64_t begin = page.second * pool::page_bytes;
            const std::uint64_t end = std::min<std::uint64_t>(bytes.size(), begin + pool::page_bytes);
            blow.write({bytes.data() + begin, end - begin}, random);
            const auto at = std::mismatch(bytes.begin(), bytes.end(), whole_.at(page.first).begin()).first -
                            bytes.begin();
            judge_apart(blow.how + " in page " + std::to_string(page.second) + " of " + page.first +
                            ", from byte " + std::to_string(at) + " on",
                        files, owners, blow.how != "a bit");
            if (complaints_ >= most_complaints) break;
        }
        if (complaints_ >= most_complaints) break;
    }
    while (!running_.empty()) finish_one();
}

INSTANTIATE_TEST_SUITE_P(every, DamagedPage,
                         ::testing::Values(Form{Layout::file, 4096}, Form{Layout::directory, 4096},
                                           Form{Layout::file, 16384}),
                         [](const auto& one) { return one.param.name(); });

}  // namespace
}  // namespace pmemcpy::faults
