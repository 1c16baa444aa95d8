#include "library.hpp"

#include <filesystem>

namespace compare::objects {

void Library::settle() {}
void Library::remove(const std::string& path) { std::filesystem::remove_all(path); }

}  // namespace compare::objects
