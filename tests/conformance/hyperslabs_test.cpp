// Thousands of random stores and loads of hyperslabs, each compared with a model in DRAM, element by element.

#include <cstdint>
#include <optional>
#include <pmemcpy/pmemcpy.hpp>
#include <random>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(hyperslabs);

constexpr int guard = 0x5A5A5A5A;

struct Shape {
    Dimensions dims;
    Order order = Order::c;
    Codec codec = {};
    bool has_fill = false;
    bool strided = true;
};

/// An array in the pool beside what it must hold.
class Model {
public:
    Model(PMEM& pmem, std::string id, const Shape& shape, std::uint64_t seed)
        : pmem_(pmem), id_(std::move(id)), shape_(shape), random_(seed), cells_(shape.dims.elements()) {
        ArrayOptions options;
        options.order = shape.order;
        options.codec = shape.codec;
        if (shape.has_fill) options.fill(-1);
        pmem_.alloc<int>(id_, shape.dims, options);
    }

    void store() {
        const Selection selection = any_selection();
        std::vector<int> data(selection.elements());
        for (int& value : data) value = ++counter_;
        pmem_.store<int>(id_, data.data(), selection);
        std::size_t next = 0;
        for_each(selection, [&](std::size_t cell) { cells_[cell] = data[next++]; });
    }

    void load() const {
        const Selection selection = any_selection();
        const std::uint64_t n = selection.elements();
        std::vector<int> found(n + 2, guard);
        bool complete = true;
        std::vector<int> expected;
        for_each(selection, [&](std::size_t cell) {
            complete = complete && cells_[cell].has_value();
            expected.push_back(cells_[cell].value_or(-1));
        });
        try {
            pmem_.load<int>(id_, found.data() + 1, selection);
            ASSERT_TRUE(complete || shape_.has_fill) << id_ << " " << to_string(selection) << " has holes";
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), found.begin() + 1))
                << id_ << " " << to_string(selection);
        } catch (const Error& error) {
            ASSERT_EQ(error.kind(), Code::not_found) << error.what();
            ASSERT_FALSE(complete || shape_.has_fill) << id_ << ": " << error.what();
        }
        ASSERT_EQ(found.front(), guard);
        ASSERT_EQ(found.back(), guard);
    }

    void compact() const { pmem_.compact(); }
    int below(int n) const { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

private:
    Selection any_selection() const {
        const int n = shape_.dims.size();
        Selection s(Dimensions::filled(n, 0), Dimensions::filled(n, 1));
        const bool whole = below(12) == 0;
        for (int d = 0; d < n; ++d) {
            const auto extent = static_cast<int>(shape_.dims[d]);
            const int offset = whole ? 0 : below(extent);
            const int stride = whole || !shape_.strided || below(3) != 0 ? 1 : 1 + below(3);
            const int most = (extent - offset + stride - 1) / stride;
            s.offset[d] = static_cast<std::uint64_t>(offset);
            s.count[d] = static_cast<std::uint64_t>(whole ? most : 1 + below(most));
            s.stride[d] = static_cast<std::uint64_t>(stride);
        }
        return s;
    }

    /// Visits the cells in the order in which a buffer holds them.
    template <class Visit>
    void for_each(const Selection& s, const Visit& visit) const {
        const int n = s.size();
        Dimensions index = Dimensions::filled(n, 0);
        for (std::uint64_t left = s.elements(); left > 0; --left) {
            std::size_t cell = 0;
            for (int d = 0; d < n; ++d) cell = cell * shape_.dims[d] + s.offset[d] + index[d] * s.stride[d];
            visit(cell);
            for (int i = 0; i < n; ++i) {
                const int d = shape_.order == Order::c ? n - 1 - i : i;
                if (++index[d] < s.count[d]) break;
                index[d] = 0;
            }
        }
    }

    PMEM& pmem_;
    std::string id_;
    Shape shape_;
    mutable std::mt19937_64 random_;
    std::vector<std::optional<int>> cells_;
    int counter_ = 0;
};

