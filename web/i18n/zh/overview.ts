import type { en } from "../en/overview.ts";
import type { Texts } from "../text.ts";

export const zh: Texts<keyof typeof en> = {
  title: "概览",
  spent: "花费",
  cacheShare: "缓存命中",
};
