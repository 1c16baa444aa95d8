#include "mpi_server.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace pmemcpy::hermes {

namespace {

constexpr int tag_request = 1;
constexpr int tag_answer = 2;
constexpr int tag_done = 3;

struct Request {
    int from = 0;
    std::vector<std::byte> message;
};

class Server {
public:
    Server(Serving serving, const std::function<void(void*)>& perform)
        : serving_(serving), perform_(perform) {
        if (serving_ == Serving::hand_over) {
            worker_ = std::thread([this] {
                while (take_and_answer()) {
                }
            });
        }
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        came_.notify_all();
        if (worker_.joinable()) worker_.join();
        std::unique_lock lock(mutex_);
        came_.wait(lock, [this] { return spawned_ == 0; });
    }

    void queue(Request request) {
        {
            const std::lock_guard lock(mutex_);
            waiting_.push_back(std::move(request));
            if (serving_ == Serving::spawn) ++spawned_;
        }
        if (serving_ == Serving::hand_over) {
            came_.notify_one();
            return;
        }
        std::thread([this] {
            take_and_answer();
            const std::lock_guard lock(mutex_);
            --spawned_;
            came_.notify_all();
        }).detach();
    }

private:
    /// False when there will be no more.
    bool take_and_answer() {
        Request request;
        {
            std::unique_lock lock(mutex_);
            came_.wait(lock, [this] { return !waiting_.empty() || is_over_; });
            if (waiting_.empty()) return false;
            request = std::move(waiting_.front());
            waiting_.pop_front();
            perform_(request.message.data());
        }
        MPI_Send(request.message.data(), static_cast<int>(request.message.size()), MPI_BYTE, request.from,
                 tag_answer, MPI_COMM_WORLD);
        return true;
    }

    Serving serving_;
    std::function<void(void*)> perform_;
    std::mutex mutex_;
    std::condition_variable came_;
    std::deque<Request> waiting_;
    int spawned_ = 0;
    bool is_over_ = false;
    std::thread worker_;
};

}  // namespace

void serve(int clients, std::size_t message_bytes, Serving serving,
           const std::function<void(void*)>& perform) {
    Server server(serving, perform);
    while (clients > 0) {
        Request request;
        request.message.resize(message_bytes);
        MPI_Status status;
        MPI_Recv(request.message.data(), static_cast<int>(message_bytes), MPI_BYTE, MPI_ANY_SOURCE,
                 MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == tag_done) {
            --clients;
            continue;
        }
        request.from = status.MPI_SOURCE;
        server.queue(std::move(request));
    }
}

void ask(void* message, std::size_t message_bytes) {
    const int bytes = static_cast<int>(message_bytes);
    MPI_Send(message, bytes, MPI_BYTE, 0, tag_request, MPI_COMM_WORLD);
    MPI_Recv(message, bytes, MPI_BYTE, 0, tag_answer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void say_done() { MPI_Send(nullptr, 0, MPI_BYTE, 0, tag_done, MPI_COMM_WORLD); }

int run_ranks(int argc, char** argv, const char* program, const std::function<void(int)>& be_server,
              const std::function<Spans(const Client&)>& be_client,
              const std::function<nlohmann::ordered_json(const std::vector<Spans>&)>& result) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    try {
        if (provided < MPI_THREAD_MULTIPLE) throw std::runtime_error("this MPI cannot send from threads");
        if (ranks < 2) throw std::runtime_error("start it in 2 ranks at least, a server and a client");
        MPI_Comm clients = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &clients);
        Spans mine{};
        if (rank == 0) {
            be_server(ranks - 1);
        } else {
            mine = be_client({rank - 1, ranks - 1, [clients] { MPI_Barrier(clients); }});
            say_done();
        }
        std::vector<Spans> all(static_cast<std::size_t>(ranks));
        MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
        MPI_Comm_free(&clients);
        all.erase(all.begin());
        if (rank == 0) std::printf("%s\n", result(all).dump().c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", program, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}

}  // namespace pmemcpy::hermes
