#include "findings.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace mosiqs {
namespace {

constexpr std::size_t flush_at_bytes = 1 << 20;

[[noreturn]] void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// Reads what Findings has written.
class Replay {
public:
    explicit Replay(std::string_view bytes) : bytes_(bytes) {}

    void into(Postings& postings) {
        std::vector<std::string_view> keys;
        std::string_view group;
        std::uint32_t object = 0;
        while (at_ < bytes_.size()) {
            switch (bytes_[at_++]) {
                case 'g':
                    group = text();
                    break;
                case 'e':
                    postings.add_group(group, number<std::uint64_t>());
                    break;
                case 'o':
                    object = postings.add_object(group, text());
                    break;
                case 'k':
                    keys.push_back(text());
                    break;
                case 't': {
                    const std::string_view key = keys.at(number<std::uint64_t>());
                    postings.add(object, key, std::string(text()));
                    break;
                }
                case 'i': {
                    const std::string_view key = keys.at(number<std::uint64_t>());
                    postings.add(object, key, number<std::int64_t>());
                    break;
                }
                case 'd': {
                    const std::string_view key = keys.at(number<std::uint64_t>());
                    postings.add(object, key, number<double>());
                    break;
                }
                default:
                    throw std::runtime_error(std::string(bytes_));  // what a process said when it failed
            }
        }
    }

private:
    template <class T>
    T number() {
        T number{};
        std::memcpy(&number, bytes_.data() + at_, sizeof number);
        at_ += sizeof number;
        return number;
    }
    std::string_view text() {
        const auto size = number<std::uint64_t>();
        at_ += size;
        return bytes_.substr(at_ - size, size);
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
};

void replay_file(int file, Postings& postings) {
    struct stat status {};
    if (::fstat(file, &status) != 0) throw_errno("fstat");
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) return;
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) throw_errno("mmap");
    Replay({static_cast<const char*>(memory), size}).into(postings);
    ::munmap(memory, size);
}

[[noreturn]] void be_one(std::size_t process, int file,
                         const std::function<void(std::size_t, Findings&)>& find) {
    try {
        Findings findings(file);
        find(process, findings);
        findings.flush();
    } catch (const std::exception& error) {
        if (::ftruncate(file, 0) != 0 || ::pwrite(file, error.what(), std::strlen(error.what()), 0) < 0)
            std::_Exit(2);
        std::_Exit(1);
    }
    std::_Exit(0);
}

}  // namespace

void Findings::begin_group(std::string_view group) {
    put('g');
    put_text(group);
}
void Findings::end_group(std::uint64_t attributes) {
    put('e');
    put_number(&attributes);
}
void Findings::begin_object(std::string_view name) {
    if (bytes_.size() >= flush_at_bytes) flush();
    put('o');
    put_text(name);
}

void Findings::add(const std::string& key, const Value& value) {
    const auto [found, is_new] = keys_.try_emplace(key, keys_.size());
    if (is_new) {
        put('k');
        put_text(key);
    }
    const auto* text = std::get_if<std::string>(&value);
    const auto* whole = std::get_if<std::int64_t>(&value);
    put(text != nullptr ? 't' : whole != nullptr ? 'i' : 'd');
    put_number(&found->second);
    if (text != nullptr) {
        put_text(*text);
    } else if (whole != nullptr) {
        put_number(whole);
    } else {
        put_number(&std::get<double>(value));
    }
}

void Findings::flush() {
    for (std::size_t done = 0; done < bytes_.size();) {
        const ssize_t written = ::write(file_, bytes_.data() + done, bytes_.size() - done);
        if (written < 0) throw_errno("write");
        done += static_cast<std::size_t>(written);
    }
    bytes_.clear();
}

void Findings::put_text(std::string_view text) {
    const std::uint64_t size = text.size();
    put_number(&size);
    bytes_ += text;
}

void find_in_processes(std::size_t count, const std::function<void(std::size_t, Findings&)>& find,
                       Postings& postings) {
    std::vector<std::pair<pid_t, int>> children;
    for (std::size_t process = 0; process < count; ++process) {
        const int file = ::memfd_create("findings", MFD_CLOEXEC);
        if (file < 0) throw_errno("memfd_create");
        const pid_t child = ::fork();
        if (child < 0) throw_errno("fork");
        if (child == 0) be_one(process, file, find);
        children.emplace_back(child, file);
    }
    for (const auto& [child, file] : children) {
        int status = 0;
        if (::waitpid(child, &status, 0) != child) throw_errno("waitpid");
        if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
            throw std::runtime_error("a process that reads files ended");
        replay_file(file, postings);
        ::close(file);
    }
}

}  // namespace mosiqs
