#include "runtime/jit/BuildId.h"

#include <cstring>

#include <elf.h>
#include <link.h>

namespace mla::jit {

namespace {

struct Search {
  uintptr_t inside; ///< an address within the binary
  std::string id;
};

bool contains(const dl_phdr_info &object, uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto &segment = object.dlpi_phdr[i];
    uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz)
      return true;
  }
  return false;
}

/// The build id among the notes of a segment.
std::string findNote(const char *at, size_t bytes) {
  auto padded = [](size_t size) { return (size + 3) / 4 * 4; };
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof(note));
    size_t whole = sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
    if (whole > bytes)
      break;
    const char *name = at + sizeof(note), *id = name + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
      return std::string(id, note.n_descsz);
    at += whole;
    bytes -= whole;
  }
  return "";
}

int visit(dl_phdr_info *object, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  if (!contains(*object, search.inside))
    return 0;
  for (int i = 0; i < object->dlpi_phnum && search.id.empty(); ++i)
    if (object->dlpi_phdr[i].p_type == PT_NOTE)
      search.id = findNote(reinterpret_cast<const char *>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr),
                           object->dlpi_phdr[i].p_memsz);
  return 1;
}

} // namespace

std::string ownBuildId() {
  Search search{reinterpret_cast<uintptr_t>(&ownBuildId), ""};
  dl_iterate_phdr(visit, &search);
  std::string hex;
  for (unsigned char byte : search.id)
    for (int digit : {byte >> 4, byte & 15})
      hex += "0123456789abcdef"[digit];
  return hex;
}

} // namespace mla::jit
