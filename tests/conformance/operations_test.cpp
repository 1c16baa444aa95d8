// Length: one promise after another of the same few operations.
// Operations on what is stored: what comes of them, whoever does them, and whatever happens to him.

#include <pmemcpy/operations.hpp>
#include <pmemcpy/scope.hpp>
#include <pmemcpy/tiers.hpp>

#include "os/process.hpp"
#include "tests/conformance/outcome.hpp"
#include "tests/folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;
using Progress = OperationState::Progress;
using Ids = std::vector<std::string>;

constexpr std::uint64_t n = 1000;

class operations : public testing::Test {
protected:
    PMEM open(Mode mode = Mode::create_or_update) const {
        Options options;
        options.mode = mode;
        options.max_bytes = 64 << 20;
        options.wipe = true;  // so that something may become private while the pool is open elsewhere
        PMEM pool;
        pool.mmap(path_, options);
        return pool;
    }
    /// Numbers of which each comes twice, in no order.
    static std::vector<double> numbers(double first = 0) {
        std::vector<double> values(n);
        for (std::uint64_t i = 0; i < n; ++i) values[i] = first + static_cast<double>((i * 7) % (n / 2));
        return values;
    }
    static void store(PMEM& pool, const std::string& id, double first = 0, const ArrayOptions& options = {}) {
        pool.alloc<double>(id, {n}, options);
        pool.store<double>(id, numbers(first).data(), Box{{0}, {n}});
    }
    template <class T = double>
    static std::vector<T> load(const PMEM& pool, const std::string& id) {
        std::vector<T> values(pool.load_dims(id).elements());
        pool.load<T>(id, values.data(), Box::whole(pool.load_dims(id)));
        return values;
    }
    static std::vector<double> in_order(std::vector<double> values) {
        std::sort(values.begin(), values.end());
        return values;
    }
    /// Its library, from source as the user would write it, with its own text in place of BODY.
    std::string source(const std::string& body, const std::string& name = "f.cpp") const {
        std::ofstream file(folder_ / name);
        file << "#include <pmemcpy/operation.h>\n#include <csignal>\n#include <cstdio>\n#include <cstdlib>\n"
                "#include <stdexcept>\n#include <vector>\n#include <unistd.h>\n"
                "static double* like_input(pmemcpy_operation_call* call) {\n"
                "    return static_cast<double*>(call->output(call, call->input.kind, call->input.ndims, "
                "call->input.dims));\n"
                "}\n"
                "PMEMCPY_OPERATION(call) {\n"
                "    const double* in = static_cast<const double*>(call->input.data);\n"
                "    static_cast<void>(in);\n"
             << body << "\n}\n";
        return folder_ / name;
    }
    static constexpr const char* doubles =
        "double* out = like_input(call); for (uint64_t i = 0; i < call->input.elements; ++i) out[i] = 2 * "
        "in[i]; return 0;";

    static void expect(Code code, const std::string& text, const std::function<void()>& call) {
        EXPECT_EQ(code_of(call, text), code) << "expected " << name_of(code) << " with " << text;
    }
    /// What a function with this body fails with; the array is as it was and no result is there.
    void expect_failure(Code code, const std::string& text, const std::string& body,
                        const OperationLimits& limits = {}) {
        PMEM pool = open();
        store(pool, "u");
        const std::uint32_t bit = add_operation(pool, "f", source(body), limits);
        expect(code, text, [&] { run_operations(pool, "u", {bit}); });
        hint(pool, "u", {bit});
        wait_for_operations(pool);
        const OperationState state = operation_state(pool, "u");
        EXPECT_EQ(state.progress, Progress::failed);
        EXPECT_NE(state.trouble.find(text), std::string::npos) << state.trouble;
        EXPECT_EQ(load(pool, "u"), numbers());
        EXPECT_EQ(pool.ids(), Ids{"u"});
        EXPECT_TRUE(pool.verify().empty());
    }

    Folder folder_;
    std::string path_ = folder_ / "pool";
};

