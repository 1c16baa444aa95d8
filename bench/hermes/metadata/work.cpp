#include "work.hpp"

#include <algorithm>
#include <stdexcept>

namespace pmemcpy::hermes {

namespace {

struct Files {
    std::vector<std::uint64_t> numbers;
    std::vector<std::string> names;
};

/// Those of one client; `stride` has no divisor in common with how many they are.
Files files_of(int client, int clients, std::uint64_t files, std::uint64_t stride) {
    const auto c = static_cast<std::uint64_t>(client);
    const auto n = static_cast<std::uint64_t>(clients);
    const std::uint64_t begin = files * c / n;
    const std::uint64_t count = files * (c + 1) / n - begin;
    Files found;
    for (std::uint64_t i = 0; i < count; ++i) {
        found.numbers.push_back(begin + i * stride % count);
        found.names.push_back(name_of_file(found.numbers.back()));
    }
    return found;
}

}  // namespace

Spans do_operations(Service& service, const Client& client, std::uint64_t files) {
    const Files mine = files_of(client.index, client.count, files, 1);
    // A prime larger than any number of files here: a walk that no cache of lines can foresee.
    const Files others = files_of((client.index + 1) % client.count, client.count, files, 2'147'483'647);
    std::vector<Metadata> values(service.at_once());
    const auto for_each = [&](const Files& which, const auto& f) {
        for (std::size_t i = 0; i < which.names.size(); i += values.size()) {
            const std::size_t count = std::min(values.size(), which.names.size() - i);
            f(i, std::span(which.names).subspan(i, count), std::span(values).first(count));
        }
    };
    Spans spans{};
    spans[0] = timed(client, [&] {
        for_each(mine, [&](std::size_t i, std::span<const std::string> names, std::span<Metadata> batch) {
            for (std::size_t k = 0; k < batch.size(); ++k) batch[k] = metadata_of_file(mine.numbers[i + k]);
            service.put(names, batch);
        });
    });
    spans[1] = timed(client, [&] {
        for_each(others, [&](std::size_t i, std::span<const std::string> names, std::span<Metadata> batch) {
            service.get(names, batch);
            for (std::size_t k = 0; k < batch.size(); ++k) {
                if (batch[k] != metadata_of_file(others.numbers[i + k]))
                    throw std::runtime_error(names[k] + " has come back as something else than was put");
            }
        });
    });
    spans[2] = timed(client, [&] {
        for_each(others, [&](std::size_t, std::span<const std::string> names, std::span<Metadata> batch) {
            service.get(names, batch);
            for (Metadata& each : batch) change(each);
            service.put(names, batch);
        });
    });
    client.meet();
    for_each(mine, [&](std::size_t i, std::span<const std::string> names, std::span<Metadata> batch) {
        if (i % 1000 >= batch.size()) return;  // a sample: it is not timed, and takes time
        service.get(names, batch);
        for (std::size_t k = 0; k < batch.size(); ++k) {
            Metadata expected = metadata_of_file(mine.numbers[i + k]);
            change(expected);
            if (batch[k] != expected) throw std::runtime_error(names[k] + " has not been updated");
        }
    });
    return spans;
}

nlohmann::ordered_json result_of(const std::vector<Spans>& all, std::uint64_t files) {
    return {{"files", files},
            {"processes", all.size()},
            {"insert_s", seconds_of(all, 0)},
            {"get_s", seconds_of(all, 1)},
            {"update_s", seconds_of(all, 2)}};
}

}  // namespace pmemcpy::hermes
