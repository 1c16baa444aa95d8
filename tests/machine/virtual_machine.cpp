#include "virtual_machine.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace machine {
namespace {

/// Memory where there is enough of it: what the machine's processors store goes into a file there.
std::filesystem::path roomy_place() {
    constexpr std::uintmax_t enough = std::uintmax_t{1} << 30;
    std::error_code none;
    const bool is_roomy = std::filesystem::space("/dev/shm", none).available > enough && !none;
    return is_roomy ? "/dev/shm" : std::filesystem::temp_directory_path();
}

/// Runs a program that ends when we do; its exit status. What it prints goes into the file.
int run_program(std::vector<std::string> words, const std::string& output) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(1);
        const int fd = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        ::dup2(fd, STDOUT_FILENO);
        ::dup2(fd, STDERR_FILENO);
        ::execv(argv[0], argv.data());
        ::_exit(126);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

std::string content_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}  // namespace

VirtualMachine::VirtualMachine(std::vector<std::string> options)
    : options_(std::move(options)), folder_(roomy_place()) {}

VirtualMachine::Result VirtualMachine::run(const std::string& script, double kill_after,
                                           const std::vector<std::string>& more) {
    const std::string go = folder_ / "go", output = folder_ / "output";
    std::filesystem::remove(go);
    std::vector<std::string> words{MACHINE_DAXVM, "run",    "--image",   folder_ / "image",
                                   "--rw",        folder(), "--timeout", "400"};
    words.insert(words.end(), options_.begin(), options_.end());
    words.insert(words.end(), more.begin(), more.end());
    if (kill_after >= 0)
        words.insert(words.end(), {"--since", go, "--kill-after", std::to_string(kill_after)});
    words.insert(words.end(), {"--", "/bin/sh", "-c", script});
    const Result result{run_program(words, output), content_of(output)};
    constexpr int something_is_missing = 3;
    if (result.status == something_is_missing && result.output.starts_with("daxvm: "))
        throw Missing(result.output.substr(0, result.output.find('\n')));
    return result;
}

std::uint64_t VirtualMachine::Result::number_after(const std::string& words) const {
    std::istringstream lines(output);
    std::uint64_t greatest = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(words + " "))
            greatest = std::max<std::uint64_t>(greatest, std::stoull(line.substr(words.size())));
    }
    return greatest;
}

}  // namespace machine