std::vector<Shape> shapes() {
    std::vector<Shape> all = {
        {{200}},
        {{24, 18}},
        {{24, 18}, Order::fortran},
        {{9, 8, 7}},
        {{9, 8, 7}, Order::fortran, {}, true},
        {{5, 4, 3, 4, 3}, Order::c, {}, true},
        {{2, 2, 2, 2, 2, 2, 2, 2}},
        {{300, 200}, Order::c, {}, true},
        {{40, 30}, Order::c, {}, false, false},
    };
    if (is_available(Codec::Kind::lz4)) {
        all.push_back({{24, 18}, Order::c, {Codec::Kind::lz4, 1, true}, true});
        all.push_back({{12, 12, 6}, Order::fortran, {Codec::Kind::zstd, 3, false}, false});
    }
    return all;
}

TEST_P(hyperslabs, random_stores_and_loads_agree_with_a_model) {
    open();
    std::uint64_t seed = 20240607;
    for (const Shape& shape : shapes()) {
        Model model(pmem, "array " + std::to_string(seed), shape, seed);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", shape " + to_string(shape.dims));
        for (int i = 0; i < 800 && !HasFatalFailure(); ++i) {
            if (model.below(5) < 2) {
                model.store();
            } else {
                model.load();
            }
            if (i % 199 == 198) model.compact();
        }
        if (HasFatalFailure()) return;
        ++seed;
    }
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_P(hyperslabs, what_was_stored_at_random_outlives_close_and_crash) {
    open();
    Model model(pmem, "A", {{24, 18}}, 7);
    for (int round = 0; round < 6 && !HasFatalFailure(); ++round) {
        for (int i = 0; i < 50; ++i) model.store();
        reopen();
        for (int i = 0; i < 100 && !HasFatalFailure(); ++i) model.load();
    }
}

TEST_P(hyperslabs, every_stride_of_a_line) {
    open();
    constexpr std::uint64_t n = 37;
    std::vector<int> line(n);
    for (std::uint64_t i = 0; i < n; ++i) line[i] = static_cast<int>(i);
    pmem.alloc<int>("line", Dimensions{n});
    pmem.store<int>("line", line.data(), Box{{0}, {n}});
    for (std::uint64_t offset = 0; offset < n; ++offset) {
        for (std::uint64_t stride = 1; stride < 9; ++stride) {
            const std::uint64_t count = (n - offset + stride - 1) / stride;
            std::vector<int> found(count, guard);
            pmem.load<int>("line", found.data(), Selection({offset}, {count}, {stride}));
            for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(found[i], line[offset + i * stride]);
            std::vector<int> one_more(count + 1);
            expect_error(Code::out_of_range, [&] {
                pmem.load<int>("line", one_more.data(), Selection({offset}, {count + 1}, {stride}));
            });
        }
    }
}

TEST_P(hyperslabs, selections_that_make_no_sense_are_refused) {
    open();
    pmem.alloc<int>("A", Dimensions{10, 10});
    const std::vector<int> data(100);
    pmem.store<int>("A", data.data(), Box{{0, 0}, {10, 10}});
    std::vector<int> into(100, guard);
    const auto load = [&](const Selection& s) { pmem.load<int>("A", into.data(), s); };
    const auto store = [&](const Selection& s) { pmem.store<int>("A", data.data(), s); };
    for (const auto& [call, name] :
         {std::pair<std::function<void(const Selection&)>, const char*>{load, "load"}, {store, "store"}}) {
        SCOPED_TRACE(name);
        expect_error(Code::out_of_range, [&] { call(Box{{0, 5}, {10, 6}}); }, {"10 x 10"});
        expect_error(Code::out_of_range, [&] { call(Box{{10, 0}, {1, 1}}); });
        expect_error(Code::out_of_range, [&] { call(Box{{0, UINT64_MAX}, {1, 2}}); });
        expect_error(Code::out_of_range, [&] { call(Selection({0, 0}, {5, 5}, {3, 1})); });
        expect_error(Code::out_of_range, [&] { call(Selection({1, 1}, {2, 2}, {UINT64_MAX, 1})); });
        expect_error(Code::invalid_argument, [&] { call(Selection({0, 0}, {2, 2}, {0, 1})); });
        expect_error(Code::invalid_argument, [&] { call(Box{{0}, {10}}); });
        expect_error(Code::invalid_argument, [&] { call(Box{{0, 0, 0}, {1, 1, 1}}); });
    }
    EXPECT_EQ(into, std::vector<int>(100, guard));
}

}  // namespace
}  // namespace pmemcpy::conformance
