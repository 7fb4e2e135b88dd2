import { join } from "node:path";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toTime } from "../../wire/fields.ts";
import { buildFileSource, type Format, type ImportSource } from "../port/format.ts";
import { isDamageError } from "../reading/damage-error.ts";
import type { Item } from "../reading/item.ts";
import { buildMessageRecords, buildRecord } from "./foreign-records.ts";

const NAME = "aider";
const START = /^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)$/;
/** Every line of a prompt ends with two blanks; lines of code that look like one do not. */
const PROMPT = /^####(?: .*)? {2}$/;

/** Aider: one Markdown file in each project, which holds all chats; headings are prompts, quotes are the program. */
export const aiderFormat: Format = {
  name: NAME,
  title: "Aider",
  processes: ["aider"],
  homes: ({ home, env }) => (env.AIDER_CHAT_HISTORY_FILE ? [] : [join(home, ".aider")]),
  async detect(folder) {
    const sources: ImportSource[] = [];
    for (const file of folder.files) {
      if (!/aider.*\.md$/i.test(file.name) || !/^# aider chat started at /m.test(await folder.head(file)))
        continue;
      // The folder is that of the project.
      sources.push(buildFileSource(NAME, file, { id: folder.name, isUnnamed: true, cwd: folder.path }));
    }
    return sources;
  },
  async *read({ path }, input) {
    let chat: Chat | undefined;
    let rest = "";
    const starts = new Map<string, number>();
    let damage: unknown;
    try {
      for await (const bytes of input.bytes(path)) {
        rest += bytes.toString("utf8");
        const lines = rest.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const [, started] = START.exec(line.trimEnd()) ?? [];
          if (started !== undefined) {
            if (chat) yield* chat.finish();
            const count = (starts.get(started) ?? 0) + 1;
            starts.set(started, count);
            const name = count === 1 ? started : `${started} (${count})`;
            chat = new Chat(name, toTime(started.replace(" ", "T")));
            yield dropUndefined({ type: "session", child: chat.name, createdAt: chat.at });
          } else {
            chat ??= new Chat("before the first chat", undefined);
            yield* chat.add(line);
          }
        }
      }
    } catch (error) {
      if (!isDamageError(error)) throw error;
      damage = error;
    }
    if (rest !== "") {
      chat ??= new Chat("before the first chat", undefined);
      yield* chat.add(rest);
    }
    if (chat) yield* chat.finish();
    if (damage !== undefined)
      yield { type: "problem", path, severity: "lost", reason: (damage as Error).message };
  },
};

type Kind = "user" | "assistant" | "notice";

/** The lines of one chat, collected to messages. */
class Chat {
  readonly name: string;
  readonly at: number | undefined;
  #kind: Kind | undefined;
  #lines: string[] = [];
  #index = 0;
  #isInFence = false;

  constructor(name: string, at: number | undefined) {
    this.name = name;
    this.at = at;
  }

  *add(line: string): Generator<Item> {
    // An answer that was interrupted leaves its fence open.
    if (PROMPT.test(line)) this.#isInFence = false;
    const kind = this.#isInFence ? "assistant" : findKind(line, this.#kind);
    if (kind !== this.#kind) {
      yield* this.finish();
      this.#kind = kind;
    }
    // A fence holds lines that look like prompts.
    if (kind === "assistant" && /^\s*(```|~~~)/.test(line)) this.#isInFence = !this.#isInFence;
    this.#lines.push(
      kind === "user"
        ? line
            .replace(/^#### ?/, "")
            .trimEnd()
            .replace(/^<blank>$/, "")
        : kind === "notice"
          ? line.replace(/^> ?/, "")
          : line,
    );
  }

  *finish(): Generator<Item> {
    const text = this.#lines.join("\n").trim();
    const kind = this.#kind;
    this.#lines = [];
    this.#kind = undefined;
    if (text === "" || kind === undefined) return;
    const place = { id: `#${this.#index++}`, at: this.at, child: this.name, isMutable: true };
    if (kind === "notice") yield buildRecord(place, { kind: "notice", text });
    else yield* buildMessageRecords(NAME, { ...place, role: kind, parts: [{ type: "text", text }] });
  }
}

function findKind(line: string, before: Kind | undefined): Kind {
  if (line.startsWith("#### ") || line === "####") return "user";
  if (line.startsWith("> ") || line === ">") return "notice";
  if (line.trim() === "" && before !== undefined) return before;
  return "assistant";
}
