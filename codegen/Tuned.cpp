#include "codegen/Tuned.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;

namespace mlac {

/// The kernel's text without what its names and places add.
static std::string formOf(tile::KernelOp kernel) {
  OwningOpRef<tile::KernelOp> copy = kernel.clone();
  copy->setSymName("kernel");
  (*copy)->removeAttr("mlac.info");
  for (unsigned i = 0; i < copy->getFunctionBody().getNumArguments(); ++i)
    copy->removeArgAttr(i, "mla.name");
  std::string text;
  llvm::raw_string_ostream os(text);
  (*copy)->print(os, OpPrintingFlags().enableDebugInfo(false).useLocalScope());
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)), /*LowerCase=*/true);
}

::mla::TunedKey tunedKey(tile::KernelOp kernel, const TargetChoice &choice, StringRef device) {
  return {formOf(kernel), std::string(choice.target.name), std::string(choice.profile.name), device.str()};
}

/// The devices that this kernel was tuned on, for the warning.
static std::string otherDevices(const ::mla::TunedStore &store, const ::mla::TunedKey &key) {
  SmallVector<std::string> names;
  for (const ::mla::TunedRecord &record : store.list())
    if (record.key.form == key.form && record.key.target == key.target && record.key.profile == key.profile)
      names.push_back("'" + record.key.device + "'");
  return names.empty() ? "" : "; it was tuned on " + llvm::join(names, ", ");
}

static void warnMissing(tile::KernelOp kernel, const ::mla::TunedStore &store, const ::mla::TunedKey &key,
                        StringRef problem) {
  InFlightDiagnostic warning = kernel.emitWarning();
  warning << "no tuned schedule of " << kernel.getSymName() << " for " << key.target << ", profile "
          << key.profile << ", on '" << key.device << "'" << otherDevices(store, key)
          << "; the cost model chooses [schedule-tuned]";
  if (!problem.empty())
    warning.attachNote() << problem;
  warning.attachNote() << "`mlac tune --save` makes one on that device";
}

/// Null, without a diagnostic, for a text that is no schedule of this version.
static Attribute parseSchedule(StringRef text, MLIRContext *context) {
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  Attribute attribute = parseAttribute(text, context);
  return isa_and_nonnull<tile::ScheduleAttr, tile::PrefillScheduleAttr>(attribute) ? attribute : Attribute();
}

static void takeTuned(tile::KernelOp kernel, const ::mla::TunedStore &store, const ::mla::TunedKey &key) {
  std::string problem;
  std::optional<::mla::TunedRecord> record = store.find(key, problem);
  if (!record)
    return warnMissing(kernel, store, key, problem);
  if (Attribute schedule = parseSchedule(record->schedule, kernel.getContext()))
    kernel->setAttr("tile.tuned", schedule);
  else
    warnMissing(kernel, store, key,
                "its record holds '" + record->schedule + "', which is no schedule of this version");
}

void takeTuned(ModuleOp module, const TargetChoice &choice, StringRef device, StringRef directory) {
  ::mla::TunedStore store = directory.empty() ? ::mla::TunedStore() : ::mla::TunedStore(directory.str());
  for (auto kernel : module.getOps<tile::KernelOp>())
    if (!kernel.getOps<tile::ItemsOp>().empty())
      takeTuned(kernel, store, tunedKey(kernel, choice, device));
}

} // namespace mlac
