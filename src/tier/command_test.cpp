#include "tier/command.hpp"

#include <gtest/gtest.h>
#include <pmemcpy/error.hpp>

namespace pmemcpy::tier {
namespace {

using Words = std::vector<std::string>;
const HandedFile handed{"/pfs/x/80a", "80a", "/pfs/x", "run/my id", "/dev/shm/p"};

TEST(command, is_parted_at_blanks_and_filled_in) {
    EXPECT_EQ(fill_command("dwstage {file} /archive/{name}", handed),
              (Words{"dwstage", "/pfs/x/80a", "/archive/80a"}));
    EXPECT_EQ(fill_command("  put\t{directory}\n{pool} ", handed), (Words{"put", "/pfs/x", "/dev/shm/p"}));
}

TEST(command, keeps_what_is_filled_in_one_word_whatever_it_is) {
    EXPECT_EQ(fill_command("a {id} 'b c' \"d \\\" {name}\" e\\ f ''", handed),
              (Words{"a", "run/my id", "b c", "d \" 80a", "e f", ""}));
    const HandedFile odd{"{name}; rm '", "n", "d", "\"", "p"};
    EXPECT_EQ(fill_command("a {file} {id}", odd), (Words{"a", "{name}; rm '", "\""}));
}

TEST(command, that_makes_no_sense_is_refused) {
    for (const char* odd : {"", "  ", "''", "a 'b", "a \"b", "a \\", "a {fiel}", "a {file", "a {}"}) {
        try {
            check_command(odd);
            ADD_FAILURE() << odd;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::invalid_argument) << odd;
        }
    }
    EXPECT_NO_THROW(check_command("a } b"));
}

}  // namespace
}  // namespace pmemcpy::tier
