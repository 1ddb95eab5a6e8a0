#include "profiling/symbolizer.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "profiling/stack_walk.h"

namespace blockreplay::profiling {

// Line numbers below are taken with __LINE__, so that editing this file doesn't break the test.
struct Taken {
  uintptr_t stack[kMaxStackDepth];
  int depth = 0;
  int walk_line = 0;
  int inner_line = 0;
  int outer_start = 0;
  int inner_start = 0;
};

namespace {

__attribute__((always_inline)) inline void InlinedInner(Taken* taken) {
  taken->inner_start = __LINE__ - 1;
  // clang-format off
  taken->depth = WalkOwnStack(taken->stack).depth; taken->walk_line = __LINE__;
  // clang-format on
}

}  // namespace

__attribute__((noinline)) void NamedOuter(Taken* taken) {
  taken->outer_start = __LINE__ - 1;
  // clang-format off
  InlinedInner(taken); taken->inner_line = __LINE__;
  // clang-format on
}

namespace {

TEST(SymbolizerTest, SaysFunctionsFilesLinesAndWhatWasInlined) {
  Taken taken;
  NamedOuter(&taken);
  ASSERT_GT(taken.depth, 2);
  const auto symbolizer = Symbolizer::ForThisProcess();
  ASSERT_TRUE(symbolizer.ok()) << symbolizer.status();

  const std::vector<CodeFrame> frames = (*symbolizer)->Lookup(taken.stack[0]);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_NE(frames[0].name.find("InlinedInner"), std::string::npos) << frames[0].name;
  EXPECT_EQ(frames[0].line, taken.walk_line);
  EXPECT_EQ(frames[0].start_line, taken.inner_start);
  EXPECT_EQ(frames[1].name, "blockreplay::profiling::NamedOuter(blockreplay::profiling::Taken*)");
  EXPECT_EQ(frames[1].system_name, "_ZN11blockreplay9profiling10NamedOuterEPNS0_5TakenE");
  EXPECT_EQ(frames[1].line, taken.inner_line);
  EXPECT_EQ(frames[1].start_line, taken.outer_start);
  for (const CodeFrame& frame : frames) {
    EXPECT_TRUE(frame.filename.ends_with("profiling/symbolizer_test.cc")) << frame.filename;
  }
}

TEST(SymbolizerTest, NamesFunctionsOfLibrariesWithoutDebugInformation) {
  const auto symbolizer = Symbolizer::ForThisProcess();
  ASSERT_TRUE(symbolizer.ok()) << symbolizer.status();
  const auto address = reinterpret_cast<uint64_t>(&crc32_combine);
  const std::vector<CodeFrame> frames = (*symbolizer)->Lookup(address + 1);
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().name, "crc32_combine");
}

TEST(SymbolizerTest, MappingsBeginWithTheMainBinary) {
  const auto symbolizer = Symbolizer::ForThisProcess();
  ASSERT_TRUE(symbolizer.ok()) << symbolizer.status();
  const auto& mappings = (*symbolizer)->mappings();
  ASSERT_GT(mappings.size(), 2u);
  EXPECT_EQ(mappings[0].filename, std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_EQ(mappings[0].build_id.size(), 40u);
  EXPECT_EQ(mappings[0].build_id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ((*symbolizer)->MappingOf(reinterpret_cast<uint64_t>(&NamedOuter)), 0);
  const int zlib = (*symbolizer)->MappingOf(reinterpret_cast<uint64_t>(&crc32_combine));
  ASSERT_GT(zlib, 0);
  EXPECT_NE(mappings[static_cast<size_t>(zlib)].filename.find("libz"), std::string::npos);
}

TEST(SymbolizerTest, KnowsNothingOfWildAddresses) {
  const auto symbolizer = Symbolizer::ForThisProcess();
  ASSERT_TRUE(symbolizer.ok()) << symbolizer.status();
  for (const uint64_t address : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
    EXPECT_TRUE((*symbolizer)->Lookup(address).empty());
    EXPECT_EQ((*symbolizer)->MappingOf(address), -1);
  }
}

TEST(SymbolizerTest, Demangles) {
  EXPECT_EQ(Demangle("_ZN3foo3barIiEEvv"), "void foo::bar<int>()");
  EXPECT_EQ(Demangle("main"), "main");
  EXPECT_EQ(Demangle("_Znonsense"), "_Znonsense");
}

}  // namespace
}  // namespace blockreplay::profiling
