#pragma once

#include <mpi.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "clients.hpp"

namespace pmemcpy::hermes {

/// The paper's "custom MPI-based solution": rank 0 is a server that receives what the other ranks ask, puts it into a queue, has a thread take it
/// from there and answer, and goes back to listening.
///
/// Source: Hermes, section 3.3.2 B.
enum class Serving {
    spawn,     // a new thread for each request, as the paper does
    hand_over  // to one thread that is there: less work for the processor
};

/// In rank 0, until each of `clients` ranks has said that it is done. `perform` turns a request into its answer, in place, in one thread at a time.
void serve(int clients, std::size_t message_bytes, Serving serving,
           const std::function<void(void* message)>& perform);

/// In another rank: sends a request and waits for its answer, which takes its place.
void ask(void* message, std::size_t message_bytes);
/// In another rank, last.
void say_done();

/// What main() of such a program does: runs `be_server` in rank 0, and `be_client` in the others, which are as many as the work has clients; rank 0
/// prints what `result` makes of their times. Whatever fails ends all ranks.
int run_ranks(int argc, char** argv, const char* program, const std::function<void(int clients)>& be_server,
              const std::function<Spans(const Client&)>& be_client,
              const std::function<nlohmann::ordered_json(const std::vector<Spans>&)>& result);

}  // namespace pmemcpy::hermes
