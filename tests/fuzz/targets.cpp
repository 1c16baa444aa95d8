#include "target.hpp"

namespace pmemcpy::fuzz {

const std::vector<Target>& targets() {
    static const std::vector<Target> all = {{"pool", open_pool},           {"directory", open_directory},
                                            {"selection", read_selection}, {"type", read_type},
                                            {"packed", read_packed},       {"words", read_words},
                                            {"query", read_query}};
    return all;
}

}  // namespace pmemcpy::fuzz
