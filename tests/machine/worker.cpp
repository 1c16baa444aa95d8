// What the tests run inside of the machine.
//
//   worker make POOL                 a pool whose space is allocated at once
//   worker crowd FOLDER SEED PROCESSES POOL [CONTROL]
//                                    stores until it is killed; the ledgers are in FOLDER, and so is the file `go` as
//                                    soon as each process has stored something
//   worker check FOLDER PROCESSES POOL
//                                    compares a pool with its ledgers, and settles them
//   worker use POOL                  stores, loads, erases and trims, and looks again after reopening

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "member.hpp"
#include "tests/inside.hpp"

namespace machine {
namespace {

using Arguments = std::vector<std::string>;
using pmemcpy::Durability;
using pmemcpy::Mode;
using pmemcpy::Options;
using pmemcpy::PMEM;

Options options_of(Mode mode) {
    Options options;
    options.mode = mode;
    return options;
}

std::string ledger_path(const std::string& folder, const std::string& pool, std::uint64_t who) {
    return folder + "/" + std::filesystem::path(pool).filename().string() + "." + std::to_string(who);
}

int make(const Arguments& arguments) {
    Options options = options_of(Mode::exclusive);
    options.max_bytes = options.initial_bytes = 64 << 20;
    options.chunk_bytes = 64 << 10;
    PMEM().mmap(arguments.at(0), options);
    return 0;
}

int crowd(const Arguments& arguments) {
    const std::string& folder = arguments.at(0);
    const std::uint64_t seed = std::stoull(arguments.at(1));
    const std::uint64_t processes = std::stoull(arguments.at(2));
    std::array<int, 2> begun{};
    if (::pipe(begun.data()) != 0) return 1;
    const auto start = [&](const std::string& pool, std::uint64_t who, bool syncs) {
        if (::fork() != 0) return;
        try {
            Member member(pool, ledger_path(folder, pool, who), who, seed + who, syncs);
            member.begin();
            if (::write(begun[1], "", 1) == 1) member.go_on();
        } catch (const std::exception& error) {
            std::cerr << "process " << who << " ended by: " << error.what() << std::endl;
        }
        ::_exit(1);
    };
    for (std::uint64_t who = 0; who < processes; ++who) start(arguments.at(3), who, true);
    if (arguments.size() > 4) start(arguments[4], 0, false);
    ::close(begun[1]);
    char one = 0;
    for (std::size_t count = processes + arguments.size() - 4; count > 0; --count) {
        if (::read(begun[0], &one, 1) != 1) return 1;
    }
    std::ofstream(folder + "/go").close();
    ::wait(nullptr);  // none ends before the machine does
    return 1;
}

std::vector<std::string> audit(const std::string& pool) {
    pmemcpy::Inside inside(pool, pmemcpy::MapSync::automatic);
    const auto audit = inside.audit();
    std::vector<std::string> wrong = audit.complaints;
    if (!audit.is_clean() && wrong.empty()) wrong.emplace_back("space is lost");
    return wrong;
}

int check(const Arguments& arguments) {
    const std::string& pool = arguments.at(2);
    std::vector<std::string> wrong = audit(pool);
    PMEM pmem;
    pmem.mmap(pool, options_of(Mode::update));
    const bool is_page = pmem.durability() == Durability::page;
    std::uint64_t acknowledged = 0, unsynced_lost = 0;
    for (std::uint64_t who = 0; who < std::stoull(arguments.at(1)); ++who) {
        Ledger ledger(ledger_path(arguments.at(0), pool, who));
        States found = look(pmem, who, wrong);
        for (const Entry& entry : ledger.entries()) {
            for (std::uint64_t i = entry.unit.first; i < entry.unit.first + entry.unit.count; ++i)
                found.try_emplace({entry.unit.kind, i}, 0);
        }
        const auto judged =
            judge(ledger.entries(), found, is_page ? Acknowledged::by_sync : Acknowledged::by_return);
        acknowledged += judged.acknowledged;
        wrong.insert(wrong.end(), judged.lost.begin(), judged.lost.end());
        if (is_page) unsynced_lost += judge(ledger.entries(), found, Acknowledged::by_return).lost.size();
        // The next crash is judged by what is there now.
        for (const auto& [key, state] : found) ledger.add(Word::found, {key.first, key.second, 1, state});
        pmem.sync();
        ledger.add(Word::synced);
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(wrong.size(), 10); ++i)
        std::cout << "wrong: " << wrong[i] << "\n";
    const std::string name = std::filesystem::path(pool).filename();
    std::cout << name << " acknowledged " << acknowledged << "\n"
              << name << " lost " << wrong.size() << "\n"
              << name << " unsynced and lost " << unsynced_lost << std::endl;
    return wrong.empty() ? 0 : 1;
}

int use(const Arguments& arguments) {
    const Words words = content(9, Kind::value, 9, 9, 9'000);
    {
        PMEM pmem;
        pmem.mmap(arguments.at(0), options_of(Mode::update));
        pmem.store("used", words);
        pmem.store("passing", words);
        pmem.erase("passing");
        pmem.sync();
        pmem.trim();
        pmem.munmap();
    }
    PMEM pmem;
    pmem.mmap(arguments.at(0), options_of(Mode::update));
    const bool is_well =
        pmem.load<Words>("used") == words && !pmem.exists("passing") && pmem.verify().empty();
    pmem.erase("used");
    pmem.munmap();
    std::cout << (is_well ? "in use" : "not what was stored") << std::endl;
    return is_well ? 0 : 1;
}

}  // namespace
}  // namespace machine

int main(int argc, char** argv) {
    const std::map<std::string, int (*)(const machine::Arguments&)> verbs = {
        {"make", machine::make}, {"crowd", machine::crowd}, {"check", machine::check}, {"use", machine::use}};
    try {
        return verbs.at(argv[argc > 1 ? 1 : 0])(machine::Arguments(argv + 2, argv + argc));
    } catch (const std::exception& error) {
        std::cerr << "worker: " << error.what() << "\n";
        return 1;
    }
}
