import type { en } from "../en/search.ts";
import type { Texts } from "../text.ts";

export const zh: Texts<keyof typeof en> = {
  title: "“{question}”",
  ask: "搜索说过的一切",
  askHint: "在顶部输入词语或问题。按 / 可直接跳到搜索框。",
  nothing: "没有找到",
  nothingHint: "换些词语试试。工具结果、文件和代码中的文字也会被搜索。",
  unsure: "不太确定：结果与问题相符之处很少。",
  unindexed: "{count} 条新内容尚未建立索引，未被搜索。请稍后再试。",
  more: "更多结果",
  veryLikely: "很可能",
  likely: "可能",
  perhaps: "或许",
  untitled: "{time} 的对话",
  continue: "复制继续命令",
  otherHits: "此处还有 {count} 条",
  changed: "修改了 {files}",
};
