// call_verb            names the verbs
// call_verb VERB N     calls it N times
//
// For instructions.py, which has valgrind count what happens in calls().

#include <cstdlib>
#include <iostream>
#include <string>

#include "verbs.hpp"

extern "C" [[gnu::noinline]] void calls(micro::Prepared& prepared, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) prepared.call(i);
}

int main(int argc, char** argv) {
    if (argc != 3) {
        for (const micro::Verb& verb : micro::verbs()) std::cout << verb.name << '\n';
        return argc == 1 ? 0 : 2;
    }
    for (const micro::Verb& verb : micro::verbs()) {
        if (verb.name != argv[1]) continue;
        const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
        calls(*verb.prepare(count), count);
        return 0;
    }
    std::cerr << "call_verb: there is no verb " << argv[1] << '\n';
    return 2;
}
