// A `/` in an id makes groups, as directories are made; variables and groups say in attributes what they are.
#include <cstdio>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    const std::string path = argc > 1 ? argv[1] : "/dev/shm/example.pool";
    pmemcpy::PMEM pmem;
    pmem.mmap(path);

    // A small ocean by the conventions of NetCDF: coordinates are variables, dimension names are attributes.
    const std::vector<double> depth{0, 10, 50, 200};
    const std::vector<float> salinity{34.9f, 35.0f, 35.2f, 34.7f};
    pmem.alloc<double>("ocean/depth", {4});
    pmem.store<double>("ocean/depth", depth.data(), pmemcpy::Box{{0}, {4}});
    pmem.alloc<float>("ocean/salinity", {4});
    pmem.store<float>("ocean/salinity", salinity.data(), pmemcpy::Box{{0}, {4}});

    pmem.set_attribute("ocean/salinity", "units", "g/kg");
    pmem.set_attribute("ocean/salinity", "valid_range", std::vector<float>{0, 42});
    pmem.set_attribute("ocean/salinity", "dimensions", "depth");
    pmem.set_attribute("ocean/depth", "units", "m");
    pmem.set_attribute("ocean", "source", "a made-up cast");
    pmem.set_attribute("/", "title", "what this pool is for");  // those of the pool itself

    for (const std::string& group : pmem.groups()) std::printf("group %s\n", group.c_str());
    for (const std::string& id : pmem.ids("ocean/")) {
        std::printf("variable %s in %s, with the attributes", id.c_str(),
                    pmem.get_attribute<std::string>(id, "units").c_str());
        for (const std::string& name : pmem.attributes(id)) std::printf(" %s", name.c_str());
        std::printf("\n");
    }
    const auto range = pmem.get_attribute<std::vector<float>>("ocean/salinity", "valid_range");

    // A variable can move to another group, at once and with all it has; who held its oid still finds it.
    const pmemcpy::Oid oid = pmem.oid("ocean/salinity");
    if (!pmem.exists("archive/salinity")) pmem.rename("ocean/salinity", "archive/salinity");
    std::printf("salinity is now %s\n", pmem.open(oid).c_str());
    return range.at(1) == 42 && pmem.open(oid) == "archive/salinity" ? 0 : 1;
}
