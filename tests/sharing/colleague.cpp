// What a user's own program does with a pool: `colleague POOL VERB [VALUE]`. Of an error it prints the code and ends with 1.
//
//   fill             makes it if it is missing, with the value v and the array A
//   make-folder      makes one in the directory layout, filled the same
//   fill-secret      secret/word and secret/A, with an attribute: all of them texts in which the word "hidden" stands
//   load, view       prints v, and an element of A by way of a view
//   store VALUE      v
//   hold             opens it for reading, says so, and loads v when a line comes
//   hold-writing     opens it for writing, says so, and stores and loads v when a line comes

#include <pmemcpy/pmemcpy.hpp>

#include <functional>
#include <iostream>
#include <map>
#include <string>

namespace {

using namespace pmemcpy;

PMEM opened(const std::string& path, Mode mode, Layout layout = Layout::automatic) {
    Options options;
    options.mode = mode;
    options.layout = layout;
    options.max_bytes = 8 << 20;
    options.chunk_bytes = 64 << 10;
    PMEM pmem;
    pmem.mmap(path, options);
    return pmem;
}

void fill(PMEM pmem) {
    pmem.store("v", 1);
    pmem.alloc<double>("group/A", Dimensions{1000});
    const std::vector<double> data(1000, 2.5);
    pmem.store<double>("group/A", data.data(), Box{{0}, {1000}});
    pmem.set_attribute("group/A", "units", std::string("K"));
}

void fill_secret(PMEM pmem) {
    pmem.store("secret/word", std::string("hidden word"));
    pmem.set_attribute("secret/word", "hidden attribute", std::string("hidden value"));
    std::string text;
    while (text.size() < 100'000) text += "hidden elements ";
    pmem.alloc<char>("secret/A", Dimensions{text.size()});
    for (int i = 0; i < 2; ++i) pmem.store("secret/A", text.data(), Box{{0}, {text.size()}});
}

void say_and_wait() {
    std::string line;
    std::cout << "open" << std::endl;
    std::getline(std::cin, line);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const std::string path = argv[1];
    const std::map<std::string, std::function<void()>> verbs = {
        {"fill", [&] { fill(opened(path, Mode::create_or_update)); }},
        {"make-folder", [&] { fill(opened(path, Mode::exclusive, Layout::directory)); }},
        {"fill-secret", [&] { fill_secret(opened(path, Mode::update)); }},
        {"load", [&] { std::cout << opened(path, Mode::read).load<int>("v") << "\n"; }},
        {"view",
         [&] {
             const PMEM pmem = opened(path, Mode::read);
             std::cout << pmem.view<double>("group/A")[7] << "\n";
         }},
        {"store", [&] { opened(path, Mode::update).store("v", std::stoi(argv[3])); }},
        {"hold",
         [&] {
             const PMEM pmem = opened(path, Mode::read);
             say_and_wait();
             std::cout << pmem.load<int>("v") << "\n";
         }},
        {"hold-writing",
         [&] {
             PMEM pmem = opened(path, Mode::update);
             say_and_wait();
             pmem.store("v", 7);
             std::cout << pmem.load<int>("v") << "\n";
         }},
    };
    try {
        verbs.at(argv[2])();
        return 0;
    } catch (const Error& error) {
        std::cout << name_of(error.kind()) << "\n";
        std::cerr << error.what() << "\n";
        return 1;
    }
}
