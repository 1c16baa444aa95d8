#include "library.hpp"

namespace mosiqs {
namespace {

[[noreturn]] void refuse(const char* what) {
    throw Unsupported(std::string("this library is not asked to ") + what);
}

}  // namespace

void Library::make_ready() {}
void Library::prepare(std::string_view /*group*/, std::uint64_t /*bytes*/, std::uint64_t /*bytes_in_all*/) {}
void Library::publish() {}
void Library::catch_up() {}

void Library::store(const Object& /*object*/) { refuse("store"); }
void Library::annotate_group(std::string_view /*group*/, std::span<const Attribute> /*attributes*/) {
    refuse("annotate groups");
}
void Library::load(std::string_view /*group*/, std::string_view /*name*/, std::span<std::byte> /*bytes*/) {
    refuse("load");
}
void Library::with(std::string_view group, std::string_view name, std::span<std::byte> buffer,
                   const std::function<void(std::span<const std::byte>)>& use) {
    load(group, name, buffer);
    use(buffer);
}
Value Library::attribute(std::string_view /*group*/, std::string_view /*name*/, const std::string& /*key*/) {
    refuse("look up an attribute");
}
void Library::equal(const std::string& /*key*/, const Value& /*value*/, std::vector<std::string>& /*ids*/) {
    refuse("look up a value");
}
void Library::between(const std::string& /*key*/, double /*first*/, double /*last*/,
                      std::vector<std::string>& /*ids*/) {
    refuse("look up a range");
}
void Library::containing(std::string_view /*text*/, std::vector<std::string>& /*ids*/) {
    refuse("search names");
}
void Library::members(std::string_view /*group*/, std::vector<std::string>& /*ids*/) {
    refuse("list a group");
}
std::uint64_t Library::count_attributes(std::string_view /*group*/) { refuse("count attributes"); }

}  // namespace mosiqs
