#include "pool_seed.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>

#include <pmemcpy/pmemcpy.hpp>

#include "fenced_kernel.hpp"
#include "heap/format.hpp"
#include "pool/geometry.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::fuzz {
namespace {

namespace fs = std::filesystem;

struct Particle {
    double x, y;
    std::int32_t id;
    char name[4];
};

std::vector<double> numbers(std::size_t n) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

void store_box(PMEM& pmem, const std::string& id, const Selection& box) {
    pmem.store<double>(id, numbers(box.elements()).data(), box);
}

void fill(PMEM& pmem) {
    pmem.store("v", 1);
    pmem.store("text", std::string("a value within its record"));
    pmem.store("long", std::string(3'000, 'l'));
    pmem.store("g/h/list", std::vector<float>(20, 1.5F));
    pmem.set_attribute("v", "units", "K");
    pmem.set_attribute("v", "range", std::vector<double>{0, 1});
    pmem.set_attribute("g", "history", std::string(700, 'h'));
    pmem.set_attribute("/", "title", "seed");
    pmem.alloc<double>("A", Dimensions{8, 8}, ArrayOptions{}.fill(-1.0));
    store_box(pmem, "A", Box{{0, 0}, {4, 8}});
    store_box(pmem, "A", Box{{4, 0}, {4, 4}});
    store_box(pmem, "A", Selection({4, 4}, {2, 2}, {2, 2}));
    pmem.set_attribute("A", "long_name", "temperature");
    pmem.alloc<double>("g/U", Dimensions{unlimited, 4});
    store_box(pmem, "g/U", Box{{0, 0}, {2, 4}});
    store_box(pmem, "g/U", Box{{2, 0}, {3, 4}});
    ArrayOptions fortran;
    fortran.order = Order::fortran;
    if (is_available(Codec::Kind::lz4)) fortran.codec = parse_codec("lz4");
    pmem.alloc<double>("F", Dimensions{6, 5, 4}, fortran);
    store_box(pmem, "F", Box{{0, 0, 0}, {6, 5, 2}});
    store_box(pmem, "F", Box{{0, 0, 2}, {3, 5, 2}});
    ArrayOptions contiguous;
    contiguous.contiguous = true;
    pmem.alloc<std::int32_t>("C", Dimensions{16}, contiguous);
    const auto struct_type = Type::structure({{"x", 0, Type::scalar(Kind::float64)},
                                              {"y", 8, Type::scalar(Kind::float64)},
                                              {"id", 16, Type::scalar(Kind::int32)},
                                              {"name", 20, Type::fixed_string(4)}},
                                             sizeof(Particle));
    pmem.alloc("P", struct_type, Dimensions{10});
    const std::vector<Particle> particles(10);
    pmem.store("P", struct_type, particles.data(), Box{{0}, {10}});
    pmem.alloc<std::uint8_t>("Z", Dimensions{});
    pmem.store<std::uint8_t>("Z", reinterpret_cast<const std::uint8_t*>("z"), Selection());
}

void change(PMEM& pmem) {
    for (const int i : {1, 2, 3}) {
        pmem.store("v", i);
        pmem.store("long", std::string(1'000U * static_cast<unsigned>(i), 'm'));
        store_box(pmem, "A", Box{{0, 0}, {4, 8}});
        pmem.set_attribute("v", "units", std::string(20U * static_cast<unsigned>(i), 'u'));
    }
    pmem.rename("text", "g/text");
    pmem.rename("A", "B");
    pmem.erase("g/h/list");
    pmem.erase("F");
    pmem.remove_attribute("g", "history");
    for (const std::uint64_t step : {1U, 2U}) {
        pmem.begin(step);
        pmem.store("v", static_cast<int>(step));
        store_box(pmem, "B", Box{{0, 0}, {4, 8}});
        pmem.commit(step);
    }
    for (std::uint64_t i = 0; i < 20; ++i) store_box(pmem, "g/U", Box{{5 + i, 0}, {1, 4}});
    pmem.freeze("C");
}

void begin_step(PMEM& pmem) {
    pmem.begin(3);
    pmem.store("v", 33);
    pmem.store("new", std::string(600, 'n'));
    store_box(pmem, "A", Box{{0, 0}, {4, 8}});
    store_box(pmem, "g/U", Box{{30, 0}, {1, 4}});
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// What is in the file, with what differs from one making to the next made the same.
Seed take(const std::string& records, const std::string& data) {
    const std::string file = read_file(records);
    Seed seed;
    pool::Superblock super{};
    pool::PoolState state{};
    std::memcpy(&super, file.data(), sizeof super);
    std::memcpy(&state, file.data() + pool::state_offset, sizeof state);
    seed.length = super.max_bytes;
    seed.chunks_at = super.first_chunk_offset;
    seed.chunk_bytes = super.chunk_bytes;
    const std::uint64_t end = seed.chunks_at + state.usable_chunks.value * seed.chunk_bytes;
    seed.bytes.assign(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(end));
    super.uuid = {1, 2, 3};
    super.checksum = checksum_of(super);
    std::memcpy(seed.bytes.data(), &super, sizeof super);
    std::memcpy(seed.bytes.data() + pool::spare_offset, &super, sizeof super);
    for (std::uint64_t chunk = seed.chunks_at; chunk < end; chunk += seed.chunk_bytes) {
        heap::SlabHeader slab{};
        std::memcpy(&slab, seed.bytes.data() + chunk, sizeof slab);
        if (slab.magic != heap::slab_magic) continue;
        seed.slabs.push_back(chunk);
        if (slab.links != 0) continue;
        for (std::uint64_t unit = 0; unit < slab.units; ++unit) {
            const std::uint64_t at = chunk + slab.first_unit + unit * slab.unit_bytes;
            std::uint32_t magic = 0;
            std::memcpy(&magic, seed.bytes.data() + at, sizeof magic);
            if (magic == heap::record_magic) seed.records.push_back(at);
        }
    }
    if (data.empty()) return seed;
    for (const auto& payload : fs::directory_iterator(data))
        seed.payloads.emplace_back(payload.path().filename().string(), read_file(payload.path()));
    std::sort(seed.payloads.begin(), seed.payloads.end());
    return seed;
}

std::vector<Seed> make_seeds(bool directory) {
    const FencedKernel kernel;
    const std::vector<std::vector<std::function<void(PMEM&)>>> stories = {
        {fill}, {fill, change}, {fill, begin_step}, {[](PMEM& pmem) { pmem.store("only", 1); }}};
    std::vector<Seed> made;
    for (const auto& story : stories) {
        const std::string path = folder() + (directory ? "/seed/" : "/seed");
        Options options;
        options.layout = directory ? Layout::directory : Layout::file;
        options.max_bytes = 1 << 20;
        options.chunk_bytes = 4096;
        PMEM pmem;
        pmem.mmap(path, options);
        for (const auto& tell : story) tell(pmem);
        const std::string records = directory ? path + ".pool" : path;
        const std::string data = directory ? path + ".data" : "";
        if (made.size() == 2) made.push_back(take(records, data));  // as if it died here
        pmem.munmap();
        if (made.size() != 3 || story.size() != 2) made.push_back(take(records, data));
        fs::remove_all(folder() + "/seed");
        fs::remove(folder() + "/seed.rt");
    }
    return made;
}

}  // namespace

const std::string& folder() {
    static const Folder made("/dev/shm");  // an input does the same whatever medium other tests are tried on
    return made.path().native();
}

const std::vector<Seed>& seeds(bool directory) {
    static const std::vector<Seed> made[] = {make_seeds(false), make_seeds(true)};
    return made[directory ? 1 : 0];
}

}  // namespace pmemcpy::fuzz
