// Objects by the serializers of the paper, and by one that a program brings along.

#ifdef PMEMCPY_HAVE_CEREAL
#include <pmemcpy/cereal.hpp>
// After it, because cereal's own headers do not include all that they use.
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#endif
#ifdef PMEMCPY_HAVE_CAPNPROTO
#include <capnp/schema.capnp.h>
#include <pmemcpy/capnp.hpp>
#endif

#include <cstdlib>
#include <map>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(serializers);

struct Temperature {
    double kelvin = 0;
};

/// Writes a number as text: anything that can be measured first and then written front to back will do.
struct AsText {
    class Text final : public Encoder {
    public:
        explicit Text(double value) : text_(std::to_string(value)) {}
        std::uint64_t size_bytes() const override { return text_.size(); }
        void encode(std::span<std::byte> out) const override {
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(text_[i]);
        }

    private:
        std::string text_;
    };
    static Text encoder(const Temperature& value) { return Text(value.kelvin); }
    static void decode(std::span<const std::byte> bytes, Temperature& value) {
        value.kelvin = std::strtod(
            std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()).c_str(), nullptr);
    }
};

constexpr auto as_text = SerializerType{70};

TEST_P(serializers, a_registered_one_is_as_good_as_the_built_in_ones) {
    static const bool registered = (register_serializer<AsText, Temperature>(as_text, "text"), true);
    ASSERT_TRUE(registered);
    open();
    pmem.store("t", Temperature{273.15}, as_text);
    EXPECT_EQ(pmem.load<Temperature>("t").kelvin, 273.15);
    EXPECT_EQ(pmem.info("t").serializer, as_text);
    const Pinned bytes = pmem.view_bytes("t");
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), 6), "273.15");
    reopen();
    EXPECT_EQ(pmem.load<Temperature>("t").kelvin, 273.15);
    expect_error(Code::unsupported, [&] { pmem.store("x", Temperature{}, SerializerType{71}); }, {"71"});
    EXPECT_FALSE(pmem.exists("x"));
}

TEST_P(serializers, raw_values_by_bp4_and_none) {
    open();
    pmem.store("b", 1.5, SerializerType::bp4);
    pmem.store("n", 2.5, SerializerType::none);
    pmem.store("d", 3.5, SerializerType::Default);
    EXPECT_EQ(pmem.load<double>("b") + pmem.load<double>("n") + pmem.load<double>("d"), 7.5);
    EXPECT_EQ(pmem.info("n").serializer, SerializerType::none);
    EXPECT_EQ(pmem.info("d").serializer, SerializerType::bp4);
}

#ifdef PMEMCPY_HAVE_CEREAL

using Names = std::map<std::string, std::vector<std::string>>;

Names many_names(int n) {
    Names names;
    for (int i = 0; i < n; ++i) names["key " + std::to_string(i)] = {std::to_string(i), "and", "more"};
    return names;
}

TEST_P(serializers, whatever_cereal_can) {
    open();
    pmem.store("few", many_names(2));
    pmem.store("many", many_names(20'000));
    EXPECT_EQ(pmem.load<Names>("few"), many_names(2));
    EXPECT_EQ(pmem.load<Names>("many"), many_names(20'000));
    EXPECT_EQ(pmem.info("many").serializer, SerializerType::cereal);
    pmem.store("flags", std::vector<bool>{true, false, true});
    EXPECT_EQ(pmem.load<std::vector<bool>>("flags"), (std::vector<bool>{true, false, true}));
    pmem.store("asked", 42, SerializerType::cereal);
    EXPECT_EQ(pmem.load<int>("asked"), 42);
    expect_error(Code::type_mismatch, [&] { pmem.load<std::vector<bool>>("few"); }, {"opaque", "vector"});
    expect_error(Code::unsupported, [&] { pmem.store("x", many_names(1), SerializerType::none); });
    EXPECT_FALSE(pmem.exists("x"));
}

TEST_P(serializers, a_pool_may_have_another_default) {
    Options chosen = options();
    chosen.serializer = SerializerType::cereal;
    pmem.mmap(path(), chosen);
    EXPECT_EQ(pmem.default_serializer(), SerializerType::cereal);
    pmem.store("n", 42);
    EXPECT_EQ(pmem.info("n").serializer, SerializerType::cereal);
    EXPECT_EQ(pmem.load<int>("n"), 42);
    reopen();
    EXPECT_EQ(pmem.default_serializer(), SerializerType::cereal);
    EXPECT_EQ(pmem.load<int>("n"), 42);
    // Elements of fixed size are their own encoding, whatever the pool's default is.
    pmem.alloc<int>("A", Dimensions{2});
    const int data[] = {1, 2};
    pmem.store<int>("A", data, Box{{0}, {2}});
    EXPECT_EQ(pmem.view<int>("A")[1], 2);
}

#endif
#ifdef PMEMCPY_HAVE_CAPNPROTO

// A schema that Cap'n Proto itself installs serves as ours.
using Node = capnp::schema::Node;

TEST_P(serializers, a_capnproto_message_is_read_where_it_lies) {
    open();
    capnp::MallocMessageBuilder message;
    auto node = message.initRoot<Node>();
    node.setId(42);
    node.setDisplayName(std::string(20'000, 'n').c_str());
    pmem.store("node", message);
    EXPECT_EQ(pmem.info("node").serializer, SerializerType::capnproto);
    const Pinned pinned = pmem.view_bytes("node");
    CapnpObject object(pinned, pinned.bytes());
    EXPECT_EQ(object.root<Node>().getId(), 42u);
    const auto name = object.root<Node>().getDisplayName();
    const auto* text = reinterpret_cast<const std::byte*>(name.begin());
    EXPECT_TRUE(text >= pinned.data() && text < pinned.data() + pinned.bytes().size())
        << "the text was copied";
    capnp::MallocMessageBuilder copy;
    pmem.load("node", copy);
    EXPECT_EQ(copy.getRoot<Node>().getId(), 42u);
    pmem.store("node", 1);
    EXPECT_EQ(object.root<Node>().getDisplayName().size(), 20'000u) << "the view did not keep the message";
}

#endif

}  // namespace
}  // namespace pmemcpy::conformance
