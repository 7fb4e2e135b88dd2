export const en = {
  title: "“{question}”",
  ask: "Search everything ever said",
  askHint: "Type words or a question into the box at the top. Press / to get there.",
  nothing: "Nothing found",
  nothingHint: "Try other words. Words inside tool results, files and code are searched too.",
  unsure: "Not sure: the hits match little of the question.",
  unindexed: "{count} new entries are not indexed yet and were not searched. Search again in a moment.",
  more: "More hits",
  veryLikely: "very likely",
  likely: "likely",
  perhaps: "perhaps",
  changed: "changed {files}",
} as const;
