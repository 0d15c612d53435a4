// The artefact file: the manifest framed into PTX comments, with lengths and checksums over every byte.
#include "runtime/Manifest.h"

#include <fmt/format.h>

#include <charconv>

namespace mla {

static constexpr std::string_view headerWord = "// mlac artefact ";
static constexpr std::string_view ptxWord = "// mlac ptx ";
static constexpr std::string_view linePrefix = "// ";
static constexpr int frameVersion = 1;

/// CRC-32 as in zlib, bit by bit: artefacts are small and read once.
static uint32_t crc32(std::string_view text) {
  uint32_t crc = 0xFFFFFFFF;
  for (char c : text) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

static std::string commented(std::string_view json) {
  std::string text;
  for (size_t begin = 0; begin <= json.size();) {
    size_t end = std::min(json.find('\n', begin), json.size());
    text += fmt::format("{}{}\n", linePrefix, json.substr(begin, end - begin));
    begin = end + 1;
  }
  return text;
}

std::string writeArtefact(const Manifest &manifest, std::string_view ptx) {
  std::string json = toJson(manifest);
  return fmt::format("{}{} {} {:08x}\n{}{}{} {:08x}\n{}", headerWord, frameVersion, json.size(), crc32(json),
                     commented(json), ptxWord, ptx.size(), crc32(ptx), ptx);
}

namespace {

using Code = Error::Code;

[[noreturn]] void damaged(std::string what, std::string value, std::string allowed) {
  throw Error(Code::artefactDamaged, std::move(what), std::move(value), std::move(allowed),
              "copy the file again or recompile");
}

[[noreturn]] void truncated(std::string what) {
  throw Error(Code::artefactTruncated, std::move(what), "cut off", "complete",
              "copy the file again or recompile");
}

/// A length and a checksum, as a framing line states them.
struct Stamp {
  size_t bytes = 0;
  uint32_t crc = 0;
};

template <typename T>
bool takeNumber(std::string_view &text, T &into, int base) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, base);
  if (error != std::errc())
    return false;
  text.remove_prefix(end - text.data());
  if (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  return true;
}

Stamp parseStamp(std::string_view text, std::string_view line) {
  Stamp stamp;
  bool good = takeNumber(text, stamp.bytes, 10) && text.size() == 8 && takeNumber(text, stamp.crc, 16) &&
              text.empty();
  if (!good)
    damaged("the framing line", fmt::format("\"{}\"", line), "a length and a checksum");
  return stamp;
}

void checkCrc(const char *part, std::string_view text, uint32_t stated) {
  uint32_t crc = crc32(text);
  if (crc != stated)
    damaged(fmt::format("the checksum of the {}", part), fmt::format("{:08x}", crc),
            fmt::format("{:08x}", stated));
}

/// Reads the artefact line by line.
class FrameReader {
public:
  explicit FrameReader(std::string_view text) : rest(text) {}

  /// The next line without its end; the text must not end within it.
  std::string_view line(const char *part) {
    size_t end = rest.find('\n');
    if (end == std::string_view::npos)
      truncated(part);
    std::string_view taken = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return taken;
  }

  /// The stamp of the header line.
  Stamp header() {
    if (rest.substr(0, headerWord.size()) != headerWord)
      throw Error(Code::artefactMissing, "the text", "without a manifest",
                  fmt::format("PTX that begins with \"{}\"", headerWord), "compile it with mlac");
    std::string_view whole = line("the header");
    std::string_view text = whole.substr(headerWord.size());
    int version = 0;
    if (!takeNumber(text, version, 10))
      damaged("the header", fmt::format("\"{}\"", whole), "a version, a length and a checksum");
    if (version > frameVersion)
      throw Error(Code::artefactNewer, "the artefact's version", std::to_string(version),
                  fmt::format("at most {}", frameVersion), "use a newer runtime or recompile with this one");
    return parseStamp(text, whole);
  }

  /// The JSON of that many bytes, comment marks taken off.
  std::string json(size_t size) {
    std::string json;
    while (json.size() < size) {
      std::string_view text = line("the manifest");
      if (text.substr(0, linePrefix.size()) != linePrefix)
        damaged("a line of the manifest", fmt::format("\"{}\"", text), "a comment");
      json += json.empty() ? "" : "\n";
      json += text.substr(linePrefix.size());
    }
    return json;
  }

  Stamp ptxStamp() {
    std::string_view whole = line("the line after the manifest");
    if (whole.substr(0, ptxWord.size()) != ptxWord)
      damaged("the line after the manifest", fmt::format("\"{}\"", whole), fmt::format("\"{}...\"", ptxWord));
    return parseStamp(whole.substr(ptxWord.size()), whole);
  }

  std::string_view remaining() const { return rest; }

private:
  std::string_view rest;
};

} // namespace

Manifest readArtefact(std::string_view artefact) {
  FrameReader frame(artefact);
  Stamp jsonStamp = frame.header();
  std::string json = frame.json(jsonStamp.bytes);
  checkCrc("manifest", json, jsonStamp.crc);
  Stamp ptxStamp = frame.ptxStamp();
  if (frame.remaining().size() < ptxStamp.bytes)
    truncated("the PTX");
  if (frame.remaining().size() > ptxStamp.bytes)
    damaged("the length of the PTX", std::to_string(frame.remaining().size()),
            std::to_string(ptxStamp.bytes));
  checkCrc("PTX", frame.remaining(), ptxStamp.crc);
  return manifestFromJson(json);
}

std::optional<Manifest> tryReadArtefact(std::string_view artefact, std::string &message) {
  try {
    return readArtefact(artefact);
  } catch (const Error &error) {
    message = error.what();
    return std::nullopt;
  }
}

} // namespace mla
