// PTX versions as text, and the drivers that take them.
#include "codegen/Target.h"

#include <gtest/gtest.h>

namespace mlac {
namespace {

TEST(PtxVersion, Parses) {
  EXPECT_EQ(parsePtxVersion("8.7"), 87);
  EXPECT_EQ(parsePtxVersion("9.0"), 90);
  EXPECT_EQ(parsePtxVersion("10.2"), 102);
  EXPECT_EQ(parsePtxVersion("7.8"), 78);
}

TEST(PtxVersion, RefusesWhatIsNoVersion) {
  for (const char *text : {"",
                           ".",
                           "8",
                           "8.",
                           ".7",
                           "87",
                           "8.7 ",
                           " 8.7",
                           "8.7x",
                           "8,7",
                           "8.10",
                           "8.07",
                           "-8.7",
                           "8.-7",
                           "0.7",
                           "100.0",
                           "eight",
                           "8.7.1",
                           "99999999999999999999.1",
                           "8.99999999999999999999"})
    EXPECT_EQ(parsePtxVersion(text), std::nullopt) << '"' << text << '"';
}

TEST(PtxVersion, FormatsWhatItParses) {
  for (int version : {10, 78, 80, 87, 88, 90, 102})
    EXPECT_EQ(parsePtxVersion(formatPtxVersion(version)), version);
  EXPECT_EQ(formatPtxVersion(90), "9.0");
  EXPECT_EQ(formatPtxVersion(87), "8.7");
}

TEST(PtxVersion, OfADriver) {
  EXPECT_EQ(ptxForDriver(11080), 78);
  EXPECT_EQ(ptxForDriver(12060), 85);
  EXPECT_EQ(ptxForDriver(12070), 86);
  EXPECT_EQ(ptxForDriver(12080), 87);
  EXPECT_EQ(ptxForDriver(12090), 88);
  EXPECT_EQ(ptxForDriver(13000), 90);
  EXPECT_EQ(ptxForDriver(12085), 87) << "a driver between two versions takes the lower";
  EXPECT_EQ(ptxForDriver(11000), 0) << "older than every version known";
}

TEST(PtxVersion, OfADriverNewerThanOurPrinter) {
  for (int driver : {13010, 13020, 14000})
    EXPECT_EQ(ptxForDriver(driver), kMaxPtx);
}

TEST(PtxVersion, DriverThatItNeeds) {
  EXPECT_EQ(driverForPtx(78), 11080);
  EXPECT_EQ(driverForPtx(86), 12070);
  EXPECT_EQ(driverForPtx(87), 12080);
  EXPECT_EQ(driverForPtx(88), 12090);
  EXPECT_EQ(driverForPtx(90), 13000);
  EXPECT_EQ(driverForPtx(92), 13020);
}

TEST(PtxVersion, TheDriverThatAVersionNeedsTakesIt) {
  for (const Target &target : Target::all()) {
    EXPECT_GE(ptxForDriver(driverForPtx(target.minPtx)), target.minPtx) << target.name;
    EXPECT_LT(ptxForDriver(driverForPtx(target.minPtx) - 1), target.minPtx) << target.name;
  }
}

} // namespace
} // namespace mlac