TEST_F(operations, make_variables_of_what_is_stored_and_anew_when_it_is_stored_anew) {
    PMEM pool = open();
    ArrayOptions options;
    options.hint = {operation::minimum | operation::maximum | operation::sum | operation::sort};
    pool.alloc<double>("g/u", {n}, options);
    EXPECT_EQ(hint_of(pool, "g/u"), options.hint);
    for (const double first : {0.0, 10.0}) {
        store(pool, "g/u", first);
        wait_for_operations(pool);
        EXPECT_EQ(operation_state(pool, "g/u").progress, Progress::done)
            << operation_state(pool, "g/u").trouble;
        EXPECT_EQ(pool.load<double>("g/u.min"), first);
        EXPECT_EQ(pool.load<double>("g/u.max"), first + n / 2 - 1);
        const std::vector<double> stored = numbers(first);
        EXPECT_EQ(pool.load<double>("g/u.sum"), std::accumulate(stored.begin(), stored.end(), 0.0));
        EXPECT_EQ(load(pool, "g/u.sorted"), in_order(stored));
        EXPECT_EQ(load(pool, "g/u"), stored);
    }
    EXPECT_EQ(pool.ids(), (Ids{"g/u", "g/u.max", "g/u.min", "g/u.sorted", "g/u.sum"}));
}

TEST_F(operations, of_an_array_that_was_stored_before_it_had_a_hint_are_done_too) {
    PMEM pool = open();
    store(pool, "u");
    hint(pool, "u", {operation::maximum});
    wait_for_operations(pool);
    EXPECT_EQ(pool.load<double>("u.max"), n / 2 - 1);
    hint(pool, "u", {});
    EXPECT_EQ(operation_state(pool, "u").progress, Progress::none);
    store(pool, "u", 5);
    wait_for_operations(pool);
    EXPECT_EQ(pool.load<double>("u.max"), n / 2 - 1) << "nothing is done any more";
}

TEST_F(operations, say_what_their_results_come_of) {
    PMEM pool = open();
    store(pool, "u");
    EXPECT_EQ(run_operations(pool, "u", {operation::deduplicate | operation::sort}), Ids{"u.unique.sorted"});
    EXPECT_EQ(pool.get_attribute<std::string>("u.unique.sorted", "operation"), "deduplicate, sort");
    EXPECT_EQ(pool.get_attribute<std::string>("u.unique.sorted", "operation_source"), "u");
    EXPECT_EQ(pool.get_attribute<std::string>("u.unique.sorted", "operation_program"), os::program_name());
    using Time = datetime64<TimeUnit::nanosecond>;
    EXPECT_GT(pool.get_attribute<Time>("u.unique.sorted", "operation_time").ticks, 0);
    const auto version = pool.get_attribute<std::uint64_t>("u.unique.sorted", "operation_version");
    run_operations(pool, "u", {operation::sort});
    EXPECT_EQ(pool.get_attribute<std::uint64_t>("u.sorted", "operation_version"), version)
        << "of the same content";
    store(pool, "u", 3);
    run_operations(pool, "u", {operation::sort});
    EXPECT_NE(pool.get_attribute<std::uint64_t>("u.sorted", "operation_version"), version);
}

TEST_F(operations, histogram_counts_what_a_loop_counts) {
    PMEM pool = open();
    store(pool, "u");
    run_operations(pool, "u", {.mask = operation::histogram, .bins = 7});
    EXPECT_EQ(pool.get_attribute<double>("u.histogram", "low"), 0);
    EXPECT_EQ(pool.get_attribute<double>("u.histogram", "high"), 499);
    std::vector<std::uint64_t> counts(7, 0);
    for (const double x : numbers())
        ++counts[std::min<std::size_t>(6, static_cast<std::size_t>(x * 7 / 499))];
    EXPECT_EQ(load<std::uint64_t>(pool, "u.histogram"), counts);
}

