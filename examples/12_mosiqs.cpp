// Listing 1 of the MOSIQS paper. Where it had to be changed to be a program, a comment says what is printed. Besides, both ids
// are used undeclared there, and no pool is opened to store in.
#include <iterator>
#include <pmemcpy/mosiqs.hpp>

using namespace pmemcpy::mosiqs;

struct FITS {
    int naxis;
    double exposure;
};
PMEMCPY_STRUCT(FITS, naxis, exposure);

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    pmemcpy::PMEM pmem;
    pmem.mmap(argv[1]);

    // [main]
    /** create, initialize and annotate properties to group */
    struct group_info_t my_group;
    auto group_id = create_group("group-name", root(pmem));  // printed: parent_group(NULL)
    my_group.set_groupid(group_id);
    my_group.set_scope(SHARE);  // printed: SHARE|PRIVATE, of which one is meant
    struct mosiqs_attribute_t group_attr[1];
    group_attr[0].key = "file";
    group_attr[0].value = "sim-v0.1";
    my_group.set_attr(group_attr, std::size(group_attr));  // printed: group_attr.size()
    my_group.set_split_value(100);
    group_init(my_group);

    /** create and annotate PMOs */
    struct pmo_info_t my_pmo;
    auto pmo_id = create_pmo("pmo-name", group_id);  // printed: group_id(NULL)
    my_pmo.set_objectid(pmo_id);
    my_pmo.set_scope(SHARE);
    my_pmo.set_type(Struct);  // printed: String|Int|Float|Struct, of which one is meant
    struct FITS fits = {2, 0.5};
    my_pmo.set_pmoval(fits);
    my_pmo.annotate("file=foo.hdf5");
    struct mosiqs_attribute_t pmo_attr[2];
    pmo_attr[0].key = "timestamp";  // printed: pmo_attr[1]
    pmo_attr[0].value = "t4";
    pmo_attr[1].key = "iteration";  // printed: pmo_attr[2], behind the end
    pmo_attr[1].value = "1401";
    my_pmo.set_attr(pmo_attr, std::size(pmo_attr));
    pmo_persist(my_pmo);
    // [/main]

    // What it made is a variable in a group, like any other.
    for (const pmemcpy::Found& found : pmemcpy::query(pmem, R"(file = "foo.hdf5" and timestamp = "t4")"))
        if (pmem.load<FITS>(found.id).exposure == 0.5) return 0;
    return 1;
}
