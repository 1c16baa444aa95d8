// Power loss on what lies below a pool. A file system keeps what was synced: of a file its bytes at its last fsync, of a directory its names
// at its own; what came later may be there or not. The power goes before every call that changes something below, and what a survivor then
// finds is what was acknowledged: in a pool that loses nothing itself (DAX memory), and in one that loses all since its last sync (a page cache);
// and where the pool is lost altogether, what is made again of the flush target is what was flushed.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <pmemcpy/tiers.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "content.hpp"
#include "os/calls.hpp"
#include "pmem/sides.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::crash {
namespace {

namespace fs = std::filesystem;

constexpr int died = 77;  // exit status of a process whose power was cut
constexpr std::uint64_t never = ~std::uint64_t{0};

bool is_long() { return std::getenv("PMEMCPY_LONG") != nullptr; }

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
void write_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), std::streamsize(bytes.size()));
}

/// What of the things that were not synced is there when the power is back.
struct Luck {
    std::string name;
    std::function<bool()> has_names;  // of a directory, those that it has now
    std::function<bool()> has_bytes;  // of a file, those that it has now
};

/// A directory as a disk would keep it: its files lie in memory, and what was synced beside them.
class Disk {
public:
    /// The pool's file is behind a page cache too, or in memory that loses nothing.
    Disk(const fs::path& folder, bool pool_is_paged)
        : folder_(folder), pool_is_paged_(pool_is_paged), state_(shared_state()) {
        current = this;
        clear();
    }
    ~Disk() {
        current = nullptr;
        ::munmap(state_, sizeof(State));
    }
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;

    std::string root() const { return folder_ / "below"; }
    std::string pool() const { return folder_ / "pool"; }

    void clear() {
        for (const char* name : {"below", "kept", "image", "pool", "pool.rt"}) fs::remove_all(folder_ / name);
        fs::create_directory(root());
        fs::create_directory(folder_ / "kept");
        *state_ = State{};
        keep_names(root());
    }

    /// From here on this process works on it, until the power goes before this call of those that change something.
    void run(std::uint64_t cut_at) {
        is_running_ = true;
        cut_at_ = cut_at;
    }
    std::uint64_t calls() const { return state_->calls; }
    void acknowledge() { ++state_->acknowledged; }
    std::size_t acknowledged() const { return state_->acknowledged; }
    /// How many verbs were acknowledged when the pool was synced last.
    std::size_t synced() const { return state_->synced; }
    bool is_pool_synced() const { return fs::exists(folder_ / "kept" / "pool"); }

    /// What lies below becomes what is left of it.
    void lose_below(const Luck& luck) {
        fs::remove_all(folder_ / "image");
        put(root(), inode_of(root()), folder_ / "image", luck);
        fs::remove_all(folder_ / "was");
        fs::rename(root(), folder_ / "was");
        fs::rename(folder_ / "image", root());
    }
    void restore_below() {
        fs::remove_all(root());
        fs::rename(folder_ / "was", root());
    }
    /// In its own inode, by which a target knows whose it is.
    void lose_pool() {
        const std::string kept = bytes_of(folder_ / "kept" / "pool");
        fs::resize_file(pool(), kept.size());
        std::fstream(pool(), std::ios::binary | std::ios::in | std::ios::out)
            .write(kept.data(), std::streamsize(kept.size()));
    }

