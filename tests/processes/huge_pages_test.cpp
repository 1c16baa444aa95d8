// A pool on hugetlbfs: files without write(), of whole huge pages, and SIGBUS where none is left.

#include "worker.hpp"

#include <sys/mount.h>

namespace {

using namespace processes;
using pmemcpy::Box;
using pmemcpy::Code;
using pmemcpy::PMEM;

class HugePages : public ::testing::Test {
protected:
    void SetUp() override {
        if (::mount("none", folder.path().c_str(), "hugetlbfs", 0, "pagesize=2M") != 0)
            GTEST_SKIP() << "hugetlbfs cannot be mounted here";
        mounted = true;
        int free = 0;
        std::ifstream("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") >> free;
        if (free < 40) GTEST_SKIP() << "needs 40 free huge pages: echo 64 >/proc/sys/vm/nr_hugepages";
        options.max_bytes = 32 << 20;
    }
    ~HugePages() override {
        pmem.munmap();
        if (mounted) ::umount(folder.path().c_str());
    }
    const Folder folder;
    bool mounted = false;
    pmemcpy::Options options;
    PMEM pmem;
};

TEST_F(HugePages, hold_a_pool_like_any_other) {
    pmem.mmap(folder / "pool", options);
    EXPECT_EQ(pmem.durability(), pmemcpy::Durability::none);
    pmem.store("v", 42);
    const std::vector<double> data(100'000, 1.5);
    pmem.alloc<double>("A", {data.size()});
    pmem.store("A", data.data(), Box{{0}, {data.size()}});
    pmem.prepare(16 << 20);
    for (int i = 0; i < 50; ++i) pmem.store("text", std::string(1 << 20, static_cast<char>('a' + i % 26)));
    pmem.trim();
    Worker reader("read_huge", Arguments{folder / "pool"});
    EXPECT_EQ(reader.wait(), 0);
    pmem.munmap();
    pmem.mmap(folder / "pool", options);
    EXPECT_EQ(pmem.load<int>("v"), 42);
    EXPECT_TRUE(pmem.verify().empty());
    expect_error(Code::no_space, [&] { pmem.store("large", std::string(40 << 20, 'x')); });
    EXPECT_EQ(pmem.load<int>("v"), 42);
}

// What the source costs in page faults is no sign of small pages in the pool: zeros that nobody has touched cost one for each
// 4 KiB, and a write call, which hugetlbfs refuses, was tried for them.
TEST_F(HugePages, take_what_has_never_been_touched) {
    pmem.mmap(folder / "pool", options);
    constexpr std::size_t bytes = 8 << 20;
    void* source = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(source, MAP_FAILED);
    pmem.alloc<std::byte>("zeros", {bytes});
    pmem.store("zeros", static_cast<const std::byte*>(source), Box{{0}, {bytes}});
    ::munmap(source, bytes);
    std::vector<std::byte> back(bytes, std::byte{1});
    pmem.load("zeros", back.data(), Box{{0}, {bytes}});
    EXPECT_EQ(back, std::vector<std::byte>(bytes));
}

int read_huge(const Arguments& arguments) {
    PMEM pmem;
    pmemcpy::Options options;
    options.mode = pmemcpy::Mode::read;
    pmem.mmap(arguments[0], options);
    double last = 0;
    pmem.load("A", &last, Box{{99'999}, {1}});
    return pmem.load<int>("v") == 42 && last == 1.5 ? 0 : 1;
}
const Job read_huge_job("read_huge", read_huge);

TEST_F(HugePages, that_run_out_are_an_error_and_no_signal) {
    options.max_bytes = 512 << 20;
    pmem.mmap(folder / "pool", options);
    pmem.store("v", 42);
    expect_error(Code::no_space, [&] {
        for (int i = 0; i < 300; ++i) pmem.store("text" + std::to_string(i), std::string(2 << 20, 'x'));
    });
    EXPECT_EQ(pmem.load<int>("v"), 42);
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_F(HugePages, take_neither_small_chunks_nor_a_directory_of_payloads) {
    options.chunk_bytes = 64 << 10;
    expect_error(
        Code::unsupported, [&] { pmem.mmap(folder / "pool", options); }, "2 MiB");
    options.chunk_bytes = 0;
    expect_error(
        Code::unsupported, [&] { pmem.mmap(folder / "pool/", options); }, "hugetlbfs");
}

}  // namespace
