// Processes of one user move variables between what is private and what is shared, and are killed at it.

#include <pmemcpy/scope.hpp>

#include <iterator>

#include "worker.hpp"

using namespace pmemcpy;
using namespace processes;

namespace {

constexpr int variables = 4;
const std::string hidden = "hidden!!";

std::string id_of(int i) { return "group/v" + std::to_string(i); }

std::string text_of(int i) {
    std::string text;
    while (text.size() < 100U << (4 * i)) text += hidden;
    return text;
}

Options options_of(Mode mode) {
    Options options;
    options.mode = mode;
    options.max_bytes = 16 << 20;
    options.chunk_bytes = 64 << 10;
    options.wipe = true;
    return options;
}

// Moves what it draws, until it is killed. Whoever else moves meanwhile makes it wait (busy).
const Job mover("mover", [](const Arguments& arguments) {
    std::minstd_rand random(static_cast<unsigned>(std::stoul(arguments[1])));
    PMEM pool;
    pool.mmap(arguments[0], options_of(Mode::update));
    for (;;) {
        try {
            const bool takes_all = random() % 4 == 0;
            set_scope(pool, takes_all ? "group" : id_of(static_cast<int>(random() % variables)),
                      random() % 2 == 0 ? Scope::shared : Scope::own);
        } catch (const Error& error) {
            if (error.kind() != Code::busy && error.kind() != Code::not_found) throw;
        }
    }
    return 0;
});

bool is_in_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    return all.find(hidden) != std::string::npos;
}

}  // namespace

TEST(processes, killed_while_they_move_what_is_private_lose_nothing_and_leave_nothing_behind) {
    const Folder folder;
    const std::string path = folder / "pool";
    std::mt19937_64 random(seed());
    {
        PMEM pool;
        pool.mmap(path, options_of(Mode::create_or_update));
        for (int i = 0; i < variables; ++i) {
            pool.store(id_of(i), text_of(i));
            pool.set_attribute(id_of(i), "note", hidden);
        }
        pool.store("public", 1);
    }
    int both_sides = 0;
    const int kills = is_long() ? 3000 : 30;
    for (int kill = 0; kill < kills; ++kill) {
        {
            Worker first("mover", {path, std::to_string(random() % 1'000'000)});
            Worker second("mover", {path, std::to_string(random() % 1'000'000)});
            sleep_us(5'000 + random() % 40'000);
            first.kill();
            sleep_us(random() % 5'000);
            second.kill();
        }
        PMEM pool;
        pool.mmap(path, options_of(Mode::update));
        bool is_all_private = true;
        for (int i = 0; i < variables; ++i) {
            ASSERT_EQ(pool.load<std::string>(id_of(i)), text_of(i)) << "after kill " << kill;
            ASSERT_EQ(pool.get_attribute<std::string>(id_of(i), "note"), hidden);
            is_all_private = is_all_private && scope_of(pool, id_of(i)) == Scope::own;
        }
        ASSERT_EQ(pool.ids().size(), variables + 1U);
        ASSERT_TRUE(pool.verify().empty());
        both_sides += is_all_private ? 0 : 1;
        if (is_all_private) {
            ASSERT_FALSE(is_in_file(path)) << "after kill " << kill;
        }
        if (kill % 10 == 9) {
            set_scope(pool, "group", Scope::own);
            ASSERT_FALSE(is_in_file(path)) << "after kill " << kill;
        }
        pool.munmap();
        const catalog::Audit audit = Inside(path).audit();
        expect_clean(audit);
        ASSERT_EQ(audit.unwiped, 0U);
    }
    std::cout << kills << " pairs killed, " << both_sides << " with something shared\n";
}