    static os::Calls calls_of_it() {
        os::Calls t = os::system_calls();
        t.open = [](const char* path, int flags, mode_t mode) {
            if ((flags & O_CREAT) != 0 && is_below(path)) change();
            return os::system_calls().open(path, flags, mode);
        };
        t.openat = [](int at, const char* path, int flags, mode_t mode) {
            if ((flags & O_CREAT) != 0 && is_below(at)) change();
            return os::system_calls().openat(at, path, flags, mode);
        };
        t.mkdirat = [](int at, const char* path, mode_t mode) {
            if (is_below(path) || is_below(at)) change();
            return os::system_calls().mkdirat(at, path, mode);
        };
        t.pwrite = [](int fd, const void* bytes, size_t size, off_t offset) {
            if (is_below(fd)) change();
            return os::system_calls().pwrite(fd, bytes, size, offset);
        };
        t.ftruncate = [](int fd, off_t size) {
            if (is_below(fd)) change();
            return os::system_calls().ftruncate(fd, size);
        };
        t.fallocate = [](int fd, int mode, off_t offset, off_t length) {
            if (is_below(fd)) change();
            return os::system_calls().fallocate(fd, mode, offset, length);
        };
        t.unlinkat = [](int at, const char* path, int flags) {
            if (is_below(at)) change();
            return os::system_calls().unlinkat(at, path, flags);
        };
        t.renameat = [](int from_at, const char* from, int to_at, const char* to) {
            if (is_below(from_at)) change();
            return os::system_calls().renameat(from_at, from, to_at, to);
        };
        t.renameat2 = [](int from_at, const char* from, int to_at, const char* to, unsigned flags) {
            if (is_below(from_at)) change();
            return os::system_calls().renameat2(from_at, from, to_at, to, flags);
        };
        t.fsync = [](int fd) { return synced(fd, os::system_calls().fsync); };
        t.fdatasync = [](int fd) { return synced(fd, os::system_calls().fdatasync); };
        t.syncfs = [](int fd) {
            change();
            const int result = os::system_calls().syncfs(fd);
            if (current->is_running_ && is_below(fd)) current->keep_all(current->root());
            return result;
        };
        t.fstatfs = [](int fd, struct statfs* status) {
            const int result = os::system_calls().fstatfs(fd, status);
            status->f_type = EXT4_SUPER_MAGIC;
            return result;
        };
        t.mmap = [](void* at, size_t length, int protection, int flags, int fd, off_t offset) {
            if ((flags & MAP_SYNC) != 0 && !current->pool_is_paged_ && path_of(fd) == current->pool())
                flags = (flags & ~(MAP_SYNC | MAP_SHARED_VALIDATE)) | MAP_SHARED;
            return os::system_calls().mmap(at, length, protection, flags, fd, offset);
        };
        return t;
    }

private:
    struct Entry {
        ino_t inode = 0;
        bool is_directory = false;
        mode_t mode = 0;
    };
    using Names = std::map<std::string, Entry>;
    struct State {
        std::uint64_t calls = 0;
        std::size_t acknowledged = 0;
        std::size_t synced = 0;
    };

