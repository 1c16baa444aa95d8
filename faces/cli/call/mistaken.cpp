#include "cli/call/mistaken.hpp"

#include <array>
#include <string_view>

#include "cli/call/alike.hpp"

namespace pmemcpy::cli {

namespace {

struct Tried {
    std::string_view word;
    std::string_view advice;
};

constexpr std::string_view ls = "`pmemcpy ls POOL` lists what is in a pool, `pmemcpy ls DIRECTORY` pools";
constexpr std::string_view info =
    "`pmemcpy info POOL` tells what is known of a pool, `pmemcpy info POOL ID` of what is in it";
constexpr std::string_view cat =
    "`pmemcpy cat POOL ID` prints what is stored, `pmemcpy export POOL FILE` writes it "
    "for other programs";
constexpr std::string_view top = "`pmemcpy top POOL` shows who has a pool open";

constexpr std::array tried = {
    Tried{"list", ls},
    Tried{"dir", ls},
    Tried{"pools", ls},
    Tried{"show", info},
    Tried{"stats",
          "`pmemcpy stat POOL ID` gives an array's statistics, `pmemcpy info POOL` the pool's state"},
    Tried{"status", info},
    Tried{"describe", info},
    Tried{"dump", cat},
    Tried{"print", cat},
    Tried{"get", cat},
    Tried{"head", "`pmemcpy cat POOL ID --head 10` prints the first of an array"},
    Tried{"attr", "`pmemcpy info POOL ID` shows attributes, `pmemcpy set POOL ID.ATTRIBUTE VALUE` sets one"},
    Tried{"attrs", "`pmemcpy info POOL ID` shows attributes, `pmemcpy set POOL ID.ATTRIBUTE VALUE` sets one"},
    Tried{"put",
          "`pmemcpy import FILE POOL` brings a file in, `pmemcpy set POOL ID.ATTRIBUTE VALUE` an attribute"},
    Tried{"grow",
          "a pool grows by itself up to its limit; `pmemcpy cp --create --size SIZE POOL LARGER` makes a "
          "larger one of it"},
    Tried{"resize", "`pmemcpy cp --create --size SIZE POOL LARGER` makes a larger pool of one"},
    Tried{"ps", top},
    Tried{"who", top},
    Tried{"df", "`pmemcpy info POOL` tells how much is in use, `pmemcpy ls DIRECTORY` of all pools in it"},
    Tried{"copy", "`pmemcpy cp` copies"},
    Tried{"move", "`pmemcpy mv` renames and moves"},
    Tried{"rename", "`pmemcpy mv` renames and moves"},
    Tried{"delete", "`pmemcpy rm POOL ID` erases"},
    Tried{"remove", "`pmemcpy rm POOL ID` erases"},
    Tried{"erase", "`pmemcpy rm POOL ID` erases"},
    Tried{"search", "`pmemcpy find POOL QUERY` finds"},
    Tried{"query", "`pmemcpy find POOL QUERY` finds"},
    Tried{"grep", "`pmemcpy find POOL QUERY` finds"},
    Tried{"check", "`pmemcpy verify POOL` checks"},
    Tried{"fsck", "`pmemcpy verify POOL` checks, `pmemcpy repair` saves"},
    Tried{"help", "`pmemcpy --help` lists the verbs"},
    Tried{"version", "`pmemcpy --version` tells it"},
};

}  // namespace

std::string advice_on(const std::string& word, const std::set<std::string>& verbs) {
    for (const Tried& one : tried) {
        if (one.word == word) return std::string(one.advice);
    }
    const std::string alike = most_alike(word, verbs);
    return alike.empty() ? "`pmemcpy --help` lists the verbs" : "did you mean `pmemcpy " + alike + "`?";
}

}  // namespace pmemcpy::cli
