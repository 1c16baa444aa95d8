#pragma once

#include <pmemcpy/copy.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/folder.hpp"

namespace pmemcpy {

/// Two pools: tests copy or move from the one to the other.
class copying : public testing::Test {
protected:
    copying() {
        open(source, "source");
        open(target, "target");
    }

    void open(PMEM& pmem, const std::string& name) const {
        Options options;
        options.max_bytes = 64 << 20;
        options.chunk_bytes = 64 << 10;
        options.verify_loads = true;
        pmem.mmap(folder_ / name, options);
    }

    void copy(const std::string& id, bool force = false) {
        copy_variable(source, id, target, id, force, [&](std::uint64_t bytes) { copied_bytes += bytes; });
    }

    void move(const std::string& id, bool force = false) {
        move_variable(source, id, target, id, force, [](std::uint64_t) {});
    }

    /// The variables that a move has left under names of its own.
    static std::vector<std::string> set_aside(const PMEM& pmem) {
        std::vector<std::string> ids = pmem.ids();
        std::erase_if(ids, [](const std::string& id) { return id.find(".moved-") == std::string::npos; });
        return ids;
    }

    template <class T>
    std::vector<T> loaded(const PMEM& pmem, const std::string& id) const {
        const Dimensions dims = pmem.load_dims(id);
        std::vector<T> data(dims.elements());
        pmem.load(id, data.data(), Box::whole(dims));
        return data;
    }

    /// The copy holds the same, in blocks of the same boxes, and nothing is damaged or left over.
    template <class T>
    void expect_same(const std::string& id) {
        const Info a = source.info(id), b = target.info(id);
        EXPECT_EQ(a.type, b.type);
        EXPECT_EQ(a.dims, b.dims);
        EXPECT_EQ(a.is_unlimited, b.is_unlimited);
        EXPECT_EQ(a.order, b.order);
        EXPECT_EQ(a.codec, b.codec);
        EXPECT_EQ(a.serializer, b.serializer);
        EXPECT_EQ(a.is_contiguous, b.is_contiguous);
        EXPECT_EQ(a.is_frozen, b.is_frozen);
        EXPECT_EQ(a.fill_value, b.fill_value);
        EXPECT_EQ(source.attributes(id), target.attributes(id));
        const auto from = source.blocks(id), to = target.blocks(id);
        ASSERT_EQ(from.size(), to.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
            EXPECT_EQ(from[i].box, to[i].box);
            EXPECT_EQ(from[i].codec, to[i].codec);
        }
        EXPECT_EQ(loaded<T>(source, id), loaded<T>(target, id));
        EXPECT_TRUE(target.verify().empty());
        EXPECT_EQ(target.ids("."), std::vector<std::string>{});
    }

    static std::vector<double> numbers(std::size_t count, double first = 0) {
        std::vector<double> data(count);
        std::iota(data.begin(), data.end(), first);
        return data;
    }

    PMEM source;
    PMEM target;
    std::uint64_t copied_bytes = 0;

private:
    Folder folder_;
};

}  // namespace pmemcpy
