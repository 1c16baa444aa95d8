#include "cli/terminal/table.hpp"

#include <gtest/gtest.h>

using pmemcpy::cli::Table;

TEST(cli_table, aligns_numbers_right_and_text_left) {
    Table table({{"kind"}, {"size", Table::Align::right}, {"id"}});
    table.add({"array", "5", "a"});
    table.add({"value", "12345", "a/long name"});
    EXPECT_EQ(table.text(),
              "kind    size  id\n"
              "array      5  a\n"
              "value  12345  a/long name\n");
}

TEST(cli_table, without_titles_prints_rows_only) {
    Table table({{}, {}});
    table.add({"type", "float64"});
    table.add({"id", "x"});
    EXPECT_EQ(table.text(2), "  type  float64\n  id    x\n");
}

TEST(cli_table, counts_characters_and_not_bytes) {
    Table table({{"name"}, {"units"}});
    table.add({"größe", "m"});
    table.add({"a", "°C"});
    EXPECT_EQ(table.text(),
              "name   units\n"
              "größe  m\n"
              "a      °C\n");
}
