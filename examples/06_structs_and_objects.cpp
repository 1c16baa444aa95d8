// Structs, vectors and objects: whatever has a shape of its own.
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cstdio>
#include <map>
#include <pmemcpy/cereal.hpp>  // above the first use of store()
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

// A declared struct is stored as it lies in memory, and the pool says what is in it.
struct Particle {
    double position[3];
    float charge;
    int id;
};
PMEMCPY_STRUCT(Particle, position, charge, id);

// Anything else: what cereal can serialise, it writes straight into the pool.
struct Settings {
    std::map<std::string, double> values;
    std::string comment;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(values, comment);
    }
};

int main(int argc, char** argv) {
    const std::string path = argc > 1 ? argv[1] : "/dev/shm/example.pool";
    pmemcpy::PMEM pmem;
    pmem.mmap(path);

    pmem.store("one", Particle{{1, 2, 3}, -1.0f, 7});
    pmem.store("some", std::vector<Particle>(100, Particle{{0, 0, 0}, 1.0f, 1}));
    pmem.store("settings", Settings{{{"dt", 0.01}, {"viscosity", 1e-6}}, "the first try"});

    const auto one = pmem.load<Particle>("one");
    const auto some = pmem.load<std::vector<Particle>>("some");
    const auto settings = pmem.load<Settings>("settings");
    std::printf("particle %d at z = %g, %zu others; dt = %g (%s)\n", one.id, one.position[2], some.size(),
                settings.values.at("dt"), settings.comment.c_str());

    // An array can have structs as elements, and ranks store boxes of them.
    pmem.alloc<Particle>("particles", {1'000'000});
    pmem.store<Particle>("particles", some.data(), pmemcpy::Box{{500}, {some.size()}});
    const auto view = pmem.view<Particle>("particles", pmemcpy::Box{{550}, {1}});
    return one.id == 7 && some.size() == 100 && settings.values.at("dt") == 0.01 && view[0].charge == 1 ? 0
                                                                                                        : 1;
}
