#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "bench/hermes/clients/clients.hpp"
#include "service.hpp"

namespace pmemcpy::hermes {

/// One client's part of `files` in all: inserts its own, gets those that its neighbour has inserted, in another order, and updates them, which takes a
/// get and a put. Each of the three begins when all clients have ended the one before.
/// Errors: std::runtime_error when something else comes back than was put.
Spans do_operations(Service& service, const Client& client, std::uint64_t files);

/// {"files", "processes", "insert_s", "get_s", "update_s"}
nlohmann::ordered_json result_of(const std::vector<Spans>& all, std::uint64_t files);

}  // namespace pmemcpy::hermes
