import type { en } from "../en/forgot.ts";
import type { Texts } from "../text.ts";

export const zh: Texts<keyof typeof en> = {
  title: "智能体忘记了内容",
  hint: "粘贴智能体似乎已忘记的话。您会看到模型是否仍能看到它们、何时以及为何离开窗口，并可永久放回。日志中不会删除任何内容。",
  words: "对话中的词句",
  find: "查找",
  nothing: "没有找到这些词句",
  nothingHint: "请尝试更少或其他词。未经过 longhaul 也未导入的对话不在这里。",
  whole: "模型看到的是原文。",
  wholeHint: "如果智能体没有照做，请再说一次或固定它：它在下一次调用的窗口中。",
  pinned: "已固定：将一直留在窗口中。",
  shortened: "模型看到的是缩短后的内容。",
  gone: "它已不在窗口中。",
  went: "{time} 离开：{reason}，由 {author} 执行。",
  noEdit: "没有编辑移除它：它属于较早的分支，或智能体自己未发送。",
  restore: "永久放回",
  restored: "已放回并固定在窗口中。",
  notRestored: "已固定，但目前窗口放不下；有空间时会返回。",
  open: "打开",
  imported: "此对话是导入的：发送什么由其智能体决定。连接该智能体后可将内容留在窗口中。",
};
