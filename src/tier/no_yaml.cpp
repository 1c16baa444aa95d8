// In the place of yaml.cpp in a build without yaml-cpp.

#include <pmemcpy/error.hpp>
#include <pmemcpy/tiers.hpp>

namespace pmemcpy {
namespace {

[[noreturn]] void refuse() {
    throw Error(
        Code::unsupported,
        "this build of pMEMCPY knows no hierarchies of targets; build it with yaml-cpp (libyaml-cpp-dev)");
}

}  // namespace

Hierarchy parse_hierarchy(std::string_view) { refuse(); }
std::string to_yaml(const Hierarchy&) { refuse(); }

}  // namespace pmemcpy
