#include "exchange/hdf5/handle.hpp"

namespace pmemcpy::exchange {

void fail_hdf5(Code code, const std::string& what) {
    std::string words;
    const auto first = [](unsigned, const H5E_error2_t* error, void* into) -> herr_t {
        *static_cast<std::string*>(into) = error->desc == nullptr ? "" : error->desc;
        return 1;  // the deepest has been seen
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first, &words);
    throw Error(code, what + ": " + (words.empty() ? "HDF5 does not say why" : "HDF5 says: " + words));
}

}  // namespace pmemcpy::exchange