TEST_F(operations, compress_and_decompress_leave_the_same_elements_and_are_no_new_content) {
    PMEM pool = open();
    pool.alloc<double>("u", {n});
    // In blocks, of which one covers part of another.
    const std::vector<double> zeros(n, 1.0);
    pool.store<double>("u", zeros.data(), Box{{0}, {n}});
    pool.store<double>("u", numbers().data(), Selection({0}, {100}, {3}));
    std::vector<double> before = load(pool, "u");
    const auto shown = pool.view<double>("u", Box{{400}, {600}});
    hint(pool, "u", {operation::compress});
    wait_for_operations(pool);
    EXPECT_EQ(operation_state(pool, "u").progress, Progress::done) << operation_state(pool, "u").trouble;
    EXPECT_EQ(load(pool, "u"), before);
    const std::vector<BlockInfo> packed = pool.blocks("u");
    EXPECT_TRUE(std::any_of(packed.begin(), packed.end(),
                            [](const BlockInfo& b) { return b.codec == Codec::Kind::lz4; }));
    EXPECT_LT(pool.info("u").stored_bytes, n * 8);
    EXPECT_EQ(shown.data()[0], 1.0) << "a view keeps what it shows";
    EXPECT_EQ(packed[0].max_as<double>(), 1.0);
    hint(pool, "u", {operation::decompress});
    wait_for_operations(pool);
    EXPECT_EQ(load(pool, "u"), before);
    for (const BlockInfo& block : pool.blocks("u")) EXPECT_EQ(block.codec, Codec::Kind::none);
    EXPECT_EQ(pool.view<double>("u", Box{{400}, {600}}).data()[0], 1.0);
    EXPECT_TRUE(pool.verify().empty());
    EXPECT_EQ(pool.ids(), Ids{"u"});
}

TEST_F(operations, work_in_the_directory_layout_too) {
    const std::string path = folder_ / "directory/";
    PMEM pool;
    pool.mmap(path);
    store(pool, "u");
    const std::uint32_t bit = add_operation(pool, "f", source(doubles));
    run_operations(pool, "u", {operation::sort | bit | operation::compress});
    run_operations(pool, "u", {operation::compress});
    EXPECT_EQ(pool.blocks("u").at(0).codec, Codec::Kind::lz4);
    EXPECT_EQ(load(pool, "u"), numbers());
    EXPECT_EQ(load(pool, "u.sorted.f")[2], 2 * in_order(numbers())[2]);
    EXPECT_TRUE(pool.verify().empty());
    run_operations(pool, "u", {operation::decompress});
    std::vector<double> bytes(n);
    std::ifstream(path + "u").read(reinterpret_cast<char*>(bytes.data()), n * 8);
    EXPECT_EQ(bytes, numbers()) << "as any program reads it";
}

TEST_F(operations, in_a_chain_end_sorted_compressed_and_in_the_lowest_target) {
    const Folder below;
    fs::create_directory(below / "pfs");
    PMEM pool = open();
    Hierarchy hierarchy;
    hierarchy.targets = {
        {.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {9e9, 1e-6}},
        {.name = "pfs",
         .kind = TargetKind::shared,
         .path = below / "pfs",
         .write = {1e8, 1e-3},
         .read = {1e8, 1e-3}}};
    hierarchy.mode = Buffering::none;
    set_hierarchy(pool, hierarchy);
    hint(pool, (store(pool, "u"), "u"), {operation::sort | operation::compress | operation::persist});
    wait_for_operations(pool);
    EXPECT_EQ(operation_state(pool, "u").progress, Progress::done) << operation_state(pool, "u").trouble;
    EXPECT_EQ(load(pool, "u.sorted"), in_order(numbers()));
    for (const BlockInfo& block : pool.blocks("u.sorted")) EXPECT_EQ(block.codec, Codec::Kind::lz4);
    for (const Receipt& receipt : receipts(pool, "u.sorted")) EXPECT_TRUE(receipt.is_flushed);
    for (const Receipt& receipt : receipts(pool, "u")) EXPECT_FALSE(receipt.is_flushed);
    // In place, after it was flushed raw: the copy is made of what is there now.
    flush(pool, "u");
    run_operations(pool, "u", {operation::compress | operation::persist});
    for (const Receipt& receipt : receipts(pool, "u")) EXPECT_TRUE(receipt.is_flushed);
    move(pool, "u", "pfs");
    EXPECT_EQ(load(pool, "u"), numbers());
    EXPECT_TRUE(pool.verify().empty());
}

