// The names of the MOSIQS paper, and what they come to in the pool.

#include <iterator>
#include <pmemcpy/mosiqs.hpp>
#include <string>
#include <vector>

#include "pool_suite.hpp"

struct Header {
    std::int32_t axes = 0;
    double exposure = 0;
};
PMEMCPY_STRUCT(Header, axes, exposure);

namespace pmemcpy::conformance {
namespace {

using namespace pmemcpy::mosiqs;

PMEMCPY_SUITE(mosiqs);

using Names = std::vector<std::string>;

pmo_info_t number(const group_id_t& group, const std::string& name, double value) {
    pmo_info_t info;
    info.set_objectid(create_pmo(name, group));
    info.set_pmoval(value);
    return info;
}

TEST_P(mosiqs, groups_and_objects_are_those_of_the_pool) {
    open();
    const group_id_t outer = create_group("run", root(pmem));
    const group_id_t inner = create_group("fields", outer);
    EXPECT_EQ(pmem.groups(), (Names{"run", "run/fields"}));
    const Oid oid = pmo_persist(number(inner, "t", 0.5));
    pmo_persist(number(root(pmem), "alone", 1.5));
    EXPECT_EQ(pmem.open(oid), "run/fields/t");
    EXPECT_EQ(pmem.load<double>("run/fields/t"), 0.5);
    EXPECT_EQ(pmem.load<double>("alone"), 1.5);
    EXPECT_EQ(create_group("run", root(pmem)).id, outer.id);  // which is there
    expect_error(Code::already_exists, [&] { create_group("alone", root(pmem)); });
}

TEST_P(mosiqs, attributes_of_groups_and_objects_are_found_by_a_query) {
    open();
    const group_id_t group = create_group("run", root(pmem));
    group_info_t about;
    about.set_groupid(group);
    about.set_scope(SHARE);
    about.annotate("file=a=b");
    mosiqs_attribute_t tags[2];
    tags[0].key = "author", tags[0].value = "li";
    tags[1].key = "rounds", tags[1].value = 3;
    about.set_attr(tags, std::size(tags));
    group_init(about);
    EXPECT_EQ(pmem.attributes("run"), (Names{"author", "file", "rounds"}));
    EXPECT_EQ(pmem.get_attribute<std::string>("run", "file"), "a=b");
    EXPECT_EQ(scope_of(pmem, "run"), Scope::shared);
    EXPECT_EQ(pmem.get_attribute<std::int64_t>("run", "rounds"), 3);

    pmo_info_t info = number(group, "t", 0.5);
    info.set_scope(PRIVATE);
    info.annotate("timestamp=");
    info.set_attr(tags, std::size(tags));
    pmo_persist(info);
    EXPECT_EQ(pmem.get_attribute<std::string>("run/t", "timestamp"), "");
    EXPECT_EQ(scope_of(pmem, "run/t"), Scope::own);
    EXPECT_EQ(count(pmem, R"(kind = "value" and rounds > 2)").front().objects, 1u);
    EXPECT_EQ(count(pmem, R"(author = "li")").front().objects, 2u);
}

TEST_P(mosiqs, a_value_is_what_set_type_announces) {
    open();
    const group_id_t group = root(pmem);
    pmo_info_t info = number(group, "x", 0.5);
    info.set_type(Float);
    pmo_persist(info);
    info.set_type(Int);
    expect_error(Code::type_mismatch, [&] { pmo_persist(info); }, {"x", "float64"});
    info.set_pmoval(true);
    pmo_persist(info);
    info.set_type(String);
    info.set_pmoval("text");
    pmo_persist(info);
    EXPECT_EQ(pmem.load<std::string>("x"), "text");
    info.set_type(Struct);
    info.set_pmoval(Header{2, 0.5});
    pmo_persist(info);
    EXPECT_EQ(pmem.load<Header>("x").exposure, 0.5);
    info.set_type(Float);
    info.set_pmoval(std::vector<float>{1, 2});
    pmo_persist(info);
    EXPECT_EQ(pmem.load<std::vector<float>>("x").size(), 2u);
}

TEST_P(mosiqs, an_array_is_stored_from_where_it_lies) {
    open();
    std::vector<std::int32_t> field{1, 2, 3, 4, 5, 6};
    pmo_info_t info;
    info.set_objectid(create_pmo("field", root(pmem)));
    info.set_type(Int);
    info.set_pmoval(field.data(), {2, 3});
    field.back() = 7;
    pmo_persist(info);
    EXPECT_EQ(pmem.load_dims("field"), (Dimensions{2, 3}));
    std::vector<std::int32_t> found(6);
    pmem.load("field", found.data(), Box::whole({2, 3}));
    EXPECT_EQ(found, field);
}

TEST_P(mosiqs, a_list_is_split_into_segments_that_are_listed_alone) {
    open();
    const group_id_t group = create_group("run", root(pmem));
    create_group("inner", group);  // no member
    for (const char* name : {"e", "b", "a", "d", "c"}) pmo_persist(number(group, name, 1));
    EXPECT_EQ(segment(group, 0).size(), 5u);
    EXPECT_EQ(segment(group, 1), Names{});
    group_info_t about;
    about.set_groupid(group);
    about.set_split_value(2);
    group_init(about);
    EXPECT_EQ(segment(group, 0), (Names{"run/a", "run/b"}));
    EXPECT_EQ(segment(group, 1), (Names{"run/c", "run/d"}));
    EXPECT_EQ(segment(group, 2), Names{"run/e"});
    EXPECT_EQ(segment(group, 3), Names{});
    EXPECT_EQ(segment(root(pmem), 0), Names{});
}

TEST_P(mosiqs, appears_at_once_in_a_step) {
    open();
    pmo_info_t info = number(root(pmem), "x", 0.5);
    info.annotate("a=b");
    pmem.begin(1);
    pmo_persist(info);
    PMEM other;
    other.mmap(path(), options(Mode::read));
    EXPECT_FALSE(other.exists("x"));
    pmem.commit(1);
    EXPECT_EQ(other.load<double>("x"), 0.5);
    EXPECT_EQ(other.attributes("x"), Names{"a"});
}

TEST_P(mosiqs, what_is_left_out_is_told) {
    open();
    group_info_t about;
    expect_error(Code::invalid_argument, [&] { group_init(about); }, {"set_groupid"});
    expect_error(Code::invalid_argument, [&] { about.annotate("file"); }, {"key=value", "file"});
    expect_error(Code::invalid_argument, [&] { about.annotate("=x"); });
    expect_error(Code::invalid_argument, [&] { about.set_split_value(0); });
    pmo_info_t info;
    expect_error(Code::invalid_argument, [&] { pmo_persist(info); }, {"set_objectid"});
    info.set_objectid(create_pmo("x", root(pmem)));
    expect_error(Code::invalid_argument, [&] { pmo_persist(info); }, {"x", "set_pmoval"});
    expect_error(Code::invalid_argument, [&] { create_group("g", {}); }, {"root()"});
    expect_error(Code::invalid_argument, [&] { create_pmo("x", {}); });
    expect_error(Code::invalid_argument, [&] { pmo_persist(number(root(pmem), "a//b", 1)); });
}

}  // namespace
}  // namespace pmemcpy::conformance
