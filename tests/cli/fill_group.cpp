// Makes the pool of the MOSIQS paper's Figure 5: a group whose objects share attributes, each with values of its own.

#include <pmemcpy/mosiqs.hpp>
#include <string>

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    using namespace pmemcpy::mosiqs;
    pmemcpy::Options options;
    options.max_bytes = 64 << 20;
    options.chunk_bytes = 64 << 10;
    pmemcpy::PMEM pmem;
    pmem.mmap(argv[1], options);

    const group_id_t group = create_group("sim", root(pmem));
    group_info_t about;
    about.set_groupid(group);
    about.set_scope(SHARE);
    about.annotate("file=sim-v0.1");
    about.set_split_value(2);
    group_init(about);
    for (int step = 1; step <= 3; ++step) {
        pmo_info_t pmo;
        pmo.set_objectid(create_pmo("t" + std::to_string(step), group));
        pmo.set_scope(SHARE);
        pmo.set_pmoval(0.5 * step);
        pmo.annotate("file=foo.hdf5");
        mosiqs_attribute_t iteration;
        iteration.key = "iteration";
        iteration.value = 1400 + step;
        pmo.set_attr(&iteration, 1);
        if (step == 3) pmo.annotate("note=last");
        pmo_persist(pmo);
    }
    return 0;
}