    static State* shared_state() {
        void* room =
            ::mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED) throw std::runtime_error("no shared memory");
        return new (room) State;
    }

    static std::string path_of(int fd) {
        std::error_code error;
        return fs::read_symlink("/proc/self/fd/" + std::to_string(fd), error).string();
    }
    static bool is_below(const std::string& path) { return path.starts_with(current->root()); }
    static bool is_below(int fd) { return fd >= 0 && is_below(path_of(fd)); }
    static void change() {
        if (current->is_running_ && current->state_->calls++ == current->cut_at_) ::_exit(died);
    }
    static int synced(int fd, int (*call)(int)) {
        const std::string path = path_of(fd);
        const bool is_pool = current->pool_is_paged_ && path == current->pool();
        if (is_pool || is_below(path)) change();
        const int result = call(fd);
        if (!current->is_running_) return result;
        if (is_pool) {
            write_bytes(current->folder_ / "kept" / "pool", bytes_of(current->pool()));
            current->state_->synced = current->state_->acknowledged;
        } else if (is_below(path)) {
            current->keep(fd, path);
        }
        return result;
    }

    static struct stat status_of(const fs::path& path) {
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) throw std::runtime_error("no " + path.string());
        return status;
    }
    static ino_t inode_of(const fs::path& path) { return status_of(path).st_ino; }
    fs::path kept(ino_t inode, const char* what) const {
        return folder_ / "kept" / (std::to_string(inode) + what);
    }

    // Of a file that has no name any more, too.
    void keep(int fd, const std::string& path) {
        struct stat status {};
        if (::fstat(fd, &status) != 0) throw std::runtime_error("no status of " + path);
        if (S_ISDIR(status.st_mode)) return keep_names(path);
        write_bytes(kept(status.st_ino, ".bytes"), bytes_of("/proc/self/fd/" + std::to_string(fd)));
    }
    void keep_names(const fs::path& directory) const {
        std::ofstream list(kept(inode_of(directory), ".names"), std::ios::trunc);
        for (const auto& [name, entry] : names_now(directory))
            list << entry.inode << " " << entry.is_directory << " " << entry.mode << " " << name << "\n";
    }
    void keep_all(const fs::path& directory) const {
        keep_names(directory);
        for (const auto& [name, entry] : names_now(directory)) {
            if (entry.is_directory) {
                keep_all(directory / name);
            } else {
                write_bytes(kept(entry.inode, ".bytes"), bytes_of(directory / name));
            }
        }
    }
    static Names names_now(const fs::path& directory) {
        Names names;
        for (const auto& each : fs::directory_iterator(directory)) {
            const struct stat status = status_of(each.path());
            names[each.path().filename()] = {status.st_ino, S_ISDIR(status.st_mode), status.st_mode & 07777U};
        }
        return names;
    }
    Names names_kept(ino_t directory) const {
        Names names;
        std::ifstream list(kept(directory, ".names"));
        Entry entry;
        std::string name;
        while (list >> entry.inode >> entry.is_directory >> entry.mode >> name) names[name] = entry;
        return names;
    }

    void put(const std::optional<fs::path>& now, ino_t inode, const fs::path& to, const Luck& luck) {
        fs::create_directory(to);
        const Names there = now ? names_now(*now) : Names{};
        const Names names = now && luck.has_names() ? there : names_kept(inode);
        for (const auto& [name, entry] : names) {
            std::optional<fs::path> known;  // where it is now, if it is
            for (const auto& [its_name, other] : there) {
                if (other.inode == entry.inode) known = *now / its_name;
            }
            if (entry.is_directory) {
                put(known, entry.inode, to / name, luck);
            } else if (known && luck.has_bytes()) {
                write_bytes(to / name, bytes_of(*known));
            } else {
                write_bytes(to / name, bytes_of(kept(entry.inode, ".bytes")));
            }
            ::chmod((to / name).c_str(), entry.mode);
        }
    }

    static inline Disk* current = nullptr;
    fs::path folder_;
    bool pool_is_paged_;
    State* state_;
    bool is_running_ = false;
    std::uint64_t cut_at_ = never;
};

std::vector<double> numbers(std::size_t count, double first) {
    std::vector<double> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = first + static_cast<double>(i);
    return all;
}

constexpr std::size_t row = 512;  // numbers of 4 KiB

void store_row(PMEM& pmem, const std::string& id, std::size_t at, double first) {
    pmem.store<double>(id, numbers(row, first).data(), Box{{at, 0}, {1, row}});
}

Hierarchy two_targets(const PMEM& pmem) {
    Hierarchy h;
    const std::string path = pmem.info().path;
    h.targets = {{.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {8e9, 1e-6}},
                 {.name = "below",
                  .path = path.substr(0, path.size() - 4) + "below",
                  .write = {1e9, 10},
                  .read = {1e9, 1e-5}}};
    h.rules = {{.match = "low", .pin = "below"}, {.match = "high", .pin = "pool"}};
    h.granularity_bytes = 4096;
    h.promotion = Promotion::never;
    h.mode = Buffering::none;  // nobody but the verbs does anything
    h.flush.threads = 1;
    return h;
}

struct Verb {
    std::string name;
    std::function<void(PMEM&)> call;
};

