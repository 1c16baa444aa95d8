#include "index/engine/engine.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::index {

namespace {

[[noreturn]] void refuse() {
    throw Error(Code::unsupported, "this build of pMEMCPY keeps no index; build it with LMDB (liblmdb-dev)");
}

}  // namespace

bool has_engine() { return false; }
std::shared_ptr<Engine> open_engine(const std::string&, std::uint64_t, unsigned) { refuse(); }
std::shared_ptr<Engine> open_engine_if_there(const std::string&, std::uint64_t) { refuse(); }
std::shared_ptr<Engine> open_copy(const std::string&) { refuse(); }

}  // namespace pmemcpy::index