TEST_F(operations, wait_for_the_rest_of_an_array_and_for_the_end_of_a_step) {
    PMEM pool = open();
    pool.alloc<double>("u", {n}, [] {
        ArrayOptions options;
        options.hint = {operation::maximum};
        return options;
    }());
    pool.store<double>("u", numbers().data(), Box{{0}, {n / 2}});
    wait_for_operations(pool);
    EXPECT_EQ(operation_state(pool, "u").progress, Progress::waiting);
    pool.store<double>("u", numbers().data(), Box{{n / 2}, {n / 2}});
    wait_for_operations(pool);
    EXPECT_EQ(pool.load<double>("u.max"), n / 2 - 1);
    pool.begin(1);
    store(pool, "u", 100);
    wait_for_operations(pool);
    EXPECT_EQ(pool.load<double>("u.max"), n / 2 - 1);
    pool.commit(1);
    wait_for_operations(pool);
    EXPECT_EQ(pool.load<double>("u.max"), 100 + n / 2 - 1);
}

TEST_F(operations, replace_no_variable_that_is_not_theirs) {
    PMEM pool = open();
    store(pool, "u");
    pool.store("u.max", 5.0);
    expect(Code::already_exists, "u.max", [&] { run_operations(pool, "u", {operation::maximum}); });
    EXPECT_EQ(pool.load<double>("u.max"), 5.0);
}

TEST_F(operations, on_a_result_are_done_when_it_is_made_anew) {
    PMEM pool = open();
    store(pool, "u");
    hint(pool, "u", {operation::deduplicate});
    wait_for_operations(pool);
    hint(pool, "u.unique", {operation::sum});
    store(pool, "u", 1);
    wait_for_operations(pool);
    wait_for_operations(pool);
    EXPECT_EQ(pool.load<double>("u.unique.sum"), 499.0 * 500 / 2 + 500);
}

TEST_F(operations, of_what_is_private_are_private) {
    PMEM pool = open();
    store(pool, "u");
    hint(pool, "u", {operation::maximum});
    wait_for_operations(pool);
    pool.erase("u.max");
    set_scope(pool, "u", Scope::own);
    EXPECT_EQ(hint_of(pool, "u"), Hint{operation::maximum});
    store(pool, "u", 7);
    hint(pool, "u", {operation::minimum});
    wait_for_operations(pool);
    EXPECT_EQ(pool.load<double>("u.min"), 7);
    EXPECT_EQ(scope_of(pool, "u.min"), Scope::own);
}

TEST_F(operations, of_a_function_in_a_source_file_are_called_between_sort_and_compress) {
    PMEM pool = open();
    store(pool, "u");
    const std::uint32_t bit = add_operation(pool, "doubled", source(doubles));
    EXPECT_EQ(bit, operation::registered(0));
    EXPECT_EQ(run_operations(pool, "u", {operation::sort | bit | operation::compress}),
              Ids{"u.sorted.doubled"});
    std::vector<double> expected = in_order(numbers());
    for (double& x : expected) x *= 2;
    EXPECT_EQ(load(pool, "u.sorted.doubled"), expected);
    EXPECT_EQ(pool.info("u.sorted.doubled").codec.kind, Codec::Kind::lz4);
    EXPECT_EQ(operation_names(pool, operation::sort | bit | operation::compress),
              (Ids{"sort", "doubled", "compress"}));
    EXPECT_EQ(operation_mask(pool, {"doubled", "sort"}), operation::sort | bit);
    expect(Code::invalid_argument, "no operation 'tripled'", [&] { operation_mask(pool, {"tripled"}); });
}

TEST_F(operations, of_a_library_are_those_of_another_process_too) {
    {
        PMEM pool = open();
        add_operation(pool, "f", source(doubles));
    }
    const std::string library = folder_ / "copy.so";
    fs::copy_file(path_ + ".ops/f.so", library);
    PMEM pool = open();
    const std::uint32_t bit = add_operation(pool, "g", library, {.seconds = 100, .bytes = 1 << 20});
    fs::remove(library);
    const auto all = registered_operations(pool);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].name, "g");
    EXPECT_EQ(all[1].number, 1);
    EXPECT_EQ(all[1].limits.seconds, 100);
    EXPECT_EQ(all[1].library, path_ + ".ops/g.so");
    EXPECT_EQ(all[1].trouble, "");
    store(pool, "u");
    run_operations(pool, "u", {bit});
    EXPECT_EQ(load(pool, "u.g")[1], 2 * numbers()[1]);
}