// Each may change one thing, so that what is found is what was there before the verb or after it.
std::vector<Verb> verbs() {
    return {
        {"alloc high",
         [](PMEM& p) {
             p.alloc<double>("high", {4, row});
         }},
        {"store high", [](PMEM& p) { store_row(p, "high", 0, 0); }},
        {"store high again", [](PMEM& p) { store_row(p, "high", 1, 1000); }},
        {"sync", [](PMEM& p) { p.sync(); }},
        {"set the hierarchy", [](PMEM& p) { set_hierarchy(p, two_targets(p)); }},
        {"alloc low",
         [](PMEM& p) {
             p.alloc<double>("low", {4, row});
         }},
        {"store below", [](PMEM& p) { store_row(p, "low", 0, 5000); }},
        {"store below again", [](PMEM& p) { store_row(p, "low", 1, 6000); }},
        {"flush", [](PMEM& p) { flush(p); }},
        {"overwrite high", [](PMEM& p) { store_row(p, "high", 0, 100); }},
        {"flush the new one", [](PMEM& p) { flush(p); }},
        {"sync after flushing", [](PMEM& p) { p.sync(); }},
        {"move to the copies", [](PMEM& p) { move(p, "high", "below"); }},
        {"overwrite what lives in a copy", [](PMEM& p) { store_row(p, "high", 1, 1100); }},
        {"overwrite below", [](PMEM& p) { store_row(p, "low", 0, 5100); }},
        {"move up", [](PMEM& p) { move(p, "high", "pool"); }},
        {"move up what was below", [](PMEM& p) { move(p, "low", "pool"); }},
        {"sync after moving up", [](PMEM& p) { p.sync(); }},
        {"move down without a copy", [](PMEM& p) { move(p, "low", "below"); }},
        {"store below once more", [](PMEM& p) { store_row(p, "low", 2, 7000); }},
        {"sync what was stored below", [](PMEM& p) { p.sync(); }},
        {"store a value", [](PMEM& p) { p.store("v", std::string(6000, 'v')); }},
        {"flush with a value", [](PMEM& p) { flush(p); }},
        {"attribute", [](PMEM& p) { p.set_attribute("v", "note", std::string(3000, 'n')); }},
        {"flush with an attribute", [](PMEM& p) { flush(p); }},
        {"erase below", [](PMEM& p) { p.erase("low"); }},
        {"drop after flushing",
         [](PMEM& p) {
             Hierarchy h = two_targets(p);
             h.rules = {{.match = "high", .drop_after_flush = true}};
             set_hierarchy(p, h);
         }},
        {"flush and drop", [](PMEM& p) { flush(p); }},
        {"sync after dropping", [](PMEM& p) { p.sync(); }},
        {"step",
         [](PMEM& p) {
             p.begin(1);
             store_row(p, "high", 2, 2000);
             p.commit(1);
         }},
        {"flush the step", [](PMEM& p) { flush(p); }},
        {"move all up", [](PMEM& p) { move(p, "/", "pool"); }},
        {"remove the hierarchy", [](PMEM& p) { remove_hierarchy(p); }},
        {"sync at the end", [](PMEM& p) { p.sync(); }},
    };
}

class PowerLossBelow : public ::testing::TestWithParam<bool> {
protected:
    /// What is left of it.
    enum class Pool { whole, as_synced, gone };
    std::vector<std::pair<Pool, std::string>> pools() const {
        std::vector<std::pair<Pool, std::string>> all = {{Pool::whole, "whole"}, {Pool::gone, "gone"}};
        if (is_paged()) all.emplace_back(Pool::as_synced, "as it was synced");
        return all;
    }
    bool is_paged() const { return GetParam(); }

    Options options() const {
        Options options;
        options.max_bytes = 256 * 1024;
        options.chunk_bytes = 4096;
        return options;
    }
    void open(PMEM& pmem) const {
        pmem.mmap(disk_.pool(), options());
        pmem::Sides::of(pmem).shared()->set_on_hierarchy({});  // no thread beside
    }

