#include "library.hpp"

#include <filesystem>

namespace compare {

void Library::settle() {}
void Library::remove(const std::string& path) { std::filesystem::remove_all(path); }

}  // namespace compare