TEST_F(operations, of_a_function_of_this_process_wait_for_such_a_process) {
    {
        PMEM pool = open();
        store(pool, "u");
        const std::uint32_t bit = add_operation(pool, "negated", [](const OperationArray& in) {
            OperationArray out = in;
            auto* values = reinterpret_cast<double*>(out.data.data());
            for (std::uint64_t i = 0; i < in.dims.elements(); ++i) values[i] = -values[i];
            return out;
        });
        hint(pool, "u", {bit});
        wait_for_operations(pool);
        EXPECT_EQ(load(pool, "u.negated")[1], -numbers()[1]);
    }
    PMEM pool = open();
    store(pool, "u", 3);
    wait_for_operations(pool);
    EXPECT_EQ(operation_state(pool, "u").progress, Progress::waiting);
    EXPECT_NE(registered_operations(pool)[0].trouble, "");
    EXPECT_EQ(
        add_operation(pool, "negated",
                      [](const OperationArray&) -> OperationArray { throw std::runtime_error("not today"); }),
        operation::registered(0));
    wait_for_operations(pool);
    EXPECT_EQ(operation_state(pool, "u").trouble, "not today");
}

TEST_F(operations, that_say_why_they_fail_are_heard) {
    expect_failure(Code::invalid_argument, "function 'f': too cold",
                   "return call->fail(call, \"too cold\");");
}
TEST_F(operations, that_throw_are_heard) {
    expect_failure(Code::invalid_argument, "too hot", "throw std::runtime_error(\"too hot\");");
}
TEST_F(operations, that_crash_harm_nothing_and_are_told) {
    expect_failure(Code::io_error, "killed by signal 11", "*(volatile int*)8 = 1; return 0;");
}
TEST_F(operations, that_abort_are_told_with_what_they_printed) {
    expect_failure(Code::io_error, "last words", "fputs(\"last words\\n\", stderr); abort();");
}
TEST_F(operations, that_exit_are_told) {
    expect_failure(Code::io_error, "without an answer", "like_input(call); _exit(0);");
}
TEST_F(operations, that_hang_are_stopped) {
    expect_failure(Code::io_error, "longer than", "for (;;) pause();", {.seconds = 0.5});
}
TEST_F(operations, that_want_more_memory_than_they_may_have_get_none) {
    expect_failure(Code::invalid_argument, "bad_alloc", "std::vector<char> all(1ull << 32); return all[5];",
                   {.bytes = 1 << 20});
}
TEST_F(operations, that_want_a_larger_output_than_they_may_have_get_none) {
    expect_failure(Code::invalid_argument, "larger output",
                   "uint64_t dims[1] = {1ull << 40}; return !call->output(call, PMEMCPY_FLOAT64, 1, dims);");
}
TEST_F(operations, that_make_no_output_are_told) {
    expect_failure(Code::invalid_argument, "no output", "return 0;");
}
TEST_F(operations, that_write_far_beyond_their_output_are_stopped) {
    expect_failure(Code::io_error, "killed by signal",
                   "double* out = like_input(call); for (int i = 0; i < 100000; ++i) out[i] = 1; return 0;");
}
// The output lies in a file that the function can write: whatever it writes there is looked at.
TEST_F(operations, that_lie_about_the_size_of_their_output_are_found_out) {
    expect_failure(Code::corrupt, "another size",
                   "like_input(call);\n"
                   "int cut = 0;\n"
                   "for (int fd = 3; fd < 100; ++fd)\n"
                   "    if (lseek(fd, 0, SEEK_END) == 4096 + 8 * 1000) cut += ftruncate(fd, 5000) == 0;\n"
                   "return cut == 0;");
}
// A result of damaged bytes was stored with a good checksum, and nothing told of the damage any more.
TEST_F(operations, on_damaged_bytes_are_errors_that_name_the_damage) {
    PMEM pool = open();
    store(pool, "u");
    const_cast<double*>(pool.view<double>("u").data())[7] = -1e9;
    expect(Code::corrupt, "another checksum", [&] { run_operations(pool, "u", {operation::minimum}); });
    hint(pool, "u", {operation::minimum | operation::sort});
    wait_for_operations(pool);
    const OperationState state = operation_state(pool, "u");
    EXPECT_EQ(state.progress, Progress::failed);
    EXPECT_NE(state.trouble.find("block [0:1000] of 'u' has another checksum"), std::string::npos)
        << state.trouble;
    EXPECT_EQ(pool.ids(), Ids{"u"});
}

