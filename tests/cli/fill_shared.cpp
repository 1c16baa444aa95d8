// Makes FILE.buckets and FILE.messages, and dies with some of each in its hands.

#include <csignal>
#include <cstdio>
#include <pmemcpy/buckets.hpp>
#include <pmemcpy/messages.hpp>
#include <string>

int main(int argc, char** argv) {
    using namespace pmemcpy;
    if (argc != 2) return 2;
    const std::string path = argv[1];
    BucketPool pool = BucketPool::create(path + ".buckets", {.bucket_bytes = 8192, .count = 10});
    const Buckets filling = pool.acquire(2 * 8192);
    Buckets full = pool.acquire(1, Region::nvme);
    full.set_full(1, 1);
    pool.acquire(3 * 8192).offer(2, 1);
    MessageQueue queue = MessageQueue::create(path + ".messages", {.capacity = 8, .priorities = 2});
    for (std::uint32_t i = 0; i < 4; ++i) queue.push(Message::of(1, "x", i == 0 ? 1 : 0));
    const auto claimed = queue.try_claim();
    return std::raise(SIGKILL);
}
