// A server process of MPI: rank 0 keeps the metadata in a hash table, the other ranks ask it. Prints one line of JSON.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <unordered_map>

#include "bench/hermes/clients/mpi_server.hpp"
#include "work.hpp"

namespace pmemcpy::hermes {

namespace {

enum class Verb : std::uint32_t { put, get, is_unknown };

struct Request {
    Verb verb = Verb::get;
    std::array<char, 28> name{};
    Metadata file;
};
static_assert(sizeof(Request) == 160);

class Files {
public:
    void perform(void* message) {
        Request request;
        std::memcpy(&request, message, sizeof request);
        if (request.verb == Verb::put) {
            files_[request.name.data()] = request.file;
        } else {
            const auto found = files_.find(request.name.data());
            if (found == files_.end()) {
                request.verb = Verb::is_unknown;
            } else {
                request.file = found->second;
            }
            std::memcpy(message, &request, sizeof request);
        }
    }

private:
    std::unordered_map<std::string, Metadata> files_;
};

class Asker : public Service {
public:
    void put(std::span<const std::string> names, std::span<const Metadata> files) override {
        for (std::size_t i = 0; i < names.size(); ++i) ask_for(Verb::put, names[i], files[i]);
    }
    void get(std::span<const std::string> names, std::span<Metadata> files) override {
        for (std::size_t i = 0; i < names.size(); ++i) files[i] = ask_for(Verb::get, names[i], {}).file;
    }

private:
    static Request ask_for(Verb verb, const std::string& name, const Metadata& file) {
        Request request;
        request.verb = verb;
        if (name.size() >= request.name.size()) throw std::runtime_error(name + " is too long");
        std::copy(name.begin(), name.end(), request.name.begin());
        request.file = file;
        ask(&request, sizeof request);
        if (request.verb == Verb::is_unknown) throw std::runtime_error(name + " is not there");
        return request;
    }
};

}  // namespace

}  // namespace pmemcpy::hermes

int main(int argc, char** argv) {
    using namespace pmemcpy::hermes;
    std::string variant = "mpi";
    std::uint64_t files = 1'000'000;
    CLI::App app("Metadata operations by a server process, as in Figure 5 of the Hermes paper");
    app.add_option("--variant", variant,
                   "mpi: a thread for each request; mpi-handed-over: one thread for all")
        ->check(CLI::IsMember({"mpi", "mpi-handed-over"}));
    app.add_option("--files", files)->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    return run_ranks(
        argc, argv, "hermes_metadata_mpi",
        [&](int clients) {
            Files kept;
            serve(clients, sizeof(Request), variant == "mpi" ? Serving::spawn : Serving::hand_over,
                  [&](void* message) { kept.perform(message); });
        },
        [&](const Client& client) {
            Asker service;
            return do_operations(service, client, files);
        },
        [&](const std::vector<Spans>& all) { return result_of(all, files); });
}