// It waited for itself: for the lock of its array, or for the thread in which it ran.
TEST_F(operations, of_a_function_that_would_wait_for_itself_fail_at_once) {
    PMEM pool = open();
    store(pool, "u");
    const auto of = [&](const std::string& name, const std::function<void()>& call) {
        return add_operation(pool, name, [call](const OperationArray& in) { return call(), in; });
    };
    const std::uint32_t operates = of("operates", [&] { run_operations(pool, "u", {operation::maximum}); });
    const std::uint32_t waits = of("waits", [&] { wait_for_operations(pool); });
    for (const std::uint32_t bit : {operates, waits}) {
        expect(Code::unsupported, "inside a registered function", [&] { run_operations(pool, "u", {bit}); });
        hint(pool, "u", {bit});
        wait_for_operations(pool);
        EXPECT_NE(operation_state(pool, "u").trouble.find("inside a registered function"), std::string::npos);
    }
    EXPECT_EQ(run_operations(pool, "u", {operation::maximum}), Ids{"u.max"});
}

TEST_F(operations, cannot_scribble_over_what_they_were_given) {
    PMEM pool = open();
    store(pool, "u");
    const std::uint32_t bit = add_operation(
        pool, "f",
        source("const_cast<double*>(in)[0] = 77; double* out = like_input(call); out[0] = in[0]; return 0;"));
    run_operations(pool, "u", {bit});
    EXPECT_EQ(load(pool, "u.f")[0], 77);
    EXPECT_EQ(load(pool, "u"), numbers());
}
TEST_F(operations, may_write_no_file_where_the_kernel_can_forbid_it) {
    constexpr unsigned ask_for_version = 1;
    const long landlock = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, ask_for_version);
    PMEM pool = open();
    store(pool, "u");
    const std::uint32_t bit =
        add_operation(pool, "f",
                      source("FILE* f = fopen(\"" + (folder_ / "made") +
                             "\", \"w\"); if (f) fputs(\"x\", f); like_input(call); return 0;"));
    run_operations(pool, "u", {bit});
    if (landlock < 1) GTEST_SKIP() << "this kernel has no Landlock";
    EXPECT_FALSE(fs::exists(folder_ / "made"));
}

TEST_F(operations, of_a_library_that_others_may_write_are_not_called) {
    PMEM pool = open();
    store(pool, "u");
    const std::uint32_t bit = add_operation(pool, "f", source(doubles));
    fs::permissions(path_ + ".ops/f.so", fs::perms::group_write, fs::perm_options::add);
    expect(Code::permission_denied, "written by others", [&] { run_operations(pool, "u", {bit}); });
    EXPECT_NE(registered_operations(pool)[0].trouble, "");
    fs::permissions(path_ + ".ops/f.so", fs::perms::group_write, fs::perm_options::remove);
    fs::permissions(path_ + ".ops", fs::perms::others_write, fs::perm_options::add);
    hint(pool, "u", {bit});
    wait_for_operations(pool);
    EXPECT_EQ(operation_state(pool, "u").progress, Progress::waiting);
    expect(Code::permission_denied, "written by others", [&] { add_operation(pool, "g", source(doubles)); });
}

