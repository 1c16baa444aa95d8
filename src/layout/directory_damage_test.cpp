// Somebody has done something to the files of a pool in a directory, or asks for what it is not.

#include "layout/directory_suite.hpp"
#include "pool/geometry.hpp"

namespace pmemcpy::layout {
namespace {

TEST_F(directory_layout, a_symbolic_link_planted_in_it_leads_nowhere) {
    open();
    const Folder outside;
    fs::create_directory_symlink(outside.path(), in("a"));
    store("a/b", ramp(100));
    EXPECT_TRUE(fs::is_empty(outside.path()));
    EXPECT_EQ(load("a/b", 100), ramp(100));
    pmem_.erase("a/b");
    pmem_.erase("a");
    EXPECT_TRUE(fs::is_symlink(in("a")));
}

TEST_F(directory_layout, a_missing_payload_is_corrupt_and_verify_tells) {
    open();
    store("A", ramp(1000));
    pmem_.store("text", std::string(1000, 't'));
    store("fine", ramp(10));
    pmem_.munmap();
    for (const char* name : {"A", "text"}) {
        for (const fs::path& payload : payloads()) {
            if (fs::equivalent(payload, in(name))) fs::remove(payload);
        }
    }
    open();
    expect_error(Code::corrupt, "'A'", [&] { load("A", 1000); });
    expect_error(Code::corrupt, "'A'", [&] { static_cast<void>(pmem_.view<double>("A", Box{{0}, {1000}})); });
    expect_error(Code::corrupt, "'text'", [&] { pmem_.load<std::string>("text"); });
    EXPECT_EQ(load("fine", 10), ramp(10));
    std::set<std::string> damaged;
    for (const Damage& damage : pmem_.verify()) damaged.insert(damage.id);
    EXPECT_EQ(damaged, (std::set<std::string>{"A", "text"}));
    pmem_.erase("A");
    store("A", ramp(1000));
    EXPECT_EQ(load("A", 1000), ramp(1000));
}

TEST_F(directory_layout, a_truncated_payload_is_corrupt_and_no_signal) {
    open();
    store("A", ramp(10'000));
    pmem_.munmap();
    fs::resize_file(payloads()[0], 100);
    open();
    expect_error(Code::corrupt, "'A'", [&] { load("A", 10'000); });
    EXPECT_EQ(pmem_.verify().size(), 1u);
}

TEST_F(directory_layout, the_other_layout_is_refused_with_advice) {
    open();
    store("A", ramp(10));
    pmem_.munmap();
    PMEM other;
    const std::string records = in(".pool");
    expect_error(Code::unsupported, "directory", [&] { other.mmap(records); });
    expect_error(Code::unsupported, "directory", [&] { other.mmap(records, options(Mode::replace)); });
    Options as_file = options();
    as_file.layout = Layout::file;
    expect_error(Code::unsupported, "directory", [&] { other.mmap(path(), as_file); });
    const std::string file = here_ / "file";
    other.mmap(file, options());
    other.store("v", 1);
    other.munmap();
    Options as_directory = options();
    as_directory.layout = Layout::directory;
    expect_error(Code::unsupported, "file", [&] { other.mmap(file, as_directory); });
    expect_error(Code::unsupported, "file", [&] { other.mmap(file + "/", options()); });
    fs::create_directory(here_ / "moved");
    fs::rename(file, here_ / "moved/.pool");
    expect_error(Code::unsupported, "one file", [&] { other.mmap(here_ / "moved", options()); });
    open();
    EXPECT_EQ(load("A", 10), ramp(10)) << "nothing was touched";
}

TEST_F(directory_layout, unknown_features_are_unsupported) {
    open();
    pmem_.munmap();
    std::fstream file(in(".pool"), std::ios::in | std::ios::out | std::ios::binary);
    pool::Superblock super{};
    file.read(reinterpret_cast<char*>(&super), sizeof super);
    super.features |= 1ULL << 40;
    super.checksum = pool::checksum_of(super);
    file.seekp(0);
    file.write(reinterpret_cast<const char*>(&super), sizeof super);
    file.close();
    expect_error(Code::unsupported, "newer", [&] { open(); });
}

TEST_F(directory_layout, a_replace_that_was_killed_leaves_nothing) {
    open();
    store("A", ramp(1000));
    pmem_.munmap();
    fs::remove(in(".pool"));
    open();
    EXPECT_TRUE(pmem_.ids().empty());
    EXPECT_TRUE(payloads().empty());
    EXPECT_TRUE(names().empty());
}

TEST_F(directory_layout, is_not_made_where_other_things_are) {
    fs::create_directory(in(""));
    std::ofstream(in("thesis.tex")) << "text";
    expect_error(Code::invalid_argument, "thesis.tex", [&] { open(); });
    expect_error(Code::not_found, "", [&] { open(Mode::read); });
    EXPECT_FALSE(fs::exists(in(".data")));
    EXPECT_TRUE(fs::exists(in("thesis.tex")));
}

TEST_F(directory_layout, a_file_that_somebody_put_there_stays) {
    open();
    std::ofstream(in("notes")) << "mine";
    pmem_.store("notes", std::string(1000, 'x'));
    pmem_.erase("notes");
    EXPECT_EQ(names(), std::set<std::string>{"notes"});
    EXPECT_EQ(fs::file_size(in("notes")), 4u);
}

TEST_F(directory_layout, a_lost_payload_directory_is_told_of) {
    open();
    store("A", ramp(1000));
    pmem_.munmap();
    fs::remove_all(in(".data"));
    expect_error(Code::corrupt, ".data", [&] { open(); });
}

}  // namespace
}  // namespace pmemcpy::layout
