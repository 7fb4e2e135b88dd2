import type { BenchMessage, Contestant, Conversation } from "./contestant.ts";

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

interface PiMessage {
  readonly role: string;
  readonly content: string | readonly Block[];
}

interface PiEntry {
  readonly type: string;
  readonly parentId: string | null;
  readonly message?: PiMessage;
}

interface SessionManager {
  appendMessage(message: PiMessage): string;
  getLeafEntry(): PiEntry | undefined;
  getEntry(id: string): PiEntry | undefined;
}

interface PiModule {
  readonly SessionManager: { continueRecent(cwd: string, sessionDir: string): SessionManager };
}

// The bundle that the `pi` command itself runs. Unlike the package's main entry it includes its sibling packages, so it
// loads even from a registry that lacks the siblings of this version.
const BUNDLE = "./node_modules/@earendil-works/pi-coding-agent/dist/bundle/index.js";

// The fields that pi's agent stores with every reply; usage is zero because no model runs here.
const REPLY_FIELDS = {
  api: "anthropic-messages",
  provider: "anthropic",
  model: "bench",
  usage: {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
  stopReason: "stop",
};

/** The coding agent pi: its session manager appends one JSON line per message. */
export const pi: Contestant = {
  name: "pi",
  async open(folder) {
    const { SessionManager } = (await import(new URL(BUNDLE, import.meta.url).href)) as PiModule;
    return new PiConversation(SessionManager.continueRecent(folder, folder));
  },
};

class PiConversation implements Conversation {
  readonly #session: SessionManager;

  constructor(session: SessionManager) {
    this.#session = session;
  }

  async append({ role, text }: BenchMessage): Promise<void> {
    this.#append(role, [{ type: "text", text }]);
  }

  async appendImage(bytes: Uint8Array, mime: string): Promise<void> {
    const data = Buffer.from(bytes).toString("base64");
    this.#append("user", [{ type: "image", data, mimeType: mime }]);
  }

  async last(count: number): Promise<readonly string[]> {
    const texts: string[] = [];
    let entry = this.#session.getLeafEntry();
    while (entry && texts.length < count) {
      if (entry.message) texts.push(textOf(entry.message));
      entry = entry.parentId === null ? undefined : this.#session.getEntry(entry.parentId);
    }
    return texts.reverse();
  }

  async close(): Promise<void> {
    // pi opens and closes its file within every append.
  }

  #append(role: BenchMessage["role"], content: readonly Block[]): void {
    const message = { role, content, timestamp: Date.now() };
    this.#session.appendMessage(role === "assistant" ? { ...message, ...REPLY_FIELDS } : message);
  }
}

function textOf({ content }: PiMessage): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
