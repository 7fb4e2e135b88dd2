import type { Entry, EntryId } from "../../../model/entry.ts";
import type { Json } from "../../../model/json.ts";
import { textOfMessage } from "../../../model/message.ts";
import type { Part } from "../../../model/part.ts";
import { parseToolArguments } from "../../effects/call-arguments.ts";
import { type Action, collectActions, getResultText } from "./actions.ts";
import { citeOf, type SourceMessage } from "./summary-candidate.ts";

/** A to-do item, as last written. */
export interface Todo {
  readonly text: string;
  readonly state: "done" | "doing" | "open";
  readonly cite: string;
}

const TODO_TOOLS =
  /^(?:todo_?write|update_?plan|todo|todos|update_?todo(?:_?list)?|write_?todos|plan|set_?plan|manage_?todo_?list)$/i;
const BOX = /^\s*(?:[-*+]|\d{1,3}[.)])\s+\[([ xX~/-])\]\s+(.{2,300})$/;

/** An item of a session's to-do list. */
export interface TodoItem extends Pick<Todo, "text" | "state"> {
  /** The entry that wrote the item as it is now. */
  readonly entry: EntryId;
}

/** Number of newest messages in which a list is looked for. */
const MAX_MESSAGES = 20_000;
/** Claude Code tells the number of a new task at the beginning of its result. */
const TASK_NUMBER = /#(\d+)/;
const TASK_NUMBER_CHARACTERS = 200;

/** Reads the to-do list of a line from its entries, which come newest first. */
export async function readTodos(newestFirst: AsyncIterable<Entry>): Promise<readonly TodoItem[]> {
  const found: SourceMessage[] = [];
  let left = MAX_MESSAGES;
  for await (const entry of newestFirst) {
    if (entry.kind !== "message") continue;
    const { id, at, message } = entry;
    const parts = message.parts.flatMap(toTodoPart);
    if (parts.length > 0) found.push({ seq: left, at, message: { ...message, parts }, cite: id });
    if (--left === 0) break;
  }
  const messages = found.reverse();
  return collectTodos(messages, collectActions(messages)).map(({ text, state, cite }) => ({
    text,
    state,
    entry: cite,
  }));
}

/** The part, as far as it can say something about a to-do list: a long conversation must not be held in memory. */
function toTodoPart(part: Part): readonly Part[] {
  if (part.type === "text") return part.text.includes("[") ? [part] : [];
  if (part.type === "tool-call") return [part].filter(isTodoCall);
  if (part.type !== "tool-result") return [];
  const text = getResultText(part).slice(0, TASK_NUMBER_CHARACTERS);
  return TASK_NUMBER.test(text) ? [{ ...part, output: [{ type: "text", text }] }] : [];
}

function isTodoCall({ name, input }: Action["call"]): boolean {
  return (
    isTodoTool(name) ||
    /^Task(?:Create|Update)$/.test(name) ||
    "task_progress" in (parseToolArguments(input) ?? {})
  );
}

function isTodoTool(name: string): boolean {
  return TODO_TOOLS.test(name.replace(/^mcp__.+__/, ""));
}

/** The latest to-do list, written with a to-do tool or as check boxes in a text; tasks created one by one add up. */
export function collectTodos(
  messages: readonly SourceMessage[],
  actions: readonly Action[],
): readonly Todo[] {
  let list: { readonly seq: number; readonly todos: readonly Todo[] } = { seq: -1, todos: [] };
  const tasks = new Map<string, Todo>();
  for (const action of actions) {
    applyTaskCall(tasks, action);
    const todos = parseTodoList(action);
    if (todos) list = { seq: action.source.seq, todos };
  }
  for (const told of messages) {
    if (told.message.role !== "assistant" || told.seq < list.seq) continue;
    const todos = parseCheckBoxes(textOfMessage(told.message), citeOf(told));
    if (todos.length > 1) list = { seq: told.seq, todos };
  }
  return [...list.todos, ...tasks.values()];
}

/** The list that a call writes, empty if it clears the list; undefined if the call writes none. */
function parseTodoList({ call, source: told }: Action): readonly Todo[] | undefined {
  const from = parseToolArguments(call.input);
  const cite = citeOf(told);
  const isTodo = isTodoTool(call.name);
  const items =
    from?.task_progress ??
    (isTodo ? (from?.todos ?? from?.plan ?? from?.items ?? from?.todoList ?? from?.steps) : undefined);
  if (Array.isArray(items) && isTodo)
    return (items as readonly Json[]).flatMap((item) => parseTodo(item, cite));
  const todos = typeof items === "string" ? parseCheckBoxes(items, cite) : [];
  return todos.length > 0 ? todos : undefined;
}

function parseTodo(item: Json, cite: string): readonly Todo[] {
  const fields = parseToolArguments(item);
  const text =
    typeof item === "string" ? item : (fields?.content ?? fields?.step ?? fields?.title ?? fields?.text);
  if (typeof text !== "string" || text.trim() === "") return [];
  return [{ text, state: parseState(String(fields?.status ?? fields?.state ?? "")), cite }];
}

function parseState(status: string): Todo["state"] {
  if (/^(?:completed?|done|finished|x)$/i.test(status)) return "done";
  return /progress|doing|active|started/i.test(status) ? "doing" : "open";
}

function parseCheckBoxes(text: string, cite: string): readonly Todo[] {
  if (!text.includes("[")) return [];
  return text.split("\n").flatMap((line): readonly Todo[] => {
    const [, mark, words] = BOX.exec(line) ?? [];
    if (words === undefined) return [];
    return [{ text: words, state: mark === " " ? "open" : /x/i.test(mark ?? "") ? "done" : "doing", cite }];
  });
}

/** Claude Code creates tasks one by one and updates them by number. */
function applyTaskCall(tasks: Map<string, Todo>, { call, source: told, result }: Action): void {
  const from = parseToolArguments(call.input);
  const cite = citeOf(told);
  if (call.name === "TaskCreate" && typeof from?.subject === "string") {
    const said = result && getResultText(result.part).slice(0, TASK_NUMBER_CHARACTERS);
    const id = said && TASK_NUMBER.exec(said)?.[1];
    tasks.set(id ?? String(tasks.size + 1), { text: from.subject, state: "open", cite });
  } else if (call.name === "TaskUpdate" && from) {
    const id = String(from.taskId ?? from.id ?? "");
    const task = tasks.get(id);
    if (!task) return;
    if (from.status === "deleted") tasks.delete(id);
    else if (typeof from.status === "string")
      tasks.set(id, { ...task, state: parseState(from.status), cite });
  }
}
