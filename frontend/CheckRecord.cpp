// Rows whose columns are not stored alike: the parts of a record, and where they lie.
#include "frontend/Checker.h"

#include "frontend/Suggest.h"

#include <numeric>

using namespace llvm;
using namespace mlac;
using mlir::mla::ScaleFormat;

static constexpr Dtype kPartStorage[] = {Dtype::E4M3, Dtype::E5M2, Dtype::Int8, Dtype::BF16, Dtype::F16};
static constexpr int64_t kWidestPart = 65536;
/// Matrix fragments are read from shared memory 16 bytes at a time, and 16 columns make a step of the
/// product.
static constexpr int64_t kPartUnit = 16;
/// Columns of the value that one load of bytes takes: they have one scale.
static constexpr int64_t kLeastGroup = 32;

std::optional<std::pair<int64_t, int64_t>> HeaderChecker::widthOf(ArrayRef<RecordPart> parts) {
  int64_t width = std::accumulate(parts.begin(), parts.end(), int64_t(0),
                                  [](int64_t sum, const RecordPart &part) { return sum + part.width; });
  return std::make_pair(int64_t(0), width);
}

std::optional<Dtype> HeaderChecker::recordOf(ParamDecl &param) {
  const auto &parts = *param.spec.parts;
  if (parts.empty() || parts.size() > mlir::mla::kMostParts) {
    diagnostics.error(param.spec.storage.loc, "record-parts", "a record of " + Twine(parts.size()) + " parts")
        .fix("it has 1 to " + Twine(mlir::mla::kMostParts) +
             ": record { latent : e4m3[512] scaled f32 per 128 inline; "
             "rope : bf16[64] }");
    return std::nullopt;
  }
  bool valid = checkPartNames(parts);
  for (const PartSpec &spec : parts) {
    std::optional<RecordPart> part = partOf(spec);
    valid &= part.has_value();
    if (part)
      param.record.push_back(*part);
  }
  return valid && checkOffsets(param) ? std::optional(Dtype::Record) : std::nullopt;
}

bool HeaderChecker::checkPartNames(ArrayRef<PartSpec> parts) {
  StringMap<SMLoc> seen;
  bool valid = true;
  for (const PartSpec &part : parts)
    if (auto [entry, isNew] = seen.try_emplace(part.name.text, part.name.loc); !isNew) {
      diagnostics.error(part.name.loc, "duplicate-name", "part '" + part.name.text + "' is declared twice")
          .note(entry->second, "the first is here");
      valid = false;
    }
  return valid;
}

std::optional<RecordPart> HeaderChecker::partOf(const PartSpec &spec) {
  std::optional<Dtype> storage = storageOf(spec.storage, kPartStorage, "a part");
  std::optional<int64_t> width = partWidthOf(spec);
  if (!storage || !width)
    return std::nullopt;
  RecordPart part{.name = spec.name.text, .storage = *storage, .width = *width};
  if (spec.isScaled() && !(checkScales(spec, part) && checkGroup(spec, part)))
    return std::nullopt;
  return part;
}

std::optional<int64_t> HeaderChecker::partWidthOf(const PartSpec &spec) {
  auto width = constants.evaluate(*spec.width, "record-width", "a part's width", 1, kWidestPart);
  if (!width || *width % kPartUnit == 0)
    return width;
  diagnostics
      .error(spec.width->begin(), "record-width",
             "no tile covers part '" + spec.name.text + "' of " + Twine(*width) + " columns")
      .fix("a part is a multiple of " + Twine(kPartUnit) + " wide");
  return std::nullopt;
}

bool HeaderChecker::checkScales(const PartSpec &spec, RecordPart &part) {
  StringRef format = spec.format.text;
  if (!isEightBit(part.storage)) {
    diagnostics.error(spec.format.loc, "record-scale", spell(part.storage) + " values have no scales")
        .fix("leave out 'scaled': values of 8 bits have them");
    return false;
  }
  if (format == "f32")
    part.format = spec.pow2 ? ScaleFormat::pow2 : ScaleFormat::f32;
  else if (format == "ue8m0" && !spec.pow2)
    part.format = ScaleFormat::ue8m0;
  else
    diagnostics
        .error(spec.format.loc, "record-scale",
               "'" + format + (spec.pow2 ? " pow2" : "") + "' is not a type of scales")
        .fix("it is f32, f32 pow2 (of which the exponent counts) or ue8m0");
  return part.format != ScaleFormat::none;
}

bool HeaderChecker::checkGroup(const PartSpec &spec, RecordPart &part) {
  auto group = constants.evaluate(*spec.group, "record-group", "a group", 1, kWidestPart);
  if (!group)
    return false;
  part.group = *group;
  part.apart = spec.apart;
  if (*group % kLeastGroup == 0 && part.width % *group == 0)
    return true;
  diagnostics
      .error(spec.group->begin(), "record-group",
             "groups of " + Twine(*group) + " columns in part '" + part.name + "' of " + Twine(part.width))
      .fix("a group is a multiple of " + Twine(kLeastGroup) + " columns, and divides the part");
  return false;
}

/// Where each part begins.
bool HeaderChecker::checkOffsets(const ParamDecl &param) {
  int64_t byte = 0;
  for (auto [spec, part] : zip(*param.spec.parts, param.record)) {
    if (byte % kPartUnit) {
      diagnostics
          .error(spec.name.loc, "record-offset",
                 "part '" + part.name + "' begins at byte " + Twine(byte) + " of the record")
          .fix("a part begins at a multiple of " + Twine(kPartUnit) +
               " bytes: order the parts, or choose the groups, so that what lies before it fills them");
      return false;
    }
    byte += part.bytes();
  }
  return true;
}

/// Rows that follow one another keep the buffer's alignment.
bool HeaderChecker::checkRecordAlign(const ParamDecl &param, int64_t align) {
  int64_t byte = std::accumulate(param.record.begin(), param.record.end(), int64_t(0),
                                 [](int64_t sum, const RecordPart &part) { return sum + part.bytes(); });
  if (byte % align == 0) // as that of no record
    return true;
  diagnostics
      .error(param.spec.align ? param.spec.align->begin() : param.spec.storage.loc, "record-align",
             "a record of " + Twine(byte) + " bytes does not keep an alignment of " + Twine(align))
      .fix(byte % 4 ? "a record is a multiple of 4 bytes"
                    : "write align " + Twine(byte % 8 ? 4 : 8) + " after it");
  return false;
}
