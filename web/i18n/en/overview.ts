export const en = {
  title: "Overview",
  spent: "Spent",
  cacheShare: "Read from cache",
} as const;
