#include "cli/call/bus_error.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>

#include "tests/folder.hpp"

// A view of a pool that somebody truncates is memory that is gone.
TEST(cli_bus_error, is_a_message_and_a_status) {
    const pmemcpy::Folder folder;
    const auto read_behind_the_end = [&] {
        pmemcpy::cli::end_on_bus_error();
        std::FILE* file = std::fopen((folder / "short").c_str(), "w+");
        void* memory = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
        static_cast<void>(*static_cast<const volatile char*>(memory));
    };
    EXPECT_EXIT(read_behind_the_end(), testing::ExitedWithCode(6), "pmemcpy repair");
}