    /// Whether its power was cut.
    bool run_until(std::uint64_t call) {
        disk_.clear();
        const pid_t child = ::fork();
        if (child == 0) {
            disk_.run(call);
            try {
                PMEM pmem;
                open(pmem);
                for (const Verb& verb : verbs_) {
                    verb.call(pmem);
                    disk_.acknowledge();
                }
                pmem.munmap();
                ::_exit(0);
            } catch (const std::exception& error) {
                std::fprintf(stderr, "after %zu verbs: %s\n", disk_.acknowledged(), error.what());
                ::_exit(1);
            }
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != died))
            ADD_FAILURE() << "the process ended with " << status;
        return WIFEXITED(status) && WEXITSTATUS(status) == died;
    }

    /// What there is after each verb; of none, nothing.
    std::vector<Content> contents() {
        disk_.clear();
        std::vector<Content> all(1);
        PMEM pmem;
        open(pmem);
        for (const Verb& verb : verbs_) {
            verb.call(pmem);
            all.push_back(observe(pmem, Grain::element));
            if (hierarchy_of(pmem)) all.back()["the hierarchy"] = 0;
        }
        return all;
    }

    /// How many verbs were acknowledged when the last that is called so was.
    std::size_t since(const std::string& beginning) const {
        std::size_t count = disk_.acknowledged();
        while (count > 0 && !verbs_[count - 1].name.starts_with(beginning)) --count;
        return count;
    }

    /// What is wrong with what a survivor finds; empty if nothing is.
    std::string survive(const std::vector<Content>& all, Pool pool) {
        fs::remove(disk_.pool() + ".rt");
        if (pool == Pool::gone) return make_again(all);
        const std::size_t acknowledged = disk_.acknowledged();
        const std::size_t first = is_paged() ? since("sync") : acknowledged;
        const std::size_t last = (pool == Pool::as_synced ? disk_.synced() : acknowledged) + 1;
        PMEM survivor;
        open(survivor);
        Content found = observe(survivor, Grain::element);
        if (hierarchy_of(survivor)) found["the hierarchy"] = 0;
        if (std::string wrong = judge(found, all, first, std::min(last, all.size() - 1)); !wrong.empty())
            return wrong;
        if (const auto damages = survivor.verify(); !damages.empty()) return "verify: " + damages[0].what;
        if (hierarchy_of(survivor)) {
            flush(survivor);
            if (unflushed(survivor).of_blocks != 0) return "something cannot be flushed";
        }
        if (survivor.exists("high")) store_row(survivor, "high", 3, 9000);
        survivor.munmap();
        open(survivor);
        for (const auto& [key, hash] : observe(survivor, Grain::element)) {
            if (key != "high[3]" && (!found.contains(key) || found.at(key) != hash))
                return key + " is another then";
        }
        if (const auto damages = survivor.verify(); !damages.empty())
            return "verify then: " + damages[0].what;
        return {};
    }

    std::string make_again(const std::vector<Content>& all) {
        const std::size_t flushed = since("flush");
        const std::size_t last = std::min(disk_.acknowledged() + 1, all.size() - 1);
        // Who takes the hierarchy away takes away what was flushed.
        if (flushed == 0 || !all[last].contains("the hierarchy")) return {};
        const std::string again = folder_ / "again";
        fs::rename(disk_.pool(), folder_ / "lost");
        std::string wrong;
        try {
            rebuild(disk_.root(), again);
            PMEM pmem;
            pmem.mmap(again);
            Content found = observe(pmem, Grain::element);
            if (hierarchy_of(pmem)) found["the hierarchy"] = 0;
            wrong = judge(found, all, flushed, last);
            if (const auto damages = pmem.verify(); wrong.empty() && !damages.empty())
                wrong = "verify: " + damages[0].what;
        } catch (const std::exception& error) {
            wrong = error.what();
        }
        for (const char* ending : {"", ".rt", ".heat"}) fs::remove(again + ending);
        fs::rename(folder_ / "lost", disk_.pool());
        return wrong.empty() ? wrong : "made again: " + wrong;
    }

    // Each thing as it was after one of these verbs; behind a page cache what came after a sync may be there in part.
    static std::string judge(const Content& found, const std::vector<Content>& all, std::size_t first,
                             std::size_t last) {
        for (const auto& [key, hash] : found) {
            bool is_known = false;
            for (std::size_t i = first; i <= last; ++i) {
                const auto then = all[i].find(key);
                is_known = is_known || (then != all[i].end() && then->second == hash);
            }
            if (!is_known) return key + " is as it never was";
        }
        for (const auto& [key, hash] : all[first]) {
            bool is_always = true;
            for (std::size_t i = first; i <= last; ++i) is_always = is_always && all[i].contains(key);
            if (is_always && !found.contains(key)) return key + " is gone";
        }
        return {};
    }

    std::vector<Luck> lucks(std::uint64_t call) {
        const auto always = [](bool what) { return [what] { return what; }; };
        std::vector<Luck> all = {{"nothing that was not synced", always(false), always(false)},
                                 {"names, not bytes", always(true), always(false)},
                                 {"everything", always(true), always(true)}};
        auto random = std::make_shared<std::mt19937_64>(call);
        const auto perhaps = [random] { return (*random)() % 2 == 0; };
        for (int i = 0; i < (is_long() ? 5 : 1); ++i)
            all.push_back({"some of it, " + std::to_string(i), perhaps, perhaps});
        return all;
    }

    Folder folder_;
    Disk disk_{folder_.path(), GetParam()};
    os::ScopedCalls calls_{Disk::calls_of_it()};
    const std::vector<Verb> verbs_ = verbs();
};

