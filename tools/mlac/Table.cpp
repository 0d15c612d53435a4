// Text in columns.
#include "tools/mlac/Table.h"

#include <algorithm>

using namespace mlac;

static void printRow(llvm::raw_ostream &os, const std::vector<std::string> &row,
                     const std::vector<size_t> &widths) {
  std::string line;
  for (size_t column = 0; column < row.size(); ++column) {
    line += row[column];
    line.append(widths[column] - row[column].size() + 2, ' ');
  }
  os << llvm::StringRef(line).rtrim() << '\n';
}

void Table::print(llvm::raw_ostream &os) const {
  std::vector<size_t> widths;
  for (const std::string &title : header)
    widths.push_back(title.size());
  for (const std::vector<std::string> &row : rows)
    for (size_t column = 0; column < widths.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  printRow(os, header, widths);
  for (const std::vector<std::string> &row : rows)
    printRow(os, row, widths);
}
