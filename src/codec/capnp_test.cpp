#include <capnp/any.h>
#include <capnp/schema.capnp.h>
#include <gtest/gtest.h>

#include <memory>
#include <pmemcpy/capnp.hpp>
#include <pmemcpy/serializer.hpp>
#include <random>
#include <string>
#include <vector>

#include "codec/mapped_memory.hpp"

namespace pmemcpy::codec {
namespace {

// A schema that Cap'n Proto itself installs serves as ours.
using Node = capnp::schema::Node;

void fill(capnp::MessageBuilder& message) {
    auto node = message.initRoot<Node>();
    node.setId(42);
    node.setDisplayName("a node");
    auto nested = node.initNestedNodes(3);
    for (unsigned i = 0; i < 3; ++i) {
        nested[i].setId(i);
        nested[i].setName("nested " + std::to_string(i));
    }
}

std::vector<capnp::word> encoded(capnp::MessageBuilder& message) {
    const auto encoder = make_encoder(SerializerType::capnproto, message);
    EXPECT_EQ(encoder->size_bytes() % sizeof(capnp::word), 0u);
    std::vector<capnp::word> words(encoder->size_bytes() / sizeof(capnp::word));
    encoder->encode(std::as_writable_bytes(std::span(words)));
    return words;
}

std::span<const std::byte> bytes_of(const std::vector<capnp::word>& words) {
    return std::as_bytes(std::span(words));
}

TEST(capnp, a_message_is_read_where_it_lies) {
    capnp::MallocMessageBuilder message;
    fill(message);
    auto words = std::make_shared<std::vector<capnp::word>>(encoded(message));
    const std::weak_ptr<std::vector<capnp::word>> alive = words;
    const auto bytes = bytes_of(*words);
    {
        CapnpObject object(std::move(words), bytes);
        const auto node = object.root<Node>();
        EXPECT_EQ(node.getId(), 42u);
        EXPECT_STREQ(node.getDisplayName().cStr(), "a node");
        ASSERT_EQ(node.getNestedNodes().size(), 3u);
        EXPECT_STREQ(node.getNestedNodes()[2].getName().cStr(), "nested 2");
        const void* text = node.getDisplayName().begin();
        EXPECT_TRUE(text >= bytes.data() && text < bytes.data() + bytes.size()) << "the text was copied";
        CapnpObject moved = std::move(object);
        EXPECT_FALSE(alive.expired()) << "the owner was let go before the reader";
        EXPECT_EQ(moved.root<Node>().getId(), 42u);
    }
    EXPECT_TRUE(alive.expired());
}

TEST(capnp, a_message_of_several_segments_is_stored_as_one) {
    capnp::MallocMessageBuilder message(1, capnp::AllocationStrategy::FIXED_SIZE);
    fill(message);
    ASSERT_GT(message.getSegmentsForOutput().size(), 3u);
    const auto words = encoded(message);
    CapnpObject object(0, bytes_of(words));
    EXPECT_STREQ(object.root<Node>().getNestedNodes()[1].getName().cStr(), "nested 1");
}

TEST(capnp, a_message_loads_into_a_builder_of_ones_own) {
    capnp::MallocMessageBuilder message;
    fill(message);
    const auto words = encoded(message);
    capnp::MallocMessageBuilder loaded;
    decode_object(SerializerType::capnproto, bytes_of(words), loaded);
    EXPECT_EQ(loaded.getRoot<Node>().getId(), 42u);
}

TEST(capnp, bytes_that_are_no_words_are_refused) {
    alignas(8) const std::array<std::byte, 24> bytes{};
    const auto code_of = [&](std::span<const std::byte> part) {
        try {
            CapnpObject object(0, part);
            (void)object.root<Node>();
        } catch (const Error& error) {
            return error.kind();
        }
        return Code{0};
    };
    EXPECT_EQ(code_of(std::span(bytes).first(0)), Code::corrupt);
    EXPECT_EQ(code_of(std::span(bytes).first(7)), Code::corrupt);
    EXPECT_EQ(code_of(std::span(bytes).subspan(4, 16)), Code::invalid_argument);
}

/// Reads everything, as a program would.
Code code_of_reading(std::span<const std::byte> bytes) {
    try {
        CapnpObject object(0, bytes);
        const auto node = object.root<Node>();
        std::size_t size = node.getDisplayName().size() + node.totalSize().wordCount;
        for (const auto nested : node.getNestedNodes()) size += nested.getName().size();
        EXPECT_LT(size, 1u << 30);
    } catch (const Error& error) {
        return error.kind();
    } catch (const kj::Exception&) {
        return Code::corrupt;  // Cap'n Proto's own accessors
    }
    return Code{0};
}

TEST(capnp, truncated_messages_are_corrupt_or_read_inside_what_is_left) {
    capnp::MallocMessageBuilder message;
    fill(message);
    const auto words = encoded(message);
    for (std::size_t count = 1; count < words.size(); ++count) {
        const GuardedBytes guarded(count * sizeof(capnp::word));
        std::copy_n(bytes_of(words).begin(), guarded.bytes().size(), guarded.bytes().begin());
        EXPECT_EQ(code_of_reading(guarded.bytes()), Code::corrupt) << count;
        capnp::MallocMessageBuilder loaded;
        EXPECT_THROW(decode_object(SerializerType::capnproto, guarded.bytes(), loaded), Error);
    }
}

TEST(capnp, scribbled_messages_are_read_or_corrupt_and_nothing_else) {
    capnp::MallocMessageBuilder message;
    fill(message);
    const auto words = encoded(message);
    const GuardedBytes guarded(words.size() * sizeof(capnp::word));
    std::mt19937 random(1);
    for (int round = 0; round < 5000; ++round) {
        std::copy(bytes_of(words).begin(), bytes_of(words).end(), guarded.bytes().begin());
        for (int change = 0; change < 3; ++change)
            guarded.bytes()[random() % guarded.bytes().size()] = static_cast<std::byte>(random());
        const Code code = code_of_reading(guarded.bytes());
        EXPECT_TRUE(code == Code{0} || code == Code::corrupt);
    }
}

TEST(capnp, a_reader_goes_only_as_far_as_its_options_allow) {
    capnp::MallocMessageBuilder message;
    message.initRoot<capnp::AnyPointer>().initAs<capnp::Data>(1 << 20);
    const auto words = encoded(message);
    capnp::ReaderOptions options;
    options.traversalLimitInWords = 100;
    CapnpObject object(0, bytes_of(words), options);
    EXPECT_THROW((void)object.root<capnp::AnyPointer>().getAs<capnp::Data>(), kj::Exception);
}

TEST(capnp, a_large_message_goes_into_the_mapping_without_a_buffer) {
    if (!memory_is_countable) GTEST_SKIP() << "sanitizers keep memory of their own";
    constexpr unsigned size = 256u << 20;
    capnp::MallocMessageBuilder message;
    auto data = message.initRoot<capnp::AnyPointer>().initAs<capnp::Data>(size);
    std::memset(data.begin(), 7, size);

    const auto before = anonymous_bytes();
    const auto encoder = make_encoder(SerializerType::capnproto, message);
    const SharedMapping mapping(encoder->size_bytes());
    encoder->encode(mapping.bytes());
    CapnpObject object(0, mapping.bytes());
    const auto loaded = object.root<capnp::AnyPointer>().getAs<capnp::Data>();
    ASSERT_EQ(loaded.size(), size);
    EXPECT_EQ(std::count(loaded.begin(), loaded.end(), 7), size);
    EXPECT_LT(anonymous_bytes() - before, std::int64_t{16} << 20);
}

}  // namespace
}  // namespace pmemcpy::codec
