// What in a pool has these attributes, this type, these values?

#include <cstdio>
#include <numeric>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <vector>

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    pmemcpy::PMEM pmem;
    pmem.mmap(argv[1]);

    for (int run = 0; run < 4; ++run) {
        const std::string id = "run" + std::to_string(run) + "/temperature";
        std::vector<double> kelvin(100);
        std::iota(kelvin.begin(), kelvin.end(), 250 + 10 * run);
        pmem.alloc<double>(id, {10, 10});
        pmem.store(id, kelvin.data(), pmemcpy::Box::whole({10, 10}));
        pmem.set_attributes(id, {{"units", "K"}, {"author", run < 2 ? "li" : "wu"}});
    }

    // [main]
    for (const pmemcpy::Found& found : pmemcpy::query(pmem, R"(author = "li" and max > 350)"))
        std::printf("%s: %s\n", found.id.c_str(), to_string(found.info().dims).c_str());

    for (const pmemcpy::Found& found : pmemcpy::query(pmem, "value > 375"))  // looks into arrays
        std::printf("%s%s\n", found.id.c_str(), to_string(found.boxes.front()).c_str());

    for (const pmemcpy::Counted& row : pmemcpy::count(pmem, "kind = 'array' count by author"))
        std::printf("%s: %d\n", row.value->text().c_str(), static_cast<int>(row.objects));
    // [/main]
    return 0;
}
