// Terminal output: text and calls as they arrive, and finally the window and the costs.
import type { Entry, Kernel, Part, Session } from "longhaul";
import type { WindowBreakdown } from "longhaul/window";

/** Prints an entry of a task's output. */
export function showEntry(entry: Entry): void {
  if (entry.kind === "task" && entry.note.type === "output") process.stdout.write(entry.note.text);
  if (entry.kind === "task" && entry.note.type === "loop")
    process.stdout.write(`\n! ${entry.note.call} came out the same ${entry.note.repeats} times\n`);
  if (entry.kind !== "message") return;
  const { role, parts, meta } = entry.message;
  // The model's text was printed as it arrived.
  if (role === "assistant" && parts.some(({ type }) => type === "text")) process.stdout.write("\n");
  if (role === "user" && meta?.longhaul === "notice") process.stdout.write("· a task has ended\n");
  for (const part of parts) {
    if (part.type === "tool-call")
      process.stdout.write(`· ${part.name} ${short(JSON.stringify(part.input))}\n`);
    if (part.type === "tool-result")
      process.stdout.write(`  ${part.isError ? "✗" : "→"} ${short(wordsOf(part))}\n`);
  }
}

/** Draws the window of the next call, and sums the costs of a session and its helpers. */
export async function showCosts(kernel: Kernel, session: Session, model: string): Promise<void> {
  const { parts, limits, tokens } = await session.window({ model }).look();
  console.log(`\nwindow [${bar(parts, 48)}] ${tokens} of ${limits.window} tokens (history, reserved, free)`);
  const own = await spentIn(session);
  let helpers = 0;
  for (const { id } of await session.children({ limit: 100 })) {
    await using child = await kernel.session(id);
    helpers += (await spentIn(child)).dollars;
  }
  console.log(
    `${own.calls} calls: ↑ ${own.input} ↓ ${own.output} tokens, ${own.cached} of them from the cache; $${own.dollars.toFixed(4)}, and $${helpers.toFixed(4)} by helpers`,
  );
}

async function spentIn(session: Session) {
  const spent = { calls: 0, input: 0, output: 0, cached: 0, dollars: 0 };
  for (let from = 1; ; ) {
    const page = await session.read({ from, kinds: ["usage"], limit: 1_000 });
    for (const entry of page) {
      if (entry.kind !== "usage") continue;
      const {
        inputTokens = 0,
        outputTokens = 0,
        cacheReadTokens = 0,
        cacheWriteTokens = 0,
        cost = 0,
      } = entry.usage;
      spent.calls++;
      spent.input += inputTokens + cacheReadTokens + cacheWriteTokens;
      spent.output += outputTokens;
      spent.cached += cacheReadTokens;
      spent.dollars += cost;
    }
    const last = page.at(-1);
    if (page.length < 1_000 || !last) return spent;
    from = last.seq + 1;
  }
}

function bar({ reserved, free, ...used }: WindowBreakdown, columns: number): string {
  const taken = Object.values(used).reduce((sum, tokens) => sum + tokens, 0);
  const width = (tokens: number) => Math.round((tokens / (taken + reserved + free)) * columns);
  return `${"█".repeat(width(taken))}${"▒".repeat(width(reserved))}`.padEnd(columns, "·");
}

function wordsOf(part: Extract<Part, { type: "tool-result" }>): string {
  return part.output.map((piece) => (piece.type === "text" ? piece.text : `[${piece.type}]`)).join(" ");
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 120 ? line : `${line.slice(0, 117)}…`;
}
