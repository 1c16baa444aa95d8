#include "channel.hpp"

namespace pmemcpy::hermes {

std::uint64_t share_of(const Client& client, std::uint64_t messages) {
    const auto index = static_cast<std::uint64_t>(client.index);
    const auto count = static_cast<std::uint64_t>(client.count);
    return messages * (index + 1) / count - messages * index / count;
}

Spans send_and_take(Channel& channel, const Client& client, std::uint64_t messages) {
    Spans spans{};
    spans[0] = timed(client, [&] {
        for (std::uint64_t i = 0; i < share_of(client, messages); ++i)
            channel.publish(client, i, instruction(i));
        channel.publish_rest(client);
    });
    spans[1] = timed(client, [&] {
        for (std::uint64_t i = 0; i < share_of(client, messages); ++i) check(channel.take(client, i));
    });
    return spans;
}

nlohmann::ordered_json result_of_messages(const std::vector<Spans>& all, std::uint64_t messages,
                                          int processes) {
    return {{"messages", messages},
            {"processes", processes},
            {"publish_s", seconds_of(all, 0)},
            {"subscribe_s", seconds_of(all, 1)}};
}

}  // namespace pmemcpy::hermes
