import type { en } from "../en/spending.ts";
import type { Texts } from "../text.ts";

export const zh: Texts<keyof typeof en> = {
  title: "支出",
  back: "概览",
  agent: "智能体",
  project: "项目",
  model: "模型",
  any: "全部",
  from: "从",
  to: "到",
  wouldSave: "本可节省",
  always: "全部日期",
  since: "自 {from} 起",
  until: "截至 {to}",
  between: "{from} 至 {to}",
  conversation: "对话",
  requests: "请求数",
  input: "输入 ↑",
  output: "输出 ↓",
  cache: "缓存",
  saved: "节省（估算）",
  cost: "费用",
  sum: "合计 {cost}，{requests} 次请求，{share} 来自缓存",
  unpriced: "{count} 次请求价格未知，未计入合计",
  nothing: "这里没有用量",
  nothingHint: "所选日期和条件下没有上报的请求。",
};