TEST_F(operations, of_bad_functions_are_refused_when_they_are_added) {
    PMEM pool = open();
    expect(Code::invalid_argument, "error", [&] { add_operation(pool, "f", source("return nothing;")); });
    expect(Code::not_found, "no file", [&] { add_operation(pool, "f", folder_ / "none.so"); });
    std::ofstream(folder_ / "text.so") << "no library";
    expect(Code::invalid_argument, "function 'f'", [&] { add_operation(pool, "f", folder_ / "text.so"); });
    std::ofstream(folder_ / "other.c") << "int other(void) { return 0; }\n";
    expect(Code::invalid_argument, "PMEMCPY_OPERATION",
           [&] { add_operation(pool, "f", folder_ / "other.c"); });
    std::ofstream(folder_ / "old.c")
        << "#include <stdint.h>\nconst __attribute__((visibility(\"default\"))) uint32_t "
           "pmemcpy_operation_version = 0;\n"
           "__attribute__((visibility(\"default\"))) int pmemcpy_operation(void* c) { return c == 0; }\n";
    expect(Code::invalid_argument, "another version", [&] { add_operation(pool, "f", folder_ / "old.c"); });
    for (const char* name : {"", "a/b", "..", "sort", "max", "unique"})
        expect(Code::invalid_argument, "cannot be called",
               [&] { add_operation(pool, name, source(doubles)); });
    EXPECT_TRUE(registered_operations(pool).empty());
    EXPECT_TRUE(!fs::exists(path_ + ".ops/f.so"));
    const Operate same = [](const OperationArray& in) { return in; };
    add_operation(pool, "f", same);
    expect(Code::already_exists, "'f'", [&] { add_operation(pool, "f", source(doubles)); });
    for (int i = 1; i < 16; ++i) add_operation(pool, "f" + std::to_string(i), same);
    expect(Code::no_space, "16 functions", [&] { add_operation(pool, "f16", same); });
    store(pool, "u");
    hint(pool, "u", {operation::registered(3)});
    expect(Code::busy, "'u'", [&] { remove_operation(pool, "f3"); });
    remove_operation(pool, "f4");
    EXPECT_EQ(add_operation(pool, "f16", same), operation::registered(4));
    expect(Code::not_found, "'none'", [&] { remove_operation(pool, "none"); });
}

TEST_F(operations, that_make_no_sense_are_refused) {
    PMEM pool = open();
    store(pool, "u");
    pool.store("value", 1.0);
    pool.alloc<double>("mapped", {4}, [] {
        ArrayOptions options;
        options.contiguous = true;
        return options;
    }());
    expect(Code::not_found, "none", [&] { hint(pool, "none", {operation::sort}); });
    expect(Code::invalid_argument, "no array", [&] { hint(pool, "value", {operation::sort}); });
    expect(Code::unsupported, "contiguous", [&] { hint(pool, "mapped", {operation::sort}); });
    expect(Code::invalid_argument, "bit 12", [&] { hint(pool, "u", {1U << 12}); });
    expect(Code::invalid_argument, "bit 20", [&] { hint(pool, "u", {1U << 20}); });
    expect(Code::invalid_argument, "exclude each other",
           [&] { hint(pool, "u", {operation::compress | operation::decompress}); });
    expect(Code::invalid_argument, "bins", [&] { hint(pool, "u", {operation::histogram, 0}); });
    expect(Code::invalid_argument, "codec", [&] { hint(pool, "u", {operation::compress, 1, Codec{}}); });
    expect(Code::invalid_argument, "bit 9", [&] {
        ArrayOptions options;
        options.hint = {1U << 9};
        pool.alloc<double>("new", {4}, options);
    });
    EXPECT_FALSE(pool.exists("new"));
    pool.alloc<std::complex<double>>("complex", {1});
    pool.store("complex", std::vector<std::complex<double>>(1).data(), Box{{0}, {1}});
    expect(Code::unsupported, "complex128", [&] { run_operations(pool, "complex", {operation::sort}); });
    PMEM reader = open(Mode::read);
    expect(Code::permission_denied, "", [&] { hint(reader, "u", {operation::sort}); });
}

TEST_F(operations, are_done_by_a_process_that_had_the_pool_open_before_there_was_any) {
    PMEM pool = open();
    store(pool, "u");
    const pid_t child = ::fork();
    if (child == 0) {
        PMEM own = open();
        hint(own, "u", {operation::maximum});
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    store(pool, "u", 1);  // which hears of it
    wait_for_operations(pool);
    EXPECT_EQ(pool.load<double>("u.max"), 1 + n / 2 - 1);
}

TEST_F(operations, are_finished_by_the_next_when_a_process_is_killed_in_the_middle) {
    constexpr int arrays = 8;
    const std::uint32_t chain = operation::sort | operation::compress | operation::sum;
    const auto name = [](int i) { return "u" + std::to_string(i); };
    for (int round = 0; round < 12; ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            PMEM pool = open();
            for (int i = 0; i < arrays; ++i) {
                store(pool, name(i), round);
                hint(pool, name(i), {chain});
            }
            ::pause();
        }
        os::sleep_ns(static_cast<std::uint64_t>(round + 1) * 7'000'000);
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        // What is there is whole, and says of what it is.
        const PMEM reader = open();
        for (const std::string& id : reader.ids()) {
            if (!id.ends_with(".sorted") || id.front() == '.') continue;
            const std::vector<double> found = load(reader, id);
            EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
            EXPECT_EQ(reader.get_attribute<std::string>(id, "operation"), "sort, compress");
        }
    }
    PMEM pool = open();
    for (int i = 0; i < arrays; ++i) {
        store(pool, name(i), 100 + i);
        hint(pool, name(i), {chain});
    }
    pool.munmap();  // which leaves what it has not begun
    pool = open();
    wait_for_operations(pool);
    for (int i = 0; i < arrays; ++i) EXPECT_EQ(load(pool, name(i) + ".sorted"), in_order(numbers(100 + i)));
    EXPECT_EQ(pool.ids().size(), 3U * arrays) << "nothing is left of what was half done";
    EXPECT_TRUE(pool.verify().empty());
}

