import type { Message } from "../../../src/model/message.ts";
import type { Random } from "../../support/random.ts";

const FILES = ["src/app.ts", "src/parser/main.ts", "src/parser/tokens.ts", "README.md"];

/** The steps of an agent that reads, searches, tests and edits a few files, again and again. */
export function buildRandomWork(random: Random, steps: number): readonly Message[] {
  const contents = new Map(FILES.map((path, file) => [path, buildFile(file)]));
  const messages: Message[] = [
    { role: "user", parts: [{ type: "text", text: "Please tidy the project up." }] },
  ];
  for (let step = 0; step < steps; step++) {
    const calls = Array.from({ length: 1 + random.below(2) }, (_, at) => {
      const path = FILES[random.below(FILES.length)] as string;
      return { callId: `call-${step}-${at}`, ...buildCall(random, path, contents, step) };
    });
    messages.push({
      role: "assistant",
      parts: calls.map(({ callId, name, input }) => ({ type: "tool-call", callId, name, input })),
    });
    messages.push({
      role: "tool",
      parts: calls.map(({ callId, output }) => ({
        type: "tool-result",
        callId,
        output: [{ type: "text", text: output }],
      })),
    });
    if (random.below(8) === 0)
      messages.push({ role: "user", parts: [{ type: "text", text: `Go on with part ${step}.` }] });
  }
  return messages;
}

function buildCall(random: Random, path: string, contents: Map<string, readonly string[]>, step: number) {
  const lines = contents.get(path) as readonly string[];
  const kind = random.below(7);
  if (kind <= 2) {
    const from = random.below(lines.length);
    const shown = lines.slice(from, from + 10 + random.below(40));
    const numbered = shown.map((line, at) => `${String(from + at + 1).padStart(6)}→${line}`);
    return { name: "Read", input: { file_path: path }, output: numbered.join("\n") };
  }
  if (kind === 3) {
    const at = random.below(lines.length);
    const changed = `const changed_${step} = renew(${at});`;
    contents.set(path, random.below(2) === 0 ? lines.with(at, changed) : lines.toSpliced(at, 0, changed));
    return { name: "Edit", input: { file_path: path, at }, output: `Edited line ${at + 1} of ${path}.` };
  }
  if (kind === 6) {
    const input = { file_path: path, content: lines.join("\n") };
    return { name: "Write", input, output: `Wrote ${path}.` };
  }
  if (kind === 4) {
    const hits = lines.flatMap((line, at) =>
      at % 3 === 0 ? [`/repo/project/${path}:${at + 1}:${line}`] : [],
    );
    return { name: "Bash", input: { command: "rg value" }, output: hits.join("\n") };
  }
  const passes = Array.from(
    { length: 4 + random.below(20) },
    (_, test) => ` ✓ handles case ${test} of ${path}`,
  );
  const output = ["\u001b[32mRUN\u001b[0m", ...passes, `${step} passed`].join("\n");
  return { name: "Bash", input: { command: "npm test" }, output };
}

function buildFile(file: number): readonly string[] {
  return Array.from({ length: 60 }, (_, at) => `  const value_${file}_${at} = compute("${file}", ${at});`);
}
