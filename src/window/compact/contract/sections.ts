/** The sections of a summary, in order; a section without content is still present. */
export const SECTIONS = [
  {
    key: "previous",
    heading: "Previous Conversation",
    wants: "What was asked and done so far, in order, every request of the user included.",
    aliases: [
      "conversation so far",
      "overview",
      "background",
      "以前的对话",
      "之前的对话",
      "对话概述",
      "先前对话",
    ],
  },
  {
    key: "current",
    heading: "Current Work",
    wants: "What is being worked on at the end of the conversation, in detail.",
    aliases: ["current state", "current task", "work in progress", "当前工作", "当前任务", "正在进行的工作"],
  },
  {
    key: "concepts",
    heading: "Key Technical Concepts",
    wants: "Technologies, conventions and terms that matter for going on.",
    aliases: ["technical concepts", "key concepts", "关键技术概念", "关键概念", "技术概念"],
  },
  {
    key: "files",
    heading: "Relevant Files and Code",
    wants: "Files read and changed with their last state, by exact path; code worth keeping word by word.",
    aliases: [
      "files and code",
      "relevant files",
      "files and code sections",
      "相关文件和代码",
      "相关文件与代码",
      "相关文件",
    ],
  },
  {
    key: "problems",
    heading: "Problem Solving",
    wants: "Commands with their outcome, errors, what cured them, what is still broken.",
    aliases: ["errors and fixes", "troubleshooting", "problems", "问题解决", "问题与解决", "问题排查"],
  },
  {
    key: "decisions",
    heading: "Decisions",
    wants: "What was decided, and why where that was said.",
    aliases: ["decisions made", "key decisions", "决策", "决定", "已作决定"],
  },
  {
    key: "constraints",
    heading: "Constraints",
    wants: "What must hold, what must not be done, preferences of the user.",
    aliases: ["constraints and preferences", "requirements", "limits", "约束", "约束条件", "限制"],
  },
  {
    key: "questions",
    heading: "Open Questions",
    wants: "What nobody has answered yet.",
    aliases: ["unresolved questions", "questions", "未决问题", "开放问题", "待解答问题"],
  },
  {
    key: "todos",
    heading: "To-dos",
    wants: "The to-do list as it was last written, done and not done.",
    aliases: ["todos", "todo", "todo list", "to do", "to-do list", "待办事项", "待办", "任务清单"],
  },
  {
    key: "asks",
    heading: "Pending User Asks",
    wants: 'Requests of the user that are not finished, each quoted word by word in "quotation marks".',
    aliases: [
      "pending asks",
      "pending requests",
      "pending user requests",
      "用户未完成的请求",
      "未完成的请求",
      "用户请求",
    ],
  },
  {
    key: "pending",
    heading: "Pending Tasks and Next Steps",
    wants: "What comes next, with direct quotes from the latest messages that show where work was left.",
    aliases: [
      "pending tasks",
      "next steps",
      "next step",
      "待办任务与下一步",
      "待办任务和下一步",
      "下一步",
      "后续步骤",
    ],
  },
  {
    key: "identifiers",
    heading: "Exact Identifiers",
    wants: "Paths, symbols, commands, ids, hashes, numbers and addresses still in use, copied exactly.",
    aliases: ["identifiers", "exact names", "标识符", "精确标识符", "关键标识符"],
  },
] as const;

export type SectionKey = (typeof SECTIONS)[number]["key"];

export const SECTION_KEYS: readonly SectionKey[] = SECTIONS.map(({ key }) => key);

const KEY_BY_NAME: ReadonlyMap<string, SectionKey> = new Map(
  SECTIONS.flatMap(({ key, heading, aliases }) =>
    [heading, ...aliases].map((name) => [normalizeName(name), key] as const),
  ),
);

export function headingOf(key: SectionKey): string {
  return SECTIONS.find((section) => section.key === key)?.heading ?? key;
}

/** The section with this heading, in any known variant or language; undefined if there is none. */
export function findSection(name: string): SectionKey | undefined {
  return KEY_BY_NAME.get(normalizeName(name));
}

function normalizeName(name: string): string {
  return name
    .toLowerCase()
    .replace(/&/g, "and")
    .replace(/[\s_-]+/g, " ")
    .trim();
}