// Nobody else has the pool open for writing: who only stores, and ends, leaves the rest to it.
TEST_F(operations, are_done_by_an_organizer_too) {
    { const PMEM pool = open(); }
    // Forked before there is an organizer: GCC 12's address sanitizer leaves its allocator locked in the child if a thread was just
    // in it, and one that has just begun is.
    const std::string begun = folder_ / "begun";
    const pid_t child = ::fork();
    if (child == 0) {
        for (int i = 0; i < 2000 && !fs::exists(begun); ++i) os::sleep_ns(10'000'000);
        PMEM own = open();
        store(own, "u");
        hint(own, "u", {operation::maximum | operation::sort});
        ::kill(::getpid(), SIGKILL);
    }
    const Organizer organizer(path_);  // before there is anything to do
    std::ofstream(begun) << "begun";
    ::waitpid(child, nullptr, 0);
    const PMEM reader = open(Mode::read);
    for (int i = 0; i < 2000 && !(reader.exists("u.max") && reader.exists("u.sorted")); ++i)
        os::sleep_ns(10'000'000);
    EXPECT_EQ(reader.load<double>("u.max"), n / 2 - 1);
    EXPECT_EQ(load(reader, "u.sorted"), in_order(numbers()));
}

// A hanging function would keep munmap waiting for a minute.
TEST_F(operations, of_a_function_that_is_being_called_are_left_to_the_next_when_the_pool_is_closed) {
    const std::string marker = folder_ / "go";
    {
        PMEM pool = open();
        store(pool, "u");
        const std::uint32_t bit =
            add_operation(pool, "f",
                          source("while (access(\"" + marker +
                                 "\", F_OK) != 0) usleep(1000); like_input(call)[0] = 5; return 0;"),
                          {.seconds = 100'000});
        hint(pool, "u", {bit});
    }
    std::ofstream(marker) << "go";
    PMEM pool = open();
    wait_for_operations(pool);
    EXPECT_EQ(load(pool, "u.f")[0], 5);
}

TEST_F(operations, of_a_forked_child_are_its_own) {
    PMEM pool = open();
    store(pool, "u");
    hint(pool, "u", {operation::maximum});
    const pid_t child = ::fork();
    if (child == 0) {
        {
            PMEM own = open();
            store(own, "v", 4);
            hint(own, "v", {operation::maximum});
            wait_for_operations(own);
            if (own.load<double>("v.max") != 4 + n / 2 - 1) ::_exit(1);
        }
        ::_exit(0);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    wait_for_operations(pool);
    EXPECT_EQ(pool.load<double>("u.max"), n / 2 - 1);
}

TEST_F(operations, states_are_listed) {
    PMEM pool = open();
    store(pool, "a");
    store(pool, "b");
    pool.alloc<double>("c", {4});
    hint(pool, "a", {operation::sum});
    hint(pool, "c", {operation::sum});
    wait_for_operations(pool);
    const auto all = operation_states(pool);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].id, "a");
    EXPECT_STREQ(name_of(all[0].progress), "done");
    EXPECT_EQ(all[1].id, "c");
    EXPECT_STREQ(name_of(all[1].progress), "waiting");
    expect(Code::not_found, "none", [&] { operation_state(pool, "none"); });
}

}  // namespace
}  // namespace pmemcpy
