// Numbers and what they stand for (schemes_plan.h).
#include "harness/campaign/schemes_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/workload/ace.h"

namespace headcrash::campaign {
namespace {

constexpr std::string_view kAllSchemes = "all";

}  // namespace

std::optional<SchemesCampaign> parse_schemes_campaign(std::string_view name) {
  if (!name.starts_with(kSchemesName)) return {};
  name.remove_prefix(kSchemesName.size());
  if (!name.empty() && name.front() != '/') return {};
  SchemesCampaign campaign;
  if (name.empty()) return campaign;
  name.remove_prefix(1);
  const std::size_t slash = std::min(name.find('/'), name.size());
  if (name.substr(0, slash) != kAllSchemes) campaign.scheme = name.substr(0, slash);
  if (slash < name.size()) campaign.workload = name.substr(slash + 1);
  return campaign;
}

CampaignSummary schemes_campaign_summary() {
  const SchemesCampaign campaign;
  const auto plan = SchemesPlan::create(campaign);
  const std::uint64_t trials = plan ? plan->size() : 0;
  return {.name = std::string(kSchemesName),
          .title = "Our own ufs under every ordering scheme, without guests: all seq-1, a sample of seq-2",
          .takes = "half an hour",
          .trials = trials,
          .states = trials * campaign.budget};
}

Result<SchemesPlan> SchemesPlan::create(const SchemesCampaign& campaign, const Shard& shard) {
  SchemesPlan plan;
  plan.schemes_ = ufs::scheme_variants();
  const std::uint64_t schemes = plan.schemes_.size();
  if (!campaign.scheme.empty()) {
    const auto one = ufs::find_scheme_variant(campaign.scheme);
    if (!one) return pass_on(one);
    plan.schemes_ = {*one};
  }
  plan.shard_ = shard;
  if (campaign.workload == "ace-seq1") {
    plan.seq1_ = workload::Ace(1).count();
  } else if (campaign.workload == "ace-seq2") {
    plan.seq2_ = workload::Ace(2).count();
  } else if (!campaign.workload.empty()) {
    plan.one_ = campaign.workload;
  } else {
    plan.seq1_ = workload::Ace(1).count();
    const std::uint64_t each = (campaign.seq2_workloads + schemes - 1) / schemes;
    plan.seq2_sample_ = workload::sample_numbers(workload::Ace(2).count(), each, campaign.seed);
  }
  const std::uint64_t all = plan.seq1_ + plan.seq2_ + plan.seq2_sample_.size() + (plan.one_.empty() ? 0 : 1);
  plan.workloads_ = all > shard.index ? (all - shard.index + shard.count - 1) / shard.count : 0;
  return plan;
}

std::string SchemesPlan::workload(std::uint64_t number) const {
  if (!one_.empty()) return one_;
  if (number < seq1_) return fmt::format("ace-seq1/{}", number);
  number -= seq1_;
  return fmt::format("ace-seq2/{}", seq2_sample_.empty() ? number : seq2_sample_.at(number));
}

SchemesPlan::Trial SchemesPlan::at(std::uint64_t number) const {
  return {.scheme = &schemes_.at(number % schemes_.size()),
          .workload = workload(number / schemes_.size() * shard_.count + shard_.index)};
}

}  // namespace headcrash::campaign
