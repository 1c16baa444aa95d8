#include "layout/handed.hpp"

#include "layout/payload_name.hpp"
#include "os/directory.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace pmemcpy::layout {

namespace {

constexpr const char* list_name = "handed-over";
constexpr const char* passing_name = "writing-handed-over";
constexpr const char* trouble_name = "handing-over-failed";
constexpr std::uint64_t longest_trouble = 4096;
constexpr std::uint64_t few_lines = 1000;

std::string text_of(const os::File& directory, const char* name, std::uint64_t most) {
    const auto file = os::File::open_in(directory, name, O_RDONLY);
    if (!file || !file->is_regular()) return {};
    std::string text(std::min(file->size(), most), '\0');
    file->read_exactly(text.data(), text.size(), 0);
    return text;
}

std::string line_of(const std::string& name, std::uint32_t crc) {
    return name + " " + name_of_payload(crc).substr(8) + "\n";
}

void replace(const os::File& directory, const char* name, std::string_view text, unsigned mode_bits) {
    os::remove_in(directory, passing_name);
    auto file = os::File::open_in(directory, passing_name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (!file) throw Error(Code::io_error, directory.path() + " was removed while the pool was open");
    file->set_mode_bits(mode_bits & 0666);
    file->write_exactly(text.data(), text.size(), 0);
    os::rename_in(directory, passing_name, directory, name);
}

}  // namespace

Handed::Handed(const os::File& directory) : directory_(directory) {
    const std::string text = text_of(directory, list_name, ~std::uint64_t{0});
    for (std::size_t at = 0; at < text.size();) {
        const auto end = text.find('\n', at);
        if (end == std::string::npos) break;  // whoever wrote it was killed
        const std::string_view line = std::string_view(text).substr(at, end - at);
        const auto blank = line.find(' ');
        std::uint32_t crc = 0;
        if (blank != std::string_view::npos &&
            std::from_chars(line.data() + blank + 1, line.data() + line.size(), crc, 16).ptr ==
                line.data() + line.size())
            known_[std::string(line.substr(0, blank))] = crc;
        ++lines_;
        at = end_ = end + 1;
    }
}

bool Handed::has(const std::string& name, std::uint32_t crc) const {
    const auto found = known_.find(name);
    return found != known_.end() && found->second == crc;
}

void Handed::add(const std::string& name, std::uint32_t crc, unsigned mode_bits) {
    auto file = os::File::open_in(directory_, list_name, O_RDWR | O_CREAT, 0600);
    if (!file) throw Error(Code::io_error, directory_.path() + " was removed while the pool was open");
    if (end_ == 0) file->set_mode_bits(mode_bits & 0666);
    const std::string line = line_of(name, crc);
    file->write_exactly(line.data(), line.size(), end_);
    known_[name] = crc;
    ++lines_;
    end_ += line.size();
}

void Handed::keep_only(const std::unordered_set<std::string>& names, unsigned mode_bits) {
    if (lines_ < few_lines || lines_ < 2 * names.size()) return;
    std::erase_if(known_, [&](const auto& each) { return !names.contains(each.first); });
    std::string text;
    for (const auto& [name, crc] : known_) text += line_of(name, crc);
    replace(directory_, list_name, text, mode_bits);
    lines_ = known_.size();
    end_ = text.size();
}

std::string Handed::trouble_in(const os::File& directory) {
    return text_of(directory, trouble_name, longest_trouble);
}

void Handed::set_trouble(const os::File& directory, std::string_view text, unsigned mode_bits) {
    if (text.empty()) {
        os::remove_in(directory, trouble_name);
    } else {
        replace(directory, trouble_name, text.substr(0, longest_trouble), mode_bits);
    }
}

void Handed::forget(const os::File& directory) {
    for (const char* name : {list_name, passing_name, trouble_name}) os::remove_in(directory, name);
}

}  // namespace pmemcpy::layout