TEST_P(PowerLossBelow, leaves_everything_acknowledged) {
    const std::vector<Content> all = contents();
    {
        PMEM pmem;
        open(pmem);
        ASSERT_EQ(pmem.durability(), is_paged() ? Durability::page : Durability::line);
    }
    ASSERT_FALSE(run_until(never));
    const std::uint64_t calls = disk_.calls();
    ASSERT_GT(calls, 100U) << "somebody has looked at other calls than those that there are";
    std::size_t images = 0;
    for (std::uint64_t call = 0; call < calls; ++call) {
        ASSERT_TRUE(run_until(call)) << "at call " << call;
        const std::size_t verb = disk_.acknowledged();
        if (is_paged() && !disk_.is_pool_synced()) continue;  // of such a pool nothing is promised yet
        const std::string pool = bytes_of(disk_.pool());
        for (const auto& [how, name] : pools()) {
            for (const Luck& luck : lucks(call)) {
                if (how == Pool::as_synced) disk_.lose_pool();
                disk_.lose_below(luck);
                std::string wrong;
                try {
                    wrong = survive(all, how);
                } catch (const std::exception& error) {
                    wrong = error.what();
                }
                ++images;
                EXPECT_EQ(wrong, "") << "call " << call << " of '"
                                     << (verb < verbs_.size() ? verbs_[verb].name : "closing") << "', with "
                                     << luck.name << ", the pool " << name;
                if (HasFailure()) return;
                disk_.restore_below();
                fs::resize_file(disk_.pool(), pool.size());
                std::fstream(disk_.pool(), std::ios::binary | std::ios::in | std::ios::out)
                    .write(pool.data(), std::streamsize(pool.size()));
            }
        }
    }
    std::printf("power cut at %llu calls, %zu images\n", static_cast<unsigned long long>(calls), images);
}

INSTANTIATE_TEST_SUITE_P(every, PowerLossBelow, ::testing::Bool(), [](const auto& is_paged) {
    return std::string(is_paged.param ? "behind_a_page_cache" : "in_memory_that_loses_nothing");
});

}  // namespace
}  // namespace pmemcpy::crash
