#include "verbs.hpp"

#include <unistd.h>
#include <array>
#include <cstring>
#include <span>
#include <stdexcept>

#include <pmemcpy/pmemcpy.hpp>

namespace micro {
namespace {

using pmemcpy::Box;
using pmemcpy::Mode;
using pmemcpy::Options;
using pmemcpy::PMEM;
using pmemcpy::SerializerType;
using pmemcpy::Type;

constexpr std::uint64_t objects = 1024;  // as many as the caches of a processor hold
constexpr std::uint64_t listed = 64;
constexpr std::size_t object_bytes = 256;
constexpr std::uint64_t boxes = 64;
constexpr std::uint64_t box_elements = 512;  // 4 KiB

class Pool : public Prepared {
public:
    Pool() {
        Options options;
        options.mode = Mode::replace;
        pmem_.mmap(path_, options);
    }
    ~Pool() override {
        pmem_.munmap();
        for (const char* end : {"", ".rt"}) ::unlink((path_ + end).c_str());
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

protected:
    const std::string path_ = "/dev/shm/pmemcpy-micro-" + std::to_string(::getpid());
    PMEM pmem_;
};

/// Objects of 256 bytes in a group.
class Objects : public Pool {
public:
    explicit Objects(std::uint64_t names, bool are_there) {
        for (std::uint64_t i = 0; i < names; ++i) names_.push_back("group/object" + std::to_string(i));
        for (std::uint64_t i = 0; are_there && i < names; ++i) store(i);
        pmem_.store("group/other", 1);  // so that the group is there
    }

protected:
    const std::string& name(std::uint64_t i) const { return names_[i * 599 % names_.size()]; }
    void store(std::uint64_t i) {
        pmem_.store_encoded(name(i), type_, SerializerType::none, pmemcpy::BytesEncoder(bytes_));
    }

    std::array<std::byte, object_bytes> bytes_{};

private:
    const Type type_ = pmemcpy::type_of<std::vector<std::uint8_t>>();
    std::vector<std::string> names_;
};

struct StoreNew : Objects {
    explicit StoreNew(std::uint64_t calls) : Objects(calls | 1, false) {}
    void call(std::uint64_t i) override { store(i); }
};
struct Overwrite : Objects {
    explicit Overwrite(std::uint64_t) : Objects(objects, true) {}
    void call(std::uint64_t i) override { store(i); }
};
struct Load : Objects {
    explicit Load(std::uint64_t) : Objects(objects, true) {}
    void call(std::uint64_t i) override {
        pmem_.load_encoded(name(i), [&](const Type&, SerializerType, std::span<const std::byte> stored) {
            std::memcpy(bytes_.data(), stored.data(), stored.size());
        });
    }
};
struct Exists : Objects {
    explicit Exists(std::uint64_t) : Objects(objects, true) {}
    void call(std::uint64_t i) override {
        if (!pmem_.exists(name(i))) throw std::logic_error("an object is lost");
    }
};
struct List : Objects {
    explicit List(std::uint64_t) : Objects(listed, true) {}
    void call(std::uint64_t) override {
        if (pmem_.ids().size() != listed + 1) throw std::logic_error("an object is lost");
    }
};
struct Erase : Objects {
    explicit Erase(std::uint64_t calls) : Objects(calls | 1, true) {}
    void call(std::uint64_t i) override { pmem_.erase(name(i)); }
};
struct SetAttribute : Objects {
    explicit SetAttribute(std::uint64_t) : Objects(1, true) {}
    void call(std::uint64_t i) override { pmem_.set_attribute(name(0), "time", static_cast<double>(i)); }
};

/// The scalar of a loop: no encoder, no group.
struct LoadScalar : Pool {
    explicit LoadScalar(std::uint64_t) { pmem_.store("dt", 0.1); }
    void call(std::uint64_t) override {
        if (pmem_.load<double>("dt") != 0.1) throw std::logic_error("another scalar");
    }
};

/// An array of 64 blocks of 4 KiB.
class Array : public Pool {
public:
    Array() {
        pmem_.alloc<double>("u", {boxes * box_elements});
        for (std::uint64_t i = 0; i < boxes; ++i) pmem_.store("u", values_.data(), box(i));
    }

protected:
    static Box box(std::uint64_t i) { return {{i % boxes * box_elements}, {box_elements}}; }
    std::vector<double> values_ = std::vector<double>(box_elements, 1.5);
};

struct StoreBox : Array {
    explicit StoreBox(std::uint64_t) {}
    void call(std::uint64_t i) override { pmem_.store("u", values_.data(), box(i)); }
};
struct LoadBox : Array {
    explicit LoadBox(std::uint64_t) {}
    void call(std::uint64_t i) override { pmem_.load("u", values_.data(), box(i)); }
};
struct ViewBox : Array {
    explicit ViewBox(std::uint64_t) {}
    void call(std::uint64_t i) override { static_cast<void>(pmem_.view<double>("u", box(i))); }
};

/// To a pool that somebody else has open.
struct Attach : Objects {
    explicit Attach(std::uint64_t) : Objects(objects, true) {}
    void call(std::uint64_t) override {
        PMEM another;
        another.mmap(path_);
        another.munmap();
    }
};

template <class V>
Verb verb(const char* name) {
    return {name, [](std::uint64_t calls) { return std::make_unique<V>(calls); }};
}

}  // namespace

const std::vector<Verb>& verbs() {
    static const std::vector<Verb> all = {
        verb<StoreNew>("store_new"),     verb<Overwrite>("overwrite"),    verb<Load>("load"),
        verb<LoadScalar>("load_scalar"), verb<Exists>("exists"),          verb<Erase>("erase"),
        verb<List>("list_64"),           verb<SetAttribute>("attribute"), verb<StoreBox>("store_box"),
        verb<LoadBox>("load_box"),       verb<ViewBox>("view_box"),       verb<Attach>("attach"),
    };
    return all;
}

}  // namespace micro
